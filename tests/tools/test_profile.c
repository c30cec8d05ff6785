/* Profiles: what is written is read as it was, and nothing else is read. */
#include "../../tools/profile.h"

#include <stdlib.h>
#include <string.h>

#include "../suite.h"

static char reason[PROFILE_REASON_BYTES];

/* Reads a copy without slack, so that a read beyond it is seen by valgrind and sanitizers. */
static bool parse(const char *text, size_t length, profile *out) {
  char *exact = malloc(length ? length : 1);
  memcpy(exact, text, length);
  memset(reason, 'r', sizeof reason);
  bool is_good = profile_parse(exact, length, out, reason);
  free(exact);
  if (is_good) return true;
  ck_assert(memchr(reason, 0, sizeof reason) != NULL);
  ck_assert_msg(strstr(reason, ". Fix: ") != NULL, "a refusal without a fix: %s", reason);
  return false;
}

/* A sound record in which every member that a profile has differs. */
static vyre_capabilities sample(void) {
  return (vyre_capabilities){
      .size = sizeof(vyre_capabilities),
      .profile = "sample:one \"quoted\"\\",
      .name = "left out",
      .needs = VYRE_NEED_INT64 | VYRE_NEED_TRAP | VYRE_NEED_STORAGE16,
      .numeric = VYRE_NUMERIC_FMA | VYRE_NUMERIC_ZERO_ORDER,
      .subgroup_sizes = 8 | 16,
      .subgroup_size = 16,
      .max_workgroup_invocations = 1024,
      .max_workgroup = {1024, 512, UINT32_MAX},
      .max_shared_bytes = 49152,
      .max_bindings = 0,
      .max_param_bytes = 4096,
      .vendor = {1, 0, UINT32_MAX, 3, 4, 5, 6, 7},
      .max_buffer_bytes = 7,
  };
}

static char *written(const char *backend, const vyre_capabilities *c, size_t *length) {
  char *text = NULL;
  json_writer j = {.file = open_memstream(&text, length)};
  ck_assert_ptr_nonnull(j.file);
  profile_json(&j, backend, c);
  ck_assert_int_eq(fclose(j.file), 0);
  return text;
}

START_TEST(what_is_written_is_read) {
  vyre_capabilities c = sample();
  size_t length, again;
  char *text = written("sample_1", &c, &length);
  profile p;
  ck_assert_msg(parse(text, length, &p), "%s", reason);
  ck_assert_str_eq(p.backend, "sample_1");
  char *second = written(p.backend, &p.capabilities, &again);
  ck_assert_str_eq(second, text);
  memset(c.name, 0, sizeof c.name); /* what a profile leaves out is 0 */
  c.max_buffer_bytes = 0;
  ck_assert_mem_eq(&p.capabilities, &c, sizeof c);
  free(text);
  free(second);
}
END_TEST

START_TEST(every_capability_has_its_name) {
  vyre_capabilities c = sample();
  c.needs = 0;
  for (const bit_name *row = profile_programs; row->name; row++) c.needs |= row->bit;
  ck_assert_uint_eq(__builtin_popcountll(c.needs), 20);
  c.numeric = 15;
  c.subgroup_sizes = 63;
  size_t length;
  char *text = written("x", &c, &length);
  profile p;
  ck_assert_msg(parse(text, length, &p), "%s", reason);
  ck_assert_uint_eq(p.capabilities.needs, c.needs);
  ck_assert_uint_eq(p.capabilities.numeric, 15);
  ck_assert_uint_eq(p.capabilities.subgroup_sizes, 63);
  free(text);
}
END_TEST

