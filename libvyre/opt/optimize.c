/* The pass manager: which passes run, in which order, how often, and what of their work stays. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vyre/backend.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "base/error.h"
#include "opt/report.h"

enum { DEFAULT_ROUNDS = 50, DEFAULT_GROWTH = 4 };

/* What the gates compare. */
typedef struct measure {
  uint64_t cost, size;
  uint32_t effects, barriers;
} measure;

typedef struct manager {
  const opt_pass_row *rows;
  uint32_t count;
  opt_unit unit;
  vyre_opt_options options;
  vyre_opt_report *report; /* always there while it runs */
  opt_context context;
  bool chosen[OPT_MAX_PASSES], dirty[OPT_MAX_PASSES], barred[OPT_MAX_PASSES];
  uint32_t order[OPT_MAX_PASSES], ordered;
  uint64_t begin, size_limit;
  measure now;             /* of the unit as it stands */
  bool stopped;            /* by a budget */
  bool guards;             /* validate after each pass, and go on without one that broke the program */
} manager;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static bool take_measure(opt_unit *u, measure *m) {
  const opt_facts *f = opt_facts_of(u);
  if (f == NULL) return false;
  *m = (measure){ .cost = f->stmt[0].cost, .effects = f->stmt[0].flags };
  for (uint32_t s = 1; s < u->program->stmts.count; s++) {
    const ir_stmt *stmt = opt_stmt(u, s);
    uint32_t count;
    const uint32_t *operands = opt_operands(u, stmt, &count);
    m->barriers += stmt->op == VYRE_STMT_BARRIER || stmt->op == VYRE_STMT_GRID_BARRIER;
    for (uint32_t i = 0; i < count; i++)
      if (operands[i] != 0) m->size += opt_meta_of(u, operands[i])->size;
  }
  return true;
}

enum { SEEN_EFFECTS = OPT_HAS_BARRIER | OPT_HAS_FENCE | OPT_HAS_ATOMIC | OPT_HAS_ASYNC | OPT_HAS_PRINT |
                      OPT_HAS_EFFECT | OPT_HAS_CONVERGENT };

/* What is wrong with a change, in the order of the gates. */
static vyre_opt_decision judge(const manager *m, const opt_pass_row *row, const measure *before, const measure *after) {
  if ((after->effects & ~before->effects & SEEN_EFFECTS) != 0 || after->barriers > before->barriers)
    return VYRE_OPT_EFFECT_REVERTED;
  if (after->size > m->size_limit && after->size > before->size) return VYRE_OPT_GROWTH_REVERTED;
  if (after->cost > before->cost && !row->enables) return VYRE_OPT_COST_REVERTED;
  return VYRE_OPT_CHANGED;
}

/* ---- One pass -------------------------------------------------------------------------------- */

static bool has_flag(const manager *m, uint32_t flag) { return (m->options.flags & flag) != 0; }

static vyre_status blame(vyre_error *error, const char *pass, const vyre_error *found) {
  if (found->status == VYRE_ERR_NO_MEMORY) return vyre_fail_memory(error, pass);
  return vyre_fail(error, VYRE_ERR_INTERNAL, pass, "Pass %s broke the program. %s", pass, found->text);
}

/* Text and wire form must give the program back. */
static vyre_status check_forms(const vyre_program *p, vyre_error *error) {
  char *text = NULL;
  uint8_t *wire = NULL;
  size_t bytes = 0;
  vyre_program *from_text = NULL, *from_wire = NULL;
  vyre_status status = vyre_text_print(p, &text, NULL);
  if (status == VYRE_OK) status = vyre_text_parse(text, strlen(text), NULL, NULL, &from_text, error);
  if (status == VYRE_OK) status = vyre_wire_encode(p, &wire, &bytes);
  if (status == VYRE_OK) status = vyre_wire_decode(wire, bytes, NULL, &from_wire, error);
  bool same = status != VYRE_OK || (vyre_program_equal(p, from_text) && vyre_program_equal(p, from_wire));
  vyre_program_release(from_text);
  vyre_program_release(from_wire);
  free(text);
  free(wire);
  if (same) return status;
  return vyre_fail(error, VYRE_ERR_INTERNAL, "", "Its text or wire form gives another program. Fix: report this.");
}

