//! The folder of an earlier run. It is read and checked completely before anything is changed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::kinds::Kind;

use super::checksums::changed_files;
use super::gzip::{self, Member, Members, members};
use super::locked_folder::{LockedFolder, refuse_links, replace};
use super::rows::{FigureRow, FromCells, NumberedCase, TableColumns};
use super::{
    About, BLOCKS, CASES, Folder, FolderError, LAUNCH_FIGURES, LAUNCHES, PLAN, Result, SAMPLES, SET_ASIDE,
    at, case_columns, torn,
};
use crate::cells;
use crate::model::plain::plain_bytes;
use crate::model::{Case, PairScope, Phase, Record};

/// Cases, each with a launch in which it was completely measured.
pub type Done = HashSet<(Arc<Case>, usize)>;

/// A run that can be resumed.
#[derive(Debug)]
pub struct Recorded {
    locked: LockedFolder,
    pub plan: String,
    /// The records of each launch, with figures.
    pub records: Vec<Record>,
    numbers: HashMap<Arc<Case>, usize>,
}

/// The records of each launch in a run's folder. If the run was cut off, those that are complete.
///
/// # Errors
/// If there are none, or they cannot be parsed.
pub fn read_records(path: &Path) -> Result<Vec<Record>> {
    if path.is_dir() {
        refuse_links(path)?;
    }
    let file = path.join(LAUNCHES);
    if !file.exists() {
        return Err(FolderError::NotARun { path: path.to_owned(), missing: LAUNCHES });
    }
    let mut records = read_times(&file)?;
    let rows: Vec<FigureRow> = read_table(&path.join(LAUNCH_FIGURES))?;
    one_run(&file, records.iter().map(|record| &*record.case))?;
    one_run(
        &path.join(LAUNCH_FIGURES),
        records.iter().take(1).map(|record| &*record.case).chain(rows.iter().map(|row| &*row.case)),
    )?;
    let mut figures = vec![Vec::new(); records.len()];
    let places = places(&file, &records)?;
    for FigureRow { case, of, figure } in rows {
        if let Some(&place) = places.get(&(&case, &of.method, of.launch, of.phase, of.pair)) {
            figures[place].push(figure);
        }
    }
    for (record, figures) in records.iter_mut().zip(figures) {
        record.figures = figures;
    }
    Ok(records)
}

/// Refuses rows of several runs.
fn one_run<'a>(file: &Path, cases: impl Iterator<Item = &'a Case>) -> Result<()> {
    let runs: BTreeSet<&str> = cases.map(|case| case.run.as_str()).collect();
    if runs.len() < 2 {
        return Ok(());
    }
    let runs = Vec::from_iter(runs).join(" and ");
    let reason = format!("the folder has rows of the runs {runs}: files of several runs were mixed");
    Err(FolderError::Broken { path: file.to_owned(), reason })
}

/// Reports rows that are missing within a launch: the run was cut off, or a person has removed them.
/// `methods`: those of a case, if they are known.
///
/// # Errors
/// If the figures cannot be read.
pub fn lacking_rows(
    path: &Path,
    records: &[Record],
    methods: impl Fn(&Case) -> Option<Vec<String>>,
) -> Result<Option<String>> {
    let Some(first) = records.first() else { return Ok(None) };
    let done =
        Recorded::done(records, first.case.experiment.headline(), |case| methods(case).or(Some(Vec::new())));
    let all: Done = records.iter().filter_map(unit).collect();
    let mut lacking: Done = all.difference(&done).cloned().collect();
    // A method that was measured has the same rows in each launch.
    type Rows = HashSet<(Phase, PairScope)>;
    let mut of_all: HashMap<_, Rows> = HashMap::new();
    let mut of_launch: HashMap<_, Rows> = HashMap::new();
    for record in records.iter().filter(|record| record.outcome.is_measured()) {
        let (method, row) = ((&record.case, record.method.as_str()), (record.phase, record.pair));
        of_all.entry(method).or_default().insert(row);
        of_launch.entry((method, record.launch.unwrap_or(0))).or_default().insert(row);
    }
    let fewer = of_launch.into_iter().filter(|((method, _), rows)| rows.len() < of_all[method].len());
    lacking.extend(fewer.map(|(((case, _), launch), _)| (Arc::clone(case), launch)));
    // A figure was written with the times of its row.
    let known = places(&path.join(LAUNCHES), records)?;
    for FigureRow { case, of, .. } in read_table::<FigureRow>(&path.join(LAUNCH_FIGURES))? {
        let unit = of.launch.map(|launch| (Arc::clone(&case), launch));
        let is_known = known.contains_key(&(&case, &of.method, of.launch, of.phase, of.pair));
        lacking.extend(unit.filter(|unit| all.contains(unit) && !is_known));
    }
    Ok((!lacking.is_empty()).then(|| {
        format!("{LAUNCHES} lacks rows of {} cases and launches of which it has others", lacking.len())
    }))
}

