//! Statistics of samples: plain functions of slices, without state, the same result for the same input.
//!
//! Times of communication are skewed and have outliers, so a location is a median, with an interval that
//! assumes no distribution (Hoefler & Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015,
//! rules 5 to 8). What is derived from two medians is a ratio, round by round, and its median. Blocks that follow each
//! other are alike; each interval is as much wider as they are, see [`inflation`], and a series whose level wandered is
//! [`unsteady`].

mod correlation;
pub mod difference;
mod holm;
mod interval;
pub mod launches;
mod quantile;
pub mod ranks;
mod ratio;
mod state;
mod steady;
mod student;
mod target;

pub use correlation::{inflation, known_inflation};
pub use holm::holm_levels;
pub use interval::{
    LEAST_ROUNDS, MIN_ROUNDS, blocks_interval, is_narrow, is_time_to_look, median_interval, series_interval,
};
pub use quantile::{SlowSamples, mean, mean_and_variance, median, quantile, sorted, upper_quantile};
pub use ratio::{Ratio, geometric_mean, paired_ratio};
pub use state::{levels, passed_in, states, used_state};
pub use steady::{halves_part, unsteady};
pub use student::{mean_ratio, student_interval};
pub use target::{MOST_TRIALS, SearchStep, SizeSearch, TOLERANCE};

#[cfg(test)]
mod coverage_tests;
