# Rule: includes point downward. The layers of libvyre, lowest first, are base ir opt lower plan backend ops. A layer
# includes itself, lower layers and the public headers. No file of libvyre includes a plugin, a tool or the runtime.
# A plugin includes public headers and files of its own directory; cuda and vulkan also gpu/, which they share; cpu_ref
# also base/ and ir/, and template/, whose objects and queues it is built with. The runtime, the
# command and the examples are users of the library: public headers and their own files. The benchmark harness is one
# too, with base/ and the command's writers besides; the command includes the harness. The generator of random programs
# in tests/gen is one as well, and the command, which includes it, runs what it makes. The command's conformance kit has
# base/ besides.
. "$top_srcdir/tests/house/lib.sh"
of_sources

layers="base ir opt lower plan backend ops"

# includes_of FILE: what it includes from this project, one a line, as written; system headers are left out.
includes_of() {
  sed -n -e 's/^[ \t]*#[ \t]*include[ \t]*\("[^>"]*[>"]\).*/\1/p' \
    -e 's/^[ \t]*#[ \t]*include[ \t]*\(<vyre\/[^>"]*[>"]\).*/\1/p' "$1"
}

# allowed_layers LAYER: itself and those below.
allowed_layers() {
  for layer in $layers; do
    echo "$layer"
    test "$layer" != "$1" || return 0
  done
}

# check_file FILE ALLOWED...: each include is <vyre/...>, or a file beside it, or below one of the allowed directories.
check_file() {
  file=$1
  shift
  includes_of "$file" | while read -r include; do
    path=${include#?}
    path=${path%?}
    case $include in
      "<vyre/"*) continue ;;
    esac
    case $path in
      config.h) continue ;; # what configure found
      vyre/*) fault "$file writes \"$path\"; public headers are written <$path>"; continue ;;
      *..*) fault "$file climbs: $path"; continue ;;
    esac
    for directory in "$@"; do
      case $path in
        "$directory"/*) continue 2 ;;
      esac
    done
    if test "$path" = "${path##*/}" && test -e "${file%/*}/$path"; then
      continue
    fi
    fault "$file may not include $path"
  done
}

# includes_point_downward TREE
includes_point_downward() {
  tree=$1
  for layer in $layers; do
    sources_in "$tree/libvyre/$layer" | while read -r file; do
      # shellcheck disable=SC2046
      check_file "$file" $(allowed_layers "$layer")
    done
  done
  sources_in "$tree/libvyre/include" | while read -r file; do
    check_file "$file"
  done
  find "$tree/libvyre" -mindepth 1 -maxdepth 1 -type d | while read -r directory; do
    case " $layers include " in
      *" ${directory##*/} "*) ;;
      *) fault "$directory is no layer of libvyre" ;;
    esac
  done
  sources_in "$tree/plugins" | while read -r file; do
    case ${file#"$tree/plugins/"} in
      cpu_ref/*) check_file "$file" base ir template ;;
      gpu/*) check_file "$file" plugins/gpu ;;
      cuda/*) check_file "$file" plugins/gpu plugins/cuda ;;
      vulkan/*) check_file "$file" plugins/gpu plugins/vulkan ;;
      *) check_file "$file" ;;
    esac
  done
  sources_in "$tree/runtime" | while read -r file; do
    check_file "$file" megakernel stream cache session
  done
  sources_in "$tree/examples" | while read -r file; do
    check_file "$file"
  done
  sources_in "$tree/tools" | while read -r file; do
    case ${file#"$tree/tools/"} in
      conform/*) check_file "$file" base tools gen ;;
      *) check_file "$file" harness gen conform ;;
    esac
  done
  sources_in "$tree/tests/gen" | while read -r file; do
    case ${file##*/} in
      test_*) ;;
      *) check_file "$file" ;;
    esac
  done
  sources_in "$tree/bench/harness" | while read -r file; do
    check_file "$file" base harness tools
  done
}

# sample FILE TEXT: a tree of one file.
sample() {
  rm -rf "$scratch/tree"
  mkdir -p "$scratch/tree/libvyre/base" "$scratch/tree/$(dirname "$1")"
  printf '%s\n' "$2" >"$scratch/tree/$1"
}

sample libvyre/base/a.c '#include "ir/program.h"'
must_find "base above itself" includes_point_downward "$scratch/tree"
sample libvyre/ir/a.c '#  include "backend/load.h"'
must_find "ir above itself" includes_point_downward "$scratch/tree"
sample libvyre/backend/a.c '#include "../plugins/cpu_ref/run.h"'
must_find "a plugin in libvyre" includes_point_downward "$scratch/tree"
sample libvyre/include/vyre/a.h '#include "base/arena.h"'
must_find "an internal header in a public one" includes_point_downward "$scratch/tree"
sample plugins/other/a.c '#include "ir/program.h"'
must_find "internals in a plugin" includes_point_downward "$scratch/tree"
sample plugins/cpu_ref/a.c '#include "backend/load.h"'
must_find "the loader in cpu_ref" includes_point_downward "$scratch/tree"
sample plugins/gpu/a.c '#include "plugins/cuda/ptx.h"'
must_find "a backend in what backends share" includes_point_downward "$scratch/tree"
sample plugins/vulkan/a.c '#include "plugins/cuda/ptx.h"'
must_find "a backend in another one" includes_point_downward "$scratch/tree"
sample tools/a.c '#include "ir/program.h"'
must_find "internals in the command" includes_point_downward "$scratch/tree"
sample bench/harness/a.c '#include "ir/program.h"'
must_find "internals in the harness" includes_point_downward "$scratch/tree"
sample tests/gen/a.c '#include "ir/program.h"'
must_find "internals in the generator" includes_point_downward "$scratch/tree"
sample libvyre/gadgets/a.c 'int x;'
must_find "an unknown layer" includes_point_downward "$scratch/tree"
sample libvyre/ir/a.c '#include "base/arena.h"
#include <vyre/ir.h>
#include <stdio.h>
#include "a.c"'
must_pass "what ir may include" includes_point_downward "$scratch/tree"
sample plugins/cpu_ref/a.c '#include "ir/program.h"'
must_pass "the ir in cpu_ref" includes_point_downward "$scratch/tree"

sample plugins/cuda/a.c '#include "plugins/gpu/kernel.h"'
must_pass "what backends share in a backend" includes_point_downward "$scratch/tree"

enforce includes_point_downward "$top_srcdir"
