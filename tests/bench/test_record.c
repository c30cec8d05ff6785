/* Reports as JSON: what was written comes back bit by bit, and nothing else is let in. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../fail_malloc.h"
#include "../suite.h"
#include "harness/record_fields.h"
#include "harness/record_json.h"
#include "sample_report.h"

static char *sample(size_t *count) {
  bench_report report;
  sample_report(&report, &(sample_options)SAMPLE_PLAIN);
  bench_gate gate = { 1, "timing", "all there", BENCH_GATE_PASS };
  report.gates = &gate;
  report.gate_count = 1;
  report.cases[0].target = "elementwise.add.s";
  report.cases[0].verdict = "pass: as fast as it has to be";
  report.cases[0].notes = "a note";
  report.cases[0].contestants[0].launches[0].has_scratch = true;
  report.cases[0].contestants[0].launches[0].scratch_limit = 49152;
  report.cases[0].contestants[0].build = "make";
  report.cases[0].contestants[0].how = "vyre_run";
  report.cases[0].contestants[0].clocks[BENCH_WALL_E2E] = report.cases[0].contestants[0].clocks[BENCH_WALL_READBACK];
  char *text = sample_json(&report, count);
  bench_report_free(&report);
  return text;
}

static vyre_status parse(const char *text, size_t count, bench_report *report, vyre_error *error) {
  char *exact = malloc(count ? count : 1); /* without slack, so that a read beyond is seen */
  memcpy(exact, text, count);
  *error = (vyre_error)VYRE_ERROR_INIT;
  *report = (bench_report){ 0 };
  vyre_status status = bench_json_parse("it", exact, count, report, error);
  free(exact);
  if (status) ck_assert_msg(strstr(error->text, "Fix: ") != NULL, "a refusal without a fix: %s", error->text);
  return status;
}

START_TEST(what_is_written_comes_back) {
  size_t count, again_count;
  char *text = sample(&count);
  bench_report report;
  vyre_error error;
  ck_assert_msg(parse(text, count, &report, &error) == VYRE_OK, "%s", error.text);
  char *again = sample_json(&report, &again_count);
  ck_assert_uint_eq(count, again_count);
  ck_assert_mem_eq(text, again, count);
  ck_assert_str_eq(report.cases[SAMPLE_ADD_H].id, "elementwise.add.true.H.67108864");
  ck_assert_uint_eq(report.cases[SAMPLE_ADD_H].contestants[0].launches[0].workgroup[0], 512);
  ck_assert_uint_eq(report.seed, UINT64_MAX);
  ck_assert(!report.cases[0].contestants[SAMPLE_ABSENT].correct);
  free(again);
  free(text);
  bench_report_free(&report);
}
END_TEST

static json_t *first_of(json_t *json, const record_type *type, const record_type *wanted) {
  if (type == wanted) return json;
  for (uint32_t i = 0; i < type->count; i++) {
    const record_field *field = &type->fields[i];
    json_t *value = field->type ? json_object_get(json, field->key) : NULL;
    if (json_is_array(value)) value = json_array_get(value, 0);
    json_t *found = value ? first_of(value, field->type(), wanted) : NULL;
    if (found) return found;
  }
  return NULL;
}

/* The first object of |type| in |json|, if it has |key|. */
static json_t *holder(json_t *json, const char *key, const record_type *type) {
  json_t *object = first_of(json, record_of_report(), type);
  return object && json_object_get(object, key) ? object : NULL;
}

static vyre_status parse_json(json_t *json, vyre_error *error) {
  char *text = json_dumps(json, JSON_REAL_PRECISION(17));
  bench_report report;
  vyre_status status = parse(text, strlen(text), &report, error);
  bench_report_free(&report);
  free(text);
  return status;
}

/* Each member in turn: of another type, gone, misspelt. Members of objects that the sample lacks are counted. */
START_TEST(each_member_is_checked) {
  size_t count;
  char *text = sample(&count);
  json_t *json = json_loadb(text, count, 0, NULL);
  vyre_error error;
  ck_assert_msg(parse_json(json, &error) == VYRE_OK, "%s", error.text);
  uint32_t types, tried = 0;
  const record_type *(*const *all)(void) = record_types(&types);
  for (uint32_t t = 0; t < types; t++)
    for (uint32_t f = 0; f < all[t]()->count; f++) {
      const record_field *field = &all[t]()->fields[f];
      json_t *object = holder(json, field->key, all[t]());
      if (!object) continue;
      tried++;
      json_t *old = json_incref(json_object_get(object, field->key));
      json_object_set_new(object, field->key, json_null());
      ck_assert_msg(parse_json(json, &error) == VYRE_ERR_INVALID_FILE, "null as %s.%s", all[t]()->name, field->key);
      ck_assert_msg(strstr(error.text, field->key) != NULL, "%s does not name %s", error.text, field->key);
      json_object_del(object, field->key);
      bool needed = field->presence == RECORD_REQUIRED || field->presence == RECORD_SOME;
      if (field->presence != RECORD_FLAG)
        ck_assert_msg((parse_json(json, &error) != VYRE_OK) == needed, "%s.%s missing", all[t]()->name, field->key);
      json_object_set_new(object, "misspelt", json_true());
      ck_assert_int_eq(parse_json(json, &error), VYRE_ERR_INVALID_FILE);
      json_object_del(object, "misspelt");
      json_object_set(object, field->key, old);
      json_decref(old);
    }
  ck_assert_uint_ge(tried, 100);
  json_decref(json);
  free(text);
}
END_TEST

