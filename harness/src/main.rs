//! The program `ddtbench`.

mod cli;

use std::process::ExitCode;

use clap::Parser;

/// Something was refused, or the machine did not let us.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let result =
        ddtbench::mpi::interrupt::watch().map_err(Into::into).and_then(|()| cli::Cli::parse().execute());
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(REFUSED)
        }
    }
}
