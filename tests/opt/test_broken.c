/* A pass that breaks programs is found, named and undone, and what the others do stands. The passes here break them on
 * purpose, each in another way, and are in no registry but their test's. */
#include <string.h>

#include <vyre/text.h>

#include "../gen/random_program.h"
#include "../suite.h"
#include "opt/pass.h"

/* ---- Passes that are wrong ------------------------------------------------------------------- */

/* Leaves out declarations, whether they are used or not. */
static opt_action drop_declaration(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)context, (void)e, (void)old;
  return s->op == VYRE_STMT_LET || s->op == VYRE_STMT_VAR ? OPT_DROP : OPT_KEEP;
}

static uint32_t writable(const opt_unit *u) {
  uint32_t i = 0;
  while (i < u->program->buffers.count && (u->program->buffers.data[i].access != VYRE_ACCESS_WRITE ||
                                           u->program->buffers.data[i].element != VYRE_TYPE_U32)) i++;
  return i;
}

/* What is declared in a block is used before it. */
static opt_action take_out_of_block(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)context, (void)old;
  const ir_stmt *inner = s->body != 0 ? opt_stmt(e->unit, s->body) : NULL;
  if (inner == NULL || inner->op != VYRE_STMT_LET || opt_type(e->unit, inner->arg[0]) != VYRE_TYPE_U32) return OPT_KEEP;
  uint32_t binding = writable(e->unit);
  if (binding == e->unit->program->buffers.count) return OPT_KEEP;
  opt_put_store(e, binding, opt_literal(e->unit, VYRE_TYPE_U32, 0), opt_var_value(e->unit, inner->arg[4]),
                s->pos);
  e->changed = true;
  return OPT_KEEP;
}

static opt_action store_other_type(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)context, (void)old;
  if (s->op == VYRE_STMT_STORE) s->arg[1] = opt_literal(e->unit, VYRE_TYPE_BOOL, 1);
  return OPT_KEEP;
}

static opt_action store_to_what_is_read(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)context, (void)e, (void)old;
  if (s->op == VYRE_STMT_STORE) s->arg[4] = 0;
  return OPT_KEEP;
}

static opt_action leave_no_loop(void *context, opt_edit *e, uint32_t old, ir_stmt *s) {
  (void)context;
  if (old != 1) return OPT_KEEP;
  opt_put(e, (ir_stmt){ .op = VYRE_STMT_BREAK, .pos = s->pos });
  return OPT_DROP;
}

#define WRONG(name)                                                  \
  static bool run_##name(opt_context *c) {                           \
    static const opt_rewriter rewriter = { .enter = name };          \
    return opt_rewrite(c->unit, &rewriter, c);                       \
  }
WRONG(drop_declaration)
WRONG(take_out_of_block)
WRONG(store_other_type)
WRONG(store_to_what_is_read)
WRONG(leave_no_loop)

/* As those of the registry; an enabler, so that no estimate of cost undoes them before anyone looks. */
static const opt_pass_row wrong[] = {
#define ROW(name, text) { #name, "Cleanup", "AbiPreserving", "Scalar", "", "cse dce", text, 1, true, run_##name }
  ROW(drop_declaration, "V066"),
  ROW(take_out_of_block, "V"),
  ROW(store_other_type, "V"),
  ROW(store_to_what_is_read, "V"),
  ROW(leave_no_loop, "V"),
#undef ROW
};
enum { WRONGS = sizeof wrong / sizeof *wrong };

/* ---- The registry with one of them ----------------------------------------------------------- */

typedef struct registry {
  opt_pass_row rows[OPT_MAX_PASSES];
  uint32_t count;
} registry;

static registry registry_with(const opt_pass_row *row, uint32_t place) {
  registry r = { .count = opt_pass_count + 1 };
  ck_assert_uint_le(r.count, OPT_MAX_PASSES);
  memcpy(r.rows, opt_passes, place * sizeof *r.rows);
  memcpy(r.rows + place + 1, opt_passes + place, (opt_pass_count - place) * sizeof *r.rows);
  r.rows[place] = *row;
  return r;
}

/* Many things to break: each wrong pass changes it wherever in a round it stands. */
static const char text[] =
    "program p workgroup(8) {\n"
    "  read a: u32[];\n"
    "  write b: u32[];\n"
    "  let i = gid.x;\n"
    "  let n = a[i] * 3 + a[i + 1] / 7;\n"
    "  var sum = n;\n"
    "  for (k in 0..n) {\n"
    "    let x = a[k] ^ n;\n"
    "    if (x > 5) {\n"
    "      let y = a[x] + x;\n"
    "      sum = sum * y + y;\n"
    "      b[y] = sum;\n"
    "    }\n"
    "    b[k] = x * sum + x;\n"
    "  }\n"
    "  b[i] = sum;\n"
    "}\n";

static vyre_program *parse(void) {
  vyre_program *p;
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_msg(vyre_text_parse(text, strlen(text), NULL, NULL, &p, &error) == VYRE_OK, "%s", error.text);
  return p;
}

static vyre_program *by_registry(const vyre_program *p, uint32_t level) {
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_program *out;
  options.level = level;
  ck_assert_int_eq(vyre_optimize(p, &options, &out, NULL, NULL), VYRE_OK);
  return out;
}

static uint32_t decided(const vyre_opt_report *report, const char *pass, vyre_opt_decision decision) {
  vyre_opt_pass_report r;
  for (uint32_t i = 0; vyre_opt_report_pass(report, i, &r); i++)
    if (strcmp(r.name, pass) == 0) return r.decisions[decision];
  ck_abort_msg("%s is not in the report", pass);
}

