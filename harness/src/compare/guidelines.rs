//! Performance guidelines for datatypes, as comparisons within one MPI (Gropp, Hoefler, Thakur, Träff, EuroMPI 2011; numbers of
//! the guidelines as this project counts them, docs/guidelines.md): what an application may expect, and what it can write instead
//! where that is not so.

mod text;

use serde::{Deserialize, Serialize};

use super::side::packing;
use super::{Answer, Settings, Side, Subject, judge};
use crate::stats::difference::Difference;

/// Something that should not take longer than something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guideline {
    /// Its name.
    pub name: &'static str,
    /// What it says, in a line.
    pub says: &'static str,
    /// The method that should not take longer, ...
    pub method: &'static str,
    /// ... than this one, ...
    pub than: &'static str,
    /// ... or than so many times its time.
    pub factor: f64,
    /// Whether it is of packing alone.
    pub of_packing: bool,
    /// What a user can write instead.
    pub instead: &'static str,
}

impl Guideline {
    const fn new(
        name: &'static str,
        says: &'static str,
        [method, than]: [&'static str; 2],
        instead: &'static str,
    ) -> Self {
        Self { name, says, method, than, factor: 1.0, of_packing: false, instead }
    }
}

/// All of a single case. [`MONOTONY`] is of cases of several sizes.
pub const GUIDELINES: [Guideline; 10] = [
    Guideline::new(
        "D1",
        "a datatype is sent as fast as MPI_Pack packs and sends it",
        ["ddt", "mpi_pack"],
        "MPI_Pack, send, MPI_Unpack",
    ),
    Guideline::new(
        "D1 by hand",
        "a datatype is sent as fast as the application's loop packs and sends it",
        ["ddt", "manual"],
        "pack by hand",
    ),
    Guideline {
        factor: 2.0,
        of_packing: true,
        ..Guideline::new(
            "D2",
            "MPI_Pack packs at least half as fast as the application's loop",
            ["mpi_pack", "manual"],
            "pack by hand",
        )
    },
    Guideline::new(
        "D8 wrapped",
        "one of a datatype, by MPI_Type_contiguous, costs what the datatype does",
        ["ddt:wrapped", "ddt"],
        "a count, without MPI_Type_contiguous",
    ),
    Guideline::new(
        "D5",
        "a datatype is as fast as a list of its runs",
        ["ddt", "ddt:hindexed"],
        "MPI_Type_create_hindexed of the runs",
    ),
    Guideline::new(
        "D6",
        "a nested description is as fast as the flat one",
        ["ddt:nested", "ddt"],
        "the flat description",
    ),
    Guideline::new(
        "D7",
        "a datatype is as fast as a structure of its runs",
        ["ddt", "ddt:struct"],
        "MPI_Type_create_struct of the runs",
    ),
    Guideline::new(
        "D8 resized",
        "MPI_Type_create_resized with the bounds that it has costs nothing",
        ["ddt:resized", "ddt"],
        "the datatype without it",
    ),
    Guideline::new(
        "D11 send",
        "a datatype at the sender alone is as fast as at both ends",
        ["ddt_to_packed", "ddt"],
        "a datatype at the receiver as well",
    ),
    Guideline::new(
        "D11 receive",
        "a datatype at the receiver alone is as fast as at both ends",
        ["packed_to_ddt", "ddt"],
        "a datatype at the sender as well",
    ),
];

/// A smaller message of a test is as fast as the next larger one that differs in one parameter, which is larger.
pub const MONOTONY: Guideline = Guideline::new(
    "monotony",
    "a message is as fast as the next larger one that differs in one parameter",
    ["ddt", "ddt"],
    "the larger message",
);

/// The methods that guidelines hold against each other.
pub fn methods() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in GUIDELINES.iter().flat_map(|guideline| [guideline.than, guideline.method]) {
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether a guideline holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The corrected interval of the ratio lies above 1, and reaches beyond the threshold.
    Violated,
    /// Neither.
    Undecided,
    /// It ends below the threshold.
    Holds,
}

impl Standing {
    /// As tables show it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Undecided => "undecided",
            Self::Holds => "holds",
        }
    }
}

/// A guideline on a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GuidelineRow {
    /// The guideline's name.
    pub guideline: &'static str,
    /// The case, with the method that should not take longer.
    #[serde(flatten)]
    pub subject: Subject,
    /// The median over launches of its time, in seconds.
    pub time_s: f64,
    /// What it is held against: a method, or so many times a method.
    pub than: String,
    /// The same of that.
    pub than_s: f64,
    /// The time over what it should not exceed.
    pub answer: Answer,
    /// Whether it holds.
    pub standing: Standing,
    /// What a user can write instead, where it is violated.
    pub instead: &'static str,
}

