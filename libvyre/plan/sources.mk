# Planning: what becomes of several programs together.
vyre_core_sources += \
	libvyre/plan/arm.h libvyre/plan/arm.c \
	libvyre/plan/footprint.c \
	libvyre/plan/guard.c \
	libvyre/plan/returns.c \
	libvyre/plan/fuse.h libvyre/plan/fuse.c \
	libvyre/plan/hazard.c \
	libvyre/plan/merge.c \
	libvyre/plan/weave.c
