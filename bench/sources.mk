# Benchmarks. They are built, and nothing depends on what they say.
include bench/harness/sources.mk
include bench/peers/sources.mk

# For a machine on which vyre is not built.
EXTRA_DIST += bench/stage-gpu bench/run-gpu

noinst_PROGRAMS += bench/ir_bench
bench_ir_bench_SOURCES = bench/ir_bench.c
bench_ir_bench_LDADD = $(vyre_static_libs)
