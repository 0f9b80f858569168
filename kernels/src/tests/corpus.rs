//! The fuzz target's corpus, run as an ordinary test.

use std::fs;
use std::path::Path;

use crate::fuzz;

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn the_corpus_agrees_with_the_oracle() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/pack");
    let mut compared = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        compared += u64::from(fuzz::run(&bytes));
    }
    // If the encoding of bytes changed, the corpus would become noise, and most of its files would not be layouts.
    assert!(compared >= 50, "only {compared} files of {} are a layout", folder.display());
}
