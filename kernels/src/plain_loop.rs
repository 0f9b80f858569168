//! The plain loop over a layout's nest: loops that copy value by value, as the compiler optimises them, without any
//! choice for the processor. Here the nest is data that is interpreted in each call, as in a simple datatype engine.

use datatypes::Layout;

use crate::bounds::Reach;
use crate::normal_form::NormalForm;
use crate::{CompileError, RunError};

/// Packs and unpacks copies of one layout by plain loops: with counts and strides if the layout is regular,
/// else with lists.
#[derive(Clone, Debug)]
pub struct PlainLoop {
    nest: NormalForm,
    reach: Reach,
}

impl PlainLoop {
    /// For `count` copies of `layout`, one extent apart.
    ///
    /// # Errors
    /// If they reach beyond the address space.
    pub fn from_layout(layout: &Layout, count: u64) -> Result<Self, CompileError> {
        let reach = Reach::from_layout(layout, count)?;
        let nest = NormalForm::from_layout(layout, count);
        assert_eq!(nest.bytes(), reach.size, "a nest has what its layout holds");
        Ok(Self { nest, reach })
    }

    /// Gathers all from `array`, whose byte `origin` is displacement 0.
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    pub fn pack(&self, array: &[u8], origin: i64, packed: &mut [u8]) -> Result<(), RunError> {
        self.reach.check(array.len(), origin, packed.len())?;
        let base = array.as_ptr().cast_mut().wrapping_offset(origin as isize);
        // SAFETY: all data is in `array`, which is only read; `packed` is as long as the data, and the
        // borrows guarantee that the two do not overlap.
        unsafe { run::<true>(&self.nest, base, packed.as_mut_ptr()) };
        Ok(())
    }

    /// Scatters all to `array`.
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    pub fn unpack(&self, packed: &[u8], array: &mut [u8], origin: i64) -> Result<(), RunError> {
        self.reach.check(array.len(), origin, packed.len())?;
        let base = array.as_mut_ptr().wrapping_offset(origin as isize);
        // SAFETY: as above; `packed` is only read.
        unsafe { run::<false>(&self.nest, base, packed.as_ptr().cast_mut()) };
        Ok(())
    }
}

/// Copies the data of `nest` between `array`, which is displacement 0, and the packed stream. Returns the end
/// of the copied part of the stream.
///
/// # Safety
/// All data of the nest must be in memory that can be read, and written if `PACK` is false. For the packed
/// stream it is the other way round. The two must not overlap.
unsafe fn run<const PACK: bool>(nest: &NormalForm, array: *mut u8, packed: *mut u8) -> *mut u8 {
    let mut packed = packed;
    let at = |offset: i64| array.wrapping_offset(offset as isize);
    // SAFETY: here and below, parts of the caller's data, in the order of the packed stream.
    let mut copy = |offset: i64, bytes: usize| unsafe {
        block::<PACK>(at(offset), packed, bytes);
        packed = packed.add(bytes);
    };
    match nest {
        NormalForm::Run(run) => copy(run.offset, run.bytes),
        NormalForm::Runs(runs) => runs.iter().for_each(|run| copy(run.offset, run.bytes)),
        NormalForm::Records(records) => records.each(copy),
        NormalForm::IndexedRecords(records) if records.word_bytes == 4 => {
            records.each(|offset| copy(offset, 4));
        }
        NormalForm::IndexedRecords(records) => records.each(|offset| copy(offset, 8)),
        NormalForm::Loop { count, stride, body } => match &**body {
            NormalForm::Run(run) => {
                let offsets = (0..*count).map(|i| run.offset.wrapping_add(stride.wrapping_mul(i as i64)));
                // SAFETY: as above.
                return unsafe { blocks::<PACK>(array, packed, run.bytes, offsets) };
            }
            body => {
                for i in 0..*count {
                    // SAFETY: as above.
                    packed = unsafe { run::<PACK>(body, at(stride.wrapping_mul(i as i64)), packed) };
                }
            }
        },
        NormalForm::Places { lowest, block, offsets } => {
            let offsets = offsets.iter().map(|&offset| lowest.wrapping_add(offset.into()));
            // SAFETY: as above.
            return unsafe { blocks::<PACK>(array, packed, *block, offsets) };
        }
        NormalForm::Index { offsets, body } => {
            for &offset in offsets {
                // SAFETY: as above.
                packed = unsafe { run::<PACK>(body, at(offset), packed) };
            }
        }
        NormalForm::Sequence(parts) => {
            for part in parts {
                // SAFETY: as above.
                packed = unsafe { run::<PACK>(part, array, packed) };
            }
        }
    }
    packed
}

/// Blocks of one size at these offsets. The sizes of single values have a separate loop, as a compiler makes
/// from typed code.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn blocks<const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    offsets: impl Iterator<Item = i64>,
) -> *mut u8 {
    macro_rules! each {
        ($bytes:expr) => {{
            let mut packed = packed;
            for offset in offsets {
                // SAFETY: a block of the caller's data.
                unsafe {
                    block::<PACK>(array.wrapping_offset(offset as isize), packed, $bytes);
                    packed = packed.add($bytes);
                }
            }
            packed
        }};
    }
    match bytes {
        1 => each!(1),
        2 => each!(2),
        4 => each!(4),
        8 => each!(8),
        16 => each!(16),
        bytes => each!(bytes),
    }
}

/// One block.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn block<const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    let (from, to) = if PACK { (array, packed) } else { (packed, array) };
    // SAFETY: guaranteed by the caller.
    unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to, bytes) };
}
