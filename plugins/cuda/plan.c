/* Commands become steps: each a call of the driver with everything found, so that submitting looks for nothing.
 *
 * The plan is gone through twice. The first time counts: steps, arguments, bytes of storage on the host and of the
 * batch's own memory on the device. The second time, with all of that there, writes. */
#include "plugins/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIECES = 1 << 16, PRINT_WORDS = 1 << 16, SCRATCH_ALIGN = 256 };

typedef struct plan {
  vyre_plugin_batch *b;
  bool counts;      /* the first time: nothing is written */
  uint64_t steps, arguments, timestamps;
  uint64_t storage; /* bytes so far */
  uint64_t image;   /* bytes so far of what a run begins with */
  uint64_t scratch; /* bytes so far of what holds anything, from scratch_begin on */
  uint64_t scratch_begin;
  bool has_report, has_diagnostics, has_prints;
} plan;

/* ---- Places ---------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t bytes, uint64_t align) { return (bytes + align - 1) & ~(align - 1); }

/* Memory of the host; NULL while it is only counted. */
static void *store(plan *p, uint64_t bytes) {
  uint64_t at = p->storage;
  p->storage += aligned(bytes, 8);
  return p->counts ? NULL : p->b->storage + at;
}

/* A place in the image and its address on the device; *host is NULL while it is only counted. */
static CUdeviceptr place(plan *p, uint64_t bytes, void *host) {
  uint64_t at = p->image;
  p->image += aligned(bytes, 16);
  void *here = p->counts ? NULL : p->b->image + at;
  memcpy(host, &here, sizeof here);
  return p->b->memory + at;
}

static cuda_step *add_step(plan *p, cuda_step_kind kind, uint64_t command) {
  static cuda_step nowhere;
  cuda_step *s = p->counts ? &nowhere : &p->b->steps[p->steps];
  p->steps++;
  if (p->counts) return s;
  *s = (cuda_step){ .kind = kind, .slot = -1, .command = command };
  return s;
}

static cuda_arguments *add_arguments(plan *p) {
  static cuda_arguments nowhere;
  uint64_t i = p->arguments++;
  return p->counts ? &nowhere : &p->b->arguments[i];
}

/* The words of the report: the count of clamped extents, then the timestamps. */
static CUdeviceptr report_word(const plan *p, uint64_t word) { return p->b->memory + p->b->report + 8 * word; }

/* ---- Launches of the plugin's own kernel ----------------------------------------------------- */

static vyre_status add_begin(plan *p, uint64_t command, CUdeviceptr patches, uint32_t count, vyre_error *error) {
  CUfunction function;
  vyre_status status = cuda_begin_kernel(p->b->device, &function, error);
  if (status != VYRE_OK) return status;
  cuda_step *s = add_step(p, CUDA_STEP_LAUNCH, command);
  uint64_t *arguments = store(p, 16);
  if (p->counts) return VYRE_OK;
  arguments[0] = patches;
  memcpy(&arguments[1], &count, sizeof count);
  s->u.launch.function = function;
  for (int axis = 0; axis < 3; axis++) s->u.launch.grid[axis] = s->u.launch.block[axis] = 1;
  s->u.launch.block[0] = CUDA_BEGIN_THREADS;
  s->u.launch.params[0] = &arguments[0];
  s->u.launch.params[1] = &arguments[1];
  return VYRE_OK;
}

