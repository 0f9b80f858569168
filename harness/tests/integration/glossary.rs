//! The glossary has every term of tables and their legends, in two lines at most.

use std::collections::BTreeSet;
use std::fs;

use ddtbench::compare::Verdict;
use ddtbench::experiments::{self, Kind};
use ddtbench::model::Outcome;

use crate::pages::root;

/// The entries of the glossary, in lower case and without quotes.
fn entries() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    // An entry continues in indented lines, and may have several terms in bold.
    for entry in text.replace("\n\n", "\n- ").split("\n- ") {
        assert!(entry.starts_with('#') || entry.lines().count() <= 2, "more than two lines: {entry}");
    }
    let bold = text.split("**").skip(1).step_by(2).flat_map(|terms| terms.split(", "));
    bold.map(|term| term.replace('`', "").to_lowercase()).collect()
}

/// The terms that a legend explains: words before a colon at the beginning of a sentence.
fn explained(legend: &str) -> Vec<&str> {
    let heads = legend.split(['.', ';']).filter_map(|sentence| sentence.split_once(": "));
    let heads = heads.map(|(head, _)| head.trim()).filter(|head| head.split(' ').count() <= 3);
    // "Terms" leads to the glossary.
    heads.flat_map(|head| head.split(", ")).filter(|&head| head != "Terms").collect()
}

#[test]
fn the_glossary_has_every_term_of_the_tables() {
    let mut terms: Vec<String> = Verdict::ALL.iter().map(|verdict| verdict.name().to_owned()).collect();
    terms.extend(Outcome::LABELS.iter().map(|&label| label.to_owned()));
    for kind in Kind::ALL {
        let form = experiments::of_kind(kind).table_format;
        terms.extend(form.columns().iter().map(|column| column.name.to_owned()));
        let legends = [form.legend, form.answer.legend, form.answer.more_legend];
        terms.extend(legends.into_iter().flat_map(explained).map(str::to_owned));
    }
    assert!(terms.len() > 100, "{terms:?}");
    let entries = entries();
    let missing: BTreeSet<_> =
        terms.iter().filter(|term| !term.is_empty() && !entries.contains(&term.to_lowercase())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn terms_are_found_in_a_legend() {
    let legend = "pack: median time, ± the larger side. pack/engine, unpack/engine: a ratio; bound: a share. Not a term: no.";
    assert_eq!(explained(legend), ["pack", "pack/engine", "unpack/engine", "bound", "Not a term"]);
}