/* What the flags ask for after a pass that changed something. */
static vyre_status inspect(manager *m, const char *pass, vyre_error *error) {
  bool prints = has_flag(m, VYRE_OPT_PRINT) &&
                (m->options.print_after == NULL || opt_list_has(m->options.print_after, pass));
  if (!prints && !has_flag(m, VYRE_OPT_VERIFY | VYRE_OPT_ROUNDTRIP)) return VYRE_OK;
  vyre_program *p;
  vyre_error found = VYRE_ERROR_INIT;
  vyre_status status = opt_unit_program(&m->unit, &p, &found);
  if (status == VYRE_OK && has_flag(m, VYRE_OPT_ROUNDTRIP)) status = check_forms(p, &found);
  char *text = NULL;
  if (status == VYRE_OK && prints) {
    status = vyre_text_print(p, &text, NULL);
    if (status == VYRE_OK && !opt_report_text(m->report, pass, m->context.round, text)) status = VYRE_ERR_NO_MEMORY;
  }
  vyre_program_release(p);
  found.status = status;
  return status == VYRE_OK ? VYRE_OK : blame(error, pass, &found);
}

/* The first defect is what the report tells of, whatever else comes. */
static void end_with(manager *m, vyre_opt_outcome outcome, const char *text) {
  vyre_opt_summary *s = &m->report->summary;
  if (s->outcome == VYRE_OPT_BROKEN) return;
  s->outcome = outcome;
  s->text = text;
}

/* Whether the builder takes what a pass has made; where it does not, the report tells. */
static vyre_opt_decision validate(manager *m, const char *pass) {
  vyre_error found = VYRE_ERROR_INIT;
  vyre_program *p;
  vyre_status status = opt_unit_program(&m->unit, &p, &found);
  vyre_program_release(p);
  if (status == VYRE_OK) return VYRE_OPT_CHANGED;
  if (status == VYRE_ERR_LIMIT) return VYRE_OPT_LIMIT_REVERTED;
  if (status == VYRE_ERR_NO_MEMORY) {
    m->unit.fault = OPT_NO_MEMORY;
    return VYRE_OPT_UNCHANGED;
  }
  if (m->report->summary.outcome != VYRE_OPT_BROKEN) blame(&m->report->error, pass, &found);
  end_with(m, VYRE_OPT_BROKEN, m->report->error.text);
  return VYRE_OPT_BROKEN_REVERTED;
}

static vyre_opt_decision decide(manager *m, const opt_pass_row *row, measure *after) {
  opt_unit *u = &m->unit;
  bool changed = row->run(&m->context);
  if (u->fault == OPT_LIMIT) return VYRE_OPT_LIMIT_REVERTED;
  if (u->fault != OPT_FINE || (!changed && !u->has_before)) return VYRE_OPT_UNCHANGED;
  if (!take_measure(u, after)) return VYRE_OPT_UNCHANGED;
  vyre_opt_decision decision = judge(m, row, &m->now, after);
  bool jumps_out = (after->effects & OPT_HAS_BREAK) != 0; /* out of no loop: other passes could not go on with that */
  bool looks = (m->guards || jumps_out) && !has_flag(m, VYRE_OPT_VERIFY | VYRE_OPT_ROUNDTRIP);
  return decision == VYRE_OPT_CHANGED && looks ? validate(m, row->name) : decision;
}

/* Notes of what was undone go, too. */
static void drop_notes(manager *m, uint32_t count) {
  if (m->report->notes.count > count) m->report->notes.count = count;
}

