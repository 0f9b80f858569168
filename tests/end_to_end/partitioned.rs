//! Partitioned transfers: every mechanism moves the right bytes, whatever the order, the sizes and the
//! threads; features that an MPI lacks are reported. `typed/partitioned.txt` tests MPIs with faults.
//!
//! Every transfer is compared, so a mechanism that has figures has moved the right bytes.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libtest_mimic::Trial;

use super::results::{Row, Summary, samples};
use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::{Kept, Measuring, type_alone};

/// As short as possible: one round and verification. Hangs on Open MPI, including those of checks, are
/// permanent, and shared machines have paused for up to three seconds.
const SHORT: &str =
    "--max-time 0.005 --min-repetitions 4 --max-repetitions 20 --warmup 1 --set-plan limits.timeout_s=6";

/// Ways to aggregate, besides the adaptive one, which has no suffix.
const AGGREGATED: [&str; 5] = [
    "aggregated:m=4",
    "aggregated:bytes=4096",
    "aggregated:bins=3",
    "aggregated:m=2@partitioned",
    "aggregated:bytes=4096@partitioned",
];
/// Mechanisms that poll for progress, which are measured only on request. The last one calls MPI at the
/// sender before the first partition is ready, in which Open MPI 5.0.11 crashes.
const POLLING: [&str; 4] =
    ["isend:test", "isend:testall", "partitioned:parrived_progress", "partitioned:progress_thread"];
/// MPI's own partitioned transfer, whose partitions have one size.
const NATIVE: [&str; 3] = ["partitioned", "partitioned:list", "partitioned:parrived"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("every mechanism moves the right bytes", every_mechanism),
        ("partitions that do not divide the bytes", unequal_partitions),
        ("both ways at once", both_ways),
        ("mechanisms that poll for progress", polling),
        ("the bulk under plain MPI_Init is compared by launches", by_launches),
        ("partitions of the receiver that are not the sender's", other_partitions),
        ("computing in every way, with every arrival", computing),
        ("the rule of bench-pcomm: attempts, of which the last counts", rule_of_pcomm),
        ("an MPI without partitioned calls, or for one thread only", lacking),
        ("a bandwidth that is given is that of the model", a_given_bandwidth),
        ("a mapping that is not the sender's is found out", another_mapping),
    ];
    trials_on(&MPIS, Need::AllProcessors, "partitioned", checks)
}

/// The mechanisms of the program's own table, and more ways to aggregate.
fn mechanisms() -> &'static [String] {
    static ALL: LazyLock<Vec<String>> = LazyLock::new(|| {
        let plan = type_alone("partitioned --dry-run").expect_code(0).out;
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

/// A short run of these methods, with these parameters.
fn measuring<'a>(mpi: &'a Mpi, methods: &[impl AsRef<str>], params: &str) -> Measuring<'a> {
    let methods = methods.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(",");
    Measuring::on(mpi, format!("partitioned -p {params} -m {methods} {SHORT}"))
}

/// Fails unless a run has `cases` cases, in each of which exactly these mechanisms have figures of all phases.
#[track_caller]
fn expect_all(kept: &Kept, cases: usize, methods: &[impl AsRef<str>]) {
    kept.summary.expect_all(cases, methods);
    expect_phases(&kept.summary);
}

#[track_caller]
fn expect_phases(summary: &Summary) {
    for row in summary.ends().into_iter().filter(|row| row.is_measured()) {
        let case = [("method", row.get("method")), ("params", row.get("params"))];
        let of_case = summary.with(&case);
        for phase in ["after_last", "total", "compute", "delay"] {
            let found = of_case.iter().filter(|row| row.get("phase") == phase).count();
            assert_eq!(found, 1, "rows of phase {phase} of {row:?}");
        }
    }
}

