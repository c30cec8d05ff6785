# The constants of the transcendental functions are those that libvyre/lower/transcend_constants.py computes.
. "$top_srcdir/tests/house/lib.sh"

if ! python3 -c 'import mpmath' 2>/dev/null; then
  echo 'skipped: python3 has no mpmath. Fix: install python3-mpmath.'
  exit 77
fi

# fresh DIRECTORY
fresh() {
  for file in "$scratch"/new/*.inc; do
    cmp -s "$file" "$1/$(basename "$file")" || fault "$(basename "$file") is stale (transcend_constants.py $1)"
  done
}

mkdir "$scratch/new" "$scratch/stale"
python3 "$top_srcdir/libvyre/lower/transcend_constants.py" "$scratch/new" || exit 1
cp "$scratch"/new/*.inc "$scratch/stale" && sed -i 's/0x47/0x48/' "$scratch/stale/transcend_angle.inc"
must_find "a changed constant" fresh "$scratch/stale"

enforce fresh "$top_srcdir/libvyre/lower"
