# Benchmarks. They are built, and nothing depends on what they say.
include bench/harness/sources.mk
include bench/peers/sources.mk

noinst_PROGRAMS += bench/ir_bench
bench_ir_bench_SOURCES = bench/ir_bench.c
bench_ir_bench_LDADD = $(vyre_static_libs)
