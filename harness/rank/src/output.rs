//! Where events go: as JSON lines to the program that started this one, or into a table for the person who did.

use std::io::Write;
use std::sync::Arc;

use common::model::Outcome;
use common::model::conditions::Rule;
use common::model::event::{Block, Event, Hello, MessageFacts};
use common::model::load::Load;
use common::model::{Case, CaseResult, Measured};
use ddtbench::experiments::{Kind, summary};

/// How events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// For a person: a table at the end.
    Text,
    /// An event a line, raw samples included.
    Json,
}

/// Takes events in, on rank 0.
pub struct Output {
    /// What is printed: events, or a table at the end.
    pub format: OutputFormat,
    hello: Option<Box<Hello>>,
    blocks: Vec<Block>,
    ended: Vec<(String, Outcome)>,
}

impl Output {
    /// Without any events yet.
    pub fn new(format: OutputFormat) -> Self {
        Self { format, hello: None, blocks: Vec::new(), ended: Vec::new() }
    }

    /// Prints or keeps an event.
    pub fn report(&mut self, event: &Event) {
        if self.format == OutputFormat::Json {
            return print_event(event);
        }
        match event {
            Event::Hello(hello) => self.hello = Some(hello.clone()),
            Event::Block(block) => self.blocks.push((**block).clone()),
            Event::Ended { method, outcome } => self.ended.push((method.clone(), outcome.clone())),
            Event::Transport(transport) => Hello::goes_by(&mut self.hello, transport.clone()),
            Event::Size(size) => println!("{size:?}"),
            Event::Working { .. }
            | Event::Probe { .. }
            | Event::Aborting
            | Event::Done
            | Event::Library { .. } => {}
        }
    }

    /// Says on any rank how `method` has failed.
    pub fn fail(&self, method: &str, outcome: Outcome) {
        match self.format {
            OutputFormat::Json => print_event(&Event::Ended { method: method.to_owned(), outcome }),
            OutputFormat::Text => eprintln!("error: {method}: {}", outcome.detail().unwrap_or_default()),
        }
    }

    /// Says on any rank that it is about to end all.
    pub fn aborting(&self) {
        if self.format == OutputFormat::Json {
            print_event(&Event::Aborting);
        }
    }

    /// Prints what was kept as the table of a case; where events are printed or nothing was told, nothing is kept.
    pub fn table(&mut self, kind: Kind, case: Case, rule: Rule) {
        let load = self.hello.as_deref().and_then(Load::of);
        let way = |hello: &Hello| Some((hello.hosts(), hello.transport.as_ref()?.name()));
        let (hosts, transport) = self.hello.as_deref().and_then(way).unwrap_or_default();
        let case = Arc::new(Case { hosts, transport, ..case });
        self.print(|message, methods| {
            let result = CaseResult { case, launch: 0, rule, message, load, methods };
            kind.table(&summary::records(kind, &result), None)
        });
    }

    /// Prints what was kept, with what surrounds it.
    fn print(&mut self, table: impl FnOnce(MessageFacts, Vec<Measured>) -> String) {
        let Some(hello) = self.hello.take() else { return };
        let blocks =
            |method: &str| self.blocks.iter().filter(|block| block.method == method).cloned().collect();
        let measured =
            |(method, outcome): (String, Outcome)| Measured { blocks: blocks(&method), method, outcome };
        let methods = std::mem::take(&mut self.ended).into_iter().map(measured).collect();
        let places =
            hello.ranks.iter().map(|place| format!("{} on {} {:?}", place.rank, place.host, place.cpus));
        let places: Vec<_> = places.collect();
        print(&format!(
            "{}\nranks and their processors: {}\n\n{}",
            hello.library_version,
            places.join(", "),
            table(hello.message, methods)
        ));
    }
}

/// Prints an event as one line.
pub fn print_event(event: &Event) {
    let mut line = serde_json::to_string(event).expect("events are plain data");
    line.push('\n');
    print(&line);
}

/// Prints. Where nobody reads any more, there is nothing left to measure for: the process ends, and with it the
/// job.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