START_TEST(every_member_of_the_table_is_in_the_sample) {
  size_t count;
  char *text = sample(&count);
  uint32_t types;
  const record_type *(*const *all)(void) = record_types(&types);
  for (uint32_t t = 0; t < types; t++)
    for (uint32_t f = 0; f < all[t]()->count; f++) {
      char key[64];
      snprintf(key, sizeof key, "\"%s\": ", all[t]()->fields[f].key);
      ck_assert_msg(strstr(text, key) != NULL, "%s.%s is not tried", all[t]()->name, all[t]()->fields[f].key);
    }
  free(text);
}
END_TEST

/* Replaces the first |from| of the sample by |to| and wants a refusal that has |message|. */
static void refused(const char *from, const char *to, vyre_status wanted, const char *message) {
  size_t count;
  char *text = sample(&count), *at = strstr(text, from);
  ck_assert_msg(at != NULL, "the sample has no %s", from);
  size_t room = count + strlen(to) + 1;
  char *changed = malloc(room);
  int length = snprintf(changed, room, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  bench_report report;
  vyre_error error;
  ck_assert_msg(parse(changed, (size_t)length, &report, &error) == wanted, "%s accepted for %s", to, from);
  ck_assert_msg(strstr(error.text, message) != NULL, "%s lacks %s", error.text, message);
  bench_report_free(&report);
  free(changed);
  free(text);
}

START_TEST(what_is_wrong_is_named) {
  refused("\"schema\": 1", "\"schema\": 2", VYRE_ERR_UNSUPPORTED, "schema 2");
  refused("\"schema\": 1", "\"schema\": -1", VYRE_ERR_INVALID_FILE, "schema");
  refused("\"schema\": 1,", "", VYRE_ERR_INVALID_FILE, "schema is missing");
  refused("\"time\": ", "\"time\": \"x\", \"time\": ", VYRE_ERR_INVALID_FILE, "duplicate");
  refused("\"p50\": ", "\"p50\": 1", VYRE_ERR_INVALID_FILE, "do not follow from its samples");
  refused("\"samples\": [", "\"samples\": [-1, ", VYRE_ERR_INVALID_FILE, "samples[0] is no time");
  refused("\"samples\": [", "\"samples\": [1e300, ", VYRE_ERR_INVALID_FILE, "samples[0] is no time");
  refused("\"samples\": [", "\"samples\": [1e999, ", VYRE_ERR_INVALID_FILE, "");
  refused("\"clock\": \"device\"", "\"clock\": \"sundial\"", VYRE_ERR_INVALID_FILE, "cases[0].ratios[0].clock");
  refused("\"class\": \"self\"", "\"class\": \"best\"", VYRE_ERR_INVALID_FILE, "cases[0].contestants[0].class");
  refused("\"found\": \"0123", "\"found\": \"X123", VYRE_ERR_INVALID_FILE, "16 hexadecimal digits");
  refused("\"n\": 1024", "\"n\": -1024", VYRE_ERR_INVALID_FILE, "cases[0].n has to be from 0");
  refused("\"n\": 1024", "\"n\": 1024.5", VYRE_ERR_INVALID_FILE, "has to be an integer");
  refused("\"registers\": 24,", "", VYRE_ERR_INVALID_FILE, "registers is missing, while others");
  refused("\"grid\": [", "\"grid\": [1, ", VYRE_ERR_INVALID_FILE, "three numbers");
  refused("\"number\": 1,", "\"number\": 4294967296,", VYRE_ERR_INVALID_FILE, "4294967295");
  refused("\"title\": \"", "\"title\": \"\\u0000", VYRE_ERR_INVALID_FILE, "");
  refused("\"title\": \"", "\"title\": \"\xFF", VYRE_ERR_INVALID_FILE, "");
}
END_TEST

/* Cut anywhere, it is refused; changed anywhere, it is refused or read, and never more than that. */
START_TEST(damage_does_no_harm) {
  size_t count;
  char *text = sample(&count);
  bench_report report;
  vyre_error error;
  for (size_t i = 0; i + 2 < count; i += count / 500 + 1) {
    ck_assert_int_eq(parse(text, i, &report, &error), VYRE_ERR_INVALID_FILE);
    bench_report_free(&report);
  }
  uint64_t state = 20261130;
  for (int round = 0; round < 1000; round++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t at = (size_t)(state >> 33) % count;
    char old = text[at];
    text[at] = "\"{}[],:0-9eax\\\x80"[(state >> 20) % 15];
    vyre_status status = parse(text, count, &report, &error);
    ck_assert(status == VYRE_OK || status == VYRE_ERR_INVALID_FILE || status == VYRE_ERR_UNSUPPORTED);
    bench_report_free(&report);
    text[at] = old;
  }
  free(text);
}
END_TEST

START_TEST(lists_are_bounded) {
  char many[12000] = "\"host\": {";
  for (int i = 0; i < 256; i++) snprintf(many + strlen(many), 40, "\"k%d\": \"\", ", i);
  refused("\"host\": {", many, VYRE_ERR_INVALID_FILE, "host has more than 256 members");
  strcpy(many, "\"inputs\": [");
  for (int i = 0; i < 256; i++) strcat(many, "1, ");
  refused("\"inputs\": [", many, VYRE_ERR_INVALID_FILE, "cases[0].inputs has 257 elements");
}
END_TEST

START_TEST(no_nesting_is_too_deep) {
  char deep[100000];
  memset(deep, '[', sizeof deep);
  bench_report report;
  vyre_error error;
  ck_assert_int_eq(parse(deep, sizeof deep, &report, &error), VYRE_ERR_INVALID_FILE);
}
END_TEST

START_TEST(files) {
  char path[] = "/tmp/test_record.XXXXXX";
  int fd = mkstemp(path);
  bench_report report = { 0 };
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(bench_json_read(path, &report, &error), VYRE_ERR_INVALID_FILE); /* empty */
  size_t count;
  char *text = sample(&count);
  ck_assert_int_eq(write(fd, text, count), (ssize_t)count);
  ck_assert_int_eq(bench_json_read(path, &report, &error), VYRE_OK);
  ck_assert_uint_eq(report.case_count, SAMPLE_CASES);
  bench_report_free(&report);
  ck_assert_int_eq(ftruncate(fd, (64 << 20) + 1), 0);
  ck_assert_int_eq(bench_json_read(path, &report, &error), VYRE_ERR_LIMIT);
  unlink(path);
  ck_assert_int_eq(bench_json_read(path, &report, &error), VYRE_ERR_IO);
  ck_assert_int_eq(bench_json_read("/", &report, &error), VYRE_ERR_IO);
  ck_assert(strstr(error.text, "Fix: ") != NULL);
  free(text);
  close(fd);
}
END_TEST

START_TEST(a_full_disk_is_told) {
  bench_report report;
  sample_report(&report, &(sample_options)SAMPLE_PLAIN);
  FILE *full = fopen("/dev/full", "w");
  ck_assert(!bench_json_write(full, &report));
  fclose(full);
  bench_report_free(&report);
}
END_TEST

START_TEST(without_memory_it_says_so) {
  size_t count;
  bench_report small;
  sample_report(&small, &(sample_options){ .seed = 1, .rounds = 2, .cv = 0.01, .drift = 1, .machine = 1, .vyre = 1 });
  small.case_count = 1;
  char *text = sample_json(&small, &count);
  bench_report_free(&small);
  for (uint64_t n = 1;; n++) {
    bench_report report = { 0 };
    vyre_error error = VYRE_ERROR_INIT;
    int64_t before = fail_malloc_live();
    fail_malloc_at(n);
    vyre_status status = bench_json_parse("it", text, count, &report, &error);
    bool failed = fail_malloc_end();
    bench_report_free(&report);
    ck_assert_int_eq(fail_malloc_live(), before);
    if (!failed) break;
    ck_assert_msg(status == VYRE_ERR_NO_MEMORY, "allocation %d: %s", (int)n, error.text);
  }
  free(text);
}
END_TEST

int main(void) {
  return run_suite("record", 120,
                   (const TTest *const[]){ what_is_written_comes_back, each_member_is_checked,
                                           every_member_of_the_table_is_in_the_sample, what_is_wrong_is_named,
                                           damage_does_no_harm, lists_are_bounded, no_nesting_is_too_deep,
                                           files, a_full_disk_is_told,
                                           without_memory_it_says_so, NULL });
}
