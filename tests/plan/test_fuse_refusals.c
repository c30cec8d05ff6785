/* Fusion of programs that do not go together: each reason by its name, with what the record says. */
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "fusing.h"

#define SIZES_ARE(f, own_x, own_y, fused_x, fused_y)                                                                   \
  do {                                                                                                                 \
    ck_assert_uint_eq((f)->refusal.own[0], own_x);                                                                     \
    ck_assert_uint_eq((f)->refusal.own[1], own_y);                                                                     \
    ck_assert_uint_eq((f)->refusal.fused[0], fused_x);                                                                 \
    ck_assert_uint_eq((f)->refusal.fused[1], fused_y);                                                                 \
  } while (0)

static const char wide[] = "program wide workgroup(256) { rw y: u32[]; y[gid.x] = 1; }";
static const char with_barrier[] = "program scan workgroup(4) { rw x: u32[]; x[gid.x] = 1; barrier; x[gid.x] = x[0]; }";

START_TEST(self_aliasing) {
  static const char p[] = "program p noncomposable { rw x: u32[4]; x[0] = x[0] + 1; }";
  static const char other[] = "program other noncomposable { rw x: u32[4]; x[0] = x[0] + 2; }";
  fusing f = { .count = 0 }, g = { .count = 0 };
  FUSE(&f, 1, p, other, p);
  fuse_refuses(&f, VYRE_FUSE_SELF_ALIASING, "arms 0 and 2 are both p");
  ck_assert_uint_eq(f.refusal.arm, 2);
  ck_assert_uint_eq(f.refusal.other, 0);
  ck_assert_str_eq(f.refusal.subject, "p");
  fuse_end(&f);
  FUSE(&f, 1, p, other);
  ck_assert_int_eq(f.status, VYRE_OK);
  FUSE(&g, 1, f.text, f.text); /* the attribute stays with the result */
  fuse_refuses(&g, VYRE_FUSE_SELF_ALIASING, "fused");
  fuse_end(&g);
  fuse_end(&f);
  FUSE(&f, 1, "program a op(\"m.n\") noncomposable { rw x: u32[4]; x[0] = 1; }",
       "program b op(\"m.n\") { rw x: u32[4]; x[0] = 2; }");
  fuse_refuses(&f, VYRE_FUSE_SELF_ALIASING, "m.n");
  fuse_end(&f);
}
END_TEST

START_TEST(geometry_of_barriers) {
  fusing f = { .count = 0 };
  for (uint32_t order = 0; order < 2; order++) {
    if (order == 0)
      FUSE(&f, 0, with_barrier, wide);
    else
      FUSE(&f, 0, wide, with_barrier);
    fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "[4,1,1] and would run in [256,1,1], but it has barriers");
    ck_assert_uint_eq(f.refusal.arm, order);
    SIZES_ARE(&f, 4, 1, 256, 1);
    fuse_end(&f);
  }
}
END_TEST

START_TEST(geometry_of_workgroup_memory) {
  fusing f = { .count = 0 };
  FUSE(&f, 0, "program m workgroup(4) { shared s: u32[4]; rw x: u32[]; s[0] = 1; x[gid.x] = s[0]; }", wide);
  fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "it has workgroup memory");
  ck_assert_ptr_null(strstr(f.refusal.text, "barriers"));
  fuse_end(&f);
  FUSE(&f, 0, "program m workgroup(4) { shared s: u32[4]; rw x: u32[]; s[lid.x] = 1; barrier; x[gid.x] = s[0]; }",
       wide);
  fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "it has workgroup memory and barriers");
  fuse_end(&f);
}
END_TEST

START_TEST(geometry_of_ids) {
  fusing f = { .count = 0 };
  FUSE(&f, 0, "program m workgroup(4) { rw x: u32[]; if (gid.x < 4) { x[gid.x] = lid.x; } }", wide);
  fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "it depends on lid");
  fuse_end(&f);
  FUSE(&f, 0, "program m workgroup(4) subgroup(4) { rw x: u32[]; x[gid.x] = subgroup_add(1); }", wide);
  fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "it depends on subgroup_add");
  fuse_end(&f);
}
END_TEST

START_TEST(unguarded_in_a_wider_workgroup) {
  static const char *const arms[] = {
    "program m workgroup(1) { rw c: u32[4]; c[0] += 1; }",
    "program m workgroup(4) { rw c: u32[4]; atomic_add(c[0], 1); }",
    "program m workgroup(4) { rw c: u32[4]; if (gid.x < c[1]) { atomic_add(c[0], 1); } }",
    "program m workgroup(4) { rw c: u32[4]; if (gid.y < 4) { atomic_add(c[0], 1); } }",
    "program m workgroup(4) { rw c: u32[4]; if (gid.x < 4) { } else { atomic_add(c[0], 1); } }",
    "program m workgroup(4) { rw c: u32[4]; if (gid.x < 4 || c[1] == 0) { atomic_add(c[0], 1); } }",
    "program m workgroup(4) { rw c: u32[4]; if (gid.x < 4) { c[1] = 0; } atomic_add(c[0], 1); }",
    "program m workgroup(4) { rw c: u32[4]; { if (gid.x > 4) { return; } } atomic_add(c[0], 1); }",
  };
  for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
    fusing f = { .count = 0 };
    FUSE(&f, 0, arms[i], wide);
    fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "not under `gid < n`");
    fuse_end(&f);
  }
}
END_TEST

