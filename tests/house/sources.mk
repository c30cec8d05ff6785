# The rules of the house, as tests. Each says its rule at its head.
house_tests = \
	tests/house/neutral.sh \
	tests/house/includes.sh \
	tests/house/headers.sh \
	tests/house/documented.sh \
	tests/house/exports.sh \
	tests/house/needed.sh \
	tests/house/plugin_shape.sh \
	tests/house/constant_data.sh \
	tests/house/environment.sh \
	tests/house/generated.sh \
	tests/house/thresholds.sh \
	tests/house/install.sh
TESTS += $(house_tests)
EXTRA_DIST += $(house_tests) tests/house/lib.sh tests/house/neutral.patterns tests/house/without-comments.awk \
	tests/house/exports-of-headers tests/house/update-headers tests/house/exports.golden
