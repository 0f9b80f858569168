//! What is logged and printed: nothing wider than the terminal, and standard output may be a pipe which nobody reads to its end.

use std::env;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;

use ddtbench::model::plain::plain;
use ddtbench::report::columns::wrapped_lines;
use rustix::termios::tcgetwinsize;

/// Prints text that may have codes for colours, which stay where they are wanted: `--color`, `NO_COLOR`, a terminal.
pub fn print_coloured(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    forgive(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints; that the reader has gone, as in `ddtbench list | head`, is no error.
pub fn print(bytes: &[u8]) -> anyhow::Result<()> {
    forgive(io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()))
}

/// No error if the reader has gone.
pub fn forgive(result: io::Result<()>) -> anyhow::Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("writing to standard output"))
        }
        _ => Ok(()),
    }
}

/// A sentence for the user, on standard error.
pub fn log(text: &str) {
    let _ = writeln!(io::stderr(), "{}", for_stderr(&plain(text)));
}

/// A command line on standard error; its lines can be typed as they stand.
pub fn log_command(line: &str) {
    const CONTINUED: &str = " \\";
    let width = columns_of(io::stderr());
    let lines = within(line, width.map(|width| width.saturating_sub(CONTINUED.len() as u16)));
    let _ = writeln!(io::stderr(), "{}", lines.replace('\n', &format!("{CONTINUED}\n")));
}

/// A text for standard error: on a terminal in lines that fit it.
pub fn for_stderr(text: &str) -> String {
    within(text, columns_of(io::stderr()))
}

/// Prints sentences: on a terminal in lines that fit it.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    print(within(text, width()).as_bytes())
}

fn within(text: &str, width: Option<u16>) -> String {
    width.map_or_else(|| text.to_owned(), |width| wrapped_lines(text, width.into()))
}

/// A path as it can be typed here: below the current folder without the way to that.
pub fn short(path: &Path) -> String {
    let here = env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.unwrap_or(path).display().to_string()
}

/// Columns of the terminal on standard output; if it is not a terminal, those of `COLUMNS`, with which a pipe such as `| less` is
/// printed for one.
pub fn width() -> Option<u16> {
    let asked_for = || env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0);
    columns_of(io::stdout()).or_else(asked_for)
}

/// Columns of a terminal; of a pseudo-terminal that nobody has given a size there are 0, which is none.
fn columns_of(stream: impl AsFd) -> Option<u16> {
    tcgetwinsize(stream).ok().map(|size| size.ws_col).filter(|&columns| columns > 0)
}
