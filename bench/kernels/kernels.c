/* Tables of the kernels, and how one comes to its data. */
#include "kernels/kernels.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "base/checked.h"
#include "base/error.h"

typedef struct param_row {
  const char *kernel, *name, *value;
} param_row;

typedef struct buffer_row {
  const char *kernel, *name;
  uint64_t count;
  const char *fill;
  uint32_t stream;
  uint64_t digest;
} buffer_row;

#define KERNEL(name, source, x, y) void kernel_expect_##name(const kernel_data *data);
#include "kernels/kernels.def"

static const kernel rows[] = {
#define KERNEL(name, source, x, y) {#name, source, {x, y, 1}, kernel_expect_##name},
#include "kernels/kernels.def"
};
static const param_row params[] = {
#define PARAM(kernel, name, value) {#kernel, #name, value},
#include "kernels/kernels.def"
};
static const buffer_row buffers[] = {
#define BUFFER(kernel, name, count, fill, stream, digest) {#kernel, #name, count, #fill, stream, digest},
#include "kernels/kernels.def"
};

const kernel *kernels(uint32_t *count) {
  *count = sizeof rows / sizeof *rows;
  return rows;
}

/* ---- The text ---- */

/* The whole file, NUL-terminated; NULL with errno. The caller frees it. */
static char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  size_t room = 0, used = 0, got;
  if (file == NULL) return NULL;
  do {
    room = room * 2 + 4096;
    char *more = realloc(text, room);
    if (more == NULL) break;
    text = more;
    got = fread(text + used, 1, room - used - 1, file);
    used += got;
    text[used] = 0;
  } while (got > 0);
  bool good = text != NULL && feof(file) != 0;
  fclose(file);
  *bytes = used;
  if (good) return text;
  free(text);
  return NULL;
}

/* Buffers that are written begin with what is bound. */
static void keep_contents(char *text) {
  for (char *at = text; (at = strstr(at, "\n  write ")) != NULL; at++) memcpy(at, "\n  rw    ", 9);
}

static vyre_status parse(const kernel *k, const char *directory, const kernel_scale *scale, vyre_program **out,
                         vyre_error *error) {
  char path[1024];
  size_t bytes;
  int length = snprintf(path, sizeof path, "%s/%s.vyre", directory, k->name);
  char *text = length < (int)sizeof path ? read_file(path, &bytes) : NULL;
  if (text == NULL)
    return vyre_fail(error, VYRE_ERR_IO, k->name, "%s can't be read: %s. Fix: name the directory of the kernels.", path,
                     strerror(errno));
  if (scale != NULL && scale->keeps_contents) keep_contents(text);
  vyre_status status = vyre_text_parse(text, bytes, NULL, NULL, out, error);
  free(text);
  return status;
}

/* ---- The data ---- */

static const buffer_row *find_buffer(const char *of, const char *name) {
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (strcmp(buffers[i].kernel, of) == 0 && strcmp(buffers[i].name, name) == 0) return &buffers[i];
  return NULL;
}

static const param_row *find_param(const char *of, const char *name) {
  for (size_t i = 0; i < sizeof params / sizeof *params; i++)
    if (strcmp(params[i].kernel, of) == 0 && strcmp(params[i].name, name) == 0) return &params[i];
  return NULL;
}

static vyre_status no_row(const kernel *k, const char *name, vyre_error *error) {
  return vyre_fail(error, VYRE_ERR_INVALID_PROGRAM, k->name,
                   "`%s` has no row in kernels.def, or there are more rows than room. Fix: add one.", name);
}

static vyre_status make_params(kernel_data *data, const kernel_scale *scale, vyre_error *error) {
  vyre_param_info info;
  for (uint32_t i = 0; vyre_program_param(data->program, i, &info); i++) {
    const param_row *row = find_param(data->kernel->name, info.name);
    if (row == NULL || i == KERNEL_MAX_PARAMS) return no_row(data->kernel, info.name, error);
    data->params[i] = (kernel_param){.name = row->name, .type = info.type};
    data->param_count = i + 1;
    const char *value = scale != NULL ? scale->value(data->kernel->name, row->name) : NULL;
    if (value == NULL) value = row->value;
    vyre_status status = vyre_text_literal(info.type, value, &data->params[i].bits, error);
    if (status != VYRE_OK) return status;
  }
  return VYRE_OK;
}

