//! Lines of Rust per folder, with tests, comments and empty lines, against the table in ARCHITECTURE.md, and their sum.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::pages::root;

/// Budgets are multiples of this, so that small changes need none.
const STEP: usize = 50;

/// Adds the lines of all sources within a folder to the budget of the longest name that its path begins with.
/// `path` is relative to the project.
fn add(path: &str, lines: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(root().join(path)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{path}/{name}").trim_start_matches('/').to_owned();
        if entry.path().is_dir() {
            if !["target", "results"].contains(&&*name) && !name.starts_with('.') {
                add(&path, lines);
            }
        } else if name.ends_with(".rs") {
            // `cli.rs` is the beginning of `cli`.
            let module = Path::new(&path).with_extension("");
            let is_above = |folder: &&String| module.starts_with(folder);
            let folder = lines.keys().rev().find(is_above).cloned();
            let folder = folder.unwrap_or_else(|| panic!("{path} has no budget in ARCHITECTURE.md"));
            *lines.get_mut(&folder).unwrap() += fs::read_to_string(entry.path()).unwrap().lines().count();
        }
    }
}

/// The cells of a row with a budget: the folder, the lines, the content.
fn row(line: &str) -> Option<(&str, usize, &str)> {
    let [folder, budget, content] = line.split('|').collect::<Vec<_>>()[..] else { return None };
    Some((folder.trim().strip_prefix('`')?.strip_suffix('`')?, budget.trim().parse().ok()?, content.trim()))
}

/// The row with the lines that its folder has. A larger number waits for its reason.
fn updated((folder, budget, content): (&str, usize, &str), lines: usize) -> String {
    let lines = lines.next_multiple_of(STEP);
    let content = if lines == budget { content } else { content.split("; +").next().unwrap() };
    let reason = if lines > budget { format!("; +{}:", lines - budget) } else { String::new() };
    format!("`{folder}` | {lines} | {content}{reason}\n")
}

#[test]
fn no_folder_exceeds_its_budget_and_the_project_does_not_grow() {
    let page = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&page).unwrap();
    let rows = text.lines().filter_map(row);
    let mut lines: BTreeMap<String, usize> = rows.map(|(folder, ..)| (folder.to_owned(), 0)).collect();
    add("", &mut lines);
    if std::env::var_os("SNAPSHOTS").is_some_and(|how| how == "overwrite") {
        let updated = text.lines().map(|line| match row(line) {
            Some(row) => updated(row, lines[row.0]),
            None => format!("{line}\n"),
        });
        return fs::write(page, updated.collect::<String>()).unwrap();
    }
    let over = text.lines().filter_map(row).filter(|(folder, budget, _)| lines[*folder] > *budget);
    let over: Vec<String> = over
        .map(|(folder, budget, _)| format!("{folder}: {} lines, {budget} in its budget", lines[folder]))
        .collect();
    assert!(
        over.is_empty(),
        "{}\nRemove code, or update the table \"Lines of code\" in ARCHITECTURE.md by `SNAPSHOTS=overwrite cargo test -p ddtbench \
         --test integration budget`, and write the reason into its row.",
        over.join("\n")
    );
    let all: usize = lines.values().sum();
    assert!(all <= 105_000, "{all} lines of Rust, at most 105,000: remove some");
}

#[test]
fn each_row_names_a_folder_its_content_and_the_reason_for_more_lines() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (folder, _, content) in page.lines().filter_map(row) {
        assert!(root().join(folder).is_dir(), "{folder} is not a folder");
        assert!(!content.is_empty(), "{folder} has no content in its row");
        assert!(!content.ends_with(':'), "write why {folder} has more lines into its row: {content} REASON");
    }
}

#[test]
fn a_larger_budget_waits_for_its_reason_which_goes_with_the_next_change() {
    let row = ("a", 100, "what; +50: why");
    assert_eq!(updated(row, 51), "`a` | 100 | what; +50: why\n");
    assert_eq!(updated(row, 101), "`a` | 150 | what; +50:\n");
    assert_eq!(updated(row, 50), "`a` | 50 | what\n");
}
