/* A library of somebody else's with functions of our names. Whoever calls one of them has been bound to the wrong one. */
#include <stdlib.h>

#define SEEN __attribute__((visibility("default")))
#define CLASH(name) \
  SEEN void name(void); \
  SEEN void name(void) { abort(); }

CLASH(vyre_digest_of)
CLASH(vyre_fail)
CLASH(vyre_vector_grow)
CLASH(vyre_arena_alloc)
CLASH(vyre_wire_decode)
CLASH(vyre_wire_encode)
CLASH(vyre_program_describe)
CLASH(vyre_program_release)
CLASH(vyre_config_get)
CLASH(vyre_log_write)
CLASH(vyre_status_text)
CLASH(vyre_device_open)
CLASH(vyre_compile)
CLASH(vyre_queue_submit)
CLASH(vyre_submission_wait)
CLASH(vyre_backend_query)
