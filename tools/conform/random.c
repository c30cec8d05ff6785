/* Random programs beside the oracle, until the time that was given is over. One that differs is made small, told with
 * its seed and saved beside the report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "checks.h"
#include "gen/random_program.h"
#include "gen/shrink.h"
#include "numeric_values.h"
#include "outcome.h"

enum { MOST_BUFFERS = 64, MOST_PARAMS = 16, FEW_STEPS = 5, MANY_STEPS = 3000 };

/* How a program is run: what a seed says beside the program itself. */
typedef struct launch_plan {
  uint64_t seed;
  uint64_t grid[3];
  uint64_t elements; /* of buffers without a length of their own */
  uint64_t work_budget;
  vyre_compile_options compile;
} launch_plan;

/* What three runs of a program have shown. */
typedef enum finding {
  AGREES,
  LEFT_OUT, /* refused for what the device does not claim, or without one answer */
  DIFFERS
} finding;

typedef struct trial {
  vyre_status found, wanted;
  bool has_trapped;
  char text[2048]; /* the first difference */
} trial;

typedef struct hunt {
  kit *k;
  launch_plan plan;
  trial first;       /* of the program as it was made */
  uint64_t deadline; /* of shrinking */
} hunt;

/* ---- Inputs ------------------------------------------------------------------------------------ */

/* By name, so that a buffer keeps its elements while others are removed. */
static uint64_t seed_of(uint64_t seed, const char *name) {
  for (; *name; name++) seed = (seed ^ (unsigned char)*name) * 0x100000001B3u;
  return seed;
}

/* Edges, small numbers and any bits. */
static uint64_t random_value(vyre_type type, uint64_t *state) {
  uint64_t bits = numeric_random(state), edge;
  uint32_t size = vyre_type_describe(type)->bytes;
  uint64_t mask = size < 8 ? ((uint64_t)1 << (8 * size)) - 1 : UINT64_MAX;
  if (bits % 4 == 0 && numeric_edge(type, (uint32_t)(bits >> 8) % numeric_edge_count(type), &edge)) return edge & mask;
  if (bits % 4 == 1) return bits >> 8 & 31;
  return numeric_random(state) & mask;
}

static void fill(vyre_type type, uint64_t seed, uint8_t *bytes, uint64_t elements) {
  const vyre_type_info *info = vyre_type_describe(type);
  for (uint64_t i = 0; i < elements * info->lanes; i++)
    numeric_put(info->component, bytes, i, random_value(info->component, &seed));
}

typedef struct inputs {
  kit_buffer buffers[MOST_BUFFERS];
  vyre_arg params[MOST_PARAMS];
  uint32_t buffer_count, param_count;
} inputs;

static bool make_buffers(const vyre_program *program, const launch_plan *plan, inputs *in) {
  vyre_buffer_info info;
  for (uint32_t slot = 0; vyre_program_slot(program, slot, &info); slot++) {
    uint64_t elements = info.length ? info.length : plan->elements;
    if (slot == MOST_BUFFERS) return false;
    uint8_t *bytes = NULL;
    if (info.access != VYRE_ACCESS_WRITE) {
      bytes = malloc(elements * vyre_type_describe(info.element)->bytes + 1);
      if (!bytes) return false;
      fill(info.element, seed_of(plan->seed, info.name), bytes, elements);
    }
    in->buffers[in->buffer_count++] = (kit_buffer){.name = info.name, .in = bytes, .elements = elements};
  }
  return true;
}

static bool make_inputs(const vyre_program *program, const launch_plan *plan, inputs *in) {
  vyre_param_info param;
  *in = (inputs){.buffer_count = 0};
  for (uint32_t i = 0; vyre_program_param(program, i, &param); i++) {
    uint64_t state = seed_of(plan->seed, param.name);
    if (i == MOST_PARAMS) return false;
    uint64_t bits = random_value(param.type, &state);
    in->params[in->param_count++] =
        vyre_arg_value(param.name, param.type, param.type == VYRE_TYPE_BOOL ? bits & 1 : bits);
  }
  return make_buffers(program, plan, in);
}

static void free_inputs(inputs *in) {
  for (uint32_t i = 0; i < in->buffer_count; i++) free((void *)(uintptr_t)in->buffers[i].in);
}

/* ---- Three runs -------------------------------------------------------------------------------- */

static bool has_ended(const kit_result *r) {
  return r->is_compiled && (r->status == VYRE_OK || r->status == VYRE_ERR_TRAP);
}

static bool is_expiry(const kit_result *r) {
  return r->completion.trap_count > 0 && r->completion.trap_code == UINT32_MAX;
}

