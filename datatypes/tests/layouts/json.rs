//! Layouts in files.

use ddtbench_datatypes::{Constructor, Element, Layout, MAX_DEPTH, SCHEMA, SchemaError};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::{named, trees};

#[track_caller]
fn refused(file: Value, message: &str) {
    assert_eq!(Layout::from_json(&file.to_string()).unwrap_err().to_string(), message);
}

fn file(layout: Value) -> Value {
    json!({"schema": SCHEMA, "layout": layout})
}

#[test]
fn random_trees_come_back_equal() {
    for (seed, layout) in trees(3000) {
        let json = layout.to_json();
        let back = Layout::from_json(&json).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{json}"));
        assert_eq!(back, layout, "seed {seed}");
        assert_eq!(back.to_json(), json, "seed {seed}");
    }
}

#[test]
fn the_written_form_is_what_the_schema_says() {
    let layout = Layout::vector(3, 1, 4, &named(Element::Double)).unwrap();
    assert_eq!(
        layout.to_json(),
        r#"{"schema":"ddtbench-layout/1","layout":{"constructor":"vector","count":3,"blocklength":1,"stride":4,"child":{"constructor":"named","element":"double"}}}"#
    );
    // Every constructor, written by hand as the table of the schema has it.
    let int = json!({"constructor": "named", "element": "int32"});
    let arguments = [
        json!({"constructor": "named", "element": "float_complex"}),
        json!({"constructor": "contiguous", "count": 2, "child": int}),
        json!({"constructor": "hvector", "count": 2, "blocklength": 1, "stride_bytes": -8, "child": int}),
        json!({"constructor": "indexed", "blocklengths": [1], "displacements": [-1], "child": int}),
        json!({"constructor": "hindexed", "blocklengths": [1], "displacements_bytes": [-1], "child": int}),
        json!({"constructor": "indexed_block", "blocklength": 1, "displacements": [3, 4], "child": int}),
        json!({"constructor": "hindexed_block", "blocklength": 1, "displacements_bytes": [3], "child": int}),
        json!({"constructor": "struct", "blocklengths": [1, 2], "displacements_bytes": [0, 8], "children": [int, int]}),
        json!({"constructor": "subarray", "sizes": [4], "subsizes": [2], "starts": [1], "order": "fortran", "child": int}),
        json!({"constructor": "subarray", "sizes": [4], "subsizes": [2], "starts": [1], "order": "c", "child": int}),
        json!({"constructor": "resized", "lower_bound": -4, "extent": 16, "child": int}),
    ];
    for arguments in arguments {
        let layout = Layout::from_json(&file(arguments.clone()).to_string()).unwrap();
        let written: Value = serde_json::from_str(&layout.to_json()).unwrap();
        assert_eq!(written, file(arguments));
    }
}

