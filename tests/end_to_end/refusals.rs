//! What must be refused: at once, with exit code 2 and a message that names what is wrong, and leaving nothing.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;

use super::job::{everything_in, run};
use super::setup::ddtbench;
use super::trial::beside_others;

/// A check in an empty folder.
type Check = fn(&Path);

/// What is typed, and what the message must name.
type Refusal = (&'static str, &'static [&'static str], &'static [&'static str]);

const REFUSALS: &[Refusal] = &[
    ("an unknown test, with the nearest name", &["run", "wrf_x_vek"], &["wrf_x_vek", "wrf_x_vec"]),
    ("an unknown method, with all names", &["run", "-m", "dtt"], &["dtt", "ddt", "mpi_pack"]),
    ("an unknown set, with the test's", &["run", "fft2d", "--set", "257"], &["257", "fft2d", "256"]),
    ("a set that no test has", &["run", "--set", "nosuch"], &["nosuch"]),
    ("an unknown parameter, with the test's", &["run", "nas_lu_y", "-p", "mx=8"], &["mx", "nx"]),
    ("a value that is no number", &["run", "nas_lu_y", "-p", "nx=many"], &["nx", "many"]),
    ("a value that cannot be", &["run", "nas_lu_y", "-p", "nx=-3"], &["nx", "-3"]),
    ("a parameter without a value", &["run", "nas_lu_y", "-p", "nx"], &["NAME=VALUE"]),
    ("parameters of all tests at once", &["run", "-p", "nx=8"], &["TEST"]),
    ("an odd number of ranks", &["run", "--ranks", "3"], &["ranks", "3", "even"]),
    ("no ranks at all", &["run", "--ranks", "0"], &["ranks", "0", "from 1"]),
    ("a number of ranks that is none", &["run", "--ranks", "two"], &["--ranks", "two"]),
    ("an unknown MPI", &["run", "--mpi", "nosuch"], &["nosuch"]),
    ("an MPI that is not installed", &["run", "--mpi", "mpich==1.0"], &["ddtbench mpi install mpich==1.0"]),
    (
        "a number that is too large, with the largest",
        &["run", "--warmup", "18446744073709551615"],
        &["18446744073709551615", "from 0 to 4294967295"],
    ),
    (
        "a silence of nothing",
        &["run", "--set-plan", "limits.timeout_s=1e-300"],
        &["timeout_s = 1e-300", "from 0.1 to"],
    ),
    ("to compare for centuries", &["compare", "--time", "9999999h"], &["--time", "at most 1000000 s"]),
    ("a limit of no time", &["run", "--max-time", "0"], &["max_time", "0"]),
    (
        "fewer runs at most than at least",
        &["run", "--min-runs", "9", "--max-runs", "3"],
        &["max_runs", "min_runs"],
    ),
    ("a precision of no width", &["run", "--precision", "nan"], &["precision"]),
    (
        "more memory than the machine has",
        &["run", "contiguous", "-p", "bytes=1000000000000000"],
        &["contiguous", "1000000000000000", "memory", "GiB"],
    ),
    ("to resume with other ranks", &["run", "--resume", "x", "--ranks", "4"], &["--resume", "--ranks"]),
    ("to resume what is no run", &["run", "--resume", "nosuch"], &["nosuch"]),
    ("tests beside a plan", &["run", "fft2d", "--plan", "x"], &["--plan", "TEST"]),
    ("a plan that is not there", &["run", "--plan", "nosuch.toml"], &["nosuch.toml"]),
    (
        "a flag before a command",
        &["--max-time", "1", "doctor"],
        &["doctor is a command", "`ddtbench doctor ...`"],
    ),
    ("an unknown flag", &["run", "--rank", "2"], &["--rank"]),
    ("an unknown key of a plan, with the nearest", &["run", "--set-plan", "sed=2"], &["--set-plan", "seed"]),
    ("to compare nothing", &["compare"], &["--mpi", "BASE"]),
    ("to compare what is no folder", &["compare", "nosuch", "other"], &["nosuch", "--mpi"]),
    ("to compare with a threshold of nothing", &["compare", "--threshold", "0"], &["--threshold", "5%"]),
    ("to compare for a time without a unit", &["compare", "--time", "10"], &["--time", "10m"]),
    (
        "to compare by too few launches",
        &["compare", "--mpi", "a,b", "--launches", "2"],
        &["--launches 2", "three"],
    ),
    ("a control that is no method", &["compare", "--mpi", "a,b", "--control", "dtt"], &["dtt", "ddt"]),
    ("a report of what is no run", &["report", "nosuch"], &["nosuch"]),
    ("the layout of an unknown test", &["layout", "nas_lu_z"], &["nas_lu_z", "nas_lu_"]),
    (
        "a layout of more entries than there is memory for",
        &["layout", "scattered", "-p", "count=2147483647,places=2147483647"],
        &["scattered", "GiB", "available"],
    ),
    (
        "a run of more entries than there is memory for",
        &["run", "scattered", "-p", "count=2147483647,places=2147483647"],
        &["scattered", "GiB", "available"],
    ),
    (
        "a layout that is none, with its place",
        &["run", "--layout", "vector(408, 5, double)"],
        &["column 16", "`double`", "the stride of vector(count, blocklength, stride, type)"],
    ),
    (
        "a file of a layout that is not there",
        &["run", "--layout", "nosuch.toml"],
        &["nosuch.toml", "file not found"],
    ),
    (
        "a layout that overlaps where it is received",
        &["engine", "--layout", "vector(3, 2, 1, double)"],
        &["parameter receive", "each byte once", "byte 8"],
    ),
    ("a layout without data", &["run", "--layout", "contiguous(0, double)"], &["send", "no data"]),
    (
        "a layout beside a plan",
        &["run", "--layout", "contiguous(3, double)", "--plan", "x"],
        &["--layout", "--plan"],
    ),
    (
        "a layout beside a set",
        &["run", "--layout", "contiguous(3, double)", "--set", "256"],
        &["--layout", "--set"],
    ),
    ("parameters of a layout", &["run", "--layout", "contiguous(3, double)", "-p", "n=8"], &["-p", "TEST"]),
    (
        "methods by hand for a layout",
        &["run", "--layout", "contiguous(3, double)", "-m", "manual"],
        &["manual", "no loops written by hand", "loop"],
    ),
    (
        "a layout larger than the machine's memory",
        &["run", "--layout", "hvector(2, 1, 4000000000000000, double)"],
        &["layout", "memory", "GiB"],
    ),
    ("a layout of several sizes", &["layout", "fft2d", "-p", "n=256,512"], &["n", "one value"]),
    ("a parameter that is given twice", &["run", "fft2d", "-p", "n=256", "-p", "n=512"], &["n=A,B"]),
    (
        "an unknown MPI beside a known one, though nothing is run",
        &["run", "contiguous", "--mpi", "nosuch,mpich", "--dry-run"],
        &["nosuch"],
    ),
    ("to remove an unknown MPI", &["mpi", "remove", "nosuch"], &["nosuch"]),
    ("to install what it does not know", &["mpi", "install", "nosuch"], &["nosuch", "mpich", "openmpi"]),
    ("to add what is no compiler", &["mpi", "add", "mine", "--mpicc", "/no/such/mpicc"], &["/no/such/mpicc"]),
    (
        "an unknown mechanism, with all names",
        &["partitioned", "-m", "psend"],
        &["psend", "isend", "rma_fence"],
    ),
    ("an aggregation of nothing", &["partitioned", "-m", "aggregated:bins=0"], &["bins=0", "at least 1"]),
    (
        "an aggregation that adapts, over fixed partitions",
        &["partitioned", "-m", "aggregated:adaptive@partitioned"],
        &["adaptive", "fixed"],
    ),
    (
        "an unknown order, with all names",
        &["partitioned", "-p", "order=sideways"],
        &["sideways", "neighbourhood"],
    ),
    (
        "an unknown arrival, with all names",
        &["partitioned", "-p", "arrival=poisson"],
        &["poisson", "laggard"],
    ),
    ("a size that is none", &["partitioned", "-p", "bytes=4XB"], &["bytes", "4XB", "64KiB"]),
    ("no partitions at all", &["partitioned", "-p", "partitions=0"], &["partitions", "0"]),
    ("no threads at all", &["partitioned", "-p", "threads=0"], &["threads", "0"]),
    ("an unknown way to compute", &["partitioned", "-p", "emulate=nap"], &["nap", "spin", "sleep", "work"]),
    ("ranks of a transfer between two", &["partitioned", "--ranks", "4"], &["--ranks"]),
    (
        "recorded arrivals that are not there",
        &["partitioned", "-p", "arrival=kde:/no/such"],
        &["/no/such", "sparse"],
    ),
    (
        "a laggard where nobody computes",
        &["partitioned", "-p", "arrival=laggard:4%"],
        &["laggard", "computing time"],
    ),
    (
        "partitions and partitions per thread",
        &["partitioned", "-p", "theta=2", "-p", "partitions=4"],
        &["theta", "twice"],
    ),
    (
        "threads of a halo twice",
        &["halo", "nas_mg", "-p", "threads=2", "-p", "threads=4"],
        &["threads", "twice"],
    ),
    (
        "an unknown check",
        &["conform", "partitioned", "equal_count"],
        &["equal_count", "equal_counts", "ring"],
    ),
    (
        "more partitions than memory",
        &["partitioned", "-p", "bytes=4MiB", "-p", "partitions=2000000000"],
        &["partitions=2000000000", "GiB", "available"],
    ),
    ("a comparison of one MPI", &["compare", "--mpi", "mpich", "nas_lu_y"], &["mpich alone", "needs two"]),
    ("a figure that is none", &["figure", "cmb-9"], &["cmb-9", "cmb-5", "nbc-6"]),
    ("a value of a figure that is none", &["figure", "hlrs-3", "-p", "ordr=random"], &["ordr", "order"]),
    (
        "a limit beside a rule that has its own",
        &["partitioned", "--set-plan", "limits.rule=pcomm", "--precision", "1"],
        &["--precision", "the rule pcomm"],
    ),
    ("values beside a plan", &["partitioned", "--plan", "x", "-p", "compute_us=5"], &["--params", "--plan"]),
    (
        "to resume with other values",
        &["partitioned", "--resume", "x", "-p", "bytes=8"],
        &["--resume", "--params"],
    ),
    (
        "halo: ranks that a grid cannot have, with the nearest",
        &["halo", "nas_mg", "-n", "3"],
        &["nas_mg", "3", "2 and 4"],
    ),
    ("halo: a late partition", &["halo", "nas_mg", "-p", "arrival=delay:100"], &["delay:100", "laggard"]),
    ("halo: an unknown exchange, with the nearest name", &["halo", "nas_mgg"], &["nas_mgg", "nas_mg"]),
    (
        "halo: an unknown method, with all names",
        &["halo", "nas_mg", "-m", "dtt"],
        &["dtt", "ddt", "neighbor_alltoallw"],
    ),
    (
        "halo: to resume with other threads",
        &["halo", "--resume", "x", "-p", "threads=2"],
        &["--resume", "--params"],
    ),
    ("halo: single values of all exchanges", &["halo", "-p", "d1=10"], &["TEST"]),
    ("halo: a width that no patch has", &["halo", "wrf_vec", "-p", "width=30"], &["width", "30"]),
    (
        "halo: a face, where all are sent",
        &["halo", "subarray", "-p", "face=x+"],
        &["subarray", "face", "width"],
    ),
    ("halo: cold caches", &["halo", "nas_mg", "--cache", "cold"], &["cache", "cold", "warm"]),
    ("halo: no threads", &["halo", "nas_mg", "-p", "threads=0"], &["threads", "0"]),
    (
        "halo: a layout that is none",
        &["halo", "--layout", "vector(408, 5, double)"],
        &["column 16", "whole number"],
    ),
    (
        "halo: a layout that overlaps",
        &["halo", "--layout", "vector(3, 2, 1, double)"],
        &["receive", "each byte once"],
    ),
    (
        "halo: methods by hand for a layout",
        &["halo", "--layout", "double", "-m", "manual"],
        &["manual", "loop"],
    ),
    (
        "halo: neighbours that no grid has",
        &["halo", "layout", "-p", "neighbours=up"],
        &["neighbours", "both", "faces2d"],
    ),
    (
        "halo: a layout that is given twice",
        &["halo", "--layout", "double", "-p", "send=byte"],
        &["send", "--layout"],
    ),
    (
        "halo: to resume with a layout",
        &["halo", "--resume", "x", "--layout", "double"],
        &["--resume", "--layout"],
    ),
    ("overlap: an unknown operation", &["overlap", "ibcst"], &["ibcst", "iallreduce"]),
    ("overlap: a time that is none", &["overlap", "ibcast", "-p", "communication_us=1h"], &["1h", "500us"]),
    ("overlap: a message between three ranks", &["overlap", "isend", "-n", "3"], &["3 ranks", "even"]),
    (
        "overlap: an element of what adds nothing",
        &["overlap", "ibcast", "-p", "element=float"],
        &["ibcast", "element"],
    ),
    (
        "overlap: an element that cannot be added",
        &["overlap", "ireduce", "-p", "element=byte"],
        &["byte", "double or float"],
    ),
    ("overlap: one rank alone", &["overlap", "ibcast", "-n", "1"], &["1", "at least 2"]),
    ("overlap: a cold cache", &["overlap", "ibcast", "--cache", "cold"], &["cold", "warm"]),
    ("overlap: more bytes than a count", &["overlap", "ibcast", "-p", "bytes=3GiB"], &["3GiB", "2147483647"]),
    (
        "overlap: a rim that is nearly all",
        &["overlap", "halo:wrf_vec", "-p", "rim_percent=95%"],
        &["95%", "90%"],
    ),
    (
        "overlap: a rim of what has none",
        &["overlap", "nas_lu_y", "-p", "rim_percent=5%"],
        &["nas_lu_y", "rim"],
    ),
    (
        "overlap: threads twice",
        &["overlap", "ibcast", "-p", "threads=2", "-p", "threads=2"],
        &["threads", "twice"],
    ),
];

pub fn trials() -> Vec<Trial> {
    let listed = REFUSALS.iter().map(|&(what, arguments, words)| {
        beside_others(format!("refused::{what}"), move || {
            let dir = tempfile::tempdir().unwrap();
            refuses(dir.path(), arguments, words);
        })
    });
    let prepared: [(&str, Check); 10] = [
        ("a file for what is installed and built", a_state_that_is_a_file),
        ("an unknown MPI, whose results would have had a folder", an_mpi_without_results),
        ("an output folder that is not empty", a_folder_that_is_not_empty),
        ("an output folder that cannot be written to", a_folder_that_cannot_be_written_to),
        ("a plan with a mistake, by its line", a_plan_with_a_mistake),
        ("a plan with an unknown field, by its line", a_plan_with_an_unknown_field),
        ("a plan with an unknown test, by its case", a_plan_with_an_unknown_test),
        ("a plan of another kind", a_plan_of_another_kind),
        ("a plan with what its kind does not have", a_plan_with_an_option_of_another_kind),
        ("plans and results of another schema", another_schema),
    ];
    let prepared = prepared.into_iter().map(|(what, check)| {
        beside_others(format!("refused::{what}"), move || {
            check(tempfile::tempdir().unwrap().path());
        })
    });
    listed.chain(prepared).collect()
}

/// Fails unless `ddtbench` refuses, naming all `words`, and leaves the folder that it runs in as it was.
#[track_caller]
fn refuses(dir: &Path, arguments: &[&str], words: &[&str]) {
    let before = everything_in(dir);
    let ended = run(ddtbench(dir).args(arguments)).expect_code(2).expect_err(words);
    assert!(ended.err.starts_with("error:"), "{ended}");
    assert!(ended.out.is_empty(), "{ended}");
    assert_eq!(everything_in(dir), before, "{ended}");
}

fn a_folder_that_is_not_empty(dir: &Path) {
    fs::create_dir(dir.join("mine")).unwrap();
    fs::write(dir.join("mine/thesis.txt"), "the only copy").unwrap();
    refuses(dir, &["run", "--out", "mine"], &["mine", "not empty"]);
    assert_eq!(fs::read_to_string(dir.join("mine/thesis.txt")).unwrap(), "the only copy");
}

/// The folder is made first, to show that it can be. A corrected command must find the place free again.
fn an_mpi_without_results(dir: &Path) {
    refuses(dir, &["run", "contiguous", "--mpi", "nosuch", "--out", "mine"], &["nosuch"]);
    refuses(dir, &["run", "contiguous", "--mpi", "/no/such/mpicc", "--out", "mine"], &["/no/such/mpicc"]);
}

fn a_state_that_is_a_file(dir: &Path) {
    let ended = run(ddtbench(dir).arg("doctor").env("DDTBENCH_STATE", "/dev/null")).expect_code(2);
    ended.expect_err(&["/dev/null is not a folder", "DDTBENCH_STATE"]);
}

/// A folder below a file: not even root can make that.
fn a_folder_that_cannot_be_written_to(dir: &Path) {
    fs::write(dir.join("file"), "").unwrap();
    refuses(dir, &["run", "--out", "file/results"], &["file/results"]);
    refuses(dir, &["run", "--out", "file"], &["file"]);
}

fn a_plan_with_a_mistake(dir: &Path) {
    fs::write(dir.join("plan.toml"), "schema = 1\nranks = 2\nmethods = [\"ddt\"\n[[cases]]\n").unwrap();
    refuses(dir, &["run", "--plan", "plan.toml"], &["plan.toml", "line 4"]);
}

fn a_plan_with_an_unknown_field(dir: &Path) {
    let plan = "schema = 1\nranks = 2\nprocesses = 4\n[[cases]]\ntest = \"fft2d\"\n";
    fs::write(dir.join("plan.toml"), plan).unwrap();
    refuses(dir, &["run", "--plan", "plan.toml"], &["plan.toml", "line 3", "processes"]);
}

fn a_plan_with_an_unknown_test(dir: &Path) {
    fs::write(dir.join("plan.toml"), "schema = 1\n[[cases]]\ntest = \"milc\"\n").unwrap();
    refuses(dir, &["run", "--plan", "plan.toml"], &["case 1", "milc", "milc_su3_zd"]);
}

fn a_plan_of_another_kind(dir: &Path) {
    fs::write(dir.join("plan.toml"), "schema = 1\nexperiment = \"halo\"\n[[cases]]\ntest = \"nas_mg\"\n")
        .unwrap();
    refuses(dir, &["run", "--plan", "plan.toml"], &["halo", "pingpong", "ddtbench halo --plan plan.toml"]);
}

fn a_plan_with_an_option_of_another_kind(dir: &Path) {
    let plan = "schema = 1\nexperiment = \"halo\"\nstartall = true\n[[cases]]\ntest = \"nas_mg\"\n";
    fs::write(dir.join("plan.toml"), plan).unwrap();
    refuses(dir, &["halo", "--plan", "plan.toml"], &["startall", "halo experiments have no such option"]);
}

fn another_schema(dir: &Path) {
    fs::write(dir.join("plan.toml"), "schema = 2\n[[cases]]\ntest = \"fft2d\"\n").unwrap();
    refuses(dir, &["run", "--plan", "plan.toml"], &["schema = 2", "reads schema 1"]);
    fs::create_dir(dir.join("theirs")).unwrap();
    fs::write(dir.join("theirs/launches.csv"), "experiment,schema\npingpong,3\n").unwrap();
    let expected = ["launches.csv", "line 2", "its schema is 3", "reads schema 1"];
    refuses(dir, &["report", "theirs"], &expected);
}
