//! Statistics of samples: plain functions of slices, without state, the same result for the same input.
//!
//! Times of communication are skewed and have outliers, so a location is a median, with an interval that
//! assumes no distribution (Hoefler & Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015,
//! rules 5 to 8). What is derived from several medians gets its interval from a bootstrap over blocks.

mod bootstrap;
mod interval;
mod quantile;
mod ratio;
mod state;
mod student;

pub use bootstrap::{RESAMPLES, overhead_interval};
pub use interval::{blocks_interval, is_narrow, median_interval, parted};
pub use quantile::{mean, median, quantile, sorted};
pub use ratio::{Ratio, geometric_mean, paired_ratio};
pub use state::{MIN_GAP, MIN_SHARE, State, passed_in, states, used_state};
pub use student::student_interval;
