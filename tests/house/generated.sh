# Rule: files that are generated and committed are fresh: what a program writes from its table is what stands in the
# tree. After a change of the table: make config-docs, schema-docs or opt-docs.
. "$top_srcdir/tests/house/lib.sh"

config=$top_builddir/libvyre/base/config_dump
schema=$top_builddir/bench/harness/schema_dump
passes=$top_builddir/libvyre/opt/docs_dump

# fresh FILE TARGET COMMAND...
fresh() {
  file=$1
  target=$2
  shift 2
  "$@" >"$scratch/fresh" || fault "$* fails"
  cmp -s "$scratch/fresh" "$file" || fault "$file is stale (make $target)"
}

echo '# an old file' >"$scratch/stale"
must_find "a stale file" fresh "$scratch/stale" config-docs "$config" ini

enforce fresh "$top_srcdir/etc/vyre.ini" config-docs "$config" ini
enforce fresh "$top_srcdir/docs/config.md" config-docs "$config" markdown
enforce fresh "$top_srcdir/docs/vyre.ini.5" config-docs "$config" man
enforce fresh "$top_srcdir/docs/evidence/schema.md" schema-docs "$schema"
enforce fresh "$top_srcdir/docs/optimization/PASSES.md" opt-docs "$passes"
