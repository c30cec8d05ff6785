#!/bin/sh
# What is committed about settings is what the table says.
stale=0
for page in ini:etc/vyre.ini markdown:docs/config.md man:docs/vyre.ini.5; do
  if ! "$top_builddir/libvyre/base/config_dump" "${page%%:*}" | cmp - "$top_srcdir/${page#*:}"; then
    echo "${page#*:} is stale. Fix: run make config-docs and commit it." >&2
    stale=1
  fi
done
"$top_builddir/libvyre/base/config_dump" nonsense 2>/dev/null
[ $? -eq 2 ] || { echo 'config_dump takes a word that it does not know' >&2; stale=1; }
exit $stale
