# The text form.
vyre_ir_sources += \
	libvyre/ir/text_lex.h libvyre/ir/text_lex.c \
	libvyre/ir/text_const.h libvyre/ir/text_const.c \
	libvyre/ir/text_parser.h libvyre/ir/text_parse.c libvyre/ir/text_decl.c libvyre/ir/text_stmt.c \
	libvyre/ir/text_expr.c libvyre/ir/text_value.c libvyre/ir/text_call.c \
	libvyre/ir/text_literal.c libvyre/ir/text_near.c libvyre/ir/foreign.def \
	libvyre/ir/text_print.h libvyre/ir/text_print.c libvyre/ir/text_print_expr.c libvyre/ir/text_format.c