static void mark_dirty(manager *m, uint32_t pass) {
  const opt_pass_row *row = &m->rows[pass];
  for (uint32_t i = 0; i < m->count; i++) {
    const opt_pass_row *other = &m->rows[i];
    bool has_work = opt_list_has(other->requires, row->name) || opt_list_has(row->invalidates, other->name);
    if (i == pass || has_work) m->dirty[i] = true;
  }
}

static vyre_status run_pass(manager *m, uint32_t pass, bool *changed, vyre_error *error) {
  const opt_pass_row *row = &m->rows[pass];
  vyre_opt_pass_report *r = &m->report->passes[pass];
  measure after = { 0 };
  uint64_t start = now_ns();
  uint32_t notes = m->report->notes.count;
  m->context.pass = row->name;
  m->context.room = m->size_limit > m->now.size ? m->size_limit - m->now.size : 0;
  *changed = false;
  vyre_opt_decision decision = decide(m, row, &after);
  r->decisions[decision]++;
  m->barred[pass] |= decision == VYRE_OPT_BROKEN_REVERTED;
  r->nanoseconds += now_ns() - start;
  if (m->unit.fault == OPT_NO_MEMORY) return vyre_fail_memory(error, row->name);
  if (decision != VYRE_OPT_CHANGED) {
    opt_unit_undo(&m->unit);
    drop_notes(m, notes);
    return VYRE_OK;
  }
  opt_unit_forget_before(&m->unit);
  if (after.cost < m->now.cost) r->cost_saved += m->now.cost - after.cost;
  m->now = after;
  *changed = true;
  return inspect(m, row->name, error);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static bool over_budget(manager *m, uint32_t pass) {
  if (m->options.budget_ns == 0 || now_ns() - m->begin < m->options.budget_ns) return false;
  m->stopped = true;
  end_with(m, VYRE_OPT_BUDGET, m->rows[pass].name);
  return true;
}

static vyre_status run_round(manager *m, uint32_t *last, vyre_error *error) {
  *last = UINT32_MAX;
  for (uint32_t i = 0; i < m->ordered; i++) {
    uint32_t pass = m->order[i];
    bool changed;
    if (!m->dirty[pass] || m->barred[pass]) {
      m->report->passes[pass].decisions[VYRE_OPT_CLEAN]++;
      continue;
    }
    if (over_budget(m, pass)) return VYRE_OK;
    m->dirty[pass] = false;
    vyre_status status = run_pass(m, pass, &changed, error);
    if (status != VYRE_OK) return status;
    if (!changed) continue;
    mark_dirty(m, pass);
    *last = pass;
  }
  return VYRE_OK;
}

static void mark_all(manager *m) {
  for (uint32_t i = 0; i < m->ordered; i++) m->dirty[m->order[i]] = true;
}

/* Until a round in which every pass has run changes nothing: what a pass has new work from may stand in no table. */
static vyre_status run_rounds(manager *m, vyre_error *error) {
  uint32_t limit = m->options.rounds != 0 ? m->options.rounds : DEFAULT_ROUNDS, last = 0;
  bool all = true;
  for (m->context.round = 1; !m->stopped; m->context.round++) {
    if (m->context.round > limit) {
      end_with(m, VYRE_OPT_BUDGET, last != UINT32_MAX ? m->rows[last].name : "");
      break;
    }
    vyre_status status = run_round(m, &last, error);
    if (status != VYRE_OK) return status;
    m->report->summary.rounds = m->context.round;
    if (last == UINT32_MAX && all) break;
    all = last == UINT32_MAX;
    if (all) mark_all(m);
  }
  return VYRE_OK;
}

/* The passes that the caller named, once each, as they stand. */
static vyre_status run_named(manager *m, vyre_error *error) {
  m->context.round = 1;
  for (const char *at = m->options.passes; *at != 0;) {
    size_t bytes = strcspn(at, ", ");
    if (bytes > 0) {
      bool changed;
      vyre_status status = run_pass(m, opt_row_named(m->rows, m->count, at, bytes), &changed, error);
      if (status != VYRE_OK) return status;
    }
    at += bytes;
    at += strspn(at, ", ");
  }
  m->report->summary.rounds = 1;
  return VYRE_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vyre_status check_names(const manager *m, const char *list, vyre_error *error) {
  while (list != NULL && *list != 0) {
    size_t bytes = strcspn(list, ", ");
    if (bytes > 0 && opt_row_named(m->rows, m->count, list, bytes) == UINT32_MAX)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "passes",
                       "Wanted the name of a pass, found \"%.*s\". Fix: `vyre opt --list` shows them.",
                       (int)(bytes < 64 ? bytes : 64), list);
    list += bytes;
    list += strspn(list, ", ");
  }
  return VYRE_OK;
}

/* Each is a parameter's, with its type and no bit beyond that, by ascending number. */
static vyre_status check_specs(const vyre_program *p, const vyre_opt_options *o, vyre_error *error) {
  for (uint64_t i = 0; i < o->spec_count; i++) {
    const vyre_spec_constant *s = &o->spec[i];
    bool is_next = s->id < p->params.count && (i == 0 || s->id > o->spec[i - 1].id);
    bool fits = is_next && s->type == p->params.data[s->id].type;
    uint32_t bits = !fits ? 64 : s->type == VYRE_TYPE_BOOL ? 1 : 8 * ir_type_at((vyre_type)s->type)->bytes;
    if (!fits || (bits < 64 && s->bits >> bits != 0))
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "spec",
                       "Spec constant %llu has id %u, type %u and bits 0x%llX; wanted are values of parameters of the "
                       "program, with their types, by ascending number. Fix: correct it.",
                       (unsigned long long)i, s->id, s->type, (unsigned long long)s->bits);
  }
  return VYRE_OK;
}

