# The harness: what measures, and what becomes of the measurements. A program that uses it links
#   bench/libvyre_bench.la libvyre.la libvyre/libvyre_ir.la
# in this order, so that only what libvyre.so does not export comes from the archive.
noinst_LTLIBRARIES += bench/libvyre_bench.la
bench_libvyre_bench_la_SOURCES = \
	bench/harness/cases.c bench/harness/cases.def bench/harness/peers.def \
	bench/harness/child.c bench/harness/child.h \
	bench/harness/driver.c bench/harness/driver.h \
	bench/harness/driver_host.c bench/harness/driver_host.h \
	bench/harness/driver_peer.c bench/harness/driver_vyre.c \
	bench/harness/facts.c bench/harness/facts.h \
	bench/harness/generate.c bench/harness/generate.h \
	bench/harness/machine.c bench/harness/machine.h \
	bench/harness/measure.c bench/harness/measure.h \
	bench/harness/peer_host.c bench/harness/peer_host.h \
	bench/harness/probe.c bench/harness/probe.h bench/harness/probes.def \
	bench/harness/record.h \
	bench/harness/run.c bench/harness/run.h \
	bench/harness/select.c bench/harness/suites.def \
	bench/harness/stats.c bench/harness/stats.h \
	bench/harness/verify.c \
	bench/harness/work.c bench/harness/work.h \
	bench/harness/workload.h \
	bench/harness/workloads/elementwise.c \
	bench/harness/workloads/integer.c \
	bench/harness/workloads/micro.c \
	bench/harness/workloads/optimizer.c \
	bench/harness/workloads/pipeline.c
include bench/harness/evidence.mk
bench_libvyre_bench_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
bench_libvyre_bench_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench -I$(top_srcdir) -I$(top_srcdir)/bench/harness \
	-DBENCH_CFLAGS='"$(CFLAGS)"'
bench_libvyre_bench_la_LIBADD = $(JANSSON_LIBS) -lm

# Each make looks at the checkout, and writes the file anew only if it says something new.
nodist_bench_libvyre_bench_la_SOURCES = bench/harness/commit.c
bench/harness/commit.c: force
	@$(MKDIR_P) $(@D) && $(SHELL) $(top_srcdir)/bench/harness/write-commit $(top_srcdir) $@
force:
phony_targets += force
CLEANFILES += bench/harness/commit.c
EXTRA_DIST += bench/harness/write-commit
