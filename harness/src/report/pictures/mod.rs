//! Pictures of a run. Each is an entry of `pictures.toml` with marks made of records; the style is the same for all.
//!
//! The marks are also the picture's CSV. Results of two MPIs, or under two conditions, are in separate panels with the same axis.

mod axis;
mod blocks;
mod canvas;
mod caption;
pub mod colours;
mod data;
mod heading;
mod heat;
mod legend;
mod lines;
mod marks;
mod panels;
mod paper;
mod parts;
mod pdf;
mod places;
mod rows;
mod sheet;
mod sweep;

use std::borrow::Cow;
use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread::{self, ScopedJoinHandle};

use serde::{Deserialize, Serialize};

use crate::model::Record;
use crate::report::account::Account;
use crate::report::names::{distinct, work};
use crate::report::table::TableFormat;
use axis::AxisUnit;
pub use axis::Scale;
use canvas::Canvas;
use colours::Colours;
use common::kinds::Kind;
pub use data::Datum;
use heading::Heading;
pub use heading::setting;
pub use marks::GEOMETRIC_MEAN;
use marks::Marks;
pub use paper::PaperFigure;
use sweep::Over;

/// A picture that every run with the necessary data has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Its name, and that of its files.
    pub name: String,
    /// A short description.
    pub title: String,
    /// Whether it is only for figures of plans.
    #[serde(default)]
    of_figures: bool,
    /// The kinds of experiments for which it exists.
    pub kinds: Vec<Kind>,
    /// The data that a run must have for it.
    pub needs: String,
    /// The source of its values; empty if the run lacks the data.
    marks: Marks,
    /// The axes of its values.
    #[serde(default)]
    over: Over,
    shape: MarkShape,
    /// The title of the axis of values, without its unit.
    axis: String,
    #[serde(default)]
    unit: AxisUnit,
    #[serde(default)]
    scale: Scale,
    /// How to read it.
    about: String,
}

/// All pictures, in the order of the page.
static PICTURES: LazyLock<Vec<Picture>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct PicturesFile {
        pictures: Vec<Picture>,
    }
    let file: PicturesFile =
        toml::from_str(include_str!("pictures.toml")).expect("it is part of the program");
    file.pictures
});

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MarkShape {
    /// A bar per method from a value, with its interval; all tests on one axis.
    Bars {
        /// The start of bars.
        base: f64,
    },
    /// A point per method with its interval, and a line at a value; all tests on one axis. Colours show verdicts.
    Points {
        /// The position of the line.
        base: f64,
    },
    /// A row per test: a point per state of the machine with its interval, and a line at a value.
    Verdicts {
        /// The position of the line.
        base: f64,
    },
    /// A bar per method from 0, with its interval; each test on its own axis.
    Times,
    /// A bar per method of several parts; each test on its own axis.
    Stack,
    /// A point per launch, and the median and interval over launches.
    Launches,
    /// A line per method.
    Lines,
    /// A cell per pair of places, coloured by its value; a map per panel.
    Heat(#[serde(deserialize_with = "colours::lasting")] &'static Colours),
}

/// The data for pictures.
pub struct Results<'a> {
    /// The format of the kind of experiments.
    pub form: &'static TableFormat,
    /// Times and figures over all launches, in one state of the machine.
    pub over: &'a [Record],
    /// The same in all states.
    pub all: &'a [Record],
    /// Those of each launch, with its state.
    pub launches: &'a [Record],
    /// When and where the runs were.
    pub accounts: &'a [Account],
    /// The figure of the plan that was run.
    pub figure: Option<&'a PaperFigure>,
    /// The changes found by a comparison of the runs.
    pub changes: &'a [Datum],
    /// Whether pictures contain their titles and settings.
    pub has_titles: bool,
}

/// A picture of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drawn {
    pub name: String,
    /// A short description.
    pub title: String,
    /// How to read it, and its main values.
    pub caption: String,
    pub svg: String,
    #[serde(skip)]
    pub canvas: Canvas,
    #[serde(skip)]
    pub csv: Vec<u8>,
}

impl Drawn {
    pub fn pdf(&self) -> Vec<u8> {
        pdf::pdf(&self.canvas)
    }

    /// Its files, by their names.
    pub fn files(&self) -> [(String, Vec<u8>); 3] {
        let named = |ending: &str, bytes: Vec<u8>| (format!("{}.{ending}", self.name), bytes);
        [
            named("svg", self.svg.clone().into_bytes()),
            named("pdf", self.pdf()),
            named("csv", self.csv.clone()),
        ]
    }
}