static vyre_status plan_timestamp(plan *p, uint64_t command, const vyre_timestamp *t, vyre_error *error) {
  cuda_patch *patch;
  CUdeviceptr at = place(p, sizeof *patch, &patch);
  uint64_t i = p->timestamps++;
  p->has_report = true;
  if (patch != NULL) {
    p->b->timestamps[i] = t->index;
    *patch = (cuda_patch){ .to = report_word(p, 1 + i), .kind = CUDA_PATCH_CLOCK };
  }
  return add_begin(p, command, at, 1, error);
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

typedef struct dispatch {
  plan *p;
  uint64_t command;
  const vyre_dispatch *d;
  const vyre_plugin_set *set;
  const vyre_kernel_header *kernel;
  const cuda_module *module;
  const ptx_facts *facts;
  uint32_t limit[3];   /* of a piece */
  uint64_t pieces;
  uint64_t *pointers;
  CUdeviceptr state;
  cuda_patch *patches; /* the next one to write; NULL while they are counted */
} dispatch;

static vyre_status check_pieces(dispatch *x, vyre_error *error) {
  x->pieces = 1;
  memcpy(x->limit, x->p->b->device->facts->grid_limit, sizeof x->limit);
  for (int axis = 0; axis < 3; axis++) {
    x->pieces *= (x->d->grid[axis] + (uint64_t)x->limit[axis] - 1) / x->limit[axis];
    if (x->pieces > MOST_PIECES)
      return gpu_fail(error, VYRE_ERR_LIMIT, x->d->executable->name,
                      "a grid of %u x %u x %u takes more than %d launches of %u x %u x %u. Fix: give the longest axis "
                      "to x, or launch less at once",
                      x->d->grid[0], x->d->grid[1], x->d->grid[2], MOST_PIECES, x->limit[0], x->limit[1], x->limit[2]);
  }
  return VYRE_OK;
}

/* What has to be on the device together. */
static vyre_status check_residency(const dispatch *x, vyre_error *error) {
  bool is_cooperative = (x->facts->flags & PTX_COOPERATIVE) != 0;
  if (!is_cooperative && (x->d->flags & VYRE_DISPATCH_PERSISTENT) == 0) return VYRE_OK;
  const cuda_facts *f = x->p->b->device->facts;
  uint64_t fit = cuda_resident(x->p->b->device, x->module), groups = (uint64_t)x->d->grid[0] * x->d->grid[1];
  if (__builtin_mul_overflow(groups, x->d->grid[2], &groups)) groups = UINT64_MAX;
  if (groups <= fit && x->pieces == 1 && (f->cooperates || !is_cooperative)) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_LIMIT, x->d->executable->name,
                  "%llu workgroups are asked for, which wait for each other, and %llu fit on %s at the same time: %u "
                  "on each of %u multiprocessors. Fix: launch no more than that",
                  (unsigned long long)groups, (unsigned long long)fit, f->record.name, x->module->entries[0].per_unit,
                  f->units);
}

static vyre_status check_launch(dispatch *x, vyre_error *error) {
  gpu_launch l = { .kernel = x->kernel, .work_budget = x->d->work_budget, .time_budget_ns = x->d->time_budget_ns };
  memcpy(l.grid, x->d->grid, sizeof l.grid);
  vyre_status status = gpu_launch_check(&l, error);
  if (status == VYRE_OK) status = check_pieces(x, error);
  return status == VYRE_OK ? check_residency(x, error) : status;
}

static void point_at(const dispatch *x, vyre_kernel_hidden_kind kind, CUdeviceptr address) {
  if (x->pointers != NULL && x->facts->hidden[kind] != 0) x->pointers[x->facts->hidden[kind] - 1] = address;
}

static bool has_hidden(const dispatch *x, vyre_kernel_hidden_kind kind) { return x->facts->hidden[kind] != 0; }

/* What the kernel has beside its bindings. */
static void plan_hidden(dispatch *x) {
  plan *p = x->p;
  void *host;
  if (has_hidden(x, VYRE_KERNEL_HIDDEN_DIAGNOSTICS)) {
    p->has_report = p->has_diagnostics = true;
    p->has_prints |= (x->kernel->needs & VYRE_NEED_PRINT) != 0;
    point_at(x, VYRE_KERNEL_HIDDEN_DIAGNOSTICS, p->b->memory + p->b->diagnostics);
  }
  if (has_hidden(x, VYRE_KERNEL_HIDDEN_STATE)) {
    x->state = place(p, sizeof(vyre_kernel_state), &host);
    point_at(x, VYRE_KERNEL_HIDDEN_STATE, x->state);
  }
  if (has_hidden(x, VYRE_KERNEL_HIDDEN_SPILL)) {
    point_at(x, VYRE_KERNEL_HIDDEN_SPILL, p->b->memory + p->scratch_begin + p->scratch);
    p->scratch += aligned(gpu_spill_bytes(x->kernel, x->d->grid), SCRATCH_ALIGN);
  }
  if (has_hidden(x, VYRE_KERNEL_HIDDEN_STOP)) {
    bool is_given = x->d->stop_buffer != NULL;
    CUdeviceptr zero = is_given ? 0 : place(p, 16, &host);
    point_at(x, VYRE_KERNEL_HIDDEN_STOP, is_given ? cuda_address(x->d->stop_buffer, x->d->stop_offset) : zero);
  }
}

