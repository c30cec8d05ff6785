/* What a check of the conformance kit works with: the plugin under test beside the oracle, a way to run one program on
 * both and compare every bit, and the words in which it tells what it found.
 *
 * A check is a function of one argument, listed once in checks.def. It runs in a process of its own, on one thread at
 * its start, under a time limit: whatever the plugin does there (abort, crash, hang, exit) becomes the verdict of that
 * check alone. So a check needs no care for the plugin's misdeeds, frees what it likes to free, and may hold static
 * state.
 *
 * The first kit_fail decides the verdict; a check may go on and fail more often, and the report has the first few. A
 * check that neither fails nor skips has passed. */
#ifndef VYRE_TOOLS_CONFORM_KIT_H
#define VYRE_TOOLS_CONFORM_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/ir.h>

/* Raised with every check that is added or made stricter: what vyre_capabilities.conformance of a plugin means. */
#define KIT_VERSION 1u

/* What a run of the kit was asked for. */
typedef struct kit_settings {
  const char *plugin; /* absolute path of the file */
  const char *name;   /* of the backend, from the file's name; "" where that is no plugin's name */
  const char *oracle; /* absolute path of cpu_ref */
  const char *config; /* settings file for the plugin, or NULL: none, and no environment */
  const char *report; /* --report, or NULL: counterexamples are saved beside it */
  uint32_t device;    /* number of the device under test */
  uint64_t seed;
  uint64_t budget_ns; /* for the random checks together */
  uint64_t limit_ns;  /* for one check, beyond that */
} kit_settings;

typedef struct kit_outcome kit_outcome;

typedef struct kit {
  const kit_settings *settings;
  const char *check; /* id of the check that runs */
  /* Open in the groups numeric and random. All three have the settings' defaults, and no disk cache. */
  vyre_device *device;           /* under test */
  vyre_device *oracle;           /* cpu_ref */
  vyre_device *reversed;         /* cpu_ref that steps lanes in the other order */
  const vyre_capabilities *caps; /* of |device| */
  uint64_t random;               /* state of kit_random: from the seed and the check's id */
  kit_outcome *outcome;
} kit;

/* ---- What was found -------------------------------------------------------------------------- */

/* The check has failed: what was wanted, what was found, where; a plugin's rule as (VBP-n). One or more lines. Always
 * false, for `return kit_fail(...)`. */
__attribute__((format(printf, 2, 3))) bool kit_fail(kit *k, const char *format, ...);
/* The check does not apply: the capability that is not claimed. Always false. */
__attribute__((format(printf, 2, 3))) bool kit_skip(kit *k, const char *format, ...);
/* Something that the report should have beside the verdict, such as a count. */
__attribute__((format(printf, 2, 3))) void kit_note(kit *k, const char *format, ...);
/* What is being done, so that a crash or a hang can be told with it. Cheap: call it before each step. */
__attribute__((format(printf, 2, 3))) void kit_doing(kit *k, const char *format, ...);
/* Whether the check has failed or was skipped. */
bool kit_is_over(const kit *k);
/* Whether kit_fail was called so often that more would not be shown. */
bool kit_is_full(const kit *k);
/* Ends the check here and now, from any depth: what it said so far is its verdict. For a device that does not come
 * back. */
_Noreturn void kit_end(kit *k);
/* Counts programs that were run or compiled, for the report. */
void kit_count_programs(kit *k, uint64_t programs);

/* The next 64 random bits; the same sequence for the same seed and check, whatever else runs. */
uint64_t kit_random(kit *k);
/* Monotonic. */
uint64_t kit_now_ns(void);
/* Saves a counterexample beside the report, if there is one: REPORT.CHECK.SUFFIX. */
void kit_save(kit *k, const char *suffix, const void *bytes, uint64_t count);

/* ---- Running a program ----------------------------------------------------------------------- */

/* What is bound to one buffer of the program. Every binding lies in a buffer of its own between guards that nothing may
 * touch; of two neighbours one begins at offset 0 of its buffer and one behind it, so that views are tried as well. */
