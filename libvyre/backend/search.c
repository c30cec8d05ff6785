/* Where plugins are looked for. Nothing is opened here: what is found is a list of names and paths, in the order
 * of the places, each directory sorted, so that the order in which a file system lists it does not matter. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/objects.h"
#include "base/error.h"
#include "base/self.h"

enum { MAX_FILES = 65536 };

__attribute__((format(printf, 4, 5))) void vyre_judge(vyre_plugin_file *file, vyre_verdict verdict,
                                                      vyre_status status, const char *format, ...) {
  va_list args;
  char *reason = NULL;
  va_start(args, format);
  if (vasprintf(&reason, format, args) < 0) reason = NULL;
  va_end(args);
  free(file->reason);
  file->reason = reason;
  file->verdict = verdict;
  file->status = status;
}

/* A new row; NULL without memory. |name| may be NULL. */
static vyre_plugin_file *add_file(vyre_context *context, const char *name, size_t name_bytes, const char *path) {
  vyre_plugin_file *file = calloc(1, sizeof *file);
  if (file == NULL) return NULL;
  file->context = context;
  file->verdict = VYRE_VERDICT_UNTRIED;
  file->name = strndup(name != NULL ? name : "", name_bytes);
  file->path = strdup(path);
  if (file->name != NULL && file->path != NULL && vyre_vector_push(&context->files, file)) return file;
  free(file->name);
  free(file->path);
  free(file);
  return NULL;
}

/* The backend's name in `vyre_backend_<name>.so`, and its length; NULL for any other file name. */
static const char *backend_name(const char *file, size_t *bytes) {
  size_t all = strlen(file), prefix = strlen(VYRE_BACKEND_PREFIX), suffix = strlen(VYRE_BACKEND_SUFFIX);
  if (all <= prefix + suffix || strncmp(file, VYRE_BACKEND_PREFIX, prefix) != 0) return NULL;
  if (strcmp(file + all - suffix, VYRE_BACKEND_SUFFIX) != 0) return NULL;
  const char *name = file + prefix;
  *bytes = all - prefix - suffix;
  if (*bytes > VYRE_BACKEND_MAX_NAME || name[0] < 'a' || name[0] > 'z') return NULL;
  for (size_t i = 0; i < *bytes; i++) {
    bool fits = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') || name[i] == '_';
    if (!fits) return NULL;
  }
  return name;
}

/* backends.enable: names that may be opened, or with ^ those that may not. */
static bool is_enabled(const vyre_config *config, const char *name) {
  vyre_config_value value;
  vyre_config_get(config, VYRE_CONFIG_BACKENDS_ENABLE, &value);
  if (!value.is_set) return true;
  bool excludes = value.list[0][0] == '^', is_listed = false;
  for (uint32_t i = 0; i < value.count; i++) {
    const char *item = value.list[i] + (excludes && i == 0);
    if (!excludes && strcmp(item, "none") == 0) item = "cpu_ref";
    is_listed = is_listed || strcmp(item, name) == 0;
  }
  return is_listed != excludes;
}

/* Whether two rows mean one file. */
static bool is_known(const vyre_context *context, const char *path) {
  for (uint32_t i = 0; i < context->files.count; i++)
    if (strcmp(context->files.data[i]->path, path) == 0) return true;
  return false;
}

static vyre_status add_plugin(vyre_context *context, const char *path, bool is_explicit) {
  size_t bytes;
  const char *slash = strrchr(path, '/'), *name = backend_name(slash + 1, &bytes);
  if (name == NULL) {
    if (!is_explicit) {
      vyre_log_write(context->log, VYRE_LOG_DEBUG, "loader", "%s is left alone: its name is not %s<name>%s.", path,
                     VYRE_BACKEND_PREFIX, VYRE_BACKEND_SUFFIX);
      return VYRE_OK;
    }
    vyre_plugin_file *file = add_file(context, NULL, 0, path);
    if (file == NULL) return VYRE_ERR_NO_MEMORY;
    vyre_judge(file, VYRE_VERDICT_REFUSED, VYRE_ERR_NOT_A_PLUGIN,
               "The file's name is not %s<name>%s with a name of small letters, digits and _ (VBP-1). Fix: rename it "
               "to what its author called it.",
               VYRE_BACKEND_PREFIX, VYRE_BACKEND_SUFFIX);
    return VYRE_OK;
  }
  if (is_known(context, path)) return VYRE_OK;
  vyre_plugin_file *file = add_file(context, name, bytes, path);
  if (file == NULL) return VYRE_ERR_NO_MEMORY;
  file->is_explicit = is_explicit;
  if (!is_enabled(context->config, file->name))
    vyre_judge(file, VYRE_VERDICT_DISABLED, VYRE_ERR_DENIED,
               "The setting backends.enable leaves %s out. Fix: change it, or the variable VYRE_BACKENDS.", file->name);
  return VYRE_OK;
}

