#!/bin/sh
# `vyre backends --all` says why Vulkan can't be used, and devices are chosen by number and by uuid. On the fake library.
set -u
VYRE_CACHE=off
VYRE_BACKEND_PATH=$VYRE_TEST_BACKENDS
LD_LIBRARY_PATH=$top_builddir/tests/fake/$objdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export VYRE_CACHE VYRE_BACKEND_PATH LD_LIBRARY_PATH
[ -f "$VYRE_TEST_BACKENDS/vyre_backend_vulkan.so" ] || {
  echo 'The Vulkan backend was not built.'
  exit 77
}
status=0

# script, verdict, what the text has
says() {
  FAKE_VULKAN=$1
  export FAKE_VULKAN
  out=$("$VYRE" backends --all 2>&1)
  case $out in
    *vyre_backend_vulkan.so:\ "$2"*"$3"*) ;;
    *) printf 'after `%s`: wanted %s with `%s`, found:\n%s\n' "$1" "$2" "$3" "$out"; status=1 ;;
  esac
}

says 'absent vkGetInstanceProcAddr' unavailable 'no Vulkan loader. Fix:'
says 'absent vkCreateInstance' unavailable 'It lacks vkCreateInstance'
says 'set api 10' unavailable '1.1 is needed. Fix:'
says 'set devices 0' unavailable 'no driver offers a device. Fix:'
says 'fail vkCreateInstance VK_ERROR_INCOMPATIBLE_DRIVER' unavailable 'Fix: install a Vulkan driver'
says 'fail vkCreateInstance VK_ERROR_OUT_OF_HOST_MEMORY' unavailable 'Fix: free memory of the host.'
says 'fail vkEnumeratePhysicalDevices VK_ERROR_INITIALIZATION_FAILED' unavailable 'vkEnumeratePhysicalDevices answers'
says 'set name "A GPU of 1 TeraFLOP"' usable 'device 0: A GPU of 1 TeraFLOP'
says 'set devices 3' usable 'device 2: Fake GPU'
says 'set features none; set api 11' usable 'lacking     int64 float64 subgroup'

VYRE_BACKEND_VULKAN_LIBRARY=libnonesuch.so.7
export VYRE_BACKEND_VULKAN_LIBRARY
says '' unavailable 'libnonesuch.so.7 can not be opened'
unset VYRE_BACKEND_VULKAN_LIBRARY

# device, what the error of a program that needs more has: the device's name as it was found
program=$(mktemp) || exit 99
trap 'rm -f "$program"' EXIT
printf 'program p workgroup(1) { write t: u64[]; t[gid.x] = clock_ns(); }\n' >"$program"
FAKE_VULKAN='set devices 3'
export FAKE_VULKAN
chooses() {
  out=$("$VYRE" run "$program" --backend "$1" --len t=1 --out t=- 2>&1)
  case $out in
    *"$2"*) ;;
    *) printf '%s: wanted `%s`, found: %s\n' "$1" "$2" "$out"; status=1 ;;
  esac
}
chooses vulkan:1 11111111111111111111111111111111
chooses vulkan:12121212121212121212121212121212 12121212121212121212121212121212
chooses vulkan:3 'has 3 devices'
exit $status
