/* Statuses and the error record: how every fallible function of vyre answers.
 *
 * A function returns a vyre_status; 0 is success. The detail goes into a record that the caller
 * owns and may omit. Nothing is printed and no thread-local state is kept. */
#ifndef VYRE_STATUS_H
#define VYRE_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VYRE_API
#define VYRE_API __attribute__((visibility("default")))
#endif

typedef int32_t vyre_status;

enum {
#define X(name, number, reaction, text) VYRE_ERR_##name = number,
#include <vyre/status.def>
#undef X
  VYRE_OK = VYRE_ERR_OK
};

/* What a caller can do about a status. */
enum {
  VYRE_REACTION_NONE = 0,
  VYRE_REACTION_ARGUMENT = 1,     /* correct the call or its input */
  VYRE_REACTION_STATE = 2,        /* the object is not in a state for this call */
  VYRE_REACTION_RESOURCE = 3,     /* free something or raise a limit */
  VYRE_REACTION_RETRY = 4,        /* the same call may succeed later */
  VYRE_REACTION_DEVICE_LOST = 5,  /* open the device anew */
  VYRE_REACTION_INCOMPATIBLE = 6, /* choose another backend, or install what is missing */
  VYRE_REACTION_EXECUTION = 7,    /* the program itself went wrong */
  VYRE_REACTION_INTERNAL = 9      /* a defect: report it */
};

#define VYRE_ERROR_TEXT_BYTES 512
#define VYRE_ERROR_WHERE_BYTES 128

/* The error record. The caller owns it, sets size and, if it wants longer logs (a device
 * compiler's, say), log and log_capacity; the callee fills the rest and always ends texts with NUL.
 * On success the record is left as it was. */
typedef struct vyre_error {
  uint32_t size;         /* sizeof(vyre_error) as the caller knows it */
  int32_t status;
  int64_t vendor_code;   /* the code of the vendor's API, or 0 */
  uint32_t reaction;     /* VYRE_REACTION_* */
  uint32_t reserved;
  char where[VYRE_ERROR_WHERE_BYTES]; /* the file, key, binding, ... that it is about; may be empty */
  char text[VYRE_ERROR_TEXT_BYTES];   /* wanted, found, and a `Fix:` sentence */
  char *log;             /* caller's buffer for long texts, or NULL */
  uint64_t log_capacity; /* bytes at log */
  uint64_t log_length;   /* bytes that the whole log has, its NUL not counted; may pass capacity */
} vyre_error;

#define VYRE_ERROR_INIT { sizeof(vyre_error), 0, 0, 0, 0, { 0 }, { 0 }, 0, 0, 0 }

/* The name of a status, as "VYRE_ERR_LIMIT"; "unknown status" for a number that is none.
 * Static storage. Any thread. */
VYRE_API const char *vyre_status_name(vyre_status status);

/* One sentence for a status. Static storage. Any thread. */
VYRE_API const char *vyre_status_text(vyre_status status);

/* The reaction class of a status (VYRE_REACTION_*). Any thread. */
VYRE_API uint32_t vyre_status_reaction(vyre_status status);

#ifdef __cplusplus
}
#endif
#endif
