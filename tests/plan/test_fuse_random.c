/* Random pairs and triples of programs that share buffers by name: fused, they leave the memory that they leave one
 * after the other. Each program is free of races by itself, since what it writes plainly it reads nowhere else;
 * whatever order they need among each other, fusion must find. */
#include <stdio.h>

#include "../gen/random_program.h"
#include "../suite.h"
#include "fusing.h"

enum { WORKGROUP = 4, GROUPS = 3, ELEMENTS = WORKGROUP * GROUPS, TEXT_BYTES = 2048 };

/* An index below ELEMENTS that no two invocations share. */
static const char *own_index(random_source *r) {
  static const char *const forms[] = { "i", "gid.x", "11 - i", "(i + 5) % 12", "i ^ 3" };
  return forms[random_below(r, sizeof forms / sizeof *forms)];
}

static const char *any_index(random_source *r) {
  static const char *const forms[] = { "0", "i / 4", "wid.x", "(i * 7) % 12", "i + 1" };
  return random_chance(r, 50) ? own_index(r) : forms[random_below(r, sizeof forms / sizeof *forms)];
}

static const char *early_return(random_source *r, char source) {
  static char text[96];
  switch (random_below(r, 4)) {
    case 0: return "if (i >= 9) { return; } ";
    case 1:
      snprintf(text, sizeof text, "for (j in 0..3) { if (%c[j] %% 3 == i %% 3) { return; } } ", source);
      return text;
    default: return "";
  }
}

static const char *middle(random_source *r) {
  switch (random_below(r, 5)) {
    case 0: return "s[lid.x] += v; barrier; v += s[3 - lid.x]; ";
    case 1: return "l[i % 2] += v; v += l[0]; ";
    case 2: return "atomic_add(c[i % 2], v); ";
    case 3: return "k[0] = 7; ";
    default: return "v += k[0] + c[1]; ";
  }
}

/* |from| and |to| are the buffers that it reads and writes. */
static void write_program(random_source *r, uint32_t number, char *text) {
  char from = (char)('x' + random_below(r, 3)), to = (char)('x' + random_below(r, 3));
  if (from == to) to = from == 'z' ? 'x' : (char)(from + 1);
  const char *read_index = any_index(r), *what = middle(r), *write_index = own_index(r);
  bool is_plain = random_chance(r, 50);
  snprintf(text, TEXT_BYTES,
           "program p%u workgroup(%d) { param n: u32; rw c: u32[2]; rw k: u32[1]; shared s: u32[4]; local l: u32[2];"
           " %s %c: u32[]; rw %c: u32[]; let i = gid.x; var v = %c[%s] + n; %s%s%c[%s] = v * 3 + i; }",
           number, WORKGROUP, random_chance(r, 50) ? "read" : "rw", from, to, from, read_index, is_plain ? "" : what,
           early_return(r, from), to, write_index);
}

START_TEST(like_one_after_the_other) {
  const uint64_t rounds = suite_rounds(1500);
  uint32_t barriers = 0, grid_barriers = 0;
  for (uint64_t seed = 1; seed <= rounds; seed++) {
    random_source r = { seed };
    char texts[3][TEXT_BYTES];
    const char *arms[3] = { texts[0], texts[1], texts[2] };
    uint32_t count = 2 + random_below(&r, 2);
    fusing f = { .shared = random_chance(&r, 50) };
    for (uint32_t i = 0; i < count; i++) write_program(&r, i, texts[i]);
    fuse(&f, random_chance(&r, 20) ? 1 : GROUPS, arms, count);
    fuse_runs_alike(&f, ELEMENTS, seed);
    uint32_t of_grid = fuse_count(&f, "grid_barrier;");
    grid_barriers += of_grid;
    barriers += fuse_count(&f, "barrier;") - of_grid;
    fuse_end(&f);
  }
  ck_assert_uint_gt(grid_barriers, rounds / 4); /* all kinds come up */
  ck_assert_uint_gt(barriers, rounds / 4);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { like_one_after_the_other, NULL };
  return run_suite("fuse_random", 120, tests);
}
