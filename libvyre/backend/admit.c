/* Can this device run this program? What it lacks is refused here, by name and with both numbers, before a plugin
 * sees it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"
#include "ir/validate.h"

static vyre_status check_needs(const vyre_program_info *info, const vyre_capabilities *caps, const char *device,
                               vyre_error *error) {
  uint64_t missing = info->needs & ~caps->needs;
  if (missing == 0) return VYRE_OK;
  uint32_t first = (uint32_t)(missing & ~(missing - 1));
  vyre_code code = first == VYRE_NEED_SUBGROUP ? VYRE_V41 : VYRE_V56;
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, info->name,
                   "%s: the program uses %s, and device %s lacks the capability %s. Fix: %s.", vyre_code_name(code),
                   ir_need_use(first), device, ir_need_name(first), vyre_code_fix(code));
}

/* ---- Floats ---------------------------------------------------------------------------------- */

static bool is_float_arithmetic(const ir_expr *e) {
  return ir_is_float((vyre_type)e->type) && ir_op_arity[e->op] > 0 && (ir_op_effects[e->op] & VYRE_EFFECT_READS) == 0;
}

/* Whether lowering makes up for an fma of two roundings: in f32, by f64 and the bits of its result. */
static bool has_wide_fma(const ir_expr *e, const vyre_capabilities *caps) {
  const uint64_t wide = VYRE_NEED_FLOAT64 | VYRE_NEED_INT64;
  return e->type != VYRE_TYPE_F64 && (caps->needs & wide) == wide;
}

/* The numeric promise that an expression rests on and |caps| does not make; 0 if none. */
static uint32_t missing_promise(const ir_expr *e, uint32_t flags, const vyre_capabilities *caps) {
  uint32_t wanted = 0;
  if (!is_float_arithmetic(e)) return 0;
  if ((flags & VYRE_COMPILE_FLUSH) == 0) wanted |= VYRE_NUMERIC_SUBNORMALS;
  switch (e->op) {
  case VYRE_OP_FMA:
    if (!has_wide_fma(e, caps)) wanted |= VYRE_NUMERIC_FMA;
    break;
  case VYRE_OP_DIV:
  case VYRE_OP_SQRT:
  case VYRE_OP_RSQRT:
  case VYRE_OP_RCP: wanted |= VYRE_NUMERIC_DIVISION; break;
  case VYRE_OP_MIN:
  case VYRE_OP_MAX: wanted |= VYRE_NUMERIC_ZERO_ORDER; break;
  default: break;
  }
  wanted &= ~caps->numeric;
  return wanted & ~(wanted - 1);
}

static const char *promise_text(uint32_t promise) {
  switch (promise) {
  case VYRE_NUMERIC_SUBNORMALS: return "keep subnormal numbers (subnormals). Fix: allow it with the attribute flush";
  case VYRE_NUMERIC_FMA: return "round fma once (fma). Fix: write a * b + c with the attribute contract";
  case VYRE_NUMERIC_DIVISION: return "round division and square root once (division). Fix: choose another device";
  default: return "keep -0 below +0 in min and max (zero_order). Fix: choose another device";
  }
}

static vyre_status check_budget(const vyre_program *program, uint32_t flags, vyre_error *error) {
  if ((flags & VYRE_COMPILE_ULP) != 0) return VYRE_OK;
  for (uint32_t i = 1; i < program->exprs.count; i++) {
    const ir_expr *e = ir_expr_at(program, i);
    if ((ir_op_effects[e->op] & VYRE_EFFECT_ULP) == 0) continue;
    const char *function = vyre_op_describe((vyre_op)e->op)->spelling;
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, function,
                     "The program uses %s, and nobody said how exact it must be (ulp_budget). Fix: give an error "
                     "budget in units in the last place by the attribute ulp(n), the option --ulp n, or the compile "
                     "option ulp; 0 asks for correct rounding.",
                     function);
  }
  return VYRE_OK;
}

