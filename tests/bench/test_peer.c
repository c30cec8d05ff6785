/* The peers' side of the protocol, against lines that are right and lines that no harness would say. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "peers/divide.h"

enum { ROOM = 3 * 4096 };

static char peer_path[4096];
static char answer[65536];
static float *memory; /* of the last conversation */
static int memory_fd = -1;

static void fresh_memory(void) {
  if (memory) munmap(memory, ROOM);
  if (memory_fd >= 0) close(memory_fd);
  memory_fd = memfd_create("work", 0);
  ck_assert_int_ge(memory_fd, 0);
  ck_assert_int_eq(ftruncate(memory_fd, ROOM), 0);
  memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  ck_assert_ptr_ne(memory, MAP_FAILED);
  for (int i = 0; i < 4; i++) {
    memory[i] = (float)i;
    memory[1024 + i] = 0.5f;
  }
}

/* Says |lines| to a peer, with descriptor 3 or without, and has its whole answer in |answer|. Its exit status. */
static int talk(const char *lines, bool with_memory) {
  int to[2], from[2];
  ck_assert_int_eq(pipe(to), 0);
  ck_assert_int_eq(pipe(from), 0);
  pid_t pid = fork();
  ck_assert_int_ge(pid, 0);
  if (pid == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    if (with_memory) dup2(memory_fd, 3);
    for (int fd = with_memory ? 4 : 3; fd < 64; fd++) close(fd);
    execl(peer_path, peer_path, (char *)NULL);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  ck_assert_int_eq(write(to[1], lines, strlen(lines)), (ssize_t)strlen(lines));
  close(to[1]);
  size_t used = 0;
  ssize_t got;
  while ((got = read(from[0], answer + used, sizeof answer - 1 - used)) > 0) used += (size_t)got;
  answer[used] = '\0';
  close(from[0]);
  int status;
  ck_assert_int_eq(waitpid(pid, &status, 0), pid);
  ck_assert(WIFEXITED(status));
  return WEXITSTATUS(status);
}

#define ARRAYS "array a in f32 4 0\narray b in f32 4 4096\narray o out f32 4 8192\n"
#define WORK "case elementwise.add 4\n" ARRAYS "ready\n"

START_TEST(a_whole_conversation) {
  fresh_memory();
  ck_assert_int_eq(talk(WORK "poison\noutput\nsample resident 3\nsample device 1\nquit\n", true), 0);
  ck_assert_uint_eq(((unsigned char *)memory)[8192], 0xA5);
  ck_assert_ptr_nonnull(strstr(answer, "\ndone\ndone\ntime "));
  ck_assert_ptr_nonnull(strstr(answer, " -\nno there is no such clock\n"));

  ck_assert_int_eq(talk(WORK "sample e2e 1\noutput\n", true), 0); /* the end of its input ends it as well */
  for (int i = 0; i < 4; i++) ck_assert(memory[2048 + i] == (float)i + 0.5f);
}
END_TEST

START_TEST(what_it_says_of_itself) {
  fresh_memory();
  talk(WORK, true);
  ck_assert_int_eq(strncmp(answer, "ok adding peer\t1\tby make \t\ta loop\t", 33), 0);
  int tabs = 0;
  for (const char *c = answer; *c; c++) tabs += *c == '\t';
  ck_assert_int_eq(tabs, 8);
  ck_assert_ptr_nonnull(strstr(answer, "\tcpu\t48\t1\n"));
}
END_TEST

START_TEST(parameters) {
  fresh_memory();
  ck_assert_int_eq(talk("case elementwise.add 4\n" ARRAYS "param bias -1.25e1\nparam buffer_sets 4\nready\n"
                        "sample resident 1\noutput\n", true), 0);
  ck_assert(memory[2048] == 0.5f - 12.5f);
  talk("case elementwise.add 4\n" ARRAYS "param buffer_sets 5\nready\n", true);
  ck_assert_str_eq(answer, "no buffer_sets is not 1 to 4\n");
  talk("case elementwise.add 4\n" ARRAYS "param buffer_sets nan\nready\n", true);
  ck_assert_str_eq(answer, "no buffer_sets is not 1 to 4\n");
}
END_TEST

START_TEST(a_probe_needs_no_memory) {
  ck_assert_int_eq(talk("case probe.x 0\nready\nsample resident 1\noutput\nquit\n", false), 0);
  ck_assert_ptr_nonnull(strstr(answer, "\ndone\n"));
}
END_TEST

static const struct {
  const char *lines, *reason;
} refused[] = {
  {"", "the harness ended before it said ready"},
  {"ready\n", "there was no case before ready"},
  {"hello\n", "a line is not of the protocol"},
  {"cases x 1\n", "a line is not of the protocol"},
  {"case x\n", "case takes an id and a size"},
  {"case x 1 2\n", "case takes an id and a size"},
  {"case x y\n", "case takes an id and a size"},
  {"case unknown 1\nready\n", "there is no \"unknown\""},
  {"array a in f32 4\n", "array takes a name, in or out, a type, a count and an offset"},
  {"array a in f32 4 0 0\n", "array takes a name, in or out, a type, a count and an offset"},
  {"array a through f32 4 0\n", "an array is in or out"},
  {"array a in f31 4 0\n", "an array has a type that is not known"},
  {"array a in f32 4 1\n", "an array's offset is no multiple of 4096"},
  {"array a in f32 4 12288\n", "an array ends behind the shared memory"},
  {"array a in f32 3073 0\n", "an array ends behind the shared memory"},
  {"array a in f32 1 18446744073709547520\n", "an array ends behind the shared memory"},
  {"array a in f64 2305843009213693952 0\n", "an array is too large"},
  {"array a in u8 18446744073709551615 0\n", "an array ends behind the shared memory"},
  {"param x\n", "param takes a name and a number"},
  {"param x y\n", "param takes a name and a number"},
  {"param x 1 1\n", "param takes a name and a number"},
};

START_TEST(what_is_refused_before_ready) {
  fresh_memory();
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    char wanted[256];
    ck_assert_int_eq(talk(refused[i].lines, true), 0);
    snprintf(wanted, sizeof wanted, "no %s\n", refused[i].reason);
    ck_assert_str_eq(answer, wanted);
  }
}
END_TEST

