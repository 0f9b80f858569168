//! Axes: units, ranges, and ticks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::data::Datum;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisUnit {
    /// A fraction, shown in percent.
    Percent,
    /// A plain number.
    #[default]
    Ratio,
    /// Seconds, shown in a unit that suits the picture.
    Seconds,
    /// Bytes per second, shown in a unit that suits the picture.
    Rate,
    Bytes,
}

/// How values are mapped to an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long. Values are above 0.
    Log,
}

impl Scale {
    pub fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.max(f64::MIN_POSITIVE).log10(),
        }
    }
}

impl AxisUnit {
    /// The divisor for shown values, and the name of the unit; `typical` is one of the values.
    pub fn shown(self, typical: f64) -> (f64, &'static str) {
        let of = |sizes: &[(f64, &'static str)]| {
            let fits = sizes.iter().rev().find(|(size, _)| typical >= *size);
            *fits.unwrap_or(&sizes[0])
        };
        match self {
            Self::Percent => (0.01, "%"),
            Self::Ratio => (1.0, ""),
            Self::Seconds => of(&[(1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")]),
            Self::Rate => of(&[(1e6, "MB/s"), (1e9, "GB/s")]),
            Self::Bytes => of(&[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")]),
        }
    }

    /// The title of an axis with its unit.
    pub fn title(self, title: &str, typical: f64) -> String {
        match self.shown(typical).1 {
            "" => title.to_owned(),
            unit => format!("{title} ({unit})"),
        }
    }
}

/// The name of the axis for cases that send different numbers of bytes.
pub const BYTES: &str = "bytes";
/// The name of the axis of partitioned transfers.
pub const PARTITION_BYTES: &str = "partition_bytes";

/// The requested time of a communication without computation, in seconds.
pub const COMMUNICATION: &str = "communication_s";
/// The requested time of a computation without communication, in seconds.
pub const COMPUTATION: &str = "computation_s";

/// Titles and units of horizontal axes and of axes of heat maps, by name. A parameter's name is also its title.
const AXES: &[(&str, &str, AxisUnit)] = &[
    (BYTES, "bytes sent per rank", AxisUnit::Bytes),
    (PARTITION_BYTES, "size of a partition", AxisUnit::Bytes),
    (COMMUNICATION, "communication", AxisUnit::Seconds),
    (COMPUTATION, "computation", AxisUnit::Seconds),
    ("message_bytes", "size of the message", AxisUnit::Bytes),
    ("buffer_bytes", "bytes to each neighbour", AxisUnit::Bytes),
];

/// The title and the unit of such an axis.
pub fn axis_of(name: &str) -> (&str, AxisUnit) {
    let found = AXES.iter().find(|(known, ..)| *known == name);
    found.map_or((name, AxisUnit::Ratio), |(_, title, unit)| (*title, *unit))
}

/// An axis with its range and its ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// How values become places.
    pub scale: Scale,
    /// The places of its ends.
    pub range: Range<f64>,
    /// Places with their texts.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis for `values`, with a margin, and `base` if there is one; with about `count` numbers, each value divided by `unit`.
    pub fn around(values: &[f64], base: Option<f64>, scale: Scale, unit: f64, count: usize) -> Self {
        let is_usable = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let usable = || values.iter().copied().chain(base).filter(is_usable);
        let low = usable().fold(f64::INFINITY, f64::min);
        let high = usable().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.1, 1.0) };
        let (from, to) = (scale.place(low), scale.place(high));
        let margin = if to > from { 0.04 * (to - from) } else { 0.1 * from.abs().max(1e-3) };
        // A bar starts at its base.
        let from = if base == Some(low) { from } else { from - margin };
        let to = if base == Some(high) { to } else { to + margin };
        let ticks = match scale {
            Scale::Linear => {
                linear(from / unit..to / unit, count).into_iter().map(|tick| tick * unit).collect()
            }
            Scale::Log => logarithmic(10f64.powf(from) / unit..10f64.powf(to) / unit, count)
                .into_iter()
                .map(|tick| tick * unit)
                .collect::<Vec<_>>(),
        };
        let ticks = ticks.into_iter().map(|tick| (scale.place(tick), text(tick / unit)));
        Self { scale, range: from..to, ticks: ticks.collect() }
    }
}

impl Axis {
    /// The relative position of a place: 0 at the start of the axis, 1 at its end.
    pub fn share(&self, place: f64) -> f64 {
        (place - self.range.start) / (self.range.end - self.range.start)
    }
}

/// The range of an axis for values with intervals: all values, and parts of the intervals, so that the values
/// do not shrink to a line.
pub fn held<'a>(data: impl Iterator<Item = &'a Datum> + Clone, scale: Scale) -> Vec<f64> {
    let places = data.clone().map(|datum| scale.place(datum.value));
    let (low, high) = places.fold((f64::MAX, f64::MIN), |(low, high), at| (at.min(low), at.max(high)));
    let room = match scale {
        Scale::Linear => (0.5 * (high - low)).max(0.5 * low.abs().max(high.abs())),
        Scale::Log => (0.5 * (high - low)).max(0.15),
    };
    let ends = data.flat_map(|datum| {
        let (from, to) = datum.interval.unwrap_or((datum.value, datum.value));
        let held = |end: f64| match scale.place(end).clamp(low - room, high + room) {
            place if scale == Scale::Log => 10f64.powf(place),
            place => place,
        };
        [datum.value, held(from), held(to)]
    });
    ends.collect()
}

/// Multiples of 1, 2 or 5 times a power of ten within a range, at most `count`.
fn linear(range: Range<f64>, count: usize) -> Vec<f64> {
    let length = range.end - range.start;
    let power = 10f64.powf((length / count as f64).log10().floor());
    let fits = |step: &f64| (range.end / step).floor() - (range.start / step).ceil() < count as f64;
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(fits).unwrap_or(20.0 * power);
    let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Powers of ten within a range; if there are few, also 2 and 5 times them, or as on a linear axis.
fn logarithmic(range: Range<f64>, count: usize) -> Vec<f64> {
    // The range of a floating-point number.
    let power = |value: f64| value.log10().clamp(-308.0, 308.0);
    let (first, last) = (power(range.start).floor() as i32, power(range.end).ceil() as i32);
    let of = |steps: &[f64]| -> Vec<f64> {
        let all = (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        all.filter(|tick| range.contains(tick)).collect()
    };
    for steps in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
        let ticks = of(steps);
        if (3..=count + 1).contains(&ticks.len()) {
            return ticks;
        }
    }
    let decades = of(&[1.0]);
    if decades.len() < 2 {
        return linear(range, count).into_iter().filter(|tick| *tick > 0.0).collect();
    }
    decades.iter().copied().step_by(decades.len().div_ceil(count)).collect()
}

pub fn three_digits(value: f64) -> String {
    text(format!("{value:.2e}").parse().unwrap_or(value))
}

/// The shortest text of a number, with at most six digits.
pub fn text(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn linear_axes_have_round_numbers_and_hold_what_they_are_of() {
        let axis = Axis::around(&[0.25, 0.97], Some(0.0), Scale::Linear, 0.01, 6);
        assert_eq!(texts(&axis), ["0", "20", "40", "60", "80", "100"]);
        assert!(axis.range.start == 0.0 && axis.range.end > 0.97);
        let negative = Axis::around(&[-0.5, 0.5], Some(0.0), Scale::Linear, 0.01, 6);
        assert_eq!(texts(&negative), ["-40", "-20", "0", "20", "40"]);
    }

    #[test]
    fn logarithmic_axes_have_powers_of_ten_or_what_is_between() {
        let axis = |values: &[f64], count| Axis::around(values, None, Scale::Log, 1e-6, count);
        assert_eq!(texts(&axis(&[4e-6, 3e-3], 4)), ["10", "100", "1000"]);
        assert_eq!(texts(&axis(&[9e-6, 110e-6], 6)), ["10", "20", "50", "100"]);
        let narrow = axis(&[8.1e-6, 8.6e-6], 5);
        assert!(narrow.ticks.len() >= 2, "{narrow:?}");
        for axis in [axis(&[4e-6, 3e-3], 4), narrow] {
            assert!(axis.ticks.iter().all(|(place, _)| axis.range.contains(place)), "{axis:?}");
        }
    }

    #[test]
    fn ticks_come_to_an_end_whatever_the_values_are() {
        for values in [[1e300, 1e-6], [1e-300, 1.0], [f64::INFINITY, 1.0]] {
            let axis = Axis::around(&values, None, Scale::Log, 1e-6, 5);
            assert!(axis.ticks.len() < 20, "{axis:?}");
        }
    }

    #[test]
    fn an_axis_of_one_value_is_no_point() {
        for scale in [Scale::Linear, Scale::Log] {
            let axis = Axis::around(&[5.0], None, scale, 1.0, 5);
            assert!(axis.range.start < axis.range.end && axis.range.contains(&scale.place(5.0)), "{axis:?}");
        }
    }

    #[test]
    fn units_suit_what_is_shown() {
        assert_eq!(AxisUnit::Seconds.title("round trip", 3e-5), "round trip (µs)");
        assert_eq!(AxisUnit::Ratio.title("gain", 2.0), "gain");
        assert_eq!(AxisUnit::Rate.shown(3e10), (1e9, "GB/s"));
    }
}
