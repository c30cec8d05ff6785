# The optimizer.
opt_tests = tests/opt/test_unit
check_PROGRAMS += $(opt_tests)
TESTS += $(opt_tests)
tests_opt_test_unit_SOURCES = tests/opt/test_unit.c
tests_opt_test_unit_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_unit_LDADD = tests/gen/libgen.la $(TEST_LIBS)
