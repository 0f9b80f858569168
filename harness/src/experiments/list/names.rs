//! The list for people: all names, a line each.

use apps::all as tests;
use apps::halo::all as exchanges;

use crate::experiments::ALL;
use crate::experiments::overlap::operations::OPERATIONS;
use crate::experiments::probes::list::PROBES;
use crate::model::MethodInfo;
use crate::report::columns::{Align, Column, fitted};

/// All names, under what they are names of.
pub(super) fn all(width: Option<u16>) -> String {
    let mut text = "Tests (ddtbench NAME; `ddtbench list NAME` shows its sets and parameters)\n".to_owned();
    text += &named(width, tests().map(|test| (test.name, test.about.to_owned())));
    text += "\nExchanges between many ranks (ddtbench halo NAME)\n";
    text += &named(width, exchanges().map(|halo| (halo.name, halo.about.to_owned())));
    text += "\nOperations beside a computation (ddtbench overlap NAME)\n";
    text += &named(width, OPERATIONS.iter().map(|operation| (operation.name, operation.about.to_owned())));
    for kind in ALL.into_iter().filter(|kind| kind.methods().len() > 1) {
        text += &format!("\nMethods of `ddtbench {}` (-m NAME)\n", kind.command());
        text += &named(width, kind.methods().iter().map(|method| (method.name, about(method))));
    }
    text += "\nProbes: what an MPI must do, or may (ddtbench probe NAME)\n";
    text + &named(width, PROBES.iter().map(|probe| (probe.name, probe.about.to_owned())))
}

/// What a method does, and whether it must be asked for.
pub(super) fn about(method: &MethodInfo) -> String {
    let request = if method.on_request { "; only where it is asked for" } else { "" };
    format!("{}{request}", method.about)
}

/// Indented lines of a name and a text, which is broken where it does not fit.
pub(super) fn named(width: Option<u16>, lines: impl Iterator<Item = (&'static str, String)>) -> String {
    let rows: Vec<_> = lines.map(|(name, text)| vec![name.to_owned(), text]).collect();
    let columns = [Column::new("", Align::Left, 2), Column::new("", Align::Left, 2)];
    let lines = fitted(&columns, &rows, width.map(usize::from), 2).rows;
    lines.into_iter().map(|line| line + "\n").collect()
}
