//! The user's own loop: measured together with the other methods, and found if it is wrong.

use std::fs;
use std::process::Command;

use apps::TESTS;
use libtest_mimic::Trial;

use super::job::{Ended, run};
use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::{Need, beside_others};
use super::typed::{Measuring, type_alone, typed};

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[("a loop in C is a method of ping-pongs and halos", in_c)];
    let mut trials = trials_on(&MPIS, Need::AllProcessors, "own_loop", checks);
    let on_first: &[(&str, Check)] = &[
        ("the printed loop of every test is right", every_test),
        ("a wrong loop, and one that crashes, are found", wrong_ones),
        ("a loop in Fortran, or a shared object", other_files),
    ];
    trials.extend(trials_on(&MPIS[..1], Need::AllProcessors, "own_loop", on_first));
    trials.push(beside_others("own_loop::files without a loop are refused", refused));
    trials
}

const SHORT: &str = "--min-repetitions 4 --max-repetitions 40 --max-time 60";

/// The loop of `vector(4, 3, 5, double)`, with its two places.
fn vector(sent: &str, received: &str) -> String {
    let each = "for (int i = 0; i < 4; i++) for (int j = 0; j < 3; j++)";
    format!(
        "void pack(const double *a, double *m, int tag) {{ {each} *m++ = a[{sent}]; }}\n\
         void unpack(const double *m, double *a, int tag) {{ {each} a[{received}] = *m++; }}\n"
    )
}

const RIGHT: &str = "5 * i + j";

fn in_c(mpi: &Mpi) {
    let measured = |kind: &str| {
        let line =
            format!("{kind} --layout 'vector(4, 3, 5, double)' --pack own.c -m reference,ddt,own {SHORT}");
        Measuring::on(mpi, line).file("own.c", vector(RIGHT, RIGHT))
    };
    let kept = measured("run").env("CFLAGS", "-O2 -fno-inline").ends(0);
    kept.summary.expect_all(1, &["reference", "ddt", "own"]);
    assert!(kept.ended.out.contains("own: own.c, by cc -O2 -fno-inline ("), "{}", kept.ended);
    assert!(!kept.ended.out.contains("Loops:"), "no other loop was measured: {}", kept.ended);
    // It is compiled once: a run that goes on does not need the file.
    fs::remove_file(kept.out().with_file_name("own.c")).unwrap();
    let resumed = kept.types("run --resume out").expect_code(0).out;
    assert!(resumed.contains("own: own.c, by cc -O2 -fno-inline ("), "the compiler that was used: {resumed}");
    measured("halo -n 2 -p threads=1").ends(0).summary.expect_all(1, &["reference", "ddt", "own"]);
    let threads = measured("halo -n 2 -p threads=2").ends_in(&[0, 1]);
    threads.summary.expect_failed("layout", "own", "not available", &["threads=1"]);
}

fn every_test(mpi: &Mpi) {
    for test in TESTS {
        let written = type_alone(&format!("layout {} --write-loop c", test.name)).expect_code(0).out;
        // The engine compares packed bytes, too.
        let line = format!("engine {} --pack own.c -m engine,own --cache warm {SHORT}", test.name);
        let kept = Measuring::on(mpi, line).file("own.c", &written).ends(0);
        let own = kept.summary.with(&[("method", "own"), ("phase", "unpack")]);
        assert!(own.len() == 1 && own[0].is_measured(), "{}: {own:?}", test.name);
    }
    let line = format!("run fft2d -p n=64 --pack own.c -m own,ddt {SHORT}");
    let written = type_alone("layout fft2d -p n=64 --write-loop c").expect_code(0).out;
    Measuring::on(mpi, line).file("own.c", &written).ends(0).summary.expect_all(1, &["own", "ddt"]);
}

