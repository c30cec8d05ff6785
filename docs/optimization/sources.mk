# The optimizer's pages.
# What people read about passes and rules comes from their tables. It is committed; a test says when it is stale.
noinst_PROGRAMS += libvyre/opt/docs_dump
libvyre_opt_docs_dump_SOURCES = libvyre/opt/docs_dump.c
libvyre_opt_docs_dump_LDADD = $(vyre_static_libs)
optdocdir = $(docdir)/optimization
dist_optdoc_DATA = \
	docs/optimization/OWNERSHIP.md docs/optimization/PASSES.md docs/optimization/README.md \
	docs/optimization/RESULTS.md docs/optimization/START_HERE.md docs/optimization/TAXONOMY.md
opt-docs: libvyre/opt/docs_dump
	$(AM_V_GEN)libvyre/opt/docs_dump > $(srcdir)/docs/optimization/PASSES.md
# The page of figures: its head as it is, below that what the bench prints.
opt-results: bench/opt_bench
	$(AM_V_GEN)sh $(srcdir)/docs/optimization/results.sh '$(srcdir)' bench/opt_bench >RESULTS.new && \
	  mv RESULTS.new $(srcdir)/docs/optimization/RESULTS.md
EXTRA_DIST += docs/optimization/results.sh
phony_targets += opt-docs opt-results
