/* The status table, the error record, and checked arithmetic. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/checked.h"
#include "base/error.h"

static const struct {
  vyre_status status;
  uint32_t reaction;
  const char *name, *text;
} rows[] = {
#define X(name, number, reaction, text) { VYRE_ERR_##name, VYRE_REACTION_##reaction, "VYRE_ERR_" #name, text },
#include <vyre/status.def>
#undef X
};
enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(every_status_has_name_text_and_reaction) {
  for (int i = 0; i < ROWS; i++) {
    ck_assert_str_eq(vyre_status_name(rows[i].status), rows[i].name);
    ck_assert_str_eq(vyre_status_text(rows[i].status), rows[i].text);
    ck_assert_uint_gt(strlen(rows[i].text), 3);
    ck_assert_uint_eq(vyre_status_reaction(rows[i].status), rows[i].reaction);
    ck_assert_int_eq(-rows[i].status / 100, (int)rows[i].reaction);
    for (int j = 0; j < i; j++) ck_assert_int_ne(rows[i].status, rows[j].status);
  }
  ck_assert_int_eq(VYRE_OK, 0);
}
END_TEST

START_TEST(unknown_statuses_are_said_to_be_unknown) {
  ck_assert_str_eq(vyre_status_name(-12345), "unknown status");
  ck_assert_str_eq(vyre_status_text(1), "unknown status");
  ck_assert_uint_eq(vyre_status_reaction(INT32_MIN), VYRE_REACTION_INTERNAL);
}
END_TEST

START_TEST(record_holds_what_was_said) {
  vyre_error error = VYRE_ERROR_INIT;
  ck_assert_int_eq(vyre_fail(&error, VYRE_ERR_LIMIT, "buffer x", "Wanted %d, found %d. Fix: take less.", 3, 4),
                   VYRE_ERR_LIMIT);
  ck_assert_int_eq(error.status, VYRE_ERR_LIMIT);
  ck_assert_uint_eq(error.reaction, VYRE_REACTION_RESOURCE);
  ck_assert_str_eq(error.where, "buffer x");
  ck_assert_str_eq(error.text, "Wanted 3, found 4. Fix: take less.");
  ck_assert_uint_eq(error.log_length, strlen(error.text));
  ck_assert_int_eq(vyre_fail(NULL, VYRE_ERR_IO, "x", "y"), VYRE_ERR_IO);
}
END_TEST

START_TEST(long_texts_are_cut_and_the_log_has_them_whole) {
  char longest[2000], log[1500];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = 0;
  vyre_error error = VYRE_ERROR_INIT;
  error.log = log;
  error.log_capacity = sizeof log;
  vyre_fail(&error, VYRE_ERR_IO, longest, "%s", longest);
  ck_assert_uint_eq(strlen(error.text), VYRE_ERROR_TEXT_BYTES - 1);
  ck_assert_uint_eq(strlen(error.where), VYRE_ERROR_WHERE_BYTES - 1);
  ck_assert_uint_eq(strlen(log), sizeof log - 1);
  ck_assert_uint_eq(error.log_length, sizeof longest - 1);
}
END_TEST

START_TEST(record_of_another_size_is_not_overrun) {
  vyre_error error;
  memset(&error, 0x55, sizeof error);
  error.size = 0;
  error.log = NULL;
  ck_assert_int_eq(vyre_fail(&error, VYRE_ERR_IO, "x", "y"), VYRE_ERR_IO);
  ck_assert_int_eq(error.status, 0x55555555);
}
END_TEST

START_TEST(context_is_added_to_what_the_record_holds) {
  vyre_error error = VYRE_ERROR_INIT;
  vyre_fail(&error, VYRE_ERR_IO, "inner", "No room.");
  vyre_fail(&error, error.status, error.where, "Writing x failed: %s", error.text);
  ck_assert_str_eq(error.where, "inner");
  ck_assert_str_eq(error.text, "Writing x failed: No room.");
}
END_TEST

START_TEST(sums_and_products_that_do_not_fit_are_noticed) {
  uint64_t r;
  size_t s;
  ck_assert(vyre_mul_u64(UINT32_MAX, UINT32_MAX, &r) && r == 0xFFFFFFFE00000001u);
  ck_assert(!vyre_mul_u64(UINT64_MAX, 2, &r));
  ck_assert(vyre_add_u64(UINT64_MAX, 0, &r) && r == UINT64_MAX);
  ck_assert(!vyre_add_u64(UINT64_MAX, 1, &r));
  ck_assert(!vyre_mul_size(SIZE_MAX / 2, 3, &s));
  ck_assert(!vyre_add_size(SIZE_MAX, SIZE_MAX, &s));
  ck_assert(vyre_align_u64(0, 16, &r) && r == 0);
  ck_assert(vyre_align_u64(17, 16, &r) && r == 32);
  ck_assert(vyre_align_u64(UINT64_MAX - 15, 16, &r) && r == UINT64_MAX - 15);
  ck_assert(!vyre_align_u64(UINT64_MAX - 14, 16, &r));
}
END_TEST

int main(void) {
  return run_suite("error", 60,
                   (const TTest *const[]){ every_status_has_name_text_and_reaction,
                                           unknown_statuses_are_said_to_be_unknown, record_holds_what_was_said,
                                           long_texts_are_cut_and_the_log_has_them_whole,
                                           record_of_another_size_is_not_overrun,
                                           context_is_added_to_what_the_record_holds,
                                           sums_and_products_that_do_not_fit_are_noticed, NULL });
}
