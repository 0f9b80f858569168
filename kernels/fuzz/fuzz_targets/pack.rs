//! Bytes become a layout; what is compiled of it must agree with the oracle. `../run` starts it.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match kernels::fuzz::run(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});
