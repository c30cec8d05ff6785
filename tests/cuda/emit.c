/* Programs as files of PTX, many in each, for ptxas: those in FILEs and random ones.
 *
 *   emit --out PREFIX [--sm N] [--level N] [--memory] [--from SEED --count N] [--one] [FILE.vyre...]
 *
 * Prints the names of the files, and to stderr what was refused. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "tests/cuda/modules.h"
#include "tests/gen/random_program.h"

enum { TOGETHER = 24, TEXT_ROOM = 1 << 20 };

typedef struct run {
  module_options options;
  module_batch batch;
  const char *out;
  uint32_t files, refused, together;
} run;

static void flush(run *r) {
  char path[4096];
  if (r->batch.count == 0) return;
  snprintf(path, sizeof path, "%s%u.ptx", r->out, r->files++);
  if (!module_write(&r->batch, path)) {
    fprintf(stderr, "%s can't be written. Fix: name another place\n", path);
    exit(2);
  }
  puts(path);
}

static void take(run *r, const char *name, const vyre_program *program) {
  vyre_error error = VYRE_ERROR_INIT;
  gpu_bytes text = { 0 };
  ptx_facts facts;
  if (module_of(program, &r->options, &text, &facts, NULL, &error) == VYRE_OK) {
    module_join(&r->batch, (const char *)text.data, &facts);
  } else {
    fprintf(stderr, "%s: refused: %s\n", name, error.text);
    r->refused++;
  }
  gpu_bytes_free(&text);
  if (r->batch.count >= r->together) flush(r);
}

static void take_file(run *r, const char *path) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  char *text = calloc(1, TEXT_ROOM);
  FILE *file = fopen(path, "r");
  size_t bytes = file != NULL && text != NULL ? fread(text, 1, TEXT_ROOM - 1, file) : 0;
  if (file != NULL) fclose(file);
  if (vyre_text_parse(text, bytes, NULL, NULL, &program, &error) != VYRE_OK) {
    fprintf(stderr, "%s: %s\n", path, error.text);
    exit(2);
  }
  take(r, path, program);
  vyre_program_release(program);
  free(text);
}

static void take_seed(run *r, uint64_t seed) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_program *program;
  char name[32];
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  if (random_program(seed, NULL, NULL, &program, &error) != VYRE_OK) {
    fprintf(stderr, "%s: %s\n", name, error.text);
    exit(2);
  }
  take(r, name, program);
  vyre_program_release(program);
}

int main(int argc, char **argv) {
  static const struct option options[] = { { "out", 1, 0, 'o' },  { "sm", 1, 0, 's' },    { "level", 1, 0, 'l' },
                                           { "memory", 0, 0, 'm' }, { "from", 1, 0, 'f' }, { "count", 1, 0, 'c' },
                                           { "one", 0, 0, '1' },  { 0, 0, 0, 0 } };
  run r = { .options = { .level = 2, .target = { .sm = 90 } }, .out = "module-", .together = TOGETHER };
  r.options.target.shared_limit = 227 * 1024;
  uint64_t from = 1, count = 0;
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) switch (o) {
    case 'o': r.out = optarg; break;
    case 's': r.options.target.sm = (uint32_t)atoi(optarg); break;
    case 'l': r.options.level = (uint32_t)atoi(optarg); break;
    case 'm': r.options.target.flags |= PTX_BLOCK_IN_MEMORY; break;
    case 'f': from = strtoull(optarg, NULL, 10); break;
    case 'c': count = strtoull(optarg, NULL, 10); break;
    case '1': r.together = 1; break;
    default: return 2;
  }
  for (int i = optind; i < argc; i++) take_file(&r, argv[i]);
  for (uint64_t i = 0; i < count; i++) take_seed(&r, from + i);
  flush(&r);
  fprintf(stderr, "%u refused\n", r.refused);
  return 0;
}
