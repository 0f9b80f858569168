//! The parameters of a case that are not values of the exchange.

use apps::halo::HaloContext;
use apps::joined_by_x;

use crate::fine_grained::arrival::{Arrival, Sampler};
use crate::fine_grained::emulation::{Computing, Emulation, compute_us};
use crate::parameter::{self, Parameter, always, threads, unusual};

named! {
    /// How ranks begin an exchange together.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Start {
        /// They leave a barrier
        #[default]
        Barrier = "barrier",
        /// They wait for an agreed time of synchronised clocks
        Clock = "clock",
    }
}

/// The parameters of a case that are not values of the exchange.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HaloSetting {
    /// Threads of each rank.
    pub threads: usize,
    /// Ranks along each dimension of the grid; `None` for a grid as near to a cube as possible.
    pub grid: Option<Vec<usize>>,
    /// Whether the first and the last rank of a dimension are neighbours.
    pub periodic: bool,
    /// Whether MPI may reorder the ranks on the grid.
    pub reorder: bool,
    /// When threads are done computing.
    pub arrival: Arrival,
    /// The computation of each thread before the exchange.
    pub computing: Computing,
    /// How ranks begin together.
    pub start: Start,
}

/// All parameters, in the order in which they are shown.
pub const PARAMETERS: &[Parameter<HaloSetting>] = &[
    parameter!("threads", threads: "N" = "1", threads, always; "threads of each rank"),
    parameter!("grid", grid: "DIMS" = "as near to a cube as possible", ranks_of_dimensions,
        |dims: &Option<Vec<usize>>| dims.as_deref().map(joined_by_x);
        "ranks along each dimension, such as 3x2x1: slowest first, as in MPI_Cart_create; of subarray in the order of its shape"),
    parameter!("periodic", periodic: "" = "yes", yes_or_no, |&on: &bool| (!on).then(|| "no".to_owned());
        "whether the first and the last rank of a dimension are neighbours: yes or no"),
    parameter!("reorder", reorder: "" = "no", yes_or_no, |&on: &bool| on.then(|| "yes".to_owned());
        "whether MPI_Cart_create may reorder ranks: yes or no"),
    parameter!("arrival", arrival: "ARRIVAL" = "none", str::parse::<Arrival>, unusual;
        "when threads are done computing: none, laggard:4%, uniform:10%, normal:2us, kde:NAME"),
    parameter!("compute_us", computing.time_us: "US" = "0", compute_us, unusual;
        "time that each thread computes, in microseconds"),
    parameter!("emulate", computing.emulation: "HOW" = "spin", str::parse::<Emulation>, unusual;
        "how computing time passes: spin, sleep, work or sweep"),
    parameter!("start", start: "HOW" = "barrier", str::parse::<Start>, unusual;
        "how ranks begin together: barrier or clock"),
];

/// Parses the ranks along each dimension of a grid.
fn ranks_of_dimensions(text: &str) -> Result<Vec<usize>, String> {
    let ranks = |text: &str| text.parse().ok().filter(|ranks| (1..=i32::MAX as usize).contains(ranks));
    let dims = text.split('x').map(ranks).collect::<Option<Vec<_>>>();
    dims.ok_or_else(|| "must be the ranks along each dimension, joined by x, such as 3x2x1".to_owned())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err("must be yes or no".to_owned()),
    }
}

impl HaloSetting {
    /// The setting from its parameters by name; parameters that are not given have their defaults.
    pub fn parse<'a>(given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let setting = parameter::parse(PARAMETERS, given)?;
        setting.sampler(0, 0)?;
        Ok(setting)
    }

    /// All parameters that differ from the default, and the threads.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        parameter::pairs(PARAMETERS, self)
    }

    /// The context in which the exchange is built.
    pub fn context(&self, ranks: usize, seed: u64) -> HaloContext {
        HaloContext { ranks, periodic: self.periodic, dims: self.grid.clone(), seed }
    }

    /// Draws of the threads' times at one rank. A delay of the last partition is not supported, because its
    /// size is not defined in a halo.
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
