//! The methods by name: what each is made of, what it needs of the MPI, and which must be watched.

use super::one_sided::Put;
use super::packer::End;
use super::two_sided::TwoSided;
use super::{Method, Setup};
use crate::memory::Memory;

/// The functions that a method calls beyond those that every MPI has.
pub fn needs(name: &str) -> &'static [&'static str] {
    match name {
        "mpi_pack" => &["MPI_Pack", "MPI_Unpack", "MPI_Pack_size"],
        "put_reference" | "put_manual" | "put_ddt" => {
            &["MPI_Win_create", "MPI_Win_fence", "MPI_Put", "MPI_Win_free"]
        }
        _ => &[],
    }
}

/// The method called `name`; collective over the setup's ranks. `memory` must stay where it is while it lives.
pub fn make<'a>(
    name: &str,
    setup: &'a Setup<'a>,
    memory: &mut Memory,
) -> anyhow::Result<Box<dyn Method + 'a>> {
    Ok(match name {
        "reference" => Box::new(TwoSided::new(setup, memory, End::Wire, End::Wire)?),
        "reference_untouched" => Box::new(TwoSided::untouched(setup, memory)?),
        "manual" => Box::new(TwoSided::new(setup, memory, End::ByHand, End::ByHand)?),
        "manual_tuned" => Box::new(TwoSided::new(setup, memory, End::Tuned, End::Tuned)?),
        "mpi_pack" => Box::new(TwoSided::new(setup, memory, End::MpiPacked, End::MpiPacked)?),
        "engine" => Box::new(TwoSided::new(setup, memory, End::Compiled, End::Compiled)?),
        "ddt" => Box::new(TwoSided::new(setup, memory, End::Typed, End::Typed)?),
        "ddt_to_packed" => Box::new(TwoSided::new(setup, memory, End::Typed, End::Wire)?),
        "packed_to_ddt" => Box::new(TwoSided::new(setup, memory, End::Wire, End::Typed)?),
        "put_reference" => Box::new(Put::contiguous(setup, memory)?),
        "put_manual" => Box::new(Put::packed(setup, memory)?),
        "put_ddt" => Box::new(Put::typed(setup, memory)?),
        other => anyhow::bail!("method {other:?} is listed but not implemented"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_listed_method_names_functions_of_mpi_only() {
        for method in ddtbench::methods::METHODS {
            assert!(super::needs(method.name).iter().all(|function| function.starts_with("MPI_")));
        }
    }
}
