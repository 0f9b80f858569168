//! Which of two methods is faster, as text, from the ratio of their times in the same rounds.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::names::distinct;
use super::ratio;
use crate::model::{Case, Figure, LOOPS, Record};

/// A method's time relative to a base, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against<'a> {
    pub name: &'a str,
    /// Above 1 the base is faster.
    pub value: f64,
    /// Lower end of the 95% interval.
    pub low: f64,
    pub high: f64,
    /// Whether it differed between the first and the second half of the run.
    pub unsteady: bool,
}

impl<'a> Against<'a> {
    /// From a figure of a record; `None` if that has no interval.
    pub fn from_record(record: &'a Record, figure: Option<&Figure>) -> Option<Self> {
        let figure = figure?;
        let ((low, high), unsteady) = (figure.interval()?, figure.unsteady.unwrap_or(false));
        Some(Self { name: &record.method, value: figure.value?, low, high, unsteady })
    }

    /// The base's time relative to the method's.
    pub fn inverse(self) -> Self {
        Self { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low, ..self }
    }

    /// Example: `1.19x [1.15, 1.23]`.
    pub fn text(self) -> String {
        ratio::text(self.value, "x", (self.low, self.high), |value| format!("{value:.2}"))
    }
}

/// Minimum ratio for calling a method faster: a smaller one does not show in two digits, and is irrelevant.
pub const FASTER: f64 = 1.005;

/// The same for means, which vary more: `compare` also uses this threshold.
const MEAN_FASTER: f64 = 1.05;

/// The reason if the ratio differed between the first and the second half of the run.
pub const UNSTEADY: &str = "unsteady";

named! {
    /// The result of a comparison of two sides or methods, with its text. A gate depends on `Estimate::beyond` too.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Verdict {
        /// Works on the base, fails on the other side.
        Broken = "broken",
        /// Shown to take longer, and not shown to be within the threshold.
        Slower = "slower",
        /// Not faster by more than the threshold; more launches may show whether it is slower.
        SameOrSlower = "same or slower",
        /// Shown to take less time, and not shown to be within the threshold.
        Faster = "faster",
        /// Fails on the base, works on the other side.
        Repaired = "repaired",
        /// None of the others is shown; more launches may show one.
        #[default]
        Undecided = "undecided",
        /// Not slower by more than the threshold; more launches may show whether it is faster.
        SameOrFaster = "same or faster",
        /// Any change is shown to be within the threshold.
        Same = "same",
        /// Fails on both sides, or was measured only on one.
        NotCompared = "not compared",
    }
}

impl Verdict {
    /// Whether it is a change.
    pub const fn is_change(self) -> bool {
        matches!(self, Self::Slower | Self::Faster)
    }

    /// The verdict that an interval from `low` to `high` shows; all are logarithms.
    pub fn of_interval(low: f64, high: f64, threshold: f64) -> Self {
        match () {
            () if -threshold < low && high < threshold => Self::Same,
            () if low > 0.0 => Self::Slower,
            () if high < 0.0 => Self::Faster,
            () if -threshold < low => Self::SameOrSlower,
            () if high < threshold => Self::SameOrFaster,
            () => Self::Undecided,
        }
    }

    /// The ratios that agree with it, if it is final; `threshold` is a logarithm.
    pub fn ratios(self, threshold: f64) -> (f64, f64) {
        let (least, most) = ((-threshold).exp(), threshold.exp());
        match self {
            Self::Slower => (most, f64::INFINITY),
            Self::Faster => (0.0, least),
            Self::Same => (least, most),
            _ => (0.0, f64::INFINITY),
        }
    }
}

