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
EXTRA_DIST += plugins/vulkan/README.md plugins/vulkan/selftest_vectors.py

# Work: executables, sets, batches, queues and timelines.
vulkan_work_sources = \
	plugins/vulkan/batch.c \
	plugins/vulkan/complete.c \
	plugins/vulkan/executable.c \
	plugins/vulkan/lane.c \
	plugins/vulkan/patch.c plugins/vulkan/patch.inc \
	plugins/vulkan/pipeline.c \
	plugins/vulkan/queue.c \
	plugins/vulkan/record.c \
	plugins/vulkan/recording.c \
	plugins/vulkan/set.c \
	plugins/vulkan/timeline.c \
	plugins/vulkan/work.h
EXTRA_DIST += plugins/vulkan/patch.sh plugins/vulkan/patch.spvasm

# The emitter.
vulkan_emitter_sources = \
	plugins/vulkan/opcodes.c \
	plugins/vulkan/spirv.h plugins/vulkan/spirv_emit.h \
	plugins/vulkan/spirv_chain.c \
	plugins/vulkan/spirv_emit.c \
	plugins/vulkan/spirv_exact.c \
	plugins/vulkan/spirv_flow.c \
	plugins/vulkan/spirv_group.c \
	plugins/vulkan/spirv_launch.c \
	plugins/vulkan/spirv_list.c \
	plugins/vulkan/spirv_memory.c \
	plugins/vulkan/spirv_module.c plugins/vulkan/spirv_module.h \
	plugins/vulkan/spirv_operator.c \
	plugins/vulkan/spirv_scan.c \
	plugins/vulkan/spirv_target.c \
	plugins/vulkan/spirv_zero.c

if HAVE_VULKAN
noinst_LTLIBRARIES += plugins/vulkan/libspirv.la
plugins_vulkan_libspirv_la_SOURCES = $(vulkan_emitter_sources)
nodist_plugins_vulkan_libspirv_la_SOURCES = plugins/vulkan/spirv_names.inc
plugins_vulkan_libspirv_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)

backend_LTLIBRARIES += plugins/vulkan/vyre_backend_vulkan.la
vulkan_plugin_sources = $(vulkan_device_sources) $(vulkan_work_sources)
plugins_vulkan_vyre_backend_vulkan_la_SOURCES = $(vulkan_plugin_sources)
nodist_plugins_vulkan_vyre_backend_vulkan_la_SOURCES = plugins/vulkan/build_id.c
plugins_vulkan_vyre_backend_vulkan_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
plugins_vulkan_vyre_backend_vulkan_la_LIBADD = plugins/vulkan/libspirv.la plugins/gpu/libgpu.la -lpthread
plugins_vulkan_vyre_backend_vulkan_la_LDFLAGS = -module $(PLUGIN_LDFLAGS)

# Opcodes by name, from the enum of the SPIR-V headers; of two names of a number the first in the alphabet.
plugins/vulkan/spirv_names.inc: Makefile
	$(AM_V_GEN)$(MKDIR_P) plugins/vulkan && \
	echo '#include <spirv/unified1/spirv.h>' | $(CC) $(CPPFLAGS) -E - | \
	sed -n 's/^ *SpvOp\([A-Z][A-Za-z0-9]*\) = \([0-9]*\),.*/X(\1, \2)/p' | sort | sort -s -u -t, -k2,2n >$@
$(plugins_vulkan_libspirv_la_OBJECTS): plugins/vulkan/spirv_names.inc

# What an executable was compiled by: a digest of all sources that decide what a blob holds and how it is launched.
vulkan_build_sources = $(vulkan_emitter_sources) $(vulkan_plugin_sources) $(plugins_gpu_libgpu_la_SOURCES)
plugins/vulkan/build_id.c: $(vulkan_build_sources)
	$(AM_V_GEN)$(MKDIR_P) plugins/vulkan && \
	id=`cd $(srcdir) && cat $(vulkan_build_sources) | sha256sum | cut -c1-16` && \
	printf 'extern const char vulkan_build_id[];\nconst char vulkan_build_id[] = "%s-%s";\n' '$(PACKAGE_VERSION)' "$$id" > $@
CLEANFILES += plugins/vulkan/build_id.c plugins/vulkan/spirv_names.inc
else
EXTRA_DIST += $(vulkan_emitter_sources) $(vulkan_device_sources) $(vulkan_work_sources)
endif
