//! The layers within the library: each uses those that it may, and no other. Cargo checks those between packages.

use std::fs;
use std::path::{Path, PathBuf};

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

/// All sources below a path.
fn sources(path: &Path) -> Vec<PathBuf> {
    match fs::read_dir(path) {
        Ok(entries) => entries.flat_map(|entry| sources(&entry.unwrap().path())).collect(),
        Err(_) => vec![path.to_owned()],
    }
}

#[test]
fn each_layer_uses_only_those_before_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let unknown: Vec<_> = modules.filter(|name| LAYERS.iter().all(|(layer, _)| layer != name)).collect();
    assert_eq!(unknown, [""; 0], "modules without a layer");
    for file in sources(&src).into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
        let below = file.strip_prefix(&src).unwrap().to_string_lossy().into_owned();
        let is_of = |layer: &str| {
            below.strip_prefix(layer).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
        };
        let Some((layer, may_use)) = LAYERS.into_iter().find(|(layer, _)| is_of(layer)) else { continue };
        let text = fs::read_to_string(&file).unwrap();
        for used in text.split("crate::").skip(1) {
            let name = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            let is_allowed =
                name == layer || ["cells", "model", "stats"].contains(&name) || may_use.contains(&name);
            assert!(is_allowed, "{below}: {layer} uses `crate::{name}`; name each module by itself");
        }
    }
}
