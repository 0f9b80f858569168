//! Statistics of samples: plain functions of slices, without state, with the same result for the same input.
//!
//! Times of communication are skewed and have outliers, so a location is a median, with an interval that assumes no
//! distribution (Hoefler & Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015, rules 5 to 8). Two
//! times are compared by the median of their ratios, round by round. Consecutive blocks are correlated; each interval
//! is widened accordingly, see [`inflation`], and a series with a changing level is [`unsteady`].

pub mod adjusted;
mod correlation;
pub mod difference;
mod interval;
pub mod launches;
pub mod moderated;
mod quantile;
pub mod ranks;
mod ratio;
mod state;
mod steady;
mod student;
mod target;

pub use correlation::{inflation, known_inflation};
pub use interval::{
    LEAST_ROUNDS, MIN_ROUNDS, blocks_interval, is_narrow, is_time_to_test, median_interval, series_interval,
};
pub use quantile::{SlowSamples, mean, mean_and_variance, median, quantile, sorted, upper_quantile};
pub use ratio::{Ratio, geometric_mean, paired_ratio};
pub use state::{levels, passed_in, states, used_state};
pub use steady::{halves_differ, unsteady};
pub use student::{mean_ratio, student_interval};
pub use target::{MOST_TRIALS, SearchStep, SizeSearch, TOLERANCE};

#[cfg(test)]
mod coverage_tests;
