/* Fusion of programs that go together: the text of the result, and that it does what the arms do one after the
 * other. */
#include <string.h>

#include "../suite.h"
#include "fusing.h"

static const char reader[] = "program reader { read state: u32[4]; write out: u32[4]; out[gid.x] = state[0]; }";
static const char adder[] = "program adder { rw state: u32[4]; atomic_add(state[0], 1); }";

START_TEST(no_arms) {
  fusing f = { .count = 0 };
  fuse_over(&f, NULL, NULL, 0);
  fuse_gives(&f, "program fused workgroup(1) {\n}\n");
  fuse_end(&f);
}
END_TEST

START_TEST(one_arm) {
  fusing f = { .count = 0 };
  for (int shared = 0; shared < 2; shared++) {
    f.shared = shared;
    FUSE(&f, 3,
         "program narrow workgroup(4) { shared s: u32[4]; rw y: u32[]; s[lid.x] = 1; barrier; y[gid.x]"
         " = s[0]; }");
    ck_assert_int_eq(f.status, VYRE_OK);
    ck_assert_ptr_eq(f.fused, f.arms[0]);
    ck_assert_uint_eq(f.grid[0], 3);
    fuse_end(&f);
  }
}
END_TEST

START_TEST(reader_then_atomic) {
  fusing f = { .count = 0 };
  FUSE(&f, 1, reader, adder);
  fuse_gives(&f, "program fused workgroup(1) {\n"
                 "  rw state: u32[4];\n"
                 "  write out: u32[4];\n"
                 "\n"
                 "  region \"fused\" {\n"
                 "    {\n"
                 "      out[gid.x] = state[0];\n"
                 "    }\n"
                 "    barrier;\n"
                 "    {\n"
                 "      atomic_add(state[0], 1);\n"
                 "    }\n"
                 "  }\n"
                 "}\n");
  fuse_runs_alike(&f, 4, 1);
  fuse_end(&f);
  FUSE(&f, 2, reader, adder); /* another workgroup may add before this one has read */
  ck_assert_uint_eq(fuse_count(&f, "barrier;"), 1);
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_runs_alike(&f, 4, 1);
  fuse_end(&f);
}
END_TEST

START_TEST(conditional_writer) {
  fusing f = { .count = 0 };
  FUSE(&f, 3, "program w workgroup(128) { rw state: u32[4]; if (gid.x == 0) { state[0] = 7; } }",
       "program r workgroup(128) { read state: u32[4]; rw y: u32[]; y[gid.x] = state[0]; }");
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_runs_alike(&f, 400, 2);
  fuse_end(&f);
}
END_TEST

START_TEST(writer_by_workgroup_ids) {
  fusing f = { .count = 0 };
  FUSE(&f, 3, "program w workgroup(128) { rw s: u32[]; let i = wid.x * 128 + lid.x; s[i] = i * 3; }",
       "program r workgroup(128) { read s: u32[]; rw y: u32[]; let i = wid.x * 128 + lid.x; y[i] = s[i]; }");
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_runs_alike(&f, 400, 3);
  fuse_end(&f);
}
END_TEST

START_TEST(constant_writer) {
  fusing f = { .count = 0 };
  static const char r[] = "program r workgroup(64) { read s: u32[4]; rw y: u32[]; y[gid.x] = s[0]; }";
  FUSE(&f, 0, "program w workgroup(64) { rw s: u32[4]; s[0] = 7; }", r);
  ck_assert_uint_eq(fuse_count(&f, "barrier;"), 1);
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 0);
  fuse_end(&f);
  /* Two stores: a workgroup could read what another one is about to write over again. */
  FUSE(&f, 0, "program w workgroup(64) { rw s: u32[4]; s[0] = 7; s[0] = 8; }", r);
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_end(&f);
  FUSE(&f, 0, "program w workgroup(64) { rw s: u32[4]; s[0] = s[1]; }", r);
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_end(&f);
  FUSE(&f, 0, "program w workgroup(64) { rw s: u32[4]; s[0] = wid.x; }", r);
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_end(&f);
  FUSE(&f, 0, "program w workgroup(64) { rw s: u32[4]; s[0] = 7; }",
       "program r workgroup(64) { rw s: u32[4]; if (gid.x == 0) { s[0] = 1; } }");
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_end(&f);
}
END_TEST

