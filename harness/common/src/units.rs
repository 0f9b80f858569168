//! Values as text, with a unit that suits their size.

/// A time: three significant digits in ns, µs, ms or s.
pub fn seconds(seconds: f64) -> String {
    scaled(seconds, 3, &[("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)])
}

/// Reads a time: a number of seconds, or a time with units. `None` if it is none.
pub fn read_seconds(text: &str) -> Option<f64> {
    text.trim().parse().ok().or_else(|| read_time_s(text))
}

/// Reads a time with units, in seconds: `90s`, `1h30m`, `0.5 us`. `None` if it is none.
pub fn read_time_s(text: &str) -> Option<f64> {
    // Divided, not multiplied by 1e-6, so that 2us is the number nearest to 0.000002.
    const UNITS: [(&str, f64, f64); 8] = [
        ("ns", 1.0, 1e9),
        ("us", 1.0, 1e6),
        ("µs", 1.0, 1e6),
        ("ms", 1.0, 1e3),
        ("s", 1.0, 1.0),
        ("min", 60.0, 1.0),
        ("m", 60.0, 1.0),
        ("h", 3600.0, 1.0),
    ];
    let text = text.trim();
    let (sign, mut rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let mut sum_s = 0.0;
    while !rest.is_empty() {
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let (number, after) = rest.split_at(rest.find(|c| !is_digit(c))?);
        let after = after.trim_start();
        let (unit, after) = after.split_at(after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len()));
        let (_, factor, divisor) = UNITS.into_iter().find(|(name, ..)| name.eq_ignore_ascii_case(unit))?;
        sum_s += number.parse::<f64>().ok()? * factor / divisor;
        rest = after.trim_start();
    }
    Some(sign * sum_s).filter(|_| !text.is_empty())
}

/// An amount of bytes: decimal units, four significant digits, exact below 1 kB.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        _ => scaled(bytes as f64, 4, &[("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)]),
    }
}

/// A number of contiguous segments.
pub fn segments(count: u64) -> String {
    if count == 1 { "1 segment".to_owned() } else { format!("{count} segments") }
}

/// Bytes per second: three significant digits in MB/s or GB/s.
pub fn rate(bytes_per_s: f64) -> String {
    scaled(bytes_per_s, 3, &[("MB/s", 1e6), ("GB/s", 1e9)])
}

/// A fraction in percent: one decimal below 10%, otherwise none.
pub fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return "?".to_owned();
    }
    format!("{}%", percent_figure(fraction, percent_decimals(fraction)))
}

/// The same as users write it: `5%`, not `5.0%`.
pub fn short_percent(fraction: f64) -> String {
    percent(fraction).replace(".0%", "%")
}

/// Decimals that [`percent`] gives `fraction`.
pub fn percent_decimals(fraction: f64) -> usize {
    usize::from((fraction * 100.0).abs() < 9.95)
}

/// `fraction` in percent, without the sign, with this number of decimals; never a negative zero.
pub fn percent_figure(fraction: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", fraction * 100.0);
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_owned(),
        _ => text,
    }
}

/// `value` with `digits` significant digits in the largest of the ascending `units` that is not above it.
fn scaled(value: f64, digits: usize, units: &[(&str, f64)]) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    // Rounded first: 999.7 ns are 1.00 µs.
    let last = digits - 1;
    let rounded: f64 = format!("{value:.last$e}").parse().expect("a number was just formatted");
    let fits = |(_, size): &&(&str, f64)| rounded.abs() / size > 1.0 - 1e-9;
    let (unit, size) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    let figure = rounded / size;
    // Exponent of the leading digit; the small addend prevents 10.0 from being read as 9.99...
    let exponent = if figure == 0.0 { 0 } else { (figure.abs().log10() + 1e-9).floor() as i32 };
    let decimals = (last as i32 - exponent).clamp(0, 6) as usize;
    format!("{figure:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect<T: Copy>(shown: fn(T) -> String, cases: &[(T, &str)]) {
        cases.iter().for_each(|&(value, text)| assert_eq!(shown(value), text));
    }

    #[test]
    fn numbers_have_three_digits_and_the_next_unit_where_they_round_up() {
        expect(
            seconds,
            &[(54.6e-6, "54.6 µs"), (3.3e-8, "33.0 ns"), (0.25e-9, "0.250 ns"), (9.996e-6, "10.0 µs")],
        );
        expect(
            seconds,
            &[(999.4e-9, "999 ns"), (999.7e-9, "1.00 µs"), (1.234e-3, "1.23 ms"), (1.0, "1.00 s")],
        );
        expect(seconds, &[(1234.0, "1230 s"), (0.0, "0.00 ns"), (f64::NAN, "?")]);
        expect(bytes, &[(0, "0 B"), (999, "999 B"), (1000, "1.000 kB"), (102_648, "102.6 kB")]);
        expect(bytes, &[(16_777_216, "16.78 MB"), (1 << 30, "1.074 GB")]);
        expect(
            rate,
            &[(1.88e9, "1.88 GB/s"), (523.4e6, "523 MB/s"), (999.9e6, "1.00 GB/s"), (8e5, "0.800 MB/s")],
        );
        let percents =
            [(0.4712, "47%"), (0.012, "1.2%"), (-0.0001, "0.0%"), (0.0996, "10%"), (-0.25, "-25%")];
        expect(percent, &percents);
    }

    #[test]
    fn times_are_read_with_and_without_units() {
        let times = [
            ("10", 10.0),
            ("0.5", 0.5),
            ("90s", 90.0),
            (" 1m", 60.0),
            ("1h30m", 5400.0),
            ("2 min 30 s", 150.0),
        ];
        let short = [("250ms", 0.25), ("3us", 3e-6), ("0.7 µs", 0.7e-6), ("7ns", 7e-9), ("-5s", -5.0)];
        for (text, expected) in times.into_iter().chain(short) {
            assert!(read_seconds(text).is_some_and(|found| (found / expected - 1.0).abs() < 1e-15), "{text}");
        }
        for text in ["soon", "", "5x", "s", "1m30", "1..5s"] {
            assert_eq!(read_seconds(text), None, "{text}");
        }
    }
}
