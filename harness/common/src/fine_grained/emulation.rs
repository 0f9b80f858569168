//! Computing time, emulated: how it passes, and its text.

use crate::parameter::{Parameter, ParameterInfo, set};

/// What threads compute before they hand over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Computing {
    /// Its time, in microseconds.
    pub time_us: f64,
    /// How that time passes: spinning, sleeping, working.
    pub emulation: Emulation,
}

impl Computing {
    /// The parameter that says for how long, of a setting with such threads.
    pub const fn time<S: AsRef<Self> + AsMut<Self>>() -> Parameter<S> {
        Parameter {
            info: ParameterInfo::new(
                "compute_us",
                "US",
                "0",
                "time that each thread computes, in microseconds",
            ),
            assign: |setting, text| set(&mut setting.as_mut().time_us, compute_us(text)),
            text: |setting| {
                let time_us = setting.as_ref().time_us;
                (time_us > 0.0).then(|| time_us.to_string())
            },
        }
    }

    /// The parameter that says how.
    pub const fn way<S: AsRef<Self> + AsMut<Self>>() -> Parameter<S> {
        Parameter {
            info: ParameterInfo::new(
                "emulate",
                "HOW",
                "spin",
                "how computing time passes: spin, sleep, work or sweep",
            ),
            assign: |setting, text| set(&mut setting.as_mut().emulation, Emulation::parse(text)),
            text: |setting| {
                let emulation = setting.as_ref().emulation;
                (emulation != Emulation::Spin).then(|| emulation.name().to_owned())
            },
        }
    }
}

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

/// The longest time that a thread computes, in seconds: an hour. What is longer is a typing error.
pub(super) const MOST_S: f64 = 3600.0;

/// A computing time.
///
/// # Errors
/// What would be right.
fn compute_us(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|value| (0.0..=MOST_S * 1e6).contains(value));
    number.ok_or_else(|| "must be a number of microseconds from 0 to 3600000000, an hour".to_owned())
}