fn wrong_ones(mpi: &Mpi) {
    let fails = |line: &str, loops: String, outcome: &str, words: &[&str]| {
        let kept = Measuring::on(mpi, format!("{line} --pack own.c {SHORT}")).file("own.c", loops).ends(1);
        kept.summary.expect_failed("", "own", outcome, words);
        assert!(!kept.ended.out.contains("--replay"), "no MPI is at fault: {}", kept.ended);
        kept
    };
    let layout = "run --layout 'vector(4, 3, 5, double)' -m reference,ddt,own";
    let wrong = |sent, received, words: &[&str]| {
        let kept = fails(layout, vector(sent, received), "wrong data", words);
        kept.summary.expect_measured("", &["reference", "ddt"]);
    };
    wrong("5 * i + 2 - j", RIGHT, &["array 1 (received), byte 0, element 0: expected"]);
    wrong(RIGHT, "5 * i + j + 1", &["array 1 (received), byte 0, element 0: expected"]);
    // The first three values are right, and a gap must not change.
    wrong(RIGHT, "i && !j ? 5 * i - 1 : 5 * i + j", &["array 1 (received), byte 40, element 5: expected"]);
    let stray = vector(RIGHT, RIGHT).replace("*m++;", "(a[3] = 1, *m++);");
    fails(
        layout,
        stray,
        "wrong data",
        &["array 1 (received), byte 24, element 3: expected", "must not change"],
    );
    // Both ends agree, so that only the packed bytes show it.
    let same = "5 * i + 2 - j";
    let engine = "engine --layout 'vector(4, 3, 5, double)' -m engine,own --cache warm";
    fails(engine, vector(same, same), "wrong data", &["pack: packed byte 0: expected"]);
    let nest =
        type_alone("layout nas_lu_y --write-loop c").out.replace("u[2050 + 2050 * i0", "u[2055 + 2050 * i0");
    let line = "run nas_lu_y -m reference,ddt,own";
    fails(line, nest, "wrong data", &["array 0 (u), byte 16400, element 2050 = u[1][0][0]: expected"]);
    let crash =
        "#include <stdlib.h>\n".to_owned() + &vector(RIGHT, RIGHT).replace("*m++;", "(abort(), *m++);");
    fails(layout, crash, "crashed", &["SIGABRT"]).summary.expect_measured("", &["reference", "ddt"]);
}

fn other_files(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let (source, built) = (dir.path().join("own.c"), dir.path().join("own.so"));
    // The names and the arguments of subroutines in Fortran.
    let in_fortran = vector(RIGHT, RIGHT).replace("pack(", "pack_(").replace("int tag", "int *tag");
    fs::write(&source, in_fortran.replace("*m++ =", "m[*tag] = 0, *m++ =")).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&built).arg(&source).status();
    assert!(compiled.unwrap().success());
    let line = format!("run --layout 'vector(4, 3, 5, double)' --pack mine.so -m reference,own {SHORT}");
    let kept = Measuring::on(mpi, line).file("mine.so", fs::read(&built).unwrap()).ends(0);
    kept.summary.expect_all(1, &["reference", "own"]);
    assert!(kept.ended.out.contains("own: mine.so, compiled before"), "{}", kept.ended);
    let has_compiler = Command::new("gfortran").arg("--version").output().is_ok();
    if has_compiler {
        let text = "subroutine pack(a, m)\n real(8) :: a(3), m(3)\n m = a\nend\nsubroutine unpack(m, a)\n real(8) :: a(3), m(3)\n a = m\nend\n";
        let line = format!("run --layout 'contiguous(3, double)' --pack own.f90 -m reference,own {SHORT}");
        Measuring::on(mpi, line).file("own.f90", text).ends(0).summary.expect_all(1, &["reference", "own"]);
    }
}

fn refused() {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in
        [("broken.c", "int x"), ("empty.c", "int x;"), ("half.c", "void pack(void) {}"), ("text.txt", "")]
    {
        fs::write(dir.path().join(file), text).unwrap();
    }
    let types = |line: &str| -> Ended { run(&mut typed(dir.path(), line)) };
    for (arguments, words) in [
        ("run nas_lu_y --pack none.c", &["none.c: no such file"][..]),
        ("run nas_lu_y --pack text.txt", &["C file (.c)", "shared object (.so)"]),
        ("run nas_lu_y --pack broken.c", &["broken.c:1", "cc -O3"]),
        (
            "run nas_lu_y --pack empty.c",
            &["no function `pack`", "void pack(const void *array, void *message)"],
        ),
        ("run nas_lu_y --pack half.c", &["no function `unpack`"]),
        ("run nas_lu_y -m own", &["own", "--pack FILE"]),
        ("partitioned --pack none.c", &["partitioned experiments do not have this option"]),
    ] {
        types(&format!("{arguments} --mpi mpich")).expect_code(2).expect_err(words);
    }
    let results = dir.path().join("results").read_dir().map_or(0, Iterator::count);
    assert_eq!(results, 0, "nothing half-written");
}
