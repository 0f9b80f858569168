//! Every program is compared with the oracle, on every instruction set that this processor has.

mod corpus;
mod indexed_records;
mod levels;
pub(crate) mod ran;

use datatypes::unusual::unusual_layout;
use datatypes::{Element, Layout};
use rand::{Rng, RngExt};

use crate::check::{check, noise};
use crate::operation::{Leaf, LoopNest};
use crate::{RunError, compile, fuzz};

/// Random cases of each kind in a test run; the oracle takes most of the time.
const CASES: u64 = if cfg!(miri) { 12 } else { 3000 };

/// The numbers of the random cases: `KERNELS_CASES` is how many, `KERNELS_FIRST` the first one.
fn cases() -> std::ops::Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
    };
    let first = number("KERNELS_FIRST").unwrap_or(0);
    first..first + number("KERNELS_CASES").unwrap_or(CASES)
}

/// Everything that MPI allows, overlaps and zeros included; also with bounds as MPIs report them, which do
/// not follow from the constructors.
#[test]
fn random_layouts_agree_with_the_oracle() {
    let mut compared = 0;
    for seed in cases() {
        let mut noise = noise(seed);
        let layout = unusual_layout(seed, noise.random_range(1..=5));
        // The oracle takes most of the time.
        if layout.true_extent() > 1 << 13 {
            continue;
        }
        check(&layout, noise.random_range(0..=3), &mut noise);
        for (_, read) in layout.readings() {
            check(&read, noise.random_range(0..=3), &mut noise);
            compared += 1;
        }
    }
    assert!(compared >= cases().count() / 10, "{compared}");
}

/// Random bytes as the fuzz target reads them: long blocks and lists.
#[test]
fn random_bytes_agree_with_the_oracle() {
    let mut compared = 0;
    for seed in cases() {
        let mut noise = noise(seed);
        let words = 4 + noise.random_range(0..=60);
        let bytes: Vec<u8> = (0..words).flat_map(|_| noise.next_u64().to_le_bytes()).collect();
        compared += u64::from(fuzz::run(&bytes));
    }
    assert!(compared >= cases().count() as u64 / 5, "only {compared} of {:?} are a layout", cases());
}

#[test]
#[cfg_attr(miri, ignore = "too large to interpret")]
fn long_runs_and_large_messages_have_classes_of_their_own() {
    let byte = Layout::named(Element::Byte);
    let classes = |layout: &Layout| -> Vec<String> {
        let operations = compile(layout, 1).unwrap().sequence.operations;
        operations.iter().map(|operation| operation.leaf.class().unwrap().to_string()).collect()
    };
    // Long runs of different lengths: a kernel for each, and for the one that is most of the message that of one run.
    let uneven = Layout::indexed(&[1500, 3000, 20_000], &[0, 2000, 6000], &byte).unwrap();
    let expected =
        ["blocks of 1025 to 2048 bytes", "blocks of 2049 to 4096 bytes", "one run of 16385 to 65536 bytes"];
    assert_eq!(classes(&uneven), expected);
    check(&uneven, 2, &mut noise(6));
    // Long rows in two loops.
    let rows =
        Layout::subarray(&[3, 9, 3000], &[3, 7, 2500], &[0, 1, 8], datatypes::Order::C, &byte).unwrap();
    assert_eq!(classes(&rows), ["blocks of 2049 to 4096 bytes"]);
    check(&rows, 1, &mut noise(7));
    // Rows of a message below and of at least 1 MiB.
    let rows = |count| classes(&Layout::vector(count, 6144, 7000, &byte).unwrap());
    assert_eq!([170, 171].map(rows), [["blocks of 4097 to 16384 bytes"], ["long blocks of large messages"]]);
}

/// Farther apart than 32 bits can express; tests do not have the memory to run this.
#[test]
fn places_beyond_4_gib_are_runs() {
    let far = [0, 1 << 32, (1 << 32) + 10, 1 << 34];
    let layout = Layout::hindexed_block(1, &far, &Layout::named(Element::Double)).unwrap();
    let program = compile(&layout, 1).unwrap();
    let [LoopNest { leaf: Leaf::Runs { offsets, ends, .. }, .. }] = &program.sequence.operations[..] else {
        panic!("{program}");
    };
    assert_eq!((&offsets[..], &ends[..]), (&far[..], &[8, 16, 24, 32][..]));
    assert!(program.explain().contains("beyond 4 GiB"), "{program}");
    let near = Layout::hindexed_block(1, &[0, 10, (1 << 32) - 1], &Layout::named(Element::Double)).unwrap();
    let program = compile(&near, 1).unwrap();
    assert!(matches!(program.sequence.operations[0].leaf, Leaf::Indexed { .. }), "{program}");
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let layout = Layout::vector(3, 1, 2, &Layout::named(Element::Int32)).unwrap();
    let program = compile(&layout, 1).unwrap();
    let (array, mut packed) = ([7u8; 20], [1u8; 12]);
    assert!(program.pack(&array, 0, &mut packed).is_ok());
    let text = |refused: Result<(), RunError>| refused.unwrap_err().to_string();
    for (origin, from, to) in [
        (-1, -1, 19),
        (1, 1, 21),
        (i64::MIN, i128::from(i64::MIN), i128::from(i64::MIN) + 20),
        (i64::MAX, i128::from(i64::MAX), i128::from(i64::MAX) + 20),
    ] {
        let mut packed = [1u8; 12];
        let refused = text(program.pack(&array, origin, &mut packed));
        assert_eq!(refused, format!("bytes {from} to {to} of the array are needed, which has 20"));
        assert_eq!(packed, [1; 12]);
    }
    let short = "the packed buffer has 11 bytes instead of 12";
    assert_eq!(text(program.pack(&array, 0, &mut packed[1..])), short);
    assert_eq!(text(program.unpack(&packed[1..], &mut [0; 20], 0)), short);
    assert!(compile(&layout, u64::MAX).is_err());
}
