//! The list for people: all names, one line each. `ddtbench list NAME` shows texts that are cut here.

use apps::all as tests;
use apps::halo::all as exchanges;

use crate::experiments::Kind;
use crate::experiments::overlap::operations::OPERATIONS;
use crate::model::MethodInfo;
use crate::report::columns::{Align, Column, fitted};

/// All names, grouped by kind.
pub(super) fn all(width: Option<u16>) -> String {
    let mut text = "Tests (ddtbench NAME; `ddtbench list NAME` shows its sets and parameters)\n".to_owned();
    text += &one_line_each(width, tests().map(|test| (test.name, test.about.to_owned())));
    text += "\nExchanges between many ranks (ddtbench halo NAME)\n";
    text += &one_line_each(width, exchanges().map(|halo| (halo.name, halo.about.to_owned())));
    text += "\nOperations that overlap a computation (ddtbench overlap NAME)\n";
    text += &one_line_each(
        width,
        OPERATIONS.iter().map(|operation| (operation.name, operation.about.to_owned())),
    );
    for kind in Kind::ALL {
        text += &format!("\nMethods of `ddtbench {}` (-m NAME)\n", kind.row().command);
        text += &one_line_each(width, kind.methods().iter().map(|method| (method.name, about(method))));
    }
    text
}

/// The description of a method, and whether it must be requested.
pub(super) fn about(method: &MethodInfo) -> String {
    let request = if method.on_request { "; only on request" } else { "" };
    format!("{}{request}", method.about)
}

/// Like [`named`], but cuts texts to one line.
fn one_line_each(width: Option<u16>, lines: impl Iterator<Item = (&'static str, String)>) -> String {
    /// Minimum room for a text: no terminal is narrower than a name and this.
    const LEAST: usize = 15;
    let lines: Vec<_> = lines.collect();
    let names = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let room = width.map_or(usize::MAX, |width| usize::from(width).saturating_sub(names + 4).max(LEAST));
    named(width, lines.into_iter().map(|(name, text)| (name, cut(text, room))))
}

/// As many whole words as fit, with a mark if there were more.
fn cut(text: String, room: usize) -> String {
    if text.chars().count() <= room {
        return text;
    }
    let start: String = text.chars().take(room - 1).collect();
    let words = start.rsplit_once(' ').map_or(&*start, |(words, _)| words);
    format!("{words} …")
}

/// Indented lines of a name and a text, which is wrapped if it does not fit.
pub(super) fn named(width: Option<u16>, lines: impl Iterator<Item = (&'static str, String)>) -> String {
    let rows: Vec<_> = lines.map(|(name, text)| vec![name.to_owned(), text]).collect();
    let columns = [Column::new("", Align::Left, 2), Column::new("", Align::Left, 2)];
    let lines = fitted(&columns, &rows, width.map(usize::from), 2).rows;
    lines.into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_line_however_narrow_the_terminal() {
        let whole = all(None);
        for width in [80, 60] {
            let text = all(Some(width));
            assert_eq!(text.lines().count(), whole.lines().count(), "{text}");
            let entries = text.lines().filter(|line| line.starts_with(' '));
            assert!(entries.clone().all(|line| line.chars().count() <= usize::from(width)), "{text}");
            assert!(entries.zip(whole.lines().filter(|line| line.starts_with(' '))).all(|(cut, whole)| {
                whole.trim_start().starts_with(cut.trim_start().trim_end_matches(" …"))
            }));
        }
        assert!(!whole.contains('…') && all(Some(80)).contains('…'));
    }
}
