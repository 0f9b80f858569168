//! Layouts that a user gives, as text or in a file, made into cases of the test [`LAYOUT`]. The case has the layouts themselves, so
//! that a recorded plan needs no file.
//!
//! A file is the text alone, or TOML or JSON with `send`, and if need be `receive` and `name`; or it is what
//! `ddtbench layout --format json` prints, which is the send side. A side is a text, an object with a layout, or a list of these.

use std::io::Read;
use std::path::Path;

use apps::{Context, CountedLayout, LAYOUT, Layouts, Message, ParameterError, Piece, UNNAMED};
use datatypes::{Layout, SCHEMA as LAYOUT_SCHEMA};
use serde_json::{Map, Value};

use super::planned::PlannedCase;
use crate::report::layout::SCHEMA as MESSAGE_SCHEMA;

/// What would be right where nothing was.
const EXAMPLE: &str = "a layout, as vector(408, 5, 2050, double), or a file with one";

/// Layouts with a name.
#[derive(Debug, PartialEq)]
pub(crate) struct Given {
    name: Option<String>,
    send: Layouts,
    receive: Option<Layouts>,
}

/// The case of what was typed: a layout, a file with layouts, or `-` for such a text on standard input.
///
/// # Errors
/// Where what is wrong, and what would be right.
pub fn case(typed: &str) -> Result<PlannedCase, String> {
    let path = Path::new(typed);
    let (source, given) = if typed == "-" {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| format!("standard input: {error}"))?;
        ("standard input", parse(&text).map_err(|reason| format!("standard input: {reason}"))?)
    } else if path.is_file() {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{typed}: {error}"))?;
        let mut given = parse(&text).map_err(|reason| format!("{typed}: {reason}"))?;
        given.name = given.name.or_else(|| name_of(path));
        (typed, given)
    } else {
        match typed.parse() {
            Ok(send) => ("layout", Given { name: None, send, receive: None }),
            Err(error) if typed.contains('(') => return Err(format!("layout {typed:?}: {error}")),
            Err(_) => return Err(format!("{typed:?} is no file and no layout: must be {EXAMPLE}")),
        }
    };
    planned(&given).map_err(|error| format!("{source}: {error}"))
}

/// The name of a file without what cannot be in a name.
fn name_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_string_lossy();
    let part = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    Some(stem.chars().map(part).collect())
}

/// The case, which can be built.
fn planned(given: &Given) -> Result<PlannedCase, ParameterError> {
    let mut values = LAYOUT.set(LAYOUT.quick_set().name)?;
    values.assign(&LAYOUT, "name", given.name.as_deref().unwrap_or(UNNAMED))?;
    values.assign(&LAYOUT, "send", &given.send.to_string())?;
    if let Some(receive) = &given.receive {
        values.assign(&LAYOUT, "receive", &receive.to_string())?;
    }
    LAYOUT.build(&values, Context::default())?;
    Ok(PlannedCase::of(&LAYOUT, None, &values))
}

/// What a file says.
pub(crate) fn parse(text: &str) -> Result<Given, String> {
    let value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?
    } else if text.contains('=') {
        toml::from_str(text).map_err(|error| format!("no TOML: {error}"))?
    } else {
        Value::String(text.to_owned())
    };
    let Value::Object(object) = &value else {
        // The place in the file is that in the text.
        let send = text.parse().map_err(|error| format!("{error}"))?;
        return Ok(Given { name: None, send, receive: None });
    };
    if !object.contains_key("send") {
        return Ok(Given { name: None, send: side(&value, "the file")?, receive: None });
    }
    only(object, "the file", &["name", "send", "receive"])?;
    let name = object.get("name").map(|name| {
        name.as_str().map(str::to_owned).ok_or_else(|| format!("name = {name}: must be a text in quotes"))
    });
    Ok(Given {
        name: name.transpose()?,
        send: side(&object["send"], "send")?,
        receive: object.get("receive").map(|value| side(value, "receive")).transpose()?,
    })
}

/// A side of a message; `place` is where in the file it stands.
fn side(value: &Value, place: &str) -> Result<Layouts, String> {
    counted(value, place).and_then(|all| Layouts::new(all).map_err(|error| format!("{place}: {error}")))
}