/// A claim about two or more methods.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim<'a> {
    /// One method is faster: the interval of their ratio is above 1.
    Faster {
        faster: &'a str,
        slower: &'a str,
        /// How many times as fast, with both ends of the interval.
        times: (f64, f64, f64),
    },
    /// The medians give one result, but by the means another method is shown to be faster.
    MeanDiffers {
        /// The claim of the medians.
        median: Box<Self>,
        /// The faster by the mean.
        faster: &'a str,
        /// The slower by the mean.
        slower: &'a str,
        /// How many times as fast, with both ends of the interval.
        times: (f64, f64, f64),
    },
    /// Hand-written loops that compare differently with another method: the claim of each.
    OfLoops(Vec<Claim<'a>>),
    /// The result of a case's only method, or of each of its methods.
    Diagnosis {
        /// Methods with the same result, and the result in the terms of their kind.
        of: Vec<(Vec<&'a str>, String)>,
        /// The basis.
        detail: String,
    },
    /// None of them is shown to be faster.
    Open {
        /// Undecided, or not compared.
        verdict: Verdict,
        /// The methods; empty for no particular one.
        names: Vec<&'a str>,
        /// Why; empty if the interval of their ratio includes 1, or nearly so.
        why: String,
    },
}

impl<'a> Claim<'a> {
    /// From the ratio of a method's time to that of `base`.
    pub fn from_ratio(ratio: Against<'a>, base: &'a str) -> Self {
        let times = (ratio.value, ratio.low, ratio.high);
        match ratio {
            _ if ratio.unsteady => Self::undecided(vec![ratio.name, base], UNSTEADY),
            _ if ratio.low > FASTER => Self::Faster { faster: base, slower: ratio.name, times },
            _ if ratio.high < 1.0 / FASTER => {
                let turned = ratio.inverse();
                let times = (turned.value, turned.low, turned.high);
                Self::Faster { faster: ratio.name, slower: base, times }
            }
            _ => Self::undecided(vec![ratio.name, base], ""),
        }
    }

    /// That it is undecided which of these methods is faster.
    pub fn undecided(names: Vec<&'a str>, why: &str) -> Self {
        Self::Open { verdict: Verdict::Undecided, names, why: why.to_owned() }
    }

    /// That methods are not compared.
    pub fn not_compared(why: impl Into<String>) -> Self {
        Self::Open { verdict: Verdict::NotCompared, names: Vec::new(), why: why.into() }
    }

    /// Whether methods were compared: one is faster, or the interval of their ratio includes 1.
    pub fn is_compared(&self) -> bool {
        matches!(self, Self::Faster { .. }) || matches!(self, Self::Open { why, .. } if why.is_empty())
    }

    /// The verdict if none is faster, with the reason: `undecided, unsteady`.
    pub fn open_text(&self) -> Option<String> {
        let Self::Open { verdict, why, .. } = self else { return None };
        Some(if why.is_empty() { verdict.name().to_owned() } else { format!("{}, {why}", verdict.name()) })
    }

    /// The same, unless the means of the two methods contradict it: a method that is not the faster one has the smaller mean.
    pub fn unless_mean_differs(self, mean: Option<Against<'a>>, base: &'a str) -> Self {
        let winner = self.winner().map(|(faster, ..)| faster);
        let is_faster = |name: &str| winner == Some(name);
        match mean.map(|mean| Self::from_ratio(mean, base)).filter(|_| self.is_compared()) {
            Some(Self::Faster { faster, slower, times }) if times.1 >= MEAN_FASTER && !is_faster(faster) => {
                Self::MeanDiffers { median: Box::new(self), faster, slower, times }
            }
            _ => self,
        }
    }

    /// The faster and the slower method, and the ratio. `None` without such a pair.
    pub fn winner(&self) -> Option<(&'a str, &'a str, (f64, f64, f64))> {
        match self {
            Self::Faster { faster, slower, times } => Some((faster, slower, *times)),
            _ => None,
        }
    }

    /// The methods that may be the fastest.
    pub fn candidates(&self) -> Vec<&'a str> {
        match self {
            Self::Faster { faster, .. } => vec![*faster],
            Self::Open { names, .. } => names.clone(),
            Self::MeanDiffers { median, faster, .. } => {
                distinct(median.candidates().into_iter().chain([*faster]))
            }
            Self::OfLoops(_) | Self::Diagnosis { .. } => Vec::new(),
        }
    }

    /// The claims of two loops about one other method, or of several methods: the claims themselves if they agree.
    pub fn of_loops(claims: Vec<Self>) -> Vec<Self> {
        fn by_median<'b, 'a>(claim: &'b Claim<'a>) -> &'b Claim<'a> {
            if let Claim::MeanDiffers { median, .. } = claim { median } else { claim }
        }
        let loops_win = |claim: &Self| claim.winner().map(|(faster, ..)| LOOPS.contains(&faster));
        let sides: Vec<_> =
            claims.iter().map(by_median).filter(|claim| claim.is_compared()).map(loops_win).collect();
        match sides.windows(2).any(|two| two[0] != two[1]) {
            true => vec![Self::OfLoops(claims)],
            false => claims,
        }
    }

    /// The result in one cell, if one is faster with its interval: `manual 30.3x [30.2, 30.5]`.
    pub fn cell_text(&self) -> String {
        match self {
            Self::Faster { faster, times, .. } => {
                format!("{faster} {}", times_text(*times).replacen(' ', "x ", 1))
            }
            Self::MeanDiffers { median, faster, .. } => {
                let by_median = median.winner().map_or(Verdict::Undecided.name(), |(faster, ..)| faster);
                format!("{by_median} by the median, {faster} by the mean")
            }
            Self::OfLoops(_) => "depends on the loop".to_owned(),
            Self::Diagnosis { .. } => self.text(),
            Self::Open { .. } => self.open_text().unwrap_or_default(),
        }
    }

    /// The result without its interval: `manual 30.3x`.
    pub fn shortest_text(&self) -> String {
        match self {
            Self::Faster { faster, times, .. } => {
                let text = times_text(*times);
                format!("{faster} {}x", text.split(' ').next().unwrap_or_default())
            }
            Self::MeanDiffers { .. } => "mean disagrees".to_owned(),
            Self::OfLoops(_) => self.cell_text(),
            Self::Diagnosis { of, .. } => Self::Diagnosis { of: of.clone(), detail: String::new() }.text(),
            Self::Open { verdict, .. } => verdict.name().to_owned(),
        }
    }

    /// A sentence without its full stop.
    pub fn text(&self) -> String {
        match self {
            Self::OfLoops(claims) => {
                let texts: Vec<String> = claims.iter().map(Claim::text).collect();
                format!("depends on the loop: {}", texts.join("; "))
            }
            Self::Faster { faster, slower, times } => {
                format!("{faster} is {} times as fast as {slower}", times_text(*times))
            }
            Self::MeanDiffers { median, faster, slower, times } => format!(
                "{}, but by the mean {faster} is {} times as fast as {slower}",
                median.text(),
                times_text(*times)
            ),
            Self::Diagnosis { of, detail } => {
                let of_methods = |(methods, what): &(Vec<&str>, String)| match of.len() {
                    1 => what.clone(),
                    _ => format!("{}: {what}", methods.join(", ")),
                };
                let what = of.iter().map(of_methods).collect::<Vec<_>>().join("; ");
                if detail.is_empty() { what } else { format!("{what} ({detail})") }
            }
            Self::Open { names, .. } => {
                let names = names.join(", ");
                let parts = [self.open_text().unwrap_or_default(), names].into_iter();
                parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
            }
        }
    }
}