/* The sample with the first |old| replaced. */
static void check_refused(const char *old, const char *new, const char *says) {
  vyre_capabilities c = sample();
  size_t length;
  char *text = written("sample_1", &c, &length), *at = strstr(text, old), *changed = NULL;
  ck_assert_msg(at != NULL, "%s is not in %s", old, text);
  int bytes = asprintf(&changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  profile p;
  ck_assert_int_gt(bytes, 0);
  ck_assert_msg(!parse(changed, (size_t)bytes, &p), "accepted: %s", changed);
  ck_assert_msg(strstr(reason, says) != NULL, "\"%s\" is not in: %s", says, reason);
  free(text);
  free(changed);
}

START_TEST(members_that_are_wrong) {
  check_refused("\"vyre_profile\": 1", "\"vyre_profile\": 2", "form 2, and form 1 is known");
  check_refused("\"vyre_profile\": 1", "\"vyre_profile\": \"1\"", "vyre_profile is no number");
  check_refused("\"vyre_profile\": 1,", "", "no member vyre_profile");
  check_refused("\"vyre_profile\": 1", "\"vyre_profile\": 1, \"vyre_profile\": 1", "no JSON: duplicate");
  check_refused("\"backend\": \"sample_1\",", "", "backend is no text");
  check_refused("\"sample_1\"", "\"\"", "backend is no text of 1 to 32 bytes");
  check_refused("\"sample_1\"", "\"a_name_of_more_than_thirty_two_bytes\"", "backend is no text");
  check_refused("\"sample_1\"", "7", "backend is no text");
  check_refused("\"sample_1\"", "\"a\\u0000b\"", "no JSON");
  check_refused("sample:one", "sample:a_profile_with_a_name_of_more_than_63_bytes_which_is_too_long_for_it", "profile");
  check_refused("\"int64\"", "\"int65\"", "programs has int65, which is not known");
  check_refused("\"int64\"", "\"trap\"", "programs has trap twice");
  check_refused("\"int64\"", "64", "programs has what is no name");
  check_refused("\"fma\"", "\"int64\"", "numbers has int64, which is not known");
  check_refused("\"fma\"", "[\"fma\"]", "numbers has what is no name");
  check_refused("8,", "8, 8,", "stands twice");
  check_refused("8,", "12,", "no power of two");
  check_refused("8,", "0,", "no power of two");
  check_refused("8,", "64,", "a subgroup size is no number from 0 to 32");
  check_refused("8,", "-8,", "a subgroup size is no number");
  check_refused("\"subgroup_size\": 16", "\"subgroup_size\": 32", "32 is not among");
  check_refused("\"subgroup_size\": 16", "\"subgroup_size\": 24", "24 is not among");
  check_refused("\"subgroup_size\": 16", "\"subgroup_size\": 0", "0 is not among");
  check_refused("49152", "4294967296", "max_shared_bytes is no number from 0 to 4294967295");
  check_refused("49152", "-1", "max_shared_bytes is no number");
  check_refused("49152", "1e3", "max_shared_bytes is no number");
  check_refused("49152", "99999999999999999999999", "no JSON: too big integer");
  check_refused("49152", "null", "max_shared_bytes is no number");
  check_refused("4294967295\n", "1, 1\n", "max_workgroup is no list of 3 numbers");
  check_refused("512,", "{},", "max_workgroup is no number");
  check_refused("4096,\n", "4096, \"more\": 1,\n", "members that are not known");
  check_refused("\"max_bindings\": 0,", "", "max_bindings is no number");
  check_refused("}", "} }", "no JSON");
}
END_TEST

START_TEST(texts_that_are_no_profile) {
  static const char *const texts[] = { "", "{", "[]", "7", "null", "\"vyre_profile\"", "{}", "\xEF\xBB\xBF{}", "\xFF",
                                       "{\"vyre_profile\": 1}", "{\"vyre_profile\": {}}" };
  profile p;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) ck_assert(!parse(texts[i], strlen(texts[i]), &p));
  ck_assert(!parse("{\0}", 3, &p));
  enum { MANY = PROFILE_MAX_BYTES + 1 };
  char *many = malloc(MANY);
  memset(many, '[', MANY);
  ck_assert(!parse(many, MANY - 1, &p)); /* as deep as it is long */
  memset(many, ' ', MANY);
  ck_assert(!parse(many, MANY, &p));
  ck_assert_ptr_nonnull(strstr(reason, "more than 1048576 bytes"));
  free(many);
}
END_TEST

/* Every beginning of a profile, and every byte of it changed: an answer, and never another profile without a word. */
START_TEST(profiles_cut_and_bent) {
  vyre_capabilities c = sample();
  size_t length;
  char *text = written("sample_1", &c, &length);
  profile p;
  for (size_t i = 0; i + 2 < length; i++) ck_assert_msg(!parse(text, i, &p), "accepted: %.*s", (int)i, text);
  for (size_t i = 0; i < length; i++) {
    char old = text[i];
    for (int bit = 0; bit < 8; bit++) {
      text[i] = (char)(old ^ 1 << bit);
      if (!parse(text, length, &p)) continue;
      size_t again;
      char *second = written(p.backend, &p.capabilities, &again);
      profile same;
      ck_assert(parse(second, again, &same));
      ck_assert_mem_eq(&same, &p, sizeof p);
      free(second);
    }
    text[i] = old;
  }
  free(text);
}
END_TEST

int main(void) {
  const TTest *const tests[] = { what_is_written_is_read,   every_capability_has_its_name, members_that_are_wrong,
                                 texts_that_are_no_profile, profiles_cut_and_bent,         NULL };
  return run_suite("profile", 60, tests);
}
