# Programs and the builder.
check_PROGRAMS += tests/ir/test_program
TESTS += tests/ir/test_program
tests_ir_test_program_SOURCES = tests/ir/test_program.c
tests_ir_test_program_CFLAGS = $(TEST_CFLAGS)
tests_ir_test_program_LDADD = $(TEST_LIBS)
