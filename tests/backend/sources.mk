# Plugins, devices, and everything that runs on them.
backend_tests = tests/backend/test_abi_layout tests/backend/test_loader tests/backend/test_bindings \
	tests/backend/test_objects tests/backend/test_pending tests/backend/test_run
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
tests_backend_adder = tests/backend/adder.c tests/backend/adder.h $(tests_backend_helpers)
tests_backend_test_objects_SOURCES = tests/backend/test_objects.c $(tests_backend_adder)
tests_backend_test_objects_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_objects_LDADD = $(TEST_LIBS)
tests_backend_test_pending_SOURCES = tests/backend/test_pending.c $(tests_backend_adder)
tests_backend_test_pending_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_pending_LDADD = $(TEST_LIBS)
tests_backend_test_run_SOURCES = tests/backend/test_run.c tests/fail_malloc.c $(tests_backend_helpers)
tests_backend_test_run_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_run_LDADD = $(TEST_LIBS)

# Compiling without a device.
check_PROGRAMS += tests/backend/test_emit
TESTS += tests/backend/test_emit
tests_backend_test_emit_SOURCES = tests/backend/test_emit.c tests/fail_malloc.c $(tests_backend_helpers)
tests_backend_test_emit_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_emit_LDADD = $(TEST_LIBS)

# The disk cache.
check_PROGRAMS += tests/backend/test_cache tests/backend/test_cached
TESTS += tests/backend/test_cache tests/backend/test_cached
tests_backend_test_cache_SOURCES = tests/backend/test_cache.c tests/fail_malloc.c $(tests_backend_helpers)
tests_backend_test_cache_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_cache_LDADD = $(TEST_LIBS)
tests_backend_test_cached_SOURCES = tests/backend/test_cached.c $(tests_backend_helpers)
tests_backend_test_cached_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_cached_LDADD = $(TEST_LIBS)

# Faults that other projects had.
check_PROGRAMS += tests/backend/test_faults
TESTS += tests/backend/test_faults
tests_backend_test_faults_SOURCES = tests/backend/test_faults.c tests/fail_malloc.c \
	tests/backend/places.c tests/backend/places.h
tests_backend_test_faults_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_faults_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/backend/test_faults_host
TESTS += tests/backend/test_faults_host
tests_backend_test_faults_host_SOURCES = tests/backend/test_faults_host.c
tests_backend_test_faults_host_CFLAGS = $(TEST_CFLAGS)
tests_backend_test_faults_host_LDADD = $(CHECK_LIBS)
valgrind_skip += tests/backend/test_faults_host # it opens libraries that must not be there yet
check_LTLIBRARIES += tests/backend/clash.la
tests_backend_clash_la_SOURCES = tests/backend/clash.c
tests_backend_clash_la_LDFLAGS = -module -avoid-version -rpath $(abs_top_builddir)/never-installed
TESTS += tests/backend/test_settings.sh tests/backend/test_outside.sh tests/backend/test_backends_page.sh
EXTRA_DIST += tests/backend/test_settings.sh tests/backend/test_outside.sh tests/backend/test_backends_page.sh