START_TEST(same_element) {
  fusing f = { .count = 0 };
  static const char a[] = "program a workgroup(4) { param n: u32; rw x: u32[]; let i = gid.x; x[i + n] = 3 * i; }";
  static const char b[] = "program b workgroup(4) { param n: u32; rw x: u32[]; rw y: u32[];"
                          " y[gid.x] = x[n + gid.x]; }";
  FUSE(&f, 5, a, b);
  fuse_gives(&f, "program fused workgroup(4) {\n"
                 "  param n: u32;\n"
                 "  rw x: u32[];\n"
                 "  rw y: u32[];\n"
                 "\n"
                 "  region \"fused\" {\n"
                 "    {\n"
                 "      let i_a0 = gid.x;\n"
                 "      x[i_a0 + n] = 3 * i_a0;\n"
                 "    }\n"
                 "    barrier;\n"
                 "    {\n"
                 "      y[gid.x] = x[n + gid.x];\n"
                 "    }\n"
                 "  }\n"
                 "}\n");
  fuse_runs_alike(&f, 30, 4);
  fuse_end(&f);
  FUSE(&f, 0, a, b); /* a grid of more than one row has several invocations of one gid.x */
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_end(&f);
  FUSE(&f, 5, a, "program b workgroup(4) { rw x: u32[]; rw y: u32[]; y[gid.x] = x[gid.x + 1]; }");
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_runs_alike(&f, 30, 4);
  fuse_end(&f);
}
END_TEST

START_TEST(write_after_write) {
  fusing f = { .count = 0 };
  FUSE(&f, 2, "program a workgroup(4) { rw x: u32[8]; x[gid.x] = 1; }",
       "program b workgroup(4) { rw x: u32[8]; x[7 - gid.x] = 2 + gid.x; }");
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_runs_alike(&f, 8, 5);
  fuse_end(&f);
}
END_TEST

START_TEST(write_after_read_of_another_workgroup) {
  fusing f = { .count = 0 };
  FUSE(&f, 2, "program a workgroup(4) { read x: u32[8]; rw y: u32[8]; y[gid.x] = x[7 - gid.x]; }",
       "program b workgroup(4) { rw x: u32[8]; x[gid.x] = 0; }");
  ck_assert_uint_eq(fuse_count(&f, "grid_barrier;"), 1);
  fuse_runs_alike(&f, 8, 6);
  fuse_end(&f);
}
END_TEST

/* One barrier serves both that wait; nothing waits where nothing is shared. */
START_TEST(barriers_are_few) {
  fusing f = { .count = 0 };
  FUSE(&f, 2, "program a workgroup(4) { rw x: u32[8]; x[7 - gid.x] = 1 + gid.x; }",
       "program b workgroup(4) { rw y: u32[8]; y[7 - gid.x] = 2 + gid.x; }",
       "program c workgroup(4) { read x: u32[8]; read y: u32[8]; rw z: u32[8]; z[gid.x] = x[gid.x] + y[gid.x]; }");
  ck_assert_uint_eq(fuse_count(&f, "barrier;"), 1);
  fuse_runs_alike(&f, 8, 7);
  fuse_end(&f);
}
END_TEST

START_TEST(access_joins) {
  fusing f = { .count = 0 };
  FUSE(&f, 1, "program a { read x: u32[]; rw y: u32[]; y[0] = x[0]; }", "program b { rw x: u32[4]; x[1] = x[2]; }");
  ck_assert_uint_eq(fuse_count(&f, "x: u32"), 1);
  ck_assert_uint_eq(fuse_count(&f, "rw x: u32[4];"), 1);
  fuse_runs_alike(&f, 4, 8);
  fuse_end(&f);
  FUSE(&f, 1, "program a { read x: u32[]; rw y: u32[]; y[0] = x[0]; }",
       "program b { read x: u32[]; rw z: u32[]; z[0] = x[1]; }");
  ck_assert_uint_eq(fuse_count(&f, "read x: u32[];"), 1);
  ck_assert_uint_eq(fuse_count(&f, "barrier"), 0);
  fuse_end(&f);
  FUSE(&f, 1, "program a { write x: u32[4]; x[0] = 3; }",
       "program b { read x: u32[]; rw z: u32[4]; z[0] = x[0]; z[1] = x[1]; }");
  ck_assert_uint_eq(fuse_count(&f, "rw x: u32[4];"), 1);
  fuse_runs_alike(&f, 4, 8);
  fuse_end(&f);
}
END_TEST

