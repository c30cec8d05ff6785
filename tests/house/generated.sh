# Rule: files that are generated and committed are fresh: what config_dump writes from config_keys.def is what stands
# in the tree. After a change of the table: make config-docs.
. "$top_srcdir/tests/house/lib.sh"

dump=$top_builddir/libvyre/base/config_dump

# fresh FORM FILE
fresh() {
  "$dump" "$1" >"$scratch/fresh" || fault "$dump $1 fails"
  cmp -s "$scratch/fresh" "$2" || fault "$2 is stale (make config-docs)"
}

echo '# an old file' >"$scratch/stale"
must_find "a stale file" fresh ini "$scratch/stale"

enforce fresh ini "$top_srcdir/etc/vyre.ini"
enforce fresh markdown "$top_srcdir/docs/config.md"
enforce fresh man "$top_srcdir/docs/vyre.ini.5"
