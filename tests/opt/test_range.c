/* Which accesses are proved in range: programs whose lines say so themselves, each for a reason of its own. A line with
 * "proved" holds accesses that are, one with "open" accesses that are not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "../suite.h"
#include "opt/range.h"

static const char *const programs[] = {
  /* guards */
  "program p workgroup(64) {\n  param n: u32;\n  param m: u64;\n  read x: u32[];\n  rw y: u32[];\n  rw z: u32[100];\n"
  "  let i = gid.x;\n"
  "  y[i] = 1; // open\n"
  "  if (i < len(y)) {\n"
  "    y[i] = 1; // proved\n"
  "    y[gid.x] = 1; // proved: the same value\n"
  "    y[i / 2] = 1; // proved: no larger\n"
  "    y[i >> 3] = 1; // proved\n"
  "    y[i & n] = 1; // proved\n"
  "    y[min(n, i)] = 1; // proved\n"
  "    y[i + 1] = 1; // open\n"
  "    y[i - 1] = 1; // open: wraps at 0\n"
  "    y[i ^ 1] = 1; // open\n"
  "    y[u64(i)] = 1; // proved\n"
  "    z[i] = 1; // open: another buffer's length\n"
  "  } else {\n"
  "    y[i] = 1; // open\n"
  "  }\n"
  "  if (i >= len(y)) {\n"
  "    y[i] = 1; // open\n"
  "    return;\n"
  "  }\n"
  "  y[i] = 2; // proved: who is here did not return\n"
  "}\n",
  /* what is said of one buffer or index says nothing of another */
  "program p workgroup(64) {\n  param n: u32;\n  read x: u32[];\n  rw y: u32[];\n"
  "  if (gid.x < len(x)) {\n"
  "    y[gid.x] = 1; // open\n"
  "    y[0] = x[gid.x]; // open: 0 may be beyond\n"
  "  }\n"
  "  if (gid.y < len(y)) {\n"
  "    y[gid.x] = 1; // open\n"
  "  }\n"
  "  if (gid.x < len(y) || n == 3) {\n"
  "    y[gid.x] = 1; // open\n"
  "  } else {\n"
  "    y[gid.x] = 1; // open\n"
  "  }\n"
  "  if (gid.x < len(y) && n == 3) {\n"
  "    y[gid.x] = 1; // proved\n"
  "  }\n"
  "  if (!(gid.x >= len(y) || n == 3)) {\n"
  "    y[gid.x] = 1; // proved\n"
  "  }\n"
  "  if (gid.x < n && n <= len(y)) {\n"
  "    y[gid.x] = 1; // proved\n"
  "  }\n"
  "  if (gid.x <= n && n < len(y)) {\n"
  "    y[gid.x] = 1; // proved\n"
  "  }\n"
  "  if (gid.x <= n && n <= len(y)) {\n"
  "    y[gid.x] = 1; // open\n"
  "  }\n"
  "  if (gid.x == n && n < len(y)) {\n"
  "    y[gid.x] = 1; // proved\n"
  "  }\n"
  "  if (gid.x != n && n < len(y)) {\n"
  "    y[gid.x] = 1; // open\n"
  "  }\n"
  "}\n",
  /* sums that may wrap */
  "program p workgroup(64) {\n  param n: u32;\n  rw y: u32[];\n"
  "  if (gid.x + 1 < len(y)) {\n"
  "    y[gid.x + 1] = 1; // proved\n"
  "    y[gid.x] = 1; // open: gid.x may be the largest number\n"
  "  }\n"
  "  if (lid.x + 1 < len(y)) {\n"
  "    y[lid.x + 1] = 1; // proved\n"
  "    y[lid.x] = 1; // proved: lid.x is small\n"
  "  }\n"
  "  if (gid.x > 0 && gid.x < len(y)) {\n"
  "    y[gid.x - 1] = 1; // proved\n"
  "  }\n"
  "  if (n >= 3 && gid.x < 3 && n < len(y)) {\n"
  "    y[n - gid.x] = 1; // proved\n"
  "    y[gid.x - n] = 1; // open\n"
  "  }\n"
  "}\n",
  /* variables that change, loops */
  "program p workgroup(64) {\n  param n: u32;\n  read x: u32[];\n  rw y: u32[];\n"
  "  var i = gid.x;\n"
  "  if (i < len(y)) {\n"
  "    y[i] = 1; // open: i is assigned somewhere\n"
  "    i = i + n;\n"
  "    y[i] = 1; // open\n"
  "  }\n"
  "  for (j in 0..len(y)) {\n"
  "    y[j] = 1; // proved\n"
  "    y[j + 1] = 1; // open\n"
  "  }\n"
  "  for (j in 0..len(y) step 3) {\n"
  "    y[j] = 1; // proved\n"
  "  }\n"
  "  for (j in n..len(y)) {\n"
  "    y[j] = 1; // proved\n"
  "  }\n"
  "  for (j in 0..n) {\n"
  "    y[j] = 1; // open\n"
  "  }\n"
  "  for (j in 0..len(x)) {\n"
  "    y[j] = 1; // open\n"
  "  }\n"
  "  for (j in 0..min(len(x), len(y))) {\n"
  "    y[j] = 1; // proved\n"
  "  }\n"
  "  loop {\n"
  "    let k = i;\n"
  "    if (k >= len(y)) {\n"
  "      break;\n"
  "    }\n"
  "    y[k] = 1; // proved: k does not change\n"
  "    i = i + 64;\n"
  "  }\n"
  "  for (j in 0..n) {\n"
  "    if (j >= len(y)) {\n"
  "      continue;\n"
  "    }\n"
  "    y[j] = 1; // proved\n"
  "  }\n"
  "}\n",
  /* fixed lengths */
  "program p workgroup(64) {\n  param n: u32;\n  param k: i32;\n  read b: u8[];\n  rw h: u32[256];\n  rw s: u32[64];\n"
  "  shared t: u32[64];\n  rw big: u32[0x100000000];\n"
  "  h[b[n]] = 1; // proved: a byte\n"
  "  h[n & 255] = 1; // proved\n"
  "  h[n % 256] = 1; // proved\n"
  "  h[n >> 24] = 1; // proved\n"
  "  h[n >> 23] = 1; // open\n"
  "  s[lid.x] = 1; // proved\n"
  "  t[lid.x] = 1; // proved\n"
  "  t[lid.x + 1] = 1; // open\n"
  "  t[63 - lid.x] = 1; // proved\n"
  "  t[n % 65] = 1; // open\n"
  "  t[(n & 7) * 8 + (n >> 29)] = 1; // proved\n"
  "  t[(n & 7) << 3 | n >> 29] = 1; // proved\n"
  "  t[min(n, 63)] = 1; // proved\n"
  "  t[max(n, 63)] = 1; // open\n"
  "  t[n == 3 ? 5 : lid.x] = 1; // proved\n"
  "  t[popcount(n)] = 1; // proved\n"
  "  t[clz(n) * 2] = 1; // open\n"
  "  t[u32(k)] = 1; // open\n"
  "  if (k >= 0 && k < 64) {\n"
  "    t[u32(k)] = 1; // proved\n"
  "  }\n"
  "  if (k < 64) {\n"
  "    t[u32(k)] = 1; // open: it may be negative\n"
  "  }\n"
  "  if (n != 0 && n <= 64) {\n"
  "    t[n - 1] = 1; // proved\n"
  "  }\n"
  "  for (i in 0..8) {\n"
  "    for (j in 0..8) {\n"
  "      t[i * 8 + j] = 1; // proved\n"
  "    }\n"
  "  }\n"
  "  for (i in -3..3) {\n"
  "    t[u32(i + 3)] = 1; // proved\n"
  "    t[u32(i)] = 1; // open\n"
  "  }\n"
  "  for (i in 0..n) {\n"
  "    if (i == 64) {\n"
  "      break;\n"
  "    }\n"
  "    t[i] = 1; // open: the turns before are not looked at\n"
  "  }\n"
  "  big[n] = 1; // proved\n"
  "  if (n / 4 < 16) {\n"
  "    t[n / 4] = 1; // proved\n"
  "  }\n"
  "}\n",
  /* wide, and what is no integer */
  "program p workgroup(64) {\n  param w: u64;\n  param f: f32;\n  param n: u32;\n  rw y: u32[];\n  rw z: u64[];\n"
  "  if (w < len64(y)) {\n"
  "    y[w] = 1; // proved\n"
  "    y[u32(w)] = 1; // open: cut off\n"
  "    y[w + 1] = 1; // open\n"
  "  }\n"
  "  if (u64(gid.x) < len64(y)) {\n"
  "    y[gid.x] = 1; // proved\n"
  "  }\n"
  "  if (u64(gid.x) * 2 < len64(y)) {\n"
  "    y[u64(gid.x) * 2] = 1; // proved\n"
  "  }\n"
  "  if (!(f >= f32(len(y)))) {\n"
  "    y[u32(f)] = 1; // open: a NaN\n"
  "  }\n"
  "  if (n % len(y) < len(y)) {\n"
  "    y[n % len(y)] = 1; // proved\n"
  "  }\n"
  "  y[n % len(y)] = 1; // open: there may be none\n"
  "  let c = n < len(y);\n"
  "  if (c) {\n"
  "    y[n] = 1; // proved\n"
  "  }\n"
  "  if (y[0] < len(y)) {\n"
  "    y[y[0]] = 1; // open: it is loaded anew\n"
  "  }\n"
  "}\n",
};

