# Plugins, devices, and everything that runs on them.
backend_tests = tests/backend/test_abi_layout tests/backend/test_loader tests/backend/test_bindings \
	tests/backend/test_objects tests/backend/test_run
check_PROGRAMS += $(backend_tests)
TESTS += $(backend_tests)
EXTRA_DIST += tests/backend/abi_layout.golden

# One plugin with every fault there is: the tests copy it under the name of the fault.
check_LTLIBRARIES += tests/backend/fake.la
tests_backend_fake_la_SOURCES = tests/backend/fake_plugin.c tests/backend/slot_names.h
tests_backend_fake_la_LDFLAGS = -module $(TEST_PLUGIN_LDFLAGS)

tests_backend_helpers = \
	tests/backend/places.c tests/backend/places.h tests/backend/device_for.c tests/backend/device_for.h
tests_backend_test_abi_layout_SOURCES = tests/backend/test_abi_layout.c
tests_backend_test_abi_layout_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_abi_layout_LDADD = $(TEST_LIBS)
tests_backend_test_loader_SOURCES = tests/backend/test_loader.c tests/backend/places.c tests/backend/places.h
tests_backend_test_loader_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_loader_LDADD = $(TEST_LIBS)
tests_backend_test_bindings_SOURCES = tests/backend/test_bindings.c $(tests_backend_helpers)
tests_backend_test_bindings_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_bindings_LDADD = $(TEST_LIBS)
tests_backend_test_objects_SOURCES = tests/backend/test_objects.c $(tests_backend_helpers)
tests_backend_test_objects_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_objects_LDADD = $(TEST_LIBS)
tests_backend_test_run_SOURCES = tests/backend/test_run.c tests/fail_malloc.c $(tests_backend_helpers)
tests_backend_test_run_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_run_LDADD = $(TEST_LIBS)

# The disk cache.
check_PROGRAMS += tests/backend/test_cache
TESTS += tests/backend/test_cache
tests_backend_test_cache_SOURCES = tests/backend/test_cache.c tests/fail_malloc.c $(tests_backend_helpers)
tests_backend_test_cache_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_cache_LDADD = $(TEST_LIBS)
