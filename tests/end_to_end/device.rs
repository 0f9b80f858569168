//! Data in the memory of a device, on a machine without one: the driver is a stand-in, which protects that memory from the host, delays
//! work until somebody waits for it, and can be faulty.

use std::process::Command;

use apps::TESTS;
use ddtbench::experiments::Kind;
use ddtbench::model::conditions::MemoryKind;
use libtest_mimic::Trial;

use super::job::run;
use super::results::Summary;
use super::setup::{Check, MPIS, Mpi, install, root, trials_on};
use super::trial::Need;
use super::typed::{Measuring, typed};

pub fn trials() -> Vec<Trial> {
    let on_all: &[(&str, Check)] = &[
        ("staged methods move the right bytes of every test", every_test),
        ("memory of a device that an MPI does not take", no_device_memory),
    ];
    let mut trials = trials_on(&MPIS, Need::AllProcessors, "device", on_all);
    let on_first: &[(&str, Check)] = &[
        ("the engine's comparison packs the right bytes", packing),
        ("a faulty driver is found", faults),
        ("copies of a message are counted", counts),
        ("Intel MPI takes memory of a device", intel),
        ("every method moves the right bytes in pinned memory", pinned),
    ];
    trials.extend(trials_on(&MPIS[..1], Need::AllProcessors, "device", on_first));
    trials
}

const STAGED: [&str; 4] = ["reference:staged", "engine:mapped", "engine:staged", "copies"];
const SHORT: &str = "--min-repetitions 2 --max-repetitions 8 --max-time 60";

fn staged(line: &str) -> String {
    format!("run {line} --memory simulated -m {} {SHORT}", STAGED.join(","))
}

fn every_test(mpi: &Mpi) {
    let names: Vec<&str> = TESTS.iter().map(|test| test.name).filter(|name| *name != "layout").collect();
    let kept = Measuring::on(mpi, staged(&names.join(" "))).ends(0);
    kept.summary.expect_all(names.len(), &STAGED);
    // Shapes that no test has: three loops around a list, records by index, blocks of different lengths, single bytes.
    for layout in [
        "hvector(3, 1, 5000, hvector(4, 1, 900, hvector(2, 1, 100, vector(6, 1, 3, float))))",
        "hvector(2, 1, 4000, indexed_block(2, [7, 1, 30], float))",
        "hindexed_block(1, [0, 1200, 96, 336, 480, 720, 816, 960, 3216], vector(3, 1, 2, double))",
        "indexed([1, 3, 2, 700], [0, 5, 100, 900], int16)",
        "vector(300, 3, 7, char)",
    ] {
        Measuring::on(mpi, staged(&format!("--layout '{layout}'"))).ends(0).summary.expect_all(1, &STAGED);
    }
}

/// Packing without communication, with kernels, copies and plain copies, counted as for a message.
fn packing(mpi: &Mpi) {
    let methods = ["engine", "engine:mapped", "engine:staged", "copies", "memcpy", "bound"];
    let line = |tests: &str| format!("engine {tests} --memory simulated -m {} {SHORT}", methods.join(","));
    let kept = Measuring::on(mpi, line("nas_mg_x wrf_x_vec specfem3d_cm")).ends(0);
    kept.summary.expect_all(3, &methods);
    let copies = |method: &str| {
        let of_row = [("test", "nas_mg_x"), ("method", method), ("phase", "pack")];
        kept.summary.with(&of_row)[0].figure("device_copies")
    };
    // A copy for each of the 64 planes when packing, and as many when unpacking.
    let expected = [0.0, 0.0, 2.0, 128.0, 2.0, 2.0].map(Some);
    assert_eq!(methods.map(copies), expected, "{}", kept.ended);
    let line = format!("engine nas_mg_x --memory simulated -m engine,mpi_pack,mpi_pack:staged {SHORT}");
    let kept = Measuring::on(mpi, line).ends_in(&[0, 1]);
    kept.summary.expect_measured("nas_mg_x", &["engine"]);
    for method in ["mpi_pack", "mpi_pack:staged"] {
        kept.summary.expect_failed(
            "nas_mg_x",
            method,
            "not available",
            &["does not take memory of a device: "],
        );
    }
    for fault in ["short", "stale", "shifted", "late"] {
        let methods = ["engine:mapped", "engine:staged", "copies", "memcpy"];
        let line = format!("engine nas_mg_y --memory simulated -m {} {SHORT}", methods.join(","));
        let measuring = Measuring::on(mpi, line).env("DDTBENCH_DEVICE_FAULT", fault);
        let kept = measuring.env("DDTBENCH_DEVICE_FAULT_FROM", "150").ends(1);
        for method in methods {
            kept.summary.expect_failed("nas_mg_y", method, "wrong data", &["expected 0x"]);
        }
    }
}

