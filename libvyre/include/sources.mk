# Public headers, and the tables that they are made from. Written by tests/house/update-headers.
vyreinclude_HEADERS += \
	libvyre/include/vyre/backend.h \
	libvyre/include/vyre/config.h \
	libvyre/include/vyre/device.h \
	libvyre/include/vyre/diagnostic.h \
	libvyre/include/vyre/ir.h \
	libvyre/include/vyre/kernel.h \
	libvyre/include/vyre/log.h \
	libvyre/include/vyre/lower.h \
	libvyre/include/vyre/opt.h \
	libvyre/include/vyre/plan.h \
	libvyre/include/vyre/status.h \
	libvyre/include/vyre/text.h \
	libvyre/include/vyre/vyre.h \
	libvyre/include/vyre/wire.h \
	libvyre/include/vyre/codes.def \
	libvyre/include/vyre/config_keys.def \
	libvyre/include/vyre/fuse_reasons.def \
	libvyre/include/vyre/kernel_ops.def \
	libvyre/include/vyre/kernel_types.def \
	libvyre/include/vyre/needs.def \
	libvyre/include/vyre/ops.def \
	libvyre/include/vyre/status.def \
	libvyre/include/vyre/stmts.def \
	libvyre/include/vyre/types.def
