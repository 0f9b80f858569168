//! Records as one page of HTML that needs nothing else: tables, bars with intervals, the account of the run.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use super::case::{CaseView, interval, measured, place};
use super::{table, units};
use crate::methods;
use crate::record::{Phase, Record};

const TEMPLATE: &str = include_str!("report.html");

/// A case as the template wants it.
#[derive(Serialize)]
struct Case {
    id: String,
    test: String,
    set: String,
    params: String,
    place: String,
    bytes: String,
    segments: u64,
    fastest: String,
    manual_or_ddt: String,
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
    round_trip: String,
    low: String,
    high: String,
    phases: Vec<String>,
    overhead: String,
    overhead_interval: String,
    overhead_pack: String,
    rate: String,
    samples: usize,
    blocks: usize,
    bar: f64,
    reference_bar: f64,
    whisker_start: f64,
    whisker_length: f64,
}

/// The page. `environment` is the text of `environment.json`, shown as it is; empty where there is none.
pub fn html(records: &[Record], environment: &str) -> String {
    let cases: Vec<Case> = CaseView::all(records).iter().enumerate().map(|(i, view)| case(i, view)).collect();
    let mut engine = Environment::new();
    engine.set_auto_escape_callback(|_| AutoEscape::Html);
    let cases = minijinja::Value::from(Serde(&cases));
    let page = engine.render_str(TEMPLATE, context! { cases, environment, legend => table::LEGEND });
    page.expect("the template is part of the program and every test renders it")
}

fn case(i: usize, view: &CaseView) -> Case {
    let r = view.first();
    let upper = |r: &Record| interval(r).map(|interval| interval.2).or(r.median_s).unwrap_or(0.0);
    let longest = view.methods().filter(|r| measured(r)).map(upper).fold(0.0, f64::max);
    let reference = view.methods().find(|r| r.method == table::REFERENCE && measured(r));
    let reference_s = reference.and_then(|r| r.median_s).unwrap_or(0.0);
    Case {
        id: format!("case-{}", i + 1),
        test: r.test.clone(),
        set: r.set.clone(),
        params: r.params.clone(),
        place: place(r),
        bytes: units::bytes(r.bytes),
        segments: r.segments,
        fastest: view.fastest(),
        manual_or_ddt: view.manual_or_ddt(),
        methods: view.methods().map(|record| row(view, record, longest, reference_s)).collect(),
        notes: view.notes(),
    }
}

fn row(view: &CaseView, record: &Record, longest_s: f64, reference_s: f64) -> Row {
    let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
    let share = |time_s: f64| if longest_s > 0.0 { 100.0 * time_s / longest_s } else { 0.0 };
    let (has_times, median_s) = (measured(record), record.median_s.unwrap_or(0.0));
    let (low, _, high) = interval(record).unwrap_or((median_s, median_s, median_s));
    let is_reference = record.method == table::REFERENCE;
    let against = |value: Option<f64>| value.filter(|_| has_times && !is_reference);
    let end = |value: Option<f64>| text(against(value), units::percent);
    let (from, to) = (end(record.overhead_reference_low), end(record.overhead_reference_high));
    let phases = [Phase::Create, Phase::Pack, Phase::Communicate, Phase::Unpack, Phase::Free];
    Row {
        name: record.method.clone(),
        about: methods::find(&record.method).map_or("", |method| method.about),
        outcome: record.outcome.clone(),
        has_times,
        round_trip: text(record.median_s, units::seconds),
        low: text(record.median_low_s, units::seconds),
        high: text(record.median_high_s, units::seconds),
        phases: phases.map(|phase| text(view.median(&record.method, phase), units::seconds)).into(),
        overhead: end(record.overhead_reference),
        overhead_interval: if from.is_empty() { from } else { format!("{from} to {to}") },
        overhead_pack: end(record.overhead_pack),
        rate: text(record.bandwidth_bytes_per_s, units::rate),
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
            ["wrf_x_vec", "ims=4 ime=27", "80.0 µs", "47%", "45% to 49%", "2.57 GB&#x2f;s", "time limit"]
        {
            assert!(page.contains(text), "{text} is missing");
        }
        assert!(page.contains("put_ddt wrong data: rank 1, byte 8"));
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "text is escaped");
        assert!(!page.contains("http"), "the page needs nothing else");
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
