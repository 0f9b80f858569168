//! The program `ddtbench`.

mod cli;

use std::process::ExitCode;

use ddtbench::mpi::{MpiError, interrupt};

/// The request was refused, or the system failed.
const REFUSED: u8 = 2;

fn main() -> ExitCode {
    let result = interrupt::watch().map_err(Into::into).and_then(|()| cli::Cli::typed().execute());
    let error = match result {
        Ok(code) => return code,
        Err(error) => error,
    };
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(cli::EarlyEnd(code)), _) => *code,
        (_, Some(MpiError::Interrupted)) => {
            cli::output::log("interrupted");
            ExitCode::from(cli::INTERRUPTED)
        }
        _ => {
            cli::output::log(&format!("error: {}", with_causes(&error)));
            ExitCode::from(REFUSED)
        }
    }
}

/// An error and its causes. Most of our errors contain their cause, which is not repeated.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message.as_str() {
        "" => cause,
        _ if message.contains(&cause) => message,
        _ => format!("{message}: {cause}"),
    })
}