/* Behind a step limit invocations may miss each other, which ends some, and what is printed there is nobody's promise.
 * Nor is which prints find room, where there are too many. */
static bool is_same(kit *k, kit_case *c, const kit_result *found, const kit_result *wanted) {
  if (wanted->completion.prints_dropped > 0) c->ignore |= KIT_IGNORE_PRINTS;
  if (wanted->status == VYRE_ERR_TRAP) c->ignore |= KIT_IGNORE_PRINTS;
  bool only_status = wanted->status == VYRE_ERR_TRAP && found->status == VYRE_ERR_TRAP &&
                     (c->compile->steps <= FEW_STEPS || is_expiry(wanted) || is_expiry(found));
  return only_status || kit_compare_results(k, c, found, wanted);
}

/* What the oracle gives in one order of its lanes and not in the other is no answer, and a program without one is the
 * generator's fault, not the plugin's. */
static finding judge(kit *k, kit_case *c, const kit_result *found, const kit_result *wanted,
                     const kit_result *reversed) {
  if (!has_ended(wanted) || !is_same(k, c, reversed, wanted)) return LEFT_OUT;
  return is_same(k, c, found, wanted) ? AGREES : DIFFERS;
}

/* Runs a program on the device and on the oracle in both orders. What is found stands in |out|, and the check's outcome
 * is as it was: only a device that hangs is told at once, since nothing follows. Masked accesses do not count: one at a
 * literal index need not come to the device, and one that the program states to be uniform is made once or by all. */
static finding try_program(kit *k, vyre_program *program, const launch_plan *plan, trial *out) {
  kit_outcome before = *k->outcome;
  inputs in;
  char name[160];
  *out = (trial){.text = ""};
  vyre_error error = VYRE_ERROR_INIT;
  if (vyre_compile_check(k->caps, program, &plan->compile, &error) != VYRE_OK) {
    snprintf(out->text, sizeof out->text, "%s", error.text);
    return LEFT_OUT;
  }
  snprintf(name, sizeof name, "random program of seed %" PRIu64, plan->seed);
  bool whole = make_inputs(program, plan, &in);
  kit_case c = {.name = name,
                .program = program,
                .params = in.params,
                .param_count = in.param_count,
                .buffers = in.buffers,
                .buffer_count = in.buffer_count,
                .compile = &plan->compile,
                .grid = {plan->grid[0], plan->grid[1], plan->grid[2]},
                .work_budget = plan->work_budget,
                .ignore = KIT_IGNORE_MASKED};
  kit_result found = {.status = VYRE_OK}, wanted = found, reversed = found;
  finding result = LEFT_OUT;
  if (whole) {
    vyre_compile_options same = plan->compile;
    bool sound = kit_run(k, k->device, &c, &found);
    if (found.is_compiled) same.subgroup_size = found.report.subgroup_size;
    c.compile = &same;
    bool certain = kit_run(k, k->oracle, &c, &wanted) && kit_run(k, k->reversed, &c, &reversed);
    out->found = found.status;
    out->wanted = wanted.status;
    out->has_trapped = wanted.status == VYRE_ERR_TRAP;
    if (certain) result = sound ? judge(k, &c, &found, &wanted, &reversed) : DIFFERS;
    snprintf(out->text, sizeof out->text, "%.2000s", k->outcome->text);
  }
  kit_result_free(&found);
  kit_result_free(&wanted);
  kit_result_free(&reversed);
  free_inputs(&in);
  before.programs = k->outcome->programs;
  *k->outcome = before;
  return result;
}

/* ---- Plans ------------------------------------------------------------------------------------- */

static uint32_t pick_subgroup(const kit *k, uint64_t bits) {
  uint32_t size = 1u << bits % 6;
  return (k->caps->subgroup_sizes & size) != 0 ? size : 0;
}

/* A quarter of the programs runs into its step limit. */
static launch_plan make_plan(const kit *k, uint64_t seed) {
  uint64_t state = seed, bits = numeric_random(&state);
  launch_plan plan = {.seed = seed, .elements = bits % 3 == 0 ? 37 : 40, .compile = VYRE_COMPILE_OPTIONS_INIT};
  plan.compile.steps = (bits >> 8) % 4 == 0 ? 1 + (bits >> 16) % FEW_STEPS : MANY_STEPS;
  plan.compile.subgroup_size = pick_subgroup(k, bits >> 24);
  for (int axis = 0; axis < 3; axis++) plan.grid[axis] = 1 + (bits >> (32 + 4 * axis)) % (axis == 0 ? 3 : 2);
  return plan;
}

