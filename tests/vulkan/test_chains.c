/* Chains of else-ifs of every length, with values between their links that later links use: as modules that spirv-val takes,
 * and run on a driver beside the oracle. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/device.h>

#include "../golden.h"
#include "../lower/runs.h"
#include "emitted.h"
#include "rig.h"

/* ---- Programs -------------------------------------------------------------------------------- */

enum { ROOM = 1 << 20, MOST_LETS = 100 };

/* Values are made in front of each |every|-th link, 0 for never, and used by that link and those behind it. */
typedef struct chain {
  uint32_t links, every;
  uint32_t kind; /* of the values */
} chain;

/* A value is made of a u32 between |before| and |after|; |back| is that, with @ in the place of its name. */
static const struct {
  const char *before, *after, *back;
} kinds[] = { { "(", ")", "@" },
              { "((", ") % 2 == 1)", "u32(@)" },
              { "(u64(", ") * 0x100000003)", "u32(@ >> 3)" },
              { "f32x4(f32((", ") % 65536))", "(bitcast<u32>(@.w) >> 7)" } };
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct writer {
  char *text;
  size_t used;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int wanted = vsnprintf(w->text + w->used, ROOM - w->used, format, args);
  va_end(args);
  ck_assert(wanted >= 0 && (size_t)wanted < ROOM - w->used);
  w->used += (size_t)wanted;
}

/* A value of the chain: that of |number|, or one from far before it. */
static uint32_t some_value(uint32_t number, uint32_t link) { return link % 3 == 0 ? number : number / (1 + link % 5); }

static void put_value(writer *w, const chain *c, const char *name, uint32_t number) {
  for (const char *p = kinds[c->kind].back; *p != 0; p++)
    if (*p == '@') put(w, "%s%u", name, number);
    else put(w, "%c", *p);
}

/* In front of link |d|. */
static void put_let(writer *w, const chain *c, const char *name, uint32_t number, uint32_t d) {
  put(w, "let %s%u = %s", name, number, kinds[c->kind].before);
  if (number == 0) put(w, "s");
  else put_value(w, c, name, some_value(number - 1, d));
  put(w, " * 5 + %u%s; ", d, kinds[c->kind].after);
}

/* |arm| stands in the arms, where r is to be changed; |name| begins the names of the values. The selector is s. */
static void put_chain(writer *w, const chain *c, const char *name, const char *arm) {
  uint32_t lets = 0;
  put_let(w, c, name, 0, 0);
  for (uint32_t d = 0; d < c->links; d++) {
    if (d > 0) put(w, " else ");
    if (d > 0 && c->every != 0 && d % c->every == 0 && lets < MOST_LETS) {
      put(w, "{ ");
      put_let(w, c, name, ++lets, d);
    }
    put(w, "if (s == %u", d);
    if (d % 7 == 2) {
      put(w, " && ");
      put_value(w, c, name, some_value(lets, d));
      put(w, " %% 2 == 0");
    }
    put(w, ") { r = %u + ", d);
    put_value(w, c, name, some_value(lets, d + 1));
    put(w, "; %s }", arm);
  }
  put(w, " else { r = ");
  put_value(w, c, name, lets);
  put(w, "; }");
  for (; lets > 0; lets--) put(w, " }");
}

static void put_start(writer *w) {
  put(w, "program chain workgroup(36) { read x: u32[]; rw y: u32[]; let i = gid.x; var r = 1;\n");
}

static void by_itself(writer *w, const chain *c, const char *arm, const char *tail) {
  put(w, "let s = x[i] %% %u;\n", c->links + 9);
  put_chain(w, c, "v", arm);
  put(w, " %s", tail);
}

static void alone(writer *w, const chain *c) { by_itself(w, c, "", "y[i] = r;"); }

static void with_returns(writer *w, const chain *c) {
  by_itself(w, c, "if (r % 3 == 0) { y[i] = r; return; }", "y[i] = r + 1;");
}

static void all_arms_return(writer *w, const chain *c) { by_itself(w, c, "y[i] = r; return;", "y[i] = r + 1;"); }

static void in_a_loop(writer *w, const chain *c) {
  put(w, "for (k in 0..5) { let s = (x[i] + k * 37) %% %u; let before = r;\n", c->links + 9);
  put_chain(w, c, "v", "for (m in 0..2) { r += m; }");
  put(w, " r = r * 3 + before; if (r %% 11 == 0) { continue; } y[i] = r; } y[i] ^= r;");
}

/* In one of the arms, and between two links of another. */
static void in_a_chain(writer *w, const chain *c) {
  const chain inner = { 40, c->every, c->kind };
  put(w, "let t = x[i]; if (t %% 5 == 0) { let s = t %% %u;\n", c->links + 9);
  put_chain(w, c, "v", "");
  put(w, " } else if (t %% 5 == 1) { let s = t %% 45;\n");
  put_chain(w, &inner, "w", "r += 2;");
  for (uint32_t d = 0; d < 70; d++) put(w, " } else if (t %% 77 == %u) { r = %u;", d, d);
  put(w, " let s = t %% 44;\n");
  put_chain(w, &inner, "p", "r += 4;");
  put(w, " } else { let s = t %% 43;\n");
  put_chain(w, &inner, "q", "r += 5;");
  put(w, " if (r %% 3 == 1) { r += 7; } else if (r %% 3 == 2) { r += s; } } y[i] = r;");
}

