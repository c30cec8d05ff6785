# The transcendental functions as they are lowered: a part of all inputs in check, all of them in check-transcend.
check_PROGRAMS += tests/lower/test_transcend
TESTS += tests/lower/test_transcend tests/lower/test_constants.sh
valgrind_skip += tests/lower/test_transcend
lower_transcend_kit = \
	tests/lower/batch.h tests/lower/batch.c tests/lower/transcend_kernel.h tests/lower/transcend_kernel.c
tests_lower_test_transcend_SOURCES = tests/lower/test_transcend.c $(lower_transcend_kit)
tests_lower_test_transcend_CFLAGS = $(TEST_CFLAGS)
tests_lower_test_transcend_LDADD = $(TEST_LIBS) $(MPFR_LIBS)

# Static, so that it can be carried to a machine with more processors.
EXTRA_PROGRAMS += tests/lower/transcend_search
tests_lower_transcend_search_SOURCES = tests/lower/transcend_search.c $(lower_transcend_kit)
tests_lower_transcend_search_CFLAGS = $(TEST_CFLAGS) -O3
tests_lower_transcend_search_LDFLAGS = -all-static
tests_lower_transcend_search_LDADD = plugins/cpu_ref/libengine.la $(vyre_static_libs) -lpthread
EXTRA_DIST += tests/lower/transcend.golden tests/lower/test_constants.sh
CLEANFILES += tests/lower/transcend.out
check-transcend: $(transcend_oracle) tests/lower/transcend_search$(EXEEXT)
	tests/lower/transcend_search >tests/lower/transcend.out
	@echo 'Tried over all inputs, but not on record before:'; \
	  grep -vxFf $(srcdir)/tests/lower/transcend.golden tests/lower/transcend.out || echo none
	@echo 'On record, and not so now:'; \
	  ! grep -vxFf tests/lower/transcend.out $(srcdir)/tests/lower/transcend.golden
phony_targets += check-transcend
