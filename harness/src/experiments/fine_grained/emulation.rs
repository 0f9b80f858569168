//! Computing time, emulated: how it passes, and its text.

use crate::experiments::parameter::Flag;

/// What is said of the computing time, in microseconds.
pub const COMPUTE_US: Flag =
    Flag::new("compute_us", "US", "0", "time that each thread computes, in microseconds").long("compute-us");
/// What is said of how it passes.
pub const EMULATE: Flag =
    Flag::new("emulate", "HOW", "spin", "how computing time passes: spin, sleep, work or sweep");

/// How threads pass the time that they are said to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Emulation {
    /// They read the clock until it is over: as bench-pcomm
    #[default]
    Spin,
    /// They sleep, so that others have the core: as CMB
    Sleep,
    /// They multiply small matrices until it is over
    Work,
    /// They sweep over a grid with a 7-point stencil until it is over
    Sweep,
}

impl Emulation {
    /// The one called `text`.
    ///
    /// # Errors
    /// The names that there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = <Self as clap::ValueEnum>::from_str(text, false);
        known.map_err(|_| "must be spin, sleep, work or sweep".to_owned())
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Sleep => "sleep",
            Self::Work => "work",
            Self::Sweep => "sweep",
        }
    }
}

/// A computing time.
///
/// # Errors
/// What would be right.
pub fn compute_us(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    number.ok_or_else(|| "must be a number of microseconds, at least 0".to_owned())
}
