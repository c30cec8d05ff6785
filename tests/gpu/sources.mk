# What the backends of devices share.
check_PROGRAMS += tests/gpu/test_gpu
TESTS += tests/gpu/test_gpu
tests_gpu_test_gpu_SOURCES = tests/gpu/test_gpu.c
tests_gpu_test_gpu_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_gpu_test_gpu_CFLAGS = $(TEST_CFLAGS)
tests_gpu_test_gpu_LDADD = plugins/gpu/libgpu.la $(TEST_LIBS)
