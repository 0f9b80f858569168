//! The methods by name: what each is made of.

use anyhow::Context;
use common::kinds::pingpong::parts::Parting;
use common::model::LOOP;
use datatypes::Equivalent;

use super::copied::Copied;
use super::in_parts::InParts;
use super::one_sided::Put;
use super::packer::End;
use super::two_sided::TwoSided;
use super::{Method, Setup};
use crate::memory::Memory;

/// What a method is made of.
#[derive(Clone, Copy, Debug)]
pub enum Implementation {
    /// The end that sends, and the end that receives.
    TwoSided(End, End),
    Untouched,
    /// Contiguous bytes as one of a datatype.
    Contiguous,
    /// Contiguous bytes, copied at both ends.
    Copied,
    InParts(Parting),
    PutContiguous,
    PutPacked,
    PutTyped,
}

/// What the method called `name` is.
///
/// # Errors
/// A method that is listed but not implemented.
pub fn implementation(name: &str) -> anyhow::Result<Implementation> {
    Implementation::find(name).with_context(|| format!("method {name:?} is listed but not implemented"))
}

impl Implementation {
    /// What the method called `name` is; `None` where it is not implemented.
    fn find(name: &str) -> Option<Self> {
        Some(match name {
            "reference" => Self::TwoSided(End::Wire, End::Wire),
            "reference_untouched" => Self::Untouched,
            "manual" => Self::TwoSided(End::ByHand, End::ByHand),
            "manual_tuned" => Self::TwoSided(End::Tuned, End::Tuned),
            LOOP => Self::TwoSided(End::Looped, End::Looped),
            "mpi_pack" => Self::TwoSided(End::MpiPacked, End::MpiPacked),
            "engine" => Self::TwoSided(End::Compiled, End::Compiled),
            "ddt" => Self::TwoSided(End::Typed, End::Typed),
            "ddt_to_packed" => Self::TwoSided(End::Typed, End::Wire),
            "packed_to_ddt" => Self::TwoSided(End::Wire, End::Typed),
            "ddt:hindexed" => Self::described(Equivalent::Hindexed),
            "ddt:struct" => Self::described(Equivalent::Struct),
            "ddt:wrapped" => Self::described(Equivalent::Wrapped),
            "ddt:resized" => Self::described(Equivalent::Resized),
            "ddt:nested" => Self::described(Equivalent::Nested),
            "reference:contiguous" => Self::Contiguous,
            "reference:copied" => Self::Copied,
            "put_reference" => Self::PutContiguous,
            "put_manual" => Self::PutPacked,
            "put_ddt" => Self::PutTyped,
            other => Self::InParts(Parting::of(other)?),
        })
    }

    const fn described(way: Equivalent) -> Self {
        Self::TwoSided(End::Described(way), End::Described(way))
    }

    /// Makes the method; collective over the setup's ranks.
    ///
    /// # Safety
    /// The arrays and wire buffers of `memory` stay where they are, and there, until the method has ended by
    /// [`Method::finish`] or the process has: others may put into them.
    pub unsafe fn make<'a>(
        self,
        setup: &'a Setup<'a>,
        memory: &mut Memory,
    ) -> anyhow::Result<Box<dyn Method + 'a>> {
        Ok(match self {
            Self::TwoSided(send, receive) => Box::new(TwoSided::new(setup, memory, send, receive)?),
            Self::Untouched => Box::new(TwoSided::untouched(setup, memory)?),
            Self::Contiguous => Box::new(InParts::contiguous(setup)?),
            Self::Copied => Box::new(Copied::new(setup)?),
            Self::InParts(parting) => Box::new(InParts::parted(setup, memory, parting)?),
            // SAFETY: here and below, as the caller vouches.
            Self::PutContiguous => Box::new(unsafe { Put::contiguous(setup, memory) }?),
            // SAFETY: as above.
            Self::PutPacked => Box::new(unsafe { Put::packed(setup, memory) }?),
            // SAFETY: as above.
            Self::PutTyped => Box::new(unsafe { Put::typed(setup, memory) }?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_method_is_implemented() {
        for method in common::kinds::pingpong::methods::METHODS {
            let implementation = implementation(method.name).unwrap();
            // What goes from arrays to arrays has no end in the wire buffer, and the other way round.
            if let Implementation::TwoSided(send, receive) = implementation {
                let array_to_array = send != End::Wire && receive != End::Wire;
                assert_eq!(array_to_array, method.array_to_array, "{}", method.name);
            }
        }
        assert!(implementation("by_pigeon").unwrap_err().to_string().contains("by_pigeon"));
    }
}
