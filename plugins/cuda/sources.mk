# The CUDA backend. The emitter is a library of its own, because tests and the benchmark run it without the plugin.
noinst_LTLIBRARIES += plugins/cuda/libptx.la
plugins_cuda_libptx_la_SOURCES = \
	plugins/cuda/opcodes.c \
	plugins/cuda/ptx.c plugins/cuda/ptx.h plugins/cuda/ptx_emit.h \
	plugins/cuda/ptx_address.c \
	plugins/cuda/ptx_atomic.c \
	plugins/cuda/ptx_compute.c \
	plugins/cuda/ptx_convert.c \
	plugins/cuda/ptx_copy.c \
	plugins/cuda/ptx_flow.c \
	plugins/cuda/ptx_group.c \
	plugins/cuda/ptx_leaf.c \
	plugins/cuda/ptx_memory.c \
	plugins/cuda/ptx_neighbours.c \
	plugins/cuda/ptx_pattern.c \
	plugins/cuda/ptx_subgroup.c \
	plugins/cuda/ptx_text.c \
	plugins/cuda/ptx_value.c
plugins_cuda_libptx_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)

# The driver side: the plugin itself.
backend_LTLIBRARIES += plugins/cuda/vyre_backend_cuda.la
cuda_plugin_sources = \
	plugins/cuda/api.c plugins/cuda/api.h plugins/cuda/driver.h plugins/cuda/entries.def \
	plugins/cuda/batch.c \
	plugins/cuda/buffer.c \
	plugins/cuda/compile.c \
	plugins/cuda/complete.c \
	plugins/cuda/cuda.h \
	plugins/cuda/device.c \
	plugins/cuda/executable.c \
	plugins/cuda/extents.c plugins/cuda/extents.h \
	plugins/cuda/jit.c \
	plugins/cuda/memory.c \
	plugins/cuda/module.c \
	plugins/cuda/peer.c \
	plugins/cuda/plan.c \
	plugins/cuda/plugin.c \
	plugins/cuda/profile.c \
	plugins/cuda/queue.c \
	plugins/cuda/resident.c \
	plugins/cuda/set.c \
	plugins/cuda/steps.c \
	plugins/cuda/timeline.c
plugins_cuda_vyre_backend_cuda_la_SOURCES = $(cuda_plugin_sources)
plugins_cuda_vyre_backend_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
nodist_plugins_cuda_vyre_backend_cuda_la_SOURCES = plugins/cuda/build_id.c
plugins_cuda_vyre_backend_cuda_la_LIBADD = plugins/cuda/libptx.la plugins/gpu/libgpu.la -lpthread
plugins_cuda_vyre_backend_cuda_la_LDFLAGS = -module $(PLUGIN_LDFLAGS)

# What an executable was compiled by: a digest of all sources that decide what a blob holds and how it is launched.
cuda_build_sources = $(cuda_plugin_sources) $(plugins_cuda_libptx_la_SOURCES) $(plugins_gpu_libgpu_la_SOURCES)
plugins/cuda/build_id.c: $(cuda_build_sources)
	$(AM_V_GEN)$(MKDIR_P) plugins/cuda && \
	id=`cd $(srcdir) && cat $(cuda_build_sources) | sha256sum | cut -c1-16` && \
	printf 'extern const char cuda_build_id[];\nconst char cuda_build_id[] = "%s-%s";\n' '$(PACKAGE_VERSION)' "$$id" > $@
CLEANFILES += plugins/cuda/build_id.c
EXTRA_DIST += plugins/cuda/README.md
