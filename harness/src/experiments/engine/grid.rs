//! The synthetic grid: blocks from 4 B to 64 KiB, with gaps from 0 to 4 KiB, at equal distances and at random places.

use crate::experiments::planned::PlannedCase;

/// The set's name in results.
pub const SET: &str = "grid";

/// Block sizes in bytes: powers of two, and the sizes of three and five floats or doubles as in applications.
const BLOCKS: [u64; 18] =
    [4, 8, 12, 16, 24, 32, 40, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];

/// Gaps in bytes, in addition to none and one block.
const GAPS: [u64; 3] = [64, 512, 4096];

/// Packed bytes of a case: about the size of a second-level cache, and far above the cost of a call.
const PACKED_BYTES: u64 = 1 << 18;

/// Maximum bytes from the first block to the last. With large gaps there are fewer blocks. A larger span
/// exceeds the caches and TLBs just the same, but takes long to verify.
const SPAN_BYTES: u64 = 1 << 24;

pub fn cases() -> Vec<PlannedCase> {
    let mut cases: Vec<PlannedCase> = Vec::new();
    for block in BLOCKS {
        let mut gaps = vec![0, block];
        gaps.extend(GAPS);
        gaps.sort_unstable();
        gaps.dedup();
        for gap in gaps.into_iter().filter(|&gap| gap <= GAPS[2].max(block)) {
            for case in [strided(block, gap), scattered(block, gap)] {
                // A gap that is small relative to the block may not change the number of places.
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
    }
    cases
}

/// An element for blocks of this many bytes, and its size.
fn element(block: u64) -> (&'static str, u64) {
    if block.is_multiple_of(8) { ("double", 8) } else { ("float", 4) }
}

fn count(block: u64, gap: u64) -> u64 {
    PACKED_BYTES.div_ceil(block).min(SPAN_BYTES / (block + gap))
}

fn strided(block: u64, gap: u64) -> PlannedCase {
    let (element, bytes) = element(block);
    let stride = (block + gap) / bytes;
    case(
        "strided",
        element,
        &[("count", count(block, gap)), ("blocklength", block / bytes), ("stride", stride)],
    )
}

/// Blocks start at multiples of their length. This number of places gives the same mean distance.
fn scattered(block: u64, gap: u64) -> PlannedCase {
    let (element, bytes) = element(block);
    let count = count(block, gap);
    let places = count * (block + gap) / block;
    case("scattered", element, &[("count", count), ("blocklength", block / bytes), ("places", places)])
}

fn case(test: &str, element: &str, values: &[(&str, u64)]) -> PlannedCase {
    let values = values.iter().map(|&(name, value)| (name, value.to_string()));
    let case = PlannedCase { test: test.to_owned(), set: Some(SET.to_owned()), ..PlannedCase::default() };
    case.with(values.chain([("element", element.to_owned())]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Kind;
    use crate::experiments::{self, Context};

    #[test]
    fn every_case_can_be_and_none_is_there_twice() {
        let all = cases();
        for (i, case) in all.iter().enumerate() {
            let prepare = experiments::of_kind(Kind::Engine).prepare;
            let message = *prepare(case, &[], Context { ranks: 1, seed: 1 }).unwrap().message;
            assert!(message.bytes <= PACKED_BYTES + 64, "{case:?}");
            assert!(message.bytes >= 1 << 13, "{case:?}");
            assert!(message.array_bytes <= 2 * SPAN_BYTES, "{case:?}");
            assert!(!all[..i].contains(case), "{case:?}");
        }
    }
}
