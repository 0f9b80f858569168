//! Ratios with their intervals as text: one place for all outputs, so that an interval that includes almost any ratio is never printed.

/// An end of an interval that is farther from the ratio than this factor is meaningless: few launches that vary much give 1e17.
pub const FAR: f64 = 100.0;

/// Whether an interval includes 1 and almost any other ratio, such as 0.1 and 10: one disturbed launch may determine the ratio.
pub fn is_unknown((low, high): (f64, f64)) -> bool {
    low <= 1.0 && 1.0 <= high && high > FAR * low
}

/// A ratio and its interval, with the digits of `number`: `1.19x` and `[1.15, 1.23]`. An end that is far away
/// is shown as a bound, such as `>119`. If the interval includes almost any ratio, `not known` and nothing.
pub fn texts(ratio: f64, unit: &str, interval: (f64, f64), number: impl Fn(f64) -> String) -> [String; 2] {
    if is_unknown(interval) {
        return ["not known".to_owned(), String::new()];
    }
    let ((low, high), (least, most)) = (interval, (ratio / FAR, ratio * FAR));
    let low = if low < least { format!("<{}", number(least)) } else { number(low) };
    let high = if high > most { format!(">{}", number(most)) } else { number(high) };
    [format!("{}{unit}", number(ratio)), format!("[{low}, {high}]")]
}

/// Both in one text.
pub fn text(ratio: f64, unit: &str, interval: (f64, f64), number: impl Fn(f64) -> String) -> String {
    texts(ratio, unit, interval, number).join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_includes_almost_any_ratio_is_not_printed() {
        let of = |ratio, interval| text(ratio, "x", interval, |value| format!("{value:.2}"));
        assert_eq!(of(1.19, (1.15, 1.23)), "1.19x [1.15, 1.23]");
        assert_eq!(of(2.0, (0.5, 8.0)), "2.00x [0.50, 8.00]");
        // Two runs of a side gave this interval.
        assert_eq!(of(1.02, (0.0, 6.74e59)), "not known");
        assert_eq!(of(7.73, (0.04, 1599.98)), "not known");
        // It is shown to be above 1, but not how far.
        assert_eq!(of(38.0, (5.8, 6.74e59)), "38.00x [5.80, >3800.00]");
        assert_eq!(of(0.2, (1e-60, 0.7)), "0.20x [<0.00, 0.70]");
    }
}
