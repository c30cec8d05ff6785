/* Every diagnostic of a program is reached: one program for each V and W row of codes.def, through the builder or,
 * where only text can break the rule, through text. */
#include <vyre/text.h>

#include "../suite.h"
#include "ir/validate.h"
#include "kit.h"

/* ---- Programs from C ----------------------------------------------------------------------- */

static vyre_expr f32(kit *k) { return vyre_build_f32(k->b, 1.5f); }
static vyre_expr i32(kit *k) { return vyre_build_i32(k->b, -1); }
static vyre_expr boolean(kit *k) { return vyre_build_bool(k->b, true); }
static vyre_expr atomic_with(kit *k, vyre_op op, vyre_binding t, vyre_expr index, vyre_expr value, vyre_expr desired) {
  return vyre_build_atomic(k->b, op, t, index, value, desired, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEFAULT);
}

static void v008(kit *k) {
  let(k, "x", u32(k, 1));
  vyre_build_block(k->b);
  let(k, "x", u32(k, 2));
  end(k);
}
static void v009(kit *k) { atomic(k, VYRE_OP_ATOMIC_ADD, k->in); }
static void v010(kit *k) {
  open_if(k, condition(k, IR_LEVEL_DIVERGENT));
  barrier(k);
  end(k);
}
static void v011(kit *k) {
  vyre_var i = open_for(k, "i", k->n);
  assign(k, i, u32(k, 0));
  end(k);
}
static void v012(kit *k) { vyre_build_cast(k->b, VYRE_TYPE_F16, u32(k, 1)); }
static void v014(kit *k) {
  vyre_binding t = vyre_build_buffer(k->b, VYRE_ACCESS_RW, "t", VYRE_TYPE_BOOL, 0);
  atomic_with(k, VYRE_OP_ATOMIC_XCHG, t, u32(k, 0), boolean(k), 0);
}
static void v018(kit *k) {
  for (uint32_t i = 0; i <= VYRE_MAX_NESTING; i++) vyre_build_block(k->b);
  for (uint32_t i = 0; i <= VYRE_MAX_NESTING; i++) end(k);
}
static void v019(kit *k) {
  for (uint32_t i = 0; i <= VYRE_MAX_STATEMENTS; i++) barrier(k);
}
static void v027(kit *k) { atomic_with(k, VYRE_OP_ATOMIC_ADD, k->rw, i32(k), u32(k, 1), 0); }
static void v028(kit *k) { vyre_build_fma(k->b, f32(k), f32(k), u32(k, 1)); }
static void v029(kit *k) { vyre_build_select(k->b, boolean(k), f32(k), u32(k, 1)); }
static void v032(kit *k) {
  let(k, "x", u32(k, 1));
  let(k, "x", u32(k, 1));
}
static void v033(kit *k) {
  vyre_expr e = k->n;
  for (uint32_t depth = 1; depth <= VYRE_MAX_EXPR_DEPTH; depth++) e = unary(k, VYRE_OP_BITNOT, e);
}
static void v036(kit *k) { load(k, k->flag, u32(k, 4)); }
static void v042(kit *k) { vyre_build_fence(k->b, VYRE_ORDER_RELAXED, VYRE_SCOPE_DEVICE); }
static void v044(kit *k) { binary(k, VYRE_OP_DIV, k->n, u32(k, 0)); }
static void v045(kit *k) {
  vyre_var x = var(k, "x", u32(k, 1));
  assign(k, x, f32(k));
}
static void v047(kit *k) { unary(k, VYRE_OP_SUBGROUP_OR, f32(k)); }
static void v055(kit *k) {
  open_loop(k);
  barrier(k);
  jump_if(k, VYRE_STMT_BREAK, condition(k, IR_LEVEL_DIVERGENT));
  end(k);
}
static void v057(kit *k) { atomic_with(k, VYRE_OP_ATOMIC_ADD, k->rw, u32(k, 0), i32(k), 0); }
static void v058(kit *k) { atomic_with(k, VYRE_OP_ATOMIC_CAS, k->rw, u32(k, 0), i32(k), u32(k, 1)); }
static void v061(kit *k) { atomic(k, VYRE_OP_ATOMIC_ADD, 99); }
static void v063(kit *k) { store(k, k->in, u32(k, 1)); }
static void v064(kit *k) { store(k, 99, u32(k, 1)); }
static void v065(kit *k) { load(k, k->out, u32(k, 0)); }
static void v066(kit *k) {
  vyre_build_block(k->b);
  vyre_var x = let(k, "x", u32(k, 1));
  end(k);
  value_of(k, x);
}
static void v067(kit *k) { vyre_build_len(k->b, VYRE_OP_LEN, 99); }
static void v068(kit *k) { vyre_build_leaf(k->b, VYRE_OP_GID, 3); }
static void v085(kit *k) { binary(k, VYRE_OP_SAT_ADD, i32(k), i32(k)); }
static void v086(kit *k) { binary(k, VYRE_OP_ABSDIFF, i32(k), i32(k)); }
static void v087(kit *k) { binary(k, VYRE_OP_ADD, boolean(k), boolean(k)); }
static void v088(kit *k) { binary(k, VYRE_OP_ADD, u32(k, 1), i32(k)); }
static void v089(kit *k) { binary(k, VYRE_OP_MOD, f32(k), f32(k)); }
static void v090(kit *k) { binary(k, VYRE_OP_MOD, u32(k, 1), i32(k)); }
static void v091(kit *k) { binary(k, VYRE_OP_BITAND, boolean(k), boolean(k)); }
static void v093(kit *k) { binary(k, VYRE_OP_BITAND, u32(k, 1), i32(k)); }
static void v094(kit *k) { binary(k, VYRE_OP_SHL, u32(k, 1), i32(k)); }
static void v095(kit *k) { binary(k, VYRE_OP_LAND, boolean(k), u32(k, 1)); }
static void v096(kit *k) { binary(k, VYRE_OP_LT, boolean(k), boolean(k)); }
static void v099(kit *k) { unary(k, VYRE_OP_ABS, u32(k, 1)); }
static void v100(kit *k) { unary(k, VYRE_OP_LNOT, u32(k, 1)); }
static void v101(kit *k) { unary(k, VYRE_OP_CLZ, f32(k)); }
static void v102(kit *k) { unary(k, VYRE_OP_SQRT, u32(k, 1)); }
static void v103(kit *k) { unary(k, VYRE_OP_UNPACK4LO, f32(k)); }
static void v106(kit *k) { vyre_build_workgroup(k->b, 1, 0, 1); }
static void v107(kit *k) { vyre_build_param(k->b, "in_", VYRE_TYPE_F32); }
static void v109(kit *k) { vyre_build_buffer(k->b, VYRE_ACCESS_SHARED, "s", VYRE_TYPE_F32, 0); }
static void v112(kit *k) {
  simple(k, VYRE_STMT_RETURN);
  barrier(k);
}
static void v120(kit *k) {
  vyre_var x = let(k, "x", u32(k, 1));
  assign(k, x, u32(k, 2));
}
static void v121(kit *k) { store(k, k->rw, f32(k)); }
static void v122(kit *k) { vyre_build_store(k->b, k->rw, i32(k), u32(k, 1)); }
static void v123(kit *k) {
  open_if(k, u32(k, 1));
  end(k);
}
static void v124(kit *k) {
  vyre_build_for(k->b, "i", f32(k), f32(k), 0);
  end(k);
}
static void v125(kit *k) {
  vyre_build_for(k->b, "i", u32(k, 1), i32(k), 0);
  end(k);
}
static void v131(kit *k) {
  open_if(k, condition(k, IR_LEVEL_WORKGROUP));
  simple(k, VYRE_STMT_GRID_BARRIER);
  end(k);
}
static void v132(kit *k) {
  vyre_build_subgroup(k->b, 32);
  open_if(k, condition(k, IR_LEVEL_DIVERGENT));
  let(k, "x", unary(k, VYRE_OP_SUBGROUP_ADD, u32(k, 1)));
  end(k);
}
static void v133(kit *k) { load(k, k->in, i32(k)); }
static void v134(kit *k) { vyre_build_select(k->b, u32(k, 1), f32(k), f32(k)); }
static void v135(kit *k) { binary(k, VYRE_OP_SUBGROUP_SHUFFLE, u32(k, 1), i32(k)); }
static void v136(kit *k) { vyre_build_param(k->b, "h", VYRE_TYPE_F16); }
static void v137(kit *k) { vyre_build_copy_async(k->b, false, k->in, u32(k, 0), k->in, u32(k, 0), u32(k, 1)); }
static void v138(kit *k) { vyre_build_declare(k->b, VYRE_STMT_FOR, "x", u32(k, 1)); }
static void v139(kit *k) { vyre_build_trap(k->b, f32(k)); }
static void v140(kit *k) {
  for (uint32_t i = 0; i <= VYRE_MAX_CALL_DEPTH; i++) vyre_build_region(k->b, "call f");
  for (uint32_t i = 0; i <= VYRE_MAX_CALL_DEPTH; i++) end(k);
}
static void v141(kit *k) {
  char name[16];
  for (uint32_t i = 0; i < VYRE_MAX_DECLARATIONS; i++) {
    snprintf(name, sizeof name, "b%u", i);
    vyre_build_buffer(k->b, VYRE_ACCESS_READ, name, VYRE_TYPE_U32, 0);
  }
}
static void v142(kit *k) { let(k, "1x", u32(k, 1)); }
static void v143(kit *k) {
  vyre_expr e = k->n;
  for (int i = 0; i < 30; i++) e = binary(k, VYRE_OP_ADD, e, e);
  store(k, k->rw, e);
}
static void v144(kit *k) { simple(k, VYRE_STMT_BREAK); }
static void v145(kit *k) { vyre_build_wait(k->b, 8); }
static void v146(kit *k) { let(k, "x", atomic(k, VYRE_OP_ATOMIC_STORE, k->rw)); }
static void v147(kit *k) { vyre_build_eval(k->b, u32(k, 1)); }
static void v148(kit *k) {
  vyre_expr parts[3] = { f32(k), f32(k), f32(k) };
  vyre_build_vector(k->b, VYRE_TYPE_F32X4, parts, 3);
}
static void v149(kit *k) { vyre_build_subgroup(k->b, 24); }
static void v150(kit *k) { vyre_build_block(k->b); }
static void v151(kit *k) { vyre_build_print(k->b, "{}", NULL, 0); }
static void v152(kit *k) { unary(k, VYRE_OP_SUBGROUP_ADD, boolean(k)); }
static void w003(kit *k) { let(k, "x", leaf(k, VYRE_OP_LANE)); }
static void w116(kit *k) {
  vyre_build_eval(k->b, atomic(k, VYRE_OP_ATOMIC_ADD, k->rw));
  store(k, k->rw, u32(k, 1));
}

