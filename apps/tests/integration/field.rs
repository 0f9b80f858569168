//! The values of a field over the whole run: the expected content of a rank's memory before and after an
//! exchange, literally from global positions.

use std::ops::Range;

use ddtbench_apps::Arrays;
use ddtbench_apps::halo::{Cell, HaloApp};

/// Byte of memory that does not belong to a value: halo before the exchange, elements that are not exchanged,
/// gaps, guards.
const POISON: u8 = 0xA5;

/// Fills a rank's memory for an exchange: its own values, poison everywhere else.
pub fn fill(app: &dyn HaloApp, rank: usize, arrays: &mut Arrays) {
    arrays.memory_mut().fill(POISON);
    for array in 0..arrays.specs().len() {
        let bytes = arrays.specs()[array].element.size() as usize;
        let cells = app.cells(rank, array);
        for (element, to) in arrays.slice_mut::<u8>(array).chunks_exact_mut(bytes).enumerate() {
            if let Cell::Own(id) = cells(element) {
                value(id, to);
            }
        }
    }
}

/// Checks a rank's memory after an exchange: own values are unchanged, halos have their owners' values, and everything else has poison.
///
/// # Errors
/// The first wrong element.
pub fn check(app: &dyn HaloApp, rank: usize, arrays: &Arrays) -> Result<(), String> {
    for (array, spec) in arrays.specs().iter().enumerate() {
        let (bytes, cells) = (spec.element.size() as usize, app.cells(rank, array));
        let mut expected = vec![0; bytes];
        for (element, found) in arrays.slice::<u8>(array).chunks_exact(bytes).enumerate() {
            match cells(element) {
                Cell::Own(id) | Cell::Halo(id) => value(id, &mut expected),
                Cell::Other => expected.fill(POISON),
            }
            if found != expected {
                let name = &spec.name;
                return Err(format!(
                    "rank {rank}, {name}, element {element}: {found:02x?} instead of {expected:02x?}"
                ));
            }
        }
    }
    let is_changed = |gap: &Range<usize>| arrays.memory()[gap.clone()].iter().any(|&byte| byte != POISON);
    let gap = gaps(arrays).find(is_changed);
    gap.map_or(Ok(()), |gap| Err(format!("rank {rank}, bytes {gap:?} outside all arrays")))
}

/// The bytes of memory outside all arrays.
fn gaps(arrays: &Arrays) -> impl Iterator<Item = Range<usize>> + '_ {
    let places = (0..arrays.specs().len()).map(|array| arrays.place(array));
    let ends = places.clone().map(|place| place.end);
    let starts = places.map(|place| place.start).chain([arrays.memory().len()]);
    [0].into_iter().chain(ends).zip(starts).map(|(from, to)| from..to)
}

/// The value called `id`.
fn value(id: u64, bytes: &mut [u8]) {
    for (i, word) in bytes.chunks_mut(8).enumerate() {
        let mixed = mix(id.wrapping_add(mix(i as u64)));
        word.copy_from_slice(&mixed.to_le_bytes()[..word.len()]);
    }
}

/// Computed for any number; different numbers give different results.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
