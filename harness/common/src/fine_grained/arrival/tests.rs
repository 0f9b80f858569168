use super::*;
use crate::stats::mean_and_variance;

const COMPUTE_S: f64 = 1e-3;

fn sampler(text: &str, seed: u64, rank: usize) -> Sampler {
    Sampler::new(&text.parse().unwrap(), COMPUTE_S, 4, 1 << 20, seed, rank).unwrap()
}

/// The times of all threads in many iterations.
fn draws(text: &str, iterations: usize, seed: u64, rank: usize) -> Vec<f64> {
    let mut sampler = sampler(text, seed, rank);
    let draw = |_| {
        let mut times = [f64::NAN; 4];
        sampler.next(&mut times);
        times
    };
    (0..iterations).flat_map(draw).collect()
}

/// Mean and standard deviation.
fn moments(samples: &[f64]) -> (f64, f64) {
    let (mean, variance) = mean_and_variance(samples).unwrap();
    (mean, variance.sqrt())
}

#[test]
fn a_round_has_its_times_whatever_was_drawn_before() {
    let mut sampler = sampler("normal:20us", 1, 0);
    let mut first_of = |round: Option<u32>| {
        let mut times = [0.0; 4];
        round.into_iter().for_each(|round| sampler.begin_round(round));
        sampler.next(&mut times);
        times
    };
    let (zero, next, one) = (first_of(Some(0)), first_of(None), first_of(Some(1)));
    assert!(zero != next && zero != one && next != one, "iterations and rounds differ");
    assert_eq!((first_of(Some(0)), first_of(None), first_of(Some(1))), (zero, next, one));
    for (text, is_random) in
        [("none", false), ("laggard:4%", false), ("uniform:4%", true), ("kde:molecular", true)]
    {
        assert_eq!(self::sampler(text, 1, 0).is_random(), is_random, "{text}");
    }
}

#[test]
fn times_have_the_distribution_that_they_are_named_for() {
    for text in ["none", "delay:100"] {
        assert!(draws(text, 3, 1, 0).iter().all(|&time| time == COMPUTE_S));
    }
    let late = COMPUTE_S * 1.04;
    assert_eq!(draws("laggard:4%", 2, 1, 0), [late, 1e-3, 1e-3, 1e-3, late, 1e-3, 1e-3, 1e-3]);
    // With 10^5 draws, the mean has a standard error of the deviation / 316; limits are four times that, and
    // twice that of the deviation. If the deviation equals the mean, 15.87% would be below 0, and are 0.
    let uniform_s = 0.2e-3 / 12_f64.sqrt();
    let cases = [
        ("uniform:10%", Some(uniform_s), 0.9e-3..=1.1e-3, 0.0),
        ("normal:20us", Some(20e-6), 0.0..=2e-3, 0.0),
        ("normal:1ms", None, 0.0..=1.0, 0.1587),
    ];
    for (text, expected_s, range, zeros) in cases {
        let draws = draws(text, 25_000, 1, 0);
        assert!(draws.iter().all(|time| range.contains(time)), "{text}");
        let share = |is: &dyn Fn(f64) -> bool| draws.iter().filter(|time| is(**time)).count() as f64 / 1e5;
        assert!((share(&|time| time == 0.0) - zeros).abs() < 0.005, "{text}");
        let (mean, deviation) = moments(&draws);
        if let Some(expected_s) = expected_s {
            assert!((mean - 1e-3).abs() < 4.0 * expected_s / 316.0, "{text}: {mean}");
            assert!((deviation - expected_s).abs() < 0.01 * expected_s, "{text}: {deviation}");
            let within = if text.starts_with("normal") { 0.6827 } else { 1.0 / 3_f64.sqrt() };
            let found = share(&|time| (time - 1e-3).abs() < expected_s);
            assert!((found - within).abs() < 0.006, "{text}: {found}");
        }
    }
}

#[test]
fn times_of_a_density_replace_the_computing_time() {
    let pooled = crate::fine_grained::trace::Trace::load("matrix").unwrap().pooled_s();
    let (expected, deviation) = moments(&pooled);
    let (mean, _) = moments(&draws("kde:matrix", 25_000, 1, 0));
    assert!((mean - expected).abs() < 0.05 * deviation + 1e-3 * expected, "{mean} {expected}");
    let bandwidth_s = |arrival: &str| sampler(arrival, 1, 0).density.unwrap().bandwidth_s;
    assert_eq!(bandwidth_s("kde:matrix@5us"), 5e-6);
    assert!(bandwidth_s("kde:matrix") > 0.0);
    // With a bandwidth of 0, only measured times are drawn.
    assert!(draws("kde:matrix@0ns", 100, 1, 0).iter().all(|draw| pooled.contains(draw)));
    assert!(draws("kde:matrix@1s", 1000, 1, 0).iter().all(|&draw| draw >= 0.0));
}

