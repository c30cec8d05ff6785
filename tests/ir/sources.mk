# Programs and the builder.
ir_tests = tests/ir/test_program tests/ir/test_expr_set
check_PROGRAMS += $(ir_tests)
TESTS += $(ir_tests)
tests_ir_test_program_SOURCES = tests/ir/test_program.c
tests_ir_test_program_CFLAGS = $(TEST_CFLAGS)
tests_ir_test_program_LDADD = $(TEST_LIBS)
tests_ir_test_expr_set_SOURCES = tests/ir/test_expr_set.c tests/fail_malloc.c
tests_ir_test_expr_set_CFLAGS = $(TEST_CFLAGS)
tests_ir_test_expr_set_LDADD = $(TEST_IR_LIBS)
