# Examples: installed with the documentation; saxpy_c is built with the tests, so that it stays right.
# nobase keeps the directory's own name behind it.
examplesdir = $(docdir)
nobase_dist_examples_DATA = \
	examples/README.md \
	examples/saxpy.vyre examples/saxpy/README.md examples/saxpy/expected \
	examples/text_stats/README.md examples/text_stats/text_stats.vyre \
	examples/text_stats/expected examples/text_stats/expected.sha256 \
	examples/mandelbrot/README.md examples/mandelbrot/mandelbrot.vyre examples/mandelbrot/expected.sha256 \
	examples/prefix_sum/README.md examples/prefix_sum/prefix_sum.vyre examples/prefix_sum/expected \
	examples/string_hash/README.md examples/string_hash/string_hash.vyre examples/string_hash/expected.sha256 \
	examples/saxpy_c/README.md examples/saxpy_c/saxpy.c examples/saxpy_c/expected
nobase_dist_examples_SCRIPTS = \
	examples/run examples/saxpy/run.sh examples/text_stats/run.sh examples/mandelbrot/run.sh \
	examples/prefix_sum/run.sh examples/string_hash/run.sh

check_PROGRAMS += examples/saxpy_c/saxpy
valgrind_skip += examples/saxpy_c/saxpy # an example, which is no test by itself
examples_saxpy_c_saxpy_SOURCES = examples/saxpy_c/saxpy.c
examples_saxpy_c_saxpy_LDADD = libvyre.la
