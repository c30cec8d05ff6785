# The command: its parts, and the whole from a shell.
tools_unit_tests = \
	tests/tools/test_conform_programs tests/tools/test_npy tests/tools/test_number tests/tools/test_profile
check_PROGRAMS += $(tools_unit_tests)
tests_tools_test_conform_programs_SOURCES = tests/tools/test_conform_programs.c $(conform_program_sources)
tests_tools_test_conform_programs_CFLAGS = $(TEST_CFLAGS)
tests_tools_test_conform_programs_LDADD = $(TEST_LIBS)
tests_tools_test_npy_SOURCES = tests/tools/test_npy.c tools/npy.c tools/npy.h
tests_tools_test_npy_CFLAGS = $(TEST_CFLAGS)
tests_tools_test_npy_LDADD = $(TEST_LIBS)
tests_tools_test_number_SOURCES = tests/tools/test_number.c tools/number.c tools/number.h
tests_tools_test_number_CFLAGS = $(TEST_CFLAGS)
tests_tools_test_number_LDADD = $(TEST_LIBS)

tests_tools_test_profile_SOURCES = \
	tests/tools/test_profile.c tools/profile.c tools/profile.h tools/json.c tools/json.h tools/number.c tools/number.h
tests_tools_test_profile_CFLAGS = $(TEST_CFLAGS) $(JANSSON_CFLAGS)
tests_tools_test_profile_LDADD = $(TEST_LIBS) $(JANSSON_LIBS)

tools_scripts = \
	tests/tools/test_backends.sh tests/tools/test_check.sh tests/tools/test_docs.sh tests/tools/test_emit.sh \
	tests/tools/test_examples.sh \
	tests/tools/test_files.sh tests/tools/test_fmt.sh tests/tools/test_fuse.sh tests/tools/test_installed.sh tests/tools/test_npy_matrix.sh \
	tests/tools/test_opt.sh tests/tools/test_pack.sh tests/tools/test_run.sh tests/tools/test_ten_defects.sh tests/tools/test_usage.sh
TESTS += $(tools_unit_tests) $(tools_scripts)
EXTRA_DIST += $(tools_scripts) tests/tools/lib.sh