static bool line_has(const char *text, uint32_t offset, const char *word) {
  const char *end = strchr(text + offset, '\n'), *at = strstr(text + offset, word);
  return at != NULL && at < end;
}

static void check(const char *text, const vyre_program *p) {
  opt_ranges *r = opt_ranges_create(p);
  ir_walk walk = ir_walk_begin(p);
  uint32_t checked = 0;
  ck_assert_ptr_nonnull(r);
  for (ir_walk_event event; (event = ir_walk_next(&walk)) != IR_WALK_END;) {
    const ir_stmt *s = ir_stmt_at(p, walk.stmt);
    if (event == IR_WALK_STMT && s->op == VYRE_STMT_STORE) {
      bool proved = opt_range_proves(r, s->arg[0], s->arg[4]);
      bool wants_proved = line_has(text, s->pos, "// proved"), wants_open = line_has(text, s->pos, "// open");
      if (wants_proved || wants_open) checked++;
      if (wants_proved) ck_assert_msg(proved, "not proved: %.60s", text + s->pos);
      if (wants_open) ck_assert_msg(!proved, "proved: %.60s", text + s->pos);
    }
    opt_ranges_event(r, event, walk.stmt);
  }
  ck_assert(ir_walk_finish(&walk));
  ck_assert_uint_gt(checked, 0);
  ck_assert(opt_ranges_fine(r));
  opt_ranges_free(r);
}

START_TEST(accesses_are_proved_as_their_lines_say) {
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    vyre_program *p;
    vyre_error error = VYRE_ERROR_INIT;
    vyre_status status = vyre_text_parse(programs[i], strlen(programs[i]), NULL, NULL, &p, &error);
    ck_assert_msg(status == VYRE_OK, "program %zu: %s", i, error.text);
    check(programs[i], p);
    vyre_program_release(p);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = { accesses_are_proved_as_their_lines_say, NULL };
  return run_suite("opt/range", 60, tests);
}