/* The outcome is BROKEN, it names the pass, and the program is the one that comes out without it. */
static void check_undone(const opt_pass_row *row, uint32_t place, uint32_t level) {
  registry r = registry_with(row, place);
  vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
  vyre_opt_report *report;
  vyre_opt_summary summary;
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *p = parse(), *out, *wanted = by_registry(p, level);
  options.level = level;
  vyre_status status = opt_optimize(r.rows, r.count, p, &options, &out, &report, &error);
  ck_assert_msg(status == VYRE_OK, "%s at %u: %s", row->name, place, error.text);
  vyre_opt_report_summary(report, &summary);
  ck_assert_msg(summary.outcome == VYRE_OPT_BROKEN, "%s at %u: outcome %d", row->name, place, summary.outcome);
  ck_assert_msg(strstr(summary.text, row->name) != NULL && strstr(summary.text, row->doc) != NULL &&
                strstr(summary.text, "Fix:") != NULL, "%s", summary.text);
  ck_assert_uint_eq(decided(report, row->name, VYRE_OPT_BROKEN_REVERTED), 1);
  ck_assert_uint_eq(decided(report, row->name, VYRE_OPT_CHANGED), 0);
  ck_assert_msg(vyre_program_equal(out, wanted), "%s at %u, level %u: the others' work is another", row->name, place,
                level);
  ck_assert_uint_lt(summary.cost_after, summary.cost_before);
  vyre_opt_report_free(report);
  vyre_program_release(out);
  vyre_program_release(wanted);
  vyre_program_release(p);
}

START_TEST(a_pass_that_breaks_programs_is_undone) {
  for (size_t i = 0; i < WRONGS; i++)
    for (uint32_t level = 1; level <= 2; level++) {
      check_undone(&wrong[i], 0, level);
      check_undone(&wrong[i], opt_pass_count / 2, level);
      check_undone(&wrong[i], opt_pass_count, level);
    }
}
END_TEST

START_TEST(with_verify_it_is_an_error_that_names_it) {
  for (size_t i = 0; i < WRONGS; i++) {
    registry r = registry_with(&wrong[i], 0);
    vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
    vyre_opt_report *report;
    vyre_error error = VYRE_ERROR_INIT;
    vyre_program *p = parse(), *out;
    options.flags = VYRE_OPT_VERIFY;
    ck_assert_int_eq(opt_optimize(r.rows, r.count, p, &options, &out, &report, &error), VYRE_ERR_INTERNAL);
    ck_assert_str_eq(error.where, wrong[i].name);
    ck_assert_ptr_null(out);
    ck_assert_ptr_null(report);
    vyre_program_release(p);
  }
}
END_TEST

/* Named by a caller, it leaves the program as it was written. */
START_TEST(alone_it_leaves_the_program_as_it_was) {
  for (size_t i = 0; i < WRONGS; i++) {
    registry r = registry_with(&wrong[i], opt_pass_count);
    vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
    vyre_opt_report *report;
    vyre_opt_summary summary;
    vyre_program *p = parse(), *out;
    options.passes = wrong[i].name;
    ck_assert_int_eq(opt_optimize(r.rows, r.count, p, &options, &out, &report, NULL), VYRE_OK);
    vyre_opt_report_summary(report, &summary);
    ck_assert_int_eq(summary.outcome, VYRE_OPT_BROKEN);
    ck_assert_uint_eq(summary.cost_after, summary.cost_before);
    ck_assert(vyre_program_equal(out, p));
    vyre_opt_report_free(report);
    vyre_program_release(out);
    vyre_program_release(p);
  }
}
END_TEST

/* Whatever else a program has, what is left of it is what the others make. */
START_TEST(random_programs_survive_it) {
  uint32_t broken = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    const opt_pass_row *row = &wrong[seed % WRONGS];
    registry r = registry_with(row, (uint32_t)(seed % opt_pass_count));
    vyre_opt_options options = VYRE_OPT_OPTIONS_INIT;
    vyre_opt_report *report;
    vyre_opt_summary summary;
    vyre_program *p, *out;
    ck_assert_int_eq(random_program(seed, NULL, NULL, &p, NULL), VYRE_OK);
    ck_assert_int_eq(opt_optimize(r.rows, r.count, p, &options, &out, &report, NULL), VYRE_OK);
    vyre_opt_report_summary(report, &summary);
    ck_assert(summary.outcome != VYRE_OPT_BROKEN || decided(report, row->name, VYRE_OPT_BROKEN_REVERTED) == 1);
    broken += summary.outcome == VYRE_OPT_BROKEN;
    if (summary.outcome == VYRE_OPT_BROKEN && decided(report, row->name, VYRE_OPT_CHANGED) == 0) {
      vyre_program *wanted = by_registry(p, 2);
      ck_assert_msg(vyre_program_equal(out, wanted), "seed %llu: %s", (unsigned long long)seed, row->name);
      vyre_program_release(wanted);
    }
    vyre_opt_report_free(report);
    vyre_program_release(out);
    vyre_program_release(p);
  }
  ck_assert_uint_gt(broken, 100);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { a_pass_that_breaks_programs_is_undone, with_verify_it_is_an_error_that_names_it,
                                 alone_it_leaves_the_program_as_it_was, random_programs_survive_it, NULL };
  return run_suite("opt/broken", 60, tests);
}
