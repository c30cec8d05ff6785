# The optimizer: its ground, what passes make of programs as text, and programs that are run before and after.
opt_tests = tests/opt/test_golden tests/opt/test_unit
check_PROGRAMS += $(opt_tests)
TESTS += $(opt_tests)
tests_opt_test_golden_SOURCES = tests/opt/test_golden.c
tests_opt_test_golden_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_golden_LDADD = $(TEST_LIBS)
tests_opt_test_unit_SOURCES = tests/opt/test_unit.c
tests_opt_test_unit_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_unit_LDADD = tests/gen/libgen.la $(TEST_LIBS)
EXTRA_DIST += tests/opt/golden