/// What was found of an MPI.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// The MPI, as tables name it.
    pub mpi: String,
    /// Ranks, hosts, transport and cache.
    pub place: String,
    /// What it went by.
    pub settings: Settings,
    /// The rows, the largest violation first.
    pub rows: Vec<GuidelineRow>,
    /// What could not be held against anything, since it failed: test, method and how.
    pub failed: Vec<String>,
}

/// A question: who should not take longer than whom, by which guideline.
type GuidelineQuestion = (Guideline, Subject, Subject);

impl Findings {
    /// Holds all guidelines against the launches of an MPI. All questions together find a violation where there is none in at most
    /// [`Settings::alpha`] of cases.
    pub fn of(side: &Side, settings: &Settings) -> Self {
        let questions = questions(side);
        let asked = questions.len();
        let difference = |question: GuidelineQuestion| {
            let ratios = ratios(side, &question);
            Some((question, (Difference::of_pairs(&ratios)?, (ratios.len(), ratios.len()))))
        };
        let (questions, differences): (Vec<_>, Vec<_>) = questions.into_iter().filter_map(difference).unzip();
        let threshold = settings.threshold.ln_1p();
        let answers = judge(&differences, asked, settings.alpha, threshold);
        let mut rows: Vec<GuidelineRow> = questions
            .into_iter()
            .zip(answers)
            .map(|((guideline, subject, other), answer)| GuidelineRow {
                guideline: guideline.name,
                time_s: median(side, &subject),
                than: match guideline.factor {
                    1.0 => other.method.clone(),
                    factor => format!("{factor} times {}", other.method),
                },
                than_s: guideline.factor * median(side, &other),
                standing: standing(&answer, settings.threshold),
                instead: guideline.instead,
                subject,
                answer,
            })
            .collect();
        rows.sort_by(|a, b| a.standing.cmp(&b.standing).then(b.answer.ratio.total_cmp(&a.answer.ratio)));
        Self {
            mpi: side.name.clone(),
            place: side.place.clone(),
            settings: settings.clone(),
            rows,
            failed: failed(side),
        }
    }
}

fn failed(side: &Side) -> Vec<String> {
    let of = |subject: &Subject| {
        let failure = side.values(subject)?.failure.as_ref()?;
        Some(format!("{} {}: {failure}", subject.test, subject.method))
    };
    side.subjects().filter_map(of).collect()
}

fn standing(answer: &Answer, threshold: f64) -> Standing {
    match () {
        () if answer.low > 1.0 && answer.high > 1.0 + threshold => Standing::Violated,
        () if answer.high < 1.0 + threshold => Standing::Holds,
        () => Standing::Undecided,
    }
}

/// All that both ends were measured of.
fn questions(side: &Side) -> Vec<GuidelineQuestion> {
    let subjects: Vec<&Subject> = side.subjects().collect();
    let mut questions = Vec::new();
    for guideline in GUIDELINES {
        for subject in subjects.iter().filter(|subject| subject.method == guideline.method) {
            let name = |method: &str| if guideline.of_packing { packing(method) } else { method.to_owned() };
            let (mine, other) = (subject.with(&name(guideline.method)), subject.with(&name(guideline.than)));
            if side.values(&mine).is_some() && side.values(&other).is_some() {
                questions.push((guideline, mine, other));
            }
        }
    }
    let mut of_sizes: Vec<(&Subject, u64)> = subjects
        .iter()
        .filter(|subject| subject.method == MONOTONY.method)
        .filter_map(|subject| Some((*subject, side.values(subject)?.bytes)))
        .collect();
    let family = |subject: &Subject| {
        (subject.experiment.clone(), subject.test.clone(), subject.ranks, subject.cache.name())
    };
    of_sizes.sort_by_key(|(subject, bytes)| (family(subject), *bytes));
    for pair in of_sizes.windows(2) {
        let [(smaller, bytes), (larger, more)] = [pair[0], pair[1]];
        if family(smaller) == family(larger) && bytes < more && grows_in_one(&smaller.params, &larger.params)
        {
            questions.push((MONOTONY, smaller.clone(), larger.clone()));
        }
    }
    questions
}

/// Whether the second values are the first but for one that is a larger number.
fn grows_in_one(first: &str, second: &str) -> bool {
    let differ: Vec<(&str, &str)> =
        first.split(' ').zip(second.split(' ')).filter(|(one, other)| one != other).collect();
    let number = |pair: &str| pair.split_once('=').and_then(|(_, value)| value.parse::<f64>().ok());
    match differ.as_slice() {
        [(one, other)] => number(one) < number(other),
        _ => false,
    }
}

