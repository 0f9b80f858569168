//! Rows of bytes, copied by the driver, and layouts as such copies.

use apps::Side;
use bytemuck::{Pod, Zeroable};
use datatypes::{Layout, Segment};

use super::driver::{driver, synchronize};

/// `cuda.h`: the arguments of a copy of rows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Copy2d {
    from_x: usize,
    from_y: usize,
    from_kind: u64,
    from_host: u64,
    from_device: u64,
    from_array: u64,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: u64,
    to_host: u64,
    to_device: u64,
    to_array: u64,
    to_pitch: usize,
    width: usize,
    height: usize,
}

/// `cuda.h`: host and device memory have one address space, and the driver finds out which it is.
const UNIFIED: u64 = 4;

/// Which of two memories is written.
#[derive(Clone, Copy)]
pub enum Direction {
    ToTwin,
    FromTwin,
}

/// Rows of one length, at one distance, in two memories at the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    pub at: usize,
    pub bytes: usize,
    pub count: usize,
    /// Bytes from the start of a row to that of the next one.
    pub step: usize,
}

impl Rows {
    /// Begins to copy them between a memory and its twin.
    ///
    /// # Safety
    /// Both have these bytes, which are not used otherwise until [`synchronize`].
    pub unsafe fn copy(self, direction: Direction, memory: *mut u8, twin: *mut u8) {
        let (memory, twin) = (memory.wrapping_add(self.at) as u64, twin.wrapping_add(self.at) as u64);
        let (from, to) = match direction {
            Direction::ToTwin => (memory, twin),
            Direction::FromTwin => (twin, memory),
        };
        // SAFETY: guaranteed by the caller.
        unsafe { copy_rows((from, self.step), (to, self.step), self.bytes, self.count) };
    }

    /// Adds a block, if it continues the rows.
    fn takes(&mut self, at: usize, bytes: usize) -> bool {
        let Some(distance) = at.checked_sub(self.at) else { return false };
        if self.count == 1 && distance == self.bytes {
            self.bytes += bytes;
            self.step = self.bytes;
            return true;
        }
        let step = if self.count == 1 { distance } else { self.step };
        let continues = bytes == self.bytes && step >= bytes && distance == step * self.count;
        if continues {
            (self.step, self.count) = (step, self.count + 1);
        }
        continues
    }
}

/// Begins to copy rows from one memory, with the bytes from one row to the next, to another one.
///
/// # Safety
/// Both memories have these rows, which are not used otherwise until [`synchronize`].
#[inline]
unsafe fn copy_rows(
    (from, from_pitch): (u64, usize),
    (to, to_pitch): (u64, usize),
    width: usize,
    height: usize,
) {
    let driver = driver();
    // The driver refuses longer distances.
    if height <= 2 || from_pitch.max(to_pitch) > i32::MAX as usize {
        for row in 0..height as u64 {
            // SAFETY: guaranteed by the caller.
            unsafe { driver.copy_later(to + row * to_pitch as u64, from + row * from_pitch as u64, width) };
        }
        return;
    }
    let arguments = Copy2d {
        from_kind: UNIFIED,
        from_device: from,
        from_pitch,
        to_kind: UNIFIED,
        to_device: to,
        to_pitch,
        width,
        height,
        ..Zeroable::zeroed()
    };
    // SAFETY: guaranteed by the caller; the arguments are copied before the call returns.
    let code = unsafe { (driver.copy_2d)(&raw const arguments, driver.stream) };
    driver.check("cuMemcpy2DAsync", code);
}

/// A layout as copies of the driver: one for all blocks of a loop, if they have one length and distance.
pub struct BlockCopies {
    /// With the place of the first row in the packed stream.
    copies: Vec<(usize, Rows)>,
}

impl BlockCopies {
    /// For copies of a layout, whose displacement 0 is byte `origin` of the arrays.
    pub fn new(layout: &Layout, count: u64, origin: i64) -> Self {
        let (mut copies, mut packed) = (Vec::<(usize, Rows)>::new(), 0);
        for copy in 0..count as i64 {
            for Segment { offset, bytes } in layout.segments() {
                let (at, bytes) = ((origin + copy * layout.extent() + offset) as usize, bytes as usize);
                if !copies.last_mut().is_some_and(|(_, rows)| rows.takes(at, bytes)) {
                    copies.push((packed, Rows { at, bytes, count: 1, step: bytes }));
                }
                packed += bytes;
            }
        }
        Self { copies }
    }

    /// Gathers all to the packed stream, or scatters all from it, and waits for it.
    ///
    /// # Safety
    /// One of the layout in the arrays and the packed stream can be read, and the other one written.
    #[inline]
    pub unsafe fn copy(&self, side: Side, arrays: *mut u8, packed: *mut u8) {
        for (place, rows) in &self.copies {
            let in_arrays = (arrays.wrapping_add(rows.at) as u64, rows.step);
            let in_stream = (packed.wrapping_add(*place) as u64, rows.bytes);
            let (from, to) = match side {
                Side::Send => (in_arrays, in_stream),
                Side::Receive => (in_stream, in_arrays),
            };
            // SAFETY: guaranteed by the caller.
            unsafe { copy_rows(from, to, rows.bytes, rows.count) };
        }
        synchronize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_over_equal_blocks_is_one_copy() {
        let of = |text: &str, count| {
            let layout: Layout = text.parse().unwrap();
            let copies = BlockCopies::new(&layout, count, 64).copies;
            copies
                .into_iter()
                .map(|(packed, Rows { at, bytes, count, step })| (packed, at, bytes, count, step))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("vector(10, 2, 5, double)", 1), [(0, 64, 16, 10, 40)]);
        assert_eq!(of("contiguous(10, double)", 2), [(0, 64, 160, 1, 160)]);
        let planes = of("hvector(2, 1, 1000, vector(3, 1, 2, int))", 1);
        assert_eq!(planes, [(0, 64, 4, 3, 8), (12, 1064, 4, 3, 8)]);
        assert_eq!(of("indexed_block(1, [4, 2, 9], int)", 1).len(), 2);
    }
}
