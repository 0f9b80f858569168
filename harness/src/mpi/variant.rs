//! Settings that turn an MPI into another one.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Installation;
use super::trusted::Trusted;

/// The variant of each MPI that is the standard's binary interface.
pub const STANDARD: &str = "abi";

/// An MPI, or all MPIs of a run, with additional variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name, shown after the MPI's: `mpich:nocma`.
    pub name: String,
    /// The MPI to change; without it, every MPI of the run.
    pub mpi: Option<String>,
    /// Variables for the launcher and the ranks. They can make both start programs, so that only trusted ones leave this module.
    env: BTreeMap<String, String>,
}

impl Variant {
    /// A name for these variables of an MPI.
    pub fn for_mpi(mpi: &str, name: &str, env: BTreeMap<String, String>) -> Self {
        Self { name: name.to_owned(), mpi: Some(mpi.to_owned()), env }
    }

    /// `VARIABLE=VALUE` of each variable.
    pub fn settings(&self) -> impl Iterator<Item = String> {
        self.env.iter().map(|(name, value)| format!("{name}={value}"))
    }

    /// The MPI with these variables.
    pub fn applied(&self, _: &Trusted, mut installation: Installation) -> Installation {
        installation.env.extend(self.env.clone());
        installation
    }

    /// Refuses ambiguous names.
    ///
    /// # Errors
    /// The name of the variant, and the reason.
    pub fn check(variants: &[Self]) -> Result<(), (&str, &'static str)> {
        for (i, variant) in variants.iter().enumerate() {
            let refuse = |reason| Err((variant.name.as_str(), reason));
            let is_sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if variant.name.is_empty() || !variant.name.chars().all(is_sane) {
                return refuse("a variant's name consists of letters, digits, `-`, `_` and `.`");
            }
            if variant.name == STANDARD {
                return refuse("is the name of the standard's binary interface; choose another one");
            }
            if variants[..i].iter().any(|other| other.name == variant.name && other.mpi == variant.mpi) {
                return refuse("is given twice");
            }
        }
        Ok(())
    }

    /// Whether it applies to this MPI.
    pub fn is_of(&self, mpi: &str) -> bool {
        self.mpi.as_deref().is_none_or(|of| of == mpi)
    }
}

impl FromStr for Variant {
    type Err = String;

    /// Syntax: `nocma:MPIR_CVAR_CH4_CMA_ENABLE=0`. Commas separate variables; a part without `NAME=` belongs
    /// to the value before it: `tcp:OMPI_MCA_btl=self,tcp`. Only for one MPI: `mpich/nocma:...`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?}: must be NAME:VARIABLE=VALUE, for example nocma:MPIR_CVAR_CH4_CMA_ENABLE=0");
        let (name, settings) = text.split_once(':').ok_or_else(wrong)?;
        let is_name = |name: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_part)
        };
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in settings.split(',') {
            match (part.split_once('='), pairs.last_mut()) {
                (Some((name, value)), _) if is_name(name) => pairs.push((name.to_owned(), value.to_owned())),
                (_, Some((_, value))) => value.extend([",", part]),
                _ => return Err(wrong()),
            }
        }
        let env = pairs.into_iter().collect();
        let (mpi, name) = match name.split_once('/') {
            Some((mpi, name)) => (Some(mpi.to_owned()), name),
            None => (None, name),
        };
        Ok(Self { name: name.to_owned(), mpi, env })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_a_name_and_variables() {
        let all: Variant = "nocma:A=0,B=x=y".parse().unwrap();
        let pairs: Vec<_> = all.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!((all.name.as_str(), pairs), ("nocma", vec![("A", "0"), ("B", "x=y")]));
        assert!(all.is_of("mpich") && all.is_of("openmpi"));
        let lists: Variant = "tcp:OMPI_MCA_btl=self,tcp,UCX_TLS=rc,sm,A=^openib,^x=1".parse().unwrap();
        let values: Vec<_> = lists.env.values().map(String::as_str).collect();
        assert_eq!(values, ["^openib,^x=1", "self,tcp", "rc,sm"]);
        let one: Variant = "mpich/nocma:A=0".parse().unwrap();
        assert!(one.is_of("mpich") && !one.is_of("openmpi"));
        for wrong in ["nocma", "nocma:", "nocma:A", "nocma:=0"] {
            assert!(wrong.parse::<Variant>().unwrap_err().contains("NAME:VARIABLE=VALUE"), "{wrong}");
        }
    }

    #[test]
    fn names_that_results_could_not_distinguish_are_refused() {
        let of = |name: &str| Variant::for_mpi("mpich", name, BTreeMap::new());
        assert!(Variant::check(&[of("a"), of("b")]).is_ok());
        for wrong in [vec![of("a"), of("a")], vec![of("")], vec![of("a,b")], vec![of("abi")]] {
            assert!(Variant::check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