/// The layouts of a value, each with its count.
fn counted(value: &Value, place: &str) -> Result<Vec<CountedLayout>, String> {
    match value {
        Value::String(text) => {
            let layouts: Layouts = text.parse().map_err(|error| format!("{place}: {error}"))?;
            Ok(layouts.iter().cloned().collect())
        }
        Value::Array(items) => {
            let items = items.iter().enumerate().map(|(i, item)| counted(item, &format!("{place}[{i}]")));
            Ok(items.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Value::Object(object) if object.contains_key("pieces") => {
            let layouts =
                Layouts::of(&message(object, place)?).map_err(|error| format!("{place}: {error}"))?;
            Ok(layouts.iter().cloned().collect())
        }
        Value::Object(object) if object.contains_key("layout") => {
            only(object, place, &["schema", "layout", "count", "origin_bytes"])?;
            check_schema(object, place, LAYOUT_SCHEMA)?;
            let count = integer(object, "count", place)?.unwrap_or(1);
            if count < 1 {
                return Err(format!("{place}: count = {count}: must be at least 1"));
            }
            let one = CountedLayout {
                count,
                layout: layout(&object["layout"], place)?,
                origin_bytes: integer(object, "origin_bytes", place)?,
            };
            one.whole().map_err(|error| format!("{place}: {error}"))?;
            Ok(vec![one])
        }
        Value::Object(object) if object.contains_key("constructor") => {
            Ok(vec![CountedLayout { count: 1, layout: layout(value, place)?, origin_bytes: None }])
        }
        _ => Err(format!(
            "{place}: must be a layout as text, an object with `layout` or `constructor`, what `ddtbench layout --format json` prints, \
             or a list of these"
        )),
    }
}

/// What `ddtbench layout --format json` has printed.
fn message(object: &Map<String, Value>, place: &str) -> Result<Message, String> {
    check_schema(object, place, MESSAGE_SCHEMA)?;
    let pieces = object["pieces"].as_array().ok_or_else(|| format!("{place}: pieces must be a list"))?;
    let piece = |(i, piece): (usize, &Value)| {
        let place = format!("{place}: pieces[{i}]");
        let needs = || format!("{place}: must have `array`, `origin_bytes` and `layout`");
        let object = piece.as_object().ok_or_else(needs)?;
        let array = integer(object, "array", &place)?.and_then(|array| usize::try_from(array).ok());
        Ok(Piece {
            array: array.ok_or_else(needs)?,
            origin_bytes: integer(object, "origin_bytes", &place)?.ok_or_else(needs)?,
            layout: layout(object.get("layout").ok_or_else(needs)?, &place)?,
        })
    };
    Ok(Message { pieces: pieces.iter().enumerate().map(piece).collect::<Result<_, String>>()? })
}

/// A single layout: as text, or as an object with its constructor.
fn layout(value: &Value, place: &str) -> Result<Layout, String> {
    match value {
        Value::String(text) => text.parse().map_err(|error| format!("{place}: layout: {error}")),
        value => {
            let whole = serde_json::json!({"schema": LAYOUT_SCHEMA, "layout": value});
            Layout::from_json(&whole.to_string()).map_err(|error| format!("{place}: {error}"))
        }
    }
}

fn check_schema(object: &Map<String, Value>, place: &str, known: &str) -> Result<(), String> {
    match object.get("schema") {
        Some(schema) if schema != known => {
            Err(format!("{place}: schema {schema} is not known: this version reads {known:?}"))
        }
        _ => Ok(()),
    }
}

/// Refuses names that mean nothing here.
fn only(object: &Map<String, Value>, place: &str, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("{place}: {unknown:?} is not known; there are {}", known.join(", "))),
        None => Ok(()),
    }
}