static const struct {
  vyre_code code;
  void (*build)(kit *k);
} from_c[] = {
  { VYRE_V8, v008 },    { VYRE_V9, v009 },    { VYRE_V10, v010 },   { VYRE_V11, v011 },   { VYRE_V12, v012 },
  { VYRE_V14, v014 },   { VYRE_V18, v018 },   { VYRE_V19, v019 },   { VYRE_V27, v027 },   { VYRE_V28, v028 },
  { VYRE_V29, v029 },   { VYRE_V32, v032 },   { VYRE_V33, v033 },   { VYRE_V36, v036 },   { VYRE_V42, v042 },
  { VYRE_V44, v044 },   { VYRE_V45, v045 },   { VYRE_V47, v047 },   { VYRE_V55, v055 },   { VYRE_V57, v057 },
  { VYRE_V58, v058 },   { VYRE_V61, v061 },   { VYRE_V63, v063 },   { VYRE_V64, v064 },   { VYRE_V65, v065 },
  { VYRE_V66, v066 },   { VYRE_V67, v067 },   { VYRE_V68, v068 },   { VYRE_V85, v085 },   { VYRE_V86, v086 },
  { VYRE_V87, v087 },   { VYRE_V88, v088 },   { VYRE_V89, v089 },   { VYRE_V90, v090 },   { VYRE_V91, v091 },
  { VYRE_V93, v093 },   { VYRE_V94, v094 },   { VYRE_V95, v095 },   { VYRE_V96, v096 },   { VYRE_V99, v099 },
  { VYRE_V100, v100 },  { VYRE_V101, v101 },  { VYRE_V102, v102 },  { VYRE_V103, v103 },  { VYRE_V106, v106 },
  { VYRE_V107, v107 },  { VYRE_V109, v109 },  { VYRE_V112, v112 },  { VYRE_V120, v120 },  { VYRE_V121, v121 },
  { VYRE_V122, v122 },  { VYRE_V123, v123 },  { VYRE_V124, v124 },  { VYRE_V125, v125 },  { VYRE_V131, v131 },
  { VYRE_V132, v132 },  { VYRE_V133, v133 },  { VYRE_V134, v134 },  { VYRE_V135, v135 },  { VYRE_V136, v136 },
  { VYRE_V137, v137 },  { VYRE_V138, v138 },  { VYRE_V139, v139 },  { VYRE_V140, v140 },  { VYRE_V141, v141 },
  { VYRE_V142, v142 },  { VYRE_V143, v143 },  { VYRE_V144, v144 },  { VYRE_V145, v145 },  { VYRE_V146, v146 },
  { VYRE_V147, v147 },  { VYRE_V148, v148 },  { VYRE_V149, v149 },  { VYRE_V150, v150 },  { VYRE_V151, v151 },
  { VYRE_V152, v152 },  { VYRE_W3, w003 },    { VYRE_W116, w116 },
};

