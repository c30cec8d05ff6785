/* The inside of vyre/config.h: the pieces that one load is made of. */
#ifndef VYRE_BASE_CONFIG_H
#define VYRE_BASE_CONFIG_H

#include <vyre/config.h>

#include "base/arena.h"
#include "base/vector.h"

enum {
  VYRE_CONFIG_MAX_WARNINGS = 20,
  VYRE_CONFIG_MAX_BACKEND_KEYS = 256 /* of all plugins together, in a file */
};

/* A line below [backend NAME]. */
typedef struct vyre_config_backend_value {
  const char *backend, *key, *text;
  uint32_t line;
} vyre_config_backend_value;

struct vyre_config {
  vyre_arena texts;
  const char *file;
  VYRE_VECTOR(const char *) warnings;
  vyre_config_value values[VYRE_CONFIG_KEY_COUNT];
  VYRE_VECTOR(vyre_config_backend_value) backend_values;
  VYRE_VECTOR(const char *) backend_variables; /* VYRE_BACKEND_NAME_KEY=VALUE, as they are */
};

/* Where a text stands that is being read. */
typedef struct vyre_config_place {
  vyre_config_origin origin;
  const char *source; /* in the configuration's arena or static */
  uint32_t line;
} vyre_config_place;

typedef struct vyre_config_section {
  const char *name, *help;
} vyre_config_section;

/* The sections in the table's order; NULL beyond the last. */
const vyre_config_section *vyre_config_section_at(uint32_t index);
/* The setting |name| of |section|; false if there is none. */
bool vyre_config_find_in(const char *section, const char *name, vyre_config_key *out);

/* Reads |text| as the value of |key| and keeps it. Lists that a file gives in several lines are joined. */
vyre_status vyre_config_take(vyre_config *config, vyre_config_key key, const char *text, vyre_config_place place,
                             vyre_error *error);
/* What a setting takes, for people: "an integer from 0 to 7". At most |capacity| bytes with the NUL. */
void vyre_config_wanted(const vyre_config_key_info *info, char *text, uint32_t capacity);

/* config_backend.c: settings of plugins that the table does not know. The NAME of the section "backend NAME", NULL for
 * another section; whether a text may be a NAME. */
const char *vyre_config_backend_of(const char *section);
bool vyre_config_is_backend(const char *name);
/* What the file says, NULL if nothing. */
vyre_config_backend_value *vyre_config_backend_find(const vyre_config *config, const char *backend, const char *key);
/* Keep a line of the file, in place of an earlier one; a variable. False without memory. */
bool vyre_config_backend_keep(vyre_config *config, const char *backend, const char *key, const char *text,
                              uint32_t line);
bool vyre_config_backend_is_variable(const char *entry);
bool vyre_config_backend_keep_variable(vyre_config *config, const char *entry);
/* The text of a setting: of the environment, then of the file. NULL if nobody gives one. As long as the configuration. */
const char *vyre_config_backend_get(const vyre_config *config, const char *backend, const char *key);

/* Finds, reads and takes the file. */
vyre_status vyre_config_read_file(vyre_config *config, const vyre_config_options *options, vyre_error *error);
/* Takes the text of a file. |path| is in the arena or static. It is what the fuzzer drives. */
vyre_status vyre_config_read_text(vyre_config *config, const char *path, const char *text, size_t bytes,
                                  vyre_error *error);

/* Keeps a warning; false without memory. Beyond the limit one says that there are more. */
__attribute__((format(printf, 2, 3))) bool vyre_config_warn(vyre_config *config, const char *format, ...);

#endif
