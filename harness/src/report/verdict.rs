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
        /// A device's driver makes more copies for a message. They are counted, so no interval is needed.
        MoreCopies = "more copies",
        /// Shown to take longer, and not shown to be within the threshold.
        Slower = "slower",
        /// Not faster by more than the threshold; more launches may show whether it is slower.
        SameOrSlower = "same or slower",
        /// Shown to take less time, and not shown to be within the threshold.
        Faster = "faster",
        /// Fails on the base, works on the other side.
        Repaired = "repaired",
        /// A device's driver makes fewer copies for a message; times were not measured.
        FewerCopies = "fewer copies",
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

    /// The same because some of them have failed.
    pub fn failed(names: Vec<&'a str>, why: &str) -> Self {
        Self::Open { verdict: Verdict::NotCompared, names, why: why.to_owned() }
    }

    /// Whether methods were compared: one is faster, or the interval of their ratio includes 1.
    pub fn is_compared(&self) -> bool {
        matches!(self, Self::Faster { .. }) || matches!(self, Self::Open { why, .. } if why.is_empty())
    }

    /// The verdict if none is faster, with the reason: `undecided, unsteady`, or `ddt: wrong data`.
    pub fn open_text(&self) -> Option<String> {
        let Self::Open { verdict, names, why } = self else { return None };
        Some(match verdict {
            Verdict::NotCompared if !names.is_empty() => format!("{}: {why}", names.join(", ")),
            _ if why.is_empty() => verdict.name().to_owned(),
            _ => format!("{}, {why}", verdict.name()),
        })
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
            Self::Open { verdict: Verdict::NotCompared, names, .. } if !names.is_empty() => self.cell_text(),
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
            Self::Open { verdict: Verdict::Undecided, names, why } if why.is_empty() && names.len() > 1 => {
                let (last, others) = names.split_last().expect("there are two or more");
                format!("undecided between {} and {last}", others.join(", "))
            }
            Self::Open { verdict: Verdict::NotCompared, .. } => self.cell_text(),
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
}
