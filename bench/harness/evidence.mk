# What becomes of the measurements: JSON and back, tables, comparison, targets and gates.
bench_evidence_sources = \
	bench/harness/compare.c bench/harness/compare.h bench/harness/compare_write.c \
	bench/harness/format.c bench/harness/format.h \
	bench/harness/gates.c bench/harness/gates.h \
	bench/harness/html.c bench/harness/html.h \
	bench/harness/judge.c \
	bench/harness/record.def bench/harness/record_fields.c bench/harness/record_fields.h \
	bench/harness/record_json.c bench/harness/record_json.h bench/harness/record_read.c \
	bench/harness/render.c bench/harness/render.h \
	bench/harness/svg.c bench/harness/svg.h \
	bench/harness/table.c bench/harness/table.h \
	bench/harness/targets.c bench/harness/targets.h bench/harness/targets.inc
bench_libvyre_bench_la_SOURCES += $(bench_evidence_sources)

# What a program that links the library compiles in; the command has it anyway.
bench_tool_sources = tools/json.c tools/json.h tools/number.c tools/number.h

# The schema, for readers. It is committed; a test says when it is stale.
noinst_PROGRAMS += bench/harness/schema_dump
bench_harness_schema_dump_SOURCES = bench/harness/schema_dump.c bench/harness/record_fields.c
bench_harness_schema_dump_CPPFLAGS = $(AM_CPPFLAGS)
EXTRA_DIST += docs/evidence bench/keep-evidence
schema-docs: bench/harness/schema_dump
	$(AM_V_GEN)bench/harness/schema_dump > $(srcdir)/docs/evidence/schema.md
phony_targets += schema-docs

# The thresholds. What python writes from their table is committed, so that a build needs no python; a test says when
# it is stale.
EXTRA_DIST += docs/optimization/BENCH_TARGETS.toml bench/harness/generate_targets
bench-targets:
	$(AM_V_GEN)$(srcdir)/bench/harness/generate_targets $(srcdir)/docs/optimization/BENCH_TARGETS.toml \
	  > $(srcdir)/bench/harness/targets.inc.new && \
	  mv $(srcdir)/bench/harness/targets.inc.new $(srcdir)/bench/harness/targets.inc
phony_targets += bench-targets
