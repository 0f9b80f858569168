# The settings of cargo-fuzz, for the stable toolchain: edge counters, compared values, and no merging of branches. For release
# builds, with the checks of debug builds.
export RUSTC_BOOTSTRAP=1
COVERAGE="-Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
HOST=$(rustc -vV | sed -n 's/^host: //p')
