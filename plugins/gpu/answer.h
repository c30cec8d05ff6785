/* How a plugin answers: errors, records whose first member is their size, flags, settings of its own.
 *
 * Every plugin that links this part defines gpu_name, the backend's name. */
#ifndef GPU_ANSWER_H
#define GPU_ANSWER_H

#include <stdbool.h>

#include <vyre/backend.h>

extern const char gpu_name[];

/* Fills |error|, which may be NULL, by a format and gives |status|. |where| is the program, or gpu_name. */
vyre_status gpu_fail(vyre_error *error, vyre_status status, const char *where, const char *format, ...)
  __attribute__((format(printf, 4, 5)));
/* The same with the code that the vendor's library answered. */
vyre_status gpu_fail_vendor(vyre_error *error, vyre_status status, int64_t vendor_code, const char *where,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));
vyre_status gpu_no_memory(vyre_error *error);
/* Puts a longer text, such as a compiler's log, where the caller has room for it; cut at its capacity. */
void gpu_attach_log(vyre_error *error, const char *log, uint64_t bytes);

/* Copies at most out->size bytes of a record whose first member is its size. */
void gpu_answer(void *out, void *record, uint32_t bytes);
/* The other way: a caller's record as one of |bytes| bytes. What the caller does not know is 0. */
void gpu_take(void *own, uint32_t bytes, const void *record);
/* Refuses bits of |flags| that are not among |known|; |what| has them. */
vyre_status gpu_check_flags(const char *what, uint32_t flags, uint32_t known, vyre_error *error);

/* A setting of the plugin, "NAME.key"; false if nobody has set it or the host has no settings. */
bool gpu_setting(const vyre_host *host, const char *key, char *text, uint64_t room);
/* The same as a number. What is no number is logged and taken as |otherwise|. */
uint64_t gpu_configured(const vyre_host *host, const char *key, uint64_t otherwise);
/* One line of the host's log, by a format. |level| vyre_log_level. */
void gpu_log(const vyre_host *host, uint32_t level, const char *subsystem, const char *format, ...)
  __attribute__((format(printf, 4, 5)));

/* Names of VYRE_NEED_* bits: refuses the first bit of |needs| that |satisfied| lacks, by its name. */
vyre_status gpu_check_needs(uint64_t needs, uint64_t satisfied, const char *where, vyre_error *error);

#endif
