//! Colour scales of heat maps, with named stops, and readable text colours.
//!
//! The colours are Okabe and Ito's, like those of methods. Cells with enough room contain a number, so that
//! maps do not depend only on colours.

use serde::{Deserialize, Deserializer};

use super::axis::Scale;
use super::canvas::Rgb;

/// A value with its colour and its meaning.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColourStop {
    pub at: f64,
    pub colour: Rgb,
    /// The meaning, in a word or two.
    pub name: String,
}

/// A colour scale. Colours blend between two stops, and stay the same beyond the first and the last.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Colours {
    /// The scale of values between stops.
    pub scale: Scale,
    /// From the smallest value to the largest, at least two. Neutral colours are not the background colour,
    /// which a dark page changes.
    pub stops: Vec<ColourStop>,
    /// The neutral value, if there is one: a cell whose interval includes it shows no difference.
    pub neutral: Option<f64>,
}

/// A scale of `pictures.toml`, which lives as long as the program.
pub fn lasting<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Colours, D::Error> {
    Ok(Box::leak(Box::new(Colours::deserialize(from)?)))
}

impl Colours {
    /// The position of a value on the scale: from 0 at the first stop to 1 at the last.
    pub fn share(&self, value: f64) -> f64 {
        let [first, .., last] = &self.stops[..] else { return 0.0 };
        let [from, to, at] = [first.at, last.at, value].map(|value| self.scale.place(value));
        ((at - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The colour at a position.
    pub fn colour_at(&self, share: f64) -> Rgb {
        let pair = self.stops.windows(2).find(|pair| share <= self.share(pair[1].at));
        let Some([a, b]) = pair else { return self.stops[self.stops.len() - 1].colour };
        let (from, to) = (self.share(a.at), self.share(b.at));
        let part = ((share - from) / (to - from)).clamp(0.0, 1.0);
        let blend = |a: u8, b: u8| (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8;
        let (a, b) = (a.colour, b.colour);
        Rgb(blend(a.0, b.0), blend(a.1, b.1), blend(a.2, b.2))
    }

    pub fn colour(&self, value: f64) -> Rgb {
        self.colour_at(self.share(value))
    }
}

/// Text on light and on dark colours. These differ from the colours of other text and of the background,
/// which a dark page changes.
const ON_LIGHT: Rgb = Rgb(0x00, 0x00, 0x00);
const ON_DARK: Rgb = Rgb(0xfe, 0xfe, 0xfe);

/// The text colour with more contrast, as defined by WCAG 2.1.
pub fn text_on(colour: Rgb) -> Rgb {
    let light = luminance(colour) + 0.05;
    let contrasts = [ON_LIGHT, ON_DARK].map(|text| {
        let text = luminance(text) + 0.05;
        light.max(text) / light.min(text)
    });
    if contrasts[0] >= contrasts[1] { ON_LIGHT } else { ON_DARK }
}

/// The relative luminance of WCAG 2.1.
fn luminance(Rgb(r, g, b): Rgb) -> f64 {
    let [r, g, b] = [r, g, b].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::super::{MarkShape, PICTURES};
    use super::*;

    fn all() -> impl Iterator<Item = &'static Colours> {
        PICTURES.iter().filter_map(|picture| match picture.shape {
            MarkShape::Heat(colours) => Some(colours),
            _ => None,
        })
    }

    #[test]
    fn stops_have_their_colours_and_all_beyond_the_ends_that_of_the_end() {
        for scale in all() {
            for stop in &scale.stops {
                assert_eq!(scale.colour(stop.at), stop.colour, "{}", stop.name);
            }
            let [first, .., last] = &scale.stops[..] else { panic!("one stop") };
            assert_eq!(scale.colour(first.at - 9.0), first.colour);
            assert_eq!(scale.colour(last.at + 9.0), last.colour);
        }
    }

    #[test]
    fn equal_ratios_are_equally_far_from_the_middle() {
        for scale in all().filter(|colours| colours.scale == Scale::Log) {
            assert!((scale.share(1.0) - 0.5).abs() < 1e-12);
            assert!((scale.share(2.0) + scale.share(0.5) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn every_number_can_be_read_on_its_colour() {
        for scale in all() {
            for share in 0..=20 {
                let colour = scale.colour_at(f64::from(share) / 20.0);
                let (a, b) = (luminance(colour) + 0.05, luminance(text_on(colour)) + 0.05);
                assert!(a.max(b) / a.min(b) >= 4.5, "{colour:?}");
            }
        }
    }
}
