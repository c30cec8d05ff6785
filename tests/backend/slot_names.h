/* Every slot of the plugin's table by name, so that each can be taken away: copied as vyre_backend_null_<slot>.so, the
 * fake plugin lacks it. */
#ifndef VYRE_TESTS_BACKEND_SLOT_NAMES_H
#define VYRE_TESTS_BACKEND_SLOT_NAMES_H

#define MANDATORY_SLOTS(X)                                                                                        \
  X(probe) X(profile) X(compile) X(open) X(close) X(device_count) X(device_describe) X(device_open) X(device_close) \
  X(executable_load) X(executable_destroy) X(executable_report) X(max_resident) X(buffer_create) X(buffer_destroy) \
  X(buffer_map) X(buffer_flush) X(buffer_invalidate) X(set_create) X(set_destroy) X(batch_create) X(batch_destroy) \
  X(queue_create) X(queue_destroy) X(submit) X(timeline_create) X(timeline_destroy) X(timeline_value)             \
  X(timeline_signal) X(timeline_wait)

#define OPTIONAL_SLOTS(X) X(finalize) X(disassemble) X(buffer_export) X(storage_read) X(native)

#endif
