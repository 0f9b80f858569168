//! The commands that only show: `list`, `layout`, `report`.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use apps::{Arrays, Context, LAYOUT, MicroApp, Side, Test, Values, WireOrder};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use common::memory;
use datatypes::{InArray, Language, loop_in_c};
use ddtbench::compare::Comparisons;
use ddtbench::experiments::layout_file::likely_counts;
use ddtbench::experiments::selection::Selection;
use ddtbench::experiments::{self, Kind, copies, engine, list, pingpong};
use ddtbench::folder::times_csv;
use ddtbench::model::Record;
use ddtbench::plan::figures;
use ddtbench::report::columns::{text_width, wrapped};
use ddtbench::report::compared::Compared;
use ddtbench::report::pictures::{Drawn, Picture};
use ddtbench::report::{self, export};

use super::compare::recorded::again;
use super::completions;
use super::output;
use super::overview;
use super::recorded;
use super::run_page::{self, Shown, comparisons};
use super::selection::SetArgs;

/// The default seed of a run, for index lists.
const SEED: u64 = 1;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// A test, exchange or method, to show its description, sets and parameters; or a figure, to print its plan file
    #[arg(conflicts_with = "format", add = completions::listed())]
    name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: list::ListFormat,
}

#[derive(Debug, Args)]
pub struct ShownLayoutArgs {
    /// A test, or a layout as text: 'vector(408, 5, 2050, double)'
    #[arg(required_unless_present = "layout", add = completions::tests())]
    test: Option<String>,
    /// Any layout instead of a test: a file, text, or - for standard input
    #[arg(long, value_name = "FILE|TEXT", conflicts_with_all = ["test", "sets", "params"])]
    layout: Option<String>,
    /// Values of names in the layout or in parameters, such as n=64,bl=[1,2]; they replace those in a program
    #[arg(long, value_name = "NAME=VALUE")]
    define: Vec<String>,
    #[command(flatten)]
    sets: SetArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: LayoutFormat,
    /// Print functions that pack and unpack it, for `ddtbench run --pack`, to start from
    #[arg(long, value_enum, ignore_case = true, value_name = "LANGUAGE", conflicts_with = "format")]
    write_loop: Option<LoopLanguage>,
    /// Side of the message: where bytes are read, or where they are written
    #[arg(long, default_value = "send", value_parser = PossibleValuesParser::new(["send", "receive"]).map(side))]
    side: Side,
    /// Number of ranks, for tests whose message depends on it
    #[arg(short = 'n', long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LoopLanguage {
    C,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum LayoutFormat {
    /// Arrays, the tree of datatypes, and statistics
    #[default]
    Tree,
    /// Text for --layout
    Text,
    /// C code that creates the datatype
    C,
    /// Fortran code (mpi_f08) that creates it
    Fortran,
    /// As JSON
    Json,
    /// All segments as CSV, in packed order, merged
    Segments,
    /// The pack engine's program: operations, kernels, their bytes, and why
    Explain,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folders of runs, shown side by side; then names of tests, to show only these
    #[arg(required = true, value_name = "DIR|TEST")]
    dirs_and_tests: Vec<PathBuf>,
    /// Output format [default: text]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// Print only this picture: as SVG, with --format pdf as PDF, or with --format csv its data
    #[arg(long, value_name = "NAME")]
    figure: Option<String>,
    /// Print the picture without title, date and settings
    #[arg(long, requires = "figure")]
    no_title: bool,
    /// Weights of tests for the geometric mean of each MPI: a TOML file with lines such as nas_lu_y = 40
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Print all methods with all values, not only the answer
    #[arg(long, conflicts_with_all = ["format", "figure"])]
    details: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReportFormat {
    /// As printed by the run
    Text,
    /// A page that needs no other file, also for printing
    Html,
    /// Times and figures over all launches
    Json,
    /// Times over all launches, as in the folder's summary.csv
    Csv,
    /// Tables of all methods
    Markdown,
    /// A line with names and values for each method, for programs that search in text
    Fom,
    /// A picture
    Pdf,
}

fn side(name: String) -> Side {
    if name == "send" { Side::Send } else { Side::Receive }
}

impl ListArgs {
    pub fn execute(self) -> anyhow::Result<()> {
        if let Some(text) = self.name.as_deref().and_then(figures::text) {
            return output::print(text.as_bytes());
        }
        let text = match self.name {
            Some(name) => list::one(&name, output::width()).map_err(anyhow::Error::msg)?,
            None => list::list(self.format, output::width()),
        };
        output::print(text.as_bytes())
    }
}

impl ShownLayoutArgs {
    pub fn execute(self) -> anyhow::Result<()> {
        let (test, values, order) = self.message()?;
        let app = test.build(&values, Context { ranks: self.ranks as usize, seed: SEED })?;
        if let Some(available) = memory::available_bytes() {
            memory::check_layout(&app, available)
                .map_err(|reason| anyhow!("{} {values}: {reason}", test.name))?;
        }
        if self.write_loop.is_some() {
            return output::print(loop_to_start_from(&app).as_bytes());
        }
        let side = self.side;
        let order = if app.has_loops { order } else { WireOrder::Ddt };
        match self.format {
            LayoutFormat::Tree => output::print_text(&report::layout::tree(test, &values, &app, side, order)),
            LayoutFormat::Text => {
                let text = report::layout::text(&app.message(side, order)).map_err(anyhow::Error::msg)?;
                output::print(text.as_bytes())
            }
            LayoutFormat::C => output::print(code(&app, side, order, Language::C).as_bytes()),
            LayoutFormat::Fortran => output::print(code(&app, side, order, Language::Fortran).as_bytes()),
            LayoutFormat::Json => {
                output::print(report::layout::json(test, &values, &app, side, order).as_bytes())
            }
            LayoutFormat::Segments => {
                let mut out = io::BufWriter::new(io::stdout().lock());
                let written = report::layout::segments_csv(&app.message(side, order), &mut out)
                    .and_then(|()| io::Write::flush(&mut out));
                output::forgive(written)
            }
            LayoutFormat::Explain => {
                let text = report::program::explain(test, &values, &app, side, order, self.ranks)?;
                output::print_text(&text)
            }
        }
    }

    /// The test or the given layout, with the order in which bytes are packed.
    fn message(&self) -> anyhow::Result<(&'static Test, Values, WireOrder)> {
        let typed = self.test.clone().unwrap_or_default();
        let is_text = typed.contains('(');
        let Some(layout) = self.layout.as_ref().or(is_text.then_some(&typed)) else {
            let test = apps::find(&typed)?;
            let given = Selection { define: self.define.clone(), ..self.sets.selection()? };
            let (orders, lists) = engine::orders(&given.lists).map_err(anyhow::Error::msg)?;
            let values = pingpong::values(&Selection { lists, ..given }, test).map_err(anyhow::Error::msg)?;
            values.note_on_order().iter().for_each(|note| output::log(note));
            return Ok((test, values, orders[0].wire_order()));
        };
        let given =
            Selection { layouts: vec![layout.clone()], define: self.define.clone(), ..Selection::default() };
        let cases = given.layout_cases().map_err(anyhow::Error::msg)?;
        let [case] = &cases[..] else { bail!("--define: give one value per name here") };
        likely_counts(layout).iter().for_each(|warning| output::log(warning));
        let mut values = LAYOUT.set(LAYOUT.quick_set().name)?;
        case.given().try_for_each(|(name, text)| values.assign(name, text))?;
        Ok((apps::find(LAYOUT.name)?, values, WireOrder::Manual))
    }
}

/// Loops for both sides of a message, in the form that `--pack` takes.
fn loop_to_start_from(app: &MicroApp) -> String {
    let messages = [Side::Send, Side::Receive].map(|side| app.message(side, WireOrder::Ddt));
    let [sent, received] = messages.each_ref().map(|message| {
        let pieces = message.pieces.iter().map(|piece| {
            let origin_bytes = if app.has_loops { piece.origin_bytes } else { 0 };
            InArray { array: &app.arrays[piece.array].name.name, origin_bytes, layout: &piece.layout }
        });
        pieces.collect::<Vec<_>>()
    });
    loop_in_c(&sent, &received)
}

/// Code for one side of a message. With several arrays, displacements are relative to the first one.
fn code(app: &MicroApp, side: Side, order: WireOrder, language: Language) -> String {
    app.message(side, order).datatype(&Arrays::displacements_of(&app.arrays)).1.code(language)
}

impl ReportArgs {
    pub fn execute(self) -> anyhow::Result<()> {
        let (dirs, tests) = self.dirs_and_tests();
        let launches = run_page::launches(&dirs, &tests)?;
        let weights = self.weights.as_deref().map(overview::weights).transpose()?;
        let overviews = overview::overviews(&launches, weights.as_ref())?;
        // Comparisons are of all tests.
        let only = if let ([dir], []) = (&dirs[..], &tests[..]) { Some(dir) } else { None };
        let kept = only.map(|dir| comparisons(dir, &launches)).transpose()?.flatten();
        let found = only.zip(kept).map(|(dir, kept)| again(dir, &launches, &kept.settings)).transpose()?;
        let of_run = || only.and_then(|dir| recorded::same_bytes(dir)).unwrap_or_default();
        let mut compared = if found.is_some() { Compared::default() } else { of_run() };
        overview::add(&mut compared, &overviews);
        copies::add(&mut compared, &launches);
        // The page of a comparison has its rows, too.
        let found = found.map(|found| Comparisons { overviews: overviews.clone(), ..found });
        let of_page = found.as_ref().map_or_else(|| compared.clone(), Comparisons::compared);
        let Shown { kind, over, page, notes } = Shown::new(&dirs, &launches, &of_page, !self.no_title)?;
        if let Some(name) = &self.figure {
            let picture = picture(&dirs[0], name, &page.pictures)?;
            return match self.format {
                None => output::print(picture.svg.as_bytes()),
                Some(ReportFormat::Csv) => output::print(&picture.csv),
                Some(ReportFormat::Pdf) => output::print(&picture.pdf()),
                Some(_) => bail!("--figure {name}: the format of a picture is svg (default), pdf or csv"),
            };
        }
        match self.format.unwrap_or(ReportFormat::Text) {
            ReportFormat::Text => {
                print_results(kind, &over, page.loops.as_deref(), &compared, self.details, &notes)
            }
            ReportFormat::Html => output::print(page.html.as_bytes()),
            ReportFormat::Pdf => bail!(
                "--format pdf is for one picture, named by --figure; a browser can print the page of --format html as PDF"
            ),
            ReportFormat::Json => {
                output::print(export::json(&over, &serde_json::to_value(&overviews)?).as_bytes())
            }
            ReportFormat::Csv => output::print(&times_csv(&over)),
            ReportFormat::Fom => output::print(export::figures_of_merit(&over).as_bytes()),
            ReportFormat::Markdown => {
                output::print(export::markdown(experiments::of_kind(kind).table_format, &over).as_bytes())
            }
        }
    }

    fn dirs_and_tests(&self) -> (Vec<PathBuf>, Vec<String>) {
        let is_dir = |word: &&PathBuf| {
            word.exists() || word.components().count() > 1 || self.dirs_and_tests.first() == Some(*word)
        };
        let (dirs, tests): (Vec<&PathBuf>, Vec<&PathBuf>) = self.dirs_and_tests.iter().partition(is_dir);
        let tests = tests.into_iter().map(|test| test.display().to_string());
        (dirs.into_iter().cloned().collect(), tests.collect())
    }
}

fn picture<'a>(dir: &Path, name: &str, pictures: &'a [Drawn]) -> anyhow::Result<&'a Drawn> {
    let found = pictures.iter().find(|drawn| drawn.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = pictures.iter().map(|drawn| &*drawn.name).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let needs = Picture::find(name).map_or_else(String::new, |picture| {
            let kinds: Vec<&str> = picture.kinds.iter().map(|kind| kind.name()).collect();
            format!(", which is for {} and needs {}", kinds.join(", "), picture.needs)
        });
        anyhow!("{} has no picture {name}{needs}; it has {has}", dir.display())
    })
}

