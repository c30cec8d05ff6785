# Fuzz targets: tests/fuzz/fuzz_NAME.c with LLVMFuzzerTestOneInput, and its corpus in tests/corpus/NAME.
#
# make check   replays the corpus (driver.c).
# make fuzz    builds the targets with clang's libFuzzer, AddressSanitizer and UBSan and runs each for FUZZ_SECONDS
#              (default 60); FUZZ_TARGETS="ini text" chooses. What it finds lies in fuzz/ of the build tree; a finding
#              goes into tests/corpus/NAME once it is mended.
fuzz_programs = tests/fuzz/fuzz_ini
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)
EXTRA_DIST += tests/fuzz/run tests/corpus

tests_fuzz_fuzz_ini_SOURCES = tests/fuzz/fuzz_ini.c tests/fuzz/driver.c
tests_fuzz_fuzz_ini_LDADD = $(vyre_static_libs)

fuzz_programs += tests/fuzz/fuzz_npy
tests_fuzz_fuzz_npy_SOURCES = tests/fuzz/fuzz_npy.c tests/fuzz/driver.c
tests_fuzz_fuzz_npy_LDADD = $(vyre_static_libs)

fuzz_programs += tests/fuzz/fuzz_wire
tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c tests/fuzz/driver.c
tests_fuzz_fuzz_wire_LDADD = $(vyre_static_libs)

fuzz_programs += tests/fuzz/fuzz_text
tests_fuzz_fuzz_text_SOURCES = tests/fuzz/fuzz_text.c tests/fuzz/driver.c
tests_fuzz_fuzz_text_LDADD = $(vyre_static_libs)

fuzz_programs += tests/fuzz/fuzz_kernel
tests_fuzz_fuzz_kernel_SOURCES = tests/fuzz/fuzz_kernel.c tests/fuzz/driver.c
tests_fuzz_fuzz_kernel_LDADD = $(vyre_static_libs)

fuzz_programs += tests/fuzz/fuzz_cache
tests_fuzz_fuzz_cache_SOURCES = tests/fuzz/fuzz_cache.c tests/fuzz/driver.c
tests_fuzz_fuzz_cache_LDADD = $(vyre_static_libs)

fuzz_programs += tests/fuzz/fuzz_report
tests_fuzz_fuzz_report_SOURCES = tests/fuzz/fuzz_report.c tests/fuzz/driver.c $(bench_tool_sources)
tests_fuzz_fuzz_report_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench
tests_fuzz_fuzz_report_LDADD = bench/libvyre_bench.la $(vyre_static_libs)

fuzz_sources = $(vyre_ir_sources) $(vyre_core_sources) $(bench_evidence_sources) $(bench_tool_sources) \
	bench/harness/stats.c
fuzz_flags = $(AM_CPPFLAGS) -I$(top_srcdir)/bench -I$(top_srcdir) $(SODIUM_CFLAGS) $(INIH_CFLAGS) $(JANSSON_CFLAGS)
fuzz:
	@sources='$(filter %.c,$(fuzz_sources))' flags='$(fuzz_flags)' \
	libs='$(SODIUM_LIBS) $(INIH_LIBS) $(JANSSON_LIBS) -lm' \
	$(SHELL) $(srcdir)/tests/fuzz/run '$(abs_top_srcdir)' $(patsubst tests/fuzz/fuzz_%,%,$(fuzz_programs))
phony_targets += fuzz
