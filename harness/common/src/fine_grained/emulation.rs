//! Emulated computing time: the ways to spend it.

/// The computation of each thread before it hands over its partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Computing {
    pub time_us: f64,
    /// How that time is spent: spinning, sleeping, working.
    pub emulation: Emulation,
}

named! {
    /// How threads spend their computing time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Emulation {
        /// They read the clock until it is over: as bench-pcomm
        #[default]
        Spin = "spin",
        /// They sleep, so that others have the core: as CMB
        Sleep = "sleep",
        /// They multiply small matrices until it is over
        Work = "work",
        /// They sweep over a grid with a 7-point stencil until it is over
        Sweep = "sweep",
    }
}

/// The longest time that a thread computes, in seconds: an hour. A longer time is a typing error.
pub(super) const MOST_S: f64 = 3600.0;

/// Parses a computing time.
pub(crate) fn compute_us(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|value| (0.0..=MOST_S * 1e6).contains(value));
    number.ok_or_else(|| "must be a number of microseconds from 0 to 3600000000, an hour".to_owned())
}
