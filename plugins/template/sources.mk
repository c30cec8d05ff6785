# A backend to copy. The engine is a library of its own, because tests run kernels with it; the plugin is not installed, so
# that nothing chooses it by itself. The oracle is built with its objects and queues.
template_backend_sources = \
	plugins/template/backend.h \
	plugins/template/execute.c \
	plugins/template/objects.c \
	plugins/template/queue.c
noinst_LTLIBRARIES += plugins/template/libtemplate.la plugins/template/vyre_backend_template.la

plugins_template_libtemplate_la_SOURCES = \
	plugins/template/code.c \
	plugins/template/engine.h \
	plugins/template/group.c plugins/template/group.h \
	plugins/template/ops.c plugins/template/ops.h \
	plugins/template/run.c

plugins_template_vyre_backend_template_la_SOURCES = \
	plugins/template/plugin.c plugins/template/text.c \
	$(template_backend_sources)
plugins_template_vyre_backend_template_la_LIBADD = plugins/template/libtemplate.la -lpthread -lm
plugins_template_vyre_backend_template_la_LDFLAGS = -module $(TEST_PLUGIN_LDFLAGS)
EXTRA_DIST += plugins/template/README.md
