# Fake vendor libraries, for tests of what plugins do where a driver is old, broken or absent. They lie in
# tests/fake/$(objdir) under the names that plugins open: libcuda.so.1 and libvulkan.so.1.
fake_shared = tests/fake/script.c tests/fake/script.h tests/fake/worker.c
fake_ldflags = -version-info 1:0:0 -rpath $(abs_top_builddir)/never-installed -no-undefined
EXTRA_DIST += tests/fake/README.md

check_LTLIBRARIES += tests/fake/libcuda.la
tests_fake_libcuda_la_SOURCES = $(fake_shared) tests/fake/cuda.h tests/fake/cuda_abi.h tests/fake/cuda_device.c \
	tests/fake/cuda_entries.c tests/fake/cuda_entries.def tests/fake/cuda_memory.c tests/fake/cuda_module.c \
	tests/fake/cuda_stream.c
tests_fake_libcuda_la_CFLAGS = $(AM_CFLAGS)
tests_fake_libcuda_la_LDFLAGS = $(fake_ldflags)

check_PROGRAMS += tests/fake/test_fake_cuda
TESTS += tests/fake/test_fake_cuda
tests_fake_test_fake_cuda_SOURCES = tests/fake/test_fake_cuda.c tests/fake/cuda_abi.h tests/fake/open.h \
	tests/fake/script.h
tests_fake_test_fake_cuda_CFLAGS = $(TEST_CFLAGS)
tests_fake_test_fake_cuda_LDADD = $(CHECK_LIBS)

check_LTLIBRARIES += tests/fake/libvulkan.la
tests_fake_libvulkan_la_SOURCES = $(fake_shared) tests/fake/vulkan.h tests/fake/vulkan_commands.c \
	tests/fake/vulkan_entries.c tests/fake/vulkan_entries.def tests/fake/vulkan_instance.c tests/fake/vulkan_objects.c \
	tests/fake/vulkan_queue.c
tests_fake_libvulkan_la_CFLAGS = $(AM_CFLAGS)
tests_fake_libvulkan_la_LDFLAGS = $(fake_ldflags)

check_PROGRAMS += tests/fake/test_fake_vulkan
TESTS += tests/fake/test_fake_vulkan
tests_fake_test_fake_vulkan_SOURCES = tests/fake/test_fake_vulkan.c tests/fake/open.h tests/fake/script.h \
	tests/fake/vulkan.h
tests_fake_test_fake_vulkan_CFLAGS = $(TEST_CFLAGS)
tests_fake_test_fake_vulkan_LDADD = $(CHECK_LIBS)
# Each test wants the library as it was first opened, so a process of its own.
valgrind_skip += tests/fake/test_fake_cuda tests/fake/test_fake_vulkan
