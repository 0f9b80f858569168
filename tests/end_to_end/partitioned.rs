//! Partitioned transfers: every mechanism moves the right bytes, whatever the order, the sizes and the threads, and what an
//! MPI cannot do is told.
//!
//! Every transfer is compared, so a mechanism that has figures has moved the right bytes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libtest_mimic::Trial;

use super::by_hand::{mpiexec, refuses_once};
use super::faulty_mpi;
use super::job::run;
use super::results::{ATTEMPTS_AFTER_CRASHES, Row, Summary, samples};
use super::setup::{
    Check, Mpi, ONE_LAUNCH, ddtbench, in_environment, on_every_mpi, trials_on, waiting_on_every_mpi,
};
use super::trial::Need;

/// As short as it can be: one round and verification. What hangs on Open MPI, checks among it, hangs for good, and machines that
/// are shared have stood still for three seconds; one limit for all, since results of checks are known under that.
const SHORT: [&str; 10] = [
    "--max-time",
    "0.005",
    "--min-runs",
    "4",
    "--max-runs",
    "20",
    "--warmup",
    "1",
    "--set-plan",
    "limits.timeout_s=6",
];
/// Ways to aggregate beside that without a name, which adapts.
const AGGREGATED: [&str; 5] = [
    "aggregated:m=4",
    "aggregated:bytes=4096",
    "aggregated:bins=3",
    "aggregated:m=2@partitioned",
    "aggregated:bytes=4096@partitioned",
];
/// Mechanisms that poll for progress, which are measured only if asked for. The last calls MPI at the sender before the first
/// partition is ready, which Open MPI 5.0.11 does not survive.
const POLLING: [&str; 4] =
    ["isend:test", "isend:testall", "partitioned:parrived_progress", "partitioned:progress_thread"];
/// MPI's own partitioned transfer, whose partitions are of one size.
const NATIVE: [&str; 3] = ["partitioned", "partitioned:list", "partitioned:parrived"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("every mechanism moves the right bytes in every order", orders),
        ("partitions that do not divide the bytes", unequal_partitions),
        ("no bytes, and one partition", next_to_nothing),
        ("threads, and more of them than partitions", threads),
        ("both ways at once", both_ways),
        ("mechanisms that poll for progress", polling),
        ("the bulk under plain MPI_Init is compared by launches", by_launches),
        ("partitions of the receiver that are not the sender's", other_partitions),
        ("computing in every way, with every arrival", computing),
        ("over TCP", over_tcp),
        ("the rule of bench-pcomm: attempts, of which the last counts", rule_of_pcomm),
        ("an MPI without partitioned calls", without_calls),
        ("an MPI for one thread alone", one_thread_alone),
        ("virtual interfaces, which are MPICH's", virtual_interfaces),
        ("a bandwidth that is given is that of the model", a_given_bandwidth),
    ];
    let waiting: &[(&str, Check)] = &[
        ("a message that goes elsewhere is found out", a_message_elsewhere),
        ("a fault that begins where transfers are timed is found out", a_late_fault),
        ("a mapping that is none is found out", a_damaged_mapping),
        ("a mapping that is not the sender's is found out", another_mapping),
        ("receives are started by one call where that is asked for", started_by_one_call),
        ("the rank program refuses any number of ranks but two, once", ranks),
    ];
    let mut trials = on_every_mpi("partitioned", checks);
    trials.extend(waiting_on_every_mpi("partitioned", waiting));
    // It waits for the time limit.
    let dropped: (&str, Check) = ("a partition that is never sent is found out", a_dropped_partition);
    trials.extend(trials_on(&["mpich"], Need::Waiting, "partitioned", &[dropped]));
    trials
}

/// The mechanisms of the program's own table, and more ways to aggregate.
fn mechanisms() -> &'static [String] {
    static ALL: LazyLock<Vec<String>> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        let plan = run(ddtbench(dir.path()).args(["partitioned", "--dry-run"])).expect_code(0).out;
        let line = plan.lines().find_map(|line| line.strip_prefix("methods = ")).expect("a plan has methods");
        let mut all: Vec<String> = serde_json::from_str(line).expect("a list of texts");
        assert!(
            all.len() >= 14 && NATIVE.iter().all(|native| all.iter().any(|name| name == native)),
            "{all:?}"
        );
        all.extend(AGGREGATED.map(str::to_owned));
        all
    });
    &ALL
}

