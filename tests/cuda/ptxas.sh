# Everything that is emitted passes ptxas, for each target that it lists: the golden programs, those of lowering, the
# kernels of the benchmark (with the registers and spills of resources.golden; optimized they spill nothing), the
# examples, and random ones.
# VYRE_PTXAS_SEEDS says how many of these (96; a tenth where tests are short); VYRE_UPDATE_GOLDEN=1 takes new resources.
set -u
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
if test -z "$ptxas"; then
  case ,${VYRE_REQUIRE:-}, in
    *,cuda,* | *,ptxas,*) echo "FAIL: ptxas is missing. Fix: install the CUDA toolkit"; exit 1 ;;
  esac
  echo "skipped: ptxas is missing (CUDA toolkit): no PTX was checked for any target"
  exit 77
fi
emit=$top_builddir/tests/cuda/emit
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "FAIL: $*"
  exit 1
}
version=$("$ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
listed=$("$ptxas" --help | grep -o "'sm_[0-9a-z]*'" | tr -d "'" | sort -u)
seeds=96
test "$VYRE_SANITIZERS" = no && test -z "${VYRE_SHORT_TESTS:-}" || seeds=10
seeds=${VYRE_PTXAS_SEEDS:-$seeds}
resources_of=90

# assemble SM WHAT ARGUMENTS...: emits for it, and assembles each file.
assemble() {
  sm=$1
  what=$2
  shift 2
  "$emit" --sm "${sm%%[a-z]*}" --out "$scratch/$what-$sm-" "$@" >"$scratch/list" 2>"$scratch/said" ||
    fail "emit $*: $(cat "$scratch/said")"
  test -s "$scratch/list" || fail "nothing was emitted for $what: $(cat "$scratch/said")"
  xargs -P2 -I{} sh -c '"$1" -v -arch "sm_$2" "$3" -o "$3.cubin" >"$3.log" 2>&1 || : >"$3.failed"' - \
    "$ptxas" "$sm" {} <"$scratch/list"
  for module in $(cat "$scratch/list"); do
    test ! -e "$module.failed" || fail "$what for sm_$sm: $(grep -v '^ptxas info' "$module.log" | head -5)"
  done
}

# NAME REGISTERS SPILL_STORES SPILL_LOADS, bytes, of each entry point in the logs: of kernels that are not optimized, so
# that the table says what the emitter does.
resources() {
  cat "$scratch"/plain-$resources_of-*.log | sed -n \
    -e "s/.*Compiling entry function 'm[0-9]*_\([a-z0-9_]*\)' for.*/\1/p" \
    -e 's/.* \([0-9]*\) bytes spill stores, \([0-9]*\) bytes spill loads.*/\1 \2/p' -e 's/.*Used \([0-9]*\) registers.*/\1/p' |
    paste -d ' ' - - - | awk '{ print $1, $4, $2, $3 }' | sort
}

golden="$top_srcdir/tests/cuda/golden $top_srcdir/tests/lower/golden"
for sm in 75 80 90 90a 100 120; do
  case " $(echo $listed) " in
    *" sm_$sm "*) ;;
    *) echo "not run: sm_$sm, which ptxas $version does not list"; continue ;;
  esac
  assemble $sm golden $(ls $(printf '%s/*.vyre ' $golden))
  assemble $sm memory --memory $(ls "$top_srcdir"/tests/cuda/golden/*.vyre)
  assemble $sm kernels "$top_srcdir"/bench/kernels/*.vyre "$top_srcdir"/examples/*.vyre
  assemble $sm plain --level 0 "$top_srcdir"/bench/kernels/*.vyre
  assemble $sm random --from $((sm_seed = ${sm%%[a-z]*} * 1000)) --count "$seeds"
  echo "sm_$sm: $(ls "$scratch" | grep -c -- "-$sm-.*cubin$") modules assembled, $seeds random programs from $sm_seed on"
done
echo "not run: sm_70, which no ptxas from CUDA 13.0 on lists"

grep -h 'bytes spill' "$scratch"/kernels-*.log | grep -v '0 bytes spill stores, 0 bytes spill loads' &&
  fail "a kernel of the benchmark spills registers"

# What ptxas makes of the kernels depends on its version, so only those of the recorded one compare.
recorded=$top_srcdir/tests/cuda/resources.golden
{
  echo "# kernel, registers, bytes of spill stores and loads: ptxas $version, sm_$resources_of"
  resources
} >"$scratch/resources"
if test -n "${VYRE_UPDATE_GOLDEN:-}"; then
  cp "$scratch/resources" "$recorded"
elif test "$(head -1 "$scratch/resources")" != "$(head -1 "$recorded")"; then
  echo "not compared: registers and spills of ptxas $version; recorded are those of: $(head -1 "$recorded")"
else
  diff -u "$recorded" "$scratch/resources" || fail "registers or spills of the kernels are other ones"
fi
