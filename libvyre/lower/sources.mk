# From programs to kernels: the one lowering that every compiled backend consumes.
vyre_core_sources += \
	libvyre/lower/form.h libvyre/lower/form.c \
	libvyre/lower/code.h libvyre/lower/code.c \
	libvyre/lower/facts.c \
	libvyre/lower/expand.def libvyre/lower/expand.h libvyre/lower/expand.c \
	libvyre/lower/expand_integer.c libvyre/lower/expand_float.c libvyre/lower/expand_fma.c \
	libvyre/lower/expand_memory.c libvyre/lower/expand_group.c \
	libvyre/lower/transcend.def libvyre/lower/transcend.h libvyre/lower/transcend.c \
	libvyre/lower/transcend_emit.h \
	libvyre/lower/transcend_exact.def libvyre/lower/transcend_exact.h libvyre/lower/transcend_exact.c \
	libvyre/lower/transcend_angle.h libvyre/lower/transcend_angle.c libvyre/lower/transcend_angle.inc \
	libvyre/lower/transcend_form_float.c libvyre/lower/transcend_form_float.inc \
	libvyre/lower/transcend_pair.h libvyre/lower/transcend_pair.c \
	libvyre/lower/transcend_form_pair.c libvyre/lower/transcend_form_pair.inc \
	libvyre/lower/lowering.h \
	libvyre/lower/split.h libvyre/lower/split.c \
	libvyre/lower/keep.c \
	libvyre/lower/steps.c \
	libvyre/lower/expr.c \
	libvyre/lower/stmt.c \
	libvyre/lower/coherent.c \
	libvyre/lower/assemble.c \
	libvyre/lower/lower.c \
	libvyre/lower/verify.h libvyre/lower/verify.c libvyre/lower/verify_records.c libvyre/lower/verify_insns.c \
	libvyre/lower/print.c
EXTRA_DIST += libvyre/lower/transcend_constants.py
