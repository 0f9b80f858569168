#!/bin/sh
# Cargo, asked once for the same thing: before every run `ddtbench` has it check whether the rank program is as new as its source,
# which does not change while tests run. DDTBENCH_TEST_CARGO is cargo itself, DDTBENCH_TEST_OUTPUT a folder for its output. The next
# MPI's program is built at the same path, so the answer names a copy.
output=$DDTBENCH_TEST_OUTPUT$CARGO_TARGET_DIR/$*
[ -f "$output" ] && exec cat "$output"
mkdir -p "${output%/*}"
"$DDTBENCH_TEST_CARGO" "$@" >"$output.$$" || exit
program=$(sed -n 's|.*"executable":"\([^"]*/ddtbench-rank\)".*|\1|p' "$output.$$")
if [ -n "$program" ]; then
    cp -p "$program" "$output.program"
    sed -i "s|\"executable\":\"$program\"|\"executable\":\"$output.program\"|" "$output.$$"
fi
mv "$output.$$" "$output"
exec cat "$output"