static vyre_status check_options(const manager *m, const vyre_program *program, const vyre_opt_options *options,
                                 vyre_error *error) {
  if (options->size != sizeof *options)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "options", "Wanted size %zu, found %u. Fix: begin with "
                     "VYRE_OPT_OPTIONS_INIT.", sizeof *options, options->size);
  if (options->level > 2)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "level", "Wanted level 0, 1 or 2, found %u. Fix: use 2 for all "
                     "passes.", options->level);
  if ((options->flags & ~(VYRE_OPT_DROP_BUFFERS * 2 - 1)) != 0)
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "flags", "Wanted VYRE_OPT_* bits, found 0x%x. Fix: clear the "
                     "others.", options->flags);
  vyre_status status = check_specs(program, options, error);
  if (status == VYRE_OK) status = check_names(m, options->passes, error);
  return status == VYRE_OK ? check_names(m, options->print_after, error) : status;
}

static bool is_chosen(const opt_pass_row *row, const vyre_opt_options *options) {
  if (row->level == UINT32_MAX) return false;
  return row->level <= options->level;
}

static void choose(manager *m) {
  uint32_t bad;
  m->report->pass_count = m->count;
  for (uint32_t i = 0; i < m->count; i++) {
    m->chosen[i] = m->dirty[i] = is_chosen(&m->rows[i], &m->options);
    m->report->passes[i].name = m->rows[i].name;
  }
  opt_pass_order(m->rows, m->count, m->chosen, m->order, &m->ordered, &bad); /* a test holds the table to it */
}

/* The unit as a program; the source itself where that is all that can be given. */
static vyre_status conclude(manager *m, const vyre_program *source, vyre_program **out, vyre_error *error) {
  vyre_opt_report *r = m->report;
  if (m->unit.generation != 0) {
    vyre_status status = opt_unit_program(&m->unit, out, &r->error);
    if (status == VYRE_OK) return VYRE_OK;
    if (status == VYRE_ERR_NO_MEMORY) return vyre_fail_memory(error, "optimizer");
    end_with(m, status == VYRE_ERR_LIMIT ? VYRE_OPT_BUDGET : VYRE_OPT_BROKEN, r->error.text);
    r->summary.cost_after = r->summary.cost_before;
    r->summary.exprs_after = r->summary.exprs_before;
    r->summary.stmts_after = r->summary.stmts_before;
  }
  *out = vyre_program_retain((vyre_program *)source);
  return VYRE_OK;
}

