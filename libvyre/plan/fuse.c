/* Fusion from its arguments to its answer: what may not be fused is found before anything is built. */
#include "plan/fuse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/error.h"

/* ---- Refusing -------------------------------------------------------------------------------- */

static const struct {
  const char *name, *gist, *fix;
} reasons[VYRE_FUSE_REASONS] = {
#define X(name, spelling, gist, fix) [VYRE_FUSE_##name] = { spelling, gist, fix },
#include <vyre/fuse_reasons.def>
#undef X
};

const char *vyre_fuse_reason_name(uint32_t reason) { return reason < VYRE_FUSE_REASONS ? reasons[reason].name : NULL; }

vyre_status plan_refuse(plan_fusion *f, vyre_fuse_reason reason, uint32_t arm, uint32_t other, const char *subject,
                        const char *format, ...) {
  vyre_fuse_refusal mine = VYRE_FUSE_REFUSAL_INIT, *r = f->refusal != NULL ? f->refusal : &mine;
  va_list args;
  va_start(args, format);
  vsnprintf(r->text, sizeof r->text, format, args);
  va_end(args);
  r->reason = reason;
  r->arm = arm;
  r->other = other;
  r->fix = reasons[reason].fix;
  snprintf(r->subject, sizeof r->subject, "%s", subject);
  return vyre_fail(f->error, VYRE_ERR_INVALID_ARGUMENT, f->name, "%s: %s: %s. Fix: %s.", reasons[reason].name,
                   reasons[reason].gist, r->text, r->fix);
}

/* ---- What excludes another ------------------------------------------------------------------- */

static bool same_operation(const vyre_program *x, const vyre_program *y) {
  const char *id = ir_text(x, x->op_id);
  if (id[0] != 0 && strcmp(id, ir_text(y, y->op_id)) == 0) return true;
  return memcmp(x->fingerprint, y->fingerprint, sizeof x->fingerprint) == 0;
}

static vyre_status check_copies(plan_fusion *f) {
  for (uint32_t j = 1; j < f->count; j++)
    for (uint32_t i = 0; i < j; i++) {
      const vyre_program *x = f->arms[i].p, *y = f->arms[j].p;
      if (((x->attributes | y->attributes) & VYRE_PROGRAM_NONCOMPOSABLE) == 0 || !same_operation(x, y)) continue;
      const char *id = ir_text(y, y->op_id), *name = id[0] != 0 ? id : plan_arm_name(f, j);
      return plan_refuse(f, VYRE_FUSE_SELF_ALIASING, j, i, name, "arms %u and %u are both %s, which is noncomposable",
                         i, j, name);
    }
  return VYRE_OK;
}

static vyre_status check_pair(plan_fusion *f, uint32_t i, uint32_t j) {
  const vyre_program *x = f->arms[i].p, *y = f->arms[j].p;
  if (x->subgroup != 0 && y->subgroup != 0 && x->subgroup != y->subgroup)
    return plan_refuse(f, VYRE_FUSE_ATTRIBUTES, j, i, "", "arm %u has subgroups of %u, and arm %u of %u", j,
                       y->subgroup, i, x->subgroup);
  bool splits = x->ulp == VYRE_ULP_UNSET ? y->ulp != VYRE_ULP_UNSET && (x->info.needs & VYRE_NEED_ULP) != 0
                                         : y->ulp == VYRE_ULP_UNSET && (y->info.needs & VYRE_NEED_ULP) != 0;
  if (!splits) return VYRE_OK;
  return plan_refuse(f, VYRE_FUSE_ATTRIBUTES, j, i, "",
                     "arms %u and %u: one states ulp, and the other has transcendental functions without it", i, j);
}

static vyre_status check_attributes(plan_fusion *f) {
  vyre_status status = VYRE_OK;
  for (uint32_t j = 1; j < f->count; j++)
    for (uint32_t i = 0; i < j && status == VYRE_OK; i++) status = check_pair(f, i, j);
  return status;
}

/* ---- Geometry -------------------------------------------------------------------------------- */

/* Invocations of the whole along an axis; 0 where that is not known. */
static uint64_t fused_threads(const plan_fusion *f, uint32_t axis) {
  return (uint64_t)f->grid[axis] * f->workgroup[axis];
}

static void plan_geometry(plan_fusion *f) {
  for (uint32_t axis = 0; axis < 3; axis++) {
    uint64_t threads = 0;
    f->workgroup[axis] = 1;
    for (uint32_t i = 0; i < f->count; i++) {
      const plan_arm *a = &f->arms[i];
      if (a->p->workgroup[axis] > f->workgroup[axis]) f->workgroup[axis] = a->p->workgroup[axis];
      if (a->threads[axis] > threads) threads = a->threads[axis];
    }
    uint64_t size = f->workgroup[axis];
    f->grid[axis] = (uint32_t)(threads / size + (threads % size != 0));
  }
}

/* Why more invocations, or other groups of them, would change what the arm means; NULL if they would not. |more| has
 * the bit of each axis along which there are more. */