START_TEST(wider_on_y_only) {
  fusing f = { .count = 0 };
  FUSE(&f, 0, "program a workgroup(8, 1, 1) { rw x: u32[]; if (gid.x < 8) { x[gid.x] = 1; } }",
       "program b workgroup(8, 4, 1) { rw y: u32[]; y[gid.y] = 1; }");
  fuse_refuses(&f, VYRE_FUSE_GEOMETRY, "not under");
  SIZES_ARE(&f, 8, 1, 8, 4);
  fuse_end(&f);
}
END_TEST

START_TEST(larger_grid) {
  const uint32_t grids[2][3] = { { 3, 1, 1 }, { 2, 1, 1 } };
  fusing f = { .count = 0 };
  fuse_over(&f, grids,
            (const char *const[]){ "program a workgroup(8) { rw y: u32[]; y[gid.x] = gid.x; }",
                                   "program b workgroup(8) { rw c: u32[4]; atomic_add(c[0], 1); }" },
            2);
  fuse_refuses(&f, VYRE_FUSE_LAUNCH, "[16,1,1] invocations and would run over [24,1,1]");
  ck_assert_uint_eq(f.refusal.arm, 1);
  SIZES_ARE(&f, 16, 1, 24, 1);
  fuse_end(&f);
}
END_TEST

START_TEST(over_dispatch) {
  static const char x[] = "program a workgroup(256, 1, 1) { rw x: u32[]; if (gid.x < 9 && gid.y < 9) {"
                          " x[gid.x] = 1; } }";
  static const char y[] = "program b workgroup(1, 256, 1) { rw y: u32[]; if (gid.x < 9 && gid.y < 9) {"
                          " y[gid.y] = 1; } }";
  const uint32_t grids[2][3] = { { 64, 1, 1 }, { 1, 1, 1 } };
  fusing f = { .count = 0 };
  FUSE(&f, 0, x, y);
  fuse_refuses(&f, VYRE_FUSE_OVER_DISPATCH, "65536 invocations a workgroup, more than 4 times the 256 of arm 0");
  ck_assert_uint_eq(f.refusal.own_threads, 256);
  ck_assert_uint_eq(f.refusal.fused_threads, 65536);
  fuse_end(&f);
  fuse_over(&f, grids, (const char *const[]){ x, y }, 2);
  fuse_refuses(&f, VYRE_FUSE_OVER_DISPATCH, "4194304 invocations, more than 4 times the 16384 of arm 0");
  fuse_end(&f);
}
END_TEST

