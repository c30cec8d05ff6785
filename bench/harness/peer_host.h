/* The harness's side of the protocol of peers/peer.h. */
#ifndef VYRE_BENCH_PEER_HOST_H
#define VYRE_BENCH_PEER_HOST_H

#include "child.h"
#include "driver.h"

/* What a peer says of itself: nine fields, all in |text|. */
typedef struct bench_peer_identity {
  char text[BENCH_LINE_BYTES];
  const char *name, *version, *build, *flags, *how, *device, *kind; /* "" if it does not say */
  uint64_t bytes, parts; /* of a launch; 0 and 1 if it does not say */
} bench_peer_identity;

typedef struct bench_peer {
  bench_child child;
  bench_peer_identity who;
} bench_peer;

/* Starts the peer in |path| and gives it the work. End in any case. Errors: UNSUPPORTED with its reason if it does not
 * take the work, and those of bench_child. */
vyre_status bench_peer_begin(bench_peer *peer, const char *path, const bench_work *work, vyre_error *error);
/* UNSUPPORTED with its reason if it refuses this one. */
vyre_status bench_peer_sample(bench_peer *peer, bench_clock clock, uint32_t launches, bench_times *out,
                              vyre_error *error);
/* "output" or "poison". */
vyre_status bench_peer_do(bench_peer *peer, const char *request, vyre_error *error);
void bench_peer_end(bench_peer *peer);

#endif
