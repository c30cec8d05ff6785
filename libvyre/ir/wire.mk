# The wire form VIR0 and its digest.
vyre_ir_sources += \
	libvyre/base/digest.h libvyre/base/digest.c \
	libvyre/ir/wire.h libvyre/ir/wire_encode.c libvyre/ir/wire_decode.c \
	libvyre/ir/wire_read.h libvyre/ir/wire_read.c