START_TEST(two_outputs) {
  fusing f = { .count = 0 };
  FUSE(&f, 2, "program a workgroup(4) { write a_out: u32[]; a_out[gid.x] = 1; }",
       "program b workgroup(4) { write b_out: f32[]; b_out[gid.x] = 2; }");
  fuse_gives(&f, "program fused workgroup(4) {\n"
                 "  write a_out: u32[];\n"
                 "  write b_out: f32[];\n"
                 "\n"
                 "  region \"fused\" {\n"
                 "    {\n"
                 "      a_out[gid.x] = 1;\n"
                 "    }\n"
                 "    {\n"
                 "      b_out[gid.x] = 2.0;\n"
                 "    }\n"
                 "  }\n"
                 "}\n");
  fuse_runs_alike(&f, 9, 9);
  fuse_end(&f);
}
END_TEST

static const char names_a[] = "program a { read flag: u32[4]; rw y: u32[4]; let cmp_5 = flag[0]; y[0] = cmp_5; }";
static const char names_b[] = "program b { rw z: u32[4]; let cmp_5 = 9; let y = 2; for (only in 0..y) {"
                              " z[only] = cmp_5; } }";

START_TEST(names_isolated) {
  fusing f = { .count = 0 };
  FUSE(&f, 1, names_a, names_b);
  ck_assert_uint_eq(fuse_count(&f, "let cmp_5_a0 = flag[0];"), 1);
  ck_assert_uint_eq(fuse_count(&f, "let cmp_5_a1 = 9;"), 1);
  ck_assert_uint_eq(fuse_count(&f, "let y_a1 = 2;"), 1);
  fuse_runs_alike(&f, 4, 10);
  fuse_end(&f);
}
END_TEST

/* Renamed is what is declared twice, and what has the name of a buffer. */
START_TEST(names_shared) {
  fusing f = { .shared = true };
  FUSE(&f, 1, names_a, names_b);
  fuse_gives(&f, "program fused workgroup(1) {\n"
                 "  read flag: u32[4];\n"
                 "  rw y: u32[4];\n"
                 "  rw z: u32[4];\n"
                 "\n"
                 "  region \"fused\" {\n"
                 "    let cmp_5 = flag[0];\n"
                 "    y[0] = cmp_5;\n"
                 "    let cmp_5_2 = 9;\n"
                 "    let y_2 = 2;\n"
                 "    for (only in 0..y_2) {\n"
                 "      z[only] = cmp_5_2;\n"
                 "    }\n"
                 "  }\n"
                 "}\n");
  fuse_runs_alike(&f, 4, 10);
  fuse_end(&f);
}
END_TEST

/* Names of an earlier fusion are names like others. */
START_TEST(fused_again) {
  fusing f = { .count = 0 }, g = { .count = 0 };
  FUSE(&f, 1, names_a, names_b);
  for (int shared = 0; shared < 2; shared++) {
    g.shared = shared;
    FUSE(&g, 1, f.text, names_a, f.text);
    fuse_runs_alike(&g, 4, 11);
    fuse_end(&g);
  }
  fuse_end(&f);
}
END_TEST

START_TEST(equal_workgroups_with_barriers) {
  fusing f = { .count = 0 };
  FUSE(&f, 2,
       "program a workgroup(64) { shared s: u32[64]; rw x: u32[]; s[lid.x] = lid.x; barrier; x[gid.x] ="
       " s[63 - lid.x]; }",
       "program b workgroup(64) { shared s: u32[64]; rw y: u32[]; if (lid.x == 3) { s[5] = 2; } barrier;"
       " y[gid.x] = s[lid.x]; }");
  ck_assert_uint_eq(fuse_count(&f, "workgroup(64)"), 1);
  ck_assert_uint_eq(fuse_count(&f, "shared s: u32[64];"), 1);
  fuse_runs_alike(&f, 128, 12); /* the second arm, too, finds its memory zero */
  fuse_end(&f);
}
END_TEST

