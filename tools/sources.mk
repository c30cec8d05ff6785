# The command, and the manual page and completions, which a program of the build writes from the command's own tables.
include tools/conform/sources.mk
bin_PROGRAMS += tools/vyre
tools_vyre_SOURCES = \
	tools/bindings.c tools/bindings.h tools/bits.h \
	tools/cmd_backends.c tools/cmd_bench.c tools/cmd_check.c tools/cmd_conform.c tools/cmd_emit.c tools/cmd_fmt.c \
	tools/cmd_fuse.c tools/cmd_opt.c tools/cmd_pack.c \
	tools/cmd_run.c tools/commands.h \
	tools/compare.c tools/compare.h \
	tools/data.c tools/data.h \
	tools/explain.c tools/explain.h \
	tools/failure.c tools/failure.h \
	tools/files.c tools/files.h \
	tools/forms.def \
	tools/isolate.c tools/isolate.h \
	tools/json.c tools/json.h \
	tools/main.c \
	tools/npy.c tools/npy.h \
	tools/number.c tools/number.h \
	tools/options.c tools/options.def tools/options.h tools/options_table.c \
	tools/output.c tools/output.h \
	tools/profile.c tools/profile.h \
	tools/program.c tools/program.h \
	tools/report.c tools/report.h \
	tools/session.c tools/session.h \
	tools/specs.c tools/specs.h
tools_vyre_LDFLAGS = $(RELOCATABLE_LDFLAGS)
tools_vyre_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tools_vyre_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/bench
tools_vyre_LDADD = tools/conform/libconform.la tests/gen/libgen.la bench/libvyre_bench.la libvyre.la libvyre/libvyre_ir.la \
	$(SODIUM_LIBS) $(JANSSON_LIBS) -lm

noinst_PROGRAMS += tools/gendoc
tools_gendoc_SOURCES = tools/gendoc.c tools/options.def tools/options.h tools/options_table.c tools/forms.def

zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
man1_MANS = tools/vyre.1
nodist_bashcompletion_DATA = tools/bash/vyre
nodist_zshcompletion_DATA = tools/zsh/_vyre
nodist_fishcompletion_DATA = tools/fish/vyre.fish
CLEANFILES += $(man1_MANS) $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) $(nodist_fishcompletion_DATA)

# Written beside and renamed, so that a failure leaves nothing.
generate_doc = $(AM_V_GEN)$(MKDIR_P) `dirname $@` && tools/gendoc$(EXEEXT)
tools/vyre.1: tools/gendoc$(EXEEXT)
	$(generate_doc) man >$@.new && mv $@.new $@
tools/bash/vyre: tools/gendoc$(EXEEXT)
	$(generate_doc) bash >$@.new && mv $@.new $@
tools/zsh/_vyre: tools/gendoc$(EXEEXT)
	$(generate_doc) zsh >$@.new && mv $@.new $@
tools/fish/vyre.fish: tools/gendoc$(EXEEXT)
	$(generate_doc) fish >$@.new && mv $@.new $@
