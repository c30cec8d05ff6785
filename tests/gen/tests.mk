gen_tests = tests/gen/test_generator tests/gen/test_shrink
check_PROGRAMS += $(gen_tests)
TESTS += $(gen_tests)

tests_gen_test_generator_SOURCES = tests/gen/test_generator.c
tests_gen_test_generator_CFLAGS = $(TEST_CFLAGS)
tests_gen_test_generator_LDADD = tests/gen/libgen.la $(TEST_IR_LIBS)
tests_gen_test_shrink_SOURCES = tests/gen/test_shrink.c
tests_gen_test_shrink_CFLAGS = $(TEST_CFLAGS)
tests_gen_test_shrink_LDADD = tests/gen/libgen.la $(TEST_IR_LIBS)
valgrind_skip += tests/gen/test_shrink # long, and under sanitizers, too
