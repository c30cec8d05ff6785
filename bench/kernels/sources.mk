# Programs as people write them, for measuring what the compiler makes of them; their data, and what they must compute.
kernel_programs = \
	bench/kernels/aes_encrypt.vyre bench/kernels/base64_decode.vyre bench/kernels/bitonic_sort.vyre \
	bench/kernels/civil_date.vyre bench/kernels/condition_eval.vyre bench/kernels/crc32.vyre \
	bench/kernels/entropy_window.vyre bench/kernels/fused_filter.vyre bench/kernels/header_fields.vyre \
	bench/kernels/hit_bitmap.vyre bench/kernels/linear_i4.vyre bench/kernels/luma_histogram.vyre \
	bench/kernels/matmul.vyre bench/kernels/monte_carlo.vyre bench/kernels/nbody.vyre \
	bench/kernels/quantified.vyre bench/kernels/reduce_sum.vyre bench/kernels/route.vyre \
	bench/kernels/siphash.vyre bench/kernels/sobel.vyre
EXTRA_DIST += $(kernel_programs)

# It needs base/, ir/ and the oracle's engine: link bench/libvyre_kernels.la plugins/cpu_ref/libengine.la and
# $(vyre_static_libs).
noinst_LTLIBRARIES += bench/libvyre_kernels.la
bench_libvyre_kernels_la_SOURCES = \
	bench/kernels/execute.c bench/kernels/execute.h \
	bench/kernels/expect.c \
	bench/kernels/fill.c \
	bench/kernels/kernels.c bench/kernels/kernels.def bench/kernels/kernels.h \
	bench/kernels/lint.c bench/kernels/lint.h \
	bench/kernels/reference.h \
	bench/kernels/reference_bits.c bench/kernels/reference_numbers.c bench/kernels/reference_rules.c
bench_libvyre_kernels_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench
