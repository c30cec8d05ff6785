# The numeric and random checks. Programs, and what compares them with the oracle, are also a test's.
conform_program_sources = \
	tools/conform/capability.c \
	tools/conform/flow_shapes.def tools/conform/identities.def tools/conform/litmus.def tools/conform/meetings.def \
	tools/conform/vectors.def \
	tools/conform/numeric.c tools/conform/numeric.h \
	tools/conform/numeric_atomic.c \
	tools/conform/numeric_convert.c \
	tools/conform/numeric_exact.c \
	tools/conform/numeric_flow.c \
	tools/conform/numeric_geometry.c \
	tools/conform/numeric_group.c \
	tools/conform/numeric_literals.c \
	tools/conform/numeric_memory.c \
	tools/conform/numeric_ops.c \
	tools/conform/numeric_order.c \
	tools/conform/numeric_values.c tools/conform/numeric_values.h
tools_conform_libconform_la_SOURCES += \
	$(conform_program_sources) \
	tools/conform/numeric_queues.c \
	tools/conform/numeric_specs.c \
	tools/conform/random.c
