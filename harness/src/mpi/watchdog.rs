//! Runs a launch with a time limit for silence: passes its lines on, and kills it if there is no event for too long.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use super::error::{MpiError, Result, other};
use super::launcher::Launch;
use super::process::{ExitDescription, Line, Next, Running};
use crate::model::plain::plain;

/// Time to exit after a process has reported its end.
const TO_LEAVE: Duration = Duration::from_secs(10);

/// Pause before a failed launcher is retried: a missing resource, such as a port, may be available again.
const TO_RECOVER: Duration = Duration::from_secs(1);

/// Lines kept to explain how a process ended, and characters of each: more would not be read.
const KEPT_LINES: usize = 20;
const KEPT_CHARACTERS: usize = 1000;

/// The meaning of a line for the watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Output of the MPI. It does not reset the time: a library may print warnings for ever.
    Noise,
    /// An event of the rank program.
    Alive,
    /// The last event of the rank program.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exit {
    /// It ended without us.
    Ended(ExitDescription),
    /// It was killed because it printed nothing for this many seconds.
    Silent(f64),
}

impl Launch<'_> {
    /// Runs the command, and again if no process begins: launchers fail occasionally. After silence there is only a second try if
    /// its limit is longer. Returns the log of the last try, which `take` fills, with its end and the number of tries.
    ///
    /// # Errors
    /// If the launcher cannot be started, or the user wants to stop.
    pub fn watch_begun<L>(
        &self,
        end: Option<Instant>,
        timeouts_s: [f64; 2],
        mut log: impl FnMut() -> L,
        mut take: impl FnMut(&mut L, Line) -> Sign,
        has_begun: impl Fn(&L) -> bool,
    ) -> Result<(L, Exit, usize)> {
        let [first_s, second_s] = timeouts_s;
        let mut run = |timeout_s| {
            let mut log = log();
            let exit = self.watch_until(end, timeout_s, |line| take(&mut log, line))?;
            Ok((log, exit))
        };
        let (log, exit) = run(first_s)?;
        let is_late = end.is_some_and(|end| Instant::now() >= end);
        if has_begun(&log) || is_late || matches!(exit, Exit::Silent(_)) && second_s <= first_s {
            return Ok((log, exit, 1));
        }
        thread::sleep(TO_RECOVER);
        run(second_s).map(|(log, exit)| (log, exit, 2))
    }

    /// Starts the command and passes its lines to `take` until it ends, or is killed at the end of a time, as
    /// if it had printed nothing.
    ///
    /// # Errors
    /// If the launcher cannot be started, or the user wants to stop.
    pub fn watch_until(
        &self,
        end: Option<Instant>,
        timeout_s: f64,
        take: impl FnMut(Line) -> Sign,
    ) -> Result<Exit> {
        let running = Running::start(&self.command_line()?)?;
        running.watch_until(end, Duration::from_secs_f64(timeout_s), take)
    }

    /// The error for a rank program of another version.
    pub fn of_another_version(&self) -> MpiError {
        let program = self.program.display();
        other(format!(
            "the rank program {program} is from another version of ddtbench; remove it, and the next run builds a new one"
        ))
    }

    /// The error if no process of this MPI has started, with advice. `output`: how the launcher ended.
    pub fn never_began(&self, label: &str, times: &'static str, output: String) -> MpiError {
        // A refusal of the rank program explains itself.
        if let Some((_, reason)) =
            output.split_once("exit code 2 before the first event; last output: error: ")
        {
            return other(reason.to_owned());
        }
        let own = || self.installation.mpiexec.display().to_string();
        let launcher = self.programs.launcher().map_or_else(own, str::to_owned);
        let of_loader = ["error while loading shared libraries", "' not found (required by"];
        let advice = match of_loader.iter().any(|text| output.contains(text)) {
            true => Some("check LD_LIBRARY_PATH and the loaded modules".to_owned()),
            false => self.advice(),
        };
        let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
        /// Characters of output that are shown.
        const MOST: usize = 1500;
        let output = match output.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}...", &output[..end]),
            None => output,
        };
        other(format!("{label}: {launcher} started no process, {times}: {output}{advice}"))
    }
}

