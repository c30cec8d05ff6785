# What the rules of the house share. A rule is a function that looks at a tree or a file, prints each fault through
# `fault` and so fails. Every rule is first shown a bad sample, because a rule that can't fail proves nothing.
: "${top_srcdir:?run this through make check}" "${top_builddir:?run this through make check}"
: "${CC:?run this through make check}" "${objdir:?run this through make check}"
: "${VYRE_SANITIZERS:?run this through make check}"
set -u
LC_ALL=C
export LC_ALL

house=$top_srcdir/tests/house
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
libvyre=$top_builddir/$objdir/libvyre.so

# fault TEXT...: one fault, said and remembered in a file, because rules run in subshells and pipes.
fault() {
  echo "fault: $*"
  : >"$scratch/faulty"
}

# passes RULE ARGUMENTS...: runs a rule; true if it found no fault.
passes() {
  rm -f "$scratch/faulty"
  "$@"
  test ! -e "$scratch/faulty"
}

# must_find WHAT RULE ARGUMENTS...: the rule has to find a fault in this bad sample.
must_find() {
  what=$1
  shift
  if passes "$@" >"$scratch/output" 2>&1; then
    echo "self-test: the rule is blind for $what"
    exit 1
  fi
}

# must_pass WHAT RULE ARGUMENTS...: the rule has to accept this good sample.
must_pass() {
  what=$1
  shift
  if ! passes "$@" >"$scratch/output" 2>&1; then
    echo "self-test: the rule refuses $what:"
    cat "$scratch/output"
    exit 1
  fi
}

# enforce RULE ARGUMENTS...: the real run; ends the test with status 1 if there are faults.
enforce() {
  if ! passes "$@"; then
    echo "Fix: see the rule at the head of $0."
    exit 1
  fi
}

# skip REASON: this build can't be asked.
skip() {
  echo "skipped: $*"
  exit 77
}

# of_sources: for a test that runs nothing of this build: a build with sanitizers has nothing to add to another one.
of_sources() {
  test "$VYRE_SANITIZERS" = no || skip "it reads files of the tree; a build without sanitizers runs it"
}

# without_comments FILE: its text, in which each comment is a blank.
without_comments() {
  awk -f "$house/without-comments.awk" "$1"
}

# shared_object NAME SOURCE FLAGS...: compiles SOURCE (text) into $scratch/NAME for a sample.
shared_object() {
  object=$scratch/$1
  printf '%s\n' "$2" >"$scratch/sample.c"
  shift 2
  $CC -shared -fPIC -o "$object" "$scratch/sample.c" "$@" || exit 99
}

# sources_in DIRECTORY...: the C files and tables below those that exist, one a line.
sources_in() {
  for directory in "$@"; do
    test ! -d "$directory" || find "$directory" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \)
  done | sort
}

# needed FILE: its DT_NEEDED entries, one a line.
needed() {
  readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# exported FILE: the dynamic symbols that it defines, without versions, sorted.
exported() {
  readelf --dyn-syms -W "$1" | awk '$7 != "UND" && $7 != "ABS" && ($5 == "GLOBAL" || $5 == "WEAK") && $8 != "" {
    sub(/@.*/, "", $8); print $8 }' | sort -u
}

# plugins: the plugins of this build, one a line.
plugins() {
  find "$VYRE_TEST_BACKENDS" -name '*.so' | sort
}
