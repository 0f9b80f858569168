//! Shows how wide the intervals of the matrix of MPIs are, and how often they are wrong, with few launches of each MPI. Prints a table;
//! docs/evidence/compare.md has it.
//!
//! Recorded launches of two MPIs are dealt out to four sides: two of each MPI, which are equally fast. An interval that does not include
//! 1 between these two is wrong.
//!
//!     cargo bench -p ddtbench --bench matrix

#[path = "../recorded/launches.rs"]
mod recorded;

use std::collections::BTreeMap;

use ddtbench::compare::{ComparisonUnit, Estimate, Overview, Settings, Side, Verdict};
use ddtbench::experiments::Kind;
use ddtbench::model::{Case, Record};
use ddtbench::stats::{quantile, sorted};
use recorded::{Launch, RECORDINGS};

/// Launches of each side.
const LAUNCHES: [usize; 4] = [3, 4, 6, 10];

/// The probability that an interval of a matrix misses.
const ALPHA: f64 = 0.05;

fn main() {
    // The other recording has no states.
    let recording = &RECORDINGS[1];
    println!("{}", recording.name);
    println!(
        "launches  half of a ratio's interval  of the mean's  slower, of 2 MPIs  wrong ratios  wrong means  matrices"
    );
    let mpis = recording.read();
    LAUNCHES.into_iter().for_each(|count| print(&mpis, count));
}

fn print(mpis: &BTreeMap<String, Vec<Launch>>, count: usize) {
    let all = mpis.values().map(Vec::len).min().unwrap_or(0);
    let (mut ratios, mut means) = (Vec::new(), Vec::new());
    let (mut slower, mut asked, mut wrong, mut wrong_means, mut matrices) = (0, 0, 0, 0, 0);
    let half = |low: f64, high: f64| (high / low).ln() / 2.0;
    for start in 0..all.saturating_sub(2 * count) {
        let overviews = overviews(mpis, start..start + 2 * count);
        matrices += 1;
        for row in overviews.iter().flat_map(|overview| &overview.cases) {
            let bests = || row.sides.iter().enumerate().filter_map(|(i, best)| Some((i, best.as_ref()?)));
            // A side with too few launches in a state has no ratio either.
            let first = bests().filter(|(_, best)| best.over_first.is_none());
            let Some((first, fastest)) = first.min_by(|a, b| a.1.time_s.total_cmp(&b.1.time_s)) else {
                continue;
            };
            for (i, best, loss) in bests().filter_map(|(i, best)| Some((i, best, best.over_first.as_ref()?)))
            {
                ratios.push(half(loss.low, loss.high));
                if i / 2 != first / 2 {
                    asked += 1;
                    slower += usize::from(loss.verdict == Verdict::Slower);
                } else if best.method == fastest.method {
                    wrong += usize::from(misses(loss));
                }
            }
        }
        for mean in overviews.iter().map(|overview| &overview.means.all) {
            let Some(first) = mean.first() else { continue };
            let intervals = mean.sides.iter().enumerate().filter_map(|(i, mean)| Some((i, mean.interval()?)));
            for (i, (low, high)) in intervals {
                means.push(half(low, high));
                wrong_means += usize::from(i / 2 == first / 2 && !(low..=high).contains(&1.0));
            }
        }
    }
    let percent = |values: Vec<f64>, at: f64| {
        quantile(&sorted(values), at)
            .map_or_else(String::new, |half| format!("{:.1}%", 100.0 * half.exp_m1()))
    };
    let spread = |values: &[f64]| {
        format!("{}, 90% below {}", percent(values.to_vec(), 0.5), percent(values.to_vec(), 0.9))
    };
    println!(
        "{count:>8}  {:>26}  {:>22}  {:>6} of {asked}  {wrong:>12}  {wrong_means:>11}  {matrices:>8}",
        spread(&ratios),
        spread(&means),
        slower
    );
}

fn misses(loss: &Estimate) -> bool {
    !(loss.low..=loss.high).contains(&1.0)
}

/// The matrices of two sides of each MPI, to which these launches are dealt out in turn: one for each state of the machine.
fn overviews(mpis: &BTreeMap<String, Vec<Launch>>, range: std::ops::Range<usize>) -> Vec<Overview> {
    let sides = mpis.iter().flat_map(|(mpi, launches)| {
        let launches = &launches[range.clone()];
        [0, 1].map(|part| {
            let records: Vec<Record> =
                launches.iter().skip(part).step_by(2).enumerate().flat_map(records).collect();
            Side::of(&format!("{mpi} {part}"), &records, ComparisonUnit::Launch)
        })
    });
    let settings = Settings { alpha: ALPHA, ..Settings::default() };
    Overview::of_states(&sides.collect::<Vec<_>>(), &settings, None).expect("no weights")
}

fn records((number, launch): (usize, &Launch)) -> Vec<Record> {
    let kind = Kind::default();
    let whole = launch.iter().filter(|((_, _, phase), _)| phase != "pack");
    let record = |((test, method, _), recorded): (&(String, String, String), &recorded::Recorded)| Record {
        case: Case { experiment: kind, test: test.clone(), hosts: 1, ..Case::default() }.into(),
        method: method.clone(),
        launch: Some(number),
        phase: kind.headline(),
        median_s: Some(recorded.median_s),
        state_latency_s: recorded.state_latency_s,
        state_copy_bytes_per_s: recorded.state_copy_bytes_per_s,
        ..Record::default()
    };
    whole.map(record).collect()
}
