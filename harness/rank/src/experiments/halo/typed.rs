//! Faces as MPI's datatypes.

use apps::WireOrder;
use apps::halo::Face;
use datatypes::Layout;

use crate::checked::{CallError, Comm, Datatype, Recipe};

/// A committed datatype, and the byte from array 0 that it is passed with.
pub struct Typed {
    pub origin_bytes: i64,
    pub datatype: Datatype,
}

impl Typed {
    /// A face in the arrays whose displacements these are; `None` for an empty one.
    pub fn of(face: &Face, displacements: &[i64], comm: &Comm) -> Result<Option<Self>, CallError> {
        let message = face.message(WireOrder::Ddt);
        if message.pieces.is_empty() {
            return Ok(None);
        }
        let (origin_bytes, layout) = message.datatype(displacements);
        Self::with(origin_bytes, &layout, comm).map(Some)
    }

    /// The committed datatype of a layout that starts at that byte.
    pub fn with(origin_bytes: i64, layout: &Layout, comm: &Comm) -> Result<Self, CallError> {
        Ok(Self { origin_bytes, datatype: Recipe::new(layout, comm)?.create()? })
    }
}
