//! The library of operations that the rank program loads: their statements, compiled with the MPI's own header.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use common::conformance::{Batch, Need, OPERATIONS};

use super::program::indented;
use crate::mpi::{Installation, MpiError};

const BENCH: &str = include_str!("../../../common/src/conformance/bench.h");

/// Compiles the library in a folder.
///
/// # Errors
/// If the compiler wrapper is missing or fails.
pub fn compile(installation: &Installation, folder: &Path) -> Result<(), MpiError> {
    let (source, header) = (folder.join("operations.c"), folder.join("mpi.i"));
    let failed = |error: &dyn std::fmt::Display| {
        MpiError::Other(format!("the operations cannot be compiled: {error}"))
    };
    let compile = |text: &str, to: &Path, options: &[&str]| match fs::write(&source, text) {
        Ok(()) => installation.compile(&source, to, options).map_err(|error| match error {
            MpiError::Interrupted => error,
            MpiError::Other(reason) => failed(&reason),
        }),
        Err(error) => Err(failed(&error)),
    };
    compile("#include <mpi.h>\n", &header, &["-E"])?;
    let declared = fs::read_to_string(&header).map_err(|error| failed(&error))?;
    let status = format!("-DDDTBENCH_STATUS={}", installation.abi.status_bytes());
    compile(&code(&declared), &folder.join(Batch::LIBRARY), &["-O0", "-shared", "-fPIC", &status])
}

/// A function for each operation whose functions of MPI are declared.
fn code(declared: &str) -> String {
    let words: BTreeSet<&str> = declared
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("MPI_"))
        .collect();
    let (mut calls, mut functions) = (BTreeSet::new(), String::new());
    for operation in OPERATIONS.iter().filter(|operation| !operation.needs(Need::Own)) {
        let own = operation.calls();
        if own.iter().all(|call| words.contains(&*format!("MPI_{call}"))) {
            let (name, lines) = (operation.name, indented(&operation.statements));
            functions += &format!("\nvoid run_{name}(void)\n{{\n{lines}}}\n");
            calls.extend(own);
        }
    }
    let checked = |call: &&str| format!("#define MPI_{call}(...) TRY(MPI_{call}, (__VA_ARGS__))\n");
    format!("{BENCH}\n{}{functions}", calls.iter().map(checked).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_whose_functions_the_header_lacks_are_left_out() {
        let text = code("int MPI_Gather(void *); int MPI_Pack_size(); int MPI_Pack(); int MPI_Win_create;");
        assert!(
            text.contains("\nvoid run_gather(void)\n") && text.contains("\nvoid run_pack(void)\n"),
            "{text}"
        );
        assert!(text.contains("#define MPI_Gather(...) TRY(MPI_Gather, (__VA_ARGS__))\n"), "{text}");
        assert!(!text.contains("run_gather_nonblocking") && !text.contains("run_bounds"), "{text}");
    }
}
