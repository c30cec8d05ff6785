#!/bin/sh
# Prints RESULTS.md with new figures: results.sh SRCDIR OPT_BENCH
sed '/^<!-- Printed by/q' "$1/docs/optimization/RESULTS.md" || exit 1
kernels=$("$2" kernels --directory "$1/bench/kernels") || exit 1
examples=$("$2" programs "$1"/examples/*.vyre "$1"/examples/*/*.vyre) || exit 1
printf '\n`bench/opt_bench kernels`:\n\n```\n%s\n```\n\n' "$kernels"
printf '`bench/opt_bench programs examples/*.vyre examples/*/*.vyre`:\n\n```\n%s\n```\n' "$examples"
