//! What a case says besides the exchange's own values.

use apps::halo::HaloContext;

use crate::fine_grained::arrival::{Arrival, Sampler};
use crate::fine_grained::emulation::Computing;
use crate::parameter::{self, Parameter, ParameterInfo, set, threads};

/// How ranks begin an exchange together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Start {
    /// They leave a barrier
    #[default]
    Barrier,
    /// They wait for an agreed time of synchronised clocks
    Clock,
}

/// What a case says besides the exchange's values.
#[derive(Clone, Debug, PartialEq)]
pub struct HaloSetting {
    /// Threads of each rank.
    pub threads: usize,
    /// Whether the first and the last rank of a dimension are neighbours.
    pub periodic: bool,
    /// Whether MPI may place ranks anew on the grid.
    pub reorder: bool,
    /// When threads are done computing.
    pub arrival: Arrival,
    /// What each thread computes before.
    pub computing: Computing,
    /// How ranks begin together.
    pub start: Start,
}

impl Default for HaloSetting {
    fn default() -> Self {
        Self {
            threads: 1,
            periodic: true,
            reorder: false,
            arrival: Arrival::None,
            computing: Computing::default(),
            start: Start::Barrier,
        }
    }
}

impl AsRef<Computing> for HaloSetting {
    fn as_ref(&self) -> &Computing {
        &self.computing
    }
}

impl AsMut<Computing> for HaloSetting {
    fn as_mut(&mut self) -> &mut Computing {
        &mut self.computing
    }
}

/// All parameters, in the order in which they are shown.
pub const PARAMETERS: &[Parameter<HaloSetting>] = &[
    Parameter {
        info: ParameterInfo::new("threads", "N", "1", "threads of each rank"),
        assign: |s, text| set(&mut s.threads, threads(text)),
        text: |s| Some(s.threads.to_string()),
    },
    Parameter {
        info: ParameterInfo::new(
            "periodic",
            "",
            "yes",
            "whether the first and the last rank of a dimension are neighbours: yes or no",
        ),
        assign: |s, text| set(&mut s.periodic, yes_or_no(text)),
        text: |s| (!s.periodic).then(|| "no".to_owned()),
    },
    Parameter {
        info: ParameterInfo::new(
            "reorder",
            "",
            "no",
            "whether MPI_Cart_create may place ranks anew: yes or no",
        ),
        assign: |s, text| set(&mut s.reorder, yes_or_no(text)),
        text: |s| s.reorder.then(|| "yes".to_owned()),
    },
    Parameter {
        info: ParameterInfo::new(
            "arrival",
            "ARRIVAL",
            "none",
            "when threads are done computing: none, laggard:4%, uniform:10%, normal:2us, kde:NAME",
        ),
        assign: |s, text| set(&mut s.arrival, text.parse()),
        text: |s| (s.arrival != Arrival::None).then(|| s.arrival.to_string()),
    },
    Computing::time(),
    Computing::way(),
    Parameter {
        info: ParameterInfo::new("start", "HOW", "barrier", "how ranks begin together: barrier or clock"),
        assign: |s, text| {
            let start = <Start as clap::ValueEnum>::from_str(text, false);
            set(&mut s.start, start.map_err(|_| "must be barrier or clock".to_owned()))
        },
        text: |s| (s.start != Start::Barrier).then(|| "clock".to_owned()),
    },
];

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("must be yes or no".to_owned()),
    }
}

impl HaloSetting {
    /// The setting of its own parameters by name; those that are not given have their defaults.
    ///
    /// # Errors
    /// An unknown name, or a value that cannot be, and what would be right.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let setting = parameter::parse(PARAMETERS, given)?;
        setting.sampler(0, 0)?;
        Ok(setting)
    }

    /// All parameters that differ from the default, and the threads.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        parameter::pairs(PARAMETERS, self)
    }

    /// What the exchange needs to know.
    pub fn context(&self, ranks: usize, seed: u64) -> HaloContext {
        HaloContext { ranks, periodic: self.periodic, seed }
    }

    /// Draws of the threads' times at one rank. A late partition is none of a halo's: its delay is that of no size.
    ///
    /// # Errors
    /// As [`Sampler::new`], and a delay of a partition.
    pub fn sampler(&self, seed: u64, rank: usize) -> Result<Sampler, String> {
        if matches!(self.arrival, Arrival::Delay { .. }) {
            return Err(format!(
                "arrival \"{}\" is of one message's last partition; a halo has laggard, uniform, normal or kde",
                self.arrival
            ));
        }
        Sampler::new(&self.arrival, self.computing.time_us * 1e-6, self.threads, 0, seed, rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_that_are_listed() {
        parameter::expect_sound(PARAMETERS);
    }
}
