# The peers of the benchmark, and the protocol that they speak. Those that only a GPU can run are built by make peers.
check_PROGRAMS += tests/bench/adding_peer tests/bench/test_peer tests/bench/test_peers
TESTS += tests/bench/test_peer tests/bench/test_peers
valgrind_skip += tests/bench/adding_peer
check_DATA = $(filter-out %/cuda %/cub %/cublas,$(peer_programs))
tests_bench_adding_peer_SOURCES = tests/bench/adding_peer.c bench/peers/peer.c bench/peers/peer.h
tests_bench_adding_peer_CPPFLAGS = $(bench_test_flags)
tests_bench_test_peer_SOURCES = tests/bench/test_peer.c bench/peers/divide.h
tests_bench_test_peer_CPPFLAGS = $(bench_test_flags)
tests_bench_test_peer_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_peer_LDADD = $(CHECK_LIBS)
tests_bench_test_peers_SOURCES = tests/bench/test_peers.c $(bench_tool_sources)
tests_bench_test_peers_CPPFLAGS = $(bench_test_flags)
tests_bench_test_peers_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_peers_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

# What the harness measures in its own process.
check_PROGRAMS += tests/bench/test_host_cases
TESTS += tests/bench/test_host_cases
valgrind_skip += tests/bench/test_host_cases
tests_bench_test_host_cases_SOURCES = tests/bench/test_host_cases.c $(bench_tool_sources)
tests_bench_test_host_cases_CPPFLAGS = $(bench_test_flags)
tests_bench_test_host_cases_CFLAGS = $(TEST_CFLAGS)
tests_bench_test_host_cases_LDADD = bench/libvyre_bench.la $(TEST_LIBS)

# A folder that measures elsewhere. It installs, which one test at a time may do in a build.
TESTS += tests/bench/test_stage.sh
EXTRA_DIST += tests/bench/test_stage.sh
tests/bench/test_stage.log: tests/house/install.log tests/tools/test_installed.log
