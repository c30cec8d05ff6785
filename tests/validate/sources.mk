# Whole-program checks.
check_PROGRAMS += tests/validate/test_flow
TESTS += tests/validate/test_flow
EXTRA_DIST += tests/validate/kit.h
tests_validate_test_flow_SOURCES = tests/validate/test_flow.c
tests_validate_test_flow_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_flow_LDADD = $(TEST_IR_LIBS)
