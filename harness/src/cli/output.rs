//! Standard output that may be a pipe which nobody reads to its end.

use std::io::{self, Write};

use terminal_size::{Width, terminal_size_of};

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
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Columns of the terminal on standard output; `None` if it is none.
pub fn width() -> Option<u16> {
    terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns)
}
