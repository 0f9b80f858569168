use std::collections::{BTreeMap, HashSet};
use std::fs;

use super::gzip::members;
use super::*;
use crate::model::event::{Block, MessageFacts};
use crate::model::{Figure, Measured, Outcome, Quantity, State, Times};

const METHODS: [&str; 3] = ["reference", "ddt", "put_ddt"];

/// The order of measurement: test and launch.
const UNITS: [(&str, usize); 3] = [("wrf_x_vec", 0), ("wrf_x_vec", 1), ("fft2d", 0)];

/// In the order in which they are written.
const FILES: [&str; 5] = [CASES, SAMPLES, BLOCKS, LAUNCH_FIGURES, LAUNCHES];

fn about() -> About {
    About {
        plan: "schema = 1\n".to_owned(),
        phases: &[Phase::Create, Phase::RoundTrip],
        numbers: vec!["n".to_owned()],
    }
}

/// A case with two measured methods and one that crashed with a message of several lines.
fn result((test, launch): (&str, usize)) -> CaseResult {
    let measured = |&method: &&str| {
        let block = |i| Block {
            method: method.to_owned(),
            block: i,
            batch: 1,
            times: Times::from([(Phase::Create, vec![1e-7]), (Phase::RoundTrip, vec![1e-6, 2e-6, 3e-6])]),
            ..Block::default()
        };
        let crash = Outcome::Crashed { detail: "signal 11,\n\"last words\"\nof several lines".to_owned() };
        let (outcome, blocks) = match method {
            "put_ddt" => (crash, Vec::new()),
            _ => (Outcome::Converged, vec![block(0), block(1)]),
        };
        Measured { method: method.to_owned(), outcome, blocks }
    };
    CaseResult {
        case: Case {
            test: test.to_owned(),
            set: "s".to_owned(),
            params: "n=8 of=rows, columns".to_owned(),
            mpi: "fake".to_owned(),
            ranks: 2,
            ..Case::default()
        }
        .into(),
        launch,
        message: MessageFacts { bytes: 8, segments: 1, array_bytes: 8, line_bytes: None },
        methods: METHODS.iter().map(measured).collect(),
        ..CaseResult::default()
    }
}

fn records(result: &CaseResult) -> Vec<Record> {
    let mut all = Vec::new();
    for measured in &result.methods {
        if measured.outcome.is_measured() {
            all.push(Record { median_s: Some(1e-7), ..Record::empty(result, measured, Phase::Create) });
        }
        let mut whole = Record::empty(result, measured, Phase::RoundTrip);
        if measured.outcome.is_measured() {
            let overhead = Figure::with_interval(Quantity::OverheadReference, 0.5, (0.25, 0.75));
            whole.median_s = Some(2e-6);
            whole.add([Figure::plain(Quantity::Bandwidth, 4e6), overhead.against("reference")]);
        }
        all.push(whole);
    }
    all
}

fn keep(folder: &mut Folder, result: &CaseResult) -> Result<()> {
    let state = || BlockState { state: Some(State::Steady(0)), used: true };
    let states = |measured: &Measured| measured.blocks.iter().map(|_| state()).collect::<Vec<_>>();
    folder.append(FinishedCase {
        result,
        records: &records(result),
        states: &result.methods.iter().map(states).collect::<Vec<_>>(),
        numbers: &[("n".to_owned(), 8.0)],
        apart: |_| &[Phase::Create],
    })
}

fn done(records: &[Record]) -> Done {
    let all = || METHODS.map(str::to_owned).to_vec();
    Recorded::done(records, Phase::RoundTrip, |_| Some(all()))
}

/// Resumes; returns the folder and the files that were set aside.
fn resume(path: &Path) -> (Folder, Vec<PathBuf>) {
    let recorded = Recorded::open(path).unwrap();
    let done = done(&recorded.records);
    recorded.resume(&done, about()).unwrap()
}

type Contents = Vec<Vec<u8>>;

fn contents(path: &Path) -> Contents {
    FILES.iter().map(|name| fs::read(path.join(name)).unwrap()).collect()
}

fn place(name: &str) -> usize {
    FILES.iter().position(|file| *file == name).unwrap()
}

/// A finished folder, and its content after each unit, starting with none.
fn finished() -> (tempfile::TempDir, PathBuf, Vec<Contents>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut folder = Folder::create(&path, about()).unwrap();
    let mut stages = vec![contents(&path)];
    for unit in UNITS {
        keep(&mut folder, &result(unit)).unwrap();
        stages.push(contents(&path));
    }
    (dir, path, stages)
}

