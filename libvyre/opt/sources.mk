# The optimizer: rewriting of programs, neutral of backends.
vyre_core_sources += \
	libvyre/opt/unit.h libvyre/opt/unit.c libvyre/opt/replay.c \
	libvyre/opt/cost.h libvyre/opt/cost.def libvyre/opt/cost.c \
	libvyre/opt/edit.h libvyre/opt/edit.c \
	libvyre/opt/facts.h libvyre/opt/facts.c \
	libvyre/opt/pass.h libvyre/opt/passes.def libvyre/opt/registry.c \
	libvyre/opt/report.h libvyre/opt/report.c \
	libvyre/opt/optimize.c
include libvyre/opt/passes/sources.mk
