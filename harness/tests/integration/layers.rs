//! The layers within the library and within the rank program: each uses those that it may, and no other.
//! Cargo checks those between packages.

use std::fs;
use std::path::Path;

use crate::pages::root;

/// Each layer and those that it may use, besides itself and `common`.
const LAYERS: [(&str, &[&str]); 9] = [
    ("report", &[]),
    ("experiments", &["report"]),
    ("compare", &["report", "experiments"]),
    ("mpi", &[]),
    ("plan", &["report", "experiments", "mpi"]),
    ("folder", &[]),
    ("conformance", &["report", "mpi"]),
    ("run", &["experiments", "plan", "folder", "mpi", "conformance"]),
    ("fuzz", &["report", "experiments", "compare", "plan", "folder", "mpi", "conformance", "run"]),
];

/// The modules below a path, and all that each uses of its crate: `a/b` for `a/b.rs`, and for `crate::a::b`.
fn modules(path: &Path, src: &Path) -> Vec<(String, Vec<String>)> {
    if let Ok(entries) = fs::read_dir(path) {
        return entries.flat_map(|entry| modules(&entry.unwrap().path(), src)).collect();
    }
    let module = path.strip_prefix(src).unwrap().to_string_lossy().into_owned();
    let Some(module) = module.strip_suffix(".rs") else { return Vec::new() };
    let text = fs::read_to_string(path).unwrap();
    let used = text.split("crate::").skip(1).map(|used| {
        let end = used.find(|c: char| !c.is_alphanumeric() && !['_', ':'].contains(&c));
        used[..end.unwrap_or(used.len())].replace("::", "/")
    });
    vec![(module.to_owned(), used.collect())]
}

#[test]
fn each_layer_uses_only_those_before_it() {
    let src = root().join("harness/src");
    for (module, used) in modules(&src, &src) {
        let first = module.split('/').next().unwrap();
        if ["cells", "cli", "lib", "main"].contains(&first) {
            continue;
        }
        let own = LAYERS.into_iter().find(|(layer, _)| *layer == first);
        let (layer, may_use) = own.unwrap_or_else(|| panic!("{module} has no layer"));
        for used in used {
            let name = used.split('/').next().unwrap();
            let is_allowed =
                name == layer || ["cells", "model", "stats"].contains(&name) || may_use.contains(&name);
            assert!(is_allowed, "{module}: {layer} uses `crate::{name}`; name each module by itself");
        }
    }
}

#[test]
fn each_layer_of_the_rank_program_uses_only_those_before_it() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = page.split_once("Within `harness/rank/src/`").unwrap();
    let order: Vec<&str> = rest.split("```").nth(1).unwrap().split_whitespace().skip(1).collect();
    let layer = |path: &str| {
        let is_within =
            |name: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let layers = (0..order.len()).filter(|&i| is_within(order[i]));
        layers
            .max_by_key(|&i| order[i].len())
            .unwrap_or_else(|| panic!("no layer in ARCHITECTURE.md: {path:?}"))
    };
    let src = root().join("harness/rank/src");
    for (module, used) in modules(&src, &src).into_iter().filter(|(module, _)| module != "lib") {
        for used in used {
            assert!(layer(&used) <= layer(&module), "{module} uses {used}, a later layer in ARCHITECTURE.md");
        }
    }
}
