# The benchmark harness.
include tests/bench/evidence.mk
