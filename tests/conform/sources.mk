# The conformance kit, from a shell.
conform_scripts = tests/conform/test_conform.sh tests/conform/test_defects.sh tests/conform/test_whole.sh
TESTS += $(conform_scripts)
EXTRA_DIST += $(conform_scripts) tests/conform/lib.sh tests/conform/table
