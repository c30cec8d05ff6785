# The reference interpreter: its parts, programs in text, and the plugin through its ABI.
cpu_ref_tests = \
	tests/cpu_ref/test_narrow tests/cpu_ref/test_ops tests/cpu_ref/test_transcend
check_PROGRAMS += $(cpu_ref_tests)
TESTS += $(cpu_ref_tests)
cpu_ref_test_libs = plugins/cpu_ref/libengine.la $(TEST_LIBS) -lm

tests_cpu_ref_test_narrow_SOURCES = tests/cpu_ref/test_narrow.c
tests_cpu_ref_test_narrow_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_narrow_LDADD = $(TEST_LIBS)
tests_cpu_ref_test_ops_SOURCES = tests/cpu_ref/test_ops.c
tests_cpu_ref_test_ops_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_ops_LDADD = $(cpu_ref_test_libs)
tests_cpu_ref_test_transcend_SOURCES = tests/cpu_ref/test_transcend.c
tests_cpu_ref_test_transcend_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_transcend_LDADD = $(cpu_ref_test_libs) $(MPFR_LIBS)

# All 2^32 inputs of every function against MPFR: CPU hours, so not a part of check.
EXTRA_DIST += tests/cpu_ref/transcend.c
if HAVE_MPFR
EXTRA_PROGRAMS = tests/cpu_ref/transcend
tests_cpu_ref_transcend_SOURCES = tests/cpu_ref/transcend.c
tests_cpu_ref_transcend_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_transcend_LDADD = $(cpu_ref_test_libs) $(MPFR_LIBS)
check-transcend: tests/cpu_ref/transcend
	tests/cpu_ref/transcend
phony_targets += check-transcend
endif
