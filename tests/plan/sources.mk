# Planning: fusion, by its words and by what fused programs do.
plan_tests = \
	tests/plan/test_fuse tests/plan/test_fuse_memory tests/plan/test_fuse_random tests/plan/test_fuse_refusals
check_PROGRAMS += $(plan_tests)
TESTS += $(plan_tests)
plan_helpers = tests/plan/fusing.c tests/plan/fusing.h
tests_plan_test_fuse_SOURCES = tests/plan/test_fuse.c $(plan_helpers) $(cpu_ref_trial)
tests_plan_test_fuse_CFLAGS = $(TEST_CFLAGS)
tests_plan_test_fuse_LDADD = $(cpu_ref_test_libs)
tests_plan_test_fuse_refusals_SOURCES = tests/plan/test_fuse_refusals.c $(plan_helpers) $(cpu_ref_trial)
tests_plan_test_fuse_refusals_CFLAGS = $(TEST_CFLAGS)
tests_plan_test_fuse_refusals_LDADD = $(cpu_ref_test_libs)
tests_plan_test_fuse_memory_SOURCES = tests/plan/test_fuse_memory.c tests/fail_malloc.c $(cpu_ref_trial)
tests_plan_test_fuse_memory_CFLAGS = $(TEST_CFLAGS)
tests_plan_test_fuse_memory_LDADD = $(cpu_ref_test_libs)
tests_plan_test_fuse_random_SOURCES = tests/plan/test_fuse_random.c $(plan_helpers) $(cpu_ref_trial)
tests_plan_test_fuse_random_CFLAGS = $(TEST_CFLAGS)
tests_plan_test_fuse_random_LDADD = tests/gen/libgen.la $(cpu_ref_test_libs)