/* ---- Programs from text -------------------------------------------------------------------- */

static const struct {
  vyre_code code;
  const char *text;
} from_text[] = {
  { VYRE_V16, "program p { call \"no.such\"(); }" },
  { VYRE_V20, "program p { let x = min(1); }" },
  { VYRE_W2, "program p { rw b: u32[1]; let x = true && atomic_add(b[0], 1) == 2; }" },
  { VYRE_W4, "program p { let __x = 1; }" },
};

/* Codes that a device adds: a program against what is available. */
static const vyre_code from_needs[] = { VYRE_V41, VYRE_V56 };

/* ---- The tests ----------------------------------------------------------------------------- */

START_TEST(the_builder_reaches_its_codes) {
  for (size_t i = 0; i < sizeof from_c / sizeof *from_c; i++) {
    kit k = kit_begin();
    vyre_program *p = NULL;
    vyre_diagnostic found;
    const char *wanted = vyre_code_name(from_c[i].code);
    from_c[i].build(&k);
    vyre_status status = vyre_builder_finish(k.b, &p, NULL);
    ck_assert_msg(vyre_diagnostics_get(k.d, 0, &found), "%s: nothing was found", wanted);
    ck_assert_str_eq(vyre_code_name(found.code), wanted);
    ck_assert_msg(!vyre_diagnostics_get(k.d, 1, &found), "%s: %s too", wanted, vyre_code_name(found.code));
    ck_assert_int_eq(status, found.severity == VYRE_SEVERITY_WARNING ? VYRE_OK : VYRE_ERR_INVALID_PROGRAM);
    vyre_program_release(p);
    vyre_builder_destroy(k.b);
    vyre_diagnostics_destroy(k.d);
  }
}
END_TEST

