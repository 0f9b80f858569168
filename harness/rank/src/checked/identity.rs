//! The MPI that this program was compiled for, and the one that is loaded.
//!
//! They can differ, because the loader follows `LD_LIBRARY_PATH`. If their binary interfaces differ too, handles would
//! be misread, so the program refuses to start.

use std::ffi::{CStr, c_char, c_int};

use mpi::ffi;

use super::{CallError, ddtbench_compiled_for};

/// Name and version from the `mpi.h` that this program was compiled with.
pub fn compiled_for() -> String {
    // SAFETY: constants.c defines it as a NUL-terminated string of static storage.
    unsafe { CStr::from_ptr(&raw const ddtbench_compiled_for) }.to_string_lossy().into_owned()
}

/// Whether MPICH's variables control the loaded library: MPICH, Cray MPICH, MVAPICH.
pub fn is_mpich() -> bool {
    let version = library_version();
    ["MPICH", "MVAPICH"].iter().any(|name| version.contains(name))
}

/// Whether the loaded library is Open MPI.
pub fn is_open_mpi() -> bool {
    library_version().contains("Open MPI")
}

/// `MPI_Get_library_version`; may be called before initialisation.
pub fn library_version() -> String {
    let mut text = vec![0u8; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: the buffer has the length that the standard requires. The parameters are only pointers to characters and
    // to an int, so the call is safe even for a library with another binary interface.
    let code = unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr().cast::<c_char>(), &mut length) };
    if code != ffi::MPI_SUCCESS as c_int {
        return String::new();
    }
    String::from_utf8_lossy(&text[..length as usize]).trim_end_matches('\0').to_owned()
}

/// The standard that the library reports to implement, such as `4.1`.
pub fn standard() -> Result<String, CallError> {
    let (mut version, mut subversion) = (0, 0);
    // SAFETY: both pointers live through the call.
    unsafe { call!(MPI_Get_version(&mut version, &mut subversion)) }?;
    Ok(format!("{version}.{subversion}"))
}

/// The file of the MPI library that is mapped into this process.
pub fn library_path() -> Option<String> {
    let is_mpi = |path: &&str| {
        let file = path.rsplit('/').next().unwrap_or_default();
        ["libmpi.so", "libmpich.so", "libmpi_abi.so"].iter().any(|name| file.starts_with(name))
    };
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    // The path comes after addresses, permissions and numbers, which contain no slash.
    let mut paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    paths.find(is_mpi).map(str::to_owned)
}

/// A binary interface; libraries with the same one can replace each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Abi {
    /// MPICH and its relatives (Intel MPI, MVAPICH, Cray MPICH).
    Mpich,
    /// Open MPI and its relatives.
    OpenMpi,
}

fn abi(name: &str) -> Option<Abi> {
    const RELATIVES: &[(&str, Abi)] = &[
        ("Open MPI", Abi::OpenMpi),
        ("Spectrum MPI", Abi::OpenMpi),
        ("Intel(R) MPI", Abi::Mpich),
        ("MVAPICH", Abi::Mpich),
        ("CRAY MPICH", Abi::Mpich),
        ("MPICH", Abi::Mpich),
    ];
    RELATIVES.iter().find(|(text, _)| name.contains(text)).map(|(_, abi)| *abi)
}

/// Refuses a library with another binary interface than this program was compiled for.
pub fn verify() -> Result<(), String> {
    judge(&compiled_for(), &library_version(), library_path().as_deref())
}

fn judge(compiled: &str, loaded: &str, path: Option<&str>) -> Result<(), String> {
    if loaded.contains(compiled) || abi(compiled) == abi(loaded) {
        return Ok(());
    }
    let first = loaded.lines().next().unwrap_or_default();
    Err(format!(
        "this program was compiled for {compiled}, but the loader found {first} ({}): their binary interfaces differ. \
         Point LD_LIBRARY_PATH at {compiled}, or build the program for the other MPI",
        path.unwrap_or("file unknown")
    ))
}

/// Describes a launcher of another MPI, if its variables are set: with such a launcher a process could not initialise,
/// or would be the only rank of its world.
pub fn foreign_launcher() -> Option<String> {
    let compiled = compiled_for();
    let launcher = foreign(abi(&compiled)?, &|name| std::env::var_os(name).is_some())?;
    Some(format!(
        "this program is compiled for {compiled}, but was started by {launcher}: start it with the mpiexec of {compiled}"
    ))
}

/// The other MPI's launcher according to the variables. Schedulers' launchers (srun) never set only one of the two
/// kinds, and a launcher within another's job adds its own.
fn foreign(abi: Abi, is_set: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let by_open_mpi = is_set("OMPI_COMM_WORLD_SIZE");
    let by_hydra = is_set("MPI_LOCALNRANKS");
    match abi {
        Abi::Mpich => (by_open_mpi && !by_hydra && !is_set("PMI_RANK")).then_some("Open MPI's mpiexec"),
        Abi::OpenMpi => (by_hydra && !by_open_mpi && !is_set("PMIX_RANK"))
            .then_some("Hydra, the mpiexec of MPICH and Intel MPI"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_foreign_if_its_variables_stand_alone() {
        let set = |names: &'static [&str]| move |name: &str| names.contains(&name);
        assert!(foreign(Abi::Mpich, &set(&["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"])).is_some());
        assert!(foreign(Abi::OpenMpi, &set(&["MPI_LOCALNRANKS", "PMI_RANK"])).is_some());
        for abi in [Abi::Mpich, Abi::OpenMpi] {
            assert_eq!(foreign(abi, &set(&[])), None, "started without a launcher");
            assert_eq!(foreign(abi, &set(&["PMIX_RANK", "SLURM_NTASKS"])), None, "srun --mpi=pmix");
            let both = ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS", "PMI_RANK"];
            assert_eq!(foreign(abi, &|name| both.contains(&name)), None, "one within the other");
        }
    }

    #[test]
    fn relatives_may_stand_in_for_each_other_and_strangers_may_not() {
        assert!(judge("MPICH 5.0.2", "MPICH Version:      5.0.2", None).is_ok());
        assert!(judge("MPICH 4.0.2", "Intel(R) MPI Library 2021.19.0 for Linux* OS", None).is_ok());
        assert!(judge("Open MPI 5.0.11", "Open MPI v5.0.11, package: ...", None).is_ok());
        let error =
            judge("MPICH 5.0.2", "Open MPI v5.0.11, package: x", Some("/lib/libmpi.so.40")).unwrap_err();
        assert!(error.contains("compiled for MPICH 5.0.2") && error.contains("/lib/libmpi.so.40"), "{error}");
    }
}
