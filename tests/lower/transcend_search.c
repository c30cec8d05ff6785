/* Tries all 2^32 inputs of what transcendentals are lowered to, in all forms: `make check-transcend`.
 *
 *   transcend_search [-j threads] [-e every] [function ...]
 *
 * Kernels are run by the batch interpreter, and each result is compared with the oracle's, which has code of its own
 * that was compared with MPFR over all inputs. -e 1009 takes every 1009th input. A line a function goes to stdout, and
 * is kept in transcend.golden: name, digest of all correctly rounded results, and by how many f32 the form of f32 is
 * wrong at most. What is wrong, or farther away than the table says, goes to stderr, and the exit status is 1 then. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../plugins/cpu_ref/transcend.h"
#include "batch.h"
#include "transcend_kernel.h"

enum { PIECE = 1 << 16, SHOWN = 20 }; /* inputs that a thread takes at a time; wrong ones that are told */

typedef struct search {
  const transcend_function *function;
  void *kernels[FORMS];
  uint64_t every;
  _Atomic uint64_t next;
  _Atomic uint64_t wrong[FORMS];
  _Atomic uint32_t farthest; /* of the f32 form, in f32 */
  _Atomic uint64_t digest;
} search;

/* Of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators). The sum over all inputs does
 * not depend on their order. */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

static void note_wrong(search *s, transcend_form form, uint32_t input, uint32_t got, uint32_t want) {
  if (atomic_fetch_add(&s->wrong[form], 1) >= SHOWN) return;
  fprintf(stderr, "wrong: %s %s(0x%08" PRIX32 ") is 0x%08" PRIX32 ", not 0x%08" PRIX32 "\n",
          transcend_form_names[form], s->function->name, input, got, want);
}

static void run_lanes(search *s, batch *const b[FORMS], const uint32_t input[BATCH_LANES], int used) {
  uint32_t output[FORMS][BATCH_LANES], farthest = 0, bound = transcend_bound(s->function->op);
  uint64_t digest = 0;
  for (int form = 0; form < FORMS; form++) batch_run(b[form], input, output[form]);
  for (int k = 0; k < used; k++) {
    uint32_t want = cpu_math_f32(s->function->op, input[k]);
    digest += mix((uint64_t)input[k] << 32 | output[FORM_PAIR][k]);
    for (int form = 0; form < FORM_F32; form++)
      if (output[form][k] != want) note_wrong(s, (transcend_form)form, input[k], output[form][k], want);
    uint32_t distance = transcend_distance(output[FORM_F32][k], want);
    if (distance > bound) note_wrong(s, FORM_F32, input[k], output[FORM_F32][k], want);
    if (distance > farthest) farthest = distance;
  }
  uint32_t before = s->farthest;
  while (farthest > before && !atomic_compare_exchange_weak(&s->farthest, &before, farthest)) continue;
  atomic_fetch_add(&s->digest, digest);
}

static void *work(void *arg) {
  search *s = arg;
  batch *b[FORMS];
  for (int form = 0; form < FORMS; form++) {
    uint32_t unknown;
    b[form] = batch_new(s->kernels[form], &unknown);
    if (b[form] != NULL) continue;
    fprintf(stderr, "%s: opcode 0x%03X is not known to the batch interpreter\n", s->function->name, unknown);
    exit(1);
  }
  uint64_t count = (UINT32_MAX + s->every) / s->every;
  for (uint64_t at; (at = atomic_fetch_add(&s->next, PIECE)) < count;) {
    for (uint64_t end = at + PIECE < count ? at + PIECE : count; at < end; at += BATCH_LANES) {
      uint32_t input[BATCH_LANES];
      for (uint64_t k = 0; k < BATCH_LANES; k++) input[k] = (uint32_t)((at + k) * s->every);
      run_lanes(s, b, input, end - at < BATCH_LANES ? (int)(end - at) : BATCH_LANES);
    }
  }
  for (int form = 0; form < FORMS; form++) batch_free(b[form]);
  return NULL;
}

/* True if every result is right. */
static bool try_function(const transcend_function *f, long threads, uint64_t every) {
  search s = { .function = f, .every = every };
  for (int form = 0; form < FORMS; form++)
    s.kernels[form] = transcend_kernel(f->name, (transcend_form)form, form == FORM_F32 ? UINT16_MAX : 0);
  pthread_t *others = calloc((size_t)threads, sizeof *others);
  long started = 0;
  while (others != NULL && started < threads - 1 && pthread_create(&others[started], NULL, work, &s) == 0) started++;
  work(&s);
  while (started > 0) pthread_join(others[--started], NULL);
  free(others);
  printf("%s %016" PRIx64 " %" PRIu32 "\n", f->name, (uint64_t)s.digest, s.farthest);
  fflush(stdout);
  bool good = true;
  for (int form = 0; form < FORMS; form++) {
    free(s.kernels[form]);
    if (s.wrong[form] == 0) continue;
    fprintf(stderr, "%s: %" PRIu64 " wrong in the %s form\n", f->name, (uint64_t)s.wrong[form],
            transcend_form_names[form]);
    good = false;
  }
  return good;
}

static bool is_wanted(const char *name, char *const *names) {
  if (*names == NULL) return true;
  for (; *names != NULL; names++)
    if (strcmp(*names, name) == 0) return true;
  return false;
}

int main(int argc, char **argv) {
  long threads = sysconf(_SC_NPROCESSORS_ONLN), every = 1;
  for (int option; (option = getopt(argc, argv, "j:e:")) != -1;) {
    if (option == 'j') threads = strtol(optarg, NULL, 10);
    else if (option == 'e') every = strtol(optarg, NULL, 10);
    else return 2;
  }
  if (threads < 1 || threads > 4096 || every < 1 || every > 1 << 30) {
    fprintf(stderr, "transcend_search: -j takes 1 to 4096, -e 1 to 2^30\n");
    return 2;
  }
  bool good = true;
  for (int i = 0; i < TRANSCEND_FUNCTIONS; i++)
    if (is_wanted(transcend_functions[i].name, argv + optind))
      good &= try_function(&transcend_functions[i], threads, (uint64_t)every);
  return !good;
}