static void add_patch(dispatch *x, cuda_patch patch) {
  if (x->patches != NULL) *x->patches++ = patch;
}

static uint64_t count_patches(const dispatch *x) {
  uint64_t lengths = 0;
  for (uint32_t i = 0; i < x->kernel->bindings.count; i++) lengths += x->set->binds[i].length_bits != 0;
  bool has_clock = x->d->time_budget_ns != 0 && has_hidden(x, VYRE_KERNEL_HIDDEN_STATE);
  return (lengths + (x->d->grid_buffer != NULL ? 3 : 0)) * x->pieces + has_clock;
}

/* The words of one piece's block that the device knows. What is too large is counted for the first piece alone. */
static void patch_block(dispatch *x, CUdeviceptr block, bool is_first) {
  const vyre_kernel_header *k = x->kernel;
  CUdeviceptr clamped = is_first ? report_word(x->p, 0) : 0;
  for (uint32_t i = 0; i < k->bindings.count; i++) {
    const vyre_bind *bind = &x->set->binds[i];
    if (bind->length_bits == 0) continue;
    uint32_t at = VYRE_KERNEL_AT(vyre_kernel_binding, k, bindings, i)->count_offset;
    uint32_t kind = bind->length_bits == 64 ? CUDA_PATCH_LENGTH64 : CUDA_PATCH_LENGTH32;
    add_patch(x, (cuda_patch){ cuda_address(bind->length_buffer, bind->length_offset), block + at, bind->elements,
                               clamped, kind, 0 });
  }
  for (uint32_t axis = 0; x->d->grid_buffer != NULL && axis < 3; axis++) {
    int word = gpu_hidden_word(k, VYRE_KERNEL_WORD_GRID_X + axis);
    if (word < 0) continue;
    uint32_t at = VYRE_KERNEL_AT(vyre_kernel_hidden_word, k, hidden_words, (uint32_t)word)->offset;
    add_patch(x, (cuda_patch){ cuda_address(x->d->grid_buffer, x->d->grid_offset + 4 * axis), block + at,
                               x->d->grid[axis], clamped, CUDA_PATCH_AXIS, 0 });
  }
}

/* The block of one piece. Gives what its launches have as first parameter: the block, or the address of the one in the
 * image. */
static void *plan_block(dispatch *x, const gpu_piece *piece, const uint64_t *elements) {
  plan *p = x->p;
  cuda_arguments *a = add_arguments(p);
  bool in_memory = (x->facts->flags & PTX_BLOCK_IN_MEMORY) != 0;
  uint64_t *address = NULL;
  uint8_t *block;
  if (in_memory) {
    CUdeviceptr at = place(p, x->kernel->launch_bytes, &block);
    bool is_first = piece->origin[0] == 0 && piece->origin[1] == 0 && piece->origin[2] == 0;
    address = store(p, sizeof *address);
    if (address != NULL) *address = at;
    patch_block(x, at, is_first);
  } else {
    block = store(p, x->kernel->launch_bytes);
  }
  if (block == NULL) return NULL;
  gpu_launch l = { .kernel = x->kernel, .params = x->set->params, .elements = elements,
                   .command = (uint32_t)x->command, .work_budget = x->d->work_budget,
                   .time_budget_ns = x->d->time_budget_ns };
  memcpy(l.grid, x->d->grid, sizeof l.grid);
  memcpy(l.origin, piece->origin, sizeof l.origin);
  gpu_launch_block(&l, block);
  *a = (cuda_arguments){ x->command, x->set, block, x->pointers };
  return in_memory ? (void *)address : block;
}

/* Addresses by slot, and lengths as far as the host knows them. */
static const uint64_t *plan_bindings(dispatch *x) {
  uint32_t count = x->kernel->bindings.count;
  x->pointers = store(x->p, 8ull * x->facts->pointer_count);
  uint64_t *elements = store(x->p, 8ull * count);
  for (uint32_t i = 0; elements != NULL && i < count; i++) {
    const vyre_bind *bind = &x->set->binds[i];
    elements[i] = bind->elements;
    x->pointers[i] = cuda_address(bind->buffer, bind->offset);
  }
  return elements;
}

