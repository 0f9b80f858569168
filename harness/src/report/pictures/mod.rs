//! Pictures of a run. Each is a row of [`PICTURES`] and a function that makes its marks of records; how they look is the same for all.
//!
//! The marks are also the picture's CSV. What was measured on two MPIs, or under two conditions, stands side by side in panels with
//! the same axis, and is never drawn as one.

mod axis;
mod canvas;
mod caption;
mod data;
mod lines;
mod marks;
mod rows;
mod sheet;

use serde::Serialize;

use crate::model::Record;
use crate::report::table::TableFormat;
use axis::{Scale, Unit};
pub use data::Datum;

/// A picture of which a run has one, if there is what it needs.
pub struct Picture {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// What it shows, in some words.
    pub title: &'static str,
    /// The kinds of experiments that it is of, by their names.
    pub kinds: &'static [&'static str],
    /// What a run must have for it.
    pub needs: &'static str,
    /// Its marks; none where the run lacks what it needs.
    data: fn(&Results<'_>) -> Vec<Datum>,
    shape: Shape,
    /// The title of the axis of values, without its unit.
    axis: &'static str,
    unit: Unit,
    scale: Scale,
    /// How it is to be read.
    about: &'static str,
    /// What is seen in it.
    finding: fn(&Picture, &[Datum]) -> String,
}

/// What marks are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// A bar per method from a value, with its interval as a whisker; all tests on one axis.
    Bars {
        /// Where bars begin.
        base: f64,
    },
    /// The same from 0, each test on an axis of its own.
    Times,
    /// A bar per method of several parts, each test on an axis of its own.
    Stack,
    /// A point per launch, and the median and interval over them.
    Launches,
    /// A line per method over something.
    Lines,
}

impl Shape {
    fn shares_axis(self) -> bool {
        matches!(self, Self::Bars { .. })
    }
}

/// What pictures are made of.
pub struct Results<'a> {
    /// What is known of the kind of experiments.
    pub form: &'static TableFormat,
    /// Times and figures over all launches.
    pub over: &'a [Record],
    /// Those of each launch.
    pub launches: &'a [Record],
}

/// A picture of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Its name.
    pub name: &'static str,
    /// What it shows, in some words.
    pub title: &'static str,
    /// How it is to be read, and what is seen in it.
    pub caption: String,
    /// The picture.
    pub svg: String,
    /// Its data.
    #[serde(skip)]
    pub csv: Vec<u8>,
}

/// How a page has pictures in its own colours, given as the variables `--ink`, `--line` and `--paper`.
pub fn page_style() -> String {
    let colours = [(canvas::INK, "--ink"), (canvas::LINE, "--line"), (canvas::PAPER, "--paper")];
    let rule = |attribute: &str, (colour, name)| {
        format!("figure svg [{attribute}=\"{}\"] {{ {attribute}: var({name}); }}\n", canvas::written(colour))
    };
    colours.iter().flat_map(|of| ["fill", "stroke"].map(|attribute| rule(attribute, *of))).collect()
}