/// What a run is told beside its cases.
#[derive(Default)]
struct Conditions<'a> {
    /// All mechanisms without any.
    methods: &'a [&'a str],
    /// Options of the launcher.
    launcher: &'a [&'a str],
    /// Variables that the ranks see.
    environment: &'a [(&'a str, &'a str)],
    /// The exit code.
    code: i32,
}

/// A short run; what it kept.
fn measure(mpi: &Mpi, arguments: &[&str], conditions: &Conditions<'_>) -> Summary {
    let methods = match conditions.methods {
        [] => mechanisms().join(","),
        chosen => chosen.join(","),
    };
    let mut attempts = 0;
    loop {
        let dir = tempfile::tempdir().unwrap();
        let mut command = ddtbench(dir.path());
        command.args(["partitioned", "--mpi", mpi.name, "--out", "out", "-m", &methods]);
        command.args(SHORT).args(ONE_LAUNCH).args(arguments).arg("--").args(conditions.launcher);
        in_environment(mpi, &mut command, conditions.environment);
        let ended = run(&mut command);
        assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
        let summary = Summary::read(&dir.path().join("out"));
        if attempts == ATTEMPTS_AFTER_CRASHES || summary.crashed_by_puts().is_empty() {
            ended.expect_code(conditions.code);
            return summary;
        }
        attempts += 1;
    }
}

/// The row that tells how a mechanism ended in the case that has all of these parameters.
#[track_caller]
fn end<'a>(summary: &'a Summary, params: &[&str], method: &str) -> &'a Row {
    let has_params = |row: &&Row| {
        let given: Vec<_> = row.get("params").split(' ').collect();
        params.iter().all(|param| given.contains(param))
    };
    let ends = summary.with(&[("method", method), ("phase", "solution"), ("pair", "all")]);
    let found: Vec<_> = ends.into_iter().filter(has_params).collect();
    assert_eq!(found.len(), 1, "rows of {method} with {params:?}: {found:?}");
    found[0]
}

#[track_caller]
fn expect_measured(summary: &Summary, params: &[&str], method: &str) {
    let row = end(summary, params, method);
    assert!(row.is_measured() && row.number("median_s") > Some(0.0), "{row:?}");
    let case = row.get("params");
    for phase in ["after_last", "total", "compute", "delay"] {
        let found = summary.with(&[("method", method), ("phase", phase), ("params", case)]);
        assert_eq!(found.len(), 1, "rows of phase {phase} of {method} with {params:?}");
    }
}

/// Fails unless a mechanism has no figures, for a reason with these words.
#[track_caller]
fn expect_not_available(summary: &Summary, params: &[&str], method: &str, words: &[&str]) {
    let row = end(summary, params, method);
    assert!(row.is(&[("outcome", "not available"), ("median_s", "")]), "{row:?}");
    assert!(words.iter().all(|word| row.get("detail").contains(word)), "{words:?} in {row:?}");
}

fn orders(mpi: &Mpi) {
    let orders = ["linear", "reverse", "random", "strided:128", "burst:1024", "neighbourhood"];
    let case = ["-p", "bytes=256KiB", "-p", "partitions=8", "-p", &format!("order={}", orders.join(","))];
    let summary = measure(mpi, &case, &Conditions::default());
    for order in orders.map(|order| format!("order={order}")) {
        mechanisms().iter().for_each(|method| expect_measured(&summary, &[&order], method));
        let messages = |method: &str| end(&summary, &[&order], method).figure("messages");
        let known = [("single", 1.0), ("isend", 8.0), ("aggregated:m=4", 2.0), ("aggregated:bins=3", 3.0)];
        for (method, expected) in known {
            assert_eq!(messages(method), Some(expected), "messages of {method} with {order}");
        }
        assert!((1.0..=8.0).contains(&messages("aggregated").unwrap()), "{order}");
    }
    let ends = summary.with(&[("phase", "solution")]).len();
    assert_eq!(ends, orders.len() * mechanisms().len(), "a row for each case and mechanism, and no other");
}

