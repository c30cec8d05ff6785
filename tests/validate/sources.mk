# Whole-program checks, and the rules of the builder that they rest on.
validate_tests = \
	tests/validate/test_flow tests/validate/test_exits tests/validate/test_scopes tests/validate/test_race \
	tests/validate/test_uniform tests/validate/test_codes tests/validate/test_random \
	tests/ir/test_builder_rules
check_PROGRAMS += $(validate_tests)
TESTS += $(validate_tests)
EXTRA_DIST += tests/validate/kit.h tests/validate/flow.h

tests_validate_test_flow_SOURCES = tests/validate/test_flow.c
tests_validate_test_flow_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_flow_LDADD = $(TEST_IR_LIBS)
tests_validate_test_exits_SOURCES = tests/validate/test_exits.c
tests_validate_test_exits_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_exits_LDADD = $(TEST_IR_LIBS)
tests_validate_test_scopes_SOURCES = tests/validate/test_scopes.c
tests_validate_test_scopes_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_scopes_LDADD = $(TEST_IR_LIBS)
tests_validate_test_race_SOURCES = tests/validate/test_race.c
tests_validate_test_race_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_race_LDADD = $(TEST_IR_LIBS)
tests_validate_test_uniform_SOURCES = tests/validate/test_uniform.c tests/fail_malloc.c
tests_validate_test_uniform_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_uniform_LDADD = $(TEST_IR_LIBS)
tests_validate_test_codes_SOURCES = tests/validate/test_codes.c
tests_validate_test_codes_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_codes_LDADD = $(TEST_IR_LIBS)
tests_validate_test_random_SOURCES = tests/validate/test_random.c
tests_validate_test_random_CFLAGS = $(TEST_CFLAGS)
tests_validate_test_random_LDADD = $(TEST_IR_LIBS)
tests_ir_test_builder_rules_SOURCES = tests/ir/test_builder_rules.c
tests_ir_test_builder_rules_CFLAGS = $(TEST_CFLAGS)
tests_ir_test_builder_rules_LDADD = $(TEST_IR_LIBS)
