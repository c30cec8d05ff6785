# Foundations without knowledge of programs.
vyre_ir_sources += \
	libvyre/base/arena.c libvyre/base/arena.h \
	libvyre/base/checked.h \
	libvyre/base/diag.c libvyre/base/diag.h \
	libvyre/base/error.c libvyre/base/error.h \
	libvyre/base/index_set.c libvyre/base/index_set.h \
	libvyre/base/narrow.c libvyre/base/narrow.h \
	libvyre/base/strings.c libvyre/base/strings.h \
	libvyre/base/suggest.c libvyre/base/suggest.h \
	libvyre/base/utf8.c libvyre/base/utf8.h \
	libvyre/base/vector.c libvyre/base/vector.h \
	libvyre/base/writer.c libvyre/base/writer.h

vyre_core_sources += \
	libvyre/base/config.c libvyre/base/config.h \
	libvyre/base/config_backend.c \
	libvyre/base/config_file.c \
	libvyre/base/config_table.c \
	libvyre/base/config_value.c \
	libvyre/base/env.c libvyre/base/env.h \
	libvyre/base/log.c \
	libvyre/base/self.c libvyre/base/self.h

# What people read about settings comes from the table. The files are committed; a test says when they are stale.
noinst_PROGRAMS += libvyre/base/config_dump
libvyre_base_config_dump_SOURCES = libvyre/base/config_dump.c
libvyre_base_config_dump_LDADD = $(vyre_static_libs)
dist_man5_MANS += docs/vyre.ini.5
dist_doc_DATA += docs/config.md

config-docs: libvyre/base/config_dump
	$(AM_V_GEN)libvyre/base/config_dump ini > $(srcdir)/etc/vyre.ini && \
	libvyre/base/config_dump markdown > $(srcdir)/docs/config.md && \
	libvyre/base/config_dump man > $(srcdir)/docs/vyre.ini.5
phony_targets += config-docs
