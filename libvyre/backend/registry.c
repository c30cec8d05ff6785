/* The backends of a context. Each name is loaded once, when it is first asked for, and its outcome is kept: a file
 * that was refused is not tried again. The lock protects the lists only; while a plugin runs, its backend is
 * marked as loading and other threads wait for the mark to go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/objects.h"
#include "base/error.h"
#include "base/suggest.h"

/* Set while this thread is inside a plugin that is being loaded: what comes back from there would wait for itself. */
static _Thread_local bool in_plugin;

vyre_status vyre_registry_check(vyre_context *context, vyre_error *error) {
  if (in_plugin)
    return vyre_fail(error, VYRE_ERR_REENTRANT, "backends",
                     "A plugin that is being loaded asked for backends (VBP-18). Fix: a plugin calls nothing but the "
                     "services that it is given.");
  return vyre_context_check(context, error);
}

/* ---- Which file of a name -------------------------------------------------------------------- */

/* Order of dotted version numbers; texts that are none count as 0. */
static int compare_versions(const char *a, const char *b) {
  while (*a != 0 || *b != 0) {
    char *a_end, *b_end;
    unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
    if (x != y) return x < y ? -1 : 1;
    if (a_end == a && b_end == b) return 0;
    a = *a_end == '.' ? a_end + 1 : a_end + strlen(a_end);
    b = *b_end == '.' ? b_end + 1 : b_end + strlen(b_end);
  }
  return 0;
}

/* A file that the user named wins, then the higher version, then the earlier place. */
static bool is_better(const vyre_plugin_file *a, const vyre_plugin_file *b) {
  if (a->is_explicit != b->is_explicit) return a->is_explicit;
  return !a->is_explicit && compare_versions(a->desc.version, b->desc.version) > 0;
}

static void choose(vyre_backend *backend) {
  vyre_plugin_file *best = NULL;
  for (uint32_t i = 0; i < backend->files.count; i++) {
    vyre_plugin_file *file = backend->files.data[i];
    if (file->verdict != VYRE_VERDICT_UNTRIED) continue;
    vyre_plugin_examine(file);
    if (file->verdict == VYRE_VERDICT_UNTRIED && (best == NULL || is_better(file, best))) best = file;
  }
  for (uint32_t i = 0; i < backend->files.count && best != NULL; i++) {
    vyre_plugin_file *file = backend->files.data[i];
    if (file->verdict == VYRE_VERDICT_UNTRIED && file != best)
      vyre_judge(file, VYRE_VERDICT_SHADOWED, VYRE_ERR_BUSY,
                 "%s has version %s and wins over this one with version %s. Fix: remove one of them, or name this file "
                 "in the search path.",
                 best->path, best->desc.version, file->desc.version);
  }
  backend->chosen = best;
}

static void log_outcome(const vyre_backend *backend) {
  for (uint32_t i = 0; i < backend->files.count; i++) {
    const vyre_plugin_file *file = backend->files.data[i];
    bool is_fine = file->verdict == VYRE_VERDICT_USABLE || file->verdict == VYRE_VERDICT_DISABLED;
    bool is_expected = file->verdict == VYRE_VERDICT_SHADOWED || file->status == VYRE_ERR_LIBRARY_ABSENT ||
                       file->status == VYRE_ERR_NO_DEVICE;
    vyre_log_level level = is_fine ? VYRE_LOG_DEBUG : is_expected ? VYRE_LOG_INFO : VYRE_LOG_WARNING;
    vyre_log_write(file->context->log, level, "loader", "%s is %s%s%s", file->path, vyre_verdict_name(file->verdict),
                   file->reason != NULL ? ": " : ".", file->reason != NULL ? file->reason : "");
  }
}

/* ---- Loading --------------------------------------------------------------------------------- */

static vyre_backend *find_backend(vyre_context *context, const char *name) {
  for (uint32_t i = 0; i < context->backends.count; i++)
    if (strcmp(context->backends.data[i].name, name) == 0) return &context->backends.data[i];
  return NULL;
}

static vyre_status scan(vyre_context *context, vyre_error *error) {
  if (context->scanned) return VYRE_OK;
  vyre_status status = vyre_search(context, error);
  for (uint32_t i = 0; i < context->files.count && status == VYRE_OK; i++) {
    vyre_plugin_file *file = context->files.data[i];
    if (file->name[0] == 0) continue;
    vyre_backend *backend = find_backend(context, file->name);
    if (backend == NULL && vyre_vector_push(&context->backends, ((vyre_backend){ .name = file->name })))
      backend = &context->backends.data[context->backends.count - 1];
    if (backend == NULL || !vyre_vector_push(&backend->files, file)) status = vyre_fail_memory(error, "backends");
  }
  context->scanned = status == VYRE_OK;
  if (status == VYRE_OK) return VYRE_OK;
  /* Nothing is kept of a search that broke off, so that the next one starts anew. */
  for (uint32_t i = 0; i < context->backends.count; i++) vyre_vector_free(&context->backends.data[i].files);
  for (uint32_t i = 0; i < context->files.count; i++) {
    vyre_plugin_file *file = context->files.data[i];
    free(file->reason);
    free(file->name);
    free(file->path);
    free(file);
  }
  vyre_search_forget(context);
  vyre_vector_free(&context->backends);
  vyre_vector_free(&context->files);
  return status;
}

