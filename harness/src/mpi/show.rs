//! The compiler call of a wrapper: `mpicc -show`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{Result, unusable};
use super::tool;

/// The relevant parts of the wrapper's command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Show {
    /// The C compiler.
    pub compiler: String,
    /// Folders of headers.
    pub include_dirs: Vec<PathBuf>,
    /// Folders of libraries.
    pub library_dirs: Vec<PathBuf>,
    /// Macros, such as `-DNAME=VALUE`.
    pub defines: Vec<String>,
}

impl Show {
    pub fn ask(mpicc: &Path, env: &BTreeMap<String, String>) -> Result<Self> {
        let unusable = |reason: String| unusable(mpicc, reason);
        let mut command = Command::new(mpicc);
        command.arg("-show").envs(env);
        let ended = tool::ask(command, mpicc)?;
        let output = ended.out.join("\n");
        if !ended.exit.success() {
            return Err(unusable(format!("`-show` ended with {}: {}", ended.exit, ended.last_lines(3))));
        }
        Self::parse(&output)
            .ok_or_else(|| unusable(format!("`-show` printed no compiler call: `{}`", output.trim())))
    }

    /// Parses a command line; `None` if it contains no compiler.
    fn parse(line: &str) -> Option<Self> {
        let mut arguments = shlex::split(line.lines().find(|line| !line.trim().is_empty())?)?.into_iter();
        let mut show = Self { compiler: arguments.next()?, ..Self::default() };
        while let Some(word) = arguments.next() {
            // Both `-I/dir` and `-I /dir` are used.
            let mut value = |flag: &str| match word.strip_prefix(flag) {
                Some("") => arguments.next(),
                other => other.map(str::to_owned),
            };
            if let Some(dir) = value("-I").or_else(|| value("-isystem")) {
                show.include_dirs.push(dir.into());
            } else if let Some(dir) = value("-L") {
                show.library_dirs.push(dir.into());
            } else if word.starts_with("-D") {
                show.defines.push(word);
            }
        }
        Some(show)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_of_three_makers() {
        let mpich = Show::parse("cc -I/o/include -L/o/lib -Wl,-rpath -Wl,/o/lib -lmpi\n").unwrap();
        assert_eq!(mpich.compiler, "cc");
        assert_eq!(mpich.include_dirs, [PathBuf::from("/o/include")]);
        assert_eq!(mpich.library_dirs, [PathBuf::from("/o/lib")]);

        let debian = Show::parse("gcc -I/a/include -I/a/include/openmpi -pthread -L /a/lib -lmpi").unwrap();
        assert_eq!(debian.include_dirs.len(), 2);
        assert_eq!(debian.library_dirs, [PathBuf::from("/a/lib")]);

        let intel =
            Show::parse("gcc -I\"/my dir/include\" -L\"/my dir/lib/release\" -L\"/my dir/lib\" -lmpi")
                .unwrap();
        assert_eq!(intel.include_dirs, [PathBuf::from("/my dir/include")]);
        assert_eq!(intel.library_dirs[1], PathBuf::from("/my dir/lib"));
    }

    #[test]
    fn nothing_is_no_compiler() {
        assert_eq!(Show::parse("\n \n"), None);
    }
}
