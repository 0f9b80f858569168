//! The ratio of a loop's time to that of the fastest of several others, from rounds in which all took turns.

/// Its times relative to those of the fastest other loop, and the index of that loop. The even rounds choose it and
/// the odd ones are compared: otherwise the fastest of several noisy loops would just be a lucky one.
///
/// # Panics
/// Without others, or with fewer than two rounds.
pub fn over_fastest(own: &[f64], others: &[&[f64]]) -> (Vec<f64>, usize) {
    let even = |times: &[f64]| quantile(&times.iter().copied().step_by(2).collect::<Vec<_>>(), 0.5);
    let by_time = |a: &usize, b: &usize| even(others[*a]).total_cmp(&even(others[*b]));
    let fastest = (0..others.len()).min_by(by_time).expect("there are others");
    let pairs = own.iter().zip(others[fastest]).skip(1).step_by(2);
    (pairs.map(|(own, other)| own / other).collect(), fastest)
}

/// The median of independent ratios between the two ends of its interval of about 95%.
pub fn interval(ratios: &[f64]) -> [f64; 3] {
    // Ranks of a sign test: in 95% of cases the median of n ratios is between these two.
    let half = (0.98 / (ratios.len() as f64).sqrt()).min(0.5);
    [0.5 - half, 0.5, 0.5 + half].map(|share| quantile(ratios, share))
}

/// The sample nearest to the value below which a share `p` of the samples is.
pub fn quantile(samples: &[f64], p: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * p).round() as usize]
}
