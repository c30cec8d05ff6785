/* Messages of the library about its own work. It prints nothing by itself: a program that wants the messages gives a
 * log a sink. There is no log that is everywhere; whoever makes one hands it to what should use it.
 *
 * Threads: every function may be called from any thread, except that vyre_log_destroy comes last. After fork the
 * child's copy of a log is silent, because a thread that exists no more may have been writing. */
#ifndef VYRE_LOG_H
#define VYRE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are pinned: they are part of the plugin ABI. */
typedef enum vyre_log_level {
  VYRE_LOG_OFF = 0,
  VYRE_LOG_ERROR = 1,   /* something that was asked for failed */
  VYRE_LOG_WARNING = 2, /* it works, but hardly as the user wants it */
  VYRE_LOG_INFO = 3,    /* a choice that the user may want to know of */
  VYRE_LOG_DEBUG = 4,   /* each step */
  VYRE_LOG_TRACE = 5    /* each call */
} vyre_log_level;

typedef struct vyre_log vyre_log;

/* Receives one message. |subsystem| ("loader", "cpu_ref") and |text| are borrowed for the call; the text has no
 * line end. It may be called from any thread, and by several at once; the library holds no lock meanwhile.
 * It must not block for long. What it writes to the same log is dropped. */
typedef void (*vyre_log_fn)(void *ctx, vyre_log_level level, const char *subsystem, const char *text);

/* Makes a silent log. The caller owns *out. Errors: NO_MEMORY, then *out is NULL. */
VYRE_API vyre_status vyre_log_create(vyre_log **out);
/* Removes the sink as vyre_log_set does, and frees. Not while another thread may still use the log, and not from
 * within its sink. NULL is allowed. */
VYRE_API void vyre_log_destroy(vyre_log *log);

/* Sends messages up to |level| to |fn| from now on; NULL or OFF for silence. When it returns the former sink is not
 * running and will not be called again, so its |ctx| may be freed: it waits for calls in flight.
 * Errors: REENTRANT from within a sink of this log, FORKED in a child process; then nothing has changed. */
VYRE_API vyre_status vyre_log_set(vyre_log *log, vyre_log_level level, vyre_log_fn fn, void *ctx);

/* Whether messages of |level| are wanted: ask before preparing an expensive one. False for NULL. Never blocks. */
VYRE_API bool vyre_log_wants(const vyre_log *log, vyre_log_level level);

/* Writes a message, printf-like. |log| may be NULL. Texts beyond 4095 bytes are cut. errno is left as it was. */
VYRE_API __attribute__((format(printf, 4, 5))) void vyre_log_write(vyre_log *log, vyre_log_level level,
                                                                   const char *subsystem, const char *format, ...);

/* A sink that writes each message as lines to standard error, `vyre: warning: loader: text`, with control characters
 * escaped. |ctx| is not used. */
VYRE_API void vyre_log_stderr(void *ctx, vyre_log_level level, const char *subsystem, const char *text);

/* "warning"; "" for a number that is no level. Static storage. */
VYRE_API const char *vyre_log_level_name(vyre_log_level level);

#ifdef __cplusplus
}
#endif
#endif
