/* The least that a peer is: it adds two f32 arrays on one thread. The test of the protocol speaks to it. */
#include "peers/peer.h"

#include <string.h>

static const peer_array *a, *b, *o;
static float out[1024];
static double bias;

static const char *prepare(const peer_work *work, peer_identity *identity) {
  *identity = (peer_identity){"adding\tpeer", "1", "by make\n", "", "a loop", peer_cpu(), "cpu", 0, 1};
  if (peer_is_probe(work)) return NULL;
  if (strcmp(work->id, "elementwise.add")) return peer_reason("there is no \"%s\"", work->id);
  a = peer_find(work, "a");
  b = peer_find(work, "b");
  o = peer_find(work, "o");
  if (!peer_buffer_sets(work, 4)) return "buffer_sets is not 1 to 4";
  bias = peer_value_or(work, "bias", 0);
  identity->bytes = 3 * o->bytes;
  return o->count > 1024 || a->count < o->count || b->count < o->count ? "the arrays do not fit" : NULL;
}

static const char *sample(peer_clock clock, uint32_t launches, peer_times *times) {
  if (clock == PEER_DEVICE) return "there is no such clock";
  double start = peer_now();
  for (uint32_t l = 0; l < launches; l++)
    for (uint64_t i = 0; o && i < o->count; i++)
      out[i] = ((const float *)a->host)[i] + ((const float *)b->host)[i] + (float)bias;
  times->wall_ns = (peer_now() - start) / launches;
  return NULL;
}

static const char *output(void) {
  if (o) memcpy(o->host, out, o->bytes);
  return NULL;
}

static const char *poison(void) {
  memset(out, 0xA5, sizeof out);
  return NULL;
}

int main(void) {
  return peer_main(&(peer_program){prepare, sample, output, poison});
}
