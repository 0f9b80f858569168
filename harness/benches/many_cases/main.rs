//! Measures how long `ddtbench` takes to plan and to report 20,000 cases, compared with 5,000: each command as a user
//! types it, in alternation. Prints a table. If planning takes more than 1 s, or reporting more than 5 s, it prints
//! that and ends with exit code 1.
//!
//!     cargo bench -p ddtbench --bench many_cases
//!
//! `tests/integration/proportion.rs` tests by counting that the work of both is proportional to the number of cases.

mod made_up;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use ddtbench::experiments::Kind;
use ddtbench::folder::{LAUNCH_FIGURES, LAUNCHES, figures_csv, times_csv};
use ddtbench::stats;

const CASES: [usize; 2] = [5_000, 20_000];
/// Number of times each command is run; the median counts.
const TIMES: usize = 5;
/// How long users would wait for planning and for reporting the larger number of cases, in seconds.
const LIMITS_S: [f64; 2] = [1.0, 5.0];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path();
    for cases in CASES {
        write(&dir.join(cases.to_string()), cases)?;
    }
    let commands: [(&str, &[&str]); 3] = [
        ("plan", &["run", "--dry-run", "--plan", "plan.toml"]),
        ("report", &["report", "."]),
        ("report, as a page", &["report", ".", "--format", "html"]),
    ];
    let mut times_s = vec![[Vec::new(), Vec::new()]; commands.len()];
    for _ in 0..TIMES {
        for (command, times_s) in commands.iter().zip(&mut times_s) {
            for (cases, times_s) in CASES.iter().zip(times_s) {
                times_s.push(seconds(command.1, &dir.join(cases.to_string()))?);
            }
        }
    }
    println!("command            {:>5} cases  {:>5} cases  times  least and most", CASES[0], CASES[1]);
    let mut is_fast = true;
    for (i, ((name, _), times_s)) in commands.iter().zip(times_s).enumerate() {
        let [few, many] = times_s.map(stats::sorted);
        let (few_s, many_s) = (few[TIMES / 2], many[TIMES / 2]);
        let (least_s, most_s) = (many[0], many[TIMES - 1]);
        let ratio = many_s / few_s;
        println!("{name:<17}  {few_s:>9.2} s  {many_s:>9.2} s  {ratio:>5.2}  {least_s:.2} to {most_s:.2} s");
        let limit_s = LIMITS_S[i.min(1)];
        if many_s > limit_s {
            println!("{name}: more than {limit_s} s");
            is_fast = false;
        }
    }
    Ok(if is_fast { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A plan, and the results of a run of two launches on two MPIs.
fn write(dir: &Path, cases: usize) -> Result<(), Box<dyn Error>> {
    fs::create_dir(dir)?;
    fs::write(dir.join("plan.toml"), made_up::plan(cases))?;
    // The results of two MPIs for one test with the same values are two cases.
    let kind = Kind::find("pingpong")?;
    let records = made_up::records(kind, "strided", |i| format!("count=16 stride={}", i + 2), cases / 2);
    fs::write(dir.join(LAUNCHES), times_csv(&records))?;
    fs::write(dir.join(LAUNCH_FIGURES), figures_csv(&records))?;
    Ok(())
}

/// How long a command takes.
fn seconds(words: &[&str], dir: &Path) -> Result<f64, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    command.args(words).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let time_s = start.elapsed().as_secs_f64();
    if status.success() { Ok(time_s) } else { Err(format!("ddtbench {}: {status}", words.join(" ")).into()) }
}
