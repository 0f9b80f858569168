//! Output in the documentation: it is the output of today's program for the recorded results in `docs/recorded`.
//!
//! A comment `<!-- ddtbench ARGUMENTS -->` above a code block names the command. The block may leave out
//! lines, where it has a line `...`, and before its first and after its last line. A line that begins with `$
//! ` is the command for readers, with the lines that continue it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::pages::{all_pages, root};

/// A code block under a comment, and its command.
struct Quote {
    page: PathBuf,
    command: String,
    lines: Vec<String>,
}

/// The folder `recorded` with all recorded results.
pub fn unpacked() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("recorded");
    fs::create_dir(&kept).unwrap();
    for file in fs::read_dir(root().join("docs/recorded")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|end| end == "gz") {
            let status = Command::new("tar").arg("-C").arg(&kept).arg("-xzf").arg(&file).status().unwrap();
            assert!(status.success(), "{}", file.display());
        }
    }
    dir
}

/// Output of a command in a terminal of so many columns.
pub fn printed(command: &str, dir: &Path, columns: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ddtbench"));
    program.args(shlex::split(command).unwrap()).current_dir(dir).env("COLUMNS", columns);
    let ended = program.output().unwrap();
    assert!(ended.status.code() < Some(2), "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

fn quotes(page: &Path) -> Vec<Quote> {
    let text = fs::read_to_string(page).unwrap();
    let mut quotes = Vec::new();
    let mut lines = text.lines().peekable();
    let mut command = None;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let block: Vec<String> =
                lines.by_ref().take_while(|line| !line.starts_with("```")).map(str::to_owned).collect();
            let is_output = block.iter().any(|line| line.starts_with("$ ") || line.contains(" µs "));
            assert!(
                command.is_some() || !is_output,
                "{}: a command is missing above {block:?}",
                page.display()
            );
            if let Some(command) = command.take() {
                quotes.push(Quote { page: page.to_owned(), command, lines: block });
            }
        } else if !line.is_empty() {
            let comment = line.strip_prefix("<!-- ddtbench ").and_then(|rest| rest.strip_suffix(" -->"));
            command = comment.map(str::to_owned);
        }
    }
    quotes
}

/// The first part of a quote, between lines `...`, that is not in the output after those before it.
fn missing<'a>(quoted: &'a [String], output: &str) -> Option<&'a [String]> {
    let output: Vec<&str> = output.lines().map(str::trim_end).collect();
    let mut from = 0;
    quoted.split(|line| line == "...").filter(|part| !part.is_empty()).find(|part| {
        let found = output[from..].windows(part.len()).position(|lines| lines == *part);
        found.inspect(|at| from += at + part.len()).is_none()
    })
}

#[test]
fn quoted_output_is_what_the_program_prints() {
    let dir = unpacked();
    let all: Vec<Quote> = all_pages().iter().flat_map(|page| quotes(page)).collect();
    assert!(all.len() >= 9, "{}", all.len());
    for Quote { page, command, lines } in all {
        let mut continues = false;
        let is_output = |line: &String| {
            let is_command = line.starts_with("$ ") || continues;
            continues = is_command && line.ends_with('\\');
            !is_command
        };
        let quoted: Vec<String> = lines.into_iter().filter(is_output).collect();
        let output = printed(&command, dir.path(), "100");
        if let Some(part) = missing(&quoted, &output) {
            panic!(
                "{}: not in the output of `ddtbench {command}`:\n{}\n\nIt is\n{output}",
                page.display(),
                part.join("\n")
            );
        }
    }
}

#[test]
fn a_part_that_is_not_in_the_output_is_found() {
    let quoted = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(missing(&quoted("b\nc\n...\ne"), "a\nb  \nc\nd\ne\n"), None);
    assert_eq!(missing(&quoted("b\nd"), "a\nb\nc\nd\n"), Some(&quoted("b\nd")[..]));
    assert_eq!(missing(&quoted("c\n...\nb"), "a\nb\nc\n"), Some(&quoted("b")[..]), "the order counts");
}

#[test]
fn commands_with_own_arrays_can_be_run() {
    let page = fs::read_to_string(root().join("docs/my-array.md")).unwrap();
    let commands = page.lines().filter(|line| line.contains(" subarray "));
    for (kind, rest) in commands.filter_map(|line| line.strip_prefix("ddtbench ")?.split_once(' ')) {
        let dry = if kind == "layout" { "" } else { "--dry-run" };
        assert!(!printed(&format!("{kind} {dry} {rest}"), &root(), "80").is_empty(), "{rest}");
    }
}

#[test]
fn pictures_are_those_of_the_recorded_results() {
    let (script, to) = (root().join("docs/figures/draw"), tempfile::tempdir().unwrap());
    let program = Path::new(env!("CARGO_BIN_EXE_ddtbench")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let status = Command::new(&script).arg(to.path()).env("PATH", path).status().unwrap();
    assert!(status.success());
    let named = |dir: &Path| {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "draw");
        names.sort();
        names
    };
    let kept = script.parent().unwrap();
    assert_eq!(named(kept), named(to.path()));
    for name in named(kept) {
        let [kept, drawn] = [kept, to.path()].map(|dir| fs::read_to_string(dir.join(&name)).unwrap());
        assert!(kept == drawn, "{}: run docs/figures/draw", name.display());
    }
}