fn integer(object: &Map<String, Value>, name: &str, place: &str) -> Result<Option<i64>, String> {
    let value = object.get(name);
    value
        .map(|value| {
            value.as_i64().ok_or_else(|| format!("{place}: {name} = {value}: must be a whole number"))
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use apps::{Side, TESTS, WireOrder};

    use super::*;
    use crate::experiments::{self, Kind};
    use crate::report::layout::json;

    fn given(text: &str) -> Given {
        parse(text).unwrap_or_else(|reason| panic!("{text}: {reason}"))
    }

    #[test]
    fn all_forms_of_a_file_mean_the_same() {
        let send: Layouts = "3 * vector(8, 1, 4, double) @ 64 + contiguous(10, int32)".parse().unwrap();
        let vector = r#"{"constructor": "vector", "count": 8, "blocklength": 1, "stride": 4,
                         "child": {"constructor": "named", "element": "double"}}"#;
        for text in [
            "3 * vector(8, 1, 4, double) @ 64\n + contiguous(10, int32)\n".to_owned(),
            "send = '3 * vector(8, 1, 4, double) @ 64 + contiguous(10, int32)'".to_owned(),
            "send = ['3 * vector(8, 1, 4, double) @ 64', 'contiguous(10, int32)']".to_owned(),
            "[[send]]\nlayout = 'vector(8, 1, 4, double)'\ncount = 3\norigin_bytes = 64\n\
             [[send]]\nlayout = 'contiguous(10, int32)'\n"
                .to_owned(),
            format!(
                r#"{{"send": [{{"layout": {vector}, "count": 3, "origin_bytes": 64}}, "contiguous(10, int32)"]}}"#
            ),
        ] {
            assert_eq!(given(&text), Given { name: None, send: send.clone(), receive: None }, "{text}");
        }
        let both =
            given("name = 'mine'\nsend = 'vector(2, 1, 4, double)'\nreceive = 'contiguous(2, double)'\n");
        assert_eq!(both.name.as_deref(), Some("mine"));
        assert_eq!(both.receive.unwrap().to_string(), "contiguous(2, double)");
        assert_eq!(given(vector).send.to_string(), "vector(8, 1, 4, double)");
        let kept = "contiguous(3, double)".parse::<Layout>().unwrap().to_json();
        assert_eq!(given(&kept).send.to_string(), "contiguous(3, double)");
    }

    #[test]
    fn what_layout_prints_of_a_test_can_be_read_again() {
        for test in TESTS {
            let values = test.set(test.quick_set().name).unwrap();
            let app = test.build(&values, Context::default()).unwrap();
            let text = json(test, &values, &*app, Side::Send, WireOrder::Ddt);
            let message = app.message(Side::Send, WireOrder::Ddt);
            assert_eq!(given(&text).send, Layouts::of(&message).unwrap(), "{}", test.name);
        }
    }

    #[test]
    fn errors_are_reported_with_their_place() {
        for (text, said) in [
            (
                "vector(1, 2,\n double)",
                "line 2, column 2: `double` where a whole number is expected, the stride of",
            ),
            ("send = 'vector(1)'", "send: column 9: `)` where `,` is expected"),
            ("send = ['double', 'reel']", "send[1]: column 1: no type is called `reel`"),
            ("sent = 'double'", "the file: must be a layout as text, an object with"),
            (
                "send = 'double'\nrecieve = 'double'",
                "the file: \"recieve\" is not known; there are name, send, receive",
            ),
            ("send = 3", "send: must be a layout as text"),
            ("send = []", "send: there is no layout"),
            ("send = = 3", "no TOML: "),
            ("{\"send\": }", "no JSON: expected value at line 1 column 10"),
            (
                r#"{"schema": "ddtbench-layout/9", "layout": "double"}"#,
                "the file: schema \"ddtbench-layout/9\" is not known",
            ),
            (r#"{"layout": "double", "count": 0}"#, "the file: count = 0: must be at least 1"),
            (
                r#"{"send": {"constructor": "vector", "count": 1}}"#,
                "send: layout: missing field `blocklength`",
            ),
            (
                r#"{"pieces": [{"array": 0, "layout": "double"}]}"#,
                "the file: pieces[0]: must have `array`, `origin_bytes`",
            ),
            ("name = 3\nsend = 'double'", "name = 3: must be a text"),
        ] {
            let reason = parse(text).unwrap_err();
            assert!(reason.starts_with(said), "{text}: {reason}");
        }
        assert!(case("nosuch.toml").unwrap_err().contains("is no file and no layout"));
        let wrong = case("vector(408, 5, double)").unwrap_err();
        assert_eq!(wrong.split(": ").nth(1), Some("column 16"), "{wrong}");
        let overlapping = case("vector(3, 2, 1, double)").unwrap_err();
        assert!(overlapping.contains("must write each byte once"), "{overlapping}");
    }

    #[test]
    fn the_file_of_the_documentation_can_be_sent() {
        let page = include_str!("../../../docs/my-array.md");
        let (_, file) = page.split_once("    # face.toml\n").expect("the page has a file");
        let lines: Vec<_> = file.lines().map_while(|line| line.strip_prefix("    ")).collect();
        let face = planned(&given(&lines.join("\n"))).unwrap();
        assert_eq!(face.given().count(), 3);
    }

    #[test]
    fn a_case_has_the_layouts_themselves_and_the_name_of_their_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("my face.toml");
        std::fs::write(&file, "send = 'vector(2, 1, 4, double)'").unwrap();
        let case = case(file.to_str().unwrap()).unwrap();
        let given: Vec<_> = case.given().collect();
        assert_eq!(given, [("name", "my_face"), ("receive", "send"), ("send", "vector(2,1,4,double)")]);
        assert_eq!((case.test.as_str(), case.set.as_deref()), ("layout", Some("my_face")));
        let setup = experiments::Setup { ranks: 2, seed: 1 };
        let prepared = experiments::of(Kind::PingPong).prepare(&case, setup).unwrap();
        assert_eq!(prepared.planned(), case, "a plan is read as it was written");
        let unnamed = super::case("vector(2, 1, 4, double)").unwrap();
        assert_eq!(unnamed.set.as_deref(), Some("vector(2,1,4,double)"));
    }
}
