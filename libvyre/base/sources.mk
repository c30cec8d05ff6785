# Foundations without knowledge of programs.
vyre_ir_sources += \
	libvyre/base/arena.c libvyre/base/arena.h \
	libvyre/base/checked.h \
	libvyre/base/diag.c libvyre/base/diag.h \
	libvyre/base/error.c libvyre/base/error.h \
	libvyre/base/index_set.c libvyre/base/index_set.h \
	libvyre/base/strings.c libvyre/base/strings.h \
	libvyre/base/utf8.c libvyre/base/utf8.h \
	libvyre/base/vector.c libvyre/base/vector.h \
	libvyre/base/writer.c libvyre/base/writer.h
