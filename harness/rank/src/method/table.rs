//! The methods by name: what each is made of, and what it needs of the MPI.

use anyhow::Context;

use super::one_sided::Put;
use super::packer::End;
use super::two_sided::TwoSided;
use super::{Method, Setup};
use crate::memory::Memory;

/// What is known of a method before it is made.
#[derive(Clone, Copy, Debug)]
pub struct Implementation {
    /// The functions of MPI that it calls beyond those that every MPI has.
    pub needs: &'static [&'static str],
    kind: Kind,
}

/// What a method is made of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The end that sends, and the end that receives.
    TwoSided(End, End),
    Untouched,
    PutContiguous,
    PutPacked,
    PutTyped,
}

/// What the method called `name` is; `None` where it is not implemented.
fn find(name: &str) -> Option<Implementation> {
    const PACK: &[&str] = &["MPI_Pack", "MPI_Unpack", "MPI_Pack_size"];
    const PUT: &[&str] = &["MPI_Win_create", "MPI_Win_fence", "MPI_Put", "MPI_Win_free"];
    let (kind, needs): (_, &[&str]) = match name {
        "reference" => (Kind::TwoSided(End::Wire, End::Wire), &[]),
        "reference_untouched" => (Kind::Untouched, &[]),
        "manual" => (Kind::TwoSided(End::ByHand, End::ByHand), &[]),
        "manual_tuned" => (Kind::TwoSided(End::Tuned, End::Tuned), &[]),
        "mpi_pack" => (Kind::TwoSided(End::MpiPacked, End::MpiPacked), PACK),
        "engine" => (Kind::TwoSided(End::Compiled, End::Compiled), &[]),
        "ddt" => (Kind::TwoSided(End::Typed, End::Typed), &[]),
        "ddt_to_packed" => (Kind::TwoSided(End::Typed, End::Wire), &[]),
        "packed_to_ddt" => (Kind::TwoSided(End::Wire, End::Typed), &[]),
        "put_reference" => (Kind::PutContiguous, PUT),
        "put_manual" => (Kind::PutPacked, PUT),
        "put_ddt" => (Kind::PutTyped, PUT),
        _ => return None,
    };
    Some(Implementation { needs, kind })
}

/// What the method called `name` is.
///
/// # Errors
/// A method that is listed but not implemented.
pub fn implementation(name: &str) -> anyhow::Result<Implementation> {
    find(name).with_context(|| format!("method {name:?} is listed but not implemented"))
}

impl Implementation {
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
        Ok(match self.kind {
            Kind::TwoSided(send, receive) => Box::new(TwoSided::new(setup, memory, send, receive)?),
            Kind::Untouched => Box::new(TwoSided::untouched(setup, memory)?),
            // SAFETY: here and below, as the caller vouches.
            Kind::PutContiguous => Box::new(unsafe { Put::contiguous(setup, memory) }?),
            // SAFETY: as above.
            Kind::PutPacked => Box::new(unsafe { Put::packed(setup, memory) }?),
            // SAFETY: as above.
            Kind::PutTyped => Box::new(unsafe { Put::typed(setup, memory) }?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_method_is_implemented() {
        for method in ddtbench::experiments::pingpong::methods::METHODS {
            let implementation = implementation(method.name).unwrap();
            assert!(implementation.needs.iter().all(|function| function.starts_with("MPI_")));
            // What goes from arrays to arrays has no end in the wire buffer, and the other way round.
            if let Kind::TwoSided(send, receive) = implementation.kind {
                let array_to_array = send != End::Wire && receive != End::Wire;
                assert_eq!(array_to_array, method.array_to_array, "{}", method.name);
            }
        }
        assert!(implementation("by_pigeon").unwrap_err().to_string().contains("by_pigeon"));
    }
}
