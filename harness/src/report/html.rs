//! Records as one page of HTML that needs no other file: tables, bars with intervals, the account of the run.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

use super::account::{Account, accounts, loops};
use super::answer::page_tables;
use super::case::{CaseView, interval, launches, measured, warnings};
use super::compared::Compared;
use super::names::distinct;
use super::pictures::{self, Drawn};
use super::sentences::{decisions, plain_sentences};
use super::state;
use super::table::{TableFormat, VERDICTS};
use super::units;
use crate::model::Record;

const TEMPLATE: &str = include_str!("report.html");

/// The style of pages.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The picture of every launch, which is folded: it is the longest, and no answer.
const LAUNCHES: &str = "launches";
/// The picture that answers a comparison, and that of a run: they come before the tables.
const CHANGE: &str = "change";
const GLANCE: &str = "datatype_or_loops";

/// The page. `environment` is the text of `environment.json`, shown as it is; empty where there is none. What
/// a comparison has found comes first.
pub fn html(
    form: &'static TableFormat,
    records: &[Record],
    pictures: &[Drawn],
    environment: &str,
    compared: &Compared,
) -> String {
    let views = CaseView::all(form, records);
    let cases: Vec<Value> = views.iter().enumerate().map(|(i, view)| case(form, i, view)).collect();
    let TableFormat { legend, reference, .. } = *form;
    let answers = Value::from(Serde(page_tables(form, &views)));
    let names = distinct(records.iter().map(|record| record.method.as_str()));
    let methods: Vec<Value> = names
        .into_iter()
        .filter_map(|name| Some(context! { name, about => (form.method)(name)?.about }))
        .collect();
    let warnings = warnings(records);
    let launches = launches(records, true);
    let named = |name: &str| {
        Value::from(Serde(pictures.iter().filter(|drawn| drawn.name == name).collect::<Vec<_>>()))
    };
    let [changes, glance, of_launches] = [CHANGE, GLANCE, LAUNCHES].map(named);
    let others = pictures.iter().filter(|drawn| ![CHANGE, GLANCE, LAUNCHES].contains(&&*drawn.name));
    let figures = Value::from(Serde(others.collect::<Vec<_>>()));
    let figure_style = pictures::page_style();
    let (decisions, found) = (decisions(form, &views, false), plain_sentences(form, &views));
    let head = accounts(environment);
    let title = title(records, compared);
    let run = head.first().map(|head| format!(", {}, {}", head.host, head.date));
    let compared = Value::from(Serde(compared));
    let versions = distinct(records.iter().map(|r| format!("{} {}", r.case.mpi_label(), r.case.mpi_version)));
    let notes = head.iter().flat_map(|account| account.notes.iter().cloned());
    let head: Vec<String> = head
        .iter()
        .map(Account::text)
        .chain([versions.join(", ")])
        .chain(loops(&head, records))
        .chain(notes)
        .collect();
    render(
        TEMPLATE,
        context! { title, run, style => STYLE, head, compared, changes, decisions, glance, answers, methods, found, figures, of_launches, figure_style, cases, launches, warnings, environment, legend, reference, verdicts => VERDICTS },
    )
}

/// The subject of the page: the MPIs, the kind of experiments or a comparison, and the tests.
fn title(records: &[Record], compared: &Compared) -> String {
    let Some(first) = records.first() else { return String::new() };
    let is_comparison = compared.sections.iter().any(|section| !section.table.rows.is_empty());
    let kind = if is_comparison { "comparison" } else { first.case.experiment.name() };
    let tests = match &distinct(records.iter().map(|record| &*record.case.test))[..] {
        [one] => (*one).to_owned(),
        several => format!("{} tests", several.len()),
    };
    format!("{}: {kind} of {tests}", Record::mpis(records).join(", "))
}

/// A page made of a template.
pub(crate) fn render(template: &str, context: Value) -> String {
    let mut engine = Environment::new();
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    let page = engine.render_str(template, context);
    page.expect("the template is part of the program and every test renders it")
}

