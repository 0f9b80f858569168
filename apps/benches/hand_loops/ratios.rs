//! How a loop stands to the fastest of several others, by the times of rounds in which all took turns.

/// Its times over those of the fastest of the others, and which of them that is. It is chosen by the even rounds and compared
/// with in the odd ones: the fastest of several noisy ones is otherwise a lucky one.
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

/// The median of independent ratios between the ends of its interval of about 95%.
pub fn interval(ratios: &[f64]) -> [f64; 3] {
    // Ranks of a sign test: the median of n ratios lies between these two in 95% of cases.
    let half = (0.98 / (ratios.len() as f64).sqrt()).min(0.5);
    [0.5 - half, 0.5, 0.5 + half].map(|share| quantile(ratios, share))
}

/// The value below which a share `p` of the samples lies, the nearest sample.
pub fn quantile(samples: &[f64], p: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * p).round() as usize]
}
