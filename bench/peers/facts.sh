#!/bin/sh
# What nvidia-smi tells of a device, for the harness (bench/harness/facts.h has the protocol). Sets nothing.
set -eu
read -r word uuid
test "$word" = device || exit 2

fields=uuid,clocks.sm,clocks.mem,temperature.gpu,power.draw,power.limit,ecc.mode.current,persistence_mode
fields=$fields,clocks_throttle_reasons.active
line=$(nvidia-smi --query-gpu="$fields" --format=csv,noheader,nounits 2>/dev/null |
  awk -F', ' -v wanted="$uuid" '{ id = $1; sub(/^GPU-/, "", id); gsub(/-/, "", id); if (id == wanted) print }')

# tell KEY VALUE: unless it is not known.
tell() {
  case $2 in
    '' | *'N/A'* | *'Not Supported'*) ;;
    *) echo "fact $1 $2" ;;
  esac
}

# Names of the bits of a mask in hexadecimal. An idle device and clocks that were asked for are no throttling.
throttle() {
  mask=$(($1)) names=
  for row in 4:power_cap 8:hardware_slowdown 32:thermal_slowdown 64:hardware_thermal 128:power_brake; do
    test $((mask & ${row%%:*})) = 0 || names="$names ${row#*:}"
  done
  # shellcheck disable=SC2086
  set -- ${names:-none}
  for name in "$@"; do echo "fact throttle $name"; done
}

if test -n "$line"; then
  # shellcheck disable=SC2034
  echo "$line" | {
    IFS=,
    read -r id sm memory temperature draw limit ecc persistence reasons
    IFS=' '
    tell 'clock_*_mhz' "${sm# }"
    tell 'memory_clock_*_mhz' "${memory# }"
    tell 'temperature_*_c' "${temperature# }"
    tell 'power_*_w' "${draw# }"
    tell power_limit_w "${limit# }"
    tell ecc "${ecc# }"
    tell persistence "${persistence# }"
    case ${reasons# } in
      0x*) throttle "${reasons# }" ;;
    esac
  }
fi
echo done
