/* The one disk cache. Plugins reach it through the services cache_get and cache_put of their host and open no cache
 * file themselves.
 *
 * It only ever saves time: whatever is wrong with an entry or with the directory is a miss, and at most one line of
 * log. Nothing stays open between calls and no lock is held, so any number of threads and processes may use one
 * directory, and a fork harms nothing: an entry is written beside its place under a name of its own and renamed, and
 * a reader believes no byte of it before its checksum and its key agree.
 *
 * The directory is the setting cache.directory, else vyre/pipelines in $XDG_CACHE_HOME or ~/.cache. It belongs to the
 * user alone, and so does every file in it. */
#ifndef VYRE_BACKEND_CACHE_H
#define VYRE_BACKEND_CACHE_H

#include <stdatomic.h>

#include <vyre/backend.h>
#include <vyre/config.h>
#include <vyre/log.h>

#include "base/digest.h"

enum {
  VYRE_CACHE_MAX_BYTES = 64 << 20, /* of an entry's data */
  VYRE_CACHE_NAME_BYTES = 2 * VYRE_DIGEST_BYTES + sizeof ".bin"
};

typedef struct vyre_cache {
  const vyre_config *config;
  vyre_log *log;
  _Atomic uint64_t room; /* bytes that may be written before the directory is measured again */
  atomic_bool off;       /* it can't be written: no further try */
  atomic_bool told;      /* the one line about that */
} vyre_cache;

/* What an entry is, and who made it. Both stand in the entry; a difference in either is a miss. */
typedef struct vyre_cache_id {
  uint8_t key[VYRE_DIGEST_BYTES];   /* also the file's name */
  uint8_t owner[VYRE_DIGEST_BYTES]; /* library, plugin, and the driver for machine code */
} vyre_cache_id;

/* cache.c. Both are borrowed for as long as the cache is used; |log| may be NULL. There is nothing to end. */
void vyre_cache_init(vyre_cache *cache, const vyre_config *config, vyre_log *log);
/* The data of an entry; the caller frees it with free(). NOT_FOUND, and NULL, for anything else. */
vyre_status vyre_cache_get(vyre_cache *cache, const vyre_cache_id *id, void **data, uint64_t *bytes);
/* Keeps a copy. Errors: UNSUPPORTED (it is off), LIMIT (too large for it), IO, NO_MEMORY; the old entry may be there
 * or not after one. */
vyre_status vyre_cache_put(vyre_cache *cache, const vyre_cache_id *id, const void *data, uint64_t bytes);

/* cache_key.c */
/* For what a plugin keeps under a key of its own: the plugin's name and build and this library belong to it. */
void vyre_cache_id_of(const vyre_backend_desc *plugin, const void *key, uint64_t key_bytes, vyre_cache_id *out);
/* For an executable: everything that can change what compile and finalize answer. */
void vyre_cache_id_of_executable(const vyre_backend_desc *plugin, const vyre_capabilities *target,
                                 const vyre_compile_request *request, vyre_cache_id *out);

/* cache_frame.c: how an entry is written.
 *
 *    0  "VPC0"
 *    4  u16 schema, 2
 *    6  key, 32 bytes
 *   38  owner, 32 bytes
 *   70  u64 length of the data
 *   78  the data
 *   ..  BLAKE2b-256 of all that, 32 bytes
 *
 * Numbers are little endian. Schema 1 has the data at 6 and neither key nor owner nor length; it is read, not
 * written, and its file's name alone says what it is. */
enum {
  VYRE_CACHE_HEAD_BYTES = 78,
  VYRE_CACHE_FOOT_BYTES = VYRE_DIGEST_BYTES,
  VYRE_CACHE_MIN_FILE = 6 + VYRE_CACHE_FOOT_BYTES,
  VYRE_CACHE_MAX_FILE = VYRE_CACHE_HEAD_BYTES + VYRE_CACHE_MAX_BYTES + VYRE_CACHE_FOOT_BYTES
};
void vyre_cache_frame_wrap(const vyre_cache_id *id, const void *data, uint64_t bytes,
                           uint8_t head[VYRE_CACHE_HEAD_BYTES], uint8_t foot[VYRE_CACHE_FOOT_BYTES]);
/* Finds the data in |frame|, which may be any bytes. Gives NULL, or what is wrong with it. */
const char *vyre_cache_frame_open(const uint8_t *frame, uint64_t frame_bytes, const vyre_cache_id *id,
                                  const uint8_t **data, uint64_t *bytes);

/* cache_directory.c */
/* The directory, made if |create| is set; -1 with errno. *path, for messages, is the caller's to free and may be
 * NULL: EINVAL then says that no place is known. ENOTDIR, ELOOP and EPERM stand for a place that is not safe. */
int vyre_cache_directory_open(const vyre_config *config, bool create, char **path);
/* "<hex of the key>.bin" */
void vyre_cache_name(const uint8_t key[VYRE_DIGEST_BYTES], char out[VYRE_CACHE_NAME_BYTES]);
/* A name for a file that is being written, which no other has. False if there is no randomness. */
bool vyre_cache_temporary_name(char out[VYRE_CACHE_NAME_BYTES]);
/* What an entry of |bytes| counts for: whole blocks. */
uint64_t vyre_cache_charge(uint64_t bytes);
/* Adds up the entries and, where they are more than |limit| bytes, removes the oldest until there is some room, and
 * leftovers of writers that died. Gives the bytes that are left; UINT64_MAX if the directory can't be read. */
uint64_t vyre_cache_trim(int directory, uint64_t limit);

#endif