static void add_zeros(dispatch *x) {
  for (uint32_t i = 0; i < x->kernel->bindings.count; i++) {
    const vyre_bind *bind = &x->set->binds[i];
    if ((bind->flags & VYRE_BIND_ZERO) == 0 || bind->bytes == 0) continue;
    cuda_step *s = add_step(x->p, CUDA_STEP_ZERO, x->command);
    s->slot = (int32_t)i;
    s->u.fill.to = cuda_address(bind->buffer, bind->offset);
    s->u.fill.count = bind->bytes;
  }
}

static void add_launch(dispatch *x, const cuda_entry *e, const gpu_piece *piece, void *block) {
  cuda_step *s = add_step(x->p, CUDA_STEP_LAUNCH, x->command);
  uint32_t used = 0;
  s->u.launch.function = e->function;
  memcpy(s->u.launch.grid, piece->size, sizeof s->u.launch.grid);
  memcpy(s->u.launch.block, e->block, sizeof s->u.launch.block);
  s->u.launch.shared = e->dynamic_shared;
  s->u.launch.is_cooperative = (x->facts->flags & PTX_COOPERATIVE) != 0;
  if (x->facts->block_bytes > 0) s->u.launch.params[used++] = block;
  s->u.launch.params[used] = x->pointers;
}

/* All pieces of an entry point before the next one: what one wrote is visible to all of the next. */
static void add_launches(dispatch *x, void *const *blocks) {
  for (uint32_t entry = 0; entry < x->module->entry_count; entry++) {
    gpu_piece piece = { 0 };
    for (uint64_t i = 0; gpu_next_piece(x->d->grid, x->limit, &piece); i++)
      add_launch(x, &x->module->entries[entry], &piece, blocks != NULL ? blocks[i] : NULL);
  }
}

static vyre_status plan_launches(dispatch *x, vyre_error *error) {
  plan *p = x->p;
  const uint64_t *elements = plan_bindings(x);
  plan_hidden(x);
  uint64_t patches = count_patches(x);
  CUdeviceptr at = patches > 0 ? place(p, patches * sizeof *x->patches, &x->patches) : 0;
  void **blocks = store(p, 8 * x->pieces);
  gpu_piece piece = { 0 };
  if (x->d->time_budget_ns != 0 && has_hidden(x, VYRE_KERNEL_HIDDEN_STATE))
    add_patch(x, (cuda_patch){ .to = x->state + offsetof(vyre_kernel_state, started_ns), .kind = CUDA_PATCH_CLOCK });
  for (uint64_t i = 0; gpu_next_piece(x->d->grid, x->limit, &piece); i++) {
    void *block = plan_block(x, &piece, elements);
    if (blocks != NULL) blocks[i] = block;
  }
  p->has_report |= patches > 0;
  vyre_status status = patches > 0 ? add_begin(p, x->command, at, (uint32_t)patches, error) : VYRE_OK;
  if (status != VYRE_OK) return status;
  add_zeros(x);
  add_launches(x, blocks);
  return VYRE_OK;
}

static vyre_status plan_dispatch(plan *p, uint64_t command, const vyre_dispatch *d, vyre_error *error) {
  if (d->grid[0] == 0 || d->grid[1] == 0 || d->grid[2] == 0) return VYRE_OK;
  dispatch x = { .p = p, .command = command, .d = d, .set = d->set, .kernel = d->executable->blob.kernel };
  bool in_memory = d->set->has_device_length || d->grid_buffer != NULL;
  vyre_status status = cuda_executable_module(d->executable, in_memory, &x.module, &x.facts, error);
  if (status == VYRE_OK && p->counts) status = check_launch(&x, error);
  else if (status == VYRE_OK) status = check_pieces(&x, error);
  if (status != VYRE_OK) return status;
  p->b->is_late |= d->set->is_late;
  p->b->is_not_counted |= (x.kernel->flags & VYRE_KERNEL_UNCHECKED) == 0;
  return plan_launches(&x, error);
}

/* ---- Copies and fills ------------------------------------------------------------------------ */

static void plan_copy(plan *p, uint64_t command, const vyre_copy *c) {
  vyre_plugin_device *own = p->b->device;
  if (c->bytes == 0) return;
  cuda_step *s = add_step(p, CUDA_STEP_COPY, command);
  s->u.copy.to = cuda_address(c->target, c->target_offset);
  s->u.copy.from = cuda_address(c->source, c->source_offset);
  s->u.copy.bytes = c->bytes;
  if (c->source->device == own && c->target->device == own) return;
  s->u.copy.to_context = c->target->device->context;
  s->u.copy.from_context = c->source->device->context;
  if (p->counts) cuda_reach(own, c->source->device == own ? c->target->device : c->source->device);
}

