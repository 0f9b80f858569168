//! The methods by name: what each does.

use anyhow::Context;
use common::kinds::engine::methods;
use common::model::LOOP;

use crate::method::packer::End;

/// What a method does in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// Packs and unpacks the message, both in this way.
    Packs(End),
    /// Copies as many bytes as the message has.
    CopiesMessage,
    /// Copies so many bytes that as many cache lines are touched as by packing and unpacking.
    CopiesLines,
}

/// What the method called `name` is.
///
/// # Errors
/// A method that is listed but not implemented.
pub fn implementation(name: &str) -> anyhow::Result<Implementation> {
    find(name).with_context(|| format!("method {name:?} is listed but not implemented"))
}

/// What the method called `name` is; `None` where it is not implemented.
fn find(name: &str) -> Option<Implementation> {
    Some(match name {
        methods::ENGINE => Implementation::Packs(End::Compiled),
        methods::MANUAL => Implementation::Packs(End::ByHand),
        methods::MANUAL_TUNED => Implementation::Packs(End::Tuned),
        LOOP => Implementation::Packs(End::Looped),
        methods::MPI_PACK => Implementation::Packs(End::MpiPacked),
        methods::MEMCPY => Implementation::CopiesMessage,
        methods::BOUND => Implementation::CopiesLines,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_method_is_implemented() {
        for method in methods::METHODS {
            let packs = matches!(implementation(method.name).unwrap(), Implementation::Packs(_));
            assert_eq!(packs, method.array_to_array, "{}", method.name);
        }
        assert!(implementation("by_pigeon").unwrap_err().to_string().contains("by_pigeon"));
    }
}