/// Reports missing figures of records that have times: a person has removed them.
pub fn lacking_figures(path: &Path, records: &[Record]) -> Option<String> {
    let timed = timed(records);
    // Every ping-pong has a bandwidth. Launches, and even runs, of other kinds may have no figures.
    let needs = |record: &&Record| {
        let kind = record.case.experiment;
        kind == Kind::PingPong && record.phase == kind.headline() && record.median_s.is_some()
    };
    let is_bare: Done =
        records.iter().filter(needs).filter(|record| record.figures.is_empty()).filter_map(unit).collect();
    let with_figures: Done =
        records.iter().filter(|record| !record.figures.is_empty()).filter_map(unit).collect();
    // The header is written with the first case.
    let is_empty = fs::metadata(path.join(LAUNCH_FIGURES)).map_or(0, |facts| facts.len()) == 0;
    let is_lacking = |of: &&(Arc<Case>, usize)| {
        is_bare.contains(*of) || !with_figures.contains(*of) && (is_empty || !with_figures.is_empty())
    };
    nothing_of(LAUNCH_FIGURES, timed.iter().filter(is_lacking).count())
}

/// The cases and launches that have times.
fn timed(records: &[Record]) -> Done {
    records.iter().filter(|record| record.median_s.is_some()).filter_map(unit).collect()
}

fn unit(record: &Record) -> Option<(Arc<Case>, usize)> {
    Some((record.case.clone(), record.launch?))
}

fn nothing_of(name: &str, count: usize) -> Option<String> {
    let lacking = || format!("{name} lacks rows of {count} cases and launches that {LAUNCHES} has");
    (count > 0).then(lacking)
}

/// Why a path without this file is not the folder of a run, and what would be one.
pub(super) fn why_not_a_run(path: &Path, missing: &str) -> String {
    let what = match fs::read_dir(path).map_err(|error| (error.kind(), error)) {
        Err((ErrorKind::NotFound, _)) => "no such folder".to_owned(),
        Err((ErrorKind::NotADirectory, _)) => "is a file".to_owned(),
        Err((_, error)) => error.to_string(),
        Ok(_) => match &runs_within(path)[..] {
            [] => format!("has no {missing}"),
            runs @ [.., last] => {
                let (runs, last) = (runs.len(), last.display());
                return format!(
                    "is a folder of {runs} runs: name one, such as {last}; `compare`, and `--resume` with `--repeat`, use all of them"
                );
            }
        },
    };
    format!("{what}; the folder of a run has {PLAN} and {LAUNCHES}")
}

/// The runs in the subfolders, sorted by number or name; empty if the folder cannot be read.
pub fn runs_within(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<PathBuf> = entries.filter(|path| path.join(LAUNCHES).exists()).collect();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<usize>().ok();
    runs.sort_by_key(|path| (number(path), path.clone()));
    runs
}

/// The complete rows of a table of times; empty if the file does not exist.
///
/// # Errors
/// If they cannot be parsed.
pub fn read_times(file: &Path) -> Result<Vec<Record>> {
    read_table(file)
}

