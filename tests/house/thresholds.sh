# Rule: thresholds of the benchmarks stand in docs/optimization/BENCH_TARGETS.toml and nowhere else. What is generated
# from it is fresh; a table without what it has to have is refused; no source of the benchmarks has a threshold of its
# own: neither a member of that name that is given a value, nor a comparison with a fraction.
. "$top_srcdir/tests/house/lib.sh"
of_sources

table=$top_srcdir/docs/optimization/BENCH_TARGETS.toml
generated=$top_srcdir/bench/harness/targets.inc
generate=$top_srcdir/bench/harness/generate_targets

# no_private_thresholds FILE...
no_private_thresholds() {
  for source in "$@"; do
    without_comments "$source" | grep -nE \
      -e '(min_(ratio|phi|ceiling|probe|speedup)|ref_min|threshold)[a-z_]* *(=|,) *[0-9]' \
      -e '[<>]=? *-?[0-9]*\.[0-9]*[1-9]' |
      while read -r line; do fault "$source has a threshold of its own: $line"; done
  done
}

# is_taken TABLE, is_fresh
is_taken() {
  "$generate" "$1" >"$scratch/written" 2>"$scratch/reason" || fault "$(cat "$scratch/reason")"
}
is_fresh() {
  is_taken "$table"
  cmp -s "$scratch/written" "$generated" || fault "$generated is stale (make bench-targets)"
}

for sample in 'x.min_ratio = 1.5;' 'if (ratio < 1.15) fail();' 'bool slow = phi >= 0.92;' '{ .ref_min = 100 }'; do
  echo "$sample" >"$scratch/sample.c"
  must_find "$sample" no_private_thresholds "$scratch/sample.c"
done
echo 'if (s->count > 0 && t->min_ratio > 0 && s->cv >= limits->device_cv) x = 0.5 * y; /* below 0.92 */' \
  >"$scratch/sample.c"
must_pass "comparisons with the table" no_private_thresholds "$scratch/sample.c"

# format.c compares to round figures for people.
# shellcheck disable=SC2046
enforce no_private_thresholds \
  $(sources_in "$top_srcdir/bench/harness" "$top_srcdir/bench/peers" | grep -v '/format\.c$') \
  $(find "$top_srcdir/tools" "$top_srcdir/bench" -maxdepth 1 -name "*vyre_bench*.c" -o -maxdepth 1 -name "cmd_bench*.c")

python3 -c 'import tomllib' 2>/dev/null || skip "there is no python3 with tomllib, so $generated can't be written anew"

# changed SED: the table after an edit.
changed() {
  sed "$1" "$table" >"$scratch/table.toml"
  ! cmp -s "$scratch/table.toml" "$table" || { echo "self-test: $1 changes nothing"; exit 1; }
}
while IFS='|' read -r what edit; do
  changed "$edit"
  must_find "$what" is_taken "$scratch/table.toml"
done <<'END'
a target without a baseline|/^id = "elementwise.add.h"/,/^min_ratio/{/^baselines/d}
a target with an empty list of baselines|/^id = "elementwise.add.h"/,/^min_ratio/s/^baselines.*/baselines = []/
a baseline that is nowhere declared|s/"cub"\]/"cub", "hearsay"]/;s/^baselines = \["t_launch"/baselines = ["hearsay"/
a ratio against a probe|/^id = "elementwise.add.h"/,/^min_ratio/s/^baselines.*/baselines = ["bw_copy"]/
a bound that no probe measures|/^id = "elementwise.add.h"/,/^min_ratio/s/^baselines.*/baselines = ["gcc"]/
a threshold on a record|/^id = "elementwise.add.l"/,/^quality/s/^quality/min_ratio = 1.0\nquality/
a gate without a threshold|/^id = "elementwise.add.l"/,/^notes/s/"recorded"/"gate"/
a threshold that is no number|s/^min_phi = 0.92/min_phi = "0.92"/
a threshold that is not finite|s/^min_phi = 0.92/min_phi = inf/
a threshold of 0|s/^min_phi = 0.92/min_phi = 0/
a misspelt member|s/^min_phi = 0.92/min_fi = 0.92/
a limit that is missing|/^phi_max/d
a limit that is unknown|s/^phi_max/phi_max_too = 1\nphi_max/
a target that is there twice|s/^id = "elementwise.add.l"/id = "elementwise.add.h"/
two rows for one case|/^id = "elementwise.add.l"/,/^tier/s/^tier = "L"/tier = "H"/
a baseline that is there twice|s/^name = "clang"/name = "gcc"/
a clock that is none|0,/^timing = "device"/s//timing = "sundial"/
a class that is none|0,/^class = "gpu_sota"/s//class = "reference_correctness"/
a file that is no TOML|s/^\[limits\]/[limits/
END
enforce is_fresh