START_TEST(local_memory_is_zero_again) {
  fusing f = { .count = 0 };
  static const char a[] = "program a workgroup(4) { local l: u32x2[3]; rw x: u32[]; l[gid.x] = u32x2(5, 6);"
                          " x[gid.x] = l[1].y; }";
  FUSE(&f, 1, a, a, a);
  fuse_runs_alike(&f, 4, 13);
  fuse_end(&f);
}
END_TEST

START_TEST(guarded_arms_are_widened) {
  static const char wide[] = "program wide workgroup(64) { rw y: u32[]; y[gid.x] = gid.x; }";
  static const char *const guarded[] = {
    "program n workgroup(4) { param n: u32; rw c: u32[4]; if (gid.x < n) { atomic_add(c[0], 1); } }",
    ("program n workgroup(4) { rw c: u32[4]; let i = gid.x; if (!(i >= len(c)) && c[1] != 1000) {"
     " atomic_add(c[0], 1); } }"),
    "program n workgroup(4) { rw c: u32[4]; let i = gid.x; if (i >= len(c)) { return; } atomic_add(c[0], 1); }",
  };
  const uint32_t grids[2][3] = { { 2, 1, 1 }, { 32, 1, 1 } };
  for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
    fusing f = { .count = 0 };
    fuse_over(&f, grids, (const char *const[]){ wide, guarded[i] }, 2);
    ck_assert_uint_eq(fuse_count(&f, "workgroup(64)"), 1);
    ck_assert_uint_eq(f.grid[0], 2);
    fuse_runs_alike(&f, 128, 14);
    fuse_end(&f);
  }
}
END_TEST

/* The same workgroups, but fewer of them. */
START_TEST(guarded_arms_run_over_more) {
  const uint32_t grids[2][3] = { { 3, 1, 1 }, { 1, 1, 1 } };
  fusing f = { .count = 0 };
  fuse_over(&f, grids,
            (const char *const[]){ "program a workgroup(8) { rw y: u32[]; y[gid.x] = gid.x; }",
                                   "program b workgroup(8) { rw c: u32[4]; if (gid.x < 5) { atomic_add(c[0], 1); } }" },
            2);
  fuse_runs_alike(&f, 24, 15);
  fuse_end(&f);
}
END_TEST

START_TEST(early_returns) {
  static const char after[] = "program z workgroup(8) { rw y: u32[]; y[gid.x] = y[gid.x] + 100; }";
  static const char *const arms[] = {
    "program a workgroup(8) { rw x: u32[]; let i = gid.x; if (i >= 5) { return; } x[i] = 1; if (i > 2) {"
    " return; } x[i] = 2; }",
    "program a workgroup(8) { rw x: u32[]; let i = gid.x; if (i > 2) { x[i] = 5; return; } x[i] = 2; return; }",
    "program a workgroup(8) { rw x: u32[]; let i = gid.x; for (j in 0..9) { for (k in 0..4) {"
    " if (j * k > i) { x[i] = j; return; } } x[i + 8] = j; } x[i] = 77; }",
    "program a workgroup(8) { rw x: u32[]; let i = gid.x; { if (i == 1) { return; } x[i] = 3; } if (i == 2) {"
    " if (x[i + 8] > 40) { return; } else { x[i] = 4; } x[i] += 1; } else { x[i] = 9; return; } x[i + 8] = 6; }",
    "program a workgroup(8) { rw x: u32[]; let i = gid.x; region \"r\" { loop { x[i] += 1; if (x[i] > 90) {"
    " return; } } } }",
  };
  for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
    fusing f = { .count = 0 };
    for (int shared = 0; shared < 2; shared++) {
      f.shared = shared;
      FUSE(&f, 1, arms[i], after, arms[i]);
      fuse_runs_alike(&f, 16, 16 + i);
      fuse_end(&f);
    }
  }
}
END_TEST