/// Logarithms of the ratios, launch by launch, less that of the factor.
fn ratios(side: &Side, (guideline, mine, other): &GuidelineQuestion) -> Vec<f64> {
    let (Some(mine), Some(other)) = (side.values(mine), side.values(other)) else { return Vec::new() };
    let ratio = |(number, time): (_, &f64)| Some(time - other.times.get(number)? - guideline.factor.ln());
    mine.times.iter().filter_map(ratio).collect()
}

fn median(side: &Side, subject: &Subject) -> f64 {
    let times = side.values(subject).map(|values| crate::stats::sorted(values.times.values().copied()));
    times.and_then(|times| crate::stats::median(&times)).map_or(0.0, f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::ComparisonUnit;
    use crate::compare::made::record;
    use crate::model::Record;

    /// Six launches of each method, whose times differ by little from launch to launch.
    fn side(times: &[(&'static str, f64)]) -> Side {
        let launches = |&(method, time): &(&'static str, f64)| {
            (0..6).map(move |launch| record("a", launch, method, time * (1.0 + 0.002 * (launch % 3) as f64)))
        };
        let records: Vec<Record> = times.iter().flat_map(launches).collect();
        Side::of("mine", &records, ComparisonUnit::Launch)
    }

    fn standings(times: &[(&'static str, f64)]) -> Vec<(&'static str, Standing)> {
        let findings = Findings::of(&side(times), &Settings::default());
        findings.rows.iter().map(|row| (row.guideline, row.standing)).collect()
    }

    #[test]
    fn a_guideline_is_violated_where_a_user_would_do_better_otherwise() {
        let slow = [("ddt", 20.0), ("mpi_pack", 2.0), ("manual", 1.0), ("ddt:hindexed", 20.1)];
        let expected =
            [("D1 by hand", Standing::Violated), ("D1", Standing::Violated), ("D5", Standing::Holds)];
        assert_eq!(standings(&slow), expected);
        let fast = [("ddt", 1.0), ("mpi_pack", 2.0)];
        assert_eq!(standings(&fast), [("D1", Standing::Holds)]);
        let findings = Findings::of(&side(&slow), &Settings::default());
        let worst = &findings.rows[0];
        assert_eq!((worst.instead, worst.than.as_str()), ("pack by hand", "manual"));
        assert!((worst.answer.ratio - 20.0).abs() < 0.1 && worst.answer.low > 19.0, "{worst:?}");
    }

    #[test]
    fn noise_decides_nothing() {
        let noisy = |method, scale: [f64; 6]| {
            scale.into_iter().enumerate().map(move |(launch, time)| record("a", launch, method, time))
        };
        let records: Vec<Record> = noisy("ddt", [1.0, 2.0, 0.5, 1.5, 0.7, 1.2])
            .chain(noisy("mpi_pack", [1.0, 0.9, 1.1, 1.0, 1.05, 0.95]))
            .collect();
        let findings = Findings::of(&Side::of("x", &records, ComparisonUnit::Launch), &Settings::default());
        assert_eq!(findings.rows[0].standing, Standing::Undecided);
        assert!(
            Findings::of(&Side::of("x", &records[..2], ComparisonUnit::Launch), &Settings::default())
                .rows
                .is_empty()
        );
    }

    #[test]
    fn sizes_are_compared_where_one_parameter_grows() {
        assert!(grows_in_one("nx=8 ny=64", "nx=8 ny=128"));
        assert!(!grows_in_one("count=128 blocklength=1", "count=64 blocklength=8"), "another layout");
        assert!(!grows_in_one("nx=8 ny=64", "nx=4 ny=64") && !grows_in_one("n=8", "n=8"));
    }

    #[test]
    fn what_failed_is_told() {
        let failed =
            Record { median_s: None, outcome: "wrong data".to_owned(), ..record("a", 0, "ddt", 1.0) };
        let findings = Findings::of(&Side::of("x", &[failed], ComparisonUnit::Launch), &Settings::default());
        assert!(findings.rows.is_empty() && findings.failed[0].ends_with("ddt: wrong data"), "{findings:?}");
    }

    #[test]
    fn every_method_of_a_guideline_is_one_of_ping_pongs() {
        for method in methods() {
            assert!(crate::experiments::pingpong::KIND.method(&method).is_ok(), "{method}");
        }
    }
}