/* What a program must not need. With more than one workgroup, which of them sees a budget's end is not determined. */
static uint32_t needs_to_avoid(const kit *k, launch_plan *plan) {
  uint32_t avoid = ~(uint32_t)k->caps->needs;
  plan->work_budget = 1 + plan->seed % 7;
  if (plan->grid[0] * plan->grid[1] * plan->grid[2] > 1) avoid |= VYRE_NEED_SHOULD_STOP;
  return avoid;
}

static vyre_program *make_program(kit *k, launch_plan *plan) {
  random_program_options options = {
      .avoid = needs_to_avoid(k, plan), .subgroups = k->caps->subgroup_sizes, .reproducible = true};
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program_info info;
  vyre_program *program;
  if (random_program(plan->seed, &options, NULL, &program, &error) != VYRE_OK) {
    kit_fail(k, "seed %" PRIu64 ": the kit's own generator: %s", plan->seed, error.text);
    return NULL;
  }
  vyre_program_describe(program, &info);
  if (info.ulp == VYRE_ULP_UNSET) plan->compile.ulp = 0;
  if (info.subgroup != 0) plan->compile.subgroup_size = info.subgroup;
  return program;
}

/* ---- Counterexamples --------------------------------------------------------------------------- */

static bool still_differs(vyre_program *candidate, void *ctx) {
  hunt *h = ctx;
  trial t;
  if (kit_now_ns() > h->deadline) return false;
  return try_program(h->k, candidate, &h->plan, &t) == DIFFERS && t.found == h->first.found &&
         t.wanted == h->first.wanted;
}

static vyre_program *shrink(hunt *h, vyre_program *program) {
  const uint64_t longest_ns = 60000000000u, half_ns = h->k->settings->limit_ns / 2; /* of what this check has */
  shrink_number numbers[] = {
      {&h->plan.grid[0], 1}, {&h->plan.grid[1], 1}, {&h->plan.grid[2], 1}, {&h->plan.elements, 1}};
  shrink_options options = {.max_tests = 3000, .numbers = numbers, .number_count = 4};
  vyre_program *small;
  h->deadline = kit_now_ns() + (half_ns < longest_ns ? half_ns : longest_ns);
  if (shrink_program(program, still_differs, h, &options, &small, NULL) == VYRE_OK) return small;
  return vyre_program_retain(program);
}

static void tell(hunt *h, vyre_program *program) {
  vyre_program *small = shrink(h, program);
  const launch_plan *p = &h->plan;
  trial t;
  char *text, *all;
  if (try_program(h->k, small, p, &t) != DIFFERS) t = h->first;
  if (vyre_text_print(small, &text, NULL) == VYRE_OK) {
    int bytes = asprintf(&all,
                         "// seed %" PRIu64 ", grid %" PRIu64 ",%" PRIu64 ",%" PRIu64 ", %" PRIu64
                         " elements, steps %" PRIu64 ", subgroup %" PRIu32 ", work budget %" PRIu64 "\n// %s\n%s",
                         p->seed, p->grid[0], p->grid[1], p->grid[2], p->elements, p->compile.steps,
                         p->compile.subgroup_size, p->work_budget, t.text, text);
    if (bytes >= 0) {
      kit_fail(h->k, "%s\n%s", t.text, all);
      kit_save(h->k, "vyre", all, (uint64_t)bytes);
      free(all);
    }
    free(text);
  }
  if (!kit_is_over(h->k)) kit_fail(h->k, "%s", t.text);
  vyre_program_release(small);
}

typedef struct account {
  uint64_t tried, trapped, left_out, first; /* seed of the first that was left out */
  char reason[256];
} account;

static void count(account *a, const hunt *h, finding result) {
  a->tried++;
  a->trapped += h->first.has_trapped;
  if (result != LEFT_OUT || a->left_out++ > 0) return;
  a->first = h->plan.seed;
  snprintf(a->reason, sizeof a->reason, "%.200s", h->first.text);
}

void check_random(kit *k) {
  uint64_t deadline = kit_now_ns() + k->settings->budget_ns;
  account a = {.tried = 0};
  while (kit_now_ns() < deadline && !kit_is_over(k)) {
    hunt h = {.k = k, .plan = make_plan(k, kit_random(k))};
    vyre_program *program = make_program(k, &h.plan);
    if (!program) return;
    finding result = try_program(k, program, &h.plan, &h.first);
    count(&a, &h, result);
    if (result == DIFFERS) tell(&h, program);
    vyre_program_release(program);
  }
  kit_note(k, "%" PRIu64 " programs; %" PRIu64 " trapped or reached their step limit", a.tried, a.trapped);
  if (a.left_out > 0)
    kit_note(k,
             "%" PRIu64 " had no single answer or need what the device does not claim; the first: seed %" PRIu64 ": %s",
             a.left_out, a.first, a.reason);
}
