# The text form.
text_tests = \
	tests/text/test_lex tests/text/test_literals tests/text/test_declarations tests/text/test_expressions \
	tests/text/test_statements tests/text/test_calls tests/text/test_limits tests/text/test_print tests/text/test_format \
	tests/text/test_memory tests/text/test_manual tests/text/test_near
check_PROGRAMS += $(text_tests)
TESTS += $(text_tests)
EXTRA_DIST += tests/text/kit.h
valgrind_skip += tests/text/test_limits tests/text/test_print

tests_text_test_lex_SOURCES = tests/text/test_lex.c
tests_text_test_lex_CFLAGS = $(TEST_CFLAGS)
tests_text_test_lex_LDADD = $(TEST_IR_LIBS)
tests_text_test_literals_SOURCES = tests/text/test_literals.c
tests_text_test_literals_CFLAGS = $(TEST_CFLAGS)
tests_text_test_literals_LDADD = $(TEST_IR_LIBS)
tests_text_test_declarations_SOURCES = tests/text/test_declarations.c
tests_text_test_declarations_CFLAGS = $(TEST_CFLAGS)
tests_text_test_declarations_LDADD = $(TEST_IR_LIBS)
tests_text_test_expressions_SOURCES = tests/text/test_expressions.c
tests_text_test_expressions_CFLAGS = $(TEST_CFLAGS)
tests_text_test_expressions_LDADD = $(TEST_IR_LIBS)
tests_text_test_statements_SOURCES = tests/text/test_statements.c
tests_text_test_statements_CFLAGS = $(TEST_CFLAGS)
tests_text_test_statements_LDADD = $(TEST_IR_LIBS)
tests_text_test_calls_SOURCES = tests/text/test_calls.c
tests_text_test_calls_CFLAGS = $(TEST_CFLAGS)
tests_text_test_calls_LDADD = $(TEST_IR_LIBS)
tests_text_test_limits_SOURCES = tests/text/test_limits.c
tests_text_test_limits_CFLAGS = $(TEST_CFLAGS)
tests_text_test_limits_LDADD = $(TEST_IR_LIBS)
tests_text_test_print_SOURCES = tests/text/test_print.c
tests_text_test_print_CFLAGS = $(TEST_CFLAGS)
tests_text_test_print_LDADD = tests/gen/libgen.la $(TEST_IR_LIBS)
tests_text_test_format_SOURCES = tests/text/test_format.c
tests_text_test_format_CFLAGS = $(TEST_CFLAGS)
tests_text_test_format_LDADD = $(TEST_IR_LIBS)
tests_text_test_near_SOURCES = tests/text/test_near.c
tests_text_test_near_CFLAGS = $(TEST_CFLAGS)
tests_text_test_near_LDADD = $(TEST_IR_LIBS)
tests_text_test_memory_SOURCES = tests/text/test_memory.c tests/fail_malloc.c
tests_text_test_memory_CFLAGS = $(TEST_CFLAGS)
tests_text_test_memory_LDADD = $(TEST_IR_LIBS)
tests_text_test_manual_SOURCES = tests/text/test_manual.c
tests_text_test_manual_CFLAGS = $(TEST_CFLAGS)
tests_text_test_manual_LDADD = $(TEST_IR_LIBS)
