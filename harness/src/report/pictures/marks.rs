//! The marks of each picture, made of records.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;

use super::Results;
use super::data::Datum;
use crate::model::{Case, FigureUnit, LOOP, MANUAL, OWN, PairScope, Phase, Quantity, Record};
use crate::report::case::{CaseView, measured};
use crate::report::state;
use crate::report::verdict::{Against, Claim, Verdict};

impl<'a> Results<'a> {
    /// The records of all pairs together with usable times.
    fn usable(&self) -> impl Iterator<Item = &'a Record> + use<'a> {
        self.over.iter().filter(|record| record.pair == PairScope::All && measured(record))
    }

    /// Those of the headline phase.
    fn headlines(&self) -> impl Iterator<Item = &'a Record> + use<'a> {
        let headline = self.form.headline;
        self.usable().filter(move |record| record.phase == headline)
    }

    /// The records whose marks a picture has.
    pub fn records(&self, marks: Marks) -> &'a [Record] {
        match marks {
            Marks::DatatypeOrLoops | Marks::Changes | Marks::GeometricMean | Marks::Launches => self.all,
            _ => self.over,
        }
    }

    fn goes_from_arrays_to_arrays(&self, record: &Record) -> bool {
        (self.form.method)(&record.method).is_none_or(|method| method.array_to_array)
    }

    pub fn is_reference(&self, method: &str) -> bool {
        method == self.form.reference_method
            || (self.form.method)(method).is_some_and(|method| method.is_reference)
    }

    /// Whether it is the reference of the kind, or of one of the run's methods.
    fn is_compared_with(&self, name: &str) -> bool {
        let reference = |record: &Record| (self.form.method)(&record.method)?.reference;
        name == self.form.reference_method || self.over.iter().any(|record| reference(record) == Some(name))
    }

    /// A figure of the headline phase, with its record.
    fn figures(&self, quantity: Quantity) -> impl Iterator<Item = (&'a Record, Datum)> + use<'a> {
        let of = move |record: &'a Record| Some((record, Datum::figure(record, record.figure(quantity)?)?));
        self.headlines().filter_map(of)
    }
}

/// The source of a picture's marks.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marks {
    /// A figure of every method.
    Figure(Quantity),
    /// The datatype relative to hand-written loops, in each state of the machine, if there are few cases.
    DatatypeOrLoops,
    /// The changes of a comparison; if there are many, only those with a difference.
    Changes,
    GeometricMean,
    /// The pack overhead of what goes from arrays to arrays, against the reference of the kind.
    Overhead,
    /// The same relative to the reference of one-sided methods.
    OverheadPut,
    /// The parts of a method's time.
    Phases,
    /// The time of the headline phase.
    Times,
    /// The same for each launch, if there are several, and over them.
    Launches,
    /// The times of methods that an application could use, and of their references.
    ComparedTimes,
    /// Payload per second of the same methods.
    ComparedBandwidths,
    /// Payload per second.
    Bandwidths,
    GainAndModel,
    /// The time of each method that an application could use, relative to the hand-written loops.
    OverManual,
    /// The hidden fraction of a communication, for cases that are not cells of a grid.
    Hidden,
    /// The time of packing or unpacking relative to the engine's, of compared methods.
    OverEngine(Phase),
}

/// The quantity of marks that are means of an MPI.
pub const GEOMETRIC_MEAN: &str = "geometric_mean";

/// Marks up to which those without a change are shown as well.
const MOST_CHANGES: usize = 48;

