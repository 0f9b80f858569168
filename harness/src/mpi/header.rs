//! Family and version of an MPI from the macros of its `mpi.h`, without running an MPI program.

use std::collections::BTreeMap;
use std::env;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use super::Family;
use super::error::{Result, at, unusable};
use super::{state, tool};

/// The preprocessor replaces defined macros in each line, and leaves others unchanged.
const QUESTIONS: &str = "#include <mpi.h>
ddtbench_intel I_MPI_VERSION
ddtbench_mpich MPICH_VERSION
ddtbench_openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
ddtbench_standard MPI_ABI_VERSION MPI_VERSION MPI_SUBVERSION
";

/// Runs the preprocessor on `mpi.h`.
pub(super) fn family_and_version(
    mpicc: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<(Family, String)> {
    let unusable = |reason: String| unusable(mpicc, reason);
    let mut questions =
        tempfile::Builder::new().suffix(".c").tempfile().map_err(at("writing in", &env::temp_dir()))?;
    questions.write_all(QUESTIONS.as_bytes()).map_err(at("writing", questions.path()))?;
    let mut command = Command::new(mpicc);
    command.args(["-E", "-P"]).arg(questions.path()).envs(variables);
    let ended = tool::ask(command, mpicc)?;
    if !ended.exit.success() {
        let path = if state::is_plain(mpicc) {
            ""
        } else {
            "\nIts path has blanks, quotes, commas or colons, which wrappers print unquoted: install it in a path without them."
        };
        return Err(unusable(format!(
            "mpi.h cannot be read ({}): {}{path}",
            ended.exit,
            ended.last_lines(5)
        )));
    }
    answers(&ended.out.join("\n")).ok_or_else(|| unusable(
            "its mpi.h has the binary interface neither of MPICH, nor of Open MPI, nor of the standard (MPI_ABI_VERSION)".to_owned(),
        ))
}

/// Parses the output of the preprocessor. The first defined family counts.
fn answers(preprocessed: &str) -> Option<(Family, String)> {
    // The order matters: Intel MPI and relatives of Open MPI also define MPICH_VERSION.
    const ORDER: [(&str, Family); 4] = [
        ("ddtbench_intel", Family::Intel),
        ("ddtbench_openmpi", Family::OpenMpi),
        ("ddtbench_mpich", Family::Mpich),
        ("ddtbench_standard", Family::Other),
    ];
    ORDER.into_iter().find_map(|(key, family)| {
        let line = preprocessed.lines().find_map(|line| line.trim().strip_prefix(key))?;
        let parts: Vec<&str> = line.split_whitespace().map(|part| part.trim_matches('"')).collect();
        let defined =
            !parts.is_empty() && parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        let version = match family {
            Family::Other => format!("standard {}", parts.get(1..)?.join(".")),
            _ => parts.join("."),
        };
        defined.then_some((family, version))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_by_their_macros() {
        let intel = "int x;\nddtbench_intel \"2021.19.0\"\nddtbench_mpich \"3.4a2\"\n\
            ddtbench_openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION\nddtbench_standard MPI_ABI_VERSION 4 1\n";
        assert_eq!(answers(intel), Some((Family::Intel, "2021.19.0".to_owned())));

        let open = "ddtbench_intel I_MPI_VERSION\nddtbench_mpich MPICH_VERSION\nddtbench_openmpi 5 0 11\n";
        assert_eq!(answers(open), Some((Family::OpenMpi, "5.0.11".to_owned())));

        let mpich =
            "ddtbench_intel I_MPI_VERSION\nddtbench_mpich \"5.0.2\"\nddtbench_standard MPI_ABI_VERSION 5 0";
        assert_eq!(answers(mpich), Some((Family::Mpich, "5.0.2".to_owned())));

        let other = "ddtbench_mpich MPICH_VERSION\nddtbench_standard 1 5 0";
        assert_eq!(answers(other), Some((Family::Other, "standard 5.0".to_owned())));
        assert_eq!(answers("ddtbench_standard MPI_ABI_VERSION 3 1"), None);
        assert_eq!(answers("ddtbench_standard MPI_ABI_VERSION MPI_VERSION MPI_SUBVERSION"), None);
    }
}
