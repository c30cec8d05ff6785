/* A launch of a kernel that does nearly nothing: how long it takes until its end is known. Each side has all that can be
 * made ready before. */
#include <stdio.h>

#include "vulkan/contest.h"

enum { RUNS = 200 };

static void print_row(const char *what, const contestant *c) {
  printf("%-44s %10.0f", what, c->wall_ns);
  if (vk.cpu) printf(" %14.0f", c->processor_ns);
  putchar('\n');
}

static void print_ratio(const char *what, const contestant *own, const contestant *peer) {
  printf("%-44s %10.3f", what, own->wall_ns / peer->wall_ns);
  if (vk.cpu) printf(" %14.3f", own->processor_ns / peer->processor_ns);
  putchar('\n');
}

static const char *measure(const vyre_side *side, vyre_job *job, peer_job *peer, double seconds) {
  contestant all[] = {{vyre_job_run, job, 0, 0}, {peer_job_run, peer, 0, 0}, {peer_job_run_fence, peer, 0, 0}};
  const char *fault = vyre_job_compile(side, &contest_small, false, job);
  if (!fault) fault = peer_job_compile(&contest_small, false, peer);
  if (!fault) fault = vyre_job_bind(job, &contest_small, 1);
  if (!fault) fault = peer_job_bind(peer, &contest_small, 1);
  if (!fault) fault = contest_measure(all, 3, RUNS, seconds);
  if (fault) return fault;
  printf("%-44s %10s %14s\n", "submit and wait", "wall ns", vk.cpu ? "processor ns" : "");
  print_row("vkQueueSubmit, vkWaitSemaphores", &all[1]);
  print_row("vkQueueSubmit, vkWaitForFences", &all[2]);
  print_row("vyre_queue_submit, vyre_submission_wait", &all[0]);
  print_ratio("ratio to the semaphore", &all[0], &all[1]);
  print_ratio("ratio to the fence", &all[0], &all[2]);
  return NULL;
}

int contest_run_submit(const vyre_side *side, double seconds) {
  vyre_job job = {0};
  peer_job peer = {0};
  const char *fault = measure(side, &job, &peer, seconds);
  vyre_job_destroy(&job);
  peer_job_destroy(&peer);
  return fault ? contest_complain("submit", fault) : 0;
}
