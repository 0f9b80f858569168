//! Colour scales of heat maps, with named stops, and readable text colours.
//!
//! The colours are Okabe and Ito's, like those of methods. Cells with enough room contain a number, so that maps do not depend
//! only on colours.

use plotters::style::RGBColor;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::axis::Scale;

/// A value with its colour and its meaning.
#[derive(Debug)]
pub struct ColourStop {
    pub at: f64,
    pub colour: RGBColor,
    /// The meaning, in a word or two.
    pub name: &'static str,
}

/// A colour scale. Colours blend between two stops, and stay the same beyond the first and the last.
#[derive(Debug)]
pub struct Colours {
    /// The scale of values between stops.
    pub scale: Scale,
    /// From the smallest value to the largest, at least two.
    pub stops: &'static [ColourStop],
    /// The neutral value, if there is one: a cell whose interval includes it shows no difference.
    pub neutral: Option<f64>,
}

const fn stop(at: f64, colour: RGBColor, name: &'static str) -> ColourStop {
    ColourStop { at, colour, name }
}

const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
const GREEN: RGBColor = RGBColor(0x00, 0x9e, 0x73);
const YELLOW: RGBColor = RGBColor(0xf0, 0xe4, 0x42);
const RED: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
/// Neutral; not the background colour, which a dark page changes.
const MIDDLE: RGBColor = RGBColor(0xf2, 0xf2, 0xee);

/// The remainder of the shorter of communication and computation after overlap: 0 if it is all hidden, 1 if both are serial.
pub static OVERHEAD_RATIO: Colours = Colours {
    scale: Scale::Linear,
    stops: &[
        stop(-1.0, BLUE, "imprecise"),
        stop(0.0, GREEN, "perfect"),
        stop(1.0, YELLOW, "serial"),
        stop(2.0, RED, "slower"),
    ],
    neutral: None,
};

/// A fraction; 0 is best and 1 is worst.
pub static BEST_TO_WORST: Colours = Colours {
    scale: Scale::Linear,
    stops: &[stop(0.0, BLUE, "best"), stop(0.5, MIDDLE, ""), stop(1.0, RED, "worst")],
    neutral: None,
};

/// The time of a computation relative to the undisturbed time.
pub static SLOWDOWN: Colours = Colours {
    scale: Scale::Linear,
    stops: &[stop(1.0, BLUE, "undisturbed"), stop(1.5, MIDDLE, ""), stop(2.0, RED, "twice as long")],
    neutral: None,
};

/// A time relative to another one: smaller is faster.
pub static TIME_OVER: Colours = Colours {
    scale: Scale::Log,
    stops: &[stop(0.25, BLUE, "faster"), stop(1.0, MIDDLE, "as fast"), stop(4.0, RED, "slower")],
    neutral: Some(1.0),
};

/// A speed-up: larger is faster.
pub static TIMES_AS_FAST: Colours = Colours {
    scale: Scale::Log,
    stops: &[stop(0.25, RED, "slower"), stop(1.0, MIDDLE, "as fast"), stop(4.0, BLUE, "faster")],
    neutral: Some(1.0),
};

/// The scale with this name in `pictures.toml`.
pub fn named<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Colours, D::Error> {
    Ok(match String::deserialize(from)?.as_str() {
        "overhead_ratio" => &OVERHEAD_RATIO,
        "best_to_worst" => &BEST_TO_WORST,
        "slowdown" => &SLOWDOWN,
        "time_over" => &TIME_OVER,
        "times_as_fast" => &TIMES_AS_FAST,
        other => return Err(D::Error::custom(format!("unknown colours {other:?}"))),
    })
}

impl Colours {
    /// The position of a value on the scale: from 0 at the first stop to 1 at the last.
    pub fn share(&self, value: f64) -> f64 {
        let [first, .., last] = self.stops else { return 0.0 };
        let [from, to, at] = [first.at, last.at, value].map(|value| self.scale.place(value));
        ((at - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The colour at a position.
    pub fn colour_at(&self, share: f64) -> RGBColor {
        let pair = self.stops.windows(2).find(|pair| share <= self.share(pair[1].at));
        let Some([a, b]) = pair else { return self.stops[self.stops.len() - 1].colour };
        let (from, to) = (self.share(a.at), self.share(b.at));
        let part = ((share - from) / (to - from)).clamp(0.0, 1.0);
        let blend = |a: u8, b: u8| (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8;
        let (a, b) = (a.colour, b.colour);
        RGBColor(blend(a.0, b.0), blend(a.1, b.1), blend(a.2, b.2))
    }

    pub fn colour(&self, value: f64) -> RGBColor {
        self.colour_at(self.share(value))
    }
}

/// Text on light and on dark colours. These differ from the colours of other text and of the background, which a dark page
/// changes.
const ON_LIGHT: RGBColor = RGBColor(0x00, 0x00, 0x00);
const ON_DARK: RGBColor = RGBColor(0xfe, 0xfe, 0xfe);

/// The text colour with more contrast, as defined by WCAG 2.1.
pub fn text_on(colour: RGBColor) -> RGBColor {
    let light = luminance(colour) + 0.05;
    let contrasts = [ON_LIGHT, ON_DARK].map(|text| {
        let text = luminance(text) + 0.05;
        light.max(text) / light.min(text)
    });
    if contrasts[0] >= contrasts[1] { ON_LIGHT } else { ON_DARK }
}

/// The relative luminance of WCAG 2.1.
fn luminance(RGBColor(r, g, b): RGBColor) -> f64 {
    let [r, g, b] = [r, g, b].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    static ALL: [&Colours; 4] = [&OVERHEAD_RATIO, &BEST_TO_WORST, &TIME_OVER, &TIMES_AS_FAST];

    #[test]
    fn stops_have_their_colours_and_all_beyond_the_ends_that_of_the_end() {
        for scale in ALL {
            for stop in scale.stops {
                assert_eq!(scale.colour(stop.at), stop.colour, "{}", stop.name);
            }
            let [first, .., last] = scale.stops else { panic!("one stop") };
            assert_eq!(scale.colour(first.at - 9.0), first.colour);
            assert_eq!(scale.colour(last.at + 9.0), last.colour);
        }
        assert_eq!(OVERHEAD_RATIO.colour(-3.0), BLUE);
    }

    #[test]
    fn equal_ratios_are_equally_far_from_the_middle() {
        assert!((TIME_OVER.share(1.0) - 0.5).abs() < 1e-12);
        assert!((TIME_OVER.share(2.0) + TIME_OVER.share(0.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn every_number_can_be_read_on_its_colour() {
        for scale in ALL {
            for share in 0..=20 {
                let colour = scale.colour_at(f64::from(share) / 20.0);
                let (a, b) = (luminance(colour) + 0.05, luminance(text_on(colour)) + 0.05);
                assert!(a.max(b) / a.min(b) >= 4.5, "{colour:?}");
            }
        }
    }
}
