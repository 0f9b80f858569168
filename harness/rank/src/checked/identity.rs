//! The MPI that is loaded. This program is for all MPIs with one binary interface, and the loader follows `LD_LIBRARY_PATH`. If it has
//! found one with another interface, handles would be misread, so the program refuses to start.

use std::ffi::{c_char, c_int};

use common::model::abi::Abi;
use mpi::ffi;

use super::CallError;

/// The binary interface of this program.
pub const OWN: Abi = if cfg!(feature = "openmpi") {
    Abi::OpenMpi
} else if cfg!(feature = "standard") {
    Abi::Standard
} else {
    Abi::Mpich
};

/// Name and version of the loaded library, such as `Open MPI 5.0.11`.
pub fn title() -> String {
    title_of(&library_version())
}

fn title_of(library_version: &str) -> String {
    let first = library_version.lines().next().unwrap_or_default();
    let short = first.split(',').next().unwrap_or_default();
    // `MPICH Version:      5.0.2`, `Open MPI v5.0.11`, `Intel(R) MPI Library 2021.18 for Linux* OS`
    let words = short.split_whitespace().take_while(|word| *word != "for").filter(|word| *word != "Version:");
    let words = words.map(|word| match word.strip_prefix('v') {
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => number,
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether MPICH's variables control the loaded library: MPICH, Cray MPICH, MVAPICH.
pub fn is_mpich() -> bool {
    let version = library_version();
    ["MPICH", "MVAPICH"].iter().any(|name| version.contains(name))
}

/// `MPI_Get_library_version`; may be called before initialisation.
pub fn library_version() -> String {
    let mut text = vec![0u8; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: the buffer has the length that the standard requires. The parameters are only pointers to
    // characters and to an int, so the call is safe even for a library with another binary interface.
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

/// Describes a library with another binary interface than this program.
pub fn foreign_library() -> Option<String> {
    foreign(OWN, &library_version(), library_path().as_deref())
}

fn foreign(own: Abi, loaded: &str, path: Option<&str>) -> Option<String> {
    // A library with the standard's interface is an MPI with another one, too, whose name it has.
    let is_foreign = own != Abi::Standard && Abi::of_library(loaded) != Some(own);
    is_foreign.then(|| {
        format!(
            "this program is for MPIs with the binary interface of {}, but the loader found {} ({}): point LD_LIBRARY_PATH at an MPI \
             of this family, or let `ddtbench` choose the program",
            own.title(),
            title_of(loaded),
            path.unwrap_or("file unknown")
        )
    })
}

/// Describes a launcher of another MPI, if its variables are set: with such a launcher a process could not
/// initialise, or would be the only rank of its world.
pub fn foreign_launcher() -> Option<String> {
    let title = title();
    let launcher = other_launcher(Abi::of_library(&title)?, &|name| std::env::var_os(name).is_some())?;
    Some(format!(
        "this program has loaded {title}, but was started by {launcher}: start it with the mpiexec of {title}"
    ))
}

/// The other MPI's launcher according to the variables. Schedulers' launchers (srun) never set only one of
/// the two kinds, and a launcher within another's job adds its own.
fn other_launcher(abi: Abi, is_set: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let by_open_mpi = is_set("OMPI_COMM_WORLD_SIZE");
    let by_hydra = is_set("MPI_LOCALNRANKS");
    match abi {
        Abi::Mpich => (by_open_mpi && !by_hydra && !is_set("PMI_RANK")).then_some("Open MPI's mpiexec"),
        Abi::Standard => None,
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
        assert!(other_launcher(Abi::Mpich, &set(&["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"])).is_some());
        assert!(other_launcher(Abi::OpenMpi, &set(&["MPI_LOCALNRANKS", "PMI_RANK"])).is_some());
        for abi in [Abi::Mpich, Abi::OpenMpi] {
            assert_eq!(other_launcher(abi, &set(&[])), None, "started without a launcher");
            assert_eq!(other_launcher(abi, &set(&["PMIX_RANK", "SLURM_NTASKS"])), None, "srun --mpi=pmix");
            let both = ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS", "PMI_RANK"];
            assert_eq!(other_launcher(abi, &|name| both.contains(&name)), None, "one within the other");
        }
    }

    #[test]
    fn relatives_may_stand_in_for_each_other_and_strangers_may_not() {
        for (abi, version, title) in [
            (Abi::Mpich, "MPICH Version:      5.0.2\nMPICH Release date: x", "MPICH 5.0.2"),
            (Abi::Standard, "MPICH Version:      5.0.2", "MPICH 5.0.2"),
            (Abi::Mpich, "Intel(R) MPI Library 2021.18 for Linux* OS\n", "Intel(R) MPI Library 2021.18"),
            (Abi::OpenMpi, "Open MPI v5.0.11, package: Open MPI x", "Open MPI 5.0.11"),
        ] {
            assert_eq!((foreign(abi, version, None), title_of(version)), (None, title.to_owned()));
        }
        let error = foreign(Abi::Mpich, "Open MPI v5.0.11, package: x", Some("/lib/libmpi.so.40")).unwrap();
        let expected = "of MPICH, but the loader found Open MPI 5.0.11 (/lib/libmpi.so.40)";
        assert!(error.contains(expected), "{error}");
    }
}