/// The complete rows of a table, by the names of its columns; empty if the file does not exist.
fn read_table<T: FromCells>(file: &Path) -> Result<Vec<T>> {
    parse_table(&read(file)?).map_err(|reason| FolderError::Broken { path: file.to_owned(), reason })
}

/// Parses the bytes of a table.
///
/// # Errors
/// The error and its line.
pub(crate) fn parse_table<T: FromCells>(bytes: &[u8]) -> std::result::Result<Vec<T>, String> {
    let whole = plain_bytes(torn::undamaged(bytes)?);
    let mut reader = csv::Reader::from_reader(&*whole);
    let mut columns = TableColumns::new(reader.headers().cloned().unwrap_or_default());
    let row = |cells: std::result::Result<csv::StringRecord, csv::Error>| {
        T::read(&cells::active(cells?), &mut columns)
    };
    let rows: std::result::Result<_, csv::Error> = reader.records().map(row).collect();
    rows.map_err(|error| error.to_string())
}

/// The bytes of a file; empty if it does not exist.
pub(super) fn read(file: &Path) -> Result<Vec<u8>> {
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(at(file)),
    }
}

impl Recorded {
    /// Reads the folder of a run, without changing anything.
    ///
    /// # Errors
    /// If it is not the folder of a run, another process writes to it, or files cannot be parsed.
    pub fn open(path: &Path) -> Result<Self> {
        let file = path.join(PLAN);
        if !file.exists() {
            return Err(FolderError::NotARun { path: path.to_owned(), missing: PLAN });
        }
        let locked = LockedFolder::reopen(path)?;
        let plan = fs::read_to_string(&file).map_err(at(&file))?;
        let records = if path.join(LAUNCHES).exists() { read_records(path)? } else { Vec::new() };
        // Appended rows have the columns of this version.
        let (times, figures) = (cells::columns(&Record::default()), cells::columns(&FigureRow::default()));
        for (name, columns) in [(LAUNCHES, times), (LAUNCH_FIGURES, figures)] {
            let file = path.join(name);
            torn::check(&read(&file)?, &columns)
                .map_err(|reason| FolderError::Broken { path: file, reason })?;
        }
        for file in [SAMPLES, BLOCKS].map(|name| path.join(name)) {
            gzip::check(&read(&file)?).map_err(|reason| FolderError::Broken { path: file, reason })?;
        }
        let numbers = numbers(&path.join(CASES))?;
        // A case gets its number before its other rows are written.
        if let Some(record) = records.iter().find(|record| !numbers.contains_key(&record.case)) {
            let Case { test, params, .. } = &*record.case;
            let reason = format!(
                "has no row of {test} {params}, of which {LAUNCHES} has times: without its number, its rows of {SAMPLES} and \
                 {BLOCKS} cannot be found"
            );
            return Err(FolderError::Broken { path: path.join(CASES), reason });
        }
        Ok(Self { numbers, locked, plan, records })
    }