impl Running {
    /// Passes the command's lines to `take` until it ends, or is killed because it printed nothing for so
    /// long, or at the end of a time.
    pub(super) fn watch_until(
        mut self,
        end: Option<Instant>,
        limit: Duration,
        mut take: impl FnMut(Line) -> Sign,
    ) -> Result<Exit> {
        let mut silence = Silence::new(limit);
        loop {
            let began = Instant::now();
            let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(began));
            let step = silence.step().min(left);
            let next = self.next(step);
            silence.waited(step, began.elapsed());
            match next {
                Next::Line(line) => match take(line) {
                    Sign::Noise => {}
                    Sign::Alive => silence.ends(),
                    Sign::Done => {
                        silence.ends();
                        silence.limit = silence.limit.min(TO_LEAVE);
                    }
                },
                Next::Silence => {}
                Next::Interrupted => {
                    self.kill();
                    return Err(MpiError::Interrupted);
                }
                // A signal of the terminal may have reached the ranks first.
                Next::Exited(_) if super::interrupt::requested() => return Err(MpiError::Interrupted),
                Next::Exited(exit) => return Ok(Exit::Ended(exit)),
            }
            if silence.is_over() || end.is_some_and(|end| Instant::now() >= end) {
                self.kill();
                return Ok(Exit::Silent(silence.limit.as_secs_f64()));
            }
        }
    }
}

/// The last lines of a process that are not events.
#[derive(Debug, Default)]
pub struct LastOutput(VecDeque<String>);

impl LastOutput {
    /// Adds a line, and removes the oldest if there are too many. A line that several ranks print is kept once.
    pub fn add(&mut self, line: &str) {
        // Not frames of a backtrace, such as `[host:41] [ 3] /lib/...`, or lines of dashes.
        let is_frame = line.split_once("] [").is_some_and(|(_, rest)| {
            rest.split_once(']').is_some_and(|(number, _)| number.trim().parse::<usize>().is_ok())
        });
        if !is_frame && line.contains(char::is_alphanumeric) {
            let start: String = line.trim().chars().take(KEPT_CHARACTERS).collect();
            let new = plain(&start).into_owned();
            self.0.retain(|known| *known != new);
            self.0.push_back(new);
            if self.0.len() > KEPT_LINES {
                self.0.pop_front();
            }
        }
    }

    /// How the process ended, with these lines. `during` starts with a blank.
    pub fn explain(&self, exit: Exit, during: &str) -> String {
        let ending = match exit {
            Exit::Ended(exit) => exit.to_string(),
            Exit::Silent(seconds) => format!("no output for {seconds} s"),
        };
        let lines: Vec<_> = self.0.iter().map(String::as_str).collect();
        let lines = lines.join(" | ");
        if lines.is_empty() {
            format!("{ending}{during}")
        } else {
            format!("{ending}{during}; last output: {lines}")
        }
    }
}

/// Measures how long a process has printed nothing while we were reading. If `ddtbench` itself was suspended
/// (Ctrl-Z, a suspended machine), it did not read the output: that is not silence.
struct Silence {
    limit: Duration,
    lasted: Duration,
}

impl Silence {
    /// The longest single wait.
    const STEP: Duration = Duration::from_secs(1);
    /// If a wait took this much longer than planned, this program was suspended.
    const PAUSE: Duration = Duration::from_secs(1);

    fn new(limit: Duration) -> Self {
        Self { limit, lasted: Duration::ZERO }
    }

    fn step(&self) -> Duration {
        self.limit.saturating_sub(self.lasted).min(Self::STEP)
    }

    /// A wait of `step` took this long.
    fn waited(&mut self, step: Duration, took: Duration) {
        if took <= step + Self::PAUSE {
            self.lasted += took;
        }
    }

    fn ends(&mut self) {
        self.lasted = Duration::ZERO;
    }

    fn is_over(&self) -> bool {
        self.lasted >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_ours_is_not_silence() {
        let second = Duration::from_secs(1);
        let mut silence = Silence::new(2 * second);
        assert_eq!(silence.step(), second);
        silence.waited(second, second);
        assert!(!silence.is_over());
        silence.waited(second, 100 * second);
        assert!(!silence.is_over(), "we were stopped");
        silence.waited(second, second / 2);
        assert_eq!(silence.step(), second / 2);
        silence.ends();
        silence.waited(second, second);
        silence.waited(second, second);
        assert!(silence.is_over());
        assert_eq!(Silence::new(second / 5).step(), second / 5);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let mut output = LastOutput::default();
        for i in 0..100 {
            output.add(&format!("word{i}."));
            output.add(&format!("[vm:12773] [ {i}] /lib/libc.so.6(+0x{i})[0x{i}]"));
            output.add("-----");
        }
        let text = output.explain(Exit::Silent(5.0), " during x");
        assert!(text.starts_with("no output for 5 s during x; last output: word80. | "), "{text}");
        output.add(&"long".repeat(1 << 20));
        assert!(output.explain(Exit::Silent(5.0), "").len() < 2 * KEPT_CHARACTERS);
    }
}
