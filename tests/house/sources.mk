# The rules of the house, as tests.
EXTRA_DIST += tests/house/exports-of-headers tests/house/update-exports tests/house/exports.golden
