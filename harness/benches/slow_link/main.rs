//! Measures the bandwidth of `reference` where its true value is known: over a link of 1 Gbit/s between two hosts,
//! which are namespaces of this machine (`tests/end_to_end/two_hosts.sh`). Prints a table; docs/evidence/agreement.md
//! has it. If a bandwidth is missing, or differs by more than 3% from the payload rate of the link, it prints which
//! one and ends with exit code 1.
//!
//!     cargo bench -p ddtbench --bench slow_link
//!
//! Needs root and the MPIs that `ddtbench mpi install mpich openmpi` installs. If such hosts are not possible, it
//! prints that.

#[path = "../shared.rs"]
mod shared;

use std::path::Path;
use std::process::{Command, ExitCode};

use shared::{end, file, number, root};

/// The rate of the link, which the kernel's token bucket enforces (`tc-tbf`), in bytes per second, and in the
/// notation of `tc`.
const RATE: (f64, &str) = (1e9 / 8.0, "1gbit");
/// The bytes of a packet that the bucket counts: those of an Ethernet frame with its 14 bytes of addresses and type,
/// but without checksum and preamble, which a virtual interface does not have.
const FRAME_BYTES: f64 = 1514.0;
/// The program's bytes among them: without headers of Ethernet (14), IP (20), TCP (20) and its time stamps (12). An
/// MPI adds less than a thousandth to a message of megabytes.
const PAYLOAD_BYTES: f64 = FRAME_BYTES - 66.0;
/// Bytes of the messages. For smaller ones the bucket would let a larger part through at once.
const SIZES: [u32; 3] = [4 << 20, 8 << 20, 16 << 20];
/// Largest relative error of a bandwidth.
const NEAR: f64 = 0.03;
/// Time for the repetitions of six launches of one size, in seconds: a repetition with 16 MiB takes 0.3.
const MAX_TIME_S: &str = "9";
/// The script's exit code without namespaces.
const NO_NAMESPACES: i32 = 77;

fn main() -> ExitCode {
    let expected = RATE.0 * PAYLOAD_BYTES / FRAME_BYTES;
    println!(
        "link: {} = {:.2} MB/s, of which {PAYLOAD_BYTES} of {FRAME_BYTES} bytes are payload: {:.2} MB/s",
        RATE.1,
        RATE.0 / 1e6,
        expected / 1e6
    );
    let mut wrong = Vec::new();
    println!("MPI      message   MB/s [95%]               over the link's");
    for mpi in ["mpich", "openmpi"] {
        let dir = tempfile::tempdir().expect("a folder for results");
        if !measure(mpi, dir.path()) {
            println!("not run: needs namespaces, tc and root");
            return ExitCode::SUCCESS;
        }
        for bytes in SIZES {
            let name = format!("{mpi:<7}  {:>3} MiB", bytes >> 20);
            let Some((value, low, high)) = bandwidth(dir.path(), bytes) else {
                wrong.push(format!("{name}: no bandwidth with an interval"));
                continue;
            };
            let [value_mb, low_mb, high_mb] = [value, low, high].map(|rate| rate / 1e6);
            let ratio = value / expected;
            let is_near = (ratio - 1.0).abs() <= NEAR;
            let verdict = if is_near { "within 3%" } else { "beyond 3%" };
            println!("{name}   {value_mb:.2} [{low_mb:.2}, {high_mb:.2}]  {ratio:.4}: {verdict}");
            if !is_near {
                wrong.push(format!("{name}: {value_mb:.2} MB/s is {ratio:.4} of what the link lets through"));
            }
        }
    }
    end(&wrong)
}

/// Six launches of all sizes over the link; `false` if such a link is not possible.
fn measure(mpi: &str, dir: &Path) -> bool {
    let agent = dir.join("agent");
    let mut command = Command::new("bash");
    command.current_dir(dir).env("RATE", RATE.1).env("DDTBENCH_ROOT", root());
    command.arg(root().join("tests/end_to_end/two_hosts.sh")).arg(dir).arg(env!("CARGO_BIN_EXE_ddtbench"));
    let sizes = SIZES.map(|bytes| bytes.to_string()).join(",");
    command.args(["run", "contiguous", "-p", &format!("bytes={sizes}"), "-m", "reference", "--mpi", mpi]);
    command.args(["--launches", "6", "--min-repetitions", "3", "--warmup", "1", "--max-time", MAX_TIME_S]);
    // Both hosts have the same cores, and each would bind its first rank to the first core.
    command.args(["--set-plan", "bind=false", "--out", "out", "--"]);
    if mpi == "openmpi" {
        command.args(["--prtemca", "plm_ssh_agent"]).arg(agent).args(["--host", "10.9.0.1,10.9.0.2"]);
    } else {
        command.args(["-launcher", "ssh", "-launcher-exec"]).arg(agent);
        command.args(["-iface", "link0", "-hosts", "10.9.0.1,10.9.0.2", "-ppn", "1"]);
        for (name, value) in [("MPIR_CVAR_CH4_NETMOD", "ofi"), ("FI_PROVIDER", "tcp")] {
            command.args(["-genv", name, value]);
        }
    }
    let ended = command.output().expect("bash can be started");
    if ended.status.code() == Some(NO_NAMESPACES) {
        return false;
    }
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let cases = file(&dir.join("out/cases.csv"));
    assert!(cases.iter().all(|case| case["transport"] == "tcp"), "no network was measured: {cases:?}");
    true
}

/// Payload per second in one direction, for messages of this size, over launches, with the ends of its interval. It
/// is computed from the round trip, which has the message twice.
fn bandwidth(dir: &Path, bytes: u32) -> Option<(f64, f64, f64)> {
    let wanted = [("phase", "round_trip"), ("pair", "all"), ("bytes", &bytes.to_string())];
    let rows = file(&dir.join("out/summary.csv"));
    let row = rows.iter().find(|row| wanted.iter().all(|&(column, value)| row[column] == value))?;
    let [value, low, high] = ["median_s", "median_high_s", "median_low_s"]
        .map(|time| number(row, time).map(|time_s| 2.0 * f64::from(bytes) / time_s));
    Some((value?, low?, high?))
}
