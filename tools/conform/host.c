/* Host services of the kit. Each allocation has a header in front that tells what it is, so that a free of something
 * else, twice, or with another size is seen; and one of them can be made to fail. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"

static const uint64_t live_magic = 0x4C495645424C4F43u, dead_magic = 0x44454144424C4F43u;

typedef struct header {
  void *block; /* of malloc */
  uint64_t magic, bytes, align;
} header;

static bool is_power(uint64_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

static void misuse(raw_host *host, const char *what, uint64_t found, uint64_t wanted) {
  atomic_fetch_add(&host->misuses, 1);
  kit_fail(host->k, "%s: %" PRIu64 ", wanted %" PRIu64 " (host service, backends.md section 5)", what, found, wanted);
}

static void *host_alloc(void *ctx, uint64_t bytes, uint64_t align) {
  raw_host *host = ctx;
  uint64_t call = atomic_fetch_add(&host->calls, 1) + 1;
  if (!is_power(align)) misuse(host, "alloc with an alignment that is no power of two", align, 16);
  if (call == atomic_load(&host->fail_at)) {
    host->failed = call;
    return NULL;
  }
  if (!is_power(align) || bytes > (1ull << 40) || align > 65536) return NULL;
  uint64_t step = align < sizeof(header) ? sizeof(header) : align;
  uint8_t *block = malloc(bytes + 2 * step + sizeof(header));
  if (block == NULL) return NULL;
  uintptr_t at = ((uintptr_t)block + sizeof(header) + step - 1) & ~(uintptr_t)(step - 1);
  header *h = (header *)(at - sizeof *h);
  *h = (header){block, live_magic, bytes, align};
  memset((void *)at, 0xCD, bytes); /* "contents unspecified" */
  atomic_fetch_add(&host->blocks, 1);
  atomic_fetch_add(&host->bytes, (int64_t)bytes);
  return (void *)at;
}

static void host_free(void *ctx, void *p, uint64_t bytes) {
  raw_host *host = ctx;
  if (p == NULL) return;
  header *h = (header *)p - 1;
  if (h->magic != live_magic) {
    misuse(host, h->magic == dead_magic ? "free of what was freed before" : "free of what alloc did not give",
           (uint64_t)(uintptr_t)p, 0);
    return;
  }
  if (h->bytes != bytes) misuse(host, "free with another size than was asked for", bytes, h->bytes);
  h->magic = dead_magic;
  atomic_fetch_sub(&host->blocks, 1);
  atomic_fetch_sub(&host->bytes, (int64_t)h->bytes);
  free(h->block);
}

static void *host_realloc(void *ctx, void *p, uint64_t old_bytes, uint64_t bytes, uint64_t align) {
  void *moved = host_alloc(ctx, bytes, align);
  if (moved == NULL || p == NULL) return moved;
  memcpy(moved, p, old_bytes < bytes ? old_bytes : bytes);
  host_free(ctx, p, old_bytes);
  return moved;
}

static void host_log(void *ctx, uint32_t level, const char *subsystem, const char *text) {
  raw_host *host = ctx;
  if (level == VYRE_LOG_OFF || level > VYRE_LOG_TRACE)
    misuse(host, "log with a level that is none", level, VYRE_LOG_INFO);
  if (subsystem == NULL || text == NULL)
    misuse(host, "log without a text", 0, 1);
  else if (strchr(text, '\n') != NULL)
    misuse(host, "log of more lines than one", 2, 1);
}

/* The settings of --config, numbers plain; without it nothing is set. */
static vyre_status host_config_get(void *ctx, const char *key, char *text, uint64_t capacity, uint64_t *length) {
  const raw_host *host = ctx;
  static vyre_config *config;
  const char *file = host->k->settings->config;
  vyre_config_key number;
  vyre_config_value value = {0};
  char buffer[1024] = "";
  vyre_config_options options = {.size = sizeof options, .path = file, .no_environment = true};
  if (file != NULL && config == NULL && vyre_config_load(&options, &config, NULL) != VYRE_OK) config = NULL;
  if (config != NULL && vyre_config_find(key, &number)) vyre_config_get(config, number, &value);
  if (value.is_set && value.text != NULL && value.number == 0)
    snprintf(buffer, sizeof buffer, "%s", value.text);
  else if (value.is_set)
    snprintf(buffer, sizeof buffer, "%" PRIu64, value.number);
  *length = strlen(buffer);
  if (capacity > 0) snprintf(text, capacity, "%s", buffer);
  return value.is_set ? VYRE_OK : VYRE_ERR_NOT_FOUND;
}

static uint64_t host_now_ns(void *ctx) {
  (void)ctx;
  return kit_now_ns();
}

/* A cache that has nothing and keeps nothing. */
static vyre_status host_cache_get(void *ctx, const void *key, uint64_t key_bytes, vyre_bytes *out) {
  (void)ctx, (void)key, (void)key_bytes;
  *out = (vyre_bytes){.size = sizeof *out};
  return VYRE_ERR_NOT_FOUND;
}

static vyre_status host_cache_put(void *ctx, const void *key, uint64_t key_bytes, const void *data, uint64_t bytes) {
  (void)ctx, (void)key, (void)key_bytes, (void)data, (void)bytes;
  return VYRE_ERR_IO;
}

void raw_host_init(raw_host *host, kit *k) {
  *host = (raw_host){.k = k};
  host->services = (vyre_host){
      .size = sizeof host->services,
      .ctx = host,
      .alloc = host_alloc,
      .realloc = host_realloc,
      .free = host_free,
      .log = host_log,
      .config_get = host_config_get,
      .now_ns = host_now_ns,
      .cache_get = host_cache_get,
      .cache_put = host_cache_put,
  };
}
