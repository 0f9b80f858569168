//! The command `record-arrivals`: a computation's threads, timed step by step, as a trace.

use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use ddtbench::experiments::fine_grained::trace::Trace;
use ddtbench::experiments::memory;
use ddtbench::mpi::interrupt;
use ddtbench::run::Machine;
use kernels::compute::{self, KERNELS, Kernel, WARM_UP_STEPS};

use super::measure::INTERRUPTED;
use super::output::{self, say};
use super::output_file::OutputFile;

/// Threads that a rank may have; far more than a node has processors.
const MAX_THREADS: u64 = 4096;

/// Iterations of which all times fit into memory, with room.
const MAX_ITERATIONS: u64 = 1_000_000;

#[derive(Debug, Args)]
pub struct RecordArrivalsArgs {
    /// What is computed
    #[arg(value_name = "KERNEL", value_parser = PossibleValuesParser::new(KERNELS.map(|kernel| kernel.name)))]
    kernel: String,
    /// Number of threads [default: one for each processor]
    #[arg(short, long, value_name = "T", value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS))]
    threads: Option<u64>,
    /// Number of iterations that are recorded
    #[arg(short, long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u64).range(1..=MAX_ITERATIONS))]
    iterations: u64,
    /// Size: nodes along an edge (sparse), lattice cells across (molecular), rows (matrix) [default: some milliseconds
    /// per iteration with two threads]
    #[arg(long, value_name = "N")]
    size: Option<u64>,
    /// The file for the trace, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "out")]
    force: bool,
}

impl RecordArrivalsArgs {
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let kernel = KERNELS.iter().find(|kernel| kernel.name == self.kernel).context("a known kernel")?;
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = self.threads.map_or(cpus, |threads| threads as usize);
        let size = self.size(kernel)?;
        // A file that was asked for is tried before anything is computed.
        let file = self.out.as_deref().map(|path| OutputFile::begin(path, Some(self.force))).transpose()?;
        let crowd = (threads > cpus).then(|| {
            format!(
                "{threads} threads on {cpus} processors: their times also hold how they wait for each other"
            )
        });
        if let Some(crowd) = &crowd {
            say(crowd);
        }
        interrupt::hold();
        let computation = (kernel.make)(size, threads);
        let times_ns = compute::record(&*computation, self.iterations as usize, &interrupt::requested);
        if interrupt::requested() {
            say("stopped; nothing was written");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let machine = Machine::this();
        let processor = machine.cpu_model.unwrap_or_else(|| "unknown processor".to_owned());
        let mut comments = vec![
            format!("{}: {}", kernel.name, kernel.about),
            format!(
                "size {size} ({}), {threads} threads, {} iterations after {WARM_UP_STEPS}; result {:e}",
                kernel.size_about,
                times_ns.len(),
                computation.checksum()
            ),
            format!("{processor}, {cpus} processors; ddtbench {}", env!("CARGO_PKG_VERSION")),
        ];
        comments.extend(crowd);
        let text = Trace { comments, times_ns }.to_string();
        match file {
            Some(file) => file.finish(text.as_bytes())?,
            None => output::print(text.as_bytes())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The size, checked.
    fn size(&self, kernel: &Kernel) -> anyhow::Result<usize> {
        let size = self.size.unwrap_or(kernel.default_size as u64);
        if size < kernel.min_size as u64 {
            bail!(
                "{} --size {size}: must be at least {} {}",
                kernel.name,
                kernel.min_size,
                kernel.size_about
            );
        }
        let needed = (kernel.memory_bytes)(size);
        let available = memory::available_bytes().unwrap_or(u64::MAX);
        match needed.filter(|&needed| needed <= available) {
            Some(_) => Ok(usize::try_from(size)?),
            None => bail!(
                "{} --size {size}: needs {} of memory, {} are available; a smaller one would fit",
                kernel.name,
                memory::words(needed),
                memory::words(Some(available))
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn args(out: &Path, force: bool) -> RecordArrivalsArgs {
        let kernel = "matrix".to_owned();
        let out = Some(out.to_owned());
        RecordArrivalsArgs { kernel, threads: Some(2), iterations: 3, size: Some(8), out, force }
    }

    #[test]
    fn a_trace_is_written_and_never_over_another_file_unless_forced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        assert_eq!(args(&path, false).execute().unwrap(), ExitCode::SUCCESS);
        let trace = Trace::load(path.to_str().unwrap()).unwrap();
        assert_eq!((trace.times_ns.len(), trace.times_ns[0].len()), (3, 2));
        assert!(trace.comments[0].starts_with("matrix: ") && trace.comments[1].contains("size 8"));
        std::fs::write(&path, "precious").unwrap();
        let error = args(&path, false).execute().unwrap_err().to_string();
        assert!(error.contains("trace.csv") && error.contains("--force"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        args(&path, true).execute().unwrap();
        assert!(Trace::load(path.to_str().unwrap()).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn sizes_that_make_no_sense_or_do_not_fit_are_refused() {
        for kernel in &KERNELS {
            for (size, told) in [(0, "at least"), (1 << 40, "--size 1099511627776: needs")] {
                let mut args = args(Path::new("unused"), false);
                (args.kernel, args.size) = (kernel.name.to_owned(), Some(size));
                let error = args.execute().unwrap_err().to_string();
                assert!(error.contains(kernel.name) && error.contains(told), "{error}");
            }
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named_before_anything_is_computed() {
        let mut args = args(Path::new("no/such/folder/trace.csv"), false);
        args.iterations = MAX_ITERATIONS;
        let error = format!("{:#}", args.execute().unwrap_err());
        assert!(error.contains("no/such/folder/trace.csv"), "{error}");
    }
}
