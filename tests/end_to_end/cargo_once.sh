#!/bin/sh
# Cargo, asked once for the same thing: before every run `ddtbench` has it look whether the rank program is as new as its source,
# which stays as it is while tests run. DDTBENCH_TEST_CARGO is cargo itself, DDTBENCH_TEST_SAID a folder for what it has said.
said=$DDTBENCH_TEST_SAID$CARGO_TARGET_DIR/$*
[ -f "$said" ] && exec cat "$said"
mkdir -p "${said%/*}"
"$DDTBENCH_TEST_CARGO" "$@" >"$said.$$" || exit
mv "$said.$$" "$said"
exec cat "$said"