static vyre_status optimize(manager *m, const vyre_program *source, vyre_program **out, vyre_error *error) {
  vyre_opt_summary *s = &m->report->summary;
  measure before;
  m->report->error = (vyre_error)VYRE_ERROR_INIT;
  s->text = "";
  choose(m);
  if (!opt_unit_create(&m->unit, source, &opt_default_costs) || !take_measure(&m->unit, &before))
    return vyre_fail_memory(error, "optimizer");
  m->now = before;
  uint64_t growth = m->options.growth != 0 ? m->options.growth : DEFAULT_GROWTH;
  m->size_limit = before.size * growth;
  m->context = (opt_context){ .unit = &m->unit, .report = m->report,
                               .level = m->options.passes == NULL ? m->options.level : 0,
                               .explains = has_flag(m, VYRE_OPT_EXPLAIN),
                               .drops_buffers = has_flag(m, VYRE_OPT_DROP_BUFFERS),
                               .spec = m->options.spec, .spec_count = m->options.spec_count };
  vyre_status status = m->options.passes != NULL ? run_named(m, error) : run_rounds(m, error);
  if (status != VYRE_OK) return status;
  s->cost_before = before.cost;
  s->cost_after = m->now.cost;
  s->exprs_before = before.size;
  s->exprs_after = m->now.size;
  s->stmts_before = source->stmts.count - 1;
  s->stmts_after = m->unit.program->stmts.count - 1;
  status = conclude(m, source, out, error);
  s->nanoseconds = now_ns() - m->begin;
  return status;
}

/* One attempt; with |guards|, after one without has shown that they are needed. The caller frees *report. */
static vyre_status attempt(manager *m, const vyre_program *program, bool guards, vyre_program **out,
                           vyre_opt_report **report, vyre_error *error) {
  *m = (manager){ .rows = m->rows, .count = m->count, .options = m->options, .guards = guards, .begin = now_ns(),
                  .report = calloc(1, sizeof *m->report) };
  *report = m->report;
  if (m->report == NULL) return vyre_fail_memory(error, "optimizer");
  vyre_status status = optimize(m, program, out, error);
  opt_unit_free(&m->unit);
  return status;
}

/* Passes are not validated one by one as long as none breaks a program: that is for the tests. */
static vyre_status attempt_twice(manager *m, const vyre_program *program, vyre_program **out, vyre_opt_report **report,
                                 vyre_error *error) {
  vyre_status status = attempt(m, program, false, out, report, error);
  if (status != VYRE_OK || (*report)->summary.outcome != VYRE_OPT_BROKEN) return status;
  vyre_program_release(*out);
  *out = NULL;
  vyre_opt_report_free(*report);
  return attempt(m, program, true, out, report, error);
}

vyre_status opt_optimize(const opt_pass_row *rows, uint32_t count, const vyre_program *program,
                         const vyre_opt_options *options, vyre_program **out, vyre_opt_report **report,
                         vyre_error *error) {
  vyre_opt_report *r = NULL;
  *out = NULL;
  if (report != NULL) *report = NULL;
  manager *m = calloc(1, sizeof *m);
  if (m == NULL) return vyre_fail_memory(error, "optimizer");
  m->rows = rows;
  m->count = count;
  vyre_status status = check_options(m, program, options, error);
  if (status == VYRE_OK) {
    m->options = *options;
    status = attempt_twice(m, program, out, &r, error);
  }
  free(m);
  if (status != VYRE_OK || report == NULL) vyre_opt_report_free(r);
  else *report = r;
  return status;
}

vyre_status vyre_optimize(const vyre_program *program, const vyre_opt_options *options, vyre_program **out,
                          vyre_opt_report **report, vyre_error *error) {
  return opt_optimize(opt_passes, opt_pass_count, program, options, out, report, error);
}