/// All pictures, in the order in which a page has them.
pub const PICTURES: &[Picture] = &[
    Picture {
        name: "overhead",
        title: "Pack overhead per test",
        kinds: &["pingpong", "halo"],
        needs: "methods with their reference",
        data: marks::overhead,
        shape: Shape::Bars { base: 0.0 },
        axis: "pack overhead",
        unit: Unit::Percent,
        scale: Scale::Linear,
        about: "The share of a method's time that the same bytes in one piece (reference) do not take; below 0 it is faster than these. Lines \
            are 95% intervals; a bar without a line has none.",
        finding: caption::extremes,
    },
    Picture {
        name: "overhead_put",
        title: "Pack overhead of one-sided methods",
        kinds: &["pingpong", "halo"],
        needs: "one-sided methods with put_reference",
        data: marks::overhead_put,
        shape: Shape::Bars { base: 0.0 },
        axis: "pack overhead",
        unit: Unit::Percent,
        scale: Scale::Linear,
        about: "The share of a method's time that a put of the same bytes in one piece (put_reference) does not take. Lines are 95% intervals; \
            a bar without a line has none.",
        finding: caption::extremes,
    },
    Picture {
        name: "gain_over_partition",
        title: "Gain over partition size, and the model",
        kinds: &["partitioned"],
        needs: "at least two partition sizes, and single",
        data: marks::gain_over_partition,
        shape: Shape::Lines,
        axis: "gain over single",
        unit: Unit::Ratio,
        scale: Scale::Log,
        about: "The time of the bulk-synchronous message (single) over the mechanism's; above 1 the mechanism is faster. Dashed: what the model \
            predicts of the delays and times measured beside it. Upright lines are 95% intervals; points of one size stand a little apart.",
        finding: caption::extremes,
    },
    Picture {
        name: "gain",
        title: "Gain of each mechanism",
        kinds: &["partitioned"],
        needs: "mechanisms beside single",
        data: marks::gain,
        shape: Shape::Bars { base: 1.0 },
        axis: "gain over single",
        unit: Unit::Ratio,
        scale: Scale::Log,
        about: "The time of the bulk-synchronous message (single) over the mechanism's: bars to the right of 1 are faster. Lines are 95% \
            intervals.",
        finding: caption::extremes,
    },
    Picture {
        name: "bandwidth_over_partition",
        title: "Bandwidth over partition size",
        kinds: &["partitioned"],
        needs: "at least two partition sizes",
        data: marks::bandwidth_over_partition,
        shape: Shape::Lines,
        axis: "bandwidth",
        unit: Unit::Rate,
        scale: Scale::Log,
        about: "Bytes over the time to solution. Upright lines are 95% intervals; points of one size stand a little apart, those of the time turned around.",
        finding: caption::extremes,
    },
    Picture {
        name: "pack_over_engine",
        title: "Packing: time over the engine's",
        kinds: &["engine"],
        needs: "the engine and what is held against it",
        data: marks::packing_over_engine,
        shape: Shape::Bars { base: 1.0 },
        axis: "time over the engine's",
        unit: Unit::Ratio,
        scale: Scale::Log,
        about: "How many times as long as the pack engine a method packs: bars to the right of 1 say that the engine is faster. Lines are 95% \
            intervals.",
        finding: caption::extremes,
    },
    Picture {
        name: "unpack_over_engine",
        title: "Unpacking: time over the engine's",
        kinds: &["engine"],
        needs: "the engine and what is held against it",
        data: marks::unpacking_over_engine,
        shape: Shape::Bars { base: 1.0 },
        axis: "time over the engine's",
        unit: Unit::Ratio,
        scale: Scale::Log,
        about: "How many times as long as the pack engine a method unpacks: bars to the right of 1 say that the engine is faster. Lines are 95% \
            intervals.",
        finding: caption::extremes,
    },
    Picture {
        name: "exchange",
        title: "Time of an exchange",
        kinds: &["halo"],
        needs: "an exchange with times",
        data: marks::times,
        shape: Shape::Times,
        axis: "time that an exchange adds",
        unit: Unit::Seconds,
        scale: Scale::Linear,
        about: "The median of what an exchange adds to the computing of the rank that computes longest. Each test has an axis of its own; a bar that \
            it does not hold says how long it is. Lines are 95% intervals; a bar without a line has none.",
        finding: caption::extremes,
    },
    Picture {
        name: "phases",
        title: "What a round trip is made of",
        kinds: &["pingpong"],
        needs: "methods with times",
        data: marks::phases,
        shape: Shape::Stack,
        axis: "time",
        unit: Unit::Seconds,
        scale: Scale::Linear,
        about: "Medians of the phases, one after the other. Explicit packing and unpacking are the origin's, doubled, since both ranks pack and \
            unpack in a round trip; of a datatype MPI packs within the communication, where nobody sees it. Creation is not part of a round \
            trip. Each test has an axis of its own; a bar that it does not hold says how long it is.",
        finding: caption::nothing,
    },
    Picture {
        name: "time_over_size",
        title: "Time over size",
        kinds: &["pingpong", "halo", "engine"],
        needs: "cases of one test that differ in size or in one parameter, as those of -p ny=200,400,800",
        data: marks::time_over_size,
        shape: Shape::Lines,
        axis: "median time",
        unit: Unit::Seconds,
        scale: Scale::Log,
        about: "The median time of each method over what was swept. Upright lines are 95% intervals; points of one size stand a little apart.",
        finding: caption::nothing,
    },
    Picture {
        name: "bandwidth_over_size",
        title: "Bandwidth over size",
        kinds: &["pingpong", "halo", "engine"],
        needs: "cases of one test that differ in size or in one parameter, as those of -p ny=200,400,800",
        data: marks::bandwidth_over_size,
        shape: Shape::Lines,
        axis: "bandwidth",
        unit: Unit::Rate,
        scale: Scale::Log,
        about: "Payload per second of each method over what was swept. Upright lines are 95% intervals; points of one size stand a little apart, those of the time turned around.",
        finding: caption::extremes,
    },
    Picture {
        name: "launches",
        title: "Every launch",
        kinds: &["pingpong", "halo", "partitioned", "engine"],
        needs: "at least two launches of a method",
        data: marks::launches,
        shape: Shape::Launches,
        axis: "median time of a launch",
        unit: Unit::Seconds,
        scale: Scale::Log,
        about: "A point per launch, a new start of the program: its median. The upright line is the median over launches, with its 95% interval \
            where there is one. Each test has an axis of its own, equal ratios equally long where methods differ by more than four times.",
        finding: caption::spread,
    },
];

/// The pictures of a run that it has what they need for.
pub fn all(results: &Results<'_>) -> Vec<Drawn> {
    PICTURES.iter().filter_map(|picture| picture.draw(results)).collect()
}

impl Picture {
    /// The picture called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        PICTURES.iter().find(|picture| picture.name == name)
    }

    /// This picture of a run; `None` where it lacks what it needs, or is of another kind.
    pub fn draw(&self, results: &Results<'_>) -> Option<Drawn> {
        let kind = &results.over.first()?.case.experiment;
        let data = if self.kinds.contains(&kind.as_str()) { (self.data)(results) } else { Vec::new() };
        if data.is_empty() {
            return None;
        }
        let caption = caption::of(self, results, &data);
        let draw = if self.shape == Shape::Lines { lines::draw } else { rows::draw };
        let svg = draw(results, self, &data, &caption);
        Some(Drawn { name: self.name, title: self.title, caption, svg, csv: data::csv(&data) })
    }
}

#[cfg(test)]
mod tests;
