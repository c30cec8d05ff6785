# Running one program in several ways, and the program that does so in bulk; its libraries may lie beside it, so that it
# can be moved to another machine.
noinst_LTLIBRARIES += tests/lower/libtargets.la tests/lower/libruns.la
tests_lower_libtargets_la_SOURCES = tests/lower/targets.c tests/lower/targets.h
tests_lower_libruns_la_SOURCES = \
	tests/lower/hunt.c tests/lower/hunt.h \
	tests/lower/outcome.c tests/lower/outcome.h \
	tests/lower/runs.c tests/lower/runs.h \
	tests/lower/twin.c tests/lower/twin.h \
	tests/lower/variants.c tests/lower/variants.h
runs_libs = tests/lower/libruns.la tests/lower/libtargets.la tests/gen/libgen.la \
	plugins/cpu_ref/libengine.la plugins/template/libtemplate.la

noinst_PROGRAMS += tests/lower/random_run
tests_lower_random_run_SOURCES = tests/lower/random_run.c
tests_lower_random_run_LDFLAGS = -Wl,-rpath,'$$ORIGIN'
tests_lower_random_run_LDADD = $(runs_libs) $(vyre_static_libs) -lpthread