    /// Missing samples, blocks or figures of cases and launches that have times, and changed files: a person has edited the folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn lacking(&self, done: &Done) -> Result<Vec<String>> {
        let mut lacking = Vec::new();
        // A method that crashed before its first block has no samples.
        let (timed, run) = (timed(&self.records), self.run());
        for name in [SAMPLES, BLOCKS] {
            let bytes = read(&self.path().join(name))?;
            let known: HashSet<_> =
                Members::starts(&bytes).filter_map(|member| case_and_launch(&member, run)).collect();
            let is_known = |(case, launch): &(Arc<Case>, usize)| {
                self.numbers.get(case).is_some_and(|number| known.contains(&(*number, *launch)))
            };
            let count = timed.intersection(done).filter(|of| !is_known(of)).count();
            lacking.extend(nothing_of(name, count));
        }
        lacking.extend(lacking_figures(self.path(), &self.records));
        lacking.extend(changed_files(self.path())?);
        Ok(lacking)
    }

    /// The id of the run, if it has ended a case.
    fn run(&self) -> Option<&str> {
        self.records.first().map(|record| record.case.run.as_str())
    }

    pub fn path(&self) -> &Path {
        self.locked.path()
    }

    /// Opens the folder for the remaining measurements. Rows of cases and launches that are not in `done` are
    /// set aside and returned.
    ///
    /// # Errors
    /// If the cases have other parameters, or if files cannot be written.
    pub fn resume(mut self, done: &Done, about: About) -> Result<(Folder, Vec<PathBuf>)> {
        let aside = Aside::from_path(self.path());
        let (mut moved, path) = (Vec::new(), self.path().to_owned());
        let file = |name: &str| path.join(name);
        let cases = file(CASES);
        let bytes = read(&cases)?;
        torn::check(&bytes, &case_columns(&about.numbers))
            .map_err(|reason| FolderError::Broken { path: cases, reason })?;
        let is_done = |case: &Arc<Case>, launch: usize| done.contains(&(case.clone(), launch));
        // `launches.csv` first: if this is interrupted, its rows mark only complete cases.
        moved.extend(aside.rows::<Record>(&file(LAUNCHES), |record| {
            record.launch.is_some_and(|launch| is_done(&record.case, launch))
        })?);
        moved.extend(aside.rows::<FigureRow>(&file(LAUNCH_FIGURES), |row| {
            row.of.launch.is_some_and(|launch| is_done(&row.case, launch))
        })?);
        let of_number: HashMap<usize, &Arc<Case>> =
            self.numbers.iter().map(|(case, number)| (*number, case)).collect();
        let is_kept =
            |number: usize, launch: usize| of_number.get(&number).is_some_and(|case| is_done(case, launch));
        for name in [SAMPLES, BLOCKS] {
            moved.extend(aside.members(&file(name), self.run(), &is_kept)?);
        }
        moved.extend(aside.tail(&file(CASES))?);
        let folder = Folder::open(self.locked, about, std::mem::take(&mut self.numbers))?;
        Ok((folder, moved))
    }

    /// The cases and launches that have a row of the headline phase for each method.
    pub fn done(records: &[Record], headline: Phase, methods: impl Fn(&Case) -> Option<Vec<String>>) -> Done {
        let mut seen: HashMap<(&Arc<Case>, usize), HashSet<&str>> = HashMap::new();
        for record in records.iter().filter(|record| record.phase == headline) {
            if let Some(launch) = record.launch {
                seen.entry((&record.case, launch)).or_default().insert(&record.method);
            }
        }
        let has_all = |case: &Arc<Case>, seen: &HashSet<&str>| {
            methods(case).is_some_and(|methods| methods.iter().all(|method| seen.contains(method.as_str())))
        };
        let done = seen.iter().filter(|((case, _), seen)| has_all(case, seen));
        done.map(|((case, launch), _)| ((*case).clone(), *launch)).collect()
    }
}

/// The numbers of the cases in samples and blocks.
///
/// # Errors
/// If a number is not that of its row: samples would belong to the wrong case.
fn numbers(file: &Path) -> Result<HashMap<Arc<Case>, usize>> {
    let mut numbers = HashMap::new();
    for (place, row) in read_table::<NumberedCase>(file)?.into_iter().enumerate() {
        let is_known = numbers.insert(row.case, place).is_some();
        if is_known || row.number != place {
            let reason = format!(
                "row {} has number {}, not {place}: a row was removed, duplicated or moved",
                place + 1,
                row.number
            );
            return Err(FolderError::Broken { path: file.to_owned(), reason });
        }
    }
    Ok(numbers)
}

/// Identifies a record of a launch: case, method, launch, phase and pair.
type RecordId<'a> = (&'a Arc<Case>, &'a str, Option<usize>, Phase, PairScope);

/// The row of each record.
///
/// # Errors
/// If a record exists twice.
fn places<'a>(file: &Path, records: &'a [Record]) -> Result<HashMap<RecordId<'a>, usize>> {
    let mut places = HashMap::with_capacity(records.len());
    for (place, record) in records.iter().enumerate() {
        let id = (&record.case, record.method.as_str(), record.launch, record.phase, record.pair);
        if let Some(first) = places.insert(id, place) {
            let (first, row) = (first + 1, place + 1);
            let reason = format!(
                "row {row} is of the same method and launch as row {first}: remove one in a copy of the folder"
            );
            return Err(FolderError::Broken { path: file.to_owned(), reason });
        }
    }
    Ok(places)
}