static void plan_fill(plan *p, uint64_t command, const vyre_fill *f) {
  if (f->bytes == 0) return;
  cuda_step *s = add_step(p, CUDA_STEP_FILL, command);
  s->u.fill.to = cuda_address(f->target, f->offset);
  s->u.fill.count = f->bytes / 4;
  s->u.fill.pattern = f->pattern;
}

/* ---- Twice ----------------------------------------------------------------------------------- */

static vyre_status go_through(plan *p, vyre_error *error) {
  vyre_status status = VYRE_OK;
  for (uint64_t i = 0; i < p->b->count && status == VYRE_OK; i++) {
    const cuda_command *c = &p->b->commands[i];
    switch (c->kind) {
      case VYRE_COMMAND_DISPATCH: status = plan_dispatch(p, i, &c->u.dispatch, error); break;
      case VYRE_COMMAND_TIMESTAMP: status = plan_timestamp(p, i, &c->u.timestamp, error); break;
      case VYRE_COMMAND_COPY: plan_copy(p, i, &c->u.copy); break;
      case VYRE_COMMAND_FILL: plan_fill(p, i, &c->u.fill); break;
      default: break; /* ORDER: a stream has one */
    }
  }
  return status;
}

/* Where the parts of the batch's own memory are, now that their sizes are known. */
static void lay_out(const plan *counted, plan *p) {
  vyre_plugin_batch *b = p->b;
  uint64_t end = counted->image;
  if (counted->has_report) {
    b->report = end;
    b->timestamp_count = counted->timestamps;
    end = aligned(end + 8 + 8 * counted->timestamps, 16);
    b->diagnostics = end;
    if (counted->has_diagnostics) end += sizeof(vyre_kernel_diagnostics);
  }
  b->image_bytes = end;
  if (counted->has_prints) end += 8ull * PRINT_WORDS;
  if (counted->has_report) b->report_bytes = end - b->report;
  p->scratch_begin = aligned(end, SCRATCH_ALIGN);
  b->memory_bytes = counted->scratch > 0 ? p->scratch_begin + counted->scratch : end;
}

static vyre_status make_room(const plan *counted, plan *p, vyre_error *error) {
  vyre_plugin_batch *b = p->b;
  uint64_t times = aligned(4 * b->timestamp_count, 8);
  b->steps = malloc((counted->steps > 0 ? counted->steps : 1) * sizeof *b->steps);
  b->arguments = malloc((counted->arguments > 0 ? counted->arguments : 1) * sizeof *b->arguments);
  b->storage = calloc(counted->storage + times > 0 ? counted->storage + times : 1, 1);
  if (b->steps == NULL || b->arguments == NULL || b->storage == NULL) return gpu_no_memory(error);
  b->timestamps = (uint32_t *)(void *)(b->storage + counted->storage);
  if (b->memory_bytes == 0) return VYRE_OK;
  vyre_status status = cuda_answer(b->device, cuda_memory_new(b->device, b->memory_bytes, false, &b->memory),
                                   "allocating what the batch needs on the device", error);
  if (status != VYRE_OK || b->image_bytes == 0) return status;
  CUresult code = cuda_pinned_new(b->device, b->image_bytes, &b->image);
  if (code == CUDA_SUCCESS) memset(b->image, 0, b->image_bytes);
  return cuda_answer(b->device, code, "allocating pinned memory of the host", error);
}

vyre_status cuda_plan(vyre_plugin_batch *b, vyre_error *error) {
  plan counted = { .b = b, .counts = true }, p = { .b = b };
  vyre_status status = go_through(&counted, error);
  if (status != VYRE_OK) return status;
  lay_out(&counted, &p);
  status = make_room(&counted, &p, error);
  if (status == VYRE_OK) status = go_through(&p, error);
  if (status != VYRE_OK) return status;
  b->step_count = p.steps;
  b->argument_count = p.arguments;
  if (p.has_prints) {
    vyre_kernel_diagnostics *d = (void *)(b->image + b->diagnostics);
    d->print_words = PRINT_WORDS;
  }
  return VYRE_OK;
}