impl Marks {
    /// The marks of a run; empty if it lacks the data.
    pub fn data_of(self, results: &Results<'_>) -> Vec<Datum> {
        // Methods that an application could use, and their references.
        let is_compared = |record: &Record| {
            results.goes_from_arrays_to_arrays(record) || results.is_compared_with(&record.method)
        };
        let of_figures = |quantity: Quantity, is_shown: &dyn Fn(&Record, &Datum) -> bool| {
            let of = results.figures(quantity).filter(|(record, datum)| is_shown(record, datum));
            of.map(|(_, datum)| datum).collect()
        };
        let overhead = |is_own: bool| {
            of_figures(Quantity::OverheadReference, &|record, datum| {
                let is_of_kind = datum.against == results.form.reference_method;
                results.goes_from_arrays_to_arrays(record) && is_of_kind == is_own
            })
        };
        match self {
            Self::Figure(quantity) => of_figures(quantity, &|_, _| true),
            Self::Changes => {
                let are_few = results.changes.len() <= MOST_CHANGES;
                let is_change = |datum: &&Datum| datum.quantity != GEOMETRIC_MEAN;
                let is_shown = |datum: &&Datum| is_change(datum) && (are_few || datum.series != "same");
                results.changes.iter().filter(is_shown).cloned().collect()
            }
            Self::DatatypeOrLoops => datatype_or_loops(results),
            Self::GeometricMean => {
                results.changes.iter().filter(|datum| datum.quantity == GEOMETRIC_MEAN).cloned().collect()
            }
            Self::Overhead => overhead(true),
            Self::OverheadPut => overhead(false),
            Self::Phases => phases(results),
            Self::Times => times(results),
            Self::Launches => launches(&Results { over: results.records(self), ..*results }),
            Self::ComparedTimes => {
                results.headlines().filter(|record| is_compared(record)).filter_map(Datum::median).collect()
            }
            Self::ComparedBandwidths => bandwidths(results, is_compared),
            Self::Bandwidths => bandwidths(results, |_| true),
            Self::GainAndModel => {
                let of = [Quantity::Gain, Quantity::GainModel];
                of.iter().flat_map(|quantity| results.figures(*quantity)).map(|(_, datum)| datum).collect()
            }
            Self::OverManual => {
                let of = results.headlines().filter(|record| results.goes_from_arrays_to_arrays(record));
                of.filter_map(|record| Datum::figure(record, record.over("manual")?)).collect()
            }
            Self::Hidden => {
                of_figures(Quantity::Hidden, &|record, _| !record.case.params.contains("communication_us="))
            }
            Self::OverEngine(phase) => over_engine(results, phase),
        }
    }
}

/// The time of the datatype relative to the user's loop, the application's, or that of a layout; empty if
/// there are too many cases of an MPI, each of which has its own panel.
fn datatype_or_loops(results: &Results<'_>) -> Vec<Datum> {
    let cases = CaseView::all(results.form, results.all);
    let mark = |case: &CaseView| {
        let ddt = case.methods().find(|record| record.method == "ddt" && measured(record))?;
        let ratio = [OWN, MANUAL, LOOP].into_iter().find_map(|name| ddt.over(name))?;
        let claim = Claim::from_ratio(Against::from_record(ddt, Some(ratio))?, "loops");
        let verdict = match claim.winner() {
            Some(("ddt", ..)) => Verdict::Faster,
            Some(_) => Verdict::Slower,
            None => Verdict::Undecided,
        };
        let (y_name, y) = ("state".to_owned(), case.state().map(str::to_owned));
        Some(Datum { series: verdict.name().to_owned(), y_name, y, ..Datum::figure(ddt, ratio)? })
    };
    let marks: Vec<Datum> = cases.iter().filter_map(mark).collect();
    let most = MOST_CHANGES * Record::mpis(results.all).len();
    if marks.len() > most { Vec::new() } else { marks }
}

/// The parts of a method's time: creation, the origin's packing and unpacking (doubled), and the rest of the
/// communication. A method without explicit packing has only communication.
fn phases(results: &Results<'_>) -> Vec<Datum> {
    let mut data = Vec::new();
    let known: HashMap<_, &Record> = results
        .usable()
        .map(|record| ((&record.case, record.method.as_str(), record.phase), record))
        .collect();
    let shown = |record: &&Record| {
        results.goes_from_arrays_to_arrays(record) || record.method == results.form.reference_method
    };
    for headline in results.headlines().filter(shown) {
        let of = |phase: Phase| known.get(&(&headline.case, headline.method.as_str(), phase)).copied();
        let mut part = |record: Option<&Record>, quantity: &str, times: f64| {
            data.extend(
                record.and_then(|r| Some(Datum::new(r, quantity, times * r.median_s?, FigureUnit::S))),
            );
        };
        let (create, pack, unpack) = (of(Phase::Create), of(Phase::Pack), of(Phase::Unpack));
        part(create, "create", 1.0);
        if pack.is_some() || unpack.is_some() {
            part(pack, "pack_doubled", 2.0);
            part(of(Phase::Net), "net", 1.0);
            part(unpack, "unpack_doubled", 2.0);
        } else {
            let is_contiguous = results.is_reference(&headline.method);
            let whole = of(Phase::Communicate).filter(|_| !is_contiguous).unwrap_or(headline);
            part(Some(whole), whole.phase.name(), 1.0);
        }
    }
    data
}

