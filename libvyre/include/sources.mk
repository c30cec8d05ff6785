# Public headers, and the tables that they are made from.
vyreinclude_HEADERS += \
	libvyre/include/vyre/codes.def \
	libvyre/include/vyre/diagnostic.h \
	libvyre/include/vyre/ir.h \
	libvyre/include/vyre/ops.def \
	libvyre/include/vyre/status.def \
	libvyre/include/vyre/status.h \
	libvyre/include/vyre/stmts.def \
	libvyre/include/vyre/text.h \
	libvyre/include/vyre/types.def \
	libvyre/include/vyre/wire.h