fn case(form: &TableFormat, i: usize, view: &CaseView) -> Value {
    let r = view.first();
    let upper = |r: &Record| interval(r).map(|interval| interval.2).or(r.median_s).unwrap_or(0.0);
    let longest = view.methods().filter(|r| measured(r)).map(upper).fold(0.0, f64::max);
    let reference = view.methods().find(|r| r.method == form.reference_method && measured(r));
    let reference_s = reference.and_then(|r| r.median_s).unwrap_or(0.0);
    let methods: Vec<Value> =
        view.methods().map(|record| row(form, view, record, longest, reference_s)).collect();
    let found = form.answer.findings(view);
    context! {
        id => format!("case-{}", i + 1),
        test => r.case.test.as_str(),
        set => view.set(),
        params => r.case.params.as_str(),
        place => view.conditions() + &state::counted_of([view]),
        size => (form.size)(r),
        side => view.side(),
        verdict => found.join("; "),
        columns => form.columns()[1..].iter().map(|column| column.name).collect::<Vec<_>>(),
        methods,
        notes => view.notes(),
    }
}

/// A method's row. Lengths are percentages of the slowest method's upper end.
fn row(form: &TableFormat, view: &CaseView, record: &Record, longest_s: f64, reference_s: f64) -> Value {
    let text = |value: Option<f64>| value.map_or_else(String::new, units::seconds);
    let share = |time_s: f64| if longest_s > 0.0 { 100.0 * time_s / longest_s } else { 0.0 };
    let median_s = record.median_s.unwrap_or(0.0);
    context! {
        name => record.method.as_str(),
        about => (form.method)(&record.method).map_or("", |method| method.about),
        has_times => measured(record),
        // The cells of the table for terminals, without the method.
        cells => form.row(view, record).split_off(1),
        low => text(record.median_low_s),
        high => text(record.median_high_s),
        samples => record.n,
        blocks => record.blocks,
        bar => share(median_s),
        // A method that is faster than the reference has no bar for overhead.
        reference_bar => share(median_s.min(reference_s)),
        // Start and length of the interval, if there is one.
        whisker => interval(record).map(|(low, _, high)| (share(low), share(high - low))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Case, Outcome, Phase};
    use crate::report::made::record;

    static TABLE_FORMAT: TableFormat = TableFormat::new(&|_| None, Phase::RoundTrip, "reference");

    #[test]
    fn bars_are_shares_of_the_longest() {
        let record = |method: &str, median_s: f64| record(&Case::default(), method, median_s);
        let failed = Record {
            median_s: None,
            outcome: Outcome::WrongData { detail: String::new() },
            ..record("put_ddt", 1.0)
        };
        let records = [record("reference", 54.6e-6), record("manual", 80e-6), record("ddt", 160e-6), failed];
        let page = html(&TABLE_FORMAT, &records, &[], "", &Compared::default());
        let count = |share: f64| page.matches(&format!("width:{share}%")).count();
        assert_eq!(count(90.91), 1, "160 us of 160 us and a tenth: {page}");
        assert_eq!(count(31.02), 4, "the reference, and its part of all three: {page}");
        assert_eq!(page.matches("class=\"track\"").count(), 3, "{page}");
    }

    #[test]
    fn no_whisker_stands_without_an_interval() {
        let record = |median_low_s| Record { median_low_s, ..record(&Case::default(), "ddt", 1e-6) };
        let page = |low| html(&TABLE_FORMAT, &[record(low)], &[], "", &Compared::default());
        assert!(page(Some(0.5e-6)).contains("<i class=\"whisker\""));
        assert!(!page(None).contains("<i class=\"whisker\""));
    }

    #[test]
    fn pictures_stand_in_the_page_with_their_captions() {
        let drawn = Drawn {
            name: "overhead".to_owned(),
            title: "Overhead".to_owned(),
            caption: "It is <seen>.".to_owned(),
            svg: "<svg><path/></svg>".to_owned(),
            ..Drawn::default()
        };
        let record = Record { ..Record::default() };
        let page = html(&TABLE_FORMAT, &[record], &[drawn], "", &Compared::default());
        let [picture, caption, table] =
            ["<svg><path/></svg>", "It is &lt;seen&gt;.", "<table class=\"answer\">"]
                .map(|text| page.find(text).expect(text));
        assert!(table < picture && picture < caption, "{page}");
        assert!(page.contains("figure svg [fill=\"#1C2330\"]"), "colours are the page's");
    }
}