static vyre_status add_unreadable(vyre_context *context, const char *path, int code) {
  vyre_plugin_file *file = add_file(context, NULL, 0, path);
  if (file == NULL) return VYRE_ERR_NO_MEMORY;
  vyre_judge(file, VYRE_VERDICT_UNREADABLE, code == EACCES ? VYRE_ERR_DENIED : VYRE_ERR_IO,
             "It can't be looked at: %s. Fix: take it off the search path, or repair it.", strerrordesc_np(code));
  return VYRE_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Keeps what a search found at |path|. The outcome is a sentence. */
__attribute__((format(printf, 5, 6))) static vyre_status note_place(vyre_context *context, const char *path,
                                                                    const char *source, uint32_t plugins,
                                                                    const char *format, ...) {
  vyre_searched place = { .path = strdup(path), .source = source, .plugins = plugins };
  va_list args;
  va_start(args, format);
  if (vasprintf(&place.outcome, format, args) < 0) place.outcome = NULL;
  va_end(args);
  if (place.path != NULL && place.outcome != NULL && vyre_vector_push(&context->places, place)) return VYRE_OK;
  free(place.path);
  free(place.outcome);
  return VYRE_ERR_NO_MEMORY;
}

void vyre_search_forget(vyre_context *context) {
  for (uint32_t i = 0; i < context->places.count; i++) {
    free(context->places.data[i].path);
    free(context->places.data[i].outcome);
  }
  vyre_vector_free(&context->places);
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Of a directory: how many of its files are named as plugins are, and how many otherwise, with the first of them that
 * may be meant for one. */
typedef struct tally {
  uint32_t plugins, others;
  char odd[NAME_MAX + 1];
} tally;

/* libtool's description of a plugin lies beside it. */
static bool is_odd(const char *name) {
  size_t bytes = strlen(name);
  return bytes < 3 || strcmp(name + bytes - 3, ".la") != 0;
}

static vyre_status scan_directory(vyre_context *context, const char *path, DIR *directory, tally *out) {
  VYRE_VECTOR(char *) names = { 0 };
  vyre_status status = VYRE_OK;
  struct dirent *entry;
  while (status == VYRE_OK && (entry = readdir(directory)) != NULL) {
    size_t bytes;
    bool is_plugin = backend_name(entry->d_name, &bytes) != NULL;
    out->plugins += is_plugin;
    out->others += !is_plugin && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (strncmp(entry->d_name, VYRE_BACKEND_PREFIX, strlen(VYRE_BACKEND_PREFIX) - 1) != 0) continue;
    char *name = names.count < MAX_FILES ? strdup(entry->d_name) : NULL;
    if (name == NULL || !vyre_vector_push(&names, name)) {
      free(name);
      status = VYRE_ERR_NO_MEMORY;
    }
  }
  if (names.count > 0) qsort(names.data, names.count, sizeof *names.data, compare_names);
  for (uint32_t i = 0; i < names.count; i++) {
    char *full = NULL;
    size_t bytes;
    if (out->odd[0] == 0 && backend_name(names.data[i], &bytes) == NULL && is_odd(names.data[i]))
      snprintf(out->odd, sizeof out->odd, "%s", names.data[i]);
    if (status == VYRE_OK && asprintf(&full, "%s/%s", path, names.data[i]) < 0) full = NULL;
    if (status == VYRE_OK) status = full != NULL ? add_plugin(context, full, false) : VYRE_ERR_NO_MEMORY;
    free(full);
    free(names.data[i]);
  }
  vyre_vector_free(&names);
  return status;
}

static vyre_status search_directory(vyre_context *context, const char *path, const char *source, DIR *directory) {
  tally found = { 0 };
  vyre_status status = scan_directory(context, path, directory, &found);
  if (status != VYRE_OK) return status;
  const char *such = found.odd[0] != 0 ? ", such as " : "";
  if (found.plugins > 0)
    return note_place(context, path, source, found.plugins, "It has %u plugin%s%s%s%s.", found.plugins,
                      found.plugins > 1 ? "s" : "", found.odd[0] != 0 ? "; others are not called so" : "", such,
                      found.odd);
  if (found.others == 0) return note_place(context, path, source, 0, "It is empty.");
  return note_place(context, path, source, 0, "No file in it is called %s<name>%s; %u %s called otherwise%s%s.",
                    VYRE_BACKEND_PREFIX, VYRE_BACKEND_SUFFIX, found.others, found.others > 1 ? "are" : "is", such,
                    found.odd);
}

/* A place is a directory or one file. One that is missing is only an entry if the user named it. */
static vyre_status search_place(vyre_context *context, const char *path, const char *source, bool by_user) {
  struct stat info;
  DIR *directory = NULL;
  bool is_there = stat(path, &info) == 0;
  if (is_there && !S_ISDIR(info.st_mode)) {
    vyre_status status = add_plugin(context, path, true);
    return status == VYRE_OK ? note_place(context, path, source, 1, "It is a file.") : status;
  }
  if (is_there) directory = opendir(path);
  if (directory == NULL) {
    int code = errno;
    if (code == ENOMEM) return VYRE_ERR_NO_MEMORY;
    vyre_status status = note_place(context, path, source, 0, "%s.", strerrordesc_np(code));
    return status == VYRE_OK && (by_user || code != ENOENT) ? add_unreadable(context, path, code) : status;
  }
  vyre_status status = search_directory(context, path, source, directory);
  closedir(directory);
  return status;
}

/* A place that belongs to an installation. The setting |all|, where it is not NULL, stands for every place. */
static vyre_status search_own(vyre_context *context, const char *path, const char *source,
                              const vyre_config_value *all) {
  if (all == NULL) return search_place(context, path, source, false);
  return note_place(context, path, source, 0, "It was not searched, because %s stands for every place. Fix: begin that "
                    "with + to search here as well.", all->source);
}

/* The directory beside this library, so that a moved installation finds its plugins; then the one as configured. */
static vyre_status search_installation(vyre_context *context, const vyre_config_value *all) {
  char *self, *beside = NULL;
  vyre_status status = vyre_self_directory(&self);
  if (self != NULL && asprintf(&beside, "%s/%s", self, VYRE_BACKENDS_NAME) < 0) {
    beside = NULL;
    status = VYRE_ERR_NO_MEMORY;
  }
  free(self);
  if (beside != NULL) status = search_own(context, beside, "beside libvyre", all);
  bool is_same = beside != NULL && strcmp(beside, VYRE_BACKEND_DIR) == 0;
  free(beside);
  if (status != VYRE_OK || is_same) return status;
  return search_own(context, VYRE_BACKEND_DIR, "as libvyre was configured", all);
}

vyre_status vyre_search(vyre_context *context, vyre_error *error) {
  vyre_config_value value;
  vyre_config_get(context->config, VYRE_CONFIG_BACKENDS_PATH, &value);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < value.count && status == VYRE_OK; i++)
    status = search_place(context, value.list[i], value.source, true);
  /* A list from the call or the environment that does not begin with + stands for every place. */
  bool is_all = value.is_set && value.origin >= VYRE_CONFIG_FROM_ENVIRONMENT && value.text[0] != '+';
  if (status == VYRE_OK) status = search_installation(context, is_all ? &value : NULL);
  return status == VYRE_OK ? VYRE_OK : vyre_fail_memory(error, "backend search");
}