/// Case number and launch of a member of samples or blocks, from its first row. `None` if the row is not of this run.
fn case_and_launch(member: &Member<'_>, run: Option<&str>) -> Option<(usize, usize)> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&member.bytes[..]);
    let row = reader.records().next()?.ok()?;
    let is_of_run = run.is_none_or(|run| row.get(0) == Some(run));
    is_of_run.then_some((row.get(1)?.parse().ok()?, row.get(2)?.parse().ok()?))
}

/// The place for unusable parts: files with a new number.
struct Aside {
    folder: PathBuf,
    number: usize,
}

impl Aside {
    fn from_path(path: &Path) -> Self {
        let folder = path.join(SET_ASIDE);
        let is_free = |number: &usize| !folder.join(number.to_string()).exists();
        let number = (1..).find(is_free).unwrap_or(1);
        Self { folder, number }
    }

    /// Writes the removed part, then replaces the file by the kept part. Returns the file with the removed part, if any.
    fn split(&self, file: &Path, kept: &[u8], rest: &[u8]) -> Result<Option<PathBuf>> {
        if rest.is_empty() {
            return Ok(None);
        }
        let to = self.put(file, rest)?;
        replace(file, kept)?;
        Ok(Some(to))
    }

    /// Writes bytes of a file, and returns the new file.
    fn put(&self, file: &Path, bytes: &[u8]) -> Result<PathBuf> {
        let folder = self.folder.join(self.number.to_string());
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let to = folder.join(file.file_name().unwrap_or_default());
        replace(&to, bytes)?;
        Ok(to)
    }

    fn rows<T: FromCells>(&self, file: &Path, is_kept: impl Fn(&T) -> bool) -> Result<Option<PathBuf>> {
        let bytes = read(file)?;
        let (whole, torn) = torn::split(&bytes);
        let mut reader = csv::Reader::from_reader(whole);
        let mut columns = TableColumns::new(reader.headers().cloned().unwrap_or_default());
        let mut start = torn::row_end(&bytes, reader.position());
        let header = &bytes[..start];
        let (mut kept, mut rest) = (Vec::new(), Vec::new());
        let mut row = csv::StringRecord::new();
        while let Ok(true) = reader.read_record(&mut row) {
            let end = torn::row_end(&bytes, reader.position());
            let keeps = T::read(&cells::active(row.clone()), &mut columns).is_ok_and(|row| is_kept(&row));
            let to = if keeps { &mut kept } else { &mut rest };
            to.extend_from_slice(&bytes[start..end]);
            start = end;
        }
        rest.extend_from_slice(torn);
        for part in [&mut kept, &mut rest].into_iter().filter(|part| !part.is_empty()) {
            part.splice(..0, header.iter().copied());
        }
        self.split(file, &kept, &rest)
    }

    fn members(
        &self,
        file: &Path,
        run: Option<&str>,
        is_kept: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Option<PathBuf>> {
        let bytes = read(file)?;
        let (all, torn) = members(&bytes);
        let mut all = all.into_iter();
        let Some(header) = all.next() else { return self.split(file, &[], torn) };
        let (mut kept, mut rest) = (header.packed.to_vec(), Vec::new());
        for member in all {
            // A member without rows does not belong to a case.
            let keeps = member.bytes.is_empty()
                || case_and_launch(&member, run).is_some_and(|(case, launch)| is_kept(case, launch));
            if keeps { &mut kept } else { &mut rest }.extend_from_slice(member.packed);
        }
        rest.extend_from_slice(torn);
        if !rest.is_empty() {
            rest.splice(..0, gzip::member(&header.bytes));
        }
        self.split(file, &kept, &rest)
    }

    fn tail(&self, file: &Path) -> Result<Option<PathBuf>> {
        let bytes = read(file)?;
        let (whole, torn) = torn::split(&bytes);
        self.split(file, whole, torn)
    }
}
