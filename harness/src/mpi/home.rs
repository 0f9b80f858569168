//! The folder with the program's own files: a checkout of the source, or an installation with rank libraries in `lib/ddtbench`.

use std::env;
use std::path::{Path, PathBuf};

use super::Abi;
use super::error::{Result, other};

/// The variable with the folder of a checkout or an installation.
const VARIABLE: &str = "DDTBENCH_ROOT";

/// The program's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// The source, where cargo builds rank libraries.
    Checkout(PathBuf),
    /// The folder above `bin/ddtbench` and `lib/ddtbench`.
    Installed(PathBuf),
}

impl Home {
    /// In the order of preference: what the variable names, the installation or the checkout that this
    /// program is in, the one that it was compiled in, the checkout around the current folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn locate() -> Result<Self> {
        if let Some(root) = env::var_os(VARIABLE).filter(|root| !root.is_empty()).map(PathBuf::from) {
            let root = root.canonicalize().unwrap_or(root);
            return Self::at(&root).ok_or_else(|| {
                other(format!(
                    "{VARIABLE} is `{}`, which has neither `Cargo.toml` with `harness/rank` nor rank libraries in `lib/ddtbench`; it \
                     must be a checkout or an installation of ddtbench",
                    root.display()
                ))
            });
        }
        let own = env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
        let compiled = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        let current = env::current_dir().unwrap_or_default();
        let mut places = own.ancestors().skip(1).chain(compiled).chain(current.ancestors());
        places.find_map(Self::at).ok_or_else(|| {
            other(format!(
                "rank libraries were not found in `lib/ddtbench` beside the folder of {}, and this is no checkout of the source; set \
                 {VARIABLE} to an installation or a checkout of ddtbench",
                own.display()
            ))
        })
    }

    /// The installation or checkout in a folder.
    pub fn at(root: &Path) -> Option<Self> {
        let installed = Self::Installed(root.to_owned());
        let has_files = |abi| installed.library(abi).or_else(|| installed.program(abi)).is_some();
        if Abi::ALL.into_iter().any(has_files) {
            return Some(installed);
        }
        let is_checkout = root.join("Cargo.toml").exists() && root.join("harness/rank").exists();
        is_checkout.then(|| Self::Checkout(root.to_owned()))
    }

    pub fn root(&self) -> &Path {
        let (Self::Checkout(root) | Self::Installed(root)) = self;
        root
    }

    /// The installed rank library of a family.
    pub fn library(&self, abi: Abi) -> Option<PathBuf> {
        self.file(format!("ddtbench-rank-{}.o", abi.name()))
    }

    /// The installed program of a family, which finds the MPI's library by its usual name.
    pub fn program(&self, abi: Abi) -> Option<PathBuf> {
        self.file(format!("ddtbench-rank-{}", abi.name()))
    }

    fn file(&self, name: String) -> Option<PathBuf> {
        match self {
            Self::Checkout(_) => None,
            Self::Installed(root) => Some(root.join("lib/ddtbench").join(name)).filter(|file| file.is_file()),
        }
    }
}
