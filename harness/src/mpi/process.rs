//! A started command: reads its lines, reports how it ended, and ends all of its processes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::error::{Result, other};
use super::launcher::CommandLine;
use super::watcher::Watcher;
use super::{interrupt, tree};

/// Interval for checking signals and the end of the command.
const POLL: Duration = Duration::from_millis(100);
/// Time to end after SIGTERM, before SIGKILL.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time that pipes may stay open after the command's end, before the processes that have them open are ended.
const AFTER_END: Duration = Duration::from_secs(1);

/// Number of unread lines. A command that writes faster must wait, so that much output does not fill our memory.
const WAITING_LINES: usize = 4;
/// The longest line in bytes; longer lines are split. A block of a million times is a tenth as long.
const LONGEST_LINE: u64 = 1 << 26;

/// One line of output, without its line end; bytes that are not UTF-8 are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Out(String),
    Err(String),
}

/// The result of [`Running::next`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Line(Line),
    /// Nothing within the time limit.
    Silence,
    /// The user wants to stop; the command still runs.
    Interrupted,
    /// The command has ended and all its lines were read.
    Exited(ExitDescription),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitDescription {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, or a rank that it started.
    pub signal: Option<i32>,
}

impl ExitDescription {
    /// Whether it ended with exit code 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    fn new(status: ExitStatus, signals_are_codes: bool) -> Self {
        /// Lower exit codes are usual for programs, and do not count as signals.
        const LOWEST: i32 = libc::SIGILL;
        let code = status.code();
        let of_code = code.filter(|&code| signals_are_codes && code >= LOWEST && signal_name(code).is_some());
        Self { code, signal: status.signal().or(of_code) }
    }

    /// The signal that ended it, or probably the process behind it: shells and launchers report a signal `s`
    /// as exit code `128 + s`.
    pub fn signal(&self) -> Option<i32> {
        let of_code = || self.code.map(|code| code - 128).filter(|&signal| signal_name(signal).is_some());
        self.signal.or_else(of_code)
    }
}

impl fmt::Display for ExitDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => {
                write!(f, "exit code {code}")?;
                let name = self.signal().and_then(signal_name);
                name.map_or(Ok(()), |name| write!(f, ", usually {name}"))
            }
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(f, "ended by signal {signal}, {name}"),
                None => write!(f, "ended by signal {signal}"),
            },
            (None, None) => write!(f, "ended in an unknown way"),
        }
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP (terminal closed)",
        libc::SIGINT => "SIGINT (interrupted)",
        libc::SIGILL => "SIGILL (illegal instruction)",
        libc::SIGABRT => "SIGABRT (aborted)",
        libc::SIGBUS => "SIGBUS (bad memory access, or /dev/shm is full)",
        libc::SIGFPE => "SIGFPE (arithmetic error)",
        libc::SIGKILL => "SIGKILL (killed, possibly out of memory)",
        libc::SIGSEGV => "SIGSEGV (segmentation fault)",
        libc::SIGPIPE => "SIGPIPE (output pipe closed)",
        libc::SIGTERM => "SIGTERM (terminated)",
        _ => return None,
    })
}

/// A started command. Dropping it kills it.
///
/// Its thread must live as long as the command: the system ends the command when that thread ends.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    marker: String,
    lines: Receiver<Line>,
    ended: Option<(ExitDescription, Instant)>,
    /// As in [`CommandLine`].
    signals_are_codes: bool,
    swept: bool,
    killed: bool,
    /// Whether its remaining processes are ended too.
    sweeps: bool,
    _watcher: Option<Watcher>,
}

impl Running {
    /// Starts a command in its own process group, without input.
    pub fn start(line: &CommandLine) -> Result<Self> {
        let mut command = Command::new(&line.program);
        for name in &line.without {
            command.env_remove(name);
        }
        command.args(&line.args).envs(&line.env);
        let started = Self::spawn(command, true);
        let mut running = started.map_err(|source| other(format!("`{line}` did not start: {source}")))?;
        running.signals_are_codes = line.signals_are_codes;
        Ok(running)
    }