fn unequal_partitions(mpi: &Mpi) {
    let case = ["-p", "bytes=1000,3", "-p", "partitions=7,8"];
    let summary = measure(mpi, &case, &Conditions::default());
    for (bytes, partitions) in [(1000, 7), (1000, 8), (3, 7), (3, 8)] {
        let params = [&*format!("bytes={bytes}"), &*format!("partitions={partitions}")];
        let reason = format!("{bytes} bytes in {partitions} partitions");
        for method in mechanisms() {
            let is_even = bytes % partitions == 0;
            match &**method {
                native if NATIVE.contains(&native) && !is_even => {
                    expect_not_available(&summary, &params, native, &[&reason, "one size"]);
                }
                "aggregated:m=2@partitioned" if !is_even => {
                    expect_not_available(&summary, &params, method, &["bytes in 4 partitions", "one size"]);
                }
                _ => expect_measured(&summary, &params, method),
            }
        }
    }
}

fn next_to_nothing(mpi: &Mpi) {
    let case = ["-p", "bytes=0,64KiB", "-p", "partitions=1,4"];
    let summary = measure(mpi, &case, &Conditions::default());
    for bytes in ["bytes=0", "bytes=65536"] {
        for partitions in ["partitions=1", "partitions=4"] {
            mechanisms().iter().for_each(|method| expect_measured(&summary, &[bytes, partitions], method));
        }
    }
}

fn threads(mpi: &Mpi) {
    let case = ["-p", "bytes=128KiB", "-p", "partitions=2,8", "-p", "threads=2,3"];
    let summary = measure(mpi, &case, &Conditions::default());
    for threads in ["threads=2", "threads=3"] {
        for partitions in ["partitions=2", "partitions=8"] {
            mechanisms().iter().for_each(|method| expect_measured(&summary, &[threads, partitions], method));
        }
    }
}

fn polling(mpi: &Mpi) {
    let case = ["-p", "bytes=128KiB", "-p", "partitions=8", "-p", "threads=1,2", "-p", "order=random"];
    let methods = if mpi.name == "openmpi" { &POLLING[..3] } else { &POLLING };
    let summary = measure(mpi, &case, &Conditions { methods, ..Conditions::default() });
    for threads in ["threads=1", "threads=2"] {
        methods.iter().for_each(|method| expect_measured(&summary, &[threads], method));
    }
}

/// Open MPI 5.0.11 leaves one rank in `MPI_Wait` of such transfers, in one run of two to five, where its threads ask with
/// `MPI_Parrived` while they mark partitions: nothing can be expected of that there.
fn both_ways(mpi: &Mpi) {
    let case = ["-p", "bytes=512,256KiB", "-p", "partitions=8", "-p", "threads=2", "-p", "ways=2"];
    let hangs = |method: &str| mpi.name == "openmpi" && method == "partitioned:parrived";
    let methods: Vec<&str> =
        mechanisms().iter().map(String::as_str).filter(|method| !hangs(method)).collect();
    let summary = measure(mpi, &case, &Conditions { methods: &methods, ..Conditions::default() });
    for bytes in ["bytes=512", "bytes=262144"] {
        for method in &methods {
            match *method {
                "send" => expect_not_available(&summary, &[bytes], method, &["wait for each other"]),
                _ => expect_measured(&summary, &[bytes, "ways=2"], method),
            }
        }
    }
}

fn by_launches(mpi: &Mpi) {
    let methods = ["single", "single:init", "single:launched"];
    let case = ["-p", "bytes=4KiB", "-p", "partitions=4", "-p", "threads=2"];
    let summary = measure(mpi, &case, &Conditions { methods: &methods, ..Conditions::default() });
    methods.iter().for_each(|method| expect_measured(&summary, &[], method));
    for method in ["single:init", "single:launched"] {
        let row = end(&summary, &[], method);
        let blocks = ["blocks", "blocks_other_state"].map(|column| row.number(column).unwrap());
        assert_eq!(blocks.iter().sum::<f64>(), 8.0, "a block for each launch: {row:?}");
    }
    let gain = |method: &str| end(&summary, &[], method).figure("gain");
    assert!(gain("single:init") > Some(0.0), "over single:launched");
    assert_eq!((gain("single:launched"), gain("single")), (None, None), "nothing ran beside them");
}