/// The distance of the cores, or of the hosts: `cores 30 ns apart`.
pub fn apart(case: &Case, latency_s: f64) -> String {
    format!("{} {} apart", places(case), short(latency_s))
}

/// The places between which messages are sent.
pub fn places(case: &Case) -> &'static str {
    if case.hosts > 1 { "hosts" } else { "cores" }
}

/// A latency in two or three digits, which do not change between launches.
pub fn short(latency_s: f64) -> String {
    if latency_s < 999.5e-9 {
        format!("{:.0} ns", 1e9 * latency_s)
    } else {
        format!("{:.1} µs", 1e6 * latency_s)
    }
}

/// The result of each method, and how often; methods with the same result are joined, and a single method is not named.
pub fn diagnoses(claims: &[Claim]) -> Vec<String> {
    let mut of_methods: IndexMap<&str, IndexMap<&str, usize>> = IndexMap::new();
    for claim in claims {
        let Claim::Diagnosis { of, .. } = claim else { continue };
        for (methods, what) in of {
            for method in methods {
                *of_methods.entry(method).or_default().entry(what).or_default() += 1;
            }
        }
    }
    let is_only = of_methods.len() == 1;
    let mut shared: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (method, mut counts) in of_methods {
        let of: usize = counts.values().sum();
        // The most frequent one is first, with the total number.
        counts.sort_by(|_, a, _, b| b.cmp(a));
        let each = counts.iter().enumerate().map(|(place, (what, count))| match place {
            0 => format!("{what} in {count} of {of}"),
            _ => format!("{what} in {count}"),
        });
        shared.entry(each.collect::<Vec<_>>().join(", ")).or_default().push(method);
    }
    shared
        .into_iter()
        .map(|(what, methods)| if is_only { what } else { format!("{}: {what}", methods.join(", ")) })
        .collect()
}