fn no_device_memory(mpi: &Mpi) {
    let line =
        format!("run nas_lu_y --memory simulated -m reference,ddt,engine,mpi_pack:staged,copies {SHORT}");
    let kept = Measuring::on(mpi, line).ends_in(&[0, 1]);
    for method in ["reference", "ddt", "engine", "mpi_pack:staged"] {
        let words = ["does not take memory of a device: "];
        kept.summary.expect_failed("nas_lu_y", method, "not available", &words);
    }
    kept.summary.expect_measured("nas_lu_y", &["copies"]);
    // Less memory than the data needs: a sentence before anything is allocated.
    let line = format!("run contiguous -p bytes=40000000 --memory simulated -m copies {SHORT}");
    let kept = Measuring::on(mpi, line).env("DDTBENCH_DEVICE_BYTES", "100000000").ends(2);
    let words = "2 ranks need 0.30 GiB of memory on the device, which has 0.09 GiB available";
    assert!(kept.ended.err.contains(words), "{}", kept.ended);
}

fn faults(mpi: &Mpi) {
    for fault in ["short", "stale", "shifted", "late"] {
        // From the start, and once all methods were verified: 150 copies and kernels are those of the first few repetitions.
        for from in ["0", "150"] {
            let kept = Measuring::on(mpi, staged("nas_mg_y"))
                .env("DDTBENCH_DEVICE_FAULT", fault)
                .env("DDTBENCH_DEVICE_FAULT_FROM", from)
                .ends(1);
            for method in STAGED {
                kept.summary.expect_failed("nas_mg_y", method, "wrong data", &["expected 0x"]);
            }
        }
    }
}

fn counts(mpi: &Mpi) {
    let kept = Measuring::on(mpi, staged("nas_mg_x wrf_x_vec fft2d")).ends(0);
    let copies = |test: &str, method: &str| {
        let row = kept.summary.with(&[("test", test), ("method", method), ("phase", "round_trip")]);
        row[0].figure("device_copies")
    };
    for test in ["nas_mg_x", "wrf_x_vec", "fft2d"] {
        let of_test = STAGED[..3].iter().map(|method| copies(test, method));
        // One at each end, which only the mapped memory saves.
        assert_eq!(of_test.collect::<Vec<_>>(), [Some(2.0), Some(0.0), Some(2.0)], "{test}");
    }
    // The same in a sentence, and no conclusion from times.
    let sentence = "nas_mg_x 130x66x66: reference:staged 2, engine:mapped 0, engine:staged 2, copies 128.";
    let text = kept.ended.out.split_whitespace().collect::<Vec<_>>().join(" ").replace("mpich, ", "");
    assert!(text.contains(&sentence.replace(" 130x66x66", "")) || text.contains(sentence), "{text}");
    assert!(!text.contains("faster"), "{text}");
    // 64 planes, each with equal rows: one copy for each, at both ends.
    assert_eq!(copies("nas_mg_x", "copies"), Some(128.0));
}

fn intel(_: &Mpi) {
    install("impi").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let line =
        format!("run nas_lu_y wrf_x_vec fft2d --mpi impi --memory simulated --launches 1 --out out {SHORT}");
    let ended = run(&mut typed(dir.path(), &line)).expect_code(1);
    let summary = Summary::read(&dir.path().join("out"));
    let works = [&STAGED[..], &["reference", "reference_untouched", "engine", "put_reference"]].concat();
    for test in ["nas_lu_y", "wrf_x_vec", "fft2d"] {
        summary.expect_measured(test, &works);
    }
    let words = ["MPI_Send refuses datatypes here: Invalid datatype"];
    summary.expect_failed("nas_lu_y", "ddt", "not available", &words);
    for words in ["I_MPI_OFFLOAD=1", "simulated device, CUDA 12.0, shared by 2 ranks without MPS"] {
        assert!(ended.out.replace('\n', " ").contains(words), "{ended}");
    }
}

/// Memory that the device sees, and every MPI takes: all methods use their twins.
fn pinned(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("libcuda.so.1");
    let source = root().join("kernels/device/stand_in.c");
    let compiled =
        Command::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.unwrap().success());
    let tests = ["nas_lu_y", "wrf_x_vec", "fft2d", "specfem3d_mt", "lammps_full"];
    let methods = Kind::PingPong.usual_methods_in(&[MemoryKind::Pinned], std::iter::empty());
    let all = ["persistent_ddt", "ddt:struct", "ddt:halves", "get_ddt"].map(str::to_owned);
    let mut methods = [methods, all.into()].concat();
    let line = |test: &str, methods: &[String]| {
        let line = format!("run {test} --memory pinned -m {} {SHORT}", methods.join(","));
        Measuring::on(mpi, line).env("LD_LIBRARY_PATH", &dir.path().display().to_string())
    };
    for test in tests {
        if test == "fft2d" {
            methods.retain(|method| !["persistent_ddt", "ddt:halves"].contains(&&**method));
        }
        line(test, &methods).ends(0).summary.expect_all(1, &methods);
    }
    // A wrong byte of a message.
    let line =
        "run wrf_x_vec --memory pinned -m ddt --min-repetitions 100 --max-repetitions 400 --max-time 60";
    let measuring = Measuring::on(mpi, line).env("LD_LIBRARY_PATH", &dir.path().display().to_string());
    let kept = measuring.fault("flip 37").ends(1);
    kept.summary.expect_failed("wrf_x_vec", "ddt", "wrong data", &["expected 0x"]);
}
