//! The documentation: links lead to files and headings that exist, and pages keep to their number of words.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Words of the README, of any other page, and of all together.
const WORDS: (usize, usize, usize) = (1200, 1500, 30_000);

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages of a folder and those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { pages(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect()
}

pub fn all_pages() -> Vec<PathBuf> {
    let names = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"];
    names.map(|name| root().join(name)).into_iter().chain(pages(&root().join("docs"))).collect()
}

/// The text of a page without its code blocks.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    text.split("\n```").step_by(2).collect()
}

/// The anchors of a page, as GitHub makes them of its headings.
fn anchors(page: &Path) -> HashSet<String> {
    let text = prose(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = |letter: &char| letter.is_alphanumeric() || ['_', '-', ' '].contains(letter);
        heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>()
    };
    headings.map(|heading| anchor(heading).replace(' ', "-")).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut count = 0;
    for page in all_pages() {
        let text = prose(&page);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
        for link in links.filter(|link| !link.starts_with("http")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(file.exists(), "{}: {link}", page.display());
            assert!(anchor.is_empty() || anchors(&file).contains(anchor), "{}: {link}", page.display());
            count += 1;
        }
    }
    assert!(count > 200, "{count} links");
}

#[test]
fn pages_are_short() {
    let mut all = 0;
    for page in all_pages() {
        let words = fs::read_to_string(&page).unwrap().split_whitespace().count();
        let most = if page == root().join("README.md") { WORDS.0 } else { WORDS.1 };
        assert!(words <= most, "{}: {words} words, {most} at most", page.display());
        all += words;
    }
    assert!(all <= WORDS.2, "{all} words in all pages, {} at most", WORDS.2);
}