fn every_mechanism(mpi: &Mpi) {
    let all = mechanisms();
    let orders = ["linear", "reverse", "random", "strided:128", "burst:1024", "neighbourhood"];
    let params = format!("bytes=256KiB,partitions=8,order={}", orders.join(","));
    let in_order = measuring(mpi, all, &params).ends(0);
    expect_all(&in_order, orders.len(), all);
    for order in orders.map(|order| format!("order={order}")) {
        let messages = |method: &str| in_order.summary.end(&order, method).figure("messages");
        let known = [("single", 1.0), ("isend", 8.0), ("aggregated:m=4", 2.0), ("aggregated:bins=3", 3.0)];
        for (method, expected) in known {
            assert_eq!(messages(method), Some(expected), "messages of {method} with {order}");
        }
        assert!((1.0..=8.0).contains(&messages("aggregated").unwrap()), "{order}");
    }
    // Almost no bytes, and more threads than partitions.
    for params in ["bytes=0,64KiB,partitions=1,4", "bytes=128KiB,partitions=2,8,threads=2,3"] {
        expect_all(&measuring(mpi, all, params).ends(0), 4, all);
    }
    expect_all(&measuring(mpi, all, "bytes=64KiB,partitions=8").over_tcp().ends(0), 1, all);
}

fn unequal_partitions(mpi: &Mpi) {
    let summary = measuring(mpi, mechanisms(), "bytes=1000,3,partitions=7,8").ends(0).summary;
    expect_phases(&summary);
    for (bytes, partitions) in [(1000, 7), (1000, 8), (3, 7), (3, 8)] {
        let case = format!("bytes={bytes} partitions={partitions}");
        let reason = format!("{bytes} bytes in {partitions} partitions");
        for method in mechanisms() {
            let is_even = bytes % partitions == 0;
            let words = match &**method {
                native if NATIVE.contains(&native) && !is_even => [&reason, "one size"],
                "aggregated:m=2@partitioned" if !is_even => ["bytes in 4 partitions", "one size"],
                _ => {
                    summary.expect_measured(&case, &[method]);
                    continue;
                }
            };
            summary.expect_failed(&case, method, "not available", &words);
        }
    }
}

fn polling(mpi: &Mpi) {
    let methods = if mpi.name == "openmpi" { &POLLING[..3] } else { &POLLING };
    let params = "bytes=128KiB,partitions=8,threads=1,2,order=random";
    expect_all(&measuring(mpi, methods, params).ends(0), 2, methods);
}

/// Open MPI 5.0.11 leaves one rank in `MPI_Wait` of such transfers, in one run of two to five, if its threads
/// call `MPI_Parrived` while they mark partitions: the outcome there is not tested.
fn both_ways(mpi: &Mpi) {
    let hangs = |method: &str| mpi.name == "openmpi" && method == "partitioned:parrived";
    let methods: Vec<&str> =
        mechanisms().iter().map(String::as_str).filter(|method| !hangs(method)).collect();
    let kept = measuring(mpi, &methods, "bytes=512,256KiB,partitions=8,threads=2,ways=2").ends(0);
    expect_phases(&kept.summary);
    for bytes in ["bytes=512", "bytes=262144"] {
        for method in &methods {
            match *method {
                "send" => {
                    kept.summary.expect_failed(bytes, method, "not available", &["wait for each other"]);
                }
                _ => kept.summary.expect_measured(&format!("{bytes} ways=2"), &[method]),
            }
        }
    }
}

fn by_launches(mpi: &Mpi) {
    let methods = ["single", "single:init", "single:launched"];
    let kept = measuring(mpi, &methods, "bytes=4KiB,partitions=4,threads=2").ends(0);
    expect_all(&kept, 1, &methods);
    for method in ["single:init", "single:launched"] {
        let row = kept.summary.end("", method);
        let blocks = ["blocks", "blocks_other_state"].map(|column| row.number(column).unwrap());
        assert_eq!(blocks.iter().sum::<f64>(), 8.0, "a block for each launch: {row:?}");
    }
    let gain = |method: &str| kept.summary.end("", method).figure("gain");
    assert!(gain("single:init") > Some(0.0), "over single:launched");
    assert_eq!((gain("single:launched"), gain("single")), (None, None), "nothing to compare with");
}

/// Open MPI 5.0.11 never reports that such partitions have arrived if the receiver has more of them.
fn other_partitions(mpi: &Mpi) {
    let all = ["single", "rma_fence", "partitioned", "partitioned:list", "partitioned:parrived"];
    let methods = if mpi.name == "openmpi" { &all[..4] } else { &all };
    expect_all(&measuring(mpi, methods, "bytes=48KiB,partitions=4,6,8,receive=4,8").ends(0), 6, methods);
}

