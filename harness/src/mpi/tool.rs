//! Tools for preparation: cargo, pip, compiler wrappers. If the user wants to stop, they and their processes
//! are ended immediately.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Installation;
use super::error::{MpiError, Result, other, unusable};
use super::install::command_line;
use super::process::{ExitDescription, Line, Running};
use super::watchdog::{Exit, Sign};

/// Time limit of a question to a compiler or to pip. Answers take a second, on a slow shared file system several.
pub(super) const QUESTION: Duration = Duration::from_secs(60);

/// Maximum output that is kept, in bytes: a compiler wrapper prints a few thousand.
const KEPT_BYTES: usize = 1 << 20;
/// Maximum characters of a shown line.
const SHOWN_CHARACTERS: usize = 500;

/// How a tool ended, and the first MiB of each output.
#[derive(Debug)]
pub(super) struct ToolEnd {
    pub exit: ExitDescription,
    /// Standard output, in lines.
    pub out: Vec<String>,
    pub err: Vec<String>,
}

impl ToolEnd {
    /// The last `count` lines of both outputs.
    pub fn last_lines(&self, count: usize) -> String {
        last_lines(&[&self.out[..], &self.err].concat(), count)
    }
}

pub(super) fn last_lines(lines: &[String], count: usize) -> String {
    let start = |line: &String| line.chars().take(SHOWN_CHARACTERS).collect::<String>();
    lines[lines.len().saturating_sub(count)..].iter().map(start).collect::<Vec<_>>().join("\n")
}

/// Runs a tool to its end.
///
/// # Errors
/// If it does not start, lasts longer than `limit`, or the user wants to stop.
pub(super) fn run(command: Command, limit: Duration) -> Result<ToolEnd> {
    let (mut out, mut err, mut left) = (Vec::new(), Vec::new(), [KEPT_BYTES; 2]);
    let exit = follow(command, limit, |line| {
        let (lines, left, line) = match line {
            Line::Out(line) => (&mut out, &mut left[0], line),
            Line::Err(line) => (&mut err, &mut left[1], line),
        };
        // The rest of the limit decreases too: an empty line takes a byte.
        let fits = line.len() < *left;
        *left = left.saturating_sub(line.len() + 1);
        if fits {
            lines.push(line);
        }
    })?;
    Ok(ToolEnd { exit, out, err })
}

impl Installation {
    /// Compiles a C program, or what the `options` say, with the compiler wrapper.
    ///
    /// # Errors
    /// The messages of the compiler, or that the user wants to stop.
    pub fn compile(&self, source: &Path, program: &Path, options: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.mpicc);
        command.envs(&self.env).args(["-O1", "-o"]).arg(program).arg(source).args(options);
        let ended = run(command, QUESTION)?;
        if ended.exit.success() { Ok(()) } else { Err(other(ended.last_lines(5))) }
    }
}

/// Runs a compiler wrapper, or the compiler that it calls.
///
/// # Errors
/// If it does not answer, so that the wrapper cannot be used, or if the user wants to stop.
pub(super) fn ask(command: Command, mpicc: &Path) -> Result<ToolEnd> {
    run(command, QUESTION).map_err(|error| match error {
        MpiError::Interrupted => error,
        MpiError::Other(reason) => unusable(mpicc, reason),
    })
}

/// Runs a tool, and passes each line to `take`.
///
/// # Errors
/// Those of [`run`].
pub(super) fn follow(
    command: Command,
    limit: Duration,
    mut take: impl FnMut(Line),
) -> Result<ExitDescription> {
    let line = command_line(&command);
    let running = Running::spawn(command, false)
        .map_err(|source| other(format!("`{line}` did not start: {source}")))?;
    // Lines do not reset the time, so the limit is for the whole tool.
    let exit = running.watch_until(None, limit, |line| {
        take(line);
        Sign::Noise
    });
    match exit? {
        Exit::Ended(exit) => Ok(exit),
        Exit::Silent(limit_s) => Err(other(format!("`{line}` has not ended after {limit_s} s"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_flood_of_output_is_not_kept() {
        let ended = run(
            shell("echo one; head -c 3000000 /dev/zero | tr '\\0' x; yes two | head -n 300000"),
            QUESTION,
        );
        let out = ended.unwrap().out;
        assert_eq!(out[0], "one");
        assert!(out.iter().map(String::len).sum::<usize>() <= KEPT_BYTES);
    }

    #[test]
    fn one_that_hangs_is_ended_with_all_that_it_started() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("sleep 1000 & echo $! > '{}'; wait", file.path().display());
        // On a busy machine, a shell may not have started within its time.
        let mut limit_s = 0.2;
        while file.path().metadata().unwrap().len() == 0 {
            let error = run(shell(&script), Duration::from_secs_f64(limit_s)).unwrap_err();
            assert!(error.to_string().contains(&format!("has not ended after {limit_s} s")), "{error}");
            limit_s *= 2.0;
        }
        let child: i32 = std::fs::read_to_string(file.path()).unwrap().trim().parse().unwrap();
        let left = procfs::process::Process::new(child).and_then(|process| process.stat());
        assert!(left.is_err() || left.is_ok_and(|stat| stat.state == 'Z'));
    }

    #[test]
    fn what_a_tool_leaves_for_others_stays() {
        let ended = run(shell("sleep 1000 & echo $!"), QUESTION).unwrap();
        let server: i32 = ended.out[0].parse().unwrap();
        assert!(procfs::process::Process::new(server).is_ok_and(|process| process.is_alive()));
        super::super::tree::signal(&[server], libc::SIGKILL);
    }
}
