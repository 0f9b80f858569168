//! Pictures of a run. Each is a row of [`PICTURES`] and a function that makes its marks of records; how they look is the same for all.
//!
//! The marks are also the picture's CSV. What was measured on two MPIs, or under two conditions, stands side by side in panels with
//! the same axis, and is never drawn as one.

mod axis;
mod canvas;
mod caption;
pub mod colours;
mod data;
mod heat;
mod lines;
mod marks;
mod names;
mod rows;
mod sheet;
mod sweep;
mod table;

use serde::Serialize;

use crate::model::Record;
use crate::report::table::TableFormat;
pub use axis::Scale;
use axis::Unit;
use colours::Colours;
pub use data::Datum;
pub use table::PICTURES;

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
#[derive(Clone, Copy)]
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
    /// A cell per pair of places, coloured by its value; a map per panel.
    Heat {
        /// Which colours values have.
        colours: &'static Colours,
    },
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
        let draw = match self.shape {
            Shape::Lines => lines::draw,
            Shape::Heat { .. } => heat::draw,
            _ => rows::draw,
        };
        let svg = draw(results, self, &data, &caption);
        Some(Drawn { name: self.name, title: self.title, caption, svg, csv: data::csv(&data) })
    }
}

#[cfg(test)]
mod tests;
