#!/bin/sh
# The manual page and the completions say what the command takes, and their readers find no fault with them.
. "$top_srcdir/tests/tools/lib.sh"
page=$top_builddir/tools/vyre.1
bash_file=$top_builddir/tools/bash/vyre zsh_file=$top_builddir/tools/zsh/_vyre fish_file=$top_builddir/tools/fish/vyre.fish
command_line='the generated files'
for file in "$page" "$bash_file" "$zsh_file" "$fish_file"; do [ -s "$file" ] || fail "$file is missing"; done
for command in run check fmt pack unpack opt fuse emit backends bench conform; do
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
COMP_WORDBREAKS=$2 COMP_LINE=$3 COMP_POINT=${#3}
compopt() { :; }
_vyre
printf '%s\n' "${COMPREPLY[@]}"
END
  usual=$(printf ' \t\n"'"'"'><=;|&(:')
  # What bash puts in the place of what it would replace. An @ that separates words is replaced with what follows it.
  answers() { expect 0 bash complete.bash "$bash_file" "$usual" "$1"; out_is "$2"; }
  expect 0 bash complete.bash "$bash_file" "$usual" 'vyre '; out_has run; out_has backends; out_has --version
  expect 0 bash complete.bash "$bash_file" "$usual" 'vyre fmt --'; out_has --write; out_has --help
  mkdir sub
  : >some.vyre
  : >sub/data.npy
  : >'with space.raw'
  answers 'vyre ch' check
  answers 'vyre run --ver' --verify
  answers 'vyre run p --lanes r' reversed
  answers 'vyre run p --lanes=r' reversed
  answers 'vyre run p --config=so' some.vyre
  answers 'vyre pack p -o so' some.vyre
  answers 'vyre backends --backend-path su' sub
  answers 'vyre backends --backend-path=su' sub
  answers 'vyre help pa' pack
  answers 'vyre check so' some.vyre
  answers 'vyre check some.vyre sub/da' sub/data.npy
  answers 'vyre check -- so' some.vyre
  answers 'vyre run p --set a=so' ''
  answers 'vyre run p --json=so' ''
  for breaks in "$usual@" "$usual" "$(printf ' \t\n')"; do
    case $breaks in *=*) head= other= ;; *) head=--in=x= other=x= ;; esac
    usual=$breaks
    answers 'vyre run p --in x=@so' "$other@some.vyre"
    answers 'vyre run p --in=x=@so' "$head@some.vyre"
    answers 'vyre run p --in=x=@su' "$head@sub/"
    answers 'vyre run p --in=x=@sub/d' "$head@sub/data.npy"
    answers 'vyre run p --in=x=@with' "$head@with\\ space.raw"
    answers 'vyre run p --in=x=so' ''
  done
  checked="$checked bash"
fi
if command -v zsh >/dev/null; then
  expect 0 zsh -n "$zsh_file"
  # A shell in a terminal of its own: ^X shows the line after the tab, ^U empties it.
  cat >complete.zsh <<'END'
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell 'PS1=; fpath=("'${1:h}'" $fpath); autoload -Uz compinit; compinit -u -D
show() { print -r -- "<<$BUFFER>>" }; zle -N show; bindkey "^X" show; print -r -- rea""dy'
zpty -r shell line '*ready*'
shift
for typed; do
  zpty -w -n shell "$typed"$'\t\C-x'
  zpty -r shell line '*<<*>>*'
  line=${line##*<<}
  print -r -- "${line%%>>*}"
  zpty -w -n shell $'\C-u'
done
zpty -d shell
END
  command_line='completion in zsh'
  TERM=dumb timeout 120 zsh -f complete.zsh "$zsh_file" 'vyre ch' 'vyre run p --lanes=r' 'vyre run p --in x=@so' \
    'vyre run p --in=x=@so' 'vyre run p --in=x=@sub/d' 'vyre run p --config=so' 'vyre help pa' >out 2>err
  case $? in
    0)
      out_is 'vyre check 
vyre run p --lanes=reversed 
vyre run p --in x=@some.vyre 
vyre run p --in=x=@some.vyre 
vyre run p --in=x=@sub/data.npy 
vyre run p --config=some.vyre 
vyre help pack '
      checked="$checked zsh"
      ;;
    77) ;; # no module for terminals
    *) fail 'zsh fails' ;;
  esac
fi
if command -v fish >/dev/null; then
  expect 0 fish --no-execute "$fish_file"
  answers() {
    command_line="fish: $1"
    fish --no-config -c "source '$fish_file'; complete -C '$1'" 2>err | cut -f 1 >out
    out_is "$2"
    err_is_empty
  }
  answers 'vyre ch' check
  answers 'vyre run p --lanes=r' --lanes=reversed
  answers 'vyre run p --in x=@so' x=@some.vyre
  answers 'vyre run p --in=x=@so' --in=x=@some.vyre
  answers 'vyre run p --in=x=@su' --in=x=@sub/
  answers 'vyre run p --config=so' --config=some.vyre
  answers 'vyre check so' some.vyre
  answers 'vyre help pa' pack
  checked="$checked fish"
fi
[ -n "$checked" ] || { echo 'skipped: neither groff, mandoc nor bash is here'; exit 77; }
finish
