//! The command line of the rank program, for `ddtbench` and for people.

use anyhow::anyhow;
use clap::{Args, Parser, Subcommand};
use ddtbench::methods::{self, METHODS};
use ddtbench::plan::{Cache, Limits, Pairs};

use crate::output::Format;

/// The process that an MPI launcher starts: measures one test on the ranks that it finds itself among.
#[derive(Debug, Parser)]
#[command(name = "ddtbench-rank", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure a test's methods: mpirun -n 2 ddtbench-rank pingpong wrf_x_vec --method ddt
    Pingpong(PingPong),
}

#[derive(Debug, Args)]
pub struct PingPong {
    /// The test
    pub test: String,
    /// A named parameter set [default: the one of preset `quick`]
    #[arg(long, value_name = "NAME")]
    pub set: Option<String>,
    /// Single parameters, changing the set
    #[arg(short = 'p', long = "params", value_name = "NAME=VALUE", value_delimiter = ',')]
    pub params: Vec<String>,
    /// Methods, by name [default: all]
    #[arg(short, long = "method", value_name = "NAME", value_delimiter = ',')]
    methods: Vec<String>,
    /// The number of ranks that were asked for; any other is refused
    #[arg(short = 'n', long)]
    pub ranks: Option<usize>,
    /// Seed of index lists
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Leave the buffers in the cache, or evict them before each repetition
    #[arg(long, value_enum, default_value_t)]
    pub cache: Cache,
    /// 0 with 1, 2 with 3, ..., or the first half with the second
    #[arg(long, value_enum, default_value_t)]
    pub pairs: Pairs,
    /// Repetitions before the first that counts
    #[arg(long, value_name = "N", default_value_t = Limits::default().warmup)]
    warmup: u32,
    /// Fewest repetitions with which a method can be done before its time is up
    #[arg(long, value_name = "N", default_value_t = Limits::default().min_runs)]
    min_runs: u32,
    /// Repetitions that are never exceeded
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_runs)]
    max_runs: u32,
    /// Time of one method's repetitions
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().max_time_s)]
    max_time: f64,
    /// Half width of the median's interval at which a method is done
    #[arg(long, value_name = "PERCENT", default_value_t = Limits::default().precision_percent)]
    precision: f64,
    /// The form of what is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

impl PingPong {
    /// When a method has been measured enough.
    pub fn limits(&self) -> anyhow::Result<Limits> {
        let limits = Limits {
            warmup: self.warmup,
            min_runs: self.min_runs,
            max_runs: self.max_runs,
            max_time_s: self.max_time,
            precision_percent: self.precision,
            ..Limits::default()
        };
        limits.check()?;
        Ok(limits)
    }

    /// The names of the methods, each once, in the order given.
    pub fn methods(&self) -> anyhow::Result<Vec<String>> {
        if self.methods.is_empty() {
            return Ok(METHODS.iter().map(|method| method.name.to_owned()).collect());
        }
        let mut names = Vec::new();
        for name in &self.methods {
            methods::find(name).map_err(|reason| anyhow!(reason))?;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_method_named_twice_runs_once() {
        let words = ["ddtbench-rank", "pingpong", "milc_su3_zd", "-m", "ddt,manual,ddt"];
        let Command::Pingpong(args) = Cli::parse_from(words).command;
        assert_eq!(args.methods().unwrap(), ["ddt", "manual"]);
        assert_eq!(args.limits().unwrap(), Limits::default());
    }
}
