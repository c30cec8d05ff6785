/* Values of parameters that are compiled in: the same program gives what it gives with parameters, whichever of them
 * are known, and one value's executable is never taken for another's. */
#include <stdio.h>

#include "numeric.h"

enum { PARAMS = 9 };

/* Each type, and the control flow that compilers decide once they know the value. */
static const char text[] =
    "program p workgroup(8) {\n"
    "  param a: bool; param b: u64; param c: u32; param d: f64; param e: u32; param f: i64; param g: f32; param h: i32;\n"
    "  param j: bool;\n"
    "  write wb: u64[]; write wd: u64[]; write we: u32[]; write wf: i64[]; write wg: f32[]; write wh: i32[];\n"
    "  write loops: u32[];\n"
    "  let i = gid.x;\n"
    "  if (a) { wb[i] = b; } else { wb[i] = ~b; }\n"
    "  wd[i] = bitcast<u64>(d); we[i] = e; wf[i] = j ? f : -f; wg[i] = g * 2.0; wh[i] = h >> (c & 7);\n"
    "  var sum = 0; for (k in 0..c & 7) { sum = sum + (j && a ? k : e); } loops[i] = sum;\n"
    "}\n";

/* And without the types that a device may lack. */
static const char narrow_text[] =
    "program p workgroup(8) {\n"
    "  param a: bool; param c: u32; param g: f32; param h: i32;\n"
    "  write wg: f32[]; write wh: i32[]; write loops: u32[];\n"
    "  let i = gid.x;\n"
    "  wg[i] = g * 2.0; wh[i] = a ? h >> (c & 7) : -h;\n"
    "  var sum = 0; for (k in 0..c & 7) { sum = sum + (a ? k : c); } loops[i] = sum;\n"
    "}\n";

/* Tries a program with those of its parameters compiled in whose bit is set. */
static void try_subset(kit *k, const char *program, const vyre_arg *values, uint32_t count, const char *const *outputs,
                       uint32_t output_count, uint32_t compiled_in) {
  vyre_arg specs[PARAMS], params[PARAMS];
  kit_buffer buffers[PARAMS];
  vyre_compile_options options = VYRE_COMPILE_OPTIONS_INIT;
  char name[96];
  uint32_t param_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (compiled_in >> i & 1) specs[options.spec_count++] = values[i];
    else params[param_count++] = values[i];
  }
  options.specs = specs;
  for (uint32_t b = 0; b < output_count; b++) buffers[b] = numeric_output(outputs[b], 11);
  snprintf(name, sizeof name, "%u of %u parameters compiled in (set 0x%X)", options.spec_count, count, compiled_in);
  kit_case c = {.name = name, .text = program, .params = params, .param_count = param_count, .buffers = buffers,
                .buffer_count = output_count, .compile = &options};
  numeric_try(k, &c, false);
}

static uint64_t edge(vyre_type type, uint32_t n) {
  uint64_t bits = 0;
  numeric_edge(type, n % numeric_edge_count(type), &bits);
  return bits;
}

void check_specs(kit *k) {
  static const char *const outputs[] = {"wb", "wd", "we", "wf", "wg", "wh", "loops"};
  static const char *const narrow[] = {"wg", "wh", "loops"};
  for (uint32_t n = 0; n < 24 && !kit_is_full(k); n++) {
    const vyre_arg values[PARAMS] = {vyre_arg_bool("a", n & 1),
                                     vyre_arg_value("b", VYRE_TYPE_U64, edge(VYRE_TYPE_U64, n)),
                                     vyre_arg_u32("c", n),
                                     vyre_arg_value("d", VYRE_TYPE_F64, edge(VYRE_TYPE_F64, n)),
                                     vyre_arg_value("e", VYRE_TYPE_U32, edge(VYRE_TYPE_U32, n)),
                                     vyre_arg_value("f", VYRE_TYPE_I64, edge(VYRE_TYPE_I64, n)),
                                     vyre_arg_value("g", VYRE_TYPE_F32, edge(VYRE_TYPE_F32, n)),
                                     vyre_arg_value("h", VYRE_TYPE_I32, edge(VYRE_TYPE_I32, n)),
                                     vyre_arg_bool("j", n & 2)};
    const vyre_arg few[] = {values[0], values[2], values[6], values[7]};
    uint32_t some = (uint32_t)kit_random(k);
    try_subset(k, text, values, PARAMS, outputs, 7, n % 2 ? 0x1FF : some & 0x1FF);
    try_subset(k, narrow_text, few, 4, narrow, 3, n % 2 ? 0xF : some >> 16 & 0xF);
  }
  numeric_conclude(k);
}
