//! An MPI that is wrong on purpose (`faulty_mpi.c`, and `faulty_types.c` for datatypes).

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::job::run;
use super::setup::{self, Mpi};

/// The library for an MPI, compiled once.
pub fn library(mpi: &Mpi) -> &'static PathBuf {
    static BUILT: [OnceLock<PathBuf>; setup::MPIS.len()] = [const { OnceLock::new() }; setup::MPIS.len()];
    let place = setup::MPIS.iter().position(|&name| name == mpi.name).expect("one of the tested MPIs");
    BUILT[place].get_or_init(|| {
        let sources =
            ["faulty_mpi.c", "faulty_types.c"].map(|name| setup::root().join("tests/end_to_end").join(name));
        let library = setup::scratch().join(format!("libfaulty_{}.so", mpi.name));
        let mut compiler = mpi.command(&mpi.mpicc);
        // Launchers load the library, too, and start sooner if it does not load the MPI. With Open MPI, whose handles are variables, it must.
        if mpi.name != "openmpi" {
            compiler = Command::new("cc");
            compiler.arg("-I").arg(mpi.mpicc.with_file_name("../include"));
        }
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-pthread", "-o"]);
        run(compiler.arg(&library).args(&sources)).expect_code(0);
        library
    })
}

pub fn variant(mpi: &Mpi, name: &str, fault: &str) -> String {
    format!("{name}:LD_PRELOAD={},FAULTY_MPI={fault}", library(mpi).display())
}
