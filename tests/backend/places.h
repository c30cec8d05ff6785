/* Directories with plugins for one test: made, filled with copies of the fake plugin, and removed again. */
#ifndef VYRE_TESTS_BACKEND_PLACES_H
#define VYRE_TESTS_BACKEND_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include <vyre/device.h>

/* A fresh directory for the running test. */
const char *place(void);
/* Removes it with all that is in it. */
void remove_place(void);
/* A path below it; |format| as for printf. Static storage, a few are valid at a time. */
__attribute__((format(printf, 1, 2))) const char *below(const char *format, ...);
void make_directory(const char *path);
/* Copies the fake plugin to |path|. */
void copy_fake(const char *path);
/* Copies its first |bytes| bytes. */
void copy_fake_part(const char *path, size_t bytes);
/* Reads the whole fake plugin; the caller frees it. */
unsigned char *read_fake(size_t *bytes);
/* Reads a whole file; the caller frees it. */
unsigned char *read_file(const char *path, size_t *bytes);
/* Files of a directory that begin and end so and are not hidden; |total| is what the cache counts them as. */
unsigned count_files(const char *directory, const char *prefix, const char *suffix, uint64_t *total);
void write_file(const char *path, const void *data, size_t bytes);

/* Whether this process has the file |path| open as a library. */
bool is_mapped(const char *path);

/* A configuration with nothing but this search path, which stands for every place (no + before it). */
vyre_config *config_for(const char *path);
/* A context for it. */
vyre_context *context_for(vyre_config *config);
/* The row of the file |path|; fails the test if there is none. */
vyre_backend_info row_of(vyre_context *context, const char *path);

#endif