START_TEST(text_reaches_its_codes) {
  for (size_t i = 0; i < sizeof from_text / sizeof *from_text; i++) {
    const char *text = from_text[i].text, *wanted = vyre_code_name(from_text[i].code);
    vyre_diagnostics *d;
    vyre_program *p = NULL;
    vyre_diagnostic found;
    ck_assert_int_eq(vyre_diagnostics_create("p.vyre", text, strlen(text), &d), VYRE_OK);
    vyre_status status = vyre_text_parse(text, strlen(text), NULL, d, &p, NULL);
    ck_assert_msg(vyre_diagnostics_get(d, 0, &found), "%s: nothing was found", wanted);
    ck_assert_str_eq(vyre_code_name(found.code), wanted);
    ck_assert_int_eq(status, found.severity == VYRE_SEVERITY_WARNING ? VYRE_OK : VYRE_ERR_INVALID_PROGRAM);
    vyre_program_release(p);
    vyre_diagnostics_destroy(d);
  }
}
END_TEST

static vyre_program *needy(void) {
  kit k = kit_begin();
  vyre_build_subgroup(k.b, 32);
  vyre_binding wide = vyre_build_buffer(k.b, VYRE_ACCESS_RW, "wide", VYRE_TYPE_U64, 0);
  atomic_with(&k, VYRE_OP_ATOMIC_ADD, wide, u32(&k, 0), vyre_build_u64(k.b, 1), 0);
  vyre_build_eval(k.b, atomic_with(&k, VYRE_OP_ATOMIC_ADD, wide, u32(&k, 0), vyre_build_u64(k.b, 1), 0));
  let(&k, "x", unary(&k, VYRE_OP_SUBGROUP_ADD, u32(&k, 1)));
  return kit_finish(&k);
}

