//! Descriptions of pictures, for captions and screen readers.

use super::axis::AxisUnit;
use super::data::Datum;
use super::{MarkShape, Picture, Results};
use crate::model::{Case, PairScope, Phase, Record};
use crate::report::case::measured;
use crate::report::names::{distinct, grouped, on_side, sides, work, work_names};
use crate::report::units;

pub fn caption_text(picture: &Picture, results: &Results<'_>, data: &[Datum]) -> String {
    let has_intervals = data.iter().any(|datum| datum.interval.is_some());
    let caps = if has_intervals { "An interval without a cap continues beyond the axis." } else { "" };
    let finding = match picture.shape {
        MarkShape::Points { .. } => changes(picture, data),
        MarkShape::Heat { .. } => cells(picture, data),
        MarkShape::Launches => spread(picture, data),
        MarkShape::Stack => String::new(),
        MarkShape::Bars { .. } | MarkShape::Verdicts { .. } | MarkShape::Times | MarkShape::Lines => {
            extremes(picture, data)
        }
    };
    let parts = [picture.about.to_owned(), caps.to_owned(), finding, failures(results)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Its largest and its smallest value.
fn extremes(picture: &Picture, data: &[Datum]) -> String {
    let of_measurements = || data.iter().filter(|datum| !datum.quantity.ends_with("_model"));
    let by_value = |a: &&Datum, b: &&Datum| a.value.total_cmp(&b.value);
    let (Some(least), Some(most)) = (of_measurements().min_by(by_value), of_measurements().max_by(by_value))
    else {
        return String::new();
    };
    let name = names(data);
    let describe = |datum: &Datum| format!("{}, {}", shown(picture.unit, datum.value), name(datum));
    if least == most {
        format!("It is {}.", describe(most))
    } else {
        format!("Largest: {}. Smallest: {}.", describe(most), describe(least))
    }
}

/// The number of each verdict, and the largest and smallest change.
fn changes(picture: &Picture, data: &[Datum]) -> String {
    let verdicts = distinct(data.iter().map(|datum| datum.series.as_str()));
    let count = |verdict: &&str| data.iter().filter(|datum| datum.series == **verdict).count();
    let counts: Vec<String> =
        verdicts.iter().map(|verdict| format!("{} {verdict}", count(verdict))).collect();
    format!("{} rows: {}. {}", data.len(), counts.join(", "), extremes(picture, data))
}

/// The extremes, and the number of cells without a value.
fn cells(picture: &Picture, data: &[Datum]) -> String {
    let found = extremes(picture, data);
    match super::heat::missing(data) {
        (0, _) => found,
        (missing, all) => {
            format!("{found} {missing} of {all} cells are empty: not measured, or without valid times.")
        }
    }
}

/// The method with the largest differences between launches.
fn spread(picture: &Picture, data: &[Datum]) -> String {
    let launches = data.iter().filter(|datum| datum.launch.is_some());
    let launches = grouped(launches, |datum| datum.case_and_method());
    let of = |one: &Datum| {
        let values = launches.get(&one.case_and_method()).into_iter().flatten().map(|datum| datum.value);
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (value.min(low), value.max(high)))
    };
    let all = data.iter().filter(|datum| datum.launch.is_none()).map(|datum| (datum, of(datum)));
    let widest =
        all.filter(|(_, (low, _))| *low > 0.0).max_by(|a, b| (a.1.1 / a.1.0).total_cmp(&(b.1.1 / b.1.0)));
    widest.map_or_else(String::new, |(datum, (low, high))| {
        format!(
            "Launches differ most for {}: {} to {}, {:.2} times.",
            names(data)(datum),
            shown(picture.unit, low),
            shown(picture.unit, high),
            high / low
        )
    })
}

fn shown(unit: AxisUnit, value: f64) -> String {
    match unit {
        AxisUnit::Percent => units::percent(value),
        AxisUnit::Ratio if value < 0.1 => format!("{value:.4}"),
        AxisUnit::Ratio => format!("{value:.2}"),
        AxisUnit::Seconds => units::seconds(value),
        AxisUnit::Rate => units::rate(value),
        AxisUnit::Bytes => units::bytes(value as u64),
    }
}

/// Names a mark by its method, test and side.
fn names(data: &[Datum]) -> impl Fn(&Datum) -> String {
    let cases: Vec<&Case> = distinct(data.iter().map(|datum| &*datum.case));
    let (works, sides) = (work_names(&cases), sides(cases));
    move |datum: &Datum| {
        let side = sides.iter().find(|(side, _)| on_side(&datum.case, side)).map_or("", |(_, name)| name);
        match side {
            // A mean is of several cases.
            "" => datum.method.clone(),
            side => format!("{} of {} on {side}", datum.method, works[&work(&datum.case)]),
        }
    }
}

/// Methods without times, which have no marks.
fn failures(results: &Results<'_>) -> String {
    let headline =
        |record: &&Record| record.phase == results.form.headline || record.phase == Phase::default();
    let failed = results
        .over
        .iter()
        .filter(headline)
        .filter(|record| record.pair == PairScope::All && !measured(record));
    let texts =
        distinct(failed.map(|r| format!("{} on {} ({})", r.method, r.case.mpi_label(), r.outcome.label())));
    if texts.is_empty() { String::new() } else { format!("Not shown in some tests: {}.", texts.join(", ")) }
}
