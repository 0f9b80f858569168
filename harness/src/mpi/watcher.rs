//! Ends what a command has started if we are killed ourselves: cargo's compilers and pip's helpers would go on, and so would a rank
//! that is outside MPI when its launcher ends.
//!
//! The system sends a signal to the command only. So a shell waits beside it for the end of a pipe that only we hold open, gives a
//! launcher the time to end its ranks, and then ends all processes that carry the command's mark, wherever they went.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::tree;

/// Three times, since what is ended may have been starting something. `$1` is the mark.
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

/// A process that outlives us for a moment. Dropping it tells it that the command has ended.
#[derive(Debug)]
pub(super) struct Watcher {
    shell: Child,
}

impl Watcher {
    /// Begins to watch over what will be marked with `value`; `None` where there is no shell for it.
    pub fn start(value: &str) -> Option<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "ddtbench", &format!("{}={value}", tree::MARKER)]);
        // In a group of its own, it does not hear what is typed in the terminal.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(Self { shell: command.spawn().ok()? })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // One that has gone already needs not be told.
        let _ = self.shell.stdin.take().map(|mut pipe| pipe.write_all(b"over\n"));
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_is_marked_ends_where_we_do_and_stays_where_the_command_does() {
        let value = format!("watched.{}", std::process::id());
        let watcher = Watcher::start(&value).unwrap();
        let mut command = Command::new("sh");
        // In sessions of their own, where the group of the command is not theirs.
        command.args(["-c", "setsid sleep 1000 & exec setsid sleep 1000"]).env(tree::MARKER, &value);
        let mut child = command.spawn().unwrap();
        // A process that is just becoming another program shows no mark for a moment.
        let until_there_are = |members: usize| {
            let start = Instant::now();
            while tree::members(None, &value).len() != members {
                assert!(start.elapsed() < Duration::from_secs(60), "{:?}", tree::members(None, &value));
                std::thread::yield_now();
            }
        };
        until_there_are(2);
        drop(watcher);
        // It was told that all is over.
        until_there_are(2);
        let mut watcher = Watcher::start(&value).unwrap();
        drop(watcher.shell.stdin.take());
        watcher.shell.wait().unwrap();
        // A process that has been killed may take a moment to end.
        until_there_are(0);
        child.wait().unwrap();
    }
}
