# The Vulkan backend: its emitter without a device, its device side on the fake library and on a real driver.
if HAVE_VULKAN
check_PROGRAMS += tests/vulkan/test_spirv
TESTS += tests/vulkan/test_spirv
valgrind_skip += tests/vulkan/test_spirv
tests_vulkan_test_spirv_SOURCES = tests/vulkan/test_spirv.c tests/vulkan/emitted.c tests/vulkan/emitted.h
tests_vulkan_test_spirv_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_vulkan_test_spirv_CFLAGS = $(TEST_CFLAGS)
tests_vulkan_test_spirv_LDADD = plugins/vulkan/libspirv.la plugins/gpu/libgpu.la tests/gen/libgen.la $(TEST_LIBS)
endif
EXTRA_DIST += \
	tests/vulkan/golden/narrow.vyre tests/vulkan/golden/narrow.spirv \
	tests/vulkan/golden/padded.vyre tests/vulkan/golden/padded.spirv \
	tests/vulkan/golden/saxpy.vyre tests/vulkan/golden/saxpy.spirv