/// Open MPI 5.0.11 never says that such partitions have arrived, where the receiver has more of them.
fn other_partitions(mpi: &Mpi) {
    let case = ["-p", "bytes=48KiB", "-p", "partitions=4,6,8", "-p", "receive=4,8"];
    let all = ["single", "rma_fence", "partitioned", "partitioned:list", "partitioned:parrived"];
    let methods = if mpi.name == "openmpi" { &all[..4] } else { &all };
    let summary = measure(mpi, &case, &Conditions { methods, ..Conditions::default() });
    for partitions in ["partitions=4", "partitions=6", "partitions=8"] {
        for receive in ["receive=4", "receive=8"] {
            methods.iter().for_each(|method| expect_measured(&summary, &[partitions, receive], method));
        }
    }
}

fn computing(mpi: &Mpi) {
    let methods = ["single", "persistent", "aggregated"];
    let arrivals = ["none", "laggard:10%", "uniform:50%", "normal:2us", "kde:sparse", "delay:100"].join(",");
    let message = ["-p", "bytes=4KiB", "-p", "partitions=4", "-p", "threads=2", "-p", "compute_us=20"];
    for values in [format!("arrival={arrivals}"), "emulate=sleep,work".to_owned()] {
        let case = [&message[..], &["-p", &values]].concat();
        let summary = measure(mpi, &case, &Conditions { methods: &methods, ..Conditions::default() });
        let cases = values.split(',').count();
        assert_eq!(summary.with(&[("phase", "solution")]).len(), cases * methods.len());
        for row in summary.with(&[("phase", "compute")]) {
            assert!(row.is_measured() && row.number("median_s") > Some(10e-6), "{row:?}");
        }
    }
    // A millisecond for the last partition, whatever messages cost: it travels alone, and most of the others together.
    let case = ["-p", "partition_bytes=1000", "-p", "partitions=32", "-p", "arrival=delay:1000000"];
    let summary = measure(mpi, &case, &Conditions { methods: &["aggregated"], ..Conditions::default() });
    expect_measured(&summary, &[], "aggregated");
    let messages = end(&summary, &[], "aggregated").figure("messages").unwrap();
    assert!((2.0..32.0).contains(&messages), "{messages} messages");
}

/// The loopback interface stands for a network: it shares no memory.
fn over_tcp(mpi: &Mpi) {
    let conditions = match mpi.name {
        "openmpi" => Conditions {
            launcher: &["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"],
            ..Conditions::default()
        },
        _ => Conditions {
            environment: &[("MPIR_CVAR_NOLOCAL", "1"), ("UCX_TLS", "tcp,self")],
            ..Conditions::default()
        },
    };
    let case = ["-p", "bytes=64KiB", "-p", "partitions=8"];
    let summary = measure(mpi, &case, &conditions);
    mechanisms().iter().for_each(|method| expect_measured(&summary, &[], method));
}

fn rule_of_pcomm(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    let case = [
        "-p",
        "bytes=64KiB",
        "-p",
        "partitions=4",
        "--set-plan",
        "limits.rule=pcomm",
        "-m",
        "single,isend,partitioned",
    ];
    command.args(["partitioned", "--mpi", mpi.name, "--out", "out"]).args(case).args(ONE_LAUNCH);
    run(&mut command).expect_code(0);
    // What is resumed goes by the same rule; here nothing is left to do.
    run(ddtbench(dir.path()).args(["partitioned", "--resume", "out"])).expect_code(0);
    let summary = Summary::read(&dir.path().join("out"));
    let samples = samples(&dir.path().join("out"));
    for method in ["single", "isend", "partitioned"] {
        let row = end(&summary, &[], method);
        assert!(row.is(&[("n", "150"), ("blocks", "1"), ("batch", "1"), ("median_low_s", "")]), "{row:?}");
        let of_method: Vec<&Row> = samples.iter().filter(|row| row.get("method") == method).collect();
        let timed = of_method.iter().filter(|row| row.number("solution_s").is_some()).count();
        let attempts: BTreeSet<_> =
            of_method.iter().map(|row| row.number("block").unwrap() as usize).collect();
        assert_eq!(attempts, (0..attempts.len()).collect(), "attempts follow each other");
        assert!(attempts.len() <= 50 && timed == 150 * attempts.len(), "of 150 repetitions: {timed}");
        assert!(row.get("outcome") == "converged" || attempts.len() == 50, "{row:?}");
    }
}