#[test]
fn another_version_is_named_whatever_else_it_has() {
    let later = json!({"schema": "ddtbench-layout/2", "shape": [1, 2]});
    refused(later, r#"schema "ddtbench-layout/2" is not known: this version reads "ddtbench-layout/1""#);
    let error = Layout::from_json(r#"{"schema": "", "layout": 3}"#).unwrap_err();
    assert!(matches!(error, SchemaError::Version { .. }), "{error}");
}

#[test]
fn files_that_are_no_layouts() {
    for (text, part) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "an object with `schema` and `layout`"),
        (r#"{"layout": {"constructor": "named", "element": "int32"}}"#, "missing field `schema`"),
        (r#"{"schema": "ddtbench-layout/1"}"#, "missing field `layout`"),
        (r#"{"schema": "ddtbench-layout/1", "layout": 3, "extra": 1}"#, "unknown field `extra`"),
        (r#"{"schema": "ddtbench-layout/1", "layout": 3} 4"#, "trailing characters"),
    ] {
        let message = Layout::from_json(text).unwrap_err().to_string();
        assert!(message.starts_with("not a layout's file: ") && message.contains(part), "{text}: {message}");
    }
}

#[test]
fn unknown_and_missing_fields_are_refused_where_they_are() {
    let int = json!({"constructor": "named", "element": "int32"});
    let extra = json!({"constructor": "contiguous", "count": 2, "child": int, "stride": 3});
    refused(file(extra.clone()), "layout: unknown field `stride`, expected `count` or `child`");
    let outer = json!({"constructor": "resized", "lower_bound": 0, "extent": 64, "child": extra});
    refused(file(outer), "layout.child: unknown field `stride`, expected `count` or `child`");
    refused(file(json!({"constructor": "contiguous", "child": int})), "layout: missing field `count`");
    let named = json!({"constructor": "named", "element": "int32", "count": 1});
    refused(file(named), "layout: unknown field `count`, expected `element`");
    let message =
        Layout::from_json(&file(json!({"constructor": "darray"})).to_string()).unwrap_err().to_string();
    assert!(message.starts_with("layout: unknown variant `darray`, expected one of `named`"), "{message}");
    let element = json!({"constructor": "named", "element": "quad"});
    let message = Layout::from_json(&file(element).to_string()).unwrap_err().to_string();
    assert!(message.starts_with("layout: unknown variant `quad`, expected one of `byte`"), "{message}");
}

#[test]
fn arguments_in_a_file_are_checked_as_if_called() {
    let int = json!({"constructor": "named", "element": "int32"});
    let negative = json!({"constructor": "vector", "count": -3, "blocklength": 1, "stride": 1, "child": int});
    refused(file(negative.clone()), "layout: vector: count = -3: must not be negative");
    let nested = json!({"constructor": "struct", "blocklengths": [1, 1], "displacements_bytes": [0, 8],
        "children": [int, {"constructor": "contiguous", "count": 1, "child": negative}]});
    refused(file(nested), "layout.children[1].child: vector: count = -3: must not be negative");
    let huge = json!({"constructor": "contiguous", "count": 9223372036854775808u64, "child": int});
    let message = Layout::from_json(&file(huge).to_string()).unwrap_err().to_string();
    assert!(
        message.starts_with("layout: invalid value: integer `9223372036854775808`, expected i64"),
        "{message}"
    );
    let fraction = json!({"constructor": "contiguous", "count": 2.5, "child": int});
    let message = Layout::from_json(&file(fraction).to_string()).unwrap_err().to_string();
    assert!(message.starts_with("layout: invalid type: floating point `2.5`, expected i64"), "{message}");
}

/// Arguments are read by name only.
#[test]
fn lists_in_place_of_layouts_are_refused() {
    refused(file(json!(["named", "int32"])), "layout: a list, where a layout is an object");
    let inner = json!({"constructor": "contiguous", "count": 3, "child": ["named", "int32"]});
    refused(file(inner.clone()), "layout.child: a list, where a layout is an object");
    let outer = json!({"constructor": "struct", "blocklengths": [1], "displacements_bytes": [0], "children": [inner]});
    refused(file(outer), "layout.children[0].child: a list, where a layout is an object");
}

/// The deepest layout of structs takes the most levels of JSON, and must still be readable.
#[test]
fn the_deepest_layout_comes_back() {
    let mut layout = named(Element::Double);
    while layout.depth() < MAX_DEPTH {
        layout = Layout::structure(&[1], &[8], &[layout]).unwrap();
    }
    assert_eq!(Layout::from_json(&layout.to_json()).unwrap(), layout);
}

#[test]
fn nesting_without_end_is_refused_without_exhausting_the_stack() {
    let int = r#"{"constructor":"named","element":"int32"}"#;
    for (open, close) in
        [(r#"{"constructor":"contiguous","count":1,"child":"#, "}"), ("[", "]"), (r#"{"a":"#, "}")]
    {
        for levels in [61, 100, 126, 128, 100_000] {
            let layout = open.repeat(levels) + int + &close.repeat(levels);
            let file = format!(r#"{{"schema": "{SCHEMA}", "layout": {layout}}}"#);
            let message = Layout::from_json(&file).unwrap_err().to_string();
            let expected = if levels > 126 { "recursion limit" } else { "layout" };
            assert!(message.contains(expected), "{levels} levels: {message}");
        }
    }
}

#[test]
fn constructors_are_values_that_check_when_they_become_layouts() {
    let constructor = Constructor::Contiguous { count: -1, child: named(Element::Byte) };
    let json = serde_json::to_string(&constructor).unwrap();
    assert_eq!(serde_json::from_str::<Constructor>(&json).unwrap(), constructor);
    assert!(serde_json::from_str::<Layout>(&json).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// A file that was damaged is refused or is another layout; it never panics.
    #[test]
    fn damaged_files_are_read_or_refused(
        seed in 0..500u64,
        from in any::<Index>(),
        cut in 0..12usize,
        patch in r#"[-0-9{}\[\],:"a-z]{0,4}"#,
    ) {
        let mut text = ddtbench_datatypes::pool::random_layout(seed, 3, 50).to_json();
        let from = from.index(text.len());
        text.replace_range(from..text.len().min(from + cut), &patch);
        if let Ok(layout) = Layout::from_json(&text) {
            prop_assert_eq!(Layout::from_json(&layout.to_json()).unwrap(), layout);
        }
    }
}
