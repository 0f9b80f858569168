//! A compiled layout, and the checks that make running it safe.

use datatypes::Layout;

use crate::bounds::Reach;
use crate::normal_form::NormalForm;
use crate::operation::{Sequence, Target};
use crate::tuning::Tuning;

/// Packs and unpacks copies of one layout.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) sequence: Sequence,
    pub(crate) tuning: Tuning,
    reach: Reach,
}

/// Why a layout cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} copies of a layout of {size} bytes reach beyond the address space")]
pub struct CompileError {
    /// Requested copies.
    pub count: u64,
    /// Bytes of one copy.
    pub size: u64,
}

/// Why a program was not run. In this case nothing was copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunError(pub(crate) Box<str>);

/// Compiles `count` copies of `layout`, one extent apart, with the kernels that are the fastest on processors of this family.
///
/// # Errors
/// If they reach beyond the address space.
pub fn compile(layout: &Layout, count: u64) -> Result<Program, CompileError> {
    compile_for(layout, count, Tuning::Shipped)
}

/// Like [`compile`], with the kernels that `tuning` chooses.
pub(crate) fn compile_for(layout: &Layout, count: u64, tuning: Tuning) -> Result<Program, CompileError> {
    let message = usize::try_from(layout.size().saturating_mul(count)).unwrap_or(usize::MAX);
    let reach = Reach::from_layout(layout, count)?;
    let sequence = Sequence::new(NormalForm::from_layout(layout, count), Target { tuning, message });
    assert_eq!(sequence.bytes, reach.size, "a program packs what its layout holds");
    Ok(Program { sequence, tuning, reach })
}

impl Program {
    /// Bytes of the packed stream.
    pub fn size(&self) -> usize {
        self.reach.size
    }

    /// Gathers all from `array`, whose byte `origin` is displacement 0.
    ///
    /// # Errors
    /// [`RunError`]; in this case nothing was written.
    pub fn pack(&self, array: &[u8], origin: i64, packed: &mut [u8]) -> Result<(), RunError> {
        self.reach.check(array.len(), origin, packed.len())?;
        let base = array.as_ptr().cast_mut().wrapping_offset(origin as isize);
        // SAFETY: all data is in `array`, which is only read; `packed` has the stream's length, and the
        // borrows guarantee that the two do not overlap.
        unsafe { self.sequence.run::<true>(base, packed.as_mut_ptr()) };
        Ok(())
    }

    /// Scatters all to `array`. If the layout overlaps itself, which MPI forbids on the receiving side, later
    /// bytes overwrite earlier ones.
    ///
    /// # Errors
    /// [`RunError`]; in this case nothing was written.
    pub fn unpack(&self, packed: &[u8], array: &mut [u8], origin: i64) -> Result<(), RunError> {
        self.reach.check(array.len(), origin, packed.len())?;
        let base = array.as_mut_ptr().wrapping_offset(origin as isize);
        // SAFETY: as above; `packed` is only read.
        unsafe { self.sequence.run::<false>(base, packed.as_ptr().cast_mut()) };
        Ok(())
    }
}
