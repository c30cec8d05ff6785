#!/bin/sh
# On the machine's first Vulkan device: the whole conformance kit, with random programs for a few seconds; the examples, on
# their data, beside cpu_ref; and without a message of the validation layers, where they are installed, the examples, the
# kit's abi group and parts of numeric: with the layers all of it would take minutes more. abi.reopen is not among them,
# since a layer leaves its log open.
# Where there is no device it is skipped, or has failed if VYRE_REQUIRE has the word vulkan.
. "$top_srcdir/tests/tools/lib.sh"
. "$top_srcdir/tests/conform/lib.sh"
VYRE_CACHE=off
VYRE_BACKEND_PATH=$VYRE_TEST_BACKENDS
export VYRE_CACHE VYRE_BACKEND_PATH
skip_if_short

found=$("$VYRE" backends --all 2>/dev/null | sed -n '/vyre_backend_vulkan.so: /{p;n;p;}')
case $found in
  *'vyre_backend_vulkan.so: usable'*'device 0: '*) ;;
  *)
    printf '%s\n' "$found"
    case ,${VYRE_REQUIRE:-}, in
      *,vulkan,*) echo 'FAIL: there is no Vulkan device. Fix: install a driver (Debian: mesa-vulkan-drivers)'; exit 1 ;;
    esac
    echo 'skipped: there is no Vulkan device, so nothing was run. Fix: install a driver (Debian: mesa-vulkan-drivers)'
    exit 77
    ;;
esac

kit() { expect 0 "$VYRE" conform "$(plugin vulkan)" "$@"; }

# Each example, its program compared with cpu_ref and what it prints with what is stored.
real=$VYRE
printf '#!/bin/sh\nexec "%s" "$@" --backend vulkan --verify\n' "$real" >verified
chmod +x verified
example() {
  VYRE=$work/verified
  expect 0 "$top_srcdir/examples/run" "$@"
  VYRE=$real
}
digest_is() { [ "$(sha256sum <out | cut -d ' ' -f 1)" = "$(cat "$top_srcdir/examples/$1.sha256")" ] || fail "not $1"; }
examples() {
  export VYRE
  example saxpy; same out "$top_srcdir/examples/saxpy/expected"
  example prefix_sum; same out "$top_srcdir/examples/prefix_sum/expected"
  example mandelbrot; digest_is mandelbrot/expected
  example text_stats "$top_srcdir/LICENSE"
  [ "$(head -n 1 out)" = "lines $(wc -l <"$top_srcdir/LICENSE")" ] || fail 'not the lines that wc counts'
  example string_hash "$top_srcdir/LICENSE"
  [ "$(wc -l <out)" -gt 100 ] || fail 'fewer words than the licence has'
}

# watched COMMAND...: with the layers, whose messages come into ./messages, through a pipe since each process would begin a
# file anew.
watched() {
  rm -f messages.pipe
  mkfifo messages.pipe
  exec 8<>messages.pipe
  cat messages.pipe >messages 8>&- &
  reader=$!
  VK_LAYER_SETTINGS_PATH=$work/vk_layer_settings.txt
  VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
  VYRE_BACKEND_VULKAN_VALIDATION=1
  export VK_LAYER_SETTINGS_PATH VK_INSTANCE_LAYERS VYRE_BACKEND_VULKAN_VALIDATION
  printf 'khronos_validation.%s\n' 'debug_action = VK_DBG_LAYER_ACTION_LOG_MSG' 'report_flags = error,warn' \
    "log_filename = $work/messages.pipe" ${advice:+"enables = $advice"} >vk_layer_settings.txt
  "$@"
  unset VK_LAYER_SETTINGS_PATH VK_INSTANCE_LAYERS VYRE_BACKEND_VULKAN_VALIDATION
  exec 8>&-
  wait $reader
}
with_layers() {
  abi=$("$VYRE" conform --list | awk '$1 ~ /^abi[.]/ && $1 != "abi.reopen" { print $1 }' | paste -s -d ,)
  kit --seconds 0 --only "$abi,numeric.memory.moves,numeric.memory.params,numeric.subgroup.ops,numeric.grid_barrier"
  examples
}

kit --seconds 5
out_has 'vulkan conforms: '
if ls /usr/share/vulkan/explicit_layer.d /etc/vulkan/explicit_layer.d 2>/dev/null | grep -q -i khronos_validation; then
  # What the layers say to everyone, if they are asked for advice, shows that messages come here.
  advice=VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT
  watched kit --seconds 0 --only abi.devices
  [ -s messages ] || fail 'advice of the layers does not come'
  advice=
  watched with_layers
  [ ! -s messages ] || { fail 'the layers have messages'; head -n 40 messages; }
else
  echo 'nothing was validated: there are no layers. Fix: install them (Debian: vulkan-validationlayers)'
  case ,${VYRE_REQUIRE:-}, in *,vulkan,*) fail 'no validation layers' ;; esac
  examples
fi
finish
