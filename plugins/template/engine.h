/* Runs a kernel: the part that another backend replaces by a code generator and a device.
 *
 * code.c turns a kernel into steps with every number checked, run.c has what one invocation does alone, group.c
 * where invocations meet and in which order they run. */
#ifndef TEMPLATE_ENGINE_H
#define TEMPLATE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <vyre/backend.h>
#include <vyre/kernel.h>

#include "ops.h"

enum { TEMPLATE_MAX_LANES = 32 };

/* A value of an invocation: a scalar's bits in |word|, or components. */
typedef union cell {
  uint64_t word;
  uint32_t part[4];
  uint64_t both[2];
} cell;

/* An access with what it needs at hand. */
typedef struct place {
  uint8_t space, bound_kind, element; /* vyre_type */
  uint8_t bytes;                      /* of an element */
  uint32_t number;
  uint32_t base, index, bound;        /* values; 0 for none */
  uint64_t limit, offset;             /* offset: of an array in its memory, or of a table in the tables */
} place;

/* An instruction with what it needs at hand. */
typedef struct step {
  uint16_t op;
  uint8_t order, scope; /* or WAIT's and COPY_ASYNC's aux */
  uint8_t lanes;        /* components that fn is called for */
  uint8_t type;         /* op_type of the first operand, or of the access's elements */
  uint16_t zero;
  uint32_t result;
  uint32_t arg[4];
  op_fn fn;
  uint32_t stmt;
} step;

/* A kernel in the engine's form. Everything points into |kernel|, a copy of the block. */
typedef struct engine_code {
  uint8_t *kernel;
  const vyre_kernel_header *header;
  step *steps;
  place *places;
  cell *constants;     /* by value; [0] is zero */
  uint32_t *first_value, *value_count; /* of each entry point: the results in it */
  const char *name;    /* of the program */
  bool resident;       /* it has a grid barrier inside flow: the whole grid is kept */
} engine_code;

/* Memory that is bound. */
typedef struct engine_memory {
  uint8_t *data;
  uint64_t bytes;
} engine_memory;

/* One launch. */
typedef struct engine_launch {
  const engine_code *code;
  const engine_memory *bound;   /* by slot */
  const uint64_t *elements;     /* by slot: element counts of the launch block */
  const void *params;           /* header->param_bytes */
  uint32_t grid[3];
  uint32_t subgroup;            /* size that is used unless an entry point requires one */
  bool reverse;                 /* invocations take turns by descending id */
  uint64_t memory_limit;        /* bytes for the state of the launch */
  const uint32_t *stop;         /* the host's stop word, or NULL */
  uint64_t time_budget_ns, work_budget;
  const uint32_t *cancel;       /* not 0: give up; may be NULL */
  uint64_t *prints;
  uint64_t print_words;
  uint32_t command;
} engine_launch;

typedef struct engine_report {
  uint64_t trap_count, masked_loads, masked_stores, masked_atomics, prints_written, prints_dropped, print_words;
  uint64_t false_proofs; /* accesses out of range that the kernel calls PROVED */
  uint32_t trap_code, trap_gid[3];
} engine_report;

/* Why it can't be done; the text has a Fix: sentence. */
typedef struct engine_fault {
  vyre_status status;
  char text[256];
} engine_fault;

/* Checks every number of a kernel and prepares it. |kernel| is copied. What is not known here is UNSUPPORTED, what
 * cannot be is INVALID_FILE. */
vyre_status engine_prepare(const void *kernel, uint64_t bytes, engine_code **out, engine_fault *fault);
void engine_free(engine_code *code);
/* Gives the spec constant |id| of the kernel another value. False if it has none of that number. */
bool engine_fix_spec(engine_code *code, uint32_t id, uint64_t bits);
/* A text of the kernel; "" for an offset that leads nowhere. */
const char *engine_text(const engine_code *code, uint32_t at);
/* Bytes that an element takes in memory. */
uint32_t engine_element_bytes(vyre_kernel_type type);

/* Writes the steps as text for people. text.c */
void engine_print(const engine_code *code, FILE *to);

/* Bytes that the state of one workgroup takes. */
uint64_t engine_group_bytes(const engine_code *code);
/* Runs a launch to its end. |report| is filled in any case. */
vyre_status engine_run(const engine_launch *launch, engine_report *report, engine_fault *fault);

vyre_status engine_fail(engine_fault *fault, vyre_status status, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
uint64_t engine_now_ns(void);

#endif