static const char *bound_to_geometry(const plan_arm *a, uint32_t more, const char **word) {
  bool has_barrier = plan_has_barrier(a), has_shared = plan_has_shared(a);
  *word = "";
  if (has_barrier && has_shared) return "it has workgroup memory and barriers";
  if (has_shared) return "it has workgroup memory";
  if (has_barrier) return "it has barriers";
  *word = plan_word_of_geometry(a);
  if (*word != NULL) return "it depends on ";
  *word = "";
  return (more & ~a->guarded) != 0 ? "it has effects that are not under `gid < n`" : NULL;
}

static vyre_status check_arm(plan_fusion *f, uint32_t i) {
  plan_arm *a = &f->arms[i];
  const uint32_t *own = a->p->workgroup, *all = f->workgroup;
  bool wider = false;
  uint32_t more = 0;
  for (uint32_t axis = 0; axis < 3; axis++) {
    bool is_wider = own[axis] != all[axis];
    wider |= is_wider;
    if (a->threads[axis] == 0 ? is_wider : a->threads[axis] != fused_threads(f, axis)) more |= 1u << axis;
  }
  const char *word, *why = wider || more != 0 ? bound_to_geometry(a, more, &word) : NULL;
  if (why == NULL) return VYRE_OK;
  for (uint32_t axis = 0; f->refusal != NULL && axis < 3; axis++) {
    f->refusal->own[axis] = wider ? own[axis] : (uint32_t)a->threads[axis];
    f->refusal->fused[axis] = wider ? all[axis] : (uint32_t)fused_threads(f, axis);
  }
  if (wider)
    return plan_refuse(f, VYRE_FUSE_GEOMETRY, i, VYRE_NO_ARM, "",
                       "arm %u (%s) has workgroup [%u,%u,%u] and would run in [%u,%u,%u], but %s%s", i,
                       plan_arm_name(f, i), own[0], own[1], own[2], all[0], all[1], all[2], why, word);
  return plan_refuse(f, VYRE_FUSE_LAUNCH, i, VYRE_NO_ARM, "",
                     "arm %u (%s) is launched over [%llu,%llu,%llu] invocations and would run over "
                     "[%llu,%llu,%llu], but %s%s",
                     i, plan_arm_name(f, i), (unsigned long long)a->threads[0], (unsigned long long)a->threads[1],
                     (unsigned long long)a->threads[2], (unsigned long long)fused_threads(f, 0),
                     (unsigned long long)fused_threads(f, 1), (unsigned long long)fused_threads(f, 2), why, word);
}

static vyre_status check_geometry(plan_fusion *f) {
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < f->count && status == VYRE_OK; i++) status = check_arm(f, i);
  return status;
}

/* Where grids are not known, each arm counts as one workgroup. */
static uint64_t product(const uint64_t *threads, const uint32_t *workgroup) {
  uint64_t all = 1;
  for (uint32_t axis = 0; axis < 3; axis++)
    if (!vyre_mul_u64(all, threads[axis] != 0 ? threads[axis] : workgroup[axis], &all)) return UINT64_MAX;
  return all;
}

static vyre_status check_dispatch(plan_fusion *f) {
  uint64_t fused[3] = { fused_threads(f, 0), fused_threads(f, 1), fused_threads(f, 2) }, largest = 0, limit;
  uint32_t arm = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    uint64_t own = product(f->arms[i].threads, f->arms[i].p->workgroup);
    if (own > largest) arm = i;
    if (own > largest) largest = own;
  }
  uint64_t all = product(fused, f->workgroup);
  if (!vyre_mul_u64(largest, VYRE_FUSE_MULTIPLIER, &limit) || all <= limit) return VYRE_OK;
  if (f->refusal != NULL) {
    f->refusal->own_threads = largest;
    f->refusal->fused_threads = all;
  }
  return plan_refuse(f, VYRE_FUSE_OVER_DISPATCH, arm, VYRE_NO_ARM, "",
                     "%llu invocations%s, more than %u times the %llu of arm %u (%s)", (unsigned long long)all,
                     f->grid[0] == 0 ? " a workgroup" : "", VYRE_FUSE_MULTIPLIER, (unsigned long long)largest, arm,
                     plan_arm_name(f, arm));
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vyre_status look_at_arms(plan_fusion *f, vyre_program *const *programs, const vyre_fuse_options *options) {
  f->arms = calloc(f->count, sizeof *f->arms);
  f->first_user = calloc(f->count, sizeof *f->first_user);
  f->first_param = calloc(f->count, sizeof *f->first_param);
  f->barriers = calloc(f->count, sizeof *f->barriers);
  bool good = f->arms != NULL && f->first_user != NULL && f->first_param != NULL && f->barriers != NULL;
  for (uint32_t i = 0; i < f->count && good; i++) {
    good = plan_arm_create(&f->arms[i], programs[i]);
    for (uint32_t axis = 0; axis < 3 && options->grids != NULL; axis++)
      f->arms[i].threads[axis] = (uint64_t)options->grids[i][axis] * programs[i]->workgroup[axis];
  }
  return good ? VYRE_OK : vyre_fail_memory(f->error, f->name);
}

