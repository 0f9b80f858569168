//! The output of events: as JSON lines to the program that started this one, or as a table for manual use.

use std::io::Write;

use common::kinds::Kind;
use common::model::conditions::Rule;
use common::model::event::Hello;
use common::model::{Case, Measured, PairScope};
use common::summary;
use common::{stats, units};
use serde::Serialize;

/// How events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// For a person: a table at the end.
    Text,
    /// An event a line, raw samples included.
    Json,
}

/// Prints the results of a case as a table.
pub fn print_table(hello: &Hello, kind: Kind, case: &Case, rule: Rule, methods: &[Measured]) {
    let places = hello.ranks.iter().map(|place| format!("{} on {} {:?}", place.rank, place.host, place.cpus));
    let transport = hello.transport.as_ref().map(|transport| transport.name() + ", ").unwrap_or_default();
    print(&format!(
        "{}\nranks and their processors: {}\n\n{} {}, {}, {transport}{} ranks, {}: {}\n{}",
        hello.library_version,
        places.collect::<Vec<_>>().join(", "),
        case.test,
        case.set,
        case.mpi,
        case.ranks,
        case.cache.name(),
        case.params,
        table(kind, rule, methods),
    ));
}

/// The median of each phase of each method with its interval, in lines; `ddtbench` derives more from the same blocks.
fn table(kind: Kind, rule: Rule, methods: &[Measured]) -> String {
    let states = summary::block_states(kind, methods, rule);
    let width = methods.iter().map(|measured| measured.method.len()).max().unwrap_or(0);
    let mut text = String::new();
    for view in summary::views(methods, &states, rule) {
        let (method, outcome) = (&view.method.method, &view.method.outcome);
        for &phase in kind.phases().iter().filter(|_| outcome.is_measured()) {
            let Some(median) = view.median(phase, PairScope::All) else { continue };
            let rounds: Vec<_> = view.rounds(phase, PairScope::All).into_values().collect();
            let interval = stats::blocks_interval(&rounds).map(|(low, high)| [low, high].map(units::seconds));
            let interval = interval.map(|ends| format!("  [{}]", ends.join(", "))).unwrap_or_default();
            let (phase, median) = (phase.name().replace('_', " "), units::seconds(median));
            text += &format!("{method:width$}  {phase:24} {median:>9}{interval}\n");
        }
        let detail = outcome.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
        text += &format!("{method:width$}  {}{detail}\n", outcome.label());
    }
    text
}

/// Prints an event as one line.
pub fn print_event(event: &impl Serialize) {
    let mut line = serde_json::to_string(event).expect("events are plain data");
    line.push('\n');
    print(&line);
}

/// Prints. If the reader is gone, measuring has no purpose any more: the process ends, and with it the job.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}
