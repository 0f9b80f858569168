//! `unpack(pack(x))` restores what the type map covers and touches nothing else.

use ddtbench_datatypes::{Element, Layout, PackError, TypeMap, interpret};

use crate::{named, trees};

/// No two neighbouring bytes are equal, nor any two a small power of two apart.
fn unique_bytes(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i as u32).wrapping_mul(0x9E37_79B1).to_be_bytes()[1]).collect()
}

/// The bytes of an array that `count` copies cover, in order: computed here, not by the oracle.
fn covered(layout: &Layout, count: i64, origin: i64) -> Vec<usize> {
    let map = TypeMap::from_layout(layout);
    (0..count)
        .flat_map(|copy| map.data().map(move |(element, d)| (copy, element, d)))
        .flat_map(|(copy, element, d)| {
            let first = origin + copy * layout.extent() + d;
            first..first + element.size() as i64
        })
        .map(|byte| usize::try_from(byte).expect("the origin leaves room below"))
        .collect()
}

/// An origin and a length that leave `count` copies in reach, with a margin on both sides.
fn room(layout: &Layout, count: i64) -> (i64, usize) {
    let last = (count - 1).max(0) * layout.extent();
    let low = layout.true_lower_bound() + last.min(0);
    let high = layout.true_upper_bound() + last.max(0);
    (32 - low, (high - low) as usize + 64)
}

#[test]
fn pack_and_unpack_move_what_the_type_map_covers_and_nothing_else() {
    let (mut without_overlap, mut with_overlap) = (0, 0);
    for (seed, layout) in trees(3000) {
        for count in [0, 1, 2, 5] {
            let (origin, length) = room(&layout, count);
            let array = unique_bytes(length);
            let covered = covered(&layout, count, origin);
            let packed = interpret::pack(&layout, count as u64, &array, origin).unwrap();
            let expected: Vec<u8> = covered.iter().map(|&byte| array[byte]).collect();
            assert_eq!(packed, expected, "seed {seed}, {count} copies:\n{}", layout.tree());

            // Poison differs from what each byte held, so that an unchanged byte cannot look restored.
            let poisoned: Vec<u8> = array.iter().map(|byte| !byte).collect();
            let mut restored = poisoned.clone();
            interpret::unpack(&layout, count as u64, &packed, &mut restored, origin).unwrap();
            let mut touched = vec![false; length];
            covered.iter().for_each(|&byte| touched[byte] = true);
            for byte in 0..length {
                let right = if touched[byte] { array[byte] } else { poisoned[byte] };
                assert_eq!(
                    restored[byte],
                    right,
                    "seed {seed}, {count} copies, byte {byte}:\n{}",
                    layout.tree()
                );
            }
            let overlaps = touched.iter().filter(|&&touched| touched).count() < covered.len();
            *(if overlaps { &mut with_overlap } else { &mut without_overlap }) += 1;
        }
    }
    assert!(without_overlap > 3000 && with_overlap > 500, "{without_overlap} and {with_overlap}");
}

#[test]
fn where_a_layout_overlaps_itself_the_later_value_stays() {
    let layout = Layout::indexed_block(1, &[0, 1, 0], &named(Element::Byte)).unwrap();
    let mut array = [9; 3];
    interpret::unpack(&layout, 1, &[1, 2, 3], &mut array, 0).unwrap();
    assert_eq!(array, [3, 2, 9]);
}

#[test]
fn one_byte_less_on_either_side_is_refused_and_nothing_is_written() {
    let mut refused = 0;
    for (seed, layout) in trees(600).filter(|(_, layout)| layout.size() > 0) {
        for count in [1, 3] {
            let (origin, length) = room(&layout, count);
            let (tight, length) = (origin - 32, length - 64);
            let packed = vec![7; layout.size() as usize * count as usize];
            let mut array = vec![1; length];
            let count = count as u64;
            interpret::unpack(&layout, count, &packed, &mut array, tight).unwrap();
            for (origin, length) in [(tight - 1, length), (tight + 1, length), (tight, length - 1)] {
                let mut array = vec![1; length];
                let outside = interpret::pack(&layout, count, &array, origin);
                assert!(outside.is_err(), "seed {seed}");
                assert_eq!(interpret::unpack(&layout, count, &packed, &mut array, origin), outside.map(drop));
                assert!(array.iter().all(|&byte| byte == 1), "seed {seed}: written before refused");
                refused += 1;
            }
        }
    }
    assert!(refused > 2000, "{refused}");
}

#[test]
fn refusals_name_what_is_out_of_reach() {
    let layout = Layout::vector(2, 1, -2, &named(Element::Int32)).unwrap();
    let message = |result: Result<Vec<u8>, PackError>| result.unwrap_err().to_string();
    assert_eq!(
        message(interpret::pack(&layout, 1, &[0; 16], 4)),
        "the layout reaches bytes -4..0 of an array of 16 bytes (counted from its start)"
    );
    assert_eq!(
        message(interpret::pack(&layout, 1, &[0; 16], 13)),
        "the layout reaches bytes 13..17 of an array of 16 bytes (counted from its start)"
    );
    let short = interpret::unpack(&layout, 2, &[0; 15], &mut [0; 64], 32).unwrap_err();
    assert_eq!(short.to_string(), "the packed buffer has 15 bytes, but the layout has 16");
}

#[test]
fn absurd_counts_and_origins_are_refused_not_computed() {
    let int = named(Element::Int32);
    for origin in [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX] {
        assert!(interpret::pack(&int, 1, &[0; 8], origin).is_err());
        assert!(interpret::pack(&int, u64::MAX, &[0; 8], origin).is_err());
    }
    assert!(interpret::pack(&int, u64::MAX, &[0; 8], 0).is_err());
    assert!(interpret::unpack(&int, u64::MAX, &[0; 8], &mut [0; 8], 0).is_err());
    let nothing = Layout::contiguous(0, &int).unwrap();
    assert_eq!(interpret::pack(&nothing, u64::MAX, &[], i64::MIN), Ok(vec![]));
    assert_eq!(interpret::unpack(&nothing, u64::MAX, &[], &mut [], i64::MAX), Ok(()));
}
