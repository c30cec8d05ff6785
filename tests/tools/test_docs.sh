#!/bin/sh
# The manual page and the completions say what the command takes, and their readers find no fault with them.
. "$top_srcdir/tests/tools/lib.sh"
page=$top_builddir/tools/vyre.1
bash_file=$top_builddir/tools/bash/vyre zsh_file=$top_builddir/tools/zsh/_vyre fish_file=$top_builddir/tools/fish/vyre.fish
command_line='the generated files'
for file in "$page" "$bash_file" "$zsh_file" "$fish_file"; do [ -s "$file" ] || fail "$file is missing"; done
for command in run check fmt pack unpack backends; do
  "$VYRE" $command --help >help || fail "no help of $command"
  for option in $(sed -n 's/^ .*--\([a-z-]*\).*/\1/p' help | sort -u); do
    grep -q -- "$(printf '%s' "$option" | sed 's/-/\\\\-/g')" "$page" || fail "the manual page lacks --$option"
    for file in "$bash_file" "$zsh_file"; do grep -q -- "--$option" "$file" || fail "$file lacks --$option"; done
    grep -q -- "-l $option" "$fish_file" || fail "$fish_file lacks --$option"
  done
done
for text in 'EXIT STATUS' SOURCES DESTINATIONS SETTINGS run.ulp VYRE_BACKEND_PATH cpu_ref.lane_order; do
  grep -q -- "$text" "$page" || fail "the manual page lacks $text"
done
checked=
if command -v groff >/dev/null; then
  command_line='groff -man -ww'
  groff -man -ww -Tutf8 "$page" >out 2>err || fail 'groff fails'
  err_is_empty
  checked="$checked groff"
fi
if command -v mandoc >/dev/null; then
  command_line='mandoc -Tlint'
  mandoc -Wwarning -Tlint "$page" >out 2>err
  grep -v 'missing date' out >rest
  [ ! -s rest ] || fail 'mandoc warns'
  checked="$checked mandoc"
fi
if command -v man >/dev/null; then
  command_line='man -l'
  man -l --warnings "$page" >out 2>err || fail 'man fails'
  err_is_empty
fi
if command -v bash >/dev/null; then
  cat >complete.bash <<'END'
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
_vyre
printf '%s\n' "${COMPREPLY[@]}"
END
  complete() { expect 0 bash complete.bash "$bash_file" "$@"; }
  complete vyre ''; out_has run; out_has backends
  complete vyre ch; out_is check
  complete vyre run --ver; out_is --verify
  complete vyre run p --lanes r; out_is reversed
  complete vyre fmt --; out_has --write
  complete vyre help pa; out_is pack
  : >some.vyre
  complete vyre check so; out_is some.vyre
  complete vyre run some.vyre --in x = @so; out_is @some.vyre
  checked="$checked bash"
fi
if command -v zsh >/dev/null; then expect 0 zsh -n "$zsh_file"; fi
if command -v fish >/dev/null; then expect 0 fish --no-execute "$fish_file"; fi
[ -n "$checked" ] || { echo 'skipped: neither groff, mandoc nor bash is here'; exit 77; }
finish
