# The CUDA backend without a device. What is read by name is tests/cuda/golden/*.
noinst_LTLIBRARIES += tests/cuda/libmodules.la
tests_cuda_libmodules_la_SOURCES = tests/cuda/modules.c tests/cuda/modules.h
tests_cuda_libmodules_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
cuda_modules_libs = tests/cuda/libmodules.la plugins/cuda/libptx.la plugins/gpu/libgpu.la tests/gen/libgen.la

check_PROGRAMS += tests/cuda/test_ptx
TESTS += tests/cuda/test_ptx tests/cuda/ptxas.sh
tests_cuda_test_ptx_SOURCES = tests/cuda/test_ptx.c
tests_cuda_test_ptx_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_cuda_test_ptx_CFLAGS = $(TEST_CFLAGS)
tests_cuda_test_ptx_LDADD = $(cuda_modules_libs) $(TEST_LIBS)

# PTX run on the host beside the oracle.
check_PROGRAMS += tests/cuda/test_machine
TESTS += tests/cuda/test_machine
valgrind_skip += tests/cuda/test_machine
tests_cuda_test_machine_SOURCES = tests/cuda/test_machine.c \
	tests/cuda/machine.c tests/cuda/machine.h tests/cuda/machine_code.h \
	tests/cuda/machine_ops.c \
	tests/cuda/machine_read.c \
	tests/cuda/machine_step.c tests/cuda/machine_step.h
tests_cuda_test_machine_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_cuda_test_machine_CFLAGS = $(TEST_CFLAGS)
tests_cuda_test_machine_LDADD = tests/cuda/libmodules.la plugins/cuda/libptx.la plugins/gpu/libgpu.la $(runs_libs) \
	$(TEST_LIBS) -lpthread -lm

noinst_PROGRAMS += tests/cuda/emit
tests_cuda_emit_SOURCES = tests/cuda/emit.c
tests_cuda_emit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_cuda_emit_LDADD = $(cuda_modules_libs) $(vyre_static_libs)

EXTRA_DIST += tests/cuda/golden tests/cuda/ptxas.sh tests/cuda/resources.golden

# The driver side on the fake driver: the plugin is the one that was built, loaded as libvyre does.
cuda_rig_sources = tests/cuda/rig.c tests/cuda/rig.h
check_PROGRAMS += tests/cuda/test_driver tests/cuda/test_faults tests/cuda/test_persistent
TESTS += tests/cuda/test_driver tests/cuda/test_faults tests/cuda/test_persistent
tests_cuda_test_driver_SOURCES = tests/cuda/test_driver.c $(cuda_rig_sources)
tests_cuda_test_driver_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_cuda_test_driver_CFLAGS = $(TEST_CFLAGS)
tests_cuda_test_driver_LDADD = $(TEST_LIBS)
tests_cuda_test_faults_SOURCES = tests/cuda/test_faults.c $(cuda_rig_sources)
tests_cuda_test_faults_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_cuda_test_faults_CFLAGS = $(TEST_CFLAGS)
tests_cuda_test_faults_LDADD = $(TEST_LIBS)
tests_cuda_test_persistent_SOURCES = tests/cuda/test_persistent.c $(cuda_rig_sources)
tests_cuda_test_persistent_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)
tests_cuda_test_persistent_CFLAGS = $(TEST_CFLAGS)
tests_cuda_test_persistent_LDADD = $(TEST_LIBS) -lpthread
# Each test wants the library as it was first opened, so a process of its own.
valgrind_skip += tests/cuda/test_driver tests/cuda/test_faults tests/cuda/test_persistent
EXTRA_DIST += tests/cuda/on_device tests/cuda/stage_device