/// The time of the headline phase.
fn times(results: &Results<'_>) -> Vec<Datum> {
    results.headlines().filter_map(Datum::median).collect()
}

/// The same for each launch, if there are several, and over them. Each state of the machine is a side.
fn launches(results: &Results<'_>) -> Vec<Datum> {
    let states = state::names(results.over);
    let in_state = |record: &Record| match states.get(&state::of_run(record)) {
        Some(state) if states.len() > 1 => {
            let mpi = format!("{}, {state}", record.case.mpi_label());
            Case { mpi, mpi_variant: String::new(), ..(*record.case).clone() }.into()
        }
        _ => record.case.clone(),
    };
    let median = |record: &Record| Some(Datum { case: in_state(record), ..Datum::median(record)? });
    // If one launch moved wrong bytes, the others have no points.
    let wrong: HashSet<(&Arc<Case>, &str)> = results
        .over
        .iter()
        .filter(|record| record.outcome.is_wrong())
        .map(|record| (&record.case, record.method.as_str()))
        .collect();
    let of = |record: &&Record| {
        record.pair == PairScope::All
            && record.phase == results.form.headline
            && measured(record)
            && !wrong.contains(&(&record.case, record.method.as_str()))
    };
    let points: Vec<&Record> = results.launches.iter().filter(of).collect();
    let mut counts: HashMap<(&Arc<Case>, &str), usize> = HashMap::new();
    for point in &points {
        *counts.entry((&point.case, point.method.as_str())).or_default() += 1;
    }
    let has_several =
        |record: &&Record| counts.get(&(&record.case, record.method.as_str())).is_some_and(|n| *n > 1);
    // The interval within a launch does not apply to others.
    let alone = |datum: Datum| Datum { interval: None, ..datum };
    let of_launches = points.iter().copied().filter(has_several).filter_map(median).map(alone);
    // States of records over launches are in order.
    results.headlines().filter(has_several).filter_map(median).chain(of_launches).collect()
}

/// Bandwidths with intervals: those of bytes divided by a time have the inverted ends of the time's interval;
/// sums over pairs have none.
fn bandwidths(results: &Results<'_>, is_shown: impl Fn(&Record) -> bool) -> Vec<Datum> {
    let of_pairs = results.over.iter().filter(|record| record.pair != PairScope::All);
    let several: HashSet<(&Arc<Case>, &str)> =
        of_pairs.map(|record| (&record.case, record.method.as_str())).collect();
    let with_interval = |(record, datum): (&Record, Datum)| {
        let ends = record.median_low_s.zip(record.median_high_s);
        let ends = ends.filter(|_| !several.contains(&(&record.case, record.method.as_str())));
        let turned = record.median_s.zip(ends);
        let turned = turned.map(|(t, (low, high))| (datum.value * t / high, datum.value * t / low));
        Datum { interval: datum.interval.or(turned), ..datum }
    };
    results.figures(Quantity::Bandwidth).filter(|(record, _)| is_shown(record)).map(with_interval).collect()
}

/// The time of packing or unpacking relative to the engine's, of compared methods.
fn over_engine(results: &Results<'_>, phase: Phase) -> Vec<Datum> {
    let of = results.usable().filter(|record| record.phase == phase);
    let of = of.filter(|record| results.goes_from_arrays_to_arrays(record));
    let ratio = |record: &Record| {
        let datum = Datum::figure(record, record.over("engine")?)?;
        Some(Datum { quantity: format!("{}_{}", phase.name(), datum.quantity), ..datum })
    };
    of.filter_map(ratio).collect()
}
