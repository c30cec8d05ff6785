#!/bin/sh
# The conformance kit finds what it is for: each copy of the template has one defect, and `vyre conform` names the check
# that finds it, in words that lead to the place. A defect that can't be planted any more is a failure too.
. "$top_srcdir/tests/tools/lib.sh"
skip_if_short # the copies would have to be built with the sanitizer of the host
template=$top_srcdir/plugins/template
mkdir objects

# build DIRECTORY FILE...: compiles these files of a copy.
build() {
  where=$1
  shift
  for source in "$@"; do
    # shellcheck disable=SC2086
    $CC -std=gnu17 -O1 -Wall -Werror -ffp-contract=off -fvisibility=hidden -fPIC -pthread \
      -I"$top_srcdir/libvyre/include" -c "$where/$source" -o "$where/${source%.c}.o" || return 1
  done
}

# link DIRECTORY: a plugin of its objects.
link() {
  # shellcheck disable=SC2086
  $CC -shared -pthread "$1"/*.o -lm -Wl,-z,defs -o "$1/vyre_backend_template.so"
}

# swap FILE: the text in `old` by that in `new`, where it stands once.
swap() {
  awk 'function whole(path,   text, line) {
      while ((getline line <path) > 0) text = text line "\n"
      return text
    }
    BEGIN {
      old = whole("old"); text = whole("'"$1"'")
      sub(/\n$/, "", old)
      replacement = whole("new")
      sub(/\n$/, "", replacement)
      at = index(text, old)
      behind = substr(text, at + length(old))
      if (at == 0 || index(behind, old) != 0) exit 1
      printf "%s%s%s", substr(text, 1, at - 1), replacement, behind
    }' >swapped && mv swapped "$1"
}

# defect NAME FILE CHECK WORDS: the old text, a line ====, and the new text on standard input. CHECK finds it and says
# WORDS, a pattern of grep.
defect() {
  command_line="the defect $1"
  awk '/^====$/ { into = "new"; next } { print >into }' into=old
  cp -R "$template" "$1"
  cp objects/*.o "$1/"
  swap "$1/$2" || { fail "its place in $2 is not there, or twice"; return; }
  { build "$1" "$2" && link "$1"; } >"$1/log" 2>&1 || { cp "$1/log" err; fail 'it does not compile'; return; }
  printf '%s\t%s\t%s\n' "$1" "$3" "$4" >>planted
}

mkdir sound
cp "$template"/*.[ch] sound/
command_line='the template as it is'
# shellcheck disable=SC2046
{ build sound $(cd sound && ls ./*.c) && link sound; } >log 2>&1 || { cp log err; fail 'it does not compile'; finish; }
mv sound/*.o objects/

# --- One operator is rounded twice ---
defect rounding ops.c numeric.operators.f32 '^ *fma f32: .*wanted .* found ' <<'END'
B(fma##F(V(a), V(b), V(c)))
====
B(V(a) * V(b) + V(c))
END

# --- A copy goes by 16 bytes and leaves the rest ---
defect tail execute.c abi.batch.moves '^ *copying .* words from word .*: wanted ' <<'END'
                c->u.copy.bytes);
====
                c->u.copy.bytes & ~(uint64_t)15);
END

# --- Nobody waits at a barrier ---
defect barrier run.c numeric.barrier '^ *reverse, workgroup(.* workgroups: y.*wanted ' <<'END'
(s->op >= VYRE_KERNEL_BARRIER &&
====
(s->op > VYRE_KERNEL_BARRIER &&
END

# --- An index that is too large becomes the last one ---
defect clamp run.c numeric.memory.range '^ *load of .*: .*wanted 0 ' <<'END'
  *inside = index < limit ? limit - index : 0;
====
  if (index >= limit && limit > 0) index = limit - 1;
  *inside = index < limit ? limit - index : 0;
END

# --- Each atomic is one of the workgroup ---
defect scope run.c numeric.atomics.queues 'scope [ds].*updates were lost' <<'END'
if (s->scope == VYRE_SCOPE_WORKGROUP) {
====
if (s->scope <= VYRE_SCOPE_SYSTEM) {
END

# --- Lanes are counted from the other end ---
defect lanes run.c numeric.geometry '^ *lane, workgroup(.*wanted 0 .* found 31 ' <<'END'
    case VYRE_KERNEL_LANE: return linear % r->subgroup;
====
    case VYRE_KERNEL_LANE: return r->subgroup - 1 - linear % r->subgroup;
END

# --- A kernel that is refused is not freed ---
defect leak code.c resource.refused '^ *compiling a program whose byte .* is wrong: .* times leave ' <<'END'
  else engine_free(code);
  return status;
====
  return status;
END

# --- An opcode that is not known ends the process ---
defect abort code.c abi.compile.unknown 'by signal .* while: compiling a kernel with the unknown opcode ' <<'END'
  if (kinds == NULL)
    return engine_fail
====
  if (kinds == NULL) __builtin_trap();
  if (kinds == NULL)
    return engine_fail
END

# --- A view is as long as the buffer behind it ---
defect view execute.c numeric.memory.lengths '^ *lengths of .* elements of .*wanted ' <<'END'
  if (bind->length_bits == 0) return bind->elements;
====
  if (bind->length_bits == 0) return bind->elements > 0 ? bind->buffer->bytes / (bind->bytes / bind->elements) : 0;
END

# --- It claims a capability that it has not ---
defect capability plugin.c numeric.capabilities '^ *atomic_load128, which is claimed: wanted ' <<'END'
missing_needs = VYRE_NEED_ATOMIC_LOAD128;
====
missing_needs = 0;
END

# --- What finds a defect finds none without it, or it proves nothing ---
checks=$(cut -f 2 planted | sort | paste -sd , -)
expect 0 "$VYRE" conform sound/vyre_backend_template.so --only "$checks"

tab=$(printf '\t')
while IFS="$tab" read -r name check words; do
  expect 1 "$VYRE" conform "$name/vyre_backend_template.so" --only "$check"
  grep -q "^\(fail\|crash\) *$check " out || fail "the defect $name is not found by $check"
  grep -q "$words" out || fail "$check does not lead to the defect $name: $words"
done <planted
[ "$(wc -l <planted)" -eq 10 ] || fail 'there are not ten defects'
finish
