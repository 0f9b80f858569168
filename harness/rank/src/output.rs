//! Where events go: as JSON lines to the program that started this one, or into a table for the person who did.

use std::io::Write;

use ddtbench::event::Event;

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table at the end.
    Text,
    /// An event a line, raw samples included.
    Json,
}

/// Takes events in, on rank 0.
pub struct Output {
    format: Format,
    /// What came, where a table is to be made of it.
    pub kept: Vec<Event>,
}

impl Output {
    /// In this form.
    pub fn new(format: Format) -> Self {
        Self { format, kept: Vec::new() }
    }

    /// Prints or keeps an event.
    pub fn tell(&mut self, event: &Event) {
        match self.format {
            Format::Json => tell_json(event),
            Format::Text => self.kept.push(event.clone()),
        }
    }
}

/// Prints an event as one line. Where nobody reads any more, there is nothing left to measure for: the process
/// ends, and with it the job.
pub fn tell_json(event: &Event) {
    let mut line = serde_json::to_string(event).expect("events are plain data");
    line.push('\n');
    let mut out = std::io::stdout().lock();
    if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
