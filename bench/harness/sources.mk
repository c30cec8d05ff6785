# The harness: what measures, and what becomes of the measurements. A program that uses it links
#   bench/libvyre_bench.la libvyre.la libvyre/libvyre_ir.la
# in this order, so that only what libvyre.so does not export comes from the archive.
noinst_LTLIBRARIES += bench/libvyre_bench.la
bench_libvyre_bench_la_SOURCES = \
	bench/harness/generate.c bench/harness/generate.h \
	bench/harness/record.h \
	bench/harness/stats.c bench/harness/stats.h
include bench/harness/evidence.mk
bench_libvyre_bench_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
bench_libvyre_bench_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench -I$(top_srcdir)
bench_libvyre_bench_la_LIBADD = $(JANSSON_LIBS) -lm