/// Restores files; nothing is set aside.
fn restore(path: &Path, files: &[Vec<u8>]) {
    FILES.iter().zip(files).for_each(|(name, bytes)| fs::write(path.join(name), bytes).unwrap());
    let _ = fs::remove_dir_all(path.join(SET_ASIDE));
}

/// The lines of a file and an incomplete end, each with its number of occurrences.
fn pieces<'a>(name: &str, files: impl IntoIterator<Item = &'a Vec<u8>>) -> BTreeMap<Vec<u8>, usize> {
    let mut all = BTreeMap::new();
    let mut add = |piece: &[u8]| *all.entry(piece.to_vec()).or_default() += 1;
    for bytes in files {
        if name.ends_with(".gz") {
            let (members, torn) = members(bytes);
            members
                .iter()
                .flat_map(|member| member.bytes.split_inclusive(|&b| b == b'\n'))
                .for_each(&mut add);
            add(torn);
        } else {
            bytes.split_inclusive(|&b| b == b'\n').for_each(&mut add);
        }
    }
    all.remove(&Vec::new());
    all
}

#[track_caller]
fn assert_nothing_is_lost(path: &Path, before: &[Vec<u8>], aside: usize) {
    let aside = path.join(SET_ASIDE).join(aside.to_string());
    for (name, old) in FILES.iter().zip(before) {
        let moved = fs::read(aside.join(name)).unwrap_or_default();
        let now = pieces(name, [&fs::read(path.join(name)).unwrap(), &moved]);
        for (piece, count) in pieces(name, [old]) {
            let piece_as_text = String::from_utf8_lossy(&piece);
            assert!(now.get(&piece).is_some_and(|now| *now >= count), "{name} has lost {piece_as_text:?}");
        }
    }
}

#[test]
fn a_folder_in_use_or_not_empty_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b");
    let folder = Folder::create(&path, about()).unwrap();
    assert!(matches!(Folder::create(&path, about()), Err(FolderError::InUse(_))));
    assert!(matches!(Recorded::open(&path), Err(FolderError::InUse(_))));
    drop(folder);
    let error = Folder::create(&path, about()).unwrap_err().to_string();
    assert!(error.contains("--resume"), "{error}");
    let error = Folder::create(&path.join(PLAN), about()).unwrap_err().to_string();
    assert!(error.contains(PLAN), "{error}");
    let error = Recorded::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("no plan.toml"), "{error}");
}

#[test]
fn nothing_is_written_or_read_through_links_in_a_folder() {
    let (_dir, path, _) = finished();
    let elsewhere = tempfile::tempdir().unwrap();
    let victim = elsewhere.path().join("launches.csv");
    fs::write(&victim, "another's\n").unwrap();
    // A folder, a file that is there, and one that would be made.
    for (name, to) in
        [(PICTURES, elsewhere.path()), (CHECKS, &*victim), (SET_ASIDE, &*elsewhere.path().join("new"))]
    {
        let link = path.join(name);
        std::os::unix::fs::symlink(to, &link).unwrap();
        let refusals = [Recorded::open(&path).err(), read_records(&path).err()];
        for error in refusals.map(|error| error.unwrap().to_string()) {
            assert!(error.contains(name) && error.contains("is a link"), "{error}");
        }
        fs::remove_file(link).unwrap();
    }
    assert_eq!(fs::read(&victim).unwrap(), b"another's\n");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    // Reading from a pipe may block.
    let pipe = path.join(CHECKS);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(read_records(&path).unwrap_err().to_string().contains("is not a plain file"));
}

#[test]
fn what_is_kept_reads_back_as_it_was() {
    let (_dir, path, stages) = finished();
    let all: Vec<_> = UNITS.iter().flat_map(|&unit| records(&result(unit))).collect();
    assert_eq!(read_records(&path).unwrap(), all);
    let cases = String::from_utf8(stages[3][place(CASES)].clone()).unwrap();
    let lines: Vec<_> = cases.lines().collect();
    assert!(
        lines[0].starts_with("run,experiment,test,set,params,")
            && lines[0].ends_with(",cache,memory,device,number,bytes,segments,array_bytes,n"),
        "{cases}"
    );
    assert!(lines[1].starts_with(",pingpong,wrf_x_vec,s,\"n=8 of=rows, columns\",fake,"), "{cases}");
    assert!(lines[1].contains(",0,8,1,8,"), "{cases}");
    assert!(lines[2].starts_with(",pingpong,fft2d,") && lines[2].ends_with(",1,8,1,8,8"), "{cases}");
    assert_eq!(lines.len(), 3, "a launch is not a case");
}

