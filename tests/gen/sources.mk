# Random programs from a seed, and what makes a failing one small. By the public API alone, so that the command can link
# it too: tests/gen/libgen.la before the libraries.
noinst_LTLIBRARIES += tests/gen/libgen.la
tests_gen_libgen_la_SOURCES = \
	tests/gen/random_expr.c \
	tests/gen/random_program.c tests/gen/random_program.h \
	tests/gen/random_state.h \
	tests/gen/shrink.c tests/gen/shrink.h \
	tests/gen/shrink_text.c tests/gen/shrink_text.h \
	tests/gen/weights.def