fn computing(mpi: &Mpi) {
    let methods = ["single", "persistent", "aggregated"];
    for (values, cases) in [
        ("arrival=none,laggard:10%,uniform:50%,normal:2us,kde:sparse,delay:100", 6),
        ("emulate=sleep,work", 2),
    ] {
        let params = format!("bytes=4KiB,partitions=4,threads=2,compute_us=20,{values}");
        let kept = measuring(mpi, &methods, &params).ends(0);
        assert_eq!(kept.summary.ends().len(), cases * methods.len());
        for row in kept.summary.with(&[("phase", "compute")]) {
            assert!(row.is_measured() && row.number("median_s") > Some(10e-6), "{row:?}");
        }
    }
    // 20 ms for the last partition, far more than any message costs: it is sent separately, and most of the others together.
    let params = "partition_bytes=1000,partitions=32,arrival=delay:20000000";
    let kept = measuring(mpi, &["aggregated"], params).ends(0);
    expect_all(&kept, 1, &["aggregated"]);
    let messages = kept.summary.end("", "aggregated").figure("messages").unwrap();
    assert!((2.0..32.0).contains(&messages), "{messages} messages");
}

fn rule_of_pcomm(mpi: &Mpi) {
    let line =
        "partitioned -p bytes=64KiB,partitions=4 --set-plan limits.rule=pcomm -m single,isend,partitioned";
    let kept = Measuring::on(mpi, line).ends(0);
    // A resumed run follows the same rule; here nothing remains to be done.
    kept.types("partitioned --resume out").expect_code(0);
    let samples = samples(&kept.out());
    for method in ["single", "isend", "partitioned"] {
        let row = kept.summary.end("", method);
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

fn lacking(mpi: &Mpi) {
    let params = "bytes=4KiB,partitions=4";
    let without = measuring(mpi, mechanisms(), params).ranks_see("DDTBENCH_HIDE_SYMBOLS", "MPI_Psend_init");
    let without = without.ends(0).summary;
    let for_one =
        measuring(mpi, mechanisms(), &format!("{params},threads=1,2")).fault("single").ends(0).summary;
    expect_phases(&without);
    expect_phases(&for_one);
    for method in mechanisms() {
        match NATIVE.contains(&&**method) || method.ends_with("@partitioned") {
            true => without.expect_failed("", method, "not available", &["MPI_Psend_init"]),
            false => without.expect_measured("", &[method]),
        }
        for_one.expect_measured("threads=1", &[method]);
        match method.as_str() {
            "single" => for_one.expect_measured("threads=2", &[method]),
            _ => {
                let words = ["2 threads", "MPI_THREAD_SINGLE"];
                for_one.expect_failed("threads=2", method, "not available", &words);
            }
        }
    }
}

/// 64 KiB at 1 kB/s take a minute, compared with which delays are negligible; at 10^6 GB/s they take less time than any message.
fn a_given_bandwidth(mpi: &Mpi) {
    // Ten rounds, limited by repetitions: figures have intervals.
    let line = "partitioned -m single,many --max-time 60 --min-repetitions 4 --max-repetitions 40 -p bytes=64KiB,partitions=4";
    let summary = Measuring::on(mpi, format!("{line},beta=0.000001,1000000")).ends(0).summary;
    let slow = summary.end("beta=0.000001", "many");
    let [model, gain, difference] =
        ["gain_model", "gain", "gain_difference"].map(|name| slow.figure(name).expect("ten rounds"));
    assert!(slow.get("gain_model_against") == "equation 4" && (1.0..1.01).contains(&model), "{slow:?}");
    assert!((difference - (gain - model)).abs() < 0.1, "{slow:?}");
    let fast = summary.end("beta=1000000", "many");
    assert!(["equation 5", "no equation"].contains(&fast.get("gain_model_against")), "{fast:?}");
}

/// The partitions that the receiver waits for differ in number and size from those that arrive. An MPI may
/// refuse that, or deliver wrong bytes, or only some of them.
fn another_mapping(mpi: &Mpi) {
    let [adaptive, others] = [&["aggregated:adaptive"][..], &["single", "aggregated:m=1"]];
    let measuring = measuring(mpi, &[adaptive, others].concat(), "bytes=24KiB,partitions=8");
    let summary = measuring.fault("remapped 8").ends(1).summary;
    summary.expect_measured("", others);
    let row = summary.end("", adaptive[0]);
    let ends = ["wrong data", "MPI error", "timed out"];
    assert!(ends.contains(&row.get("outcome")) && row.number("median_s").is_none(), "{row:?}");
}
