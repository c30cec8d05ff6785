# The conformance kit, a library of the command alone.
noinst_LTLIBRARIES += tools/conform/libconform.la
tools_conform_libconform_la_SOURCES = \
	tools/conform/abi_compile.c \
	tools/conform/abi_launch.c \
	tools/conform/abi_life.c \
	tools/conform/abi_records.c \
	tools/conform/abi_threads.c \
	tools/conform/abi_time.c \
	tools/conform/abi_work.c \
	tools/conform/allow.c tools/conform/allow.h \
	tools/conform/case.c \
	tools/conform/checks.c tools/conform/checks.def tools/conform/checks.h \
	tools/conform/descriptor.c \
	tools/conform/differ.c \
	tools/conform/hook.c tools/conform/hook.h \
	tools/conform/host.c \
	tools/conform/image.c tools/conform/image.h \
	tools/conform/kit.c tools/conform/kit.h \
	tools/conform/outcome.h \
	tools/conform/process.c tools/conform/process.h \
	tools/conform/programs.c tools/conform/programs.h \
	tools/conform/raw.c tools/conform/raw.h \
	tools/conform/report.c tools/conform/report.h \
	tools/conform/resource.c \
	tools/conform/run.c tools/conform/run.h \
	tools/conform/static.c \
	tools/conform/world.c tools/conform/world.h
include tools/conform/numeric.mk
tools_conform_libconform_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir) -I$(top_srcdir)/tests