fn without_calls(mpi: &Mpi) {
    let conditions =
        Conditions { environment: &[("DDTBENCH_HIDE_SYMBOLS", "MPI_Psend_init")], ..Conditions::default() };
    let summary = measure(mpi, &["-p", "bytes=4KiB", "-p", "partitions=4"], &conditions);
    for method in mechanisms() {
        match NATIVE.contains(&&**method) || method.ends_with("@partitioned") {
            true => expect_not_available(&summary, &[], method, &["MPI_Psend_init"]),
            false => expect_measured(&summary, &[], method),
        }
    }
}

/// Interfaces of MPICH, of which others know nothing.
fn virtual_interfaces(mpi: &Mpi) {
    let conditions = Conditions { methods: &["single", "many"], ..Conditions::default() };
    let code = i32::from(mpi.name != "mpich");
    let summary = measure(mpi, &["-p", "bytes=4KiB", "-p", "vcis=2"], &Conditions { code, ..conditions });
    for method in ["single", "many"] {
        match mpi.name {
            "mpich" => expect_measured(&summary, &["vcis=2"], method),
            _ => expect_not_available(&summary, &["vcis=2"], method, &["vcis=2", "MPICH"]),
        }
    }
}

fn one_thread_alone(mpi: &Mpi) {
    let library = faulty_mpi::library(mpi).to_str().expect("a path in plain characters");
    let environment = [("LD_PRELOAD", library), ("FAULTY_MPI", "single")];
    let conditions = Conditions { environment: &environment, ..Conditions::default() };
    let case = ["-p", "bytes=4KiB", "-p", "partitions=4", "-p", "threads=1,2"];
    let summary = measure(mpi, &case, &conditions);
    for method in mechanisms() {
        expect_measured(&summary, &["threads=1"], method);
        match method.as_str() {
            "single" => expect_measured(&summary, &["threads=2"], method),
            _ => expect_not_available(&summary, &["threads=2"], method, &["2 threads", "MPI_THREAD_SINGLE"]),
        }
    }
}

/// A run under an MPI that errs in this way, and how its partitioned transfer ended.
fn under_fault(mpi: &Mpi, fault: &str, after: &str) -> Row {
    let library = faulty_mpi::library(mpi).to_str().expect("a path in plain characters");
    let environment = [("LD_PRELOAD", library), ("FAULTY_MPI", fault), ("FAULTY_MPI_AFTER", after)];
    let methods = ["single", "partitioned", "aggregated:m=1", "rma_fence"];
    let conditions =
        Conditions { methods: &methods, environment: &environment, code: 1, ..Conditions::default() };
    let summary = measure(mpi, &["-p", "bytes=128KiB", "-p", "partitions=128"], &conditions);
    for method in ["single", "aggregated:m=1", "rma_fence"] {
        expect_measured(&summary, &[], method);
    }
    end(&summary, &[], "partitioned").clone()
}

/// A partition that no probe has, so that only this transfer can hang.
fn a_dropped_partition(mpi: &Mpi) {
    let row = under_fault(mpi, "drop 120", "0");
    assert!(
        ["wrong data", "timed out"].contains(&row.get("outcome")) && row.number("median_s").is_none(),
        "{row:?}"
    );
}

fn a_message_elsewhere(mpi: &Mpi) {
    let row = under_fault(mpi, "elsewhere", "0");
    assert!(row.is(&[("outcome", "wrong data"), ("median_s", "")]), "{row:?}");
    assert!(row.get("detail").contains("byte 0, in partition 0"), "{row:?}");
}

/// A run of the mechanism that announces its mapping, and of one whose mapping is fixed, under an MPI that errs in this way: how
/// the former ended.
fn end_of_adaptive(mpi: &Mpi, fault: &str) -> Row {
    const ADAPTIVE: &str = "aggregated:adaptive";
    let library = faulty_mpi::library(mpi).to_str().expect("a path in plain characters");
    let environment = [("LD_PRELOAD", library), ("FAULTY_MPI", fault)];
    let methods = ["single", "aggregated:m=1", ADAPTIVE];
    let conditions =
        Conditions { methods: &methods, environment: &environment, code: 1, ..Conditions::default() };
    let summary = measure(mpi, &["-p", "bytes=24KiB", "-p", "partitions=8"], &conditions);
    for method in ["single", "aggregated:m=1"] {
        expect_measured(&summary, &[], method);
    }
    end(&summary, &[], ADAPTIVE).clone()
}