#[test]
fn a_run_that_was_cut_at_any_byte_of_its_marks_goes_on() {
    let (_dir, path, stages) = finished();
    let (all, marks) = (&stages[UNITS.len()], place(LAUNCHES));
    let ends: Vec<usize> = stages.iter().map(|files| files[marks].len()).collect();
    let row_ends = all[marks].iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(i, _)| i + 1);
    // Every cut is read. Resuming waits for the disk, so it is tried only around ends of lines and at some other places.
    let tried: HashSet<usize> =
        row_ends.flat_map(|end| [end - 1, end, end + 1]).chain((0..).step_by(97).take(80)).collect();
    for cut in 0..all[marks].len() {
        fs::write(path.join(LAUNCHES), &all[marks][..cut]).unwrap();
        let whole = ends.iter().rposition(|&end| end <= cut).unwrap();
        let recorded = Recorded::open(&path).unwrap();
        let done = done(&recorded.records);
        let expected = UNITS[..whole].iter().map(|&unit| (result(unit).case, unit.1));
        assert_eq!(done, expected.collect::<HashSet<_>>(), "{cut}");
        if !tried.contains(&cut) {
            continue;
        }
        let before = contents(&path);
        let (mut folder, moved) = recorded.resume(&done, about()).unwrap();
        assert!(moved.iter().all(|file| file.starts_with(path.join(SET_ASIDE).join("1"))), "{moved:?}");
        assert_nothing_is_lost(&path, &before, 1);
        if whole > 0 {
            let now = contents(&path);
            assert!(now[1..] == stages[whole][1..], "exactly the finished cases are unchanged: {cut}");
        }
        for unit in &UNITS[whole..] {
            keep(&mut folder, &result(*unit)).unwrap();
        }
        assert!(contents(&path) == *all, "{cut}");
        restore(&path, all);
    }
}

#[test]
fn whatever_a_cut_has_left_of_a_case_is_set_aside() {
    let (_dir, path, stages) = finished();
    let [.., two, three] = &stages[..] else { panic!("there are three units") };
    // Files are written one after another: earlier files are complete, later ones are unchanged.
    for (i, name) in FILES.iter().enumerate() {
        let (from, to) = (two[i].len(), three[i].len());
        for cut in [from + 1, from.midpoint(to), to - 1, to] {
            if cut == to && *name == LAUNCHES {
                continue;
            }
            let whole = three[..i].iter().cloned();
            let files: Contents =
                whole.chain([three[i][..cut].to_vec()]).chain(two[i + 1..].iter().cloned()).collect();
            restore(&path, &files);
            let (mut folder, moved) = resume(&path);
            let now = contents(&path);
            assert!(now[1..] == two[1..], "{name} cut at {cut}");
            // A started case keeps its number.
            let is_torn = i == 0 && cut < to;
            let cases = if is_torn { &two[0] } else { &three[0] };
            assert!(now[0] == *cases, "{name} cut at {cut}");
            assert_eq!(moved.is_empty(), i == 0 && !is_torn, "{name} cut at {cut}");
            assert_nothing_is_lost(&path, &files, 1);
            keep(&mut folder, &result(UNITS[2])).unwrap();
            assert!(contents(&path) == *three, "{name} cut at {cut}");
        }
    }
}

#[test]
fn lines_of_dos_are_resumed_and_what_was_set_aside_before_stays() {
    let (_dir, path, stages) = finished();
    let rows = records(&result(UNITS[0])).len();
    for (aside, whole) in [(1, 2), (2, 3)] {
        let files = &stages[whole];
        FILES.iter().zip(files).for_each(|(name, bytes)| fs::write(path.join(name), bytes).unwrap());
        let dos = String::from_utf8(files[place(LAUNCHES)].clone()).unwrap().replace('\n', "\r\n");
        fs::write(path.join(LAUNCHES), format!("{dos}half a row, {aside}")).unwrap();
        let before = contents(&path);
        let (mut folder, _) = resume(&path);
        assert_eq!(fs::read_to_string(path.join(LAUNCHES)).unwrap(), dos);
        assert_nothing_is_lost(&path, &before, aside);
        UNITS[whole..].iter().for_each(|unit| keep(&mut folder, &result(*unit)).unwrap());
        // A message of several lines is a cell; its lines end as in DOS, too.
        assert_eq!(read_records(&path).unwrap().len(), rows * UNITS.len());
    }
    let kept = fs::read_to_string(path.join(SET_ASIDE).join("1").join(LAUNCHES)).unwrap();
    assert!(kept.ends_with("half a row, 1"), "{kept}");
}

