# Rule: libvyre/ and runtime/ name no concrete device API, shader dialect, instruction set or vendor. Comments may.
# What a row of neutral.patterns matches belongs into a plugin. One file may name processors: backend/host_cpu.c, which
# says whether the machine that libvyre itself runs on has what a plugin was compiled for.
. "$top_srcdir/tests/house/lib.sh"
of_sources

grep -v '^#' "$house/neutral.patterns" >"$scratch/patterns" || exit 99

neutral() {
  sources_in "$@" | grep -v '/backend/host_cpu\.c$' | while read -r file; do
    without_comments "$file" | grep -nE -f "$scratch/patterns" | while read -r line; do
      fault "$file:$line names a device API"
    done
    case ${file##*/} in
      *cuda* | *vulkan* | *spirv* | *ptx* | *opencl*) fault "$file is named after a device API" ;;
    esac
  done
}

sample=$scratch/sample
mkdir "$sample"
sed -n 's/^# bad: //p' "$house/neutral.patterns" >"$scratch/bad"
while read -r line; do
  echo "$line" >"$sample/a.c"
  must_find "\"$line\"" neutral "$sample"
done <"$scratch/bad"
sed -n 's/^# good: //p' "$house/neutral.patterns" >"$sample/a.c"
must_pass "words that only resemble identifiers" neutral "$sample"

enforce neutral "$top_srcdir/libvyre" "$top_srcdir/runtime"
