# Foundations.
base_tests = \
	tests/base/test_arena tests/base/test_config tests/base/test_diag tests/base/test_error \
	tests/base/test_index_set tests/base/test_log tests/base/test_self tests/base/test_strings tests/base/test_vector
check_PROGRAMS += $(base_tests)
TESTS += $(base_tests) tests/base/test_config_docs.sh
EXTRA_DIST += tests/base/test_config_docs.sh tests/golden.h tests/suite.h tests/fail_malloc.h

tests_base_test_arena_SOURCES = tests/base/test_arena.c tests/fail_malloc.c
tests_base_test_arena_CFLAGS = $(TEST_CFLAGS)
tests_base_test_arena_LDADD = $(TEST_LIBS)
tests_base_test_config_SOURCES = tests/base/test_config.c tests/fail_malloc.c
tests_base_test_config_CFLAGS = $(TEST_CFLAGS)
tests_base_test_config_LDADD = $(TEST_LIBS)
tests_base_test_diag_SOURCES = tests/base/test_diag.c tests/fail_malloc.c
tests_base_test_diag_CFLAGS = $(TEST_CFLAGS)
tests_base_test_diag_LDADD = $(TEST_LIBS)
tests_base_test_error_SOURCES = tests/base/test_error.c
tests_base_test_error_CFLAGS = $(TEST_CFLAGS)
tests_base_test_error_LDADD = $(TEST_LIBS)
tests_base_test_index_set_SOURCES = tests/base/test_index_set.c tests/fail_malloc.c
tests_base_test_index_set_CFLAGS = $(TEST_CFLAGS)
tests_base_test_index_set_LDADD = $(TEST_LIBS)
tests_base_test_log_SOURCES = tests/base/test_log.c tests/fail_malloc.c
tests_base_test_log_CFLAGS = $(TEST_CFLAGS)
tests_base_test_log_LDADD = $(TEST_LIBS)
tests_base_test_self_SOURCES = tests/base/test_self.c tests/fail_malloc.c
tests_base_test_self_CPPFLAGS = $(AM_CPPFLAGS) -DVYRE_PREFIX='"$(prefix)"' -DVYRE_LIB_DIR='"$(libdir)"'
tests_base_test_self_CFLAGS = $(TEST_CFLAGS)
tests_base_test_self_LDADD = $(TEST_LIBS)
tests_base_test_strings_SOURCES = tests/base/test_strings.c tests/fail_malloc.c
tests_base_test_strings_CFLAGS = $(TEST_CFLAGS)
tests_base_test_strings_LDADD = $(TEST_LIBS)
tests_base_test_vector_SOURCES = tests/base/test_vector.c tests/fail_malloc.c
tests_base_test_vector_CFLAGS = $(TEST_CFLAGS)
tests_base_test_vector_LDADD = $(TEST_LIBS)