/* Loads backend |index|, or waits for the thread that does. The lock is held, and is free meanwhile. */
static void load_backend(vyre_context *context, uint32_t index) {
  vyre_backend *backend = &context->backends.data[index];
  while (backend->state == VYRE_BACKEND_LOADING) pthread_cond_wait(&context->changed, &context->lock);
  if (backend->state == VYRE_BACKEND_LOADED) return;
  backend->state = VYRE_BACKEND_LOADING;
  pthread_mutex_unlock(&context->lock);
  in_plugin = true;
  choose(backend);
  if (backend->chosen != NULL) vyre_plugin_start(backend->chosen);
  in_plugin = false;
  log_outcome(backend);
  pthread_mutex_lock(&context->lock);
  backend->state = VYRE_BACKEND_LOADED;
  pthread_cond_broadcast(&context->changed);
}

vyre_status vyre_backends_find(vyre_context *context, vyre_error *error) {
  vyre_status status = vyre_registry_check(context, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&context->lock);
  status = scan(context, error);
  pthread_mutex_unlock(&context->lock);
  return status;
}

vyre_status vyre_backends_load(vyre_context *context, vyre_error *error) {
  vyre_status status = vyre_registry_check(context, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&context->lock);
  status = scan(context, error);
  for (uint32_t i = 0; i < context->backends.count && status == VYRE_OK; i++) load_backend(context, i);
  pthread_mutex_unlock(&context->lock);
  return status;
}

static vyre_status not_found(vyre_context *context, const char *name, vyre_error *error) {
  vyre_suggestion near = vyre_suggest(name);
  for (uint32_t i = 0; i < context->backends.count; i++) vyre_suggest_offer(&near, context->backends.data[i].name);
  if (near.best != NULL)
    return vyre_fail(error, VYRE_ERR_NOT_FOUND, name,
                     "There is no backend \"%s\". Fix: did you mean \"%s\"? `vyre backends --all` lists what was "
                     "looked at.",
                     name, near.best);
  char found[128] = "nothing";
  for (uint32_t i = 0; i < context->backends.count; i++) {
    size_t used = i > 0 ? strlen(found) : 0;
    snprintf(found + used, sizeof found - used, "%s%s", i > 0 ? ", " : "", context->backends.data[i].name);
  }
  return vyre_fail(error, VYRE_ERR_NOT_FOUND, name,
                   "There is no file %s%s%s in any place that was searched; found: %s. Fix: install the backend, or "
                   "add its directory to VYRE_BACKEND_PATH; `vyre backends --all` lists what was looked at.",
                   VYRE_BACKEND_PREFIX, name, VYRE_BACKEND_SUFFIX, found);
}

/* Loads the backend of that name. *out is its file, whatever its verdict is. */
static vyre_status load_named(vyre_context *context, const char *name, vyre_plugin_file **out, vyre_error *error) {
  *out = NULL;
  vyre_status status = vyre_registry_check(context, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&context->lock);
  status = scan(context, error);
  vyre_backend *backend = status == VYRE_OK ? find_backend(context, name) : NULL;
  if (status == VYRE_OK && backend == NULL) status = not_found(context, name, error);
  if (backend != NULL) load_backend(context, (uint32_t)(backend - context->backends.data));
  pthread_mutex_unlock(&context->lock);
  if (backend == NULL) return status;
  /* Nothing of a loaded backend changes any more. Without a chosen file, the first one says why. */
  *out = backend->chosen != NULL ? backend->chosen : backend->files.data[0];
  return VYRE_OK;
}

static vyre_status unusable(const vyre_plugin_file *file, vyre_error *error) {
  return vyre_fail(error, file->status, file->path, "Backend %s is %s: %s", file->name,
                   vyre_verdict_name(file->verdict),
                   file->reason != NULL ? file->reason : vyre_status_text(file->status));
}

vyre_status vyre_backend_use(vyre_context *context, const char *name, vyre_plugin_file **out, vyre_error *error) {
  vyre_plugin_file *file;
  *out = NULL;
  vyre_status status = load_named(context, name, &file, error);
  if (status != VYRE_OK) return status;
  if (file->verdict != VYRE_VERDICT_USABLE) return unusable(file, error);
  *out = file;
  return VYRE_OK;
}

