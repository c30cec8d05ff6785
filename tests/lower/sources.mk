# Lowering: kernels as text, the verifier, and kernels run by the engine of plugins/template beside the oracle.
lower_plain_tests = \
	tests/lower/test_docs tests/lower/test_golden tests/lower/test_lower tests/lower/test_memory tests/lower/test_verify
lower_twin_tests = tests/lower/test_fma tests/lower/test_ops tests/lower/test_random tests/lower/test_variants
check_PROGRAMS += $(lower_plain_tests) $(lower_twin_tests) tests/lower/test_rsqrt
TESTS += $(lower_plain_tests) $(lower_twin_tests) tests/lower/test_rsqrt tests/lower/random_run.sh
# Each runs programs for minutes under valgrind; the sanitizers look at the same code.
valgrind_skip += $(lower_twin_tests) tests/lower/test_rsqrt
lower_twin_libs = $(runs_libs) $(TEST_LIBS) -lpthread -lm

tests_lower_test_docs_SOURCES = tests/lower/test_docs.c
tests_lower_test_docs_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_docs_LDADD = $(TEST_LIBS)
tests_lower_test_golden_SOURCES = tests/lower/test_golden.c
tests_lower_test_golden_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_golden_LDADD = tests/lower/libtargets.la $(TEST_LIBS)
tests_lower_test_lower_SOURCES = tests/lower/test_lower.c
tests_lower_test_lower_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_lower_LDADD = tests/lower/libtargets.la $(TEST_LIBS)
tests_lower_test_memory_SOURCES = tests/lower/test_memory.c tests/fail_malloc.c tests/fail_malloc.h
tests_lower_test_memory_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_memory_LDADD = tests/lower/libtargets.la $(TEST_LIBS)
tests_lower_test_verify_SOURCES = tests/lower/test_verify.c
tests_lower_test_verify_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_verify_LDADD = tests/gen/libgen.la $(TEST_LIBS)
tests_lower_test_fma_SOURCES = tests/lower/test_fma.c
tests_lower_test_fma_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_fma_LDADD = $(lower_twin_libs)
tests_lower_test_ops_SOURCES = tests/lower/test_ops.c
tests_lower_test_ops_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_ops_LDADD = $(lower_twin_libs)
tests_lower_test_random_SOURCES = tests/lower/test_random.c
tests_lower_test_random_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_random_LDADD = $(lower_twin_libs)
tests_lower_test_variants_SOURCES = tests/lower/test_variants.c
tests_lower_test_variants_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_variants_LDADD = $(lower_twin_libs)
tests_lower_test_rsqrt_SOURCES = tests/lower/test_rsqrt.c tests/lower/batch.c tests/lower/batch.h
tests_lower_test_rsqrt_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_rsqrt_LDADD = plugins/cpu_ref/libengine.la $(TEST_LIBS) -lm
EXTRA_DIST += tests/lower/random_run.sh tests/lower/stage_random \
	tests/lower/golden/atomics.vyre tests/lower/golden/atomics.kernel \
	tests/lower/golden/bounds.vyre tests/lower/golden/bounds.kernel \
	tests/lower/golden/coherent.vyre tests/lower/golden/coherent.kernel \
	tests/lower/golden/collective.vyre tests/lower/golden/collective.kernel \
	tests/lower/golden/copies.vyre tests/lower/golden/copies.kernel \
	tests/lower/golden/diagnostics.vyre tests/lower/golden/diagnostics.kernel \
	tests/lower/golden/division.vyre tests/lower/golden/division.kernel \
	tests/lower/golden/flow.vyre tests/lower/golden/flow.kernel \
	tests/lower/golden/functions.vyre tests/lower/golden/functions.kernel \
	tests/lower/golden/narrow.vyre tests/lower/golden/narrow.kernel \
	tests/lower/golden/native_barrier.vyre tests/lower/golden/native_barrier.kernel \
	tests/lower/golden/saxpy.vyre tests/lower/golden/saxpy.kernel \
	tests/lower/golden/spill.vyre tests/lower/golden/spill.kernel \
	tests/lower/golden/steps.vyre tests/lower/golden/steps.kernel \
	tests/lower/golden/subgroup.vyre tests/lower/golden/subgroup.kernel \
	tests/lower/golden/vectors.vyre tests/lower/golden/vectors.kernel
