# What the backends of devices share: a library that each links.
noinst_LTLIBRARIES += plugins/gpu/libgpu.la
plugins_gpu_libgpu_la_SOURCES = \
	plugins/gpu/answer.c plugins/gpu/answer.h \
	plugins/gpu/blob.c plugins/gpu/blob.h \
	plugins/gpu/bytes.c plugins/gpu/bytes.h \
	plugins/gpu/flow.c plugins/gpu/flow.h \
	plugins/gpu/kernel.c plugins/gpu/kernel.h \
	plugins/gpu/launch.c plugins/gpu/launch.h
plugins_gpu_libgpu_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
EXTRA_DIST += plugins/gpu/README.md
