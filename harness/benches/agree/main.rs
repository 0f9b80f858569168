//! Compares our ping-pong with that of the Intel MPI Benchmarks on the same MPI: launches of `reference_untouched`
//! and IMB-MPI1 PingPong alternate. Prints a table; docs/evidence/agreement.md has it.
//!
//!     cargo bench -p ddtbench --bench agree -- mpich .ddtbench/mpi/impi/bin/IMB-MPI1
//!
//! Intel MPI's IMB also runs on MPICH; for Open MPI, build one with its mpicc. Environment variables are passed to
//! both programs. IMB prints half of the mean round trip, so our mean is compared. A pair of launches gives a ratio:
//! changes of the machine within minutes affect both sides.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use ddtbench::model::conditions::MemoryKind;
use ddtbench::mpi::{Installation, Launch, Project, Trusted};
use ddtbench::report::units;
use ddtbench::stats;

/// Bytes of the messages.
const SIZES: [u64; 4] = [8, 1 << 10, 1 << 16, 1 << 20];
/// Launches of each program; an interval needs six.
const LAUNCHES: usize = 15;
/// Time of each size in a launch, in seconds.
const TIME_S: &str = "0.3";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [mpi, imb] = &arguments[..] else { panic!("arguments: the name of an MPI, the path of IMB-MPI1") };
    // Cargo starts benches in the folder of their package.
    let imb = Path::new("..").join(imb).canonicalize().expect("the program IMB-MPI1");
    let project = Project::locate().expect("the project");
    let installations = project.installations(&mut |text| println!("{text}")).expect("a list of MPIs");
    let installation =
        installations.iter().find(|known| known.name == *mpi).expect("an MPI of `ddtbench mpi list`");
    println!("{}, {}; {}", installation.name, installation.title(), imb.display());

    let mut imb_s: [Vec<f64>; SIZES.len()] = Default::default();
    let [mut mean_s, mut median_s] = [imb_s.clone(), imb_s.clone()];
    for _ in 0..LAUNCHES {
        let (theirs, ours) = (theirs(installation, &imb), ours(mpi));
        for i in 0..SIZES.len() {
            imb_s[i].push(theirs[i]);
            mean_s[i].push(ours[i].0);
            median_s[i].push(ours[i].1);
        }
    }
    println!("  message   IMB mean   our mean our median  ours/IMB [95%]");
    for (i, bytes) in SIZES.iter().enumerate() {
        let medians =
            [&imb_s, &mean_s, &median_s].map(|times| stats::median(&stats::sorted(times[i].iter().copied())));
        let [imb, mean, median] = medians.map(|time| units::seconds(time.expect("a time")));
        let pairs = mean_s[i].iter().copied().zip(imb_s[i].iter().copied());
        let ratio = stats::paired_ratio(pairs).expect("a ratio");
        let (low, high) = ratio.interval.expect("an interval of six launches");
        println!(
            "{:>9} {imb:>10} {mean:>10} {median:>10}      {:.2} [{low:.2}, {high:.2}]",
            units::bytes(*bytes),
            ratio.value
        );
    }
}

/// One launch of IMB: its one-way times.
fn theirs(installation: &Installation, imb: &Path) -> [f64; SIZES.len()] {
    let mut list = tempfile::NamedTempFile::new().expect("a file for the sizes");
    SIZES.iter().try_for_each(|bytes| writeln!(list, "{bytes}")).expect("sizes are written");
    let list = list.path().display().to_string();
    let args = ["PingPong", "-msglen", &list, "-time", TIME_S].map(str::to_owned);
    // IMB was linked with another MPI, and must find the libraries of this one.
    let folders: Vec<String> =
        installation.library_dirs.iter().map(|dir| dir.display().to_string()).collect();
    let launch = Launch {
        installation,
        ranks: 2,
        threads: 1,
        program: imb,
        args: &args,
        programs: &Trusted::default(),
        bind: true,
        memory: MemoryKind::Host,
        stand_in: None,
        env: [("LD_LIBRARY_PATH".to_owned(), folders.join(":"))].into(),
    };
    let line = launch.command_line().expect("a command line");
    let output = output(Command::new(line.program).args(line.args).envs(line.env));
    // Bytes, repetitions, microseconds, megabytes per second.
    let row = |line: &str| {
        let mut cells = line.split_whitespace();
        let (bytes, _repetitions) = (cells.next()?.parse::<u64>().ok()?, cells.next()?.parse::<u64>().ok()?);
        Some((bytes, cells.next()?.parse::<f64>().ok()? * 1e-6))
    };
    let rows: Vec<_> = output.lines().filter_map(row).collect();
    SIZES.map(|bytes| rows.iter().find(|row| row.0 == bytes).expect("a row of IMB for each size").1)
}

/// Runs a command that must succeed; its standard output.
fn output(command: &mut Command) -> String {
    let ended = command.output().expect("the program starts");
    assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

/// One launch of our program: mean and median one-way times.
fn ours(mpi: &str) -> [(f64, f64); SIZES.len()] {
    let dir = tempfile::tempdir().expect("a folder for results");
    let sizes = SIZES.map(|bytes| bytes.to_string()).join(",");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    command.args(["run", "contiguous", "-p", &format!("bytes={sizes}"), "--mpi", mpi]);
    command.args(["-m", "reference_untouched", "--launches", "1", "--max-time", TIME_S, "--out"]);
    output(command.arg(dir.path().join("out")));
    let table =
        csv::Reader::from_path(dir.path().join("out/launches.csv")).map(csv::Reader::into_deserialize);
    let rows: Vec<BTreeMap<String, String>> =
        table.and_then(|rows| rows.collect::<Result<_, _>>()).expect("a table of launches");
    SIZES.map(|size| {
        let wanted = [("phase", "round_trip"), ("pair", "all"), ("bytes", &size.to_string())];
        let row = rows.iter().find(|row| wanted.iter().all(|&(column, value)| row[column] == value));
        let row = row.expect("a row for each size");
        let one_way = |column: &str| row[column].parse::<f64>().expect("a time") / 2.0;
        (one_way("mean_s"), one_way("median_s"))
    })
}
