/* The plugin as libvyre sees it: its table, called directly, with host services that count and can fail. For checks of
 * what libvyre would never do, or would not notice. */
#ifndef VYRE_TOOLS_CONFORM_RAW_H
#define VYRE_TOOLS_CONFORM_RAW_H

#include <stdatomic.h>

#include <vyre/backend.h>
#include <vyre/ir.h>

#include "kit.h"

/* Host services. Everything that alloc gives is remembered, so that what is freed wrongly or not at all is seen. */
typedef struct raw_host {
  vyre_host services;
  kit *k;
  _Atomic uint64_t calls;        /* of alloc and realloc */
  _Atomic uint64_t fail_at;      /* that call gives NULL; 0: none */
  _Atomic int64_t blocks, bytes; /* that live */
  _Atomic uint64_t misuses;      /* frees of what is not an allocation, or of another size; told by kit_fail, too */
  _Atomic bool is_logging, has_nested_log;
  uint64_t failed; /* not 0 once fail_at has struck */
} raw_host;

typedef struct raw {
  kit *k;
  void *library;
  const vyre_backend_desc *desc;
  vyre_backend_ops ops; /* at full size; what the plugin's lacks is NULL */
  raw_host host;
  vyre_plugin *plugin;
  vyre_plugin_device *device;
  vyre_capabilities caps;
} raw;

/* Opens the library and asks for its descriptor, which is believed from here on as far as libvyre would. False with a
 * kit_fail. */
bool raw_load(kit *k, raw *out);
/* raw_load, then probe, open and the device under test. */
bool raw_open(kit *k, raw *out);
bool raw_open_device(raw *r);
/* Closes device and instance. */
void raw_close(raw *r);
void raw_host_init(raw_host *host, kit *k);

/* kit_fail unless |status| is |wanted|; the text is taken from |error|, whose rules (VBP-15) are checked as well.
 * |what| names the call. */
bool raw_wants(raw *r, const char *what, vyre_status status, vyre_status wanted, const vyre_error *error);
/* The same for any refusal: a status of status.def that is not OK, with a reason. */
bool raw_wants_refusal(raw *r, const char *what, vyre_status status, const vyre_error *error);

/* ---- Programs -------------------------------------------------------------------------------- */

typedef struct raw_program {
  vyre_program *program;
  uint8_t *wire, *kernel;
  vyre_compile_request request;
} raw_program;

/* From a program to a request, as libvyre makes it for this plugin, whatever the device lacks. Gives what lowering
 * said; free in any case. */
vyre_status raw_request(raw *r, const vyre_program *program, const vyre_compile_options *options, raw_program *out,
                        vyre_error *error);
/* The same from text, for the kit's own programs. False with a kit_fail. */
bool raw_program_make(raw *r, const char *text, raw_program *out);
void raw_program_free(raw_program *p);
/* compile, and finalize where the plugin has it. */
vyre_status raw_compile(raw *r, const vyre_compile_request *request, vyre_bytes *blob, vyre_error *error);
void raw_blob_free(raw *r, vyre_bytes *blob);
/* Text to a loaded executable. NULL with a kit_fail. */
vyre_plugin_executable *raw_executable(raw *r, const char *text);

/* ---- Work ------------------------------------------------------------------------------------ */

/* Properties of memory that the host can read and write; false if the device has none. */
bool raw_host_memory(const raw *r, uint32_t *properties);
/* Memory that the host can read and write, |bytes| of it; NULL with a kit_fail. A device without any is skipped. */
vyre_plugin_buffer *raw_buffer(raw *r, uint64_t bytes);
/* The host's address of it. */
uint8_t *raw_map(raw *r, vyre_plugin_buffer *buffer);
/* Before the device reads what the host wrote, and after it wrote what the host reads; nothing for coherent memory. */
void raw_flush(raw *r, vyre_plugin_buffer *buffer, uint64_t bytes);
void raw_invalidate(raw *r, vyre_plugin_buffer *buffer, uint64_t bytes);

/* A queue with a timeline that counts its submissions. */
typedef struct raw_queue {
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline;
  uint64_t value; /* of the last submission */
} raw_queue;
bool raw_queue_open(raw *r, raw_queue *out);
void raw_queue_close(raw *r, raw_queue *q);
/* Submits a batch and waits for its end, at most 60 s; the completion record in |out|. Gives submit's status, else that
 * of the record. A wait without end ends the check. */
vyre_status raw_run(raw *r, raw_queue *q, vyre_plugin_batch *batch, vyre_completion *out, vyre_error *error);
/* A batch of one dispatch. */
vyre_plugin_batch *raw_dispatch(raw *r, vyre_plugin_executable *executable, vyre_plugin_set *set, uint32_t groups);

#endif
