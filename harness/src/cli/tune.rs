//! The fastest copy of each class on this processor, for a table of a new family in the pack engine.
//!
//! All ways of a class are measured in turn, in each round at another place in memory. The shipped way is replaced only by
//! one whose time is shorter by [`MARGIN`], by the whole 95% interval of the ratio of both times.

use std::process::ExitCode;
use std::time::Instant;

use ddtbench::stats;
use kernels::{Class, Direction, Trial, Way};
use procfs::{CpuInfo, Current};

use super::output;

/// Share of the time by which another way must be faster than the shipped one. Smaller differences in trials
/// were the opposite in a test with another array.
const MARGIN: f64 = 0.05;

/// Rounds: an interval needs six, and with 16 it excludes the three extreme ones on either side.
const ROUNDS: usize = 16;

/// If another way is faster by the medians only, as many rounds follow, up to so many times: on a busy machine 16
/// intervals are wide. Several looks make a false choice more likely; it costs little, because such ways are nearly equal.
const MOST_LOOKS: usize = 4;

/// Messages up to this size are copied at all places in each round; longer ones, which take long enough, at two.
const AT_ALL_PLACES: usize = 256 << 10;

/// The weight of warm speeds: a message is usually packed soon after it was computed, and unpacked into
/// memory that is about to be used.
const WARM: f64 = 3.0;

