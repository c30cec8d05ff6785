# A GPU backend beside CUDA C++. It runs where a GPU is: bench/stage-gpu takes it along.
noinst_PROGRAMS += bench/gpu/gpu_bench
bench_gpu_gpu_bench_SOURCES = \
	bench/gpu/add.c bench/gpu/compile.c bench/gpu/gpu.h bench/gpu/kernels.c bench/gpu/main.c \
	bench/gpu/scale.c bench/gpu/scale.h bench/gpu/side.c bench/gpu/sizes.def bench/gpu/submit.c \
	bench/harness/generate.c bench/harness/generate.h bench/harness/stats.c bench/harness/stats.h \
	bench/harness/targets.c bench/harness/targets.h
bench_gpu_gpu_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench \
	-DBENCH_KERNELS_DIR='"$(abs_top_srcdir)/bench/kernels"'
bench_gpu_gpu_bench_LDADD = bench/libvyre_kernels.la libvyre.la libvyre/libvyre_ir.la -lm