fn a_damaged_mapping(mpi: &Mpi) {
    let row = end_of_adaptive(mpi, "mapping");
    assert!(row.is(&[("outcome", "wrong data"), ("median_s", "")]), "{row:?}");
    assert!(row.get("detail").contains("a mapping with a message of the partitions 0..2"), "{row:?}");
}

/// What the receiver waits for and what comes differ in number and size: an MPI may refuse that, or bring the wrong bytes, or not
/// all of them.
fn another_mapping(mpi: &Mpi) {
    let row = end_of_adaptive(mpi, "remapped 8");
    let ends = ["wrong data", "MPI error", "timed out"];
    assert!(ends.contains(&row.get("outcome")) && row.number("median_s").is_none(), "{row:?}");
}

/// Past verification, which has five transfers, where transfers are timed, and looked at while they arrive.
fn a_late_fault(mpi: &Mpi) {
    let row = under_fault(mpi, "spoil 1029", "14");
    assert!(row.is(&[("outcome", "wrong data"), ("median_s", "")]), "{row:?}");
    assert!(row.get("detail").contains("byte 1029, in partition 1"), "{row:?}");
}

/// Who starts receives by `MPI_Startall` is known by its failing.
fn started_by_one_call(mpi: &Mpi) {
    let library = faulty_mpi::library(mpi).to_str().expect("a path in plain characters");
    let environment = [("LD_PRELOAD", library), ("FAULTY_MPI", "startall")];
    let methods = ["isend", "persistent", "many"];
    let case = ["-p", "bytes=4KiB", "-p", "partitions=4"];
    let of = |flags: &[&str], code| {
        let conditions =
            Conditions { methods: &methods, environment: &environment, code, ..Conditions::default() };
        measure(mpi, &[&case[..], flags].concat(), &conditions)
    };
    let one_by_one = of(&[], 0);
    methods.iter().for_each(|method| expect_measured(&one_by_one, &[], method));
    let by_one_call = of(&["--set-plan", "startall=true"], 1);
    // It has no requests that could be started.
    expect_measured(&by_one_call, &[], "isend");
    for method in ["persistent", "many"] {
        let row = end(&by_one_call, &[], method);
        assert!(row.is(&[("outcome", "MPI error"), ("median_s", "")]), "{row:?}");
        assert!(row.get("detail").contains("MPI_Startall"), "{row:?}");
    }
}

/// 64 KiB at 1 kB/s take a minute, beside which no delay counts; at 10^6 GB/s they take less than any message.
fn a_given_bandwidth(mpi: &Mpi) {
    let with = |beta: &str| {
        let dir = tempfile::tempdir().unwrap();
        let mut command = ddtbench(dir.path());
        command.args([
            "partitioned",
            "--mpi",
            mpi.name,
            "--out",
            "out",
            "-m",
            "single,many",
            "--max-time",
            "60",
        ]);
        // Ten rounds, by their runs: figures have intervals.
        command.args(["--min-runs", "4", "--max-runs", "40", "-p", "bytes=64KiB", "-p", "partitions=4"]);
        run(command.args(ONE_LAUNCH).args(["-p", &format!("beta={beta}")])).expect_code(0);
        let summary = Summary::read(&dir.path().join("out"));
        end(&summary, &[&format!("beta={beta}")], "many").clone()
    };
    let slow = with("0.000001");
    let [model, gain, difference] =
        ["gain_model", "gain", "gain_difference"].map(|name| slow.figure(name).expect("ten rounds"));
    assert!(slow.get("gain_model_against") == "equation 4" && (1.0..1.01).contains(&model), "{slow:?}");
    assert!((difference - (gain - model)).abs() < 0.1, "{slow:?}");
    let fast = with("1000000");
    assert!(["equation 5", "no equation"].contains(&fast.get("gain_model_against")), "{fast:?}");
}

fn ranks(mpi: &Mpi) {
    for ranks in ["1", "3"] {
        let words = [&*format!("{ranks} ranks"), "must be 2"];
        refuses_once(mpiexec(mpi, mpi, ranks).args(["partitioned", "-m", "single"]), &words);
    }
}
