//! Bytes are given to the readers that the variable `DDTBENCH_FUZZ` names. `../run` starts it.
#![no_main]

use std::env;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<fn(&[u8])> =
    LazyLock::new(|| ddtbench::fuzz::target(&env::var("DDTBENCH_FUZZ").expect("DDTBENCH_FUZZ names a target")));

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
