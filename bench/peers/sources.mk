# Peers of the benchmark: `make peers` builds those that can be, `make install-peers` puts them where an installed vyre
# looks for them. The rest of the build neither needs nor links one. No directory of sources may have a peer's name:
# make would take it for the peer.
peer_protocol = bench/peers/build bench/peers/peer.c bench/peers/peer.h
cpu_peer = bench/peers/cpu/cpu.c bench/peers/cpu/cpu.h bench/peers/cpu/kernels.c bench/peers/cpu/probes.c
opencl_peer = bench/peers/opencl/opencl.c bench/peers/opencl/kernels.cl
cuda_peer_common = bench/peers/nvcc/device.cu bench/peers/nvcc/device.h
cuda_peer = bench/peers/nvcc/cuda.cu bench/peers/nvcc/probes.cu bench/peers/nvcc/probes.h \
	bench/peers/nvcc/sum.h
cuda_kernels = bench/peers/nvcc/kernels.cu bench/peers/nvcc/kernels.h bench/peers/nvcc/kernels_bits.cu \
	bench/peers/nvcc/kernels_numbers.cu bench/peers/nvcc/kernels_rules.cu bench/peers/nvcc/launch.h
cub_peer = bench/peers/nvcc/cub.cu
cublas_peer = bench/peers/nvcc/cublas.cu
vulkan_peer = bench/peers/glsl/device.c bench/peers/glsl/device.h bench/peers/glsl/vulkan.c \
	bench/peers/glsl/map.comp bench/peers/glsl/nothing.comp bench/peers/glsl/sum.comp
peer_sources = $(peer_protocol) bench/peers/facts.sh bench/peers/divide.h $(cpu_peer) $(opencl_peer) $(vulkan_peer) \
	$(cuda_peer_common) $(cuda_peer) $(cuda_kernels) $(cub_peer) $(cublas_peer)
EXTRA_DIST += $(peer_sources) bench/peers/README.md

peer_programs = $(addprefix bench/peers/,$(PEERS))
CLEANFILES += $(peer_programs)
bench/peers/gcc bench/peers/clang: $(addprefix $(top_srcdir)/,$(cpu_peer))
bench/peers/cuda: $(addprefix $(top_srcdir)/,$(cuda_peer_common) $(cuda_peer))
bench/peers/cub: $(addprefix $(top_srcdir)/,$(cuda_peer_common) $(cub_peer))
bench/peers/cublas: $(addprefix $(top_srcdir)/,$(cuda_peer_common) $(cublas_peer))
bench/peers/pocl: $(addprefix $(top_srcdir)/,$(opencl_peer))
bench/peers/vulkan: $(addprefix $(top_srcdir)/,$(vulkan_peer))
bench/peers/facts: $(top_srcdir)/bench/peers/facts.sh
bench/peers/cuda bench/peers/pocl bench/peers/vulkan: $(top_srcdir)/bench/peers/divide.h
$(peer_programs): $(addprefix $(top_srcdir)/,$(peer_protocol))
	$(AM_V_GEN)$(MKDIR_P) $(@D) && PEER_CFLAGS='$(PEER_CFLAGS)' NVCC='$(NVCC)' \
	  $(SHELL) $(top_srcdir)/bench/peers/build $(@F) $@

# Which peers can be built is known to configure.
CONFIG_STATUS_DEPENDENCIES = $(top_srcdir)/bench/peers/build

peers: $(peer_programs)

peersdir = $(pkglibexecdir)/peers
install-peers: peers
	$(MKDIR_P) "$(DESTDIR)$(peersdir)"
	for peer in $(peer_programs); do $(INSTALL_PROGRAM) $$peer "$(DESTDIR)$(peersdir)" || exit 1; done
phony_targets += peers install-peers
