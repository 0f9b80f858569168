//! The folders of an MPI's libraries, from the compiler call that its wrapper prints: `mpicc -show`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{MpiError, Result};
use super::tool;

/// The folders that a wrapper gives to the linker; none if it does not say, as Cray's `cc`, whose libraries the loader finds.
pub(super) fn library_dirs(mpicc: &Path, env: &BTreeMap<String, String>) -> Result<Vec<PathBuf>> {
    let mut command = Command::new(mpicc);
    command.arg("-show").envs(env);
    match tool::ask(command, mpicc) {
        Err(MpiError::Interrupted) => Err(MpiError::Interrupted),
        Ok(ended) if ended.exit.success() => Ok(in_call(&ended.out.join("\n"))),
        Ok(_) | Err(MpiError::Other(_)) => Ok(Vec::new()),
    }
}

/// The folders in the first line with a command.
fn in_call(output: &str) -> Vec<PathBuf> {
    let line = output.lines().find(|line| !line.trim().is_empty());
    let mut words = line.and_then(shlex::split).unwrap_or_default().into_iter();
    let mut dirs = Vec::new();
    while let Some(word) = words.next() {
        // Both `-L/dir` and `-L /dir` are used.
        dirs.extend(match word.strip_prefix("-L") {
            Some("") => words.next(),
            dir => dir.map(str::to_owned),
        });
    }
    dirs.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_of_three_makers() {
        let dirs = |line: &str| {
            let dirs = in_call(line).into_iter().map(|dir| dir.to_string_lossy().into_owned());
            dirs.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(dirs("cc -I/o/include -L/o/lib -Wl,-rpath -Wl,/o/lib -lmpi\n"), "/o/lib");
        assert_eq!(dirs("gcc -I/a/include -pthread -L /a/lib -lmpi"), "/a/lib");
        let intel = "gcc -I\"/my dir/include\" -L\"/my dir/lib/release\" -L\"/my dir/lib\" -lmpi";
        assert_eq!(dirs(intel), "/my dir/lib/release /my dir/lib");
        assert_eq!(dirs("\n \n"), "");
    }
}
