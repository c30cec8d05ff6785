/* Searches all 2^32 inputs of the f32 functions for wrong rounding: `make check-transcend`. It takes CPU hours.
 *
 *   transcend [-j processes] [function ...]
 *
 * Where the C library's value lies within 2^-36 of a middle between two f32, and at every 1009th input, MPFR
 * decides. What lies within 2^-56 is printed as a row for the table in plugins/cpu_ref/transcend.c. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../plugins/cpu_ref/transcend.h"

typedef int (*exact_fn)(mpfr_t, const mpfr_t, mpfr_rnd_t);
static const struct function {
  const char *name, *op_name;
  vyre_op op;
  exact_fn exact;
  long double (*wide)(long double);
} functions[] = {
#define X(name, NAME) { #name, "VYRE_OP_" #NAME, VYRE_OP_##NAME, mpfr_##name, name##l },
  X(exp, EXP) X(exp2, EXP2) X(log, LOG) X(log2, LOG2) X(sin, SIN) X(cos, COS) X(tan, TAN)
  X(asin, ASIN) X(acos, ACOS) X(atan, ATAN) X(sinh, SINH) X(cosh, COSH) X(tanh, TANH)
#undef X
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static float value_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? 0x7FC00000 : bits;
}

static int is_near_middle(long double y, long double distance) {
  if (!isfinite(y) || y == 0) return 0;
  long double slack = fabsl(y) * distance;
  return bits_of((float)(y - slack)) != bits_of((float)(y + slack));
}

/* Number of wrong results among the inputs that are |part| modulo |parts|. */
static unsigned check_part(const struct function *f, uint32_t part, uint32_t parts) {
  unsigned wrong = 0;
  mpfr_t x, y;
  mpfr_init2(x, 24);
  mpfr_init2(y, 240);
  for (uint64_t input = part; input <= UINT32_MAX; input += parts) {
    uint32_t bits = (uint32_t)input;
    long double wide = f->wide((long double)value_of(bits));
    if (!is_near_middle(wide, 0x1p-36L) && bits % 1009 != 0) continue;
    mpfr_set_flt(x, value_of(bits), MPFR_RNDN);
    f->exact(y, x, MPFR_RNDN);
    uint32_t want = bits_of(mpfr_get_flt(y, MPFR_RNDN)), got = cpu_math_f32(f->op, bits);
    if (is_near_middle(wide, 0x1p-56L)) printf("  { %s, 0x%08X, 0x%08X },\n", f->op_name, bits, want);
    if (want == got) continue;
    wrong++;
    printf("wrong: %s(0x%08X) is 0x%08X, not 0x%08X\n", f->name, bits, want, got);
  }
  mpfr_clear(x);
  mpfr_clear(y);
  return wrong;
}

/* One process a part; true if all found nothing. */
static int check(const struct function *f, uint32_t processes) {
  int good = 1;
  for (uint32_t part = 0; part < processes; part++) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 0;
    if (child > 0) continue;
    unsigned wrong = check_part(f, part, processes);
    fflush(stdout);
    _exit(wrong != 0);
  }
  for (uint32_t part = 0; part < processes; part++) {
    int status;
    if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) good = 0;
  }
  printf("%s: %s\n", f->name, good ? "all 2^32 inputs are right" : "FAILED");
  fflush(stdout);
  return good;
}

static int is_wanted(const char *name, int argc, char **argv) {
  if (argc == 0) return 1;
  for (int i = 0; i < argc; i++) if (strcmp(argv[i], name) == 0) return 1;
  return 0;
}

int main(int argc, char **argv) {
  long processes = sysconf(_SC_NPROCESSORS_ONLN);
  int first = 1;
  if (argc > 2 && strcmp(argv[1], "-j") == 0) processes = strtol(argv[2], NULL, 10), first = 3;
  if (processes < 1 || processes > 4096) processes = 1;
  int good = 1;
  for (int i = 0; i < FUNCTIONS; i++)
    if (is_wanted(functions[i].name, argc - first, argv + first)) good &= check(&functions[i], (uint32_t)processes);
  return !good;
}
