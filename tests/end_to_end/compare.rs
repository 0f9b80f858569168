//! Comparisons with a known difference; `typed/compare.txt` tests failures and recorded runs.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::Value;

use super::setup::{Check, MPIS, Mpi, trials_on};
use super::trial::Need;
use super::typed::{Kept, Measuring};

const CASE: &str = "strided -p count=16,stride=2,element=double";
/// As few and as short launches as possible.
const SHORT: &str = "--launches 3 --max-time 0.02 --min-repetitions 4";
/// A threshold other than the measured one: the recorded times are then judged again.
const JUDGED_AGAIN: &str = "--threshold 800%";

pub fn trials() -> Vec<Trial> {
    // Verdicts do not depend on the MPI, because the times are made up.
    let on_mpich: [(&str, Check); 2] = [
        ("a method that is slower is found, and no other, or one that is late now and then", slower),
        ("a violated guideline is found, with what to write instead", guidelines),
    ];
    trials_on(&MPIS[..1], Need::AllProcessors, "compare", &on_mpich)
}

/// Sets the median and the mean in microseconds of all round trips of a run, for each MPI variant and method;
/// launches differ by a few thousandths.
fn make_up_times(out: &Path, times_us: impl Fn(&str, &str) -> [f64; 2]) {
    let file = out.join("launches.csv");
    let mut reader = csv::Reader::from_path(&file).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(&file).unwrap();
    writer.write_record(&headers).unwrap();
    for row in rows {
        let of = |name: &str| &row[column(name)];
        let differs = (7 * of("launch").parse::<usize>().unwrap() + of("method").len()) % 5;
        let times = times_us(of("mpi_variant"), of("method"));
        let [median, mean] = times.map(|us| (us * 1e-6 * (1.0 + 0.001 * differs as f64)).to_string());
        let is_time = of("phase") == "round_trip" && !of("median_s").is_empty();
        let cells = row.iter().zip(&headers).map(|(cell, header)| match header {
            "median_s" if is_time => &median,
            // The measured interval does not include them.
            "median_low_s" | "median_high_s" if is_time => "",
            "mean_s" if is_time => &mean,
            // The state of the machine is the same in all launches.
            header if header.starts_with("state_") => "",
            _ => cell,
        });
        writer.write_record(cells).unwrap();
    }
    writer.flush().unwrap();
    // An edited run counts as one that was measured like this.
    let _ = fs::remove_file(out.join("checksums.csv"));
}

#[track_caller]
fn verdict(kept: &Kept, method: &str) -> String {
    let report = kept.types(&format!("compare out --format json {JUDGED_AGAIN}")).expect_code(0);
    let found: Value = serde_json::from_str(&report.out).unwrap();
    let rows = found["comparisons"][0]["rows"].as_array().expect("rows");
    let rows: Vec<_> = rows.iter().filter(|row| row["method"] == method).collect();
    assert_eq!(rows.len(), 1, "{report}");
    rows[0]["verdict"].as_str().expect("a verdict").to_owned()
}

/// An MPI compared with itself; then the times of the second side are replaced by made-up ones.
fn slower(mpi: &Mpi) {
    // Means are compared by ranks of launches, which needs all eight: no row is decided earlier with so small a threshold.
    let flags = "--launches 8 --max-time 0.02 --min-repetitions 4 --threshold 0.1%";
    let sides = format!("-m reference,manual,mpi_pack,ddt --mpi {0},{0}", mpi.name);
    let kept = Measuring::on(mpi, format!("compare {CASE} {flags} {sides}")).ends(0);
    assert!(kept.ended.out.contains("mpich (base, "), "{}", kept.ended);
    for file in ["report.html", "figures/change.csv", "summary.csv"] {
        assert!(kept.out().join(file).exists(), "{file}");
    }
    let slow = |times_us: [f64; 2]| {
        move |side: &str, method: &str| if (side, method) == ("again", "ddt") { times_us } else { [2.0; 2] }
    };
    make_up_times(&kept.out(), slow([2000.0; 2]));
    let compare = |flags: &str| kept.types(&format!("compare out {JUDGED_AGAIN} {flags}"));
    let judged = compare("--gate").expect_code(1);
    assert!(judged.out.contains("ddt: slower in 1: strided"), "{judged}");
    assert_eq!(verdict(&kept, "ddt"), "slower");
    for method in ["reference", "manual", "mpi_pack"] {
        assert_ne!(verdict(&kept, method), "slower", "{judged}");
    }
    // The page shows it first, then the picture, then tables.
    let page = compare("--format html").expect_code(0).out;
    let order = ["ddt: slower in 1: strided", "id=\"figure-change\"", "<table"].map(|text| page.find(text));
    assert!(order[0].is_some() && order.is_sorted(), "{page}");
    // A method that is sometimes late, which medians do not show.
    make_up_times(&kept.out(), slow([2.0, 2000.0]));
    let judged = compare("--gate").expect_code(1);
    assert!(judged.out.contains("ddt: slower by mean in 1: strided"), "{judged}");
    let junit = compare("--format junit").expect_code(0).out;
    assert!(junit.contains("strided") && junit.contains("type=\"slower by mean\""), "{junit}");
    // Without a difference the gate passes.
    make_up_times(&kept.out(), |_, _| [2.0; 2]);
    compare("--gate").expect_code(0);
}

/// Datatypes are slow to send, whichever constructors describe them.
fn guidelines(mpi: &Mpi) {
    // With seven launches in three states of the machine, one state has three.
    let line = format!("guidelines {CASE} {SHORT}").replace("--launches 3", "--launches 7");
    let kept = Measuring::on(mpi, line).ends(0);
    let again = |form: &str| kept.types(&format!("guidelines out --format {form}")).expect_code(0).out;
    assert_eq!(again("text"), kept.ended.out);
    // Methods that send a datatype with gaps.
    let is_slow = |method: &str| method.contains("ddt") && method != "ddt:pieces";
    make_up_times(&kept.out(), |_, method| [if is_slow(method) { 2000.0 } else { 2.0 }; 2]);
    assert!(again("markdown").contains("pack by hand"), "{}", again("markdown"));
    let found: Value = serde_json::from_str(&again("json")).unwrap();
    let rows = found[0]["rows"].as_array().expect("rows");
    let standing = |name: &str| {
        let row = rows.iter().find(|row| row["guideline"] == name);
        row.unwrap_or_else(|| panic!("no {name}: {found}"))["standing"].as_str().unwrap()
    };
    for name in ["D1", "D1 by hand", "D9"] {
        assert_eq!(standing(name), "violated", "{found}");
    }
    // All descriptions of a slow datatype are equally slow.
    for name in ["D4 type", "D4 count", "D6", "D7", "D8 wrapped", "D11 send", "D11 receive"] {
        assert_ne!(standing(name), "violated", "{name}: {found}");
    }
    assert_eq!(rows[0]["standing"], "violated", "the worst first");
    // The faster description is named, with its code.
    make_up_times(&kept.out(), |_, method| [if method == "ddt:hvector" { 20.0 } else { 2000.0 }; 2]);
    // Long lines of Fortran continue after `&`.
    let text = again("text").replace("&\n", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let said = [
        ", by hvector",
        "is fastest described as hvector: ",
        "MPI_Type_create_hvector(16, 1, 16, MPI_DOUBLE, &newtype);",
        "call MPI_Type_create_hvector(16, 1, 16_MPI_ADDRESS_KIND, MPI_DOUBLE_PRECISION, newtype)",
    ];
    assert!(said.iter().all(|said| text.contains(said)), "{text}");
}
