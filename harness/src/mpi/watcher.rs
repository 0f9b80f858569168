//! Ends the processes of a command if this program is killed: otherwise cargo's compilers and pip's helpers
//! would continue, and so would ranks outside of MPI calls when their launcher ends.
//!
//! The system sends a signal only to the command. So a shell waits for the end of a pipe that only this program has open, gives a
//! launcher time to end its ranks, and then ends all processes with the command's mark.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::tree;

/// Three times, because ended processes may have been starting others. `$1` is the mark.
const SCRIPT: &str = r#"
read -r over && exit 0
sleep 2
for again in 1 2 3; do
    for file in $(grep -lsF "$1" /proc/[0-9]*/environ); do
        process=${file#/proc/}
        kill -KILL "${process%/environ}"
    done
done
"#;

/// A process that outlives this program for a moment. Dropping it reports that the command has ended.
#[derive(Debug)]
pub(super) struct Watcher {
    shell: Child,
}

impl Watcher {
    /// Starts to watch processes marked with `value`. `None` without a shell.
    pub fn start(value: &str) -> Option<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "ddtbench", &format!("{}={value}", tree::MARKER)]);
        // In its own process group, it does not get signals from the terminal.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(Self { shell: command.spawn().ok()? })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.shell.stdin.take().map(|mut pipe| pipe.write_all(b"over\n"));
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_stay_if_their_command_has_ended() {
        let value = format!("watched.{}", std::process::id());
        let watcher = Watcher::start(&value).unwrap();
        let mut child = Command::new("sleep").arg("1000").env(tree::MARKER, &value).spawn().unwrap();
        // It waits for the shell.
        drop(watcher);
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
