#!/bin/sh
# docs/optimization: each pass and each file of passes has its owner's row and each row its file; the commands and the
# pass that the pages show are what they say.
. "$top_srcdir/tests/tools/lib.sh"
pages=$top_srcdir/docs/optimization
table=$top_srcdir/libvyre/opt/passes.def
sources=$top_srcdir/libvyre/opt

# ---- Owners ----
# rows PAGE HEADING: the names in the first column below a heading, with commas between in one cell
rows() {
  awk -v heading="## $2" 'index($0, "## ") == 1 { inside = index($0, heading) == 1 } inside' "$1" |
    sed -n 's/^| \(`[^|]*`\) |.*/\1/p' | tr -d '`' | tr ',' '\n' | tr -d ' ' | LC_ALL=C sort
}
passes() { sed -n 's/^X(\([a-z0-9_]*\),.*/\1/p' "$table" | LC_ALL=C sort; }
# same_sets PAGE: what is wrong with its tables, on stdout
same_sets() {
  rows "$1" Passes >owned
  passes >listed
  comm -3 owned listed | sed 's/^\t/passes.def, without a row: /'
  rows "$1" 'What passes share' >shared
  while read -r file; do [ -f "$sources/$file" ] || echo "a row, and no file: $file"; done <shared
  for file in "$sources"/passes/*.c; do
    name=${file##*/}
    grep -qxF -e "${name%.c}" owned || grep -qxF -e "passes/$name" shared || echo "a file without a row: $name"
    grep -qxF -e "${name%.c}" listed || grep -qxF -e "passes/$name" shared || echo "a file of no pass: $name"
  done
  while read -r pass; do [ -f "$sources/passes/$pass.c" ] || echo "a pass without its file: $pass"; done <listed
}
command_line='the tables of owners'
same_sets "$pages/OWNERSHIP.md" >wrong
[ ! -s wrong ] || fail "$(cat wrong)"
for change in '/^| `dce`/d' 's/^| `dce`/| `dead_code`/' '/`passes\/algebra.c`/d' 's/`edit.c`/`edits.c`/'; do
  sed "$change" "$pages/OWNERSHIP.md" >changed
  same_sets changed >wrong
  [ -s wrong ] || fail "no fault is found after $change"
done

# ---- Commands ----
# Every line of a shell block that begins with vyre runs as it stands, in the tree's place.
for page in "$pages"/*.md; do
  sed -n '/^```sh/,/^```/p' "$page" | sed -n 's/ *#.*//; /^vyre \(opt\|emit\)/p' >commands
  while read -r line; do
    command_line="${page##*/}: $line"
    (cd "$top_srcdir" && vyre() { "$VYRE" "$@"; } && eval "$line") >out 2>err </dev/null || fail 'it fails'
  done <commands
done
command_line='the commands of README.md'
grep -c '^vyre opt' "$pages/README.md" >count
[ "$(cat count)" -ge 5 ] || fail 'there are fewer than there were'

# ---- The account in README.md ----
# The first block that is a program, and below it what --explain says of it, down to the table of passes.
block() { awk -v n="$2" '/^```/ { open = !open; k += open; next } open && k == n' "$1"; }
for n in 1 2 3 4 5; do block "$pages/README.md" $n >block.$n; done
program=
for n in 1 2 3 4; do
  if grep -q '^program' block.$n; then
    program=$n
    break
  fi
done
command_line='the account of README.md'
if [ -n "$program" ]; then
  cp "block.$program" quotient.vyre
  expect 0 "$VYRE" opt quotient.vyre --explain
  cp out text
  sed '/^$/,$d' err >account
  cat text account >shown
  same shown "block.$((program + 1))"
else
  fail 'there is no program'
fi

# ---- The pass in START_HERE.md ----
command_line='the pass of START_HERE.md'
sed -n '/^```c/,/^```/p' "$pages/START_HERE.md" | sed '/^```/d' >lone_fence.c
[ -s lone_fence.c ] || fail 'there is none'
echo '#include "opt/pass.h"
opt_pass_function opt_pass_lone_fence;' >before.h
${CC:-cc} -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -include before.h \
  -I"$top_srcdir/libvyre" -I"$top_srcdir/libvyre/include" lone_fence.c 2>err || fail 'it does not compile'
command_line='the rule of START_HERE.md'
grep '^RULE(' "$pages/START_HERE.md" >rule
grep -qxF -e "$(cat rule)" "$sources/rules.def" || fail 'it is not in rules.def'
finish
