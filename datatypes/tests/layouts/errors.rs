//! Arguments that constructors refuse. A message names the constructor, the argument and its value; most are in `errors.txt`.

use ddtbench_datatypes::Element::Double;
use ddtbench_datatypes::{Layout, MAX_DEPTH};

use crate::named;

#[test]
fn arguments_that_cannot_be_are_refused() {
    let rows = include_str!("errors.txt").lines().filter(|row| !row.starts_with('#'));
    for (text, message) in rows.map(|row| row.split_once(": ").unwrap()) {
        // The text's reader adds the place.
        let refused = text.parse::<Layout>().unwrap_err().to_string();
        assert_eq!(refused, format!("column 1: {message}"), "{text}");
    }
}

#[test]
fn nesting_deeper_than_the_limit() {
    let mut layout = named(Double);
    for _ in 1..MAX_DEPTH {
        layout = Layout::contiguous(1, &layout).unwrap();
    }
    assert_eq!(layout.depth(), MAX_DEPTH);
    let refused = Layout::contiguous(1, &layout).unwrap_err().to_string();
    let deeper = MAX_DEPTH + 1;
    assert_eq!(refused, format!("contiguous: nesting = {deeper}: at most {MAX_DEPTH} levels can be nested"));
}
