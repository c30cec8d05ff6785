#!/bin/sh
# y = 2 * x + y on four elements.
set -eu
here=$(dirname "$0")
"${VYRE:-vyre}" run "$here/../saxpy.vyre" --quiet --set a=2 --in x=1,2,3,4 --in y=10,20,30,40 --out y=-