typedef struct kit_buffer {
  const char *name;
  const void *in; /* |elements| elements as they lie in memory; NULL: zero */
  uint64_t elements;
  uint64_t shift; /* further multiples of binding_alignment in front */
  /* Where the length comes from the device (device_length): the count that is there and its width, 32 or 64. */
  uint32_t length_bits;
  uint64_t length;
} kit_buffer;

typedef struct kit_case kit_case;
struct kit_case {
  const char *name;       /* what is tried, for messages: "add u32" */
  const char *text;       /* the program, or */
  vyre_program *program;  /* the program */
  const vyre_arg *params; /* by vyre_arg_u32 and the like */
  uint32_t param_count;
  uint32_t buffer_count;
  const kit_buffer *buffers;            /* every buffer that the program binds */
  uint64_t grid[3];                     /* workgroups; all 0: what covers the longest written buffer */
  const vyre_compile_options *compile;  /* or NULL */
  uint64_t time_budget_ns, work_budget; /* of should_stop; 0 for none */
  uint64_t timeout_ns;                  /* 0: 60 s */
  /* Which element of an input belongs to element |element| of an output, for messages; NULL: the one of that number.
   * UINT64_MAX for none. */
  uint64_t (*input_of)(const kit_case *c, uint32_t buffer, uint64_t element);
  const void *ctx; /* for input_of */
  uint32_t ignore; /* KIT_IGNORE_* */
};
enum {
  KIT_IGNORE_PRINTS = 1u << 0, /* printed records are not compared */
  KIT_IGNORE_MASKED = 1u << 1  /* counts of masked accesses are not compared */
};

/* What one run gave. */
typedef struct kit_result {
  vyre_status status; /* of compiling, binding or running */
  vyre_error error;   /* with a status other than OK */
  bool is_compiled;
  uint32_t buffer_count;
  uint8_t **data; /* by buffer of the case: its elements afterwards; NULL unless the status is OK */
  vyre_completion completion;
  vyre_launch_report report;
  char *prints; /* sorted lines "x,y,z: text", "" for none; NULL unless the run ended */
} kit_result;

/* Runs a case on a device. False if the kit itself could not do it, or the device touched what it must not; kit_fail
 * has been called then. Free in any case. */
bool kit_run(kit *k, vyre_device *on, const kit_case *c, kit_result *out);
void kit_result_free(kit_result *r);

/* Runs a case on the device under test and, with the subgroup size that this one reports, on the oracle; compares
 * status, every written buffer bit by bit (a NaN equals any NaN), guards, number of traps (one trap: its code and
 * invocation too), prints and masked accesses where they are counted (of loads no more than the oracle's: one whose
 * value is not used need not be made). A program that both refuse is a failure. False if they differ, with one kit_fail
 * that names case, buffer, element, both values and inputs. */
bool kit_compare(kit *k, const kit_case *c);
/* The same against the oracle with reversed lanes. */
bool kit_compare_reversed(kit *k, const kit_case *c);
/* Compares two results of a case, as kit_compare does. */
bool kit_compare_results(kit *k, const kit_case *c, const kit_result *found, const kit_result *wanted);

/* Parses a program; NULL with a kit_fail, since the kit's own programs parse. */
vyre_program *kit_parse(kit *k, const char *text);

/* Hands a program to the plugin itself, past what libvyre would refuse for it: lowered for the opcodes that its
 * descriptor lists, as if the device had every capability. Gives what lowering, compile or executable_load answered;
 * the error says which. For checking that what is not claimed is refused. */
vyre_status kit_plugin_compile(kit *k, const vyre_program *program, const vyre_compile_options *options,
                               vyre_error *error);

/* The text of a scalar element: "7", "-0.5", with its bits where that says more. */
#define KIT_ELEMENT_BYTES 64
void kit_element_text(vyre_type type, const void *element, char text[KIT_ELEMENT_BYTES]);

#endif