#[test]
fn damage_that_no_cut_leaves_is_refused_and_nothing_is_touched() {
    let (_dir, path, stages) = finished();
    let all = &stages[3];
    let text = |name: &str| String::from_utf8(all[place(name)].clone()).unwrap();
    let ragged = |name: &str| {
        let text = text(name);
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        let short = lines[1].replacen(",", "", 1);
        lines[1] = &short;
        lines.concat()
    };
    let open_quote = text(LAUNCHES).replacen(",reference,", ",\"reference,", 1);
    let another = |name: &str, from: &str| text(name).replacen(from, "colour", 1);
    let lines = |name: &str, order: &[usize]| {
        let text = text(name);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        order.iter().map(|line| lines[*line]).collect::<String>()
    };
    let all_but_one: Vec<usize> = (0..text(LAUNCHES).lines().count()).chain([1]).collect();
    for (name, damaged, expected) in [
        (LAUNCHES, ragged(LAUNCHES), "line 2 is damaged"),
        (LAUNCHES, open_quote, "line 2 is damaged"),
        (LAUNCH_FIGURES, ragged(LAUNCH_FIGURES), "line 2 is damaged"),
        (CASES, ragged(CASES), "line 2 is damaged"),
        (LAUNCHES, text(LAUNCHES).replacen("run,", "\"run,", 1), "line 1 is damaged"),
        (LAUNCHES, lines(LAUNCHES, &all_but_one), "of the same method and launch as row 1"),
        (CASES, lines(CASES, &[0, 2, 1]), "row 1 has number 1, not 0"),
        (CASES, lines(CASES, &[0, 1, 1, 2]), "row 2 has number 0, not 1"),
        (CASES, lines(CASES, &[0, 2]), "row 1 has number 1"),
        (LAUNCHES, another(LAUNCHES, "median_low_s"), "\"colour\""),
        (LAUNCH_FIGURES, another(LAUNCH_FIGURES, "unsteady"), "\"colour\""),
    ] {
        restore(&path, all);
        fs::write(path.join(name), damaged).unwrap();
        let before = contents(&path);
        let error = Recorded::open(&path).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
        assert!(contents(&path) == before && !path.join(SET_ASIDE).exists(), "{name}");
    }
}

#[test]
fn what_a_person_has_removed_is_reported() {
    let (_dir, path, stages) = finished();
    let lacking = || {
        let recorded = Recorded::open(&path).unwrap();
        recorded.lacking(&done(&recorded.records)).unwrap()
    };
    assert_eq!(lacking(), Vec::<String>::new());
    for (name, left, lacks) in [
        (SAMPLES, &b""[..], 3),
        (BLOCKS, &stages[2][place(BLOCKS)], 1),
        (LAUNCH_FIGURES, &stages[1][place(LAUNCH_FIGURES)], 2),
        // Nothing is left, not even the header.
        (LAUNCH_FIGURES, b"", 3),
    ] {
        restore(&path, &stages[3]);
        fs::write(path.join(name), left).unwrap();
        let found = lacking();
        assert!(found[0].contains(name) && found[0].contains(&format!("lacks rows of {lacks}")), "{found:?}");
    }
    let mut records = read_records(&path).unwrap();
    records.iter_mut().for_each(|record| record.median_s = None);
    assert_eq!(lacking_figures(&path, &records), None, "crashed methods have no figures");
    for cases in [&stages[1][place(CASES)][..], b""] {
        restore(&path, &stages[3]);
        fs::write(path.join(CASES), cases).unwrap();
        let error = Recorded::open(&path).unwrap_err().to_string();
        assert!(error.contains(CASES) && error.contains("has no row of"), "{error}");
    }
}

#[test]
fn a_row_that_is_missing_within_a_launch_is_reported() {
    let (_dir, path, _) = finished();
    let lacking = |records: &[Record]| {
        lacking_rows(&path, records, |_| Some(METHODS.map(str::to_owned).to_vec())).unwrap()
    };
    let all = read_records(&path).unwrap();
    assert_eq!(lacking(&all), None);
    for removed in 0..all.len() {
        let mut kept = all.clone();
        let row = kept.remove(removed);
        // The only launch of a case does not show which phases a method has.
        let is_unknown = row.case.test == "fft2d" && row.phase == Phase::Create;
        assert_eq!(lacking(&kept).is_none(), is_unknown, "{row:?}");
    }
    // A whole launch that is missing was not measured.
    assert_eq!(lacking(&all[..records(&result(UNITS[0])).len()]), None);
}