#[test]
fn the_same_arguments_give_the_same_times_and_ranks_have_their_own() {
    for text in ["uniform:10%", "normal:2us", "kde:sparse"] {
        let first = draws(text, 1000, 7, 0);
        assert_eq!(first, draws(text, 1000, 7, 0));
        for (seed, rank) in [(7, 1), (7, 2), (8, 0)] {
            let other = draws(text, 1000, seed, rank);
            let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
            assert!(same < 10, "{text}: {same} of 4000 times are the same");
        }
    }
    // The times of two ranks are not correlated: the correlation of 4000 pairs is below 4 / sqrt(4000).
    let (a, b) = (draws("normal:2us", 1000, 7, 0), draws("normal:2us", 1000, 7, 1));
    let ((mean_a, deviation_a), (mean_b, deviation_b)) = (moments(&a), moments(&b));
    let products: f64 = a.iter().zip(&b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    assert!((products / (4000.0 * deviation_a * deviation_b)).abs() < 0.064);
}

#[test]
fn the_delay_grows_with_the_size_of_one_partition() {
    let delay = |bytes| {
        let arrival = Arrival::Delay { gamma_us_per_mb: 100.0 };
        Sampler::new(&arrival, 0.0, 4, bytes, 1, 0).unwrap().last_partition_delay_s
    };
    assert!((delay(1_000_000) - 100e-6).abs() < 1e-18);
    assert!((delay(250_000) - 25e-6).abs() < 1e-18);
    assert_eq!(sampler("laggard:4%", 1, 0).last_partition_delay_s, 0.0);
}

#[test]
fn texts_round_trip_and_are_read_as_written() {
    let texts = "none laggard:0.04 uniform:0.1 uniform:1 normal:2us normal:200ns normal:1.5ms normal:3s \
                 normal:0s normal:0.0000000003s kde:sparse kde:some/file.csv kde:sparse@5us delay:100 delay:0.5";
    let pairs = [
        ("laggard:4%", "laggard:0.04"),
        ("uniform:10 %", "uniform:0.1"),
        ("normal:2000ns", "normal:2us"),
        ("normal:0.002ms", "normal:2us"),
        ("normal:2 us", "normal:2us"),
        ("kde:C:/a@b.csv@0.125us", "kde:C:/a@b.csv@125ns"),
    ];
    for (text, shown) in texts.split(' ').map(|text| (text, text)).chain(pairs) {
        let arrival: Arrival = text.parse().unwrap();
        assert_eq!((arrival.to_string(), shown.parse()), (shown.to_owned(), Ok(arrival)));
    }
    assert_eq!("normal:2us".parse(), Ok(Arrival::Normal { sigma_s: 2e-6 }));
    // Any number of seconds up to an hour.
    for i in 1..2000 {
        let sigma_s = f64::from(i) * 1e-10 * std::f64::consts::PI.powi(i % 20);
        let arrival = Arrival::Normal { sigma_s };
        assert_eq!(arrival.to_string().parse(), Ok(arrival));
    }
}

#[test]
fn texts_that_are_no_arrival_and_what_no_times_can_be_made_of_are_named() {
    let bad = "lagard:4% none:1 laggard laggard: laggard:x laggard:-0.1 laggard:inf uniform:1.5 \
                 uniform:NaN normal:2 normal:us normal:-2us normal:2x kde kde: kde:@5us kde:sparse@ \
                 kde:sparse@5 delay delay:100us delay:-1";
    for text in bad.split(' ').chain([""]) {
        let error = text.parse::<Arrival>().unwrap_err();
        // Error messages show refused numbers as they were parsed.
        let start = text.trim_end_matches(|c: char| c != ':').trim_end_matches(':');
        assert!(error.contains("arrival \"") && error.contains(start), "{text}: {error}");
    }
    for (text, compute_s, threads, named) in [
        ("none", -1.0, 1, "-1 s"),
        ("none", f64::NAN, 1, "finite"),
        ("none", 1.0, 0, "0 threads"),
        ("laggard:4%", 0.0, 1, "laggard:0.04"),
        ("kde:sparce", 1.0, 1, "sparse, molecular, matrix"),
    ] {
        let error = Sampler::new(&text.parse().unwrap(), compute_s, threads, 0, 1, 0).unwrap_err();
        assert!(error.contains(named), "{text}: {error}");
    }
    assert!(Sampler::new(&Arrival::Laggard { fraction: -1.0 }, 1.0, 1, 0, 1, 0).is_err());
}