START_TEST(what_is_refused_afterwards) {
  fresh_memory();
  ck_assert_int_eq(talk(WORK "sample\nsample resident 0\nsample resident x\nsample now 1\nsample resident 1 1\nstop\n"
                        "sample resident 1\n", true), 0);
  const char *const wanted = "no sample takes a clock and a number of launches above 0\n";
  const char *at = strchr(answer, '\n') + 1;
  for (int i = 0; i < 3; i++, at += strlen(wanted)) ck_assert_int_eq(strncmp(at, wanted, strlen(wanted)), 0);
  ck_assert_int_eq(strncmp(at, "no a clock is device, resident, readback or e2e\n", 48), 0);
  ck_assert_ptr_nonnull(strstr(at, wanted));
  ck_assert_ptr_nonnull(strstr(at, "no a request is sample, output, poison or quit\ntime "));
}
END_TEST

START_TEST(too_much_of_something) {
  char lines[8192] = "case elementwise.add 4\n";
  fresh_memory();
  for (int i = 0; i < 17; i++) strcat(lines, "array a in f32 1 0\n");
  talk(lines, true);
  ck_assert_str_eq(answer, "no too many arrays\n");
  strcpy(lines, "case elementwise.add 4\n");
  for (int i = 0; i < 17; i++) strcat(lines, "param a 0\n");
  talk(lines, true);
  ck_assert_str_eq(answer, "no too many parameters\n");
  memset(lines, 'x', sizeof lines - 1);
  lines[sizeof lines - 1] = '\0';
  memcpy(lines, "case ", 5);
  talk(lines, true);
  ck_assert_int_eq(strncmp(answer, "no ", 3), 0);
}
END_TEST

/* A work that lacks what its id promises is no work: the peer ends, and says on stderr what is missing. */
START_TEST(a_missing_array) {
  fresh_memory();
  ck_assert_int_eq(talk("case elementwise.add 4\narray a in f32 4 0\nready\n", true), 2);
  ck_assert_str_eq(answer, "");
}
END_TEST

/* ---- divide.h ---- */

START_TEST(division_by_multiplication) {
  const uint32_t edges[] = {1, 2, 3, 5, 7, 10, 641, 1000, 4096, 65535, 65536, 65537, 0x7FFFFFFF, 0x80000000,
                            0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
  uint64_t state = 12345;
  for (int round = 0; round < 200000; round++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint32_t d = (uint32_t)(state >> 32) >> (state % 32), x = (uint32_t)(state >> 20);
    if (round < 17) d = edges[round];
    if (d == 0) continue;
    divider by = divider_of(d);
    const uint32_t xs[] = {0, 1, d - 1, d, d + 1, x, x / d * d, x / d * d - 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    for (size_t i = 0; i < sizeof xs / sizeof *xs; i++) ck_assert_uint_eq(divide(xs[i], by), xs[i] / d);
  }
}
END_TEST

int main(void) {
  const char *build = getenv("top_builddir");
  snprintf(peer_path, sizeof peer_path, "%s/tests/bench/adding_peer", build ? build : ".");
  const TTest *const tests[] = {a_whole_conversation, what_it_says_of_itself, parameters, a_probe_needs_no_memory,
                                what_is_refused_before_ready, what_is_refused_afterwards, too_much_of_something,
                                a_missing_array, division_by_multiplication, NULL};
  return run_suite("peer", 60, tests);
}