vyre_status vyre_backend_use_compiler(vyre_context *context, const char *name, vyre_plugin_file **out,
                                      vyre_error *error) {
  vyre_plugin_file *file;
  *out = NULL;
  vyre_status status = load_named(context, name, &file, error);
  if (status != VYRE_OK) return status;
  if (file->verdict != VYRE_VERDICT_USABLE && file->verdict != VYRE_VERDICT_UNAVAILABLE) return unusable(file, error);
  *out = file;
  return VYRE_OK;
}

/* The oracle is for comparison and for want of anything better, so it comes last. */
static bool comes_before(const char *a, const char *b) {
  bool a_last = strcmp(a, "cpu_ref") == 0, b_last = strcmp(b, "cpu_ref") == 0;
  return a_last != b_last ? b_last : strcmp(a, b) < 0;
}

const char *vyre_backend_name_at(vyre_context *context, uint32_t index) {
  const char *found = NULL;
  if (vyre_registry_check(context, NULL) != VYRE_OK) return NULL;
  pthread_mutex_lock(&context->lock);
  uint32_t count = scan(context, NULL) == VYRE_OK ? context->backends.count : 0;
  for (uint32_t i = 0; i < count && found == NULL; i++) {
    const char *name = context->backends.data[i].name;
    uint32_t before = 0;
    for (uint32_t j = 0; j < count; j++) before += comes_before(context->backends.data[j].name, name);
    if (before == index) found = name;
  }
  pthread_mutex_unlock(&context->lock);
  return found;
}

/* ---- Listing --------------------------------------------------------------------------------- */

const char *vyre_verdict_name(vyre_verdict verdict) {
  static const char names[][12] = { "usable",   "untried",  "unavailable", "refused",
                                    "shadowed", "disabled", "unreadable" };
  return (unsigned)verdict < sizeof names / sizeof *names ? names[verdict] : "";
}

/* Row |index|, once its backend is not being loaded; NULL beyond the last. The lock is held: whoever loads a backend
 * writes to its files without it, but only after having marked it. */
static vyre_plugin_file *settled_row(vyre_context *context, uint32_t index) {
  if (index >= context->files.count) return NULL;
  vyre_plugin_file *file = context->files.data[index];
  vyre_backend *backend = find_backend(context, file->name);
  while (backend != NULL && backend->state == VYRE_BACKEND_LOADING)
    pthread_cond_wait(&context->changed, &context->lock);
  return file;
}

static void describe(const vyre_plugin_file *file, vyre_backend_info *out) {
  bool is_known = file->verdict == VYRE_VERDICT_USABLE || file->verdict == VYRE_VERDICT_UNAVAILABLE ||
                  file->verdict == VYRE_VERDICT_SHADOWED;
  *out = (vyre_backend_info){
    .name = file->name,
    .path = file->path,
    .version = is_known ? file->desc.version : "",
    .build_id = is_known ? file->desc.build_id : "",
    .verdict = file->verdict,
    .status = file->status,
    .reason = file->reason != NULL ? file->reason : "",
    .device_count = file->device_count,
  };
}

bool vyre_backend_describe(vyre_context *context, uint32_t index, vyre_backend_info *out) {
  if (vyre_registry_check(context, NULL) != VYRE_OK) return false;
  pthread_mutex_lock(&context->lock);
  const vyre_plugin_file *file = settled_row(context, index);
  if (file != NULL) describe(file, out);
  pthread_mutex_unlock(&context->lock);
  return file != NULL;
}

bool vyre_backend_searched(vyre_context *context, uint32_t index, vyre_search_info *out) {
  if (vyre_registry_check(context, NULL) != VYRE_OK) return false;
  pthread_mutex_lock(&context->lock);
  bool is_there = context->scanned && index < context->places.count;
  const vyre_searched *place = is_there ? &context->places.data[index] : NULL;
  if (is_there)
    *out = (vyre_search_info){ place->path, place->source, place->outcome, place->plugins };
  pthread_mutex_unlock(&context->lock);
  return is_there;
}

vyre_status vyre_backend_device(vyre_context *context, uint32_t index, uint32_t device, vyre_capabilities *out,
                                vyre_error *error) {
  vyre_status status = vyre_registry_check(context, error);
  if (status != VYRE_OK) return status;
  pthread_mutex_lock(&context->lock);
  const vyre_plugin_file *file = settled_row(context, index);
  bool is_there = file != NULL && device < file->device_count;
  if (is_there) *out = file->devices[device];
  pthread_mutex_unlock(&context->lock);
  if (is_there) return VYRE_OK;
  return vyre_fail(error, VYRE_ERR_NOT_FOUND, "backends", "Row %u has no device %u. Fix: ask for one that is listed.",
                   index, device);
}
