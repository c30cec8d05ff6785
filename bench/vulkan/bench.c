/* vyre's Vulkan backend beside GLSL and bare Vulkan, on the same driver. No test depends on what it says.
 *
 * usage: vulkan_bench [kernels|submit|start|all] [NAME...] [--seconds S]
 *
 * kernels  the same kernels by hand in GLSL: times, ratios with checks of indices and without; outputs are compared bit
 *          by bit, before and after what is timed
 * submit   a prepared launch that does nearly nothing, beside a command buffer that was recorded before
 * start    a program's first start and later ones, with what the caches say
 *
 * --seconds is for each table row (default 2). Ratios are vyre over peer: below 1, vyre is faster. Exit status: 0; 1 if
 * outputs differ or something fails; 2 for wrong usage; 77 if there is no Vulkan device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/contest.h"

enum { MOST_NAMES = 16 };

typedef struct request {
  const char *command, *names[MOST_NAMES];
  int name_count;
  double seconds;
} request;

int contest_complain(const char *what, const char *why) {
  fprintf(stderr, "vulkan_bench: %s: %s\n", what, why);
  return 1;
}

static int usage(void) {
  fputs("usage: vulkan_bench [kernels|submit|start|all] [NAME...] [--seconds S]\n", stderr);
  return 2;
}

static bool read_seconds(const char *text, double *seconds) {
  char *end;
  if (!text) return false;
  *seconds = strtod(text, &end);
  return end != text && *end == 0 && *seconds > 0 && *seconds <= 3600;
}

static bool read_arguments(int argc, char **argv, request *out) {
  *out = (request){.command = argc > 1 && argv[1][0] != '-' ? argv[1] : "all", .seconds = 2};
  for (int i = argc > 1 && argv[1][0] != '-' ? 2 : 1; i < argc; i++) {
    if (strcmp(argv[i], "--seconds") == 0) {
      if (!read_seconds(argv[++i], &out->seconds)) return false;
    } else if (argv[i][0] == '-' || out->name_count == MOST_NAMES) {
      return false;
    } else {
      out->names[out->name_count++] = argv[i];
    }
  }
  return true;
}

/* Both sides on the same device, or it is no comparison. */
static const char *open_both(vyre_side *side) {
  const char *fault = vyre_side_open(NULL, NULL, side);
  if (!fault) fault = vk_open(128);
  if (fault) return fault;
  const char *name = vyre_device_capabilities(side->device)->name;
  if (strcmp(name, vk.properties.deviceName) == 0) return NULL;
  return peer_reason("vyre took %s and the peer %s. Fix: name one driver in VK_DRIVER_FILES", name,
                     vk.properties.deviceName);
}

static int run(const request *r) {
  const bool all = strcmp(r->command, "all") == 0;
  vyre_side side;
  int status = 0;
  const char *fault = open_both(&side);
  if (fault) {
    contest_complain("device", fault);
    status = side.device ? 1 : 77;
    vyre_side_close(&side);
    return status;
  }
  if (all || strcmp(r->command, "kernels") == 0)
    status |= contest_run_kernels(&side, r->names, r->name_count, r->seconds);
  if (all) putchar('\n');
  if (all || strcmp(r->command, "submit") == 0) status |= contest_run_submit(&side, r->seconds);
  vyre_side_close(&side);
  if (all) putchar('\n');
  return all || strcmp(r->command, "start") == 0 ? status | contest_run_start() : status;
}

int main(int argc, char **argv) {
  request r;
  static const char *const commands[] = {"kernels", "submit", "start", "all"};
  if (argc == 3 && strcmp(argv[1], "start-once") == 0) return contest_start_once(argv[2]);
  if (!read_arguments(argc, argv, &r)) return usage();
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(r.command, commands[i]) == 0) return run(&r);
  return usage();
}
