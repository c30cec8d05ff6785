# The wire form, the digest and program identity.
wire_tests = tests/wire/test_digest tests/wire/test_ir_docs tests/wire/test_limits tests/wire/test_wire
check_PROGRAMS += $(wire_tests)
TESTS += $(wire_tests)
EXTRA_DIST += tests/wire/kit.h

tests_wire_test_digest_SOURCES = tests/wire/test_digest.c
tests_wire_test_digest_CFLAGS = $(TEST_CFLAGS)
tests_wire_test_digest_LDADD = $(TEST_IR_LIBS)
tests_wire_test_ir_docs_SOURCES = tests/wire/test_ir_docs.c
tests_wire_test_ir_docs_CFLAGS = $(TEST_CFLAGS)
tests_wire_test_ir_docs_LDADD = $(TEST_IR_LIBS)
tests_wire_test_limits_SOURCES = tests/wire/test_limits.c
tests_wire_test_limits_CFLAGS = $(TEST_CFLAGS)
tests_wire_test_limits_LDADD = $(TEST_IR_LIBS)
tests_wire_test_wire_SOURCES = tests/wire/test_wire.c tests/fail_malloc.c
tests_wire_test_wire_CFLAGS = $(TEST_CFLAGS)
tests_wire_test_wire_LDADD = tests/gen/libgen.la $(TEST_IR_LIBS)
