# What becomes of the measurements.
bench_evidence_tests = tests/bench/test_compare tests/bench/test_gates tests/bench/test_record tests/bench/test_targets
check_PROGRAMS += $(bench_evidence_tests)
bench_evidence_scripts = tests/bench/test_evidence.sh tests/bench/test_html.sh tests/bench/test_table.sh
TESTS += $(bench_evidence_tests) $(bench_evidence_scripts)
EXTRA_DIST += $(bench_evidence_scripts) tests/bench/table.golden
bench_sample = tests/bench/sample_report.c tests/bench/sample_report.h $(bench_tool_sources)
bench_test_flags = $(AM_CPPFLAGS) -I$(top_srcdir)/bench

tests_bench_test_record_SOURCES = tests/bench/test_record.c tests/fail_malloc.c $(bench_sample)
tests_bench_test_record_CPPFLAGS = $(bench_test_flags)
tests_bench_test_record_CFLAGS = $(TEST_CFLAGS) $(JANSSON_CFLAGS)
tests_bench_test_record_LDADD = bench/libvyre_bench.la $(TEST_LIBS)
tests_bench_test_gates_SOURCES = tests/bench/test_gates.c tests/fail_malloc.c $(bench_sample)
tests_bench_test_gates_CPPFLAGS = $(bench_test_flags)
tests_bench_test_gates_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_gates_LDADD = bench/libvyre_bench.la $(TEST_LIBS)
tests_bench_test_targets_SOURCES = tests/bench/test_targets.c $(bench_sample)
tests_bench_test_targets_CPPFLAGS = $(bench_test_flags) -I$(top_srcdir)/bench/harness
tests_bench_test_targets_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_targets_LDADD = bench/libvyre_bench.la $(TEST_LIBS)
tests_bench_test_compare_SOURCES = tests/bench/test_compare.c tests/fail_malloc.c $(bench_sample)
tests_bench_test_compare_CPPFLAGS = $(bench_test_flags)
tests_bench_test_compare_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_compare_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

# What the scripts look at.
check_PROGRAMS += tests/bench/write_sample
tests_bench_write_sample_SOURCES = tests/bench/write_sample.c $(bench_sample)
tests_bench_write_sample_CPPFLAGS = $(bench_test_flags)
tests_bench_write_sample_CFLAGS = $(TEST_CFLAGS)
tests_bench_write_sample_LDADD = bench/libvyre_bench.la $(TEST_LIBS)
valgrind_skip += tests/bench/test_compare tests/bench/test_gates tests/bench/test_record tests/bench/write_sample
