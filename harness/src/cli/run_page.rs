//! Page and pictures of runs, made of their records, and of the accounts of machines and comparisons in their folders.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use ddtbench::compare::KeptComparison;
use ddtbench::experiments::launches::{in_states, most_common_state, over_launches};
use ddtbench::experiments::{self, Kind};
use ddtbench::folder::{self, Folder, FolderError, PICTURES};
use ddtbench::model::Record;
use ddtbench::model::plain::{from_json, plain};
use ddtbench::mpi::interrupt;
use ddtbench::plan::Plan;
use ddtbench::report;
use ddtbench::report::account::{accounts, loops};
use ddtbench::report::compared::Compared;
use ddtbench::report::html::html;
use ddtbench::report::names::distinct;
use ddtbench::report::pictures::{Drawn, PaperFigure, Results};

use super::{output, recorded};

pub(super) struct RunPage {
    /// The page, which needs no other file.
    pub html: String,
    /// All pictures for which the runs have the data.
    pub pictures: Vec<Drawn>,
    /// How the loops were compiled.
    pub loops: Option<String>,
}

impl RunPage {
    /// `over`: records over all launches; `launches`: records of each launch. With the figure of the plan,
    /// and the result of a comparison.
    ///
    /// # Errors
    /// If an account of machine and MPIs cannot be read.
    pub fn new<D: AsRef<Path>>(
        kind: Kind,
        over: &[Record],
        launches: &[Record],
        dirs: &[D],
        figure: Option<&PaperFigure>,
        compared: &Compared<'_>,
        has_titles: bool,
    ) -> anyhow::Result<Self> {
        let environments = environments(dirs)?.concat();
        let (accounts, changes) = (&accounts(&environments), &compared.changes[..]);
        let form = experiments::of_kind(kind).table_format;
        // A picture of values over launches is of one state of the machine, as far as its cases met it.
        let (shown, launches) = (&most_common_state(over), &in_states(launches));
        let results =
            Results { form, over: shown, all: over, launches, accounts, figure, changes, has_titles };
        let mut pictures = output::reported("drawing pictures", || report::pictures::all(&results));
        // Pictures of several runs do not belong into one of their folders.
        if let [_] = dirs {
            let files = |name: &str| format!(" Files: {PICTURES}/{name}.svg, .pdf, .csv.");
            pictures.iter_mut().for_each(|drawn| drawn.caption += &files(&drawn.name));
        }
        let format = experiments::of_kind(kind).table_format;
        let html = html(format, over, &pictures, &short_lines(&environments), compared);
        Ok(Self { html, pictures, loops: loops(accounts, over) })
    }

    /// Writes the page, the tables and the checksums of all files into the folder of the run.
    pub fn write(&self, folder: &Folder, over: &[Record]) -> Result<(), FolderError> {
        folder.write_summary(over, &self.html)?;
        interrupt::hold();
        folder::write_pictures(folder.path(), self.pictures.iter().flat_map(Drawn::files))?;
        folder.write_checksums()
    }
}

/// Recorded runs, side by side.
pub(super) struct Shown {
    pub kind: Kind,
    pub over: Vec<Record>,
    pub page: RunPage,
    /// Notes on the results; with several runs, each with its folder.
    pub notes: Vec<String>,
}

impl Shown {
    /// That of the launches of folders; `compared` is what a comparison of them has found, and pictures have
    /// their titles if `has_titles`.
    ///
    /// # Errors
    /// An account of machine and MPIs that cannot be understood.
    pub fn new(
        dirs: &[PathBuf],
        launches: &[Record],
        compared: &Compared<'_>,
        has_titles: bool,
    ) -> anyhow::Result<Self> {
        let plan = Plan::read(&dirs[0].join(folder::PLAN));
        let (limits, figure) = plan.map(|plan| (plan.limits, plan.figure)).unwrap_or_default();
        let over = over_launches(launches, limits.precision());
        let kind = over[0].case.experiment;
        let page = RunPage::new(kind, &over, launches, dirs, figure.as_ref(), compared, has_titles)?;
        let of_run = |(dir, text): (&PathBuf, String)| {
            let notes = accounts(&text).into_iter().flat_map(|account| account.notes);
            let name = if dirs.len() > 1 { format!("{}: ", dir.display()) } else { String::new() };
            notes.map(|note| format!("{name}{note}")).collect::<Vec<_>>()
        };
        let notes = dirs.iter().zip(environments(dirs)?).flat_map(of_run).collect();
        Ok(Self { kind, over, page, notes })
    }
}

/// The launches of folders of runs of one kind, with only these tests, or all.
///
/// # Errors
/// If a folder has no records or none of the tests, is named twice, or is of another kind.
pub(super) fn launches(dirs: &[PathBuf], tests: &[String]) -> anyhow::Result<Vec<Record>> {
    let mut launches = recorded::of_all(dirs)?;
    let known = distinct(launches.iter().map(|record| &*record.case.test));
    if let Some(unknown) = tests.iter().find(|test| !known.contains(&test.as_str())) {
        bail!("{unknown} is neither a folder nor a test of the run, which has {}", known.join(", "));
    }
    launches.retain(|record| tests.is_empty() || tests.contains(&record.case.test));
    Ok(launches)
}

/// Cuts long lines: a plan may have lists of a million numbers, which its own file shows.
fn short_lines(text: &str) -> String {
    /// Enough for the plan of a usual run.
    const MOST: usize = 20_000;
    let short = |line: &str| match line.char_indices().nth(MOST) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}... ({} bytes)", &line[..end], line.len()),
    };
    text.trim_end().lines().map(short).collect::<Vec<_>>().join("\n")
}

/// The accounts of machines and MPIs of folders, empty if there are none.
///
/// # Errors
/// A file that is not JSON: nothing of it is shown.
pub(super) fn environments<D: AsRef<Path>>(dirs: &[D]) -> anyhow::Result<Vec<String>> {
    let account = |dir: &D| {
        let file = dir.as_ref().join(folder::ENVIRONMENT);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if !text.is_empty()
            && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text)
        {
            bail!("{}: is not JSON: {error}; restore or remove the file", file.display());
        }
        Ok(plain(&text).into_owned())
    };
    dirs.iter().map(account).collect()
}

/// The comparison in the folder of these records; `None` without one that can be read.
///
/// # Errors
/// If it is of another run.
pub(super) fn comparisons(dir: &Path, records: &[Record]) -> anyhow::Result<Option<KeptComparison>> {
    let file = dir.join(folder::COMPARISON);
    let read = || from_json::<KeptComparison>(&std::fs::read(&file).ok()?).ok();
    let Some(kept) = read() else { return Ok(None) };
    let run = records.first().map_or("", |record| &record.case.run);
    ensure!(
        kept.run.is_empty() || kept.run == run,
        "{}: it is the comparison of the run {}, and {} has the run {run}: restore or remove the file",
        file.display(),
        kept.run,
        folder::LAUNCHES
    );
    Ok(Some(kept))
}