START_TEST(early_return_text) {
  fusing f = { .count = 0 };
  FUSE(&f, 2, "program a workgroup(8) { rw x: u32[]; if (gid.x >= len(x)) { return; } x[gid.x] = 1; }",
       "program b workgroup(8) { rw x: u32[]; for (j in 0..4) { if (x[j] > gid.x) { return; } } x[7 - gid.x] = 1; }",
       "program c workgroup(8) { rw y: u32[]; if (gid.x >= len(y)) { return; } y[gid.x] = 1; }");
  fuse_gives(&f, "program fused workgroup(8) {\n"
                 "  rw x: u32[];\n"
                 "  rw y: u32[];\n"
                 "\n"
                 "  region \"fused\" {\n"
                 "    {\n"
                 "      if (!(gid.x >= len(x))) {\n"
                 "        x[gid.x] = 1;\n"
                 "      }\n"
                 "    }\n"
                 "    grid_barrier;\n"
                 "    {\n"
                 "      var ended = false;\n"
                 "      for (j_a1 in 0..4) {\n"
                 "        if (x[j_a1] > gid.x) {\n"
                 "          ended = true;\n"
                 "          break;\n"
                 "        }\n"
                 "      }\n"
                 "      if (!ended) {\n"
                 "        x[7 - gid.x] = 1;\n"
                 "      }\n"
                 "    }\n"
                 "    {\n"
                 "      if (gid.x >= len(y)) {\n"
                 "        return;\n"
                 "      }\n"
                 "      y[gid.x] = 1;\n"
                 "    }\n"
                 "  }\n"
                 "}\n");
  fuse_end(&f);
}
END_TEST

/* What is open when an arm ends is no group of the next one. */
START_TEST(copies_are_finished) {
  static const char a[] = "program a workgroup(4) { shared s: u32[4]; read x: u32[]; rw y: u32[];"
                          " copy_async s[lid.x], x[gid.x], 1; commit; wait 0; barrier; y[gid.x] = s[3 -"
                          " lid.x]; copy_async s[0], x[0], 1; }";
  fusing f = { .count = 0 };
  FUSE(&f, 2, a, a);
  ck_assert_uint_eq(fuse_count(&f, "wait 0;"), 3);
  fuse_runs_alike(&f, 8, 20);
  fuse_end(&f);
}
END_TEST

START_TEST(attributes_join) {
  fusing f = { .count = 0 };
  FUSE(&f, 1, "program a contract flush ulp(4) op(\"x.a\") { rw x: f32[]; x[0] = exp(x[0]); }",
       "program b flush subgroup(8) ulp(2) noncomposable { rw x: f32[]; x[0] = exp(x[0]); }",
       "program c flush { rw x: f32[]; x[0] = 1; }");
  ck_assert_ptr_nonnull(strstr(f.text, "program fused workgroup(1) flush ulp(2) subgroup(8) noncomposable {"));
  fuse_end(&f);
}
END_TEST

START_TEST(tables_and_deterministic) {
  static const char a[] = "program a { const T: u32[2] = {1, 2}; rw x: u32[4]; x[0] = T[x[1]]; }";
  fusing f = { .count = 0 }, g = { .count = 0 };
  FUSE(&f, 1, a, a);
  FUSE(&g, 1, a, a);
  ck_assert_uint_eq(fuse_count(&f, "const T"), 1);
  ck_assert(vyre_program_equal(f.fused, g.fused));
  ck_assert_mem_eq(vyre_program_fingerprint(f.fused), vyre_program_fingerprint(g.fused), VYRE_FINGERPRINT_BYTES);
  fuse_runs_alike(&f, 4, 21);
  fuse_end(&f);
  fuse_end(&g);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { no_arms,
                                 one_arm,
                                 reader_then_atomic,
                                 conditional_writer,
                                 writer_by_workgroup_ids,
                                 constant_writer,
                                 same_element,
                                 write_after_write,
                                 write_after_read_of_another_workgroup,
                                 barriers_are_few,
                                 access_joins,
                                 two_outputs,
                                 names_isolated,
                                 names_shared,
                                 fused_again,
                                 equal_workgroups_with_barriers,
                                 local_memory_is_zero_again,
                                 guarded_arms_are_widened,
                                 guarded_arms_run_over_more,
                                 early_returns,
                                 early_return_text,
                                 copies_are_finished,
                                 attributes_join,
                                 tables_and_deterministic,
                                 NULL };
  return run_suite("fuse", 60, tests);
}
