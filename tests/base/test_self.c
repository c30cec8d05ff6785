/* Where the library lies. Here it is part of this program, so the program copies itself to where libraries are
 * installed, below a prefix that is not the configured one, and asks there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "base/self.h"

/* The program's own path. */
static const char *self_path(void) {
  static char path[4096];
  ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
  ck_assert_int_gt(bytes, 0);
  path[bytes] = 0;
  return path;
}

START_TEST(the_directory_of_this_code) {
  char wanted[4096], *found = NULL;
  snprintf(wanted, sizeof wanted, "%s", self_path());
  *strrchr(wanted, '/') = 0;
  ck_assert_int_eq(vyre_self_directory(&found), VYRE_OK);
  ck_assert_str_eq(found, wanted);
  free(found);
}
END_TEST

/* Outside of an installation, and for what is not below the prefix, there is no such place. */
START_TEST(no_installation_no_place) {
  char unset, *found = &unset;
  ck_assert_int_eq(vyre_self_place(VYRE_PREFIX "/etc/vyre", &found), VYRE_OK);
  ck_assert_ptr_null(found);
  ck_assert_int_eq(vyre_self_place("/elsewhere", &found), VYRE_OK);
  ck_assert_ptr_null(found);
  ck_assert_int_eq(vyre_self_place(VYRE_PREFIX "x/etc", &found), VYRE_OK);
  ck_assert_ptr_null(found);
}
END_TEST

START_TEST(a_moved_installation) {
  if (strncmp(VYRE_LIB_DIR, VYRE_PREFIX "/", strlen(VYRE_PREFIX) + 1) != 0) return; /* configured apart */
  const char *tail = &VYRE_LIB_DIR[strlen(VYRE_PREFIX)];
  char command[12288], root[] = "/tmp/vyre-self-XXXXXX", line[4096] = "", wanted[4096];
  ck_assert_ptr_nonnull(mkdtemp(root));
  snprintf(command, sizeof command,
           "set -e; mkdir -p '%s/moved to%s'; cp '%s' '%s/moved to%s/self'; ln -s 'moved to%s/self' '%s/link'; "
           "exec '%s/link' place",
           root, tail, self_path(), root, tail, tail, root, root);
  FILE *pipe = popen(command, "r");
  ck_assert_ptr_nonnull(pipe);
  ck_assert_ptr_nonnull(fgets(line, sizeof line, pipe));
  ck_assert_int_eq(pclose(pipe), 0);
  snprintf(wanted, sizeof wanted, "%s/moved to/etc/vyre\n", root);
  ck_assert_str_eq(line, wanted);
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(without_memory_nothing_is_guessed) {
  for (uint64_t n = 1;; n++) {
    char *found = NULL;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = vyre_self_directory(&found);
    bool failed = fail_malloc_end();
    ck_assert_int_eq(status, failed ? VYRE_ERR_NO_MEMORY : VYRE_OK);
    ck_assert_int_eq(found == NULL, failed);
    free(found);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
  }
}
END_TEST

/* What the copy of this program does. */
static int print_place(void) {
  char *place;
  if (vyre_self_place(VYRE_PREFIX "/etc/vyre", &place) != VYRE_OK || place == NULL) return 1;
  puts(place);
  free(place);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "place") == 0) return print_place();
  const TTest *const tests[] = { the_directory_of_this_code, no_installation_no_place, a_moved_installation,
                                 without_memory_nothing_is_guessed, NULL };
  return run_suite("self", 60, tests);
}