/* With a barrier behind it, and what a whole subgroup does in its arms: the last of each workgroup is not full. */
static void among_others(writer *w, const chain *c) {
  put(w, "let s = wid.x %% %u;\n", c->links + 9);
  put_chain(w, c, "v", "r += lid.x + subgroup_add(lid.x);");
  put(w, " barrier; y[i] = r;");
}

typedef void (*put_form)(writer *w, const chain *c);
static const put_form forms[] = { alone, with_returns, all_arms_return, in_a_loop, in_a_chain, among_others };
enum { FORMS = sizeof forms / sizeof *forms };

static vyre_program *make(uint32_t form, const chain *c) {
  writer w = { calloc(1, ROOM), 0 };
  ck_assert_ptr_nonnull(w.text);
  put_start(&w);
  forms[form](&w, c);
  put(&w, " }");
  vyre_program *program = golden_parse("chain", w.text);
  free(w.text);
  return program;
}

/* A chain is cut after 32 links each. */
static const struct {
  uint32_t links, every;
} lengths[] = { { 33, 1 }, { 64, 2 }, { 65, 3 }, { 300, 7 }, { 1000, 12 } };
enum { LENGTHS = sizeof lengths / sizeof *lengths, LONGEST = LENGTHS - 1 };

/* ---- Modules --------------------------------------------------------------------------------- */

START_TEST(modules_are_valid) {
  int taken = 0;
  for (uint32_t k = 0; k < KINDS; k++)
    for (uint32_t l = 0; l < LENGTHS; l++) {
      char what[64];
      const chain c = { lengths[l].links, lengths[l].every, k };
      const int other = (int)(k + l) % EMITTED_TARGETS;
      if (l == LONGEST && k != (uint32_t)_i % KINDS) continue;
      vyre_program *program = make((uint32_t)_i, &c);
      snprintf(what, sizeof what, "form %d, kind %u, %u links", _i, k, c.links);
      taken += emitted_check(program, &emitted_targets[EMITTED_ALL], what);
      if (other != EMITTED_ALL) emitted_check(program, &emitted_targets[other], what);
      vyre_program_release(program);
    }
  ck_assert_int_eq(taken, KINDS * (LENGTHS - 1) + 1);
}
END_TEST

/* ---- On a device ----------------------------------------------------------------------------- */

static vyre_context *context;
static vyre_device *device;

static void open_device(void) {
  vyre_error error = VYRE_ERROR_INIT;
  const char *backends = getenv("VYRE_TEST_BACKENDS");
  setenv("VYRE_BACKEND_PATH", backends != NULL ? backends : "plugins/vulkan/.libs", 1);
  setenv("VYRE_CACHE", "off", 1);
  if (vyre_context_create(NULL, NULL, &context, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
  if (vyre_device_open(context, "vulkan:0", &device, &error) != VYRE_OK) ck_abort_msg("%s", error.text);
}

static void close_device(void) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_device_close(device, UINT64_MAX, &error) == VYRE_OK, "%s", error.text);
  vyre_context_destroy(context);
}

static void compare(uint32_t form, const chain *c, outcome *wanted, outcome *found) {
  const run_case input = { .grid = { 64, 1, 1 }, .subgroup = vyre_device_capabilities(device)->subgroup_size,
                           .ulp = VYRE_ULP_UNSET, .elements = 64 * 36, .seed = c->links + form };
  const compare_options strict = { .masked = false };
  char text[512];
  vyre_program *program = make(form, c);
  run_oracle(program, &input, false, wanted);
  run_device(program, &input, device, found);
  bool is_lacking = found->refused && strstr(found->text, "lacks the capability") != NULL;
  ck_assert_msg(!found->refused || is_lacking, "form %u, %u links: %s", form, c->links, found->text);
  if (!found->refused && outcome_differs(program, wanted, found, &strict, text, sizeof text))
    ck_abort_msg("form %u, kind %u, %u links: %s", form, c->kind, c->links, text);
  vyre_program_release(program);
}

/* Compilers of drivers take long for these, so not every kind comes in every length. */
START_TEST(a_device_agrees_with_the_oracle) {
  outcome *wanted = outcome_create(), *found = outcome_create();
  ck_assert(wanted != NULL && found != NULL);
  open_device();
  for (uint32_t k = 0; k < KINDS; k++) {
    const uint32_t l = (k + (uint32_t)_i) % LONGEST;
    const chain c = { lengths[l].links, lengths[l].every, k };
    compare((uint32_t)_i, &c, wanted, found);
  }
  close_device();
  outcome_destroy(wanted);
  outcome_destroy(found);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("vulkan/chains");
  TCase *all = tcase_create("all");
  bool can_validate = emitted_can_validate(), has_device = rig_has_device();
  tcase_set_timeout(all, 300);
  if (can_validate) tcase_add_loop_test(all, modules_are_valid, 0, FORMS);
  if (has_device) tcase_add_loop_test(all, a_device_agrees_with_the_oracle, 0, FORMS);
  suite_add_tcase(suite, all);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int bad = srunner_ntests_failed(runner);
  srunner_free(runner);
  if (!can_validate) puts("no spirv-val, so no module was validated. Fix: install spirv-tools.");
  if (!has_device) puts("no device, so nothing was run. Fix: install a Vulkan driver (Debian: mesa-vulkan-drivers).");
  return bad != 0 ? 1 : can_validate && has_device ? 0 : 77;
}
