//! The oracle: pack and unpack value by value, in the order of the type map.
//!
//! `origin` is the byte of `array` at displacement 0: MPI's buffer address, relative to the start of the
//! array. Copies of a layout are one extent apart, like MPI's `count`.

use crate::{Layout, PackError, TypeMap};

/// Gathers `count` copies of `layout` from `array`, and returns the packed bytes.
///
/// # Errors
/// If the type map leaves `array`.
pub fn pack(layout: &Layout, count: u64, array: &[u8], origin: i64) -> Result<Vec<u8>, PackError> {
    let mut packed = Vec::new();
    visit(layout, count, array.len(), origin, |from, bytes| {
        packed.extend_from_slice(&array[from..from + bytes])
    })?;
    Ok(packed)
}

/// Scatters `packed` to `count` copies of `layout` in `array`. If the layout overlaps itself, which MPI
/// forbids on the receiving side, the later entry counts.
///
/// # Errors
/// If `packed` has another size, or the type map leaves `array`, which is then unchanged.
pub fn unpack(
    layout: &Layout,
    count: u64,
    packed: &[u8],
    array: &mut [u8],
    origin: i64,
) -> Result<(), PackError> {
    let expected = layout.size().saturating_mul(count);
    if packed.len() as u64 != expected {
        let found = packed.len();
        return Err(PackError(format!("the packed buffer has {found} bytes, but the layout has {expected}")));
    }
    let mut next = 0;
    visit(layout, count, array.len(), origin, |to, bytes| {
        array[to..to + bytes].copy_from_slice(&packed[next..next + bytes]);
        next += bytes;
    })
}

/// Calls `value(first byte, bytes)` for every value of the type map, after a check that all of them are in the array.
fn visit(
    layout: &Layout,
    count: u64,
    array_bytes: usize,
    origin: i64,
    mut value: impl FnMut(usize, usize),
) -> Result<(), PackError> {
    if count == 0 || layout.size() == 0 {
        return Ok(()); // nothing to move, however many times
    }
    let map = TypeMap::from_layout(layout);
    let places = |copy: u64| {
        // 128 bits: neither origin nor count has been checked.
        let start = i128::from(origin) + i128::from(copy) * i128::from(map.extent());
        map.data().map(move |(element, d)| (start + i128::from(d), element.size() as usize))
    };
    for (from, bytes) in (0..count).flat_map(places) {
        let to = from + bytes as i128;
        if from < 0 || to > array_bytes as i128 {
            return Err(PackError(format!(
                "the layout reaches bytes {from}..{to} of an array of {array_bytes} bytes (counted from its start)"
            )));
        }
    }
    (0..count).flat_map(places).for_each(|(from, bytes)| value(from as usize, bytes));
    Ok(())
}
