//! Records as one page of HTML that needs nothing else: tables, bars with intervals, the account of the run.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use super::case::{CaseView, interval, measured, oversubscribed, place};
use super::table::{Form, VERDICTS};
use super::units;
use crate::record::Record;

const TEMPLATE: &str = include_str!("report.html");

/// A case as the template wants it.
#[derive(Serialize)]
struct Case {
    id: String,
    test: String,
    set: String,
    params: String,
    place: String,
    size: String,
    fastest: String,
    verdict: String,
    columns: Vec<&'static str>,
    methods: Vec<Row>,
    notes: Vec<String>,
}

/// A method's row. Lengths are in percent of the slowest method's upper end.
#[derive(Serialize)]
struct Row {
    name: String,
    about: &'static str,
    outcome: String,
    has_times: bool,
    /// As in the table for terminals, without the method.
    cells: Vec<String>,
    low: String,
    high: String,
    samples: usize,
    blocks: usize,
    bar: f64,
    reference_bar: f64,
    whisker_start: f64,
    whisker_length: f64,
}

/// The page. `environment` is the text of `environment.json`, shown as it is; empty where there is none.
pub fn html(records: &[Record], environment: &str) -> String {
    let views = CaseView::all(records);
    let form = Form::of(views.first().map(CaseView::experiment).unwrap_or_default());
    let cases: Vec<Case> = views.iter().enumerate().map(|(i, view)| case(i, view)).collect();
    let mut engine = Environment::new();
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    let cases = minijinja::Value::from(Serde(&cases));
    let Form { legend, contest, verdict_name, reference, .. } = *form;
    let (warning, earlier) = (oversubscribed(records), crate::earlier::note(records));
    let context = context! { cases, earlier, warning, environment, legend, contest, verdict_name, reference, verdicts => VERDICTS };
    let page = engine.render_str(TEMPLATE, context);
    page.expect("the template is part of the program and every test renders it")
}

fn case(i: usize, view: &CaseView) -> Case {
    let (r, form) = (view.first(), Form::of(view.experiment()));
    let upper = |r: &Record| interval(r).map(|interval| interval.2).or(r.median_s).unwrap_or(0.0);
    let longest = view.methods().filter(|r| measured(r)).map(upper).fold(0.0, f64::max);
    let reference = view.methods().find(|r| r.method == view.experiment().reference() && measured(r));
    let reference_s = reference.and_then(|r| r.median_s).unwrap_or(0.0);
    Case {
        id: format!("case-{}", i + 1),
        test: r.test.clone(),
        set: r.set.clone(),
        params: r.params.clone(),
        place: place(r),
        size: (form.size)(r),
        fastest: view.fastest(),
        verdict: (form.verdict)(view),
        columns: form.columns[1..].iter().map(|column| column.name).collect(),
        methods: view.methods().map(|record| row(form, view, record, longest, reference_s)).collect(),
        notes: view.notes(),
    }
}

fn row(form: &Form, view: &CaseView, record: &Record, longest_s: f64, reference_s: f64) -> Row {
    let text = |value: Option<f64>| value.map_or_else(String::new, units::seconds);
    let share = |time_s: f64| if longest_s > 0.0 { 100.0 * time_s / longest_s } else { 0.0 };
    let median_s = record.median_s.unwrap_or(0.0);
    let (low, _, high) = interval(record).unwrap_or((median_s, median_s, median_s));
    Row {
        name: record.method.clone(),
        about: view.experiment().method(&record.method).map_or("", |method| method.about),
        outcome: record.outcome.clone(),
        has_times: measured(record),
        cells: form.row(view, record).split_off(1),
        low: text(record.median_low_s),
        high: text(record.median_high_s),
        samples: record.n,
        blocks: record.blocks,
        bar: share(median_s),
        // Nothing is shown as overhead where a method beats the reference.
        reference_bar: share(median_s.min(reference_s)),
        whisker_start: share(low),
        whisker_length: share(high - low),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::tests::sample;

    #[test]
    fn a_page_has_every_method_its_figures_and_its_notes() {
        let page = html(&sample(), "{\"cpu\": \"<b>\"}");
        for text in
            ["wrf_x_vec", "ims=4 ime=27", "80.0 µs", "47%", "[45, 49]", "2.57 GB&#x2f;s", "time limit"]
        {
            assert!(page.contains(text), "{text} is missing");
        }
        assert!(page.contains("put_ddt wrong data: rank 1, byte 8"));
        assert!(page.contains("manual, 2.00x [1.91, 2.10] ddt") && page.contains("<td>unsteady</td>"));
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "text is escaped");
        assert!(!page.contains("http"), "the page needs nothing else");
    }

    #[test]
    fn a_page_says_that_threads_shared_cores() {
        let mut records = sample();
        assert!(!html(&records, "").contains("Oversubscribed"));
        (records[0].runnable_threads, records[0].cores) = (Some(8), Some(2));
        let page = html(&records, "");
        assert!(page.contains("Oversubscribed") && page.contains("8 runnable threads on 2 cores"), "{page}");
    }

    #[test]
    fn bars_are_shares_of_the_longest() {
        let records = sample();
        let case = case(0, &CaseView::all(&records)[0]);
        let of = |name: &str| case.methods.iter().find(|row| row.name == name).unwrap();
        assert!((of("ddt").bar - 100.0 / 1.012).abs() < 1e-9);
        assert!((of("manual").reference_bar - of("reference").bar).abs() < 1e-9);
        assert!(!of("put_ddt").has_times);
    }

    #[test]
    fn no_records_make_a_page_too() {
        assert!(html(&[], "").contains("No records"));
    }
}
