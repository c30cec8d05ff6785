/* The Vulkan plugin as a host sees it, by its own table: on the fake library or on a real driver. */
#ifndef VYRE_TESTS_VULKAN_RIG_H
#define VYRE_TESTS_VULKAN_RIG_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/backend.h>

#include "../fake/script.h"

typedef struct rig {
  const vyre_backend_desc *desc;
  const vyre_backend_ops *ops;
  vyre_plugin *plugin;
  vyre_plugin_device *device;
  vyre_plugin_queue *queue;
  vyre_plugin_timeline *timeline; /* of the queue */
  uint64_t point;                 /* the last that was promised */
  vyre_capabilities caps;
  vyre_error error;               /* of the last call that failed */
  uint32_t subgroup;              /* size that programs are compiled for; 0 for any */
} rig;

/* A setting of the plugin for what is opened from now on; NULL removes it. */
void rig_setting(const char *key, const char *value);
/* What the host's cache was asked: entries found, and entries put. */
extern unsigned rig_cache_hits, rig_cache_puts;
/* Whether a line of the plugin's log has had |text| in it. */
bool rig_logged(const char *text);

/* Fails the test unless |status| is OK. */
void rig_must(rig *r, vyre_status status);

/* The functions of the fake library. */
typedef struct rig_fake {
  __typeof__(fake_script) *script;
  __typeof__(fake_calls) *calls;
  __typeof__(fake_live) *live;
  __typeof__(fake_kernel) *kernel;
} rig_fake;
/* Has the plugin open the fake library, with |script|. Once a process. */
rig_fake rig_use_fake(const char *script);
/* Fails the test if something that the fake made lives. */
void rig_nothing_lives(const rig_fake *fake);

/* Whether there is a driver with a device; else the test is to be skipped. */
bool rig_has_device(void);

/* Plugin, device |number|, a queue and its timeline. */
void rig_open(rig *r, uint32_t number);
void rig_close(rig *r);
/* Plugin alone. */
void rig_open_plugin(rig *r);
/* Its table alone, nothing of it called; and the host that it gets. */
void rig_load_plugin(rig *r);
const vyre_host *rig_host(void);

/* A program as the plugin takes it; the caller frees blob->data. */
vyre_status rig_compile(rig *r, const char *text, vyre_bytes *blob);
vyre_plugin_executable *rig_load(rig *r, const char *text);
/* |bytes| of memory that the host reaches, at *map. */
vyre_plugin_buffer *rig_buffer(rig *r, uint64_t bytes, void *map);
/* All of a buffer with |elements|. */
vyre_bind rig_bind(vyre_plugin_buffer *buffer, uint64_t bytes, uint64_t elements);
vyre_plugin_set *rig_set(rig *r, vyre_plugin_executable *e, const vyre_bind *binds, uint32_t count, const void *params,
                         uint64_t bytes);
vyre_dispatch rig_dispatch(vyre_plugin_executable *e, vyre_plugin_set *set, uint32_t x, uint32_t y, uint32_t z);
/* A batch of one dispatch. */
vyre_plugin_batch *rig_batch(rig *r, const vyre_dispatch *dispatch);
/* A submit of the rig's queue that signals its next point. |point| lives as long as the submit. */
vyre_submit rig_submit(rig *r, vyre_plugin_batch *batch, vyre_point *point, vyre_completion *completion);
/* Submits and waits: what the completion record says. */
vyre_status rig_run(rig *r, vyre_plugin_batch *batch, vyre_completion *completion);

/* Numbers for tests: the same each time, never zero twice. */
uint32_t rig_random(uint64_t *state);

#endif
