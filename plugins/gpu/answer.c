/* Errors, records, flags, settings. */
#include "plugins/gpu/answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/ir.h>

static uint32_t reaction_of(vyre_status status) {
  switch (status) {
#define X(name, number, reaction, text) \
  case number: return VYRE_REACTION_##reaction;
#include <vyre/status.def>
#undef X
    default: return VYRE_REACTION_INTERNAL;
  }
}

__attribute__((format(printf, 5, 0)))
static vyre_status fill(vyre_error *error, vyre_status status, int64_t vendor_code, const char *where,
                        const char *format, va_list args) {
  if (error == NULL || error->size < sizeof *error) return status;
  error->status = status;
  error->reaction = reaction_of(status);
  error->vendor_code = vendor_code;
  snprintf(error->where, sizeof error->where, "%s", where);
  vsnprintf(error->text, sizeof error->text, format, args);
  error->log_length = 0;
  return status;
}

vyre_status gpu_fail(vyre_error *error, vyre_status status, const char *where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fill(error, status, 0, where, format, args);
  va_end(args);
  return status;
}

vyre_status gpu_fail_vendor(vyre_error *error, vyre_status status, int64_t vendor_code, const char *where,
                            const char *format, ...) {
  va_list args;
  va_start(args, format);
  fill(error, status, vendor_code, where, format, args);
  va_end(args);
  return status;
}

vyre_status gpu_no_memory(vyre_error *error) {
  return gpu_fail(error, VYRE_ERR_NO_MEMORY, gpu_name, "memory is used up. Fix: free some");
}

void gpu_attach_log(vyre_error *error, const char *log, uint64_t bytes) {
  if (error == NULL || error->size < sizeof *error) return;
  error->log_length = bytes;
  if (error->log == NULL || error->log_capacity == 0) return;
  uint64_t fits = bytes < error->log_capacity ? bytes : error->log_capacity - 1;
  memcpy(error->log, log, fits);
  error->log[fits] = 0;
}

void gpu_answer(void *out, void *record, uint32_t bytes) {
  uint32_t room;
  memcpy(&room, out, sizeof room);
  if (room > bytes) room = bytes;
  memcpy(record, &room, sizeof room);
  memcpy(out, record, room);
}

void gpu_take(void *own, uint32_t bytes, const void *record) {
  uint32_t given;
  memcpy(&given, record, sizeof given);
  if (given > bytes) given = bytes;
  memset(own, 0, bytes);
  memcpy(own, record, given);
}

vyre_status gpu_check_flags(const char *what, uint32_t flags, uint32_t known, vyre_error *error) {
  if ((flags & ~known) == 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, gpu_name,
                  "%s has bits 0x%x, of which 0x%x are known here. Fix: leave the others out, or use a newer plugin",
                  what, flags, known);
}

bool gpu_setting(const vyre_host *host, const char *key, char *text, uint64_t room) {
  char name[64];
  uint64_t length = 0;
  int written = snprintf(name, sizeof name, "%s.%s", gpu_name, key);
  return written > 0 && (size_t)written < sizeof name && host->size >= offsetof(vyre_host, now_ns) &&
         host->config_get != NULL && host->config_get(host->ctx, name, text, room, &length) == VYRE_OK && length < room;
}

uint64_t gpu_configured(const vyre_host *host, const char *key, uint64_t otherwise) {
  char text[32], *end;
  if (!gpu_setting(host, key, text, sizeof text)) return otherwise;
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0) return number;
  gpu_log(host, VYRE_LOG_WARNING, "settings",
          "the setting %s.%s is `%s`, not a plain number: %llu is taken. Fix: correct it, or remove it.", gpu_name, key,
          text, (unsigned long long)otherwise);
  return otherwise;
}

void gpu_log(const vyre_host *host, uint32_t level, const char *subsystem, const char *format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  host->log(host->ctx, level, subsystem, line);
}

vyre_status gpu_check_needs(uint64_t needs, uint64_t satisfied, const char *where, vyre_error *error) {
  static const struct { uint64_t bit; const char *spelling; } names[] = {
#define X(name, bit, spelling, use) { 1ull << (bit), spelling },
#include <vyre/needs.def>
#undef X
  };
  uint64_t missing = needs & ~satisfied;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (missing & names[i].bit)
      return gpu_fail(error, VYRE_ERR_UNSUPPORTED, where,
                      "the program needs %s, which this device has not. Fix: run it on another one", names[i].spelling);
  if (missing == 0) return VYRE_OK;
  return gpu_fail(error, VYRE_ERR_UNSUPPORTED, where,
                  "the program needs capabilities 0x%llx that are not known here. Fix: use a newer plugin",
                  (unsigned long long)missing);
}