static vyre_status check_numeric(const vyre_program *program, uint32_t flags, const vyre_capabilities *caps,
                                 const char *device, vyre_error *error) {
  for (uint32_t i = 1; i < program->exprs.count; i++) {
    uint32_t promise = missing_promise(ir_expr_at(program, i), flags, caps);
    if (promise != 0)
      return vyre_fail(error, VYRE_ERR_UNSUPPORTED, program->info.name, "Device %s does not %s.", device,
                       promise_text(promise));
  }
  return VYRE_OK;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static vyre_status over_limit(const vyre_program_info *info, const char *device, const char *what, uint64_t has,
                              const char *limit, uint64_t most, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_LIMIT, info->name,
                   "The program has %s of %" PRIu64 ", and device %s takes at most %" PRIu64 " (%s). Fix: make it "
                   "smaller, or choose another device.",
                   what, has, device, most, limit);
}

static vyre_status check_workgroup(const vyre_program_info *info, const vyre_capabilities *caps, const char *device,
                                   vyre_error *error) {
  static const char *const axes[3] = { "a workgroup size along x", "a workgroup size along y",
                                       "a workgroup size along z" };
  uint64_t invocations = 1;
  for (uint32_t i = 0; i < 3; i++) {
    if (info->workgroup[i] > caps->max_workgroup[i])
      return over_limit(info, device, axes[i], info->workgroup[i], "max_workgroup", caps->max_workgroup[i], error);
    invocations *= info->workgroup[i]; /* each fits 32 bits, and the product so far is at most the last limit */
    if (invocations > caps->max_workgroup_invocations)
      return over_limit(info, device, "a workgroup", invocations, "max_workgroup_invocations",
                        caps->max_workgroup_invocations, error);
  }
  return VYRE_OK;
}

/* The largest array of workgroup memory, which is what a person would look at first. */
static const char *largest_shared(const vyre_program *program) {
  const char *name = "";
  uint64_t most = 0;
  for (uint32_t i = 0; i < program->buffers.count; i++) {
    const ir_buffer *buffer = &program->buffers.data[i];
    uint64_t bytes = buffer->length * vyre_type_describe((vyre_type)buffer->element)->bytes;
    if (buffer->access != VYRE_ACCESS_SHARED || bytes <= most) continue;
    most = bytes;
    name = ir_text(program, buffer->name);
  }
  return name;
}

static vyre_status check_memory(const vyre_program *program, const vyre_capabilities *caps, const char *device,
                                vyre_error *error) {
  const vyre_program_info *info = &program->info;
  if (info->shared_bytes > caps->max_shared_bytes)
    return vyre_fail(error, VYRE_ERR_LIMIT, largest_shared(program),
                     "The program has %" PRIu64 " bytes of workgroup memory, most of it in %s, and device %s takes at "
                     "most %u (max_shared_bytes). Fix: make the array smaller, or choose another device.",
                     info->shared_bytes, largest_shared(program), device, caps->max_shared_bytes);
  if (info->binding_count > caps->max_bindings)
    return over_limit(info, device, "a number of buffers", info->binding_count, "max_bindings", caps->max_bindings,
                      error);
  return VYRE_OK;
}

static vyre_status check_subgroup(const vyre_program_info *info, uint32_t size, const vyre_capabilities *caps,
                                  const char *device, vyre_error *error) {
  if (size == 0 || (caps->subgroup_sizes & size) != 0) return VYRE_OK;
  char sizes[32] = "";
  for (uint32_t s = 1; s <= 32; s *= 2)
    if ((caps->subgroup_sizes & s) != 0)
      snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), "%s%u", sizes[0] != 0 ? ", " : "", s);
  return vyre_fail(error, VYRE_ERR_UNSUPPORTED, info->name,
                   "The program requires subgroups of %u, and device %s has %s. Fix: require one of those, or none.",
                   size, device, sizes);
}

vyre_status vyre_admit(const vyre_program *program, uint32_t flags, uint32_t subgroup, const vyre_capabilities *caps,
                       const char *device, vyre_error *error) {
  const vyre_program_info *info = &program->info;
  vyre_status status = check_budget(program, flags, error);
  if (status == VYRE_OK) status = check_needs(info, caps, device, error);
  if (status == VYRE_OK) status = check_numeric(program, flags, caps, device, error);
  if (status == VYRE_OK) status = check_workgroup(info, caps, device, error);
  if (status == VYRE_OK) status = check_memory(program, caps, device, error);
  if (status == VYRE_OK) status = check_subgroup(info, subgroup, caps, device, error);
  return status;
}
