//! Converts bytes to a layout and compares its compiled program with the oracle. Started by `../run`.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match kernels::fuzz::run(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});