/// The style with which a page replaces the colours of pictures, with the variables `--ink`, `--line` and `--paper`.
pub fn page_style() -> String {
    let colours = [(canvas::INK, "--ink"), (canvas::LINE, "--line"), (canvas::PAPER, "--paper")];
    let rule = |attribute: &str, (colour, name)| {
        format!("figure svg [{attribute}=\"{colour}\"] {{ {attribute}: var({name}); }}\n")
    };
    colours.iter().flat_map(|of| ["fill", "stroke"].map(|attribute| rule(attribute, *of))).collect()
}

/// All pictures for which a run has the data; those of its plan's figure come first. They are drawn in
/// parallel, because with many cases they take longer than the rest of the report.
pub fn all(results: &Results<'_>) -> Vec<Drawn> {
    thread::scope(|scope| {
        let of_figure = results.figure.map(|figure| scope.spawn(|| figure.draw(results)));
        let draw = |picture: &'static Picture| move || Vec::from_iter(picture.draw(results, &[]));
        let others = Picture::of_runs().map(|picture| scope.spawn(draw(picture)));
        let drawn: Vec<_> = of_figure.into_iter().chain(others).collect();
        let finished =
            |drawn: ScopedJoinHandle<'_, _>| drawn.join().unwrap_or_else(|panic| resume_unwind(panic));
        drawn.into_iter().flat_map(finished).collect()
    })
}

impl Picture {
    /// Pictures of every run with the data.
    fn of_runs() -> impl Iterator<Item = &'static Self> {
        PICTURES.iter().filter(|picture| !picture.of_figures)
    }

    /// The picture with this name, of those that every run with the data has.
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::of_runs().find(|picture| picture.name == name)
    }

    /// Its marks for a run; empty if the run lacks the data, or is of another kind.
    fn marks(&self, results: &Results<'_>) -> Vec<Datum> {
        let kind = results.over.first().map(|record| record.case.experiment);
        if !kind.is_some_and(|kind| self.kinds.contains(&kind)) {
            return Vec::new();
        }
        self.over.place(self.marks.data_of(results))
    }

    /// This picture of a run, with notes below its title; `None` if the run lacks what it needs.
    pub fn draw(&self, results: &Results<'_>, notes: &[String]) -> Option<Drawn> {
        self.draw_marks(results, self.marks(results), notes)
    }

    /// The picture of marks; `None` if there are none.
    fn draw_marks(&self, results: &Results<'_>, data: Vec<Datum>, notes: &[String]) -> Option<Drawn> {
        if data.is_empty() {
            return None;
        }
        let (shown, left_out) = first(self.shape, &data);
        let notes = [notes, &base(self.shape, &data), &left_out].concat();
        let caption = caption::caption_text(self, results, &data);
        let draw = match self.shape {
            MarkShape::Lines => lines::draw,
            MarkShape::Heat { .. } => heat::draw,
            _ => rows::draw,
        };
        let heading = Heading::of_picture(results, self, &notes);
        let canvas = Canvas::new(&heading, &caption, |canvas, top| draw(canvas, results, self, &shown, top));
        let (name, title) = (self.name.clone(), self.title.clone());
        Some(Drawn { name, title, caption, svg: canvas.svg(), canvas, csv: data::csv(&data) })
    }
}

/// Maximum tests or panels of a picture: browsers do not show many more, and people would not read them.
const MOST: usize = 200;

/// The marks of the first tests or panels, and a note if there are more.
fn first(shape: MarkShape, data: &[Datum]) -> (Cow<'_, [Datum]>, Vec<String>) {
    let (place, what): (fn(&Datum) -> [&str; 4], &str) = match shape {
        MarkShape::Lines | MarkShape::Heat { .. } => (|datum| [&datum.panel, "", "", ""], "panels"),
        _ => (|datum| work(&datum.case), "tests"),
    };
    let all = distinct(data.iter().map(place));
    if all.len() <= MOST {
        return (Cow::Borrowed(data), Vec::new());
    }
    let shown: HashSet<[&str; 4]> = all[..MOST].iter().copied().collect();
    let marks = data.iter().filter(|datum| shown.contains(&place(datum))).cloned().collect();
    (Cow::Owned(marks), vec![format!("the first {MOST} of {} {what}; the CSV has all", all.len())])
}

/// The common reference of the points.
fn base(shape: MarkShape, data: &[Datum]) -> Vec<String> {
    let first =
        data.first().filter(|_| matches!(shape, MarkShape::Points { .. } | MarkShape::Verdicts { .. }));
    first.map(|datum| format!("base: {}", datum.against)).into_iter().collect()
}

#[cfg(test)]
mod tests;
