# One pass, one file.
vyre_core_sources += \
	libvyre/opt/passes/algebra.h libvyre/opt/passes/algebra.c \
	libvyre/opt/passes/barrier_coalesce.c \
	libvyre/opt/passes/branch.c \
	libvyre/opt/passes/canonicalize.c \
	libvyre/opt/passes/const_buffer_fold.c \
	libvyre/opt/passes/const_fold.c \
	libvyre/opt/passes/dead_buffer_elim.c \
	libvyre/opt/passes/dead_store_elim.c \
	libvyre/opt/passes/memory.h libvyre/opt/passes/store_to_load_forward.c \
	libvyre/opt/passes/fma_synthesize.c \
	libvyre/opt/passes/fold_literals.c \
	libvyre/opt/passes/cse.c \
	libvyre/opt/passes/dce.c \
	libvyre/opt/passes/dead_assigns.h libvyre/opt/passes/dead_assigns.c \
	libvyre/opt/passes/fusion.c \
	libvyre/opt/passes/loop_fission.c \
	libvyre/opt/passes/loop_fusion.c \
	libvyre/opt/passes/loop_licm.c \
	libvyre/opt/passes/loop_normalize.c \
	libvyre/opt/passes/loop_peel.c \
	libvyre/opt/passes/loop_tighten.c \
	libvyre/opt/passes/loop_unroll.c \
	libvyre/opt/passes/normalize_atomics.c \
	libvyre/opt/passes/range_fold.c \
	libvyre/opt/passes/reaching_def_propagate.c \
	libvyre/opt/passes/region_inline.c \
	libvyre/opt/passes/saturate.c \
	libvyre/opt/passes/specialize.c \
	libvyre/opt/passes/strength_reduce.c \
	libvyre/opt/passes/strip_mine.c
