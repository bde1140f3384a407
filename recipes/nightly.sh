#!/bin/sh
# nightly.sh COMMAND...: one night of a program, below $ROOT; publish $ROOT/site and keep $ROOT.
# Exit code 1: a budget was exceeded or could not be checked; else that of the program.
set -eu
exec xlareport nightly --root "${ROOT:-nightly}" ${NIGHT:+--night "$NIGHT"} --quiet -- "$@"
