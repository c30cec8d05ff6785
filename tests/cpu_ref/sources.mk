# The reference interpreter: its parts, programs in text, and the plugin through its ABI.
cpu_ref_tests = \
	tests/cpu_ref/test_collective tests/cpu_ref/test_fault tests/cpu_ref/test_flow \
	tests/cpu_ref/test_memory tests/cpu_ref/test_narrow tests/cpu_ref/test_ops tests/cpu_ref/test_plugin tests/cpu_ref/test_random tests/cpu_ref/test_transcend \
	tests/cpu_ref/test_values
check_PROGRAMS += $(cpu_ref_tests)
TESTS += $(cpu_ref_tests)
# valgrind computes long double with 64 bits, so nothing that rests on its 80 can be right there.
valgrind_skip += tests/cpu_ref/test_ops tests/cpu_ref/test_transcend
cpu_ref_trial = tests/cpu_ref/trial.c tests/cpu_ref/trial.h tests/cpu_ref/holds.h
cpu_ref_test_libs = plugins/cpu_ref/libengine.la $(TEST_LIBS) -lm

tests_cpu_ref_test_collective_SOURCES = tests/cpu_ref/test_collective.c $(cpu_ref_trial)
tests_cpu_ref_test_collective_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_collective_LDADD = $(cpu_ref_test_libs)
tests_cpu_ref_test_fault_SOURCES = tests/cpu_ref/test_fault.c tests/fail_malloc.c $(cpu_ref_trial)
tests_cpu_ref_test_fault_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_fault_LDADD = $(cpu_ref_test_libs)
tests_cpu_ref_test_flow_SOURCES = tests/cpu_ref/test_flow.c $(cpu_ref_trial)
tests_cpu_ref_test_flow_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_flow_LDADD = $(cpu_ref_test_libs)
tests_cpu_ref_test_memory_SOURCES = tests/cpu_ref/test_memory.c $(cpu_ref_trial)
tests_cpu_ref_test_memory_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_memory_LDADD = $(cpu_ref_test_libs)
tests_cpu_ref_test_narrow_SOURCES = tests/cpu_ref/test_narrow.c
tests_cpu_ref_test_narrow_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_narrow_LDADD = $(TEST_LIBS)
tests_cpu_ref_test_ops_SOURCES = tests/cpu_ref/test_ops.c
tests_cpu_ref_test_ops_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_ops_LDADD = $(cpu_ref_test_libs)
tests_cpu_ref_test_plugin_SOURCES = tests/cpu_ref/test_plugin.c
tests_cpu_ref_test_plugin_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_plugin_LDADD = $(TEST_LIBS) -lpthread
tests_cpu_ref_test_random_SOURCES = tests/cpu_ref/test_random.c tests/cpu_ref/holds.h
tests_cpu_ref_test_random_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_random_LDADD = tests/gen/libgen.la $(cpu_ref_test_libs)
tests_cpu_ref_test_transcend_SOURCES = tests/cpu_ref/test_transcend.c
tests_cpu_ref_test_transcend_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_transcend_LDADD = $(cpu_ref_test_libs) $(MPFR_LIBS)
tests_cpu_ref_test_values_SOURCES = tests/cpu_ref/test_values.c $(cpu_ref_trial)
tests_cpu_ref_test_values_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_test_values_LDADD = $(cpu_ref_test_libs)

# All 2^32 inputs of every function against MPFR: CPU hours, so not a part of check.
EXTRA_DIST += tests/cpu_ref/transcend.c
if HAVE_MPFR
EXTRA_PROGRAMS += tests/cpu_ref/transcend
tests_cpu_ref_transcend_SOURCES = tests/cpu_ref/transcend.c
tests_cpu_ref_transcend_CFLAGS = $(TEST_CFLAGS)
tests_cpu_ref_transcend_LDADD = $(cpu_ref_test_libs) $(MPFR_LIBS)
transcend_oracle = check-transcend-oracle
check-transcend-oracle: tests/cpu_ref/transcend
	tests/cpu_ref/transcend
endif
phony_targets += check-transcend-oracle