#[test]
fn files_of_another_run_are_refused() {
    let (_dir, path, stages) = finished();
    for file in [LAUNCHES, LAUNCH_FIGURES] {
        let rows = String::from_utf8(stages[3][place(file)].clone()).unwrap();
        let of_run = |run: &str| rows.replace("\n,pingpong", &format!("\n{run},pingpong"));
        fs::write(path.join(file), of_run("theirs")).unwrap();
        let error = read_records(&path).unwrap_err().to_string();
        assert!(error.contains("theirs") && error.contains("were mixed"), "{error}");
        restore(&path, &stages[3]);
    }
}

#[test]
fn cases_of_other_parameters_are_refused_and_nothing_is_touched() {
    let (_dir, path, stages) = finished();
    let recorded = Recorded::open(&path).unwrap();
    let other = About { numbers: vec!["m".to_owned()], ..about() };
    let error = recorded.resume(&HashSet::new(), other).unwrap_err().to_string();
    assert!(error.contains(CASES) && error.contains("\"m\""), "{error}");
    assert!(contents(&path) == stages[3] && !path.join(SET_ASIDE).exists());
}

#[test]
fn a_method_that_was_added_deletes_nothing() {
    let (_dir, path, stages) = finished();
    let recorded = Recorded::open(&path).unwrap();
    let more = || METHODS.iter().chain(&["manual"]).map(|&method| method.to_owned()).collect();
    let done = Recorded::done(&recorded.records, Phase::RoundTrip, |_| Some(more()));
    assert!(done.is_empty());
    let (mut folder, moved) = recorded.resume(&done, about()).unwrap();
    assert_eq!(moved.len(), 4, "{moved:?}");
    assert_nothing_is_lost(&path, &stages[3], 1);
    assert_eq!(read_records(&path).unwrap(), []);
    keep(&mut folder, &result(UNITS[0])).unwrap();
    assert_eq!(read_records(&path).unwrap(), records(&result(UNITS[0])));
}

#[test]
fn a_full_disk_leaves_what_was_finished() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run");
    let mut folder = Folder::create(&path, about()).unwrap();
    keep(&mut folder, &result(UNITS[0])).unwrap();
    let before = contents(&path);
    // The third unit belongs to a case without a number.
    for unit in [UNITS[1], UNITS[2]] {
        let full = Log::open(Path::new("/dev/full")).unwrap();
        let launches = std::mem::replace(&mut folder.launches, full);
        let error = keep(&mut folder, &result(unit)).unwrap_err().to_string();
        assert!(error.contains("/dev/full: No space left"), "{error}");
        assert!(contents(&path) == before);
        folder.launches = launches;
    }
    keep(&mut folder, &result(UNITS[2])).unwrap();
    assert_eq!(done(&read_records(&path).unwrap()).len(), 2);
    let cases = fs::read_to_string(path.join(CASES)).unwrap();
    assert!(cases.lines().nth(2).unwrap().starts_with(",pingpong,fft2d,"), "{cases}");
}

#[test]
fn a_folder_without_a_finished_case_can_be_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let (new, old, used) = (dir.path().join("new"), dir.path().join("old"), dir.path().join("used"));
    fs::create_dir(&old).unwrap();
    assert!(Folder::create(&new, about()).unwrap().discard());
    assert!(Folder::create(&old, about()).unwrap().discard());
    assert!(!new.exists(), "made for the run");
    assert_eq!(fs::read_dir(&old).unwrap().count(), 0, "the user's stays, empty as it was");
    let mut folder = Folder::create(&used, about()).unwrap();
    keep(&mut folder, &result(UNITS[0])).unwrap();
    let before = contents(&used);
    assert!(!folder.discard());
    assert!(contents(&used) == before, "results are never removed");
}

#[test]
fn no_column_of_the_cases_is_there_twice() {
    let columns = case_columns(&["bytes", "nx"].map(str::to_owned));
    let distinct: std::collections::BTreeSet<&String> = columns.iter().collect();
    assert_eq!(distinct.len(), columns.len(), "{columns:?}");
    assert_eq!(columns[columns.len() - 2..], ["param_bytes", "nx"]);
}
