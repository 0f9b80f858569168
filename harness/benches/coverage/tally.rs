//! What became of many trials.

use ddtbench::stats;
use ddtbench::stats::launches::location;

/// The columns that [`Tally::row`] prints.
pub const COLUMNS: &str = "covered  marked  covered or marked  plain";

/// Trials of one kind.
pub struct Tally {
    /// What is marked as unsteady.
    mark: fn(&[f64]) -> bool,
    trials: usize,
    covered: usize,
    marked: usize,
    either: usize,
    plain: usize,
    widths: Vec<f64>,
    plain_widths: Vec<f64>,
}

impl Tally {
    /// None yet.
    pub fn new(mark: fn(&[f64]) -> bool) -> Self {
        let (widths, plain_widths) = (Vec::new(), Vec::new());
        Self { mark, trials: 0, covered: 0, marked: 0, either: 0, plain: 0, widths, plain_widths }
    }

    /// One series of blocks' medians or rounds' ratios, in its order, and the median that its interval should hold.
    pub fn add(&mut self, series: &[f64], truth: f64) {
        self.add_with(series, stats::series_interval(series).expect("a series has six values"), truth);
    }

    /// One value for each launch of a run, in their order, and the median that the interval over launches should hold.
    pub fn add_launches(&mut self, launches: &[f64], truth: f64) {
        self.add_with(launches, location(launches).interval.expect("a run has six launches"), truth);
    }

    fn add_with(&mut self, series: &[f64], own: (f64, f64), truth: f64) {
        let values = stats::sorted(series.iter().copied());
        let holds = |(low, high): (f64, f64)| low <= truth && truth <= high;
        let middle = stats::median(&values).expect("a series has values");
        let (low, high) = stats::median_interval(&values).expect("a series has six values");
        let (covered, marked) = (holds(own), (self.mark)(series));
        self.trials += 1;
        self.covered += usize::from(covered);
        self.marked += usize::from(marked);
        self.either += usize::from(covered || marked);
        self.plain += usize::from(holds((low, high)));
        self.widths.push((own.1 - own.0) / middle);
        self.plain_widths.push((high - low) / middle);
    }

    /// The shares, in percent.
    pub fn row(&self) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.trials as f64;
        format!(
            "{:7.1} {:7.1} {:18.1} {:6.1}",
            share(self.covered),
            share(self.marked),
            share(self.either),
            share(self.plain)
        )
    }

    /// The median width, as a share of the median.
    pub fn width(&self) -> f64 {
        middle(&self.widths)
    }

    /// The median width over that of the plain interval.
    pub fn over_plain(&self) -> f64 {
        self.width() / middle(&self.plain_widths)
    }

    /// How many there were.
    pub fn trials(&self) -> usize {
        self.trials
    }
}

fn middle(values: &[f64]) -> f64 {
    stats::median(&stats::sorted(values.iter().copied())).unwrap_or(f64::NAN)
}
