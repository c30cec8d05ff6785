# One pass, one file.
vyre_core_sources += \
	libvyre/opt/passes/algebra.h libvyre/opt/passes/algebra.c \
	libvyre/opt/passes/canonicalize.c \
	libvyre/opt/passes/const_fold.c \
	libvyre/opt/passes/fma_synthesize.c \
	libvyre/opt/passes/fold_literals.c \
	libvyre/opt/passes/dce.c \
	libvyre/opt/passes/loop_fission.c \
	libvyre/opt/passes/loop_fusion.c \
	libvyre/opt/passes/loop_licm.c \
	libvyre/opt/passes/loop_normalize.c \
	libvyre/opt/passes/loop_peel.c \
	libvyre/opt/passes/loop_tighten.c \
	libvyre/opt/passes/loop_unroll.c \
	libvyre/opt/passes/range_fold.c \
	libvyre/opt/passes/strip_mine.c
