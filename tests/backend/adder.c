#include "adder.h"

adder adder_for(const bench *b) {
  adder a;
  a.executable = compile(b, ADDER);
  OK(vyre_buffer_create(b->device, 16, HOST, &a.y, &error));
  OK(vyre_set_create(a.executable, (vyre_arg[]){ vyre_arg_buffer("y", a.y) }, 1, &a.set, &error));
  OK(vyre_queue_create(b->device, &a.queue, &error));
  return a;
}

void adder_end(adder *a) {
  vyre_queue_destroy(a->queue);
  vyre_set_destroy(a->set);
  vyre_buffer_destroy(a->y);
  vyre_executable_destroy(a->executable);
}

uint32_t word(vyre_buffer *buffer, uint64_t index) {
  uint32_t value = 0;
  OK(vyre_buffer_read(buffer, 4 * index, &value, 4, &error));
  return value;
}

vyre_submission *hold_back(const bench *b, const adder *a, vyre_timeline *gate, const vyre_timeline_point *signals,
                           uint32_t signal_count) {
  vyre_batch *batch;
  vyre_submission *s;
  vyre_timeline_point wait = { gate, 1 };
  vyre_submit_options options = { .size = sizeof options, .waits = &wait, .wait_count = 1, .signals = signals,
                                  .signal_count = signal_count };
  OK(vyre_batch_create(b->device, &batch, &error));
  OK(vyre_batch_dispatch(batch, a->set, one, &error));
  OK(vyre_queue_submit(a->queue, batch, &options, &s, &error));
  vyre_batch_destroy(batch);
  return s;
}
