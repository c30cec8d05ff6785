# The optimizer: its ground, what passes make of programs as text, and programs that are run before and after.
opt_tests = \
	tests/opt/test_broken tests/opt/test_fold tests/opt/test_golden tests/opt/test_memory tests/opt/test_range tests/opt/test_rules \
	tests/opt/test_same tests/opt/test_strength tests/opt/test_unit
check_PROGRAMS += $(opt_tests)
TESTS += $(opt_tests) tests/opt/test_pages.sh tests/opt/test_table.sh
tests_opt_test_broken_SOURCES = tests/opt/test_broken.c
tests_opt_test_broken_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_broken_LDADD = tests/gen/libgen.la $(TEST_LIBS)
tests_opt_test_fold_SOURCES = tests/opt/test_fold.c
tests_opt_test_fold_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_fold_LDADD = tests/gen/libgen.la $(cpu_ref_test_libs)
tests_opt_test_rules_SOURCES = tests/opt/test_rules.c $(cpu_ref_trial)
tests_opt_test_rules_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_rules_LDADD = tests/gen/libgen.la $(cpu_ref_test_libs)
tests_opt_test_strength_SOURCES = tests/opt/test_strength.c
tests_opt_test_strength_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_strength_LDADD = tests/gen/libgen.la $(TEST_LIBS)
tests_opt_test_golden_SOURCES = tests/opt/test_golden.c
tests_opt_test_golden_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_golden_LDADD = $(TEST_LIBS)
tests_opt_test_range_SOURCES = tests/opt/test_range.c
tests_opt_test_range_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_range_LDADD = $(TEST_LIBS)
tests_opt_test_memory_SOURCES = \
	tests/opt/test_memory.c tests/opt/dense.c tests/opt/dense.h tests/fail_malloc.c tests/fail_malloc.h
tests_opt_test_memory_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_memory_LDADD = tests/gen/libgen.la $(TEST_LIBS)
tests_opt_test_same_SOURCES = tests/opt/test_same.c tests/opt/dense.c tests/opt/dense.h
tests_opt_test_same_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_same_LDADD = $(runs_libs) $(TEST_LIBS) -lpthread -lm
tests_opt_test_unit_SOURCES = tests/opt/test_unit.c
tests_opt_test_unit_CFLAGS = $(TEST_CFLAGS)
tests_opt_test_unit_LDADD = tests/gen/libgen.la $(TEST_LIBS)
# It runs programs for minutes under valgrind.
valgrind_skip += tests/opt/test_same
# Under valgrind fma(1, -0, -0) of f64 is +0.
valgrind_skip += tests/opt/test_rules
EXTRA_DIST += tests/opt/golden

# Rules and constants, proved by Z3 for all inputs. A short part of it is in check.
EXTRA_DIST += tests/opt/test_pages.sh tests/opt/test_table.sh tests/opt/prove.py
check_PROGRAMS += tests/opt/print_constants
valgrind_skip += tests/opt/print_constants
tests_opt_print_constants_SOURCES = tests/opt/print_constants.c
tests_opt_print_constants_CFLAGS = $(TEST_CFLAGS)
tests_opt_print_constants_LDADD = $(TEST_LIBS)
if HAVE_Z3
check-proofs: tests/opt/print_constants
	python3 $(srcdir)/tests/opt/prove.py --z3 '$(Z3)' --constants tests/opt/print_constants --kept tests/opt/proofs.kept \
	  $(srcdir)/libvyre/opt/rules.def $(srcdir)/libvyre/include/vyre/ops.def
else
check-proofs:
	@echo 'make check-proofs: configure found no z3. Fix: install it and configure again.' >&2; exit 1
endif
CLEANFILES += tests/opt/proofs.kept
phony_targets += check-proofs
