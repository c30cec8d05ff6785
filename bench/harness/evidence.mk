# What becomes of the measurements: JSON and back, tables, comparison, targets and gates.
bench_libvyre_bench_la_SOURCES += \
	bench/harness/record.def bench/harness/record_fields.c bench/harness/record_fields.h \
	bench/harness/record_json.c bench/harness/record_json.h bench/harness/record_read.c

# What a program that links the library compiles in; the command has it anyway.
bench_tool_sources = tools/json.c tools/json.h tools/number.c tools/number.h
