# Programs as people write them, for measuring what the compiler makes of them.
EXTRA_DIST += \
	bench/kernels/aes_encrypt.vyre bench/kernels/base64_decode.vyre bench/kernels/bitonic_sort.vyre \
	bench/kernels/civil_date.vyre bench/kernels/condition_eval.vyre bench/kernels/crc32.vyre \
	bench/kernels/entropy_window.vyre bench/kernels/fused_filter.vyre bench/kernels/header_fields.vyre \
	bench/kernels/hit_bitmap.vyre bench/kernels/linear_i4.vyre bench/kernels/luma_histogram.vyre \
	bench/kernels/matmul.vyre bench/kernels/monte_carlo.vyre bench/kernels/nbody.vyre \
	bench/kernels/quantified.vyre bench/kernels/reduce_sum.vyre bench/kernels/route.vyre \
	bench/kernels/siphash.vyre bench/kernels/sobel.vyre
