#!/bin/sh
# patch.inc is what patch.spvasm says, and a valid module of Vulkan 1.1.
command -v spirv-as >/dev/null && command -v spirv-val >/dev/null || {
  echo "spirv-as and spirv-val are not installed. Fix: install spirv-tools."
  exit 77
}
from=$top_srcdir/plugins/vulkan
fresh=$(mktemp) || exit 1
trap 'rm -f "$fresh"' EXIT
sh "$from/patch.sh" "$from/patch.spvasm" >"$fresh" || exit 1
cmp "$fresh" "$from/patch.inc" || {
  echo "patch.inc is stale. Fix: sh plugins/vulkan/patch.sh plugins/vulkan/patch.spvasm >plugins/vulkan/patch.inc"
  exit 1
}
spirv-as --target-env spv1.3 -o - "$from/patch.spvasm" | spirv-val --target-env vulkan1.1 -