START_TEST(contracts) {
  static const struct {
    const char *first, *second, *says, *subject;
  } cases[] = {
    { "rw x: u32[]; x[0] = 1;", "rw x: f32[]; x[0] = 1;", "elements of f32 in arm 1, and of u32 in arm 0", "x" },
    { "rw x: u32[4]; x[0] = 1;", "rw x: u32[5]; x[0] = 1;", "5 elements in arm 1, and 4 before it", "x" },
    { "shared x: u32[4]; rw y: u32[]; y[0] = x[0];", "rw x: u32[4]; x[0] = 1;",
      "a bound buffer in arm 1, and workgroup memory", "x" },
    { "rw x: u32[4]; x[0] = 1;", "local x: u32[4]; rw y: u32[]; y[0] = x[0];",
      "local memory in arm 1, and a bound buffer", "x" },
    { "const x: u32[1] = {1}; rw y: u32[]; y[0] = x[y[1]];", "const x: u32[1] = {2}; rw y: u32[]; y[0] = x[y[1]];",
      "table \"x\" has other values", "x" },
    { "rw x: u32[]; x[0] = 1;", "write x: u32[]; x[0] = 1;", "`write` in arm 1", "x" },
    { "param n: u32; rw x: u32[]; x[0] = n;", "param n: i32; rw x: u32[]; x[0] = u32(n);",
      "parameter \"n\" is i32 in arm 1, and u32", "n" },
    { "param n: u32; rw x: u32[]; x[0] = n;", "rw n: u32[]; n[0] = 1;", "a buffer in arm 1, and a parameter in arm 0",
      "n" },
    { "rw n: u32[]; n[0] = 1;", "param n: u32; rw x: u32[]; x[0] = n;", "a parameter in arm 1, and a buffer in arm 0",
      "n" },
    { "read x: u32[]; if (x[0] > 0) { barrier; }", "rw x: u32[]; x[0] = 1;", "V010", "" },
    { "read x: u32[]; rw y: u32[]; y[0] = x[9];", "read x: u32[4]; rw y: u32[]; y[0] = x[0];", "V036", "" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char first[256], second[256];
    fusing f = { .count = 0 };
    snprintf(first, sizeof first, "program a { %s }", cases[i].first);
    snprintf(second, sizeof second, "program b { %s }", cases[i].second);
    FUSE(&f, 1, first, second);
    fuse_refuses(&f, VYRE_FUSE_CONTRACT, cases[i].says);
    ck_assert_str_eq(f.refusal.subject, cases[i].subject);
    fuse_end(&f);
  }
}
END_TEST

START_TEST(attributes) {
  fusing f = { .count = 0 };
  FUSE(&f, 1, "program a subgroup(8) { rw x: f32[]; x[0] = 1; }", "program b subgroup(16) { rw x: f32[]; x[0] = 1; }");
  fuse_refuses(&f, VYRE_FUSE_ATTRIBUTES, "subgroups of 16, and arm 0 of 8");
  fuse_end(&f);
  FUSE(&f, 1, "program a ulp(8) { rw x: f32[]; x[0] = 1; }", "program b { rw x: f32[]; x[0] = exp(x[0]); }");
  fuse_refuses(&f, VYRE_FUSE_ATTRIBUTES, "without it");
  fuse_end(&f);
}
END_TEST

START_TEST(early_end) {
  fusing f = { .count = 0 };
  static const char trapping[] = "program a workgroup(8) { rw x: u32[]; if (x[gid.x] == 0) { trap(3); }"
                                 " x[gid.x] = 1; }";
  FUSE(&f, 2, trapping, "program b workgroup(8) { read x: u32[]; rw y: u32[]; y[gid.x] = x[7 - gid.x]; }");
  fuse_refuses(&f, VYRE_FUSE_EARLY_END, "V131");
  ck_assert_uint_eq(f.refusal.arm, 0);
  fuse_end(&f);
  FUSE(&f, 2, trapping, "program b workgroup(8) { rw y: u32[]; barrier; y[gid.x] = 2; }");
  fuse_refuses(&f, VYRE_FUSE_EARLY_END, "V010");
  fuse_end(&f);
  FUSE(&f, 2, trapping, "program b workgroup(8) { rw y: u32[]; y[gid.x] = 2; }"); /* no one waits */
  ck_assert_int_eq(f.status, VYRE_OK);
  fuse_end(&f);
}
END_TEST

START_TEST(arguments) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_fuse_options options = VYRE_FUSE_OPTIONS_INIT;
  vyre_program *p = trial_parse(wide), *arms[] = { p, NULL }, *out = p;
  const uint32_t none[2][3] = { { 1, 1, 1 }, { 1, 0, 1 } }, far[2][3] = { { 1, 1, 1 }, { UINT32_MAX, 1, 1 } };
  ck_assert_int_eq(vyre_fuse(arms, 2, NULL, &out, NULL, NULL, &error), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_ptr_null(out);
  ck_assert_int_eq(vyre_fuse(NULL, 1, NULL, &out, NULL, NULL, &error), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_int_eq(vyre_fuse(arms, VYRE_FUSE_MAX_ARMS + 1, NULL, &out, NULL, NULL, &error), VYRE_ERR_LIMIT);
  arms[1] = p;
  options.grids = none;
  ck_assert_int_eq(vyre_fuse(arms, 2, &options, &out, NULL, NULL, &error), VYRE_ERR_INVALID_ARGUMENT);
  options.grids = far;
  ck_assert_int_eq(vyre_fuse(arms, 2, &options, &out, NULL, NULL, &error), VYRE_ERR_INVALID_ARGUMENT);
  options.grids = NULL;
  options.size = 1;
  ck_assert_int_eq(vyre_fuse(arms, 2, &options, &out, NULL, NULL, &error), VYRE_ERR_INVALID_ARGUMENT);
  ck_assert_str_eq(vyre_fuse_reason_name(VYRE_FUSE_OVER_DISPATCH), "over-dispatch");
  ck_assert_ptr_null(vyre_fuse_reason_name(VYRE_FUSE_REASONS));
  vyre_program_release(p);
}
END_TEST

/* As many arms as may be, on two buffers. */
START_TEST(most_arms) {
  vyre_program *p = trial_parse("program a workgroup(4) { rw x: u32[]; rw y: u32[]; x[gid.x] = y[3 - gid.x]; }"), *out;
  vyre_program *arms[VYRE_FUSE_MAX_ARMS];
  vyre_error error = VYRE_ERROR_INIT;
  for (uint32_t i = 0; i < VYRE_FUSE_MAX_ARMS; i++) arms[i] = p;
  ck_assert_int_eq(vyre_fuse(arms, VYRE_FUSE_MAX_ARMS, NULL, &out, NULL, NULL, &error), VYRE_OK);
  vyre_program_release(out);
  vyre_program_release(p);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { self_aliasing,
                                 geometry_of_barriers,
                                 geometry_of_workgroup_memory,
                                 geometry_of_ids,
                                 unguarded_in_a_wider_workgroup,
                                 wider_on_y_only,
                                 larger_grid,
                                 over_dispatch,
                                 contracts,
                                 attributes,
                                 early_end,
                                 arguments,
                                 most_arms,
                                 NULL };
  return run_suite("fuse_refusals", 60, tests);
}
