/* A program whose dispatch on the fake device adds 1 to each word of y, with all that a launch of it needs. */
#ifndef VYRE_TESTS_BACKEND_ADDER_H
#define VYRE_TESTS_BACKEND_ADDER_H

#include "device_for.h"

enum { HOST = VYRE_MEMORY_HOST_READ | VYRE_MEMORY_HOST_WRITE };
static const uint64_t one[3] = { 1, 1, 1 };

#define ADDER "program adder { rw y: u32[]; y[gid.x] = 1; }"

typedef struct adder {
  vyre_executable *executable;
  vyre_buffer *y;
  vyre_set *set;
  vyre_queue *queue;
} adder;

adder adder_for(const bench *b);
void adder_end(adder *a);
/* A word of a buffer. */
uint32_t word(vyre_buffer *buffer, uint64_t index);
/* A submission of the adder that waits for value 1 of a timeline. */
vyre_submission *hold_back(const bench *b, const adder *a, vyre_timeline *gate, const vyre_timeline_point *signals,
                           uint32_t signal_count);

#endif
