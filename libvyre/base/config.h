/* The inside of vyre/config.h: the pieces that one load is made of. */
#ifndef VYRE_BASE_CONFIG_H
#define VYRE_BASE_CONFIG_H

#include <vyre/config.h>

#include "base/arena.h"
#include "base/vector.h"

enum { VYRE_CONFIG_MAX_WARNINGS = 20 };

struct vyre_config {
  vyre_arena texts;
  const char *file;
  VYRE_VECTOR(const char *) warnings;
  vyre_config_value values[VYRE_CONFIG_KEY_COUNT];
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

/* Finds, reads and takes the file. */
vyre_status vyre_config_read_file(vyre_config *config, const vyre_config_options *options, vyre_error *error);
/* Takes the text of a file. |path| is in the arena or static. It is what the fuzzer drives. */
vyre_status vyre_config_read_text(vyre_config *config, const char *path, const char *text, size_t bytes,
                                  vyre_error *error);

/* Keeps a warning; false without memory. Beyond the limit one says that there are more. */
__attribute__((format(printf, 2, 3))) bool vyre_config_warn(vyre_config *config, const char *format, ...);

#endif