typedef struct filling {
  kernel_array *array;
  kernel_fill fill;
  uint32_t stream;
  pthread_t thread;
  bool has_thread;
} filling;

static void *fill_one(void *context) {
  const filling *f = context;
  f->fill(f->array, f->stream);
  return NULL;
}

/* Large arrays are filled side by side. */
static void fill_all(filling *fillings, uint32_t count, bool in_threads) {
  for (uint32_t i = 0; i < count; i++) {
    filling *f = &fillings[i];
    f->has_thread = in_threads && pthread_create(&f->thread, NULL, fill_one, f) == 0;
    if (!f->has_thread) fill_one(f);
  }
  for (uint32_t i = 0; i < count; i++)
    if (fillings[i].has_thread) pthread_join(fillings[i].thread, NULL);
}

static vyre_status make_array(kernel_array *array, const buffer_row *row, uint64_t count, const vyre_buffer_info *info,
                              vyre_error *error) {
  uint64_t room;
  *array = (kernel_array){.name = row->name, .type = info->element, .access = info->access,
                          .count = count != 0 ? count : row->count, .digest = row->digest};
  if (!vyre_mul_u64(array->count, vyre_type_describe(info->element)->bytes, &array->bytes) ||
      !vyre_align_u64(array->bytes, 16, &room) || (array->data = aligned_alloc(16, room)) == NULL)
    return vyre_fail_memory(error, row->name);
  memset(array->data, 0, room);
  return VYRE_OK;
}

static vyre_status make_arrays(kernel_data *data, const kernel_scale *scale, vyre_error *error) {
  vyre_buffer_info info;
  filling fillings[KERNEL_MAX_ARRAYS];
  for (uint32_t i = 0; vyre_program_slot(data->program, i, &info); i++) {
    const buffer_row *row = find_buffer(data->kernel->name, info.name);
    if (row == NULL || i == KERNEL_MAX_ARRAYS) return no_row(data->kernel, info.name, error);
    data->array_count = i + 1;
    uint64_t count = scale != NULL ? scale->count(data->kernel->name, row->name) : 0;
    vyre_status status = make_array(&data->arrays[i], row, count, &info, error);
    if (status != VYRE_OK) return status;
    fillings[i] = (filling){.array = &data->arrays[i], .fill = kernel_fill_named(row->fill), .stream = row->stream};
    if (fillings[i].fill == NULL) return no_row(data->kernel, row->fill, error);
  }
  fill_all(fillings, data->array_count, scale != NULL);
  return VYRE_OK;
}

vyre_status kernel_load_scaled(const kernel *k, const char *directory, const kernel_scale *scale, kernel_data *data,
                               vyre_error *error) {
  *data = (kernel_data){.kernel = k};
  vyre_status status = parse(k, directory, scale, &data->program, error);
  if (status == VYRE_OK) status = make_params(data, scale, error);
  if (status == VYRE_OK) status = make_arrays(data, scale, error);
  return status;
}

vyre_status kernel_load(const kernel *k, const char *directory, kernel_data *data, vyre_error *error) {
  return kernel_load_scaled(k, directory, NULL, data, error);
}

void kernel_free(kernel_data *data) {
  for (uint32_t i = 0; i < data->array_count; i++) free(data->arrays[i].data);
  vyre_program_release(data->program);
  *data = (kernel_data){.kernel = data->kernel};
}

static const kernel_array *find_array(const kernel_data *data, const char *name) {
  for (uint32_t i = 0; i < data->array_count; i++)
    if (strcmp(data->arrays[i].name, name) == 0) return &data->arrays[i];
  return NULL;
}

void *kernel_array_named(const kernel_data *data, const char *name) {
  const kernel_array *array = find_array(data, name);
  return array != NULL ? array->data : NULL;
}

uint64_t kernel_count_of(const kernel_data *data, const char *name) {
  const kernel_array *array = find_array(data, name);
  return array != NULL ? array->count : 0;
}

uint64_t kernel_param_named(const kernel_data *data, const char *name) {
  for (uint32_t i = 0; i < data->param_count; i++)
    if (strcmp(data->params[i].name, name) == 0) return data->params[i].bits;
  return 0;
}
