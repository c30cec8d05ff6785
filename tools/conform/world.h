/* One small program with all that it takes to run it, on the plugin's own table: y[i] = x[i] * 3 + n. Most checks of
 * the table begin with one of these. */
#ifndef VYRE_TOOLS_CONFORM_WORLD_H
#define VYRE_TOOLS_CONFORM_WORLD_H

#include "raw.h"

#define WORLD_ELEMENTS 200u /* no multiple of the workgroup */
#define WORLD_GROUPS 4u
extern const char world_text[];

typedef struct world {
  raw r;
  vyre_plugin_executable *executable;
  vyre_plugin_buffer *x, *y;
  uint32_t *x_words, *y_words; /* their maps */
  vyre_plugin_set *set;
  vyre_plugin_batch *batch;
  raw_queue queue;
} world;

/* Opens the plugin and makes everything; x is filled. False with a kit_fail or kit_skip. */
bool world_open(kit *k, world *w);
/* The parts, on an instance that is open. */
bool world_make(world *w);
bool world_make_set(world *w, uint32_t n, vyre_plugin_set **out);
/* Runs the batch and looks at y. */
bool world_run(world *w, const char *what);
/* Whether y is what the program makes of x with |n|. */
bool world_check(world *w, const char *what, uint32_t n);
void world_clear(world *w);
/* Destroys what is there, children first. */
void world_unmake(world *w);
void world_close(world *w);

#endif
