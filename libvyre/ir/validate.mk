# The whole-program checks and the analyses that they rest on.
vyre_ir_sources += \
	libvyre/ir/walk.h libvyre/ir/walk.c \
	libvyre/ir/intervals.h libvyre/ir/intervals.c \
	libvyre/ir/settled.h libvyre/ir/settled.c \
	libvyre/ir/uniform.h libvyre/ir/uniform.c \
	libvyre/ir/validate.h libvyre/ir/validate.c \
	libvyre/ir/validate_needs.c libvyre/ir/validate_race.c
