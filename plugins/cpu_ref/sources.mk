# The reference interpreter. The engine is a library of its own, because tests link it without the plugin.
noinst_LTLIBRARIES += plugins/cpu_ref/libengine.la
backend_LTLIBRARIES += plugins/cpu_ref/vyre_backend_cpu_ref.la

cpu_ref_engine_sources = \
	plugins/cpu_ref/code.c plugins/cpu_ref/code.h \
	plugins/cpu_ref/collective.c \
	plugins/cpu_ref/cpu_limits.h \
	plugins/cpu_ref/group.h \
	plugins/cpu_ref/launch.c plugins/cpu_ref/launch.h \
	plugins/cpu_ref/memory.c plugins/cpu_ref/memory.h \
	plugins/cpu_ref/ops.c plugins/cpu_ref/ops.h \
	plugins/cpu_ref/run.c \
	plugins/cpu_ref/transcend.c plugins/cpu_ref/transcend.h
cpu_ref_plugin_sources = \
	plugins/cpu_ref/compile.c \
	plugins/cpu_ref/plugin.c plugins/cpu_ref/plugin.h \
	$(template_backend_sources)

plugins_cpu_ref_libengine_la_SOURCES = $(cpu_ref_engine_sources)

plugins_cpu_ref_vyre_backend_cpu_ref_la_SOURCES = $(cpu_ref_plugin_sources)
plugins_cpu_ref_vyre_backend_cpu_ref_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/plugins
nodist_plugins_cpu_ref_vyre_backend_cpu_ref_la_SOURCES = plugins/cpu_ref/build_id.c
plugins_cpu_ref_vyre_backend_cpu_ref_la_LIBADD = \
	plugins/cpu_ref/libengine.la libvyre/libvyre_ir.la $(SODIUM_LIBS) -lpthread -lm
plugins_cpu_ref_vyre_backend_cpu_ref_la_LDFLAGS = -module $(PLUGIN_LDFLAGS)

# What an executable was compiled by: a digest of all sources that decide what a program means here.
plugins/cpu_ref/build_id.c: $(cpu_ref_engine_sources) $(cpu_ref_plugin_sources) $(vyre_ir_sources)
	$(AM_V_GEN)$(MKDIR_P) plugins/cpu_ref && \
	id=`cd $(srcdir) && cat $(cpu_ref_engine_sources) $(cpu_ref_plugin_sources) $(vyre_ir_sources) | sha256sum | cut -c1-16` && \
	printf 'extern const char cpu_build_id[];\nconst char cpu_build_id[] = "%s-%s";\n' '$(PACKAGE_VERSION)' "$$id" > $@
CLEANFILES += plugins/cpu_ref/build_id.c
EXTRA_DIST += plugins/cpu_ref/README.md
