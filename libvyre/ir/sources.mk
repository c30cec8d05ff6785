# Programs: tables, builder, validator, text and wire form.
vyre_ir_sources += \
	libvyre/ir/program.h libvyre/ir/program.c libvyre/ir/seal.c \
	libvyre/ir/tables.c \
	libvyre/ir/check.h libvyre/ir/check.c libvyre/ir/keywords.def \
	libvyre/ir/expr_set.h libvyre/ir/expr_set.c \
	libvyre/ir/builder.h libvyre/ir/build_state.h libvyre/ir/builder.c libvyre/ir/build_expr.c libvyre/ir/build_stmt.c \
	libvyre/ir/rebuild.h libvyre/ir/rebuild.c
include libvyre/ir/validate.mk
include libvyre/ir/text.mk
include libvyre/ir/wire.mk