/// Prints how loops were compiled, the best of several MPIs, the answer, or all methods with all their
/// figures, what else was compared, and what must be known of all of them.
pub(super) fn print_results(
    kind: Kind,
    records: &[Record],
    loops: Option<&str>,
    compared: &Compared<'_>,
    with_details: bool,
    notes: &[String],
) -> anyhow::Result<()> {
    let width = output::width();
    let sections = |are_first: bool| {
        let sections = compared.sections.iter().filter(|section| section.is_answer == are_first);
        let compared = Compared { sections: sections.cloned().collect(), ..Compared::default() };
        compared.text(width).trim_end().to_owned()
    };
    let answer = if with_details {
        let heading = loops.map_or_else(String::new, |loops| wrapped("", loops, text_width(width), 2));
        heading + &experiments::of_kind(kind).table(records, width)
    } else {
        experiments::of_kind(kind).answer(records, width, loops)
    };
    let parts = [sections(true), answer, sections(false)].into_iter().filter(|part| !part.is_empty());
    let has_table = compared.sections.iter().any(|section| !section.table.rows.is_empty());
    let between = if has_table { "\n" } else { "" };
    let mut text = parts.map(|part| format!("{}\n", part.trim_end())).collect::<Vec<_>>().join(between);
    if !notes.is_empty() {
        text.push('\n');
    }
    notes.iter().for_each(|note| text += &wrapped("", note, text_width(width), 2));
    output::print_coloured(&text)
}
