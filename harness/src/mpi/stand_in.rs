//! The stand-in for a device's driver: compiled with the user's C compiler into a temporary folder, where the
//! loader of rank programs and MPIs looks first.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::error::{Result, at, other};
use super::install::command_line;
use super::tool;

/// The sources, by their names.
const SOURCES: [(&str, &str); 2] = [
    ("stand_in.c", include_str!("../../../kernels/device/stand_in.c")),
    ("pack.cu", include_str!("../../../kernels/device/pack.cu")),
];

/// The names by which programs look for the driver: Intel MPI without a version.
const LIBRARY: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

/// A driver that simulates a device on the host.
#[derive(Debug)]
pub struct StandIn {
    folder: TempDir,
}

impl StandIn {
    /// # Errors
    /// If there is no C compiler, or what it says.
    pub fn compile() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("ddtbench-device-").tempdir();
        let folder = folder.map_err(at("creating a folder in", &env::temp_dir()))?;
        for (name, text) in SOURCES {
            let file = folder.path().join(name);
            fs::write(&file, text).map_err(at("writing", &file))?;
        }
        let compiler = env::var("CC").ok().filter(|text| !text.trim().is_empty()).unwrap_or("cc".to_owned());
        let words = shlex::split(&compiler).unwrap_or_default();
        let (program, options) =
            words.split_first().ok_or_else(|| other(format!("CC={compiler}: not a command")))?;
        let mut command = Command::new(program);
        command.current_dir(folder.path()).args(options).args(["-O2", "-shared", "-fPIC", "-o"]);
        command.args([LIBRARY[0], SOURCES[0].0, "-ldl", "-lpthread"]);
        let line = command_line(&command);
        let ended = tool::run(command, tool::QUESTION)
            .map_err(|error| other(format!("--memory simulated: {error}; CC names the compiler")))?;
        if !ended.exit.success() {
            return Err(other(format!("--memory simulated: `{line}`: {}", ended.last_lines(20))));
        }
        let link = folder.path().join(LIBRARY[1]);
        symlink(LIBRARY[0], &link).map_err(at("creating", &link))?;
        Ok(Self { folder })
    }

    /// The folder with the library.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
