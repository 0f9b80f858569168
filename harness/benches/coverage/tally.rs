//! Counts the outcomes of many trials.

use ddtbench::stats::{self, launches};

/// The columns that [`Tally::row`] prints.
pub const COLUMNS: &str = "covered  marked  covered or marked  plain";

/// How a series is judged: by the interval of its median, and a mark.
#[derive(Clone, Copy)]
pub struct Judge {
    interval: fn(&[f64]) -> Option<(f64, f64)>,
    mark: fn(&[f64]) -> bool,
}

/// The blocks of one launch.
pub const BLOCKS: Judge = Judge { interval: stats::series_interval, mark: stats::unsteady };
/// The ratios of its rounds.
pub const RATIOS: Judge = Judge { mark: stats::halves_differ, ..BLOCKS };
pub const LAUNCHES: Judge = Judge {
    interval: |values| launches::location(values).interval,
    mark: |values| launches::unsteady(values).unwrap_or(false),
};
pub const LAUNCH_RATIOS: Judge =
    Judge { mark: |values| launches::halves_differ(values).unwrap_or(false), ..LAUNCHES };

/// Trials of one kind.
#[derive(Default)]
pub struct Tally {
    pub trials: usize,
    covered: usize,
    marked: usize,
    either: usize,
    plain: usize,
    widths: Vec<f64>,
    plain_widths: Vec<f64>,
    needed: Vec<f64>,
}

impl Tally {
    /// Counts trials: each is a series in order, with the median that its interval should include.
    pub fn of(judge: Judge, trials: impl IntoIterator<Item = (Vec<f64>, f64)>) -> Self {
        let mut tally = Self::default();
        for (series, truth) in trials {
            let values = stats::sorted(series.iter().copied());
            let middle = stats::median(&values).expect("a series has values");
            let own = (judge.interval)(&series).expect("a series has six values");
            let plain = stats::median_interval(&values).expect("a series has six values");
            let holds = |(low, high): (f64, f64)| low <= truth && truth <= high;
            let (covered, marked) = (holds(own), (judge.mark)(&series));
            tally.trials += 1;
            tally.covered += usize::from(covered);
            tally.marked += usize::from(marked);
            tally.either += usize::from(covered || marked);
            tally.plain += usize::from(holds(plain));
            tally.widths.push((own.1 - own.0) / middle);
            tally.plain_widths.push((plain.1 - plain.0) / middle);
            tally.needed.push(needed_factor(middle / truth, (plain.0 / truth, plain.1 / truth)));
        }
        tally
    }

    /// The shares, in percent.
    pub fn row(&self) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.trials as f64;
        let [covered, marked, either, plain] =
            [self.covered, self.marked, self.either, self.plain].map(share);
        format!("{covered:7.1} {marked:7.1} {either:18.1} {plain:6.1}")
    }

    /// The median width, as a share of the median.
    pub fn width(&self) -> f64 {
        middle(&self.widths)
    }

    /// The median width relative to that of a plain interval. The plain interval is first widened by the factor with
    /// which it covers 95%, but at least by the factor of a `law`.
    pub fn over_knowing(&self, law: f64) -> f64 {
        let knowing = stats::quantile(&stats::sorted(self.needed.iter().copied()), 0.95).unwrap_or(f64::NAN);
        self.width() / middle(&self.plain_widths) / knowing.max(law)
    }
}

/// The factor by which the ends of an interval must be moved away from the median until it includes 1, in logarithms.
fn needed_factor(median: f64, (low, high): (f64, f64)) -> f64 {
    let middle = median.ln();
    if middle > 0.0 { middle / (middle - low.ln()) } else { -middle / (high.ln() - middle) }
}

fn middle(values: &[f64]) -> f64 {
    stats::median(&stats::sorted(values.iter().copied())).unwrap_or(f64::NAN)
}
