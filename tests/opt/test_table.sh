# The table of rules: what is generated from it is fresh, and its rows hold at 8 bits for all inputs (all widths and
# floats: make check-proofs). A wrong row, a lost precondition and one that nothing meets are found.
. "$top_srcdir/tests/house/lib.sh"
of_sources

table=$top_srcdir/libvyre/opt/rules.def
ops=$top_srcdir/libvyre/include/vyre/ops.def
command -v python3 >/dev/null || skip "there is no python3, so rules.inc can't be written anew. Fix: install python3."

# fresh TABLE
fresh() {
  python3 "$top_srcdir/libvyre/opt/rules.py" matcher "$1" "$ops" >"$scratch/rules.inc" 2>"$scratch/reason" ||
    fault "$(cat "$scratch/reason")"
  cmp -s "$scratch/rules.inc" "$top_srcdir/libvyre/opt/rules.inc" || fault "rules.inc is stale (make opt-rules)"
}

# holds OPTIONS... TABLE
holds() {
  python3 "$top_srcdir/tests/opt/prove.py" --fast "$@" "$ops" >"$scratch/proofs" 2>&1 || fault "$(cat "$scratch/proofs")"
}

# changed SED: the table after an edit, in $scratch/table.def.
changed() {
  sed "$1" "$table" >"$scratch/table.def"
  ! cmp -s "$scratch/table.def" "$table" || { echo "self-test: $1 changes nothing"; exit 1; }
}

changed '/, sub_self,/s/"0"/"1"/'
must_find "a row that is not in rules.inc" fresh "$scratch/table.def"
changed '/, sub_self,/s/"INT"/"INTEGER"/'
must_find "types that are none" fresh "$scratch/table.def"
changed '/, sub_self,/s/"(sub x x)"/"(sub x)"/'
must_find "an operator with too few operands" fresh "$scratch/table.def"
changed '/, add_zero,/s/"x", "INT"/"y", "INT"/'
must_find "a result of what is not in the pattern" fresh "$scratch/table.def"
enforce fresh "$table"

command -v z3 >/dev/null || skip "there is no z3, so that rules hold can't be shown. Fix: install z3."
while IFS='|' read -r what row edit; do
  changed "/, $row,/$edit"
  must_find "$what" holds --only "$row" "$scratch/table.def"
done <<'END'
a wrong result|sub_self|s/"0"/"1"/
a wrong operator|or_nots|s/bitand/bitor/
a sign that is not looked at|shr_shr_zero|s/"UNSIGNED"/"INT"/
a count that is not masked|shl_shl_zero|s/(bitand k1 W1)/k1/g
a precondition that is lost|mul_power|s/"(eq (popcount k) 1)"/""/
a precondition that nothing meets|div_of_rest|s/(ne k 0)/(ne k k)/
END
enforce holds --constants "$top_builddir/tests/opt/print_constants" "$table"
tail -n 1 "$scratch/proofs"