START_TEST(missing_capabilities_are_named) {
  vyre_program *p = needy();
  vyre_program_info info;
  vyre_diagnostics *d;
  vyre_diagnostic found;
  vyre_program_describe(p, &info);
  ck_assert_int_eq(vyre_diagnostics_create(NULL, NULL, 0, &d), VYRE_OK);
  ck_assert_uint_eq(ir_check_needs(p, info.needs, d), 0);
  ck_assert_uint_eq(vyre_diagnostics_errors(d), 0);
  ck_assert_uint_eq(ir_check_needs(p, 0, NULL), info.needs);
  uint32_t missing = VYRE_NEED_ATOMIC64 | VYRE_NEED_SUBGROUP;
  ck_assert_uint_eq(ir_check_needs(p, ~missing, d), missing);
  ck_assert(vyre_diagnostics_get(d, 0, &found));
  ck_assert_int_eq(found.code, VYRE_V41);
  ck_assert_ptr_nonnull(strstr(found.message, "subgroup"));
  ck_assert(vyre_diagnostics_get(d, 1, &found));
  ck_assert_int_eq(found.code, VYRE_V56);
  ck_assert_ptr_nonnull(strstr(found.message, "64-bit atomics, which needs the capability atomic64"));
  ck_assert(!vyre_diagnostics_get(d, 2, &found));
  vyre_diagnostics_destroy(d);
  vyre_program_release(p);
}
END_TEST

START_TEST(every_need_has_a_name) {
  uint32_t known = 0;
  for (uint32_t bit = 0; bit < 32; bit++) {
    const char *name = ir_need_name(1u << bit);
    ck_assert_int_eq(name != NULL, ir_need_use(1u << bit) != NULL);
    if (name == NULL) continue;
    known |= 1u << bit;
    for (uint32_t other = 0; other < bit; other++) ck_assert_str_ne(name, ir_need_name(1u << other));
  }
  ck_assert_uint_eq(known, (VYRE_NEED_STORAGE16 << 1) - 1);
  ck_assert_ptr_null(ir_need_name(0));
  ck_assert_ptr_null(ir_need_name(3));
}
END_TEST

static bool has_case(vyre_code code) {
  for (size_t i = 0; i < sizeof from_c / sizeof *from_c; i++)
    if (from_c[i].code == code) return true;
  for (size_t i = 0; i < sizeof from_text / sizeof *from_text; i++)
    if (from_text[i].code == code) return true;
  for (size_t i = 0; i < sizeof from_needs / sizeof *from_needs; i++)
    if (from_needs[i] == code) return true;
  return false;
}

START_TEST(every_code_of_a_program_has_a_case) {
#define X(family, number, severity, gist, fix)                          \
  if (VYRE_##family##number < VYRE_CODE_BASE_S || VYRE_##family##number >= VYRE_CODE_BASE_W) \
    ck_assert_msg(has_case(VYRE_##family##number), #family #number " has none");
#include <vyre/codes.def>
#undef X
}
END_TEST

int main(void) {
  const TTest *const tests[] = { the_builder_reaches_its_codes, text_reaches_its_codes, missing_capabilities_are_named,
                                 every_need_has_a_name, every_code_of_a_program_has_a_case, NULL };
  return run_suite("codes", 120, tests);
}
