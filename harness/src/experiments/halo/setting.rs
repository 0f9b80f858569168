//! What a case says besides the exchange's own values.

use std::fmt;

use apps::halo::HaloContext;

use crate::experiments::fine_grained::arrival::{Arrival, Sampler};
use crate::experiments::fine_grained::{Emulation, emulation};

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
    /// Time that each thread computes, in microseconds.
    pub compute_us: f64,
    /// How.
    pub emulation: Emulation,
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
            compute_us: 0.0,
            emulation: Emulation::Spin,
            start: Start::Barrier,
        }
    }
}

/// The names of all parameters, in the order in which they are shown.
pub const NAMES: [&str; 7] = ["threads", "periodic", "reorder", "arrival", "compute_us", "emulate", "start"];

impl HaloSetting {
    /// The setting of those of the parameters that are its own; all others are left to the exchange.
    ///
    /// # Errors
    /// A value that cannot be, and what would be right.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut setting = Self::default();
        for (name, text) in given {
            setting.assign(name, text).map_err(|reason| format!("{name} = {text}: {reason}"))?;
        }
        setting.sampler(0, 0)?;
        Ok(setting)
    }

    fn assign(&mut self, name: &str, text: &str) -> Result<(), String> {
        let switch = || match text {
            "yes" | "true" => Ok(true),
            "no" | "false" => Ok(false),
            _ => Err("must be yes or no".to_owned()),
        };
        match name {
            "threads" => {
                let threads = text.parse().ok().filter(|threads| (1..=4096).contains(threads));
                self.threads = threads.ok_or("must be a whole number from 1 to 4096")?;
            }
            "periodic" => self.periodic = switch()?,
            "reorder" => self.reorder = switch()?,
            "arrival" => self.arrival = text.parse()?,
            "compute_us" => self.compute_us = emulation::compute_us(text)?,
            "emulate" => self.emulation = Emulation::parse(text)?,
            "start" => {
                let start = <Start as clap::ValueEnum>::from_str(text, false);
                self.start = start.map_err(|_| "must be barrier or clock")?;
            }
            _ => {}
        }
        Ok(())
    }

    /// All parameters that differ from the default, and the threads.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let switch = |on: bool| if on { "yes" } else { "no" }.to_owned();
        let default = Self::default();
        let text = |name: &str| match name {
            "threads" => Some(self.threads.to_string()),
            "periodic" => (self.periodic != default.periodic).then(|| switch(self.periodic)),
            "reorder" => (self.reorder != default.reorder).then(|| switch(self.reorder)),
            "arrival" => (self.arrival != default.arrival).then(|| self.arrival.to_string()),
            "compute_us" => (self.compute_us > 0.0).then(|| self.compute_us.to_string()),
            "emulate" => (self.emulation != default.emulation).then(|| self.emulation.name().to_owned()),
            _ => (self.start != default.start).then(|| "clock".to_owned()),
        };
        NAMES.into_iter().filter_map(|name| Some((name, text(name)?))).collect()
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
        Sampler::new(&self.arrival, self.compute_us * 1e-6, self.threads, 0, seed, rank)
    }
}

impl fmt::Display for HaloSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<_> = self.pairs().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&pairs.join(" "))
    }
}
