//! The layers of the library, as `src/lib.rs` names them: each uses those that it may, and no other.

use std::fs;
use std::path::{Path, PathBuf};

/// Each layer and those that it may use, besides itself.
const LAYERS: [(&str, &[&str]); 9] = [
    ("report", &["model", "stats"]),
    ("experiments", &["model", "stats", "report"]),
    ("compare", &["model", "stats", "report", "experiments"]),
    ("plan", &["model", "stats", "report", "experiments"]),
    ("folder", &["model"]),
    ("mpi", &["model"]),
    ("conformance", &["model", "report", "mpi"]),
    ("run", &["model", "stats", "experiments", "plan", "folder", "mpi", "conformance"]),
    ("fuzz", &["model", "report", "experiments", "compare", "plan", "folder", "mpi", "conformance", "run"]),
];

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All sources of a layer: its file, or the files in its folder.
fn sources(layer: &str) -> Vec<PathBuf> {
    let mut left = vec![src().join(format!("{layer}.rs")), src().join(layer)];
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && path.exists() {
            files.push(path);
        }
    }
    files
}

/// The modules of the library that a text uses, each with the number of its line: `crate::name`, and the names within
/// `crate::{...}`. What stands after `//` is no use.
fn used(text: &str) -> Vec<(usize, String)> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let mut used = Vec::new();
    for (i, line) in code.iter().enumerate() {
        for (start, prefix) in line.match_indices("crate::") {
            // `$crate` and names that end so are others.
            if line[..start].ends_with(|before: char| before.is_alphanumeric() || before == '_') {
                continue;
            }
            let rest = [&line[start + prefix.len()..], "\n", &code[i + 1..].join("\n")].concat();
            used.extend(names(&rest).into_iter().map(|name| (i + 1, name)));
        }
    }
    used
}

/// The first names of a path, of which there are several within braces.
fn names(path: &str) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let name = |text: &str| text.trim_start().chars().take_while(|&c| is_part(c)).collect::<String>();
    let Some(inner) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (i, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth == 0 => {
                names.push(name(&inner[start..i]));
                start = i + 1;
            }
            '}' => {
                names.push(name(&inner[start..i]));
                break;
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn each_layer_uses_those_before_it_alone() {
    let mut wrong = Vec::new();
    for (layer, may_use) in LAYERS {
        let files = sources(layer);
        assert!(!files.is_empty(), "there is no {layer}");
        for file in files {
            for (line, name) in used(&fs::read_to_string(&file).unwrap()) {
                if name != layer && !may_use.contains(&name.as_str()) {
                    wrong.push(format!("{}:{line}: {layer} uses {name}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_of_the_library_is_a_layer() {
    let text = fs::read_to_string(src().join("lib.rs")).unwrap();
    let modules = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let mut modules: Vec<_> = modules.collect();
    let mut layers: Vec<_> = LAYERS.iter().map(|(layer, _)| *layer).collect();
    modules.sort_unstable();
    layers.sort_unstable();
    assert_eq!(modules, layers);
}

#[test]
fn uses_are_found_however_they_are_written() {
    let text = "use crate::plan::Plan; // crate::run\nuse crate::{folder::{self, Log}, mpi,\n    stats};\n\
                let x = crate::report::units::bytes(1);\nuse other_crate::run;\n";
    let names: Vec<_> = used(text).into_iter().map(|(line, name)| format!("{line} {name}")).collect();
    assert_eq!(names, ["1 plan", "2 folder", "2 mpi", "2 stats", "4 report"]);
}
