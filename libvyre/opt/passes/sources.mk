# One pass, one file.
vyre_core_sources += \
	libvyre/opt/passes/dce.c \
	libvyre/opt/passes/loop_fission.c \
	libvyre/opt/passes/loop_fusion.c \
	libvyre/opt/passes/loop_licm.c \
	libvyre/opt/passes/loop_normalize.c \
	libvyre/opt/passes/loop_peel.c \
	libvyre/opt/passes/loop_tighten.c \
	libvyre/opt/passes/loop_unroll.c \
	libvyre/opt/passes/strip_mine.c
