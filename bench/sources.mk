# Benchmarks. They are built, and nothing depends on what they say.
include bench/gpu/sources.mk
include bench/harness/sources.mk
include bench/kernels/sources.mk
include bench/peers/sources.mk

# For a machine on which vyre is not built.
EXTRA_DIST += bench/stage-gpu bench/run-gpu bench/run-ratios

noinst_PROGRAMS += bench/ir_bench
bench_ir_bench_SOURCES = bench/ir_bench.c bench/shapes.c bench/shapes.h
bench_ir_bench_LDADD = $(vyre_static_libs)

# The command `vyre bench` by itself, with the peers of the build tree.
noinst_PROGRAMS += bench/vyre-bench
bench_vyre_bench_SOURCES = bench/vyre_bench.c \
	tools/cmd_bench.c tools/commands.h \
	tools/data.c tools/data.h \
	tools/failure.c tools/failure.h \
	tools/files.c tools/files.h \
	tools/json.c tools/json.h \
	tools/npy.c tools/npy.h \
	tools/number.c tools/number.h \
	tools/options.c tools/options.def tools/options.h tools/options_table.c tools/forms.def \
	tools/output.c tools/output.h \
	tools/session.c tools/session.h
bench_vyre_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -I$(top_srcdir)/bench \
	-DBENCH_PEERS_DIR='"$(abs_top_builddir)/bench/peers"'
bench_vyre_bench_LDADD = bench/libvyre_bench.la libvyre.la libvyre/libvyre_ir.la $(SODIUM_LIBS) -lm

# What the optimizer brings, and how its time grows.
noinst_PROGRAMS += bench/opt_bench
bench_opt_bench_SOURCES = bench/opt_bench.c bench/opt_kernels.c bench/opt_bench.h bench/opt_scale.c \
	bench/shapes.c bench/shapes_hard.c bench/shapes.h
bench_opt_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench -DBENCH_KERNELS_DIR='"$(abs_top_srcdir)/bench/kernels"'
bench_opt_bench_LDADD = bench/libvyre_kernels.la plugins/cpu_ref/libengine.la $(vyre_static_libs)

noinst_PROGRAMS += bench/lower_bench
bench_lower_bench_SOURCES = bench/lower_bench.c
bench_lower_bench_LDADD = tests/lower/libtargets.la tests/gen/libgen.la $(vyre_static_libs)

# The Vulkan backend beside GLSL on the same driver: bare Vulkan is that of the peer, so it is built where that can be.
vulkan_bench_programs = bench/vulkan/histogram.vyre bench/vulkan/mandelbrot.vyre bench/vulkan/matmul_apart.vyre \
	bench/vulkan/saxpy.vyre bench/vulkan/saxpy_fma.vyre bench/vulkan/small.vyre
vulkan_bench_shaders = bench/vulkan/fma.glsl bench/vulkan/histogram.comp bench/vulkan/mandelbrot.comp \
	bench/vulkan/matmul.comp bench/vulkan/reduce.comp bench/vulkan/saxpy.comp bench/vulkan/small.comp
vulkan_bench_sources = bench/vulkan/bench.c bench/vulkan/contest.c bench/vulkan/contest.h bench/vulkan/kernels.c \
	bench/vulkan/peer.c bench/vulkan/start.c bench/vulkan/submit.c bench/vulkan/vyre.c
EXTRA_DIST += bench/vulkan/shaders.sh $(vulkan_bench_programs) $(vulkan_bench_shaders) $(vulkan_bench_sources)
if HAVE_VULKAN_PEER
noinst_PROGRAMS += bench/vulkan_bench
bench_vulkan_bench_SOURCES = $(vulkan_bench_sources) \
	bench/peers/glsl/device.c bench/peers/glsl/device.h bench/peers/peer.c bench/peers/peer.h
nodist_bench_vulkan_bench_SOURCES = bench/vulkan/shaders.h
bench_vulkan_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench -I$(top_builddir)/bench \
	-DBENCH_DIR='"$(abs_top_srcdir)/bench"'
bench_vulkan_bench_LDADD = libvyre.la -lvulkan -lm
bench/vulkan/bench-kernels.$(OBJEXT): bench/vulkan/shaders.h
bench/vulkan/shaders.h: bench/vulkan/shaders.sh $(vulkan_bench_shaders)
	$(AM_V_GEN)$(MKDIR_P) bench/vulkan && $(SHELL) $(srcdir)/bench/vulkan/shaders.sh $@
CLEANFILES += bench/vulkan/shaders.h
endif

# The same for the SPIR-V emitter.
if HAVE_CHECK
if HAVE_VULKAN
noinst_PROGRAMS += bench/spirv_bench
bench_spirv_bench_SOURCES = bench/spirv_bench.c tests/vulkan/emitted.c tests/vulkan/emitted.h
bench_spirv_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
bench_spirv_bench_CFLAGS = $(TEST_CFLAGS)
bench_spirv_bench_LDADD = plugins/vulkan/libspirv.la plugins/gpu/libgpu.la tests/gen/libgen.la $(vyre_static_libs) \
	$(CHECK_LIBS)
endif
endif

# The same for the PTX emitter.
if HAVE_CHECK
noinst_PROGRAMS += bench/ptx_bench
bench_ptx_bench_SOURCES = bench/ptx_bench.c
bench_ptx_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
bench_ptx_bench_LDADD = $(cuda_modules_libs) $(vyre_static_libs)
endif
