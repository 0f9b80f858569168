//! Output: nothing is wider than the terminal, and a pipe may close before everything is printed.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ddtbench::model::plain::{plain, plain_bytes};
use ddtbench::report::columns::wrapped_lines;
use rustix::termios::tcgetwinsize;

/// Prints text whose codes for colours are removed where colours are not wanted: `--color`, `NO_COLOR`, not a terminal.
pub fn print_coloured(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    forgive(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints. A closed pipe, as in `ddtbench list | head`, is not an error. A terminal gets no control characters of files.
pub fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let bytes = if io::stdout().is_terminal() { plain_bytes(bytes) } else { bytes.into() };
    forgive(io::stdout().write_all(&bytes).and_then(|()| io::stdout().flush()))
}

pub fn forgive(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("writing to standard output"))
        }
        _ => Ok(()),
    }
}

/// Prints a message to standard error.
pub fn log(text: &str) {
    let _ = writeln!(io::stderr(), "{}", for_stderr(&plain(text)));
}

/// Prints a command line to standard error, so that it can be copied.
pub fn log_command(line: &str) {
    const CONTINUED: &str = " \\";
    let width = columns_of(io::stderr());
    let lines = within(&plain(line), width.map(|width| width.saturating_sub(CONTINUED.len() as u16)));
    let _ = writeln!(io::stderr(), "{}", lines.replace('\n', &format!("{CONTINUED}\n")));
}

/// Text for standard error: on a terminal in lines that fit it.
pub fn for_stderr(text: &str) -> String {
    within(text, columns_of(io::stderr()))
}

/// Prints text: on a terminal in lines that fit it.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    print(within(text, width()).as_bytes())
}

fn within(text: &str, width: Option<u16>) -> String {
    width.map_or_else(|| text.to_owned(), |width| wrapped_lines(text, width.into()))
}

/// A short path that can be typed here: relative if it is below the current folder.
pub fn short(path: &Path) -> String {
    let here = env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}

/// Columns of the terminal on standard output. If that is not a terminal, `COLUMNS` counts, because `| less`
/// shows the text on one.
pub fn width() -> Option<u16> {
    let asked_for = || env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0);
    columns_of(io::stdout()).or_else(asked_for)
}

/// A new pseudo-terminal has 0 columns, which means unknown.
fn columns_of(stream: impl AsFd) -> Option<u16> {
    tcgetwinsize(stream).ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}

/// Work that a terminal reports by this text if it takes longer than a second.
pub fn reported<T>(text: &str, work: impl FnOnce() -> T) -> T {
    let (working, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let is_long = ended.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout);
            if is_long && io::stderr().is_terminal() {
                log(text);
            }
        });
        let result = work();
        drop(working);
        result
    })
}
