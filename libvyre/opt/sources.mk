# The optimizer: rewriting of programs, neutral of backends.
vyre_core_sources += \
	libvyre/opt/unit.h libvyre/opt/unit.c libvyre/opt/replay.c \
	libvyre/opt/changes.h libvyre/opt/changes.c \
	libvyre/opt/cost.h libvyre/opt/cost.def libvyre/opt/cost.c \
	libvyre/opt/edit.h libvyre/opt/edit.c \
	libvyre/opt/facts.h libvyre/opt/facts.c \
	libvyre/opt/fold.h libvyre/opt/fold.c \
	libvyre/opt/rules.h libvyre/opt/rules.c libvyre/opt/rules.def libvyre/opt/rules.inc \
	libvyre/opt/saturate.h libvyre/opt/saturate.c \
	libvyre/opt/strength.h libvyre/opt/strength.c \
	libvyre/opt/range.h libvyre/opt/range.c \
	libvyre/opt/pass.h libvyre/opt/passes.def libvyre/opt/registry.c \
	libvyre/opt/report.h libvyre/opt/report.c \
	libvyre/opt/optimize.c
include libvyre/opt/passes/sources.mk

# The matcher of the rules. What python writes from their table is committed, so that a build needs no python; a test says
# when it is stale.
EXTRA_DIST += libvyre/opt/rules.py
opt-rules:
	$(AM_V_GEN)python3 $(srcdir)/libvyre/opt/rules.py matcher $(srcdir)/libvyre/opt/rules.def \
	  $(srcdir)/libvyre/include/vyre/ops.def > $(srcdir)/libvyre/opt/rules.inc.new && \
	  mv $(srcdir)/libvyre/opt/rules.inc.new $(srcdir)/libvyre/opt/rules.inc
phony_targets += opt-rules
