//! The commands that only show: `list`, `layout`, `report`.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use apps::{Context, LAYOUT, Side, Test, Values, WireOrder};
use clap::{Args, ValueEnum};
use common::memory;
use ddtbench::experiments::pingpong;
use ddtbench::experiments::{layout_file, list};
use ddtbench::plan::figures;
use ddtbench::report;
use ddtbench::report::compared::Compared;
use ddtbench::report::pictures::{Drawn, Picture};

use super::output;
use super::output_file::write_new;
use super::results::ResultsArgs;
use super::run_page::{Shown, comparisons};
use super::selection::ValueArgs;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// A test, exchange, method or probe: what is known of it, with sets and parameters; a figure: its plan file
    #[arg(conflicts_with = "format")]
    name: Option<String>,
    /// Its form
    #[arg(long, value_enum, default_value_t)]
    format: list::ListFormat,
}

#[derive(Debug, Args)]
pub struct LayoutArgs {
    /// The test, or a layout as text: 'vector(408, 5, 2050, double)'
    #[arg(required_unless_present = "layout")]
    test: Option<String>,
    /// Any layout instead of a test: a file that has one, a text, or - for standard input
    #[arg(long, value_name = "FILE|TEXT", conflicts_with_all = ["test", "sets", "params"])]
    layout: Option<String>,
    #[command(flatten)]
    values: ValueArgs,
    /// Every segment as CSV, in packed order, merged
    #[arg(long, conflicts_with_all = ["json", "text"])]
    segments: bool,
    /// The layout as JSON
    #[arg(long)]
    json: bool,
    /// The layout as text, for --layout
    #[arg(long, conflicts_with = "json")]
    text: bool,
    /// How the pack engine moves it: operations, kernels, their bytes, and why
    #[arg(long, conflicts_with_all = ["segments", "json", "text"])]
    explain: bool,
    /// Where the bytes are read, or where they are written
    #[arg(long, value_enum, default_value = "send")]
    side: SideName,
    /// As the hand-written loop packs, or as the datatype does, where the two differ
    #[arg(long, value_enum, default_value = "manual")]
    order: OrderName,
    /// Number of ranks, which decides the blocks of an all-to-all
    #[arg(short = 'n', long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    ranks: u32,
    /// Seed of index lists
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The folder of a run; several stand side by side, each by its name
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// Its form
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
    /// Write one picture alone, and print nothing: an SVG, 405 points wide, or its data where FILE ends in .csv and not in .svg
    ///
    /// Without this, all pictures that the run has what they need for are written into its folder, as figures/NAME.svg and
    /// figures/NAME.csv.
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    figures: Option<PathBuf>,
    /// Which picture; without it, the first that the run has
    #[arg(long, value_name = "NAME", requires = "figures")]
    figure: Option<String>,
    #[command(flatten)]
    results: ResultsArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReportFormat {
    /// What the run printed
    Text,
    /// A page that needs nothing else
    Html,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SideName {
    Send,
    Receive,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderName {
    Manual,
    Ddt,
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

impl LayoutArgs {
    pub fn execute(self) -> anyhow::Result<()> {
        let (test, values) = self.test_and_values()?;
        let app = test.build(&values, Context { ranks: self.ranks as usize, seed: self.seed })?;
        if let Some(available) = memory::available_bytes() {
            memory::check_layout(&*app, available)
                .map_err(|reason| anyhow!("{} {values}: {reason}", test.name))?;
        }
        let side = match self.side {
            SideName::Send => Side::Send,
            SideName::Receive => Side::Receive,
        };
        let order = match self.order {
            OrderName::Manual if app.has_loops() => WireOrder::Manual,
            OrderName::Manual | OrderName::Ddt => WireOrder::Ddt,
        };
        if self.segments {
            let mut out = io::BufWriter::new(io::stdout().lock());
            let written = report::layout::segments_csv(&app.message(side, order), &mut out)
                .and_then(|()| io::Write::flush(&mut out));
            return output::forgive(written);
        }
        if self.text {
            let text = report::layout::text(&app.message(side, order))?;
            return output::print(text.as_bytes());
        }
        if self.explain {
            let text = report::program::explain(test, &values, app.as_ref(), side, order, self.ranks)?;
            return output::print_text(&text);
        }
        if self.json {
            return output::print(report::layout::json(test, &values, app.as_ref(), side, order).as_bytes());
        }
        output::print_text(&report::layout::tree(test, &values, app.as_ref(), side, order))
    }
}

impl LayoutArgs {
    /// What is shown: a test, or a layout that was given.
    fn test_and_values(&self) -> anyhow::Result<(&'static Test, Values)> {
        let typed = self.test.clone().unwrap_or_default();
        let is_text = typed.contains('(');
        let Some(layout) = self.layout.as_ref().or(is_text.then_some(&typed)) else {
            let test = apps::find(&typed)?;
            let values = pingpong::values(&self.values.selection()?, test).map_err(anyhow::Error::msg)?;
            return Ok((test, values));
        };
        let case = layout_file::case(layout).map_err(anyhow::Error::msg)?;
        let mut values = LAYOUT.set(LAYOUT.quick_set().name)?;
        case.given().try_for_each(|(name, text)| values.assign(&LAYOUT, name, text))?;
        Ok((apps::find(LAYOUT.name)?, values))
    }
}

impl ReportArgs {
    pub fn execute(self) -> anyhow::Result<()> {
        self.results.check()?;
        let compared = match &self.dirs[..] {
            [dir] => comparisons(dir).map(|found| found.compared()).unwrap_or_default(),
            _ => Compared::default(),
        };
        let shown = Shown::of(&self.dirs, &compared)?;
        let page = &shown.page;
        if let Some(file) = &self.figures {
            return self.write_one(file, &page.pictures);
        }
        // Pictures of several runs belong to none of their folders. One that cannot be written to can be shown.
        if let [dir] = &self.dirs[..]
            && let Err(error) = page.keep_pictures(dir)
        {
            output::say(&format!("warning: pictures are not kept: {error}"));
        }
        match self.format {
            ReportFormat::Text => self.results.tell(shown.kind, &shown.over),
            ReportFormat::Html => output::print(page.html.as_bytes()),
        }
    }

    /// Writes a picture alone, or its data.
    fn write_one(&self, file: &Path, pictures: &[Drawn]) -> anyhow::Result<()> {
        let picture = self.one(pictures)?;
        let bytes = match file.extension().and_then(OsStr::to_str) {
            Some("svg") => picture.svg.as_bytes(),
            Some("csv") => &picture.csv,
            _ => bail!(
                "--figures {}: a picture is written as .svg and its data as .csv; is it {}?",
                file.display(),
                file.with_extension("svg").display()
            ),
        };
        write_new(file, bytes)?;
        let others: Vec<&str> =
            pictures.iter().map(|drawn| &*drawn.name).filter(|name| *name != picture.name).collect();
        let more = if self.figure.is_none() && !others.is_empty() {
            format!("; with --figure there are {} too", others.join(", "))
        } else {
            String::new()
        };
        output::say(&format!("{}: the picture {}{more}", file.display(), picture.name));
        Ok(())
    }

    /// The picture that was asked for, or the first.
    fn one<'a>(&self, pictures: &'a [Drawn]) -> anyhow::Result<&'a Drawn> {
        let wanted = self.figure.as_deref();
        let found = pictures.iter().find(|drawn| wanted.is_none_or(|name| name == drawn.name));
        found.ok_or_else(|| {
            let names: Vec<&str> = pictures.iter().map(|drawn| &*drawn.name).collect();
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            match wanted.and_then(Picture::find) {
                Some(picture) => anyhow!(
                    "{} has no picture {}, which is of {} and needs {}; it has {has}",
                    self.dirs[0].display(),
                    picture.name,
                    picture.kinds.join(", "),
                    picture.needs
                ),
                None if pictures.is_empty() => {
                    anyhow!("{} has what no picture needs", self.dirs[0].display())
                }
                None => anyhow!(
                    "no picture is called {:?}; {} has {has}",
                    wanted.unwrap_or_default(),
                    self.dirs[0].display()
                ),
            }
        })
    }
}
