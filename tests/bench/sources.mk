# The benchmark harness.
include tests/bench/evidence.mk
include tests/bench/peers.mk

bench_harness_tests = tests/bench/test_generate tests/bench/test_measure tests/bench/test_stats
check_PROGRAMS += $(bench_harness_tests)
TESTS += $(bench_harness_tests)
tests_bench_test_generate_SOURCES = tests/bench/test_generate.c $(bench_tool_sources)
tests_bench_test_generate_CPPFLAGS = $(bench_test_flags)
tests_bench_test_generate_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_generate_LDADD = bench/libvyre_bench.la $(TEST_LIBS)
tests_bench_test_measure_SOURCES = tests/bench/test_measure.c tests/bench/fake_driver.c tests/bench/fake_driver.h \
	tests/fail_malloc.c $(bench_tool_sources)
tests_bench_test_measure_CPPFLAGS = $(bench_test_flags)
tests_bench_test_measure_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_measure_LDADD = bench/libvyre_bench.la $(TEST_LIBS)
tests_bench_test_stats_SOURCES = tests/bench/test_stats.c tests/fail_malloc.c
tests_bench_test_stats_CPPFLAGS = $(bench_test_flags)
tests_bench_test_stats_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_stats_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

# Peers are real processes; this one breaks the protocol as a test tells it to.
check_PROGRAMS += tests/bench/fake_peer tests/bench/test_peer_host
TESTS += tests/bench/test_peer_host
valgrind_skip += tests/bench/fake_peer
tests_bench_fake_peer_SOURCES = tests/bench/fake_peer.c
tests_bench_test_peer_host_SOURCES = tests/bench/test_peer_host.c $(bench_tool_sources)
tests_bench_test_peer_host_CPPFLAGS = $(bench_test_flags)
tests_bench_test_peer_host_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_peer_host_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

# What the optimizer is measured by.
check_PROGRAMS += tests/bench/test_kernels
TESTS += tests/bench/test_kernels
valgrind_skip += tests/bench/test_kernels
tests_bench_test_kernels_SOURCES = tests/bench/test_kernels.c bench/harness/generate.c $(tests_backend_helpers)
tests_bench_test_kernels_CPPFLAGS = $(bench_test_flags)
tests_bench_test_kernels_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_kernels_LDADD = bench/libvyre_kernels.la plugins/cpu_ref/libengine.la $(TEST_LIBS)

TESTS += tests/bench/test_opt_bench.sh
EXTRA_DIST += tests/bench/test_opt_bench.sh

# The command as a whole.
TESTS += tests/bench/test_bench.sh
EXTRA_DIST += tests/bench/test_bench.sh

check_PROGRAMS += tests/bench/test_facts
TESTS += tests/bench/test_facts
tests_bench_test_facts_SOURCES = tests/bench/test_facts.c $(bench_tool_sources)
tests_bench_test_facts_CPPFLAGS = $(bench_test_flags)
tests_bench_test_facts_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_facts_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

check_PROGRAMS += tests/bench/test_driver_vyre
TESTS += tests/bench/test_driver_vyre
tests_bench_test_driver_vyre_SOURCES = tests/bench/test_driver_vyre.c tests/fail_malloc.c $(tests_backend_helpers) \
	$(bench_tool_sources)
tests_bench_test_driver_vyre_CPPFLAGS = $(bench_test_flags)
tests_bench_test_driver_vyre_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_driver_vyre_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

# Real times, on a quiet machine.
EXTRA_DIST += tests/bench/live.sh
check-bench-live: bench/vyre-bench$(EXEEXT) tests/bench/fake_peer$(EXEEXT) all-local
	top_builddir='$(abs_top_builddir)' $(SHELL) $(srcdir)/tests/bench/live.sh
phony_targets += check-bench-live
