# The Vulkan backend: its emitter without a device, its device side on the fake library and on a real driver.
if HAVE_VULKAN
vulkan_rig = tests/vulkan/rig.c tests/vulkan/rig.h
check_PROGRAMS += tests/vulkan/test_spirv
TESTS += tests/vulkan/test_spirv
valgrind_skip += tests/vulkan/test_spirv
tests_vulkan_test_spirv_SOURCES = tests/vulkan/test_spirv.c tests/vulkan/emitted.c tests/vulkan/emitted.h
tests_vulkan_test_spirv_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_vulkan_test_spirv_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_spirv_LDADD = plugins/vulkan/libspirv.la plugins/gpu/libgpu.la tests/gen/libgen.la $(TEST_LIBS)

check_PROGRAMS += tests/vulkan/test_chains
TESTS += tests/vulkan/test_chains tests/vulkan/conform.sh
valgrind_skip += tests/vulkan/test_chains
tests_vulkan_test_chains_SOURCES = tests/vulkan/test_chains.c tests/vulkan/emitted.c tests/vulkan/emitted.h $(vulkan_rig)
tests_vulkan_test_chains_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_vulkan_test_chains_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_chains_LDADD = plugins/vulkan/libspirv.la plugins/gpu/libgpu.la $(lower_twin_libs)

check_PROGRAMS += tests/vulkan/test_exact
TESTS += tests/vulkan/test_exact
valgrind_skip += tests/vulkan/test_exact
tests_vulkan_test_exact_SOURCES = tests/vulkan/test_exact.c $(vulkan_rig)
tests_vulkan_test_exact_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_exact_LDADD = $(TEST_LIBS) -lpthread

# Work: on the fake library, then on a driver.
check_PROGRAMS += tests/vulkan/test_work_faults tests/vulkan/test_work_device
TESTS += tests/vulkan/test_work_faults tests/vulkan/test_work_device tests/vulkan/test_patch.sh
valgrind_skip += tests/vulkan/test_work_faults tests/vulkan/test_work_device # long, and the driver is not ours
tests_vulkan_test_work_faults_SOURCES = tests/vulkan/test_work_faults.c $(vulkan_rig)
tests_vulkan_test_work_faults_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_work_faults_LDADD = $(TEST_LIBS)
tests_vulkan_test_work_device_SOURCES = tests/vulkan/test_work_device.c $(vulkan_rig)
tests_vulkan_test_work_device_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_work_device_LDADD = $(TEST_LIBS)

# Opening, buffers and the numeric self-test, on the fake library and on a driver.
check_PROGRAMS += tests/vulkan/test_open tests/vulkan/test_buffers tests/vulkan/test_selftest
TESTS += tests/vulkan/test_open tests/vulkan/test_buffers tests/vulkan/test_selftest tests/vulkan/test_reasons.sh
valgrind_skip += tests/vulkan/test_open tests/vulkan/test_buffers tests/vulkan/test_selftest
tests_vulkan_test_open_SOURCES = tests/vulkan/test_open.c $(vulkan_rig)
tests_vulkan_test_open_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_open_LDADD = $(TEST_LIBS)
tests_vulkan_test_buffers_SOURCES = tests/vulkan/test_buffers.c $(vulkan_rig)
tests_vulkan_test_buffers_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_buffers_LDADD = $(TEST_LIBS)
tests_vulkan_test_selftest_SOURCES = tests/vulkan/test_selftest.c plugins/vulkan/selftest_kernel.c $(vulkan_rig)
tests_vulkan_test_selftest_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_vulkan_test_selftest_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_selftest_LDADD = plugins/gpu/libgpu.la $(TEST_LIBS)
endif
EXTRA_DIST += tests/vulkan/conform.sh tests/vulkan/test_patch.sh tests/vulkan/test_reasons.sh
EXTRA_DIST += \
	tests/vulkan/golden/fused.vyre tests/vulkan/golden/fused.spirv \
	tests/vulkan/golden/narrow.vyre tests/vulkan/golden/narrow.spirv \
	tests/vulkan/golden/padded.vyre tests/vulkan/golden/padded.spirv \
	tests/vulkan/golden/saxpy.vyre tests/vulkan/golden/saxpy.spirv
