#!/bin/sh
# The HTML report: one file that loads nothing, out of which no text breaks, and whose pictures a browser shows. What is
# seen is asked of the pixels of a screenshot.
set -u
: "${top_builddir:?run by make check}"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
sample=$top_builddir/tests/bench/write_sample
fail() {
  echo "FAIL: $*"
  exit 1
}

"$sample" html >"$work/plain.html" || fail "the sample is not written"
"$sample" html hostile >"$work/hostile.html" || fail "the hostile sample is not written"
for page in plain hostile; do
  file=$work/$page.html
  if grep -nE '<script|<iframe|<link|<img|src=|href=|url\(|@import|https?:' "$file"; then
    fail "$page: it loads something"
  fi
  if LC_ALL=C grep -nP '[\x00-\x08\x0B-\x1F\x7F]' "$file"; then fail "$page: it has control characters"; fi
  if grep -nF "$(printf '\342\200\256')" "$file"; then fail "$page: it has characters that reorder text"; fi
  test "$(grep -c '<svg' "$file")" = "$(grep -c '</svg>' "$file")" || fail "$page: a picture is not closed"
done
test "$(grep -c '<svg' "$work/plain.html")" = 5 || fail "there are not four pictures of cases and one of sizes"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) &&
  command -v pngtopnm >/dev/null && command -v ppmhist >/dev/null ||
  { echo "skipped: the pictures are not looked at without chromium and netpbm"; exit 77; }

# browse PAGE OPTION...
browse() {
  page=$1
  shift
  HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
    --force-device-scale-factor=1 --user-data-dir="$work/profile" --window-size=1100,3600 "$@" "file://$page" \
    2>"$work/browser.log"
}

# pixels PAGE: its colours with how many pixels have each, as "RED GREEN BLUE COUNT".
pixels() {
  rm -f "$work/shot.png"
  browse "$1" --screenshot="$work/shot.png" >/dev/null
  test -s "$work/shot.png" || { cat "$work/browser.log"; fail "the browser gives no picture of $1"; }
  pngtopnm "$work/shot.png" | ppmhist -noheader 2>/dev/null | awk '{ print $1, $2, $3, $5 }'
}

# shows RED GREEN BLUE COUNT: at least so many pixels of the colour were seen.
shows() {
  awk -v colour="$1 $2 $3" -v least="$4" '$1 " " $2 " " $3 == colour { seen = $4 } END { exit !(seen >= least) }' \
    "$work/pixels"
}

# Bars of vyre, CUB and CUDA, and the dashed lines of the bound.
pictures_are_seen() {
  shows 21 101 192 5000 && shows 239 108 0 5000 && shows 46 125 50 5000 && shows 198 40 40 300
}

pixels "$work/plain.html" >"$work/pixels"
pictures_are_seen || { sort -k4 -n -r "$work/pixels" | head -n 20; fail "the pictures are not seen"; }
sed '/<svg/,/<\/svg>/d' "$work/plain.html" >"$work/blind.html"
pixels "$work/blind.html" >"$work/pixels"
if pictures_are_seen; then fail "self-test: pictures are seen where none are"; fi

browse "$work/hostile.html" --dump-dom >"$work/dom" || fail "the browser does not read the hostile page"
grep -qF '<title>vyre bench, &lt;/svg&gt;' "$work/dom" || fail "a text broke out: $(grep -m1 '<title>' "$work/dom")"
exit 0
