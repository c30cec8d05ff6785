/* Settings: what vyre.ini, the environment and the caller say, and who said it.
 *
 * A setting has the value of the first of these that gives one: the caller (vyre_config_set), the environment, the
 * file, the default. docs/config.md lists the settings.
 *
 * Threads: a configuration is loaded and set by one thread; after that it may be read by any number. */
#ifndef VYRE_CONFIG_H
#define VYRE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* VYRE_CONFIG_BACKENDS_PATH, VYRE_CONFIG_RUN_ULP, ... */
typedef enum vyre_config_key {
#define KEY(section, id, name, type, low, high, choices, default_text, environment, since, help) \
  VYRE_CONFIG_##section##_##id,
#include <vyre/config_keys.def>
  VYRE_CONFIG_KEY_COUNT
} vyre_config_key;

typedef enum vyre_config_type {
  VYRE_CONFIG_STRING = 0,   /* any text */
  VYRE_CONFIG_PATHS = 1,    /* absolute paths with `:` between; a leading + puts them before those of the next source */
  VYRE_CONFIG_NAMES = 2,    /* names with commas between */
  VYRE_CONFIG_INTEGER = 3,  /* decimal, or hexadecimal with 0x */
  VYRE_CONFIG_POWER = 4,    /* a power of two */
  VYRE_CONFIG_BOOL = 5,     /* true false yes no on off 1 0 */
  VYRE_CONFIG_CHOICE = 6,   /* one of a few words */
  VYRE_CONFIG_DURATION = 7, /* seconds, or with a unit: ns us ms s min h */
  VYRE_CONFIG_SIZE = 8      /* bytes, or with a unit: KiB MiB GiB TiB */
} vyre_config_type;

/* Who gave a value. */
typedef enum vyre_config_origin {
  VYRE_CONFIG_FROM_DEFAULT = 0,
  VYRE_CONFIG_FROM_FILE = 1,
  VYRE_CONFIG_FROM_ENVIRONMENT = 2,
  VYRE_CONFIG_FROM_CALL = 3
} vyre_config_origin;

/* A value and where it came from. Texts belong to the configuration, and live as long. */
typedef struct vyre_config_value {
  bool is_set;             /* false: nobody gave one and there is no default; then the rest is 0 and "" */
  vyre_config_origin origin;
  const char *source;      /* FILE: its path; ENVIRONMENT: the variable; CALL: what vyre_config_set was told; else "" */
  uint32_t line;           /* FILE: the line, from 1; else 0 */
  const char *text;        /* as it was written */
  uint64_t number;         /* INTEGER, POWER; BOOL 0 or 1; CHOICE: the word's number; DURATION: ns; SIZE: bytes */
  const char *const *list; /* PATHS, NAMES */
  uint32_t count;          /* of list */
} vyre_config_value;

/* What a setting is. Static storage. */
typedef struct vyre_config_key_info {
  const char *section, *name;
  const char *environment; /* the variable that sets it */
  vyre_config_type type;
  uint64_t low, high;      /* least and greatest value of a number */
  const char *choices;     /* CHOICE: its words with | between */
  const char *default_text; /* "" if it is unset by default */
  const char *since, *help;
} vyre_config_key_info;

typedef struct vyre_config vyre_config;

typedef struct vyre_config_options {
  uint32_t size;         /* sizeof(vyre_config_options) */
  bool no_file;          /* read no file */
  bool no_environment;   /* look at no environment variable */
  const char *path;      /* the file; NULL to search for vyre.ini */
} vyre_config_options;

#define VYRE_CONFIG_MAX_FILE_BYTES (1u << 20)

/* Reads the settings. |options| may be NULL. The file is the first that there is of: options->path; the file that
 * VYRE_CONFIG names (empty: no file); $XDG_CONFIG_HOME/vyre/vyre.ini, or ~/.config/vyre/vyre.ini without that
 * variable; vyre.ini of the installation, which is looked for from where the library lies, then as configured.
 * A process with more rights than its user ignores the environment.
 * Nothing is printed: what is odd but no error is asked for with vyre_config_warning. The caller owns *out.
 * Blocks for file access. Errors, with file and line or variable in the record, then *out is NULL:
 * INVALID_CONFIG (a bad value, syntax, bytes that are not UTF-8 text), NOT_FOUND (a named file is not there),
 * INVALID_FILE (not a regular file), LIMIT (larger than VYRE_CONFIG_MAX_FILE_BYTES), IO, DENIED, NO_MEMORY,
 * INVALID_ARGUMENT (options of another size). */
VYRE_API vyre_status vyre_config_load(const vyre_config_options *options, vyre_config **out, vyre_error *error);
/* NULL is allowed. */
VYRE_API void vyre_config_destroy(vyre_config *config);

/* Gives a setting a value that wins over every other source, as a command line option does. |text| is written as in
 * the file; |source| names the origin for messages ("--ulp"), NULL for "the call". Both are copied.
 * Errors: INVALID_CONFIG (a bad value), INVALID_ARGUMENT (no such key), NO_MEMORY; then nothing has changed. */
VYRE_API vyre_status vyre_config_set(vyre_config *config, vyre_config_key key, const char *text, const char *source,
                                     vyre_error *error);

/* The value of a setting. |key| is one of the enumeration. */
VYRE_API void vyre_config_get(const vyre_config *config, vyre_config_key key, vyre_config_value *out);

/* What a setting is; NULL for a number that is none. Any thread. */
VYRE_API const vyre_config_key_info *vyre_config_describe(vyre_config_key key);
/* The setting called "section.name"; false if there is none. Any thread. */
VYRE_API bool vyre_config_find(const char *name, vyre_config_key *out);

/* The file that was read, "" if none. */
VYRE_API const char *vyre_config_file(const vyre_config *config);
/* What is odd but no error, in order: unknown names (with the name that may have been meant), keys given twice, a
 * file that can not be read, an environment that is ignored. NULL beyond the last. */
VYRE_API const char *vyre_config_warning(const vyre_config *config, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
