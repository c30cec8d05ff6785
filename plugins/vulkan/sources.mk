# The Vulkan backend. The emitter is a library of its own, because tests and the benchmark run it without the plugin.

# The plugin, its devices and their memory.
vulkan_device_sources = \
	plugins/vulkan/api.c plugins/vulkan/api.h plugins/vulkan/entries.def \
	plugins/vulkan/buffer.c \
	plugins/vulkan/chain.c plugins/vulkan/chain.h plugins/vulkan/features.def \
	plugins/vulkan/compile.c plugins/vulkan/compile.h \
	plugins/vulkan/describe.c \
	plugins/vulkan/device.c plugins/vulkan/device.h \
	plugins/vulkan/facts.c plugins/vulkan/facts.h \
	plugins/vulkan/instance.c \
	plugins/vulkan/memory.c plugins/vulkan/memory.h \
	plugins/vulkan/memory_types.c \
	plugins/vulkan/plugin.c \
	plugins/vulkan/result.c plugins/vulkan/results.def \
	plugins/vulkan/selftest.c plugins/vulkan/selftest.h plugins/vulkan/selftest.inc \
	plugins/vulkan/selftest_kernel.c plugins/vulkan/selftest_kernel.h \
	plugins/vulkan/vulkan.h
EXTRA_DIST += plugins/vulkan/selftest_vectors.py