    /// Starts a command, or a tool without `sweeps`: its processes may stay, such as the server of a compiler cache.
    pub(super) fn spawn(mut command: Command, sweeps: bool) -> io::Result<Self> {
        interrupt::hold();
        let marker = unique();
        // First, because this program may be killed at any time.
        let watcher = Watcher::start(&marker);
        command.env(tree::MARKER, &marker);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        #[cfg(target_os = "linux")]
        die_with_parent(&mut command);
        let mut child = command.spawn()?;
        let (sender, lines) = sync_channel(WAITING_LINES);
        let out = child.stdout.take().expect("standard output was asked to be a pipe");
        let err = child.stderr.take().expect("standard error was asked to be a pipe");
        read_lines(out, Line::Out, sender.clone());
        read_lines(err, Line::Err, sender);
        let (ended, signals_are_codes, swept, killed) = (None, false, false, false);
        Ok(Self { child, marker, lines, ended, signals_are_codes, swept, killed, sweeps, _watcher: watcher })
    }

    /// Waits at most `timeout` for something to happen. Available lines come first, even after
    /// [`Running::kill`]; after the end, every call returns `Exited`.
    pub fn next(&mut self, timeout: Duration) -> Next {
        let deadline = Instant::now() + timeout;
        loop {
            if interrupt::requested() && !self.killed {
                return Next::Interrupted;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(POLL)) {
                Ok(line) => return Next::Line(line),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(exit) = self.ended_long_ago() {
                        if !self.sweeps {
                            return Next::Exited(exit);
                        }
                        self.sweep();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    if let Some(exit) = self.reap() {
                        if self.sweeps {
                            self.sweep();
                        }
                        return Next::Exited(exit);
                    }
                    // It has closed its output but has not ended.
                    thread::sleep(left.min(Duration::from_millis(5)));
                }
            }
            if Instant::now() >= deadline {
                return Next::Silence;
            }
        }
    }

    /// Ends the command and all processes that it started, and waits for them: with SIGTERM, after two seconds with SIGKILL.
    pub fn kill(&mut self) {
        self.killed = true;
        for (signal, patience) in [(libc::SIGTERM, PATIENCE), (libc::SIGKILL, PATIENCE)] {
            let deadline = Instant::now() + patience;
            let mut reported = Vec::new();
            loop {
                let left = self.members();
                if left.is_empty() {
                    break;
                }
                // Each gets SIGTERM once: a second one would interrupt the launcher's reaction to the first.
                let new: Vec<i32> = left.into_iter().filter(|pid| !reported.contains(pid)).collect();
                tree::signal(&new, signal);
                reported.extend(new);
                if Instant::now() >= deadline {
                    break;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        self.reap();
    }

    /// Remaining processes of the command. After it was reaped, its number may belong to another process.
    fn members(&mut self) -> Vec<i32> {
        let root = self.reap().is_none().then(|| self.child.id().cast_signed());
        tree::members(root, &self.marker)
    }

    fn reap(&mut self) -> Option<ExitDescription> {
        if self.ended.is_none() {
            let exit = match self.child.try_wait() {
                Ok(status) => status.map(|status| ExitDescription::new(status, self.signals_are_codes)),
                // The child has ended, and the system has forgotten how.
                Err(_) => Some(ExitDescription { code: None, signal: None }),
            };
            self.ended = exit.map(|exit| (exit, Instant::now()));
        }
        self.ended.map(|(exit, _)| exit)
    }

    /// How it ended, if that is some time ago: otherwise ranks that outlive a crashed launcher would keep the
    /// pipes open for ever.
    fn ended_long_ago(&mut self) -> Option<ExitDescription> {
        self.reap();
        self.ended.filter(|(_, when)| when.elapsed() > AFTER_END).map(|(exit, _)| exit)
    }

    fn sweep(&mut self) {
        if !self.swept {
            self.swept = true;
            self.kill();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.sweeps || self.reap().is_none() {
            self.sweep();
        }
    }
}

/// A value that no other command of this machine has.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}.{now}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Makes the system end the command with this program, even if this program is killed.
#[cfg(target_os = "linux")]
fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only system calls that are safe in signal handlers are made.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before the request.
            if u32::try_from(libc::getppid()) != Ok(parent) {
                libc::raise(libc::SIGTERM);
            }
            Ok(())
        });
    }
}

/// Reads lines in a thread until the pipe is closed.
fn read_lines(pipe: impl Read + Send + 'static, kind: fn(String) -> Line, sender: SyncSender<Line>) {
    thread::spawn(move || {
        let mut pipe = BufReader::with_capacity(1 << 16, pipe);
        loop {
            let mut line = Vec::new();
            match pipe.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            while matches!(line.last(), Some(b'\n' | b'\r')) {
                line.pop();
            }
            let text = String::from_utf8(line)
                .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
            if sender.send(kind(text)).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
