//! A started command and all its descendants, found by a variable that they inherit.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The variable that marks a job's processes. Launchers pass it on to their ranks.
const MARKER: &str = "DDTBENCH_TEST_JOB";

/// Time limit of a job: longer than anything tested here, including builds of the rank program, on a slow
/// machine. It distinguishes jobs that hang from slow ones.
const LIMIT: Duration = Duration::from_secs(600);

/// Interval between two checks of a condition: a search among all processes of the machine, or whether a
/// command has ended. The latter costs almost nothing, and tests wait for it hundreds of times.
const POLL: Duration = Duration::from_millis(20);
const POLL_END: Duration = Duration::from_millis(2);

/// A pause after a failed start of a launcher.
const LAUNCHER_RECOVERS: Duration = Duration::from_secs(1);

/// A running command. Dropping it kills all its remaining processes.
pub struct Job {
    child: Child,
    line: String,
    marker: String,
    output: TempDir,
}

/// The results of a command.
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    line: String,
}

#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// The last part of the path that it was started by.
    pub name: String,
}

impl Process {
    /// Whether this is a word of its command line.
    pub fn has_argument(&self, word: &str) -> bool {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes())
    }
}

/// Spawns a command. A program that has just been written is busy for as long as a child that another trial
/// has forked in the meantime has the file open: until that child runs its own program.
fn spawn(command: &mut Command) -> io::Result<Child> {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(1));
            }
            spawned => return spawned,
        }
    }
}

impl Job {
    /// Starts a command without input.
    pub fn start(command: &mut Command) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let marker = format!("{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let output = tempfile::tempdir().expect("a temporary folder can be made");
        let file = |name| File::create(output.path().join(name)).expect("a temporary file can be made");
        command.env(MARKER, &marker).stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
        let line = format!("{command:?}");
        let child = spawn(command).unwrap_or_else(|error| panic!("{line}: {error}"));
        Self { child, line, marker, output }
    }

    /// Waits for the end of the command.
    pub fn wait(mut self) -> Ended {
        self.until_every(POLL_END, "has ended", |job| !job.is_running());
        let code = self.status().expect("it has ended").code();
        let (out, err) = self.output();
        Ended { code, out, err, line: self.line.clone() }
    }

    /// Waits until a condition is true; the command may have ended in the meantime.
    pub fn until(&mut self, what: &str, holds: impl FnMut(&mut Self) -> bool) {
        self.until_every(POLL, what, holds);
    }

    fn until_every(&mut self, poll: Duration, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            if start.elapsed() > LIMIT {
                let (out, err) = self.output();
                panic!("{}: never {what}\n{out}\n{err}", self.line);
            }
            thread::sleep(poll);
        }
    }

    /// The command's own process.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// All processes that still run, including the command's own.
    pub fn processes(&self) -> Vec<Process> {
        let wanted = format!("{MARKER}={}", self.marker).into_bytes();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").expect("there is /proc").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            // The environment of a zombie cannot be read, but it has ended.
            let variables = fs::read(entry.path().join("environ")).unwrap_or_default();
            if variables.split(|&byte| byte == 0).any(|variable| variable == wanted) {
                let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let program = words.split(|&byte| byte == 0).next().unwrap_or_default();
                let program = String::from_utf8_lossy(program).into_owned();
                let name = program.rsplit('/').next().unwrap_or_default().to_owned();
                found.push(Process { pid, parent: parent(pid), name });
            }
        }
        found
    }

    /// The processes that were started as `name`.
    pub fn named(&self, name: &str) -> Vec<Process> {
        self.processes().into_iter().filter(|process| process.name == name).collect()
    }

    /// Waits until the command has ended and all its processes are gone.
    pub fn until_nothing_is_left(&mut self) {
        self.until("gone without leaving a process behind", |job| {
            !job.is_running() && job.processes().is_empty()
        });
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be waited for")
    }

    /// Whether the command itself still runs.
    pub fn is_running(&mut self) -> bool {
        self.status().is_none()
    }

    /// Whether a signal ended it.
    pub fn was_killed(&mut self) -> bool {
        self.status().is_some_and(|status| status.code().is_none())
    }

    /// Its standard output and its standard error so far.
    pub fn output(&self) -> (String, String) {
        let read = |name| {
            String::from_utf8_lossy(&fs::read(self.output.path().join(name)).unwrap_or_default()).into_owned()
        };
        (read("out"), read("err"))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        for process in self.processes() {
            signal(process.pid, libc::SIGKILL);
        }
        // It has ended, or was just killed.
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Its error or panic, without messages about progress.
    pub fn error(&self) -> &str {
        let is_error = |line: &str| line.starts_with("error: ") || line.starts_with("thread '");
        let lines = self.err.split_inclusive('\n');
        let before: usize = lines.take_while(|line| !is_error(line)).map(str::len).sum();
        &self.err[before..]
    }

    /// Its output, its error, and its exit code unless that is 0.
    pub fn shown(&self) -> String {
        let code = match self.code {
            Some(0) => String::new(),
            code => format!("exit code {}\n", code.map_or("none".to_owned(), |code| code.to_string())),
        };
        [&self.out, self.error(), &code].concat()
    }

    /// Fails unless the exit code is `code`.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert!(self.code == Some(code), "exit code {:?} instead of {code}: {self}", self.code);
        self
    }

    /// Fails unless all `words` are in the standard error.
    #[track_caller]
    pub fn expect_err(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {self}");
        }
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n--- out\n{}\n--- err\n{}", self.line, self.out, self.err)
    }
}

/// The parent of a process: the second field after its name, which is in brackets.
fn parent(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(1).find_map(|field| field.parse().ok()).unwrap_or(0)
}

/// Open MPI's launcher prints this if it fails before it has started any process, which happens occasionally
/// on a busy machine. `ddtbench` then retries; users who type the launcher retry by hand.
const LAUNCHER_FAILED: &str = "The PMIx server's listener thread failed to start";

/// Runs a command to its end. Retries if the launcher failed before it started any process.
pub fn run(command: &mut Command) -> Ended {
    let ended = Job::start(command).wait();
    if ended.code == Some(0) || !ended.out.is_empty() || !ended.err.contains(LAUNCHER_FAILED) {
        return ended;
    }
    thread::sleep(LAUNCHER_RECOVERS);
    Job::start(command).wait()
}

/// Sends a signal. It is not an error if the process has just ended.
pub fn signal(pid: i32, signal: i32) {
    // SAFETY: `kill` takes two numbers and touches no memory of ours.
    unsafe { libc::kill(pid, signal) };
}

/// All files and folders below `dir`.
pub fn everything_in(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("the folder can be read").flatten() {
        found.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            found.extend(everything_in(&entry.path()));
        }
    }
    found.sort();
    found
}