/// Measures all classes, and prints a line for each: `*` marks those in which another way than the shipped one is faster.
pub(super) fn execute() -> anyhow::Result<ExitCode> {
    if let Some(processor) = processor() {
        output::print_text(&format!("{processor}\n"))?;
    }
    for class in Class::all() {
        for direction in Direction::ALL {
            let mut trial = Trial::new(class, direction);
            let ways = trial.ways().to_vec();
            let shipped = class.shipped(direction);
            let shipped_at = ways.iter().position(|way| *way == shipped).expect("a way of the class");
            let by_speed = ranking(ways.len(), shipped_at, |way, round| speed(&mut trial, way, round));
            let speeds: Vec<(Way, f64)> =
                by_speed.into_iter().map(|(way, speed)| (ways[way], speed)).collect();
            output::print_text(&line(class, direction, shipped, &speeds))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Such as `AuthenticAMD family 25 model 17 stepping 1 (AMD EPYC)`.
fn processor() -> Option<String> {
    let info = CpuInfo::current().ok()?;
    let field = |name| info.get_field(0, name);
    let ids = ["cpu family", "model", "stepping"]
        .map(|name| Some(format!("{} {}", name.trim_start_matches("cpu "), field(name)?)));
    let ids = ids.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(format!("{} {ids} ({})", field("vendor_id")?, field("model name")?))
}

/// `* blocks of 1025 to 2048 bytes, pack: memcpy, 90.5 GB/s; next: 32-byte vectors, 75.8`
fn line(class: Class, direction: Direction, shipped: Way, speeds: &[(Way, f64)]) -> String {
    let mark = if speeds[0].0 == shipped { " " } else { "*" };
    let speed = |(way, bytes_per_s): &(Way, f64)| (way.name(), bytes_per_s / 1e9);
    let (way, gb_per_s) = speed(&speeds[0]);
    let next = speeds.get(1).map(speed).map(|(way, gb_per_s)| format!("; next: {way}, {gb_per_s:.1}"));
    format!("{mark} {class}, {direction}: {way}, {gb_per_s:.1} GB/s{}\n", next.unwrap_or_default())
}

/// The numbers of the chosen way and of the fastest of the others, with their median speeds. `bytes_per_s`
/// measures the speed of a way in a round.
fn ranking(
    ways: usize,
    shipped: usize,
    mut bytes_per_s: impl FnMut(usize, usize) -> f64,
) -> Vec<(usize, f64)> {
    let mut speeds = vec![Vec::with_capacity(ROUNDS); ways];
    let mut ranking = Vec::new();
    for look in 0..MOST_LOOKS {
        for round in look * ROUNDS..(look + 1) * ROUNDS {
            for turn in 0..ways {
                let way = (turn + round) % ways;
                speeds[way].push(bytes_per_s(way, round));
            }
        }
        let median = |way: usize| stats::median(&stats::sorted(speeds[way].iter().copied())).unwrap_or(0.0);
        let by_speed = |a: &usize, b: &usize| median(*a).total_cmp(&median(*b));
        let faster = (0..ways).filter(|&way| is_faster(&speeds[way], &speeds[shipped]));
        let way = faster.max_by(by_speed).unwrap_or(shipped);
        let next = (0..ways).filter(|&other| other != way).max_by(by_speed);
        ranking = [Some(way), next].into_iter().flatten().map(|way| (way, median(way))).collect();
        if next.is_none_or(|next| (1.0 - MARGIN) * median(next) <= median(way)) {
            break;
        }
    }
    ranking
}

/// Whether the time of a way is shorter by the margin, given the speeds of both in each round.
fn is_faster(way: &[f64], shipped: &[f64]) -> bool {
    // A ratio of times is the inverse of that of speeds.
    let time_ratio = stats::paired_ratio(shipped.iter().copied().zip(way.iter().copied()));
    let interval = time_ratio.filter(|ratio| !ratio.unsteady).and_then(|ratio| ratio.interval);
    interval.is_some_and(|(_, high)| high < 1.0 - MARGIN)
}

/// The speed of one way in bytes per second: the geometric mean of all messages, with warm and with cold
/// caches, because an application's data can be in either state. A warm speed has [`WARM`] times the weight,
/// so that a way that is as fast warm is chosen only if it is 1.23 times as fast cold.
fn speed(trial: &mut Trial, way: usize, round: usize) -> f64 {
    let (mut weights, mut logarithms) = (0.0, 0.0);
    let mut add = |weight: f64, bytes: usize, start: Instant| {
        weights += weight;
        logarithms += weight * (bytes as f64 / start.elapsed().as_secs_f64()).ln();
    };
    for (message, size) in trial.sizes().into_iter().enumerate() {
        let times = if size <= AT_ALL_PLACES { Trial::PLACES } else { 2 };
        // Also the lines that only some places have.
        (round..round + times).for_each(|place| trial.copy(way, message, place));
        let start = Instant::now();
        (round..round + times).for_each(|place| trial.copy(way, message, place));
        add(WARM, times * size, start);
        if trial.evict(message) {
            let start = Instant::now();
            trial.copy(way, message, round);
            add(1.0, size, start);
        }
    }
    (logarithms / weights).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses by made-up speeds: those of each way, times the machine's speed in that round.
    fn chosen(speeds: &[f64], shipped: usize, noise: impl Fn(usize, usize) -> f64) -> usize {
        ranking(speeds.len(), shipped, |way, round| speeds[way] * noise(way, round))[0].0
    }

    #[test]
    fn the_shipped_way_stays_unless_another_is_faster_by_the_margin() {
        let quiet = |_, _| 1.0;
        assert_eq!(chosen(&[1.0, 1.04, 0.5], 0, quiet), 0, "within the margin");
        assert_eq!(chosen(&[1.0, 1.04, 1.3, 1.2], 0, quiet), 2);
        assert_eq!(chosen(&[1.3, 1.0], 0, quiet), 0);
        assert_eq!(chosen(&[1.0], 0, quiet), 0);
    }

    #[test]
    fn noise_alone_changes_nothing_and_hides_no_faster_way() {
        // A round in which the whole machine is slow.
        let machine = |_, round: usize| if round.is_multiple_of(3) { 0.2 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.1], 0, machine), 1);
        assert_eq!(chosen(&[1.0, 1.01], 0, machine), 0);
        // A way that is faster in most rounds, but slower in seven of 16.
        let luck = |way, round: usize| if way == 1 && round % 16 < 7 { 0.8 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.1], 0, luck), 0);
        // Faster only in the first rounds.
        let change = |way, round| if way == 1 && round >= ROUNDS / 2 { 0.8 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.2], 0, change), 0);
        // The faster way is interrupted in the first rounds, so that more rounds follow.
        let busy =
            |way, round: usize| if way == 1 && round < ROUNDS && round.is_multiple_of(3) { 0.5 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.3], 0, busy), 1);
    }

    #[test]
    fn a_line_has_the_chosen_and_the_next_way() {
        let class = Class::all().next().unwrap();
        let speeds = [(Way::Library, 90.5e9), (Way::Avx2, 75.81e9)];
        let line = |shipped| line(class, Direction::Pack, shipped, &speeds);
        let text = "one run of 1 to 1024 bytes, pack: memcpy, 90.5 GB/s; next: 32-byte vectors, 75.8\n";
        assert_eq!(line(Way::Avx2), format!("* {text}"));
        assert_eq!(line(Way::Library), format!("  {text}"));
    }
}