/// A factor with both ends of its interval: `1.19 [1.15, 1.23]`, all with the digits for the first.
pub fn times_text((value, low, high): (f64, f64, f64)) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    ratio::text(value, "", (low, high), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Quantity;

    #[test]
    fn a_claim_names_the_faster_first_and_claims_nothing_of_an_interval_that_holds_1() {
        let against = |value, low, high| Against { name: "ddt", value, low, high, unsteady: false };
        let text = |against| Claim::from_ratio(against, "manual").text();
        assert_eq!(text(against(19.53, 19.1, 19.9)), "manual is 19.5 [19.1, 19.9] times as fast as ddt");
        assert_eq!(text(against(0.5, 0.4, 0.8)), "ddt is 2.00 [1.25, 2.50] times as fast as manual");
        assert_eq!(text(against(1.1, 0.9, 1.3)), "undecided: ddt, manual");
        assert_eq!(text(against(1.004, 1.002, 1.2)), "undecided: ddt, manual");
        let moved = Against { unsteady: true, ..against(2.0, 1.9, 2.1) };
        assert_eq!(text(moved), "undecided, unsteady: ddt, manual");
        assert_eq!(times_text((143.4, 99.0, 201.0)), "143 [99, 201]");
    }

    #[test]
    fn a_claim_that_means_contradict_reports_both() {
        let against = |value, low, high| Against { name: "ddt", value, low, high, unsteady: false };
        let (faster, equal, slower) =
            (against(0.2, 0.1, 0.25), against(1.0, 0.9, 1.1), against(24.0, 20.0, 30.0));
        let text =
            |median, mean| Claim::from_ratio(median, "manual").unless_mean_differs(mean, "manual").text();
        assert_eq!(
            text(faster, Some(slower)),
            "ddt is 5.00 [4.00, 10.00] times as fast as manual, but by the mean manual is 24.0 [20.0, 30.0] times as fast as ddt"
        );
        let both = "undecided: ddt, manual, but by the mean manual is 24.0 [20.0, 30.0] times as fast as ddt";
        assert_eq!(text(equal, Some(slower)), both);
        let alone = |median| Claim::from_ratio(median, "manual").text();
        let little = against(1.06, 1.04, 1.08);
        for mean in [None, Some(faster), Some(equal), Some(little)] {
            assert_eq!(text(faster, mean), alone(faster));
        }
        let unsteady = Against { unsteady: true, ..slower };
        assert_eq!(text(faster, Some(unsteady)), alone(faster));
        assert_eq!(text(unsteady, Some(slower)), alone(unsteady));
    }

    #[test]
    fn loops_on_different_sides_of_a_datatype_are_no_verdict() {
        let faster = |faster, slower| Claim::Faster { faster, slower, times: (1.5, 1.4, 1.6) };
        let (plain, tuned) = (faster("ddt", "manual"), faster("manual_tuned", "ddt"));
        let [claim] = &Claim::of_loops(vec![plain.clone(), tuned])[..] else { panic!("one claim") };
        let expected = "depends on the loop: ddt is 1.50 [1.40, 1.60] times as fast as manual; \
                        manual_tuned is 1.50 [1.40, 1.60] times as fast as ddt";
        assert_eq!((claim.text().as_str(), claim.winner()), (expected, None));
        let level = Claim::undecided(vec!["ddt", "manual_tuned"], "");
        assert_eq!(Claim::of_loops(vec![plain.clone(), level]).len(), 1, "one is not shown to differ");
        let both = vec![plain.clone(), faster("ddt", "manual_tuned")];
        assert_eq!(Claim::of_loops(both.clone()), both);
        // If the medians disagree about the loops, they decide, even if the mean contradicts one of them.
        let mean = Against { name: "ddt", value: 2.0, low: 1.8, high: 2.2, unsteady: false };
        let contradicted = plain.clone().unless_mean_differs(Some(mean), "manual");
        assert!(matches!(contradicted, Claim::MeanDiffers { .. }), "{contradicted:?}");
        let claims = Claim::of_loops(vec![contradicted.clone(), faster("manual_tuned", "ddt")]);
        assert!(matches!(&claims[..], [Claim::OfLoops(of)] if of.len() == 2), "{claims:?}");
        assert_eq!(Claim::of_loops(vec![contradicted, faster("ddt", "manual_tuned")]).len(), 2);
    }

    #[test]
    fn diagnoses_are_counted_for_each_method() {
        let claim = |of: &[(&[&'static str], &str)]| Claim::Diagnosis {
            of: of.iter().map(|(methods, what)| (methods.to_vec(), (*what).to_owned())).collect(),
            detail: String::new(),
        };
        let claims = [
            claim(&[(&["reference", "manual"], "overlapped"), (&["ddt"], "no progression")]),
            claim(&[(&["reference", "manual", "ddt"], "no progression")]),
            claim(&[(&["ddt"], "no progression"), (&["reference", "manual"], "overlapped")]),
        ];
        let expected =
            ["reference, manual: overlapped in 2 of 3, no progression in 1", "ddt: no progression in 3 of 3"];
        assert_eq!(diagnoses(&claims), expected);
        let alone = [claim(&[(&["nonblocking"], "overlapped")]), claim(&[(&["nonblocking"], "overlapped")])];
        assert_eq!(diagnoses(&alone), ["overlapped in 2 of 2"]);
        assert_eq!(claims[0].text(), "reference, manual: overlapped; ddt: no progression");
        assert_eq!(claims[1].text(), "no progression");
    }

    #[test]
    fn a_ratio_turned_around_has_its_ends_turned_around() {
        let ratio = Figure::with_interval(Quantity::TimeOver, 0.5, (0.4, 0.8)).against("manual");
        let ratio = Figure { unsteady: Some(true), ..ratio };
        let mut record = Record { method: "ddt".into(), figures: vec![ratio], ..Record::default() };
        let against = Against::from_record(&record, record.over("manual")).unwrap();
        assert_eq!((against.name, against.unsteady), ("ddt", true));
        assert_eq!(against.inverse().text(), "2.00x [1.25, 2.50]");
        assert_eq!(Against::from_record(&record, None), None);
        record.figures[0].high = None;
        assert_eq!(
            Against::from_record(&record, record.over("manual")),
            None,
            "no ratio stands without its interval"
        );
    }
}