static vyre_status fuse_arms(plan_fusion *f, vyre_program *const *programs, const vyre_fuse_options *options,
                             vyre_program **out) {
  vyre_status status = look_at_arms(f, programs, options);
  if (status == VYRE_OK) status = check_copies(f);
  if (status == VYRE_OK) plan_geometry(f);
  if (status == VYRE_OK) status = check_geometry(f);
  if (status == VYRE_OK) status = check_dispatch(f);
  if (status == VYRE_OK) status = check_attributes(f);
  if (status == VYRE_OK) status = plan_merge(f);
  if (status == VYRE_OK) plan_order(f);
  return status == VYRE_OK ? plan_weave(f, out) : status;
}

static void release(plan_fusion *f) {
  for (uint32_t i = 0; i < f->count && f->arms != NULL; i++) plan_arm_free(&f->arms[i]);
  free(f->arms);
  free(f->first_user);
  free(f->first_param);
  free(f->barriers);
  vyre_vector_free(&f->entries);
  vyre_vector_free(&f->params);
  vyre_vector_free(&f->users);
  vyre_vector_free(&f->param_of);
  vyre_vector_free(&f->symbols);
  vyre_strings_free(&f->names);
}

static vyre_status nothing(plan_fusion *f, vyre_program **out) {
  vyre_builder *b;
  if (vyre_builder_create(f->name, NULL, &b) != VYRE_OK) return vyre_fail_memory(f->error, f->name);
  vyre_status status = vyre_builder_finish(b, out, f->error);
  vyre_builder_destroy(b);
  return status;
}

static vyre_status check_grid(const vyre_fuse_options *options, uint32_t arm, const vyre_program *p,
                              vyre_error *error) {
  for (uint32_t axis = 0; axis < 3 && options->grids != NULL; axis++) {
    uint64_t groups = options->grids[arm][axis], threads = groups * p->workgroup[axis];
    if (groups == 0 || threads > UINT32_MAX)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, ir_text(p, p->name),
                       "The grid of arm %u has %llu workgroups along axis %u; it takes at least 1, and ids up to "
                       "2^32-1. Fix: leave out arms that do nothing.",
                       arm, (unsigned long long)groups, axis);
  }
  return VYRE_OK;
}

static vyre_status check_arguments(vyre_program *const *arms, uint32_t count, const vyre_fuse_options *options,
                                   vyre_error *error) {
  if (count > VYRE_FUSE_MAX_ARMS)
    return vyre_fail(error, VYRE_ERR_LIMIT, "arms", "At most %u programs are fused, and there are %u. Fix: fuse fewer.",
                     VYRE_FUSE_MAX_ARMS, count);
  if (options->size != sizeof *options || (arms == NULL && count > 0))
    return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "options",
                     "The options have %u bytes, or there are no arms; wanted %zu bytes. Fix: begin with "
                     "VYRE_FUSE_OPTIONS_INIT, and give the arms.",
                     options->size, sizeof *options);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && status == VYRE_OK; i++) {
    if (arms[i] == NULL)
      return vyre_fail(error, VYRE_ERR_INVALID_ARGUMENT, "arms", "Arm %u is NULL. Fix: give a program.", i);
    status = check_grid(options, i, arms[i], error);
  }
  return status;
}

static vyre_status fuse(vyre_program *const *arms, uint32_t count, const vyre_fuse_options *options, bool is_shared,
                        vyre_program **out, uint32_t *grid, vyre_fuse_refusal *refusal, vyre_error *error) {
  static const vyre_fuse_options plain = VYRE_FUSE_OPTIONS_INIT;
  if (options == NULL) options = &plain;
  *out = NULL;
  if (refusal != NULL && refusal->size != sizeof *refusal) refusal = NULL;
  if (refusal != NULL) *refusal = (vyre_fuse_refusal)VYRE_FUSE_REFUSAL_INIT;
  if (refusal != NULL) refusal->arm = refusal->other = VYRE_NO_ARM;
  vyre_status status = check_arguments(arms, count, options, error);
  if (status != VYRE_OK) return status;
  plan_fusion f = { .count = count, .is_shared = is_shared, .refusal = refusal, .error = error };
  f.name = options->name != NULL ? options->name : "fused";
  if (count == 1 && options->grids != NULL) memcpy(f.grid, options->grids[0], sizeof f.grid);
  if (count == 0) status = nothing(&f, out);
  else if (count == 1) *out = vyre_program_retain(arms[0]);
  else status = fuse_arms(&f, arms, options, out);
  if (grid != NULL && status == VYRE_OK) memcpy(grid, f.grid, sizeof f.grid);
  if (count > 1) release(&f);
  return status;
}

vyre_status vyre_fuse(vyre_program *const *arms, uint32_t count, const vyre_fuse_options *options, vyre_program **out,
                      uint32_t *grid, vyre_fuse_refusal *refusal, vyre_error *error) {
  return fuse(arms, count, options, false, out, grid, refusal, error);
}

vyre_status vyre_fuse_shared(vyre_program *const *arms, uint32_t count, const vyre_fuse_options *options,
                             vyre_program **out, uint32_t *grid, vyre_fuse_refusal *refusal, vyre_error *error) {
  return fuse(arms, count, options, true, out, grid, refusal, error);
}
