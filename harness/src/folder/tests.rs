use std::io::Write;

use super::*;
use crate::event::{Block, MessageFacts, Outcome};
use crate::plan::PlannedCase;
use crate::plan::Rule;
use crate::record::{Measured, Phase};
use crate::times::Times;

fn plan() -> Plan {
    let case = |test: &str| PlannedCase { test: test.to_owned(), ..PlannedCase::default() };
    let methods = vec!["reference".to_owned(), "ddt".to_owned()];
    let formats = vec![Format::Ddtbench];
    let cases = vec![case("wrf_x_vec"), case("fft2d"), case("milc_su3_zd")];
    let mut plan = Plan { methods, formats, cases, ..Plan::default() };
    plan.check().unwrap();
    plan
}

fn result(plan: &Plan, i: usize) -> CaseResult {
    let measured = |method: &String| {
        let block = Block {
            method: method.clone(),
            batch: 1,
            times: Times::from([(Phase::RoundTrip, vec![1e-6, 2e-6, 3e-6])]),
            ..Block::default()
        };
        Measured { method: method.clone(), outcome: Outcome::Converged, blocks: vec![block] }
    };
    CaseResult {
        rule: Rule::Interval,
        case: plan.case(i, "fake"),
        load: None,
        message: MessageFacts { bytes: 8, segments: 1, array_bytes: 8, line_bytes: None },
        methods: plan.methods.iter().map(measured).collect(),
    }
}

const FILES: [&str; 5] = [SAMPLES, BLOCKS, SUMMARY, ORIGINAL, ORIGINAL_INDEX];

fn contents(path: &Path) -> Vec<String> {
    FILES.iter().map(|name| fs::read_to_string(path.join(name)).unwrap()).collect()
}

fn append_bytes(path: &Path, bytes: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_folder_in_use_or_not_empty_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/b");
    let folder = Folder::create(&path, &plan()).unwrap();
    assert!(matches!(Folder::create(&path, &plan()), Err(FolderError::InUse(_))));
    assert!(matches!(Folder::resume(&path), Err(FolderError::InUse(_))));
    drop(folder);
    let error = Folder::create(&path, &plan()).unwrap_err().to_string();
    assert!(error.contains("--resume"), "{error}");
    let error = Folder::create(&path.join(PLAN), &plan()).unwrap_err().to_string();
    assert!(error.contains(PLAN), "{error}");
    let error = Folder::resume(place.path()).unwrap_err().to_string();
    assert!(error.contains("no plan.toml"), "{error}");
}

#[test]
fn what_is_torn_is_removed_and_what_is_whole_is_kept() {
    let (place, plan) = (tempfile::tempdir().unwrap(), plan());
    let path = place.path().join("run");
    let mut folder = Folder::create(&path, &plan).unwrap();
    folder.append(&result(&plan, 0)).unwrap();
    folder.append(&result(&plan, 1)).unwrap();
    let two = contents(&path);
    folder.append(&result(&plan, 2)).unwrap();
    let three = contents(&path);
    drop(folder);

    // Cut off at any byte of the mark: the third case is gone from all files.
    for cut in [three[2].len() - 1, two[2].len() + 20, two[2].len() + 1, two[2].len()] {
        FILES.iter().zip(&three).for_each(|(name, text)| fs::write(path.join(name), text).unwrap());
        fs::write(path.join(SUMMARY), &three[2][..cut]).unwrap();
        let (mut folder, _, records) = Folder::resume(&path).unwrap();
        assert_eq!(done(&records, &plan).len(), 2, "{cut}");
        assert_eq!(contents(&path), two, "{cut}");
        folder.append(&result(&plan, 2)).unwrap();
        assert_eq!(contents(&path), three, "{cut}");
    }

    // Cut off before the mark.
    append_bytes(&path.join(SAMPLES), b"wrf_y_vec,cust");
    append_bytes(&path.join(ORIGINAL), b"half a li");
    let (folder, _, records) = Folder::resume(&path).unwrap();
    assert_eq!((contents(&path), done(&records, &plan).len()), (three, 3));
    assert_eq!(read_records(folder.path()).unwrap().len(), records.len());
}

#[test]
fn a_summary_begun_before_columns_were_added_goes_on_under_the_header_of_today() {
    let (place, plan) = (tempfile::tempdir().unwrap(), plan());
    let path = place.path().join("run");
    let mut folder = Folder::create(&path, &plan).unwrap();
    folder.append(&result(&plan, 0)).unwrap();
    drop(folder);
    let of_today = contents(&path);
    // Without the last column but one, which no method of this case has a figure in.
    let older = |line: &str| {
        let (rest, schema) = line.rsplit_once(',').unwrap();
        format!("{},{schema}\n", rest.rsplit_once(',').unwrap().0)
    };
    fs::write(path.join(SUMMARY), of_today[2].lines().map(older).collect::<String>()).unwrap();
    let (mut folder, _, records) = Folder::resume(&path).unwrap();
    assert_eq!((contents(&path), done(&records, &plan).len()), (of_today, 1));
    folder.append(&result(&plan, 1)).unwrap();
    assert_eq!(done(&read_records(&path).unwrap(), &plan).len(), 2);
}

#[test]
fn a_run_that_ended_before_its_first_case_begins_anew() {
    let (place, plan) = (tempfile::tempdir().unwrap(), plan());
    let path = place.path().join("run");
    drop(Folder::create(&path, &plan).unwrap());
    append_bytes(&path.join(SAMPLES), b"test,par");
    let (mut folder, _, records) = Folder::resume(&path).unwrap();
    assert!(records.is_empty());
    assert_eq!(contents(&path), vec![String::new(); 5]);
    folder.append(&result(&plan, 0)).unwrap();
    assert_eq!(read_records(&path).unwrap().len(), summary::records(&result(&plan, 0)).len());
}

#[test]
fn a_full_disk_leaves_what_was_finished() {
    let (place, plan) = (tempfile::tempdir().unwrap(), plan());
    let path = place.path().join("run");
    let mut folder = Folder::create(&path, &plan).unwrap();
    folder.append(&result(&plan, 0)).unwrap();
    let before = contents(&path);
    let summary = std::mem::replace(&mut folder.summary, Log::open(Path::new("/dev/full")).unwrap());
    let error = folder.append(&result(&plan, 1)).unwrap_err().to_string();
    assert!(error.contains("/dev/full: No space left"), "{error}");
    assert_eq!(contents(&path), before);
    folder.summary = summary;
    folder.append(&result(&plan, 1)).unwrap();
    assert_eq!(done(&read_records(&path).unwrap(), &plan).len(), 2);
}

#[test]
fn a_folder_without_a_finished_case_can_be_taken_back() {
    let (plan, dir) = (plan(), tempfile::tempdir().unwrap());
    let (new, old, used) = (dir.path().join("new"), dir.path().join("old"), dir.path().join("used"));
    fs::create_dir(&old).unwrap();
    assert!(Folder::create(&new, &plan).unwrap().discard());
    assert!(Folder::create(&old, &plan).unwrap().discard());
    assert!(!new.exists(), "made for the run");
    assert_eq!(fs::read_dir(&old).unwrap().count(), 0, "the user's stays, empty as it was");
    let mut folder = Folder::create(&used, &plan).unwrap();
    folder.append(&result(&plan, 0)).unwrap();
    let before = contents(&used);
    assert!(!folder.discard());
    assert_eq!(contents(&used), before, "results are never removed");
}
