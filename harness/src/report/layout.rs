//! The message of a test: its arrays, layouts and segments, as text, CSV and JSON.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};

use apps::{ArraySpec, Layouts, Message, MicroApp, Piece, Side, Test, Values, WireOrder};
use datatypes::{Spread, Statistics};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::units;

/// Maximum pieces of a message in full; the others are counted.
const SHOWN: usize = 12;

/// The schema of [`json()`]. The number changes if programs would misread the new form.
pub const SCHEMA: &str = "ddtbench-message/1";

/// A message for people: its arrays, the tree of each piece, its statistics.
pub fn tree(test: &Test, values: &Values, app: &MicroApp, side: Side, order: WireOrder) -> String {
    let (arrays, message) = (&app.arrays, app.message(side, order));
    let mut text = heading(test, values, side, order);

    text += "\nArrays (slowest dimension first)\n";
    let name_width = arrays.iter().map(|array| array.name.to_string().chars().count()).max().unwrap_or(0);
    for (i, array) in arrays.iter().enumerate() {
        let shape: Vec<_> = array.shape.iter().map(usize::to_string).collect();
        let (name, size) = (&array.name, units::bytes(array.bytes() as u64));
        let _ =
            writeln!(text, "  {i:>2}  {name:<name_width$}  {} {}  {size}", array.element, shape.join(" x "));
    }

    text += "\nPieces, in wire order\n";
    for piece in message.pieces.iter().take(SHOWN) {
        let _ = writeln!(text, "  {} from byte {}", arrays[piece.array].name, piece.origin_bytes);
        for line in piece.layout.tree().lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    if message.pieces.len() > SHOWN {
        let _ = writeln!(text, "  … {} more", message.pieces.len() - SHOWN);
    }

    text += &bounds_that_differ(&message);
    text += &as_text(&message);
    text += "\nStatistics\n";
    text += &statistics_text(&message.statistics());
    text
}

/// A warning about types to which MPIs give different bounds; empty without any.
fn bounds_that_differ(message: &Message) -> String {
    let mut text = String::new();
    for (layout, readings) in
        message.pieces.iter().flat_map(|piece| piece.layout.read_in_several_ways()).take(SHOWN)
    {
        let _ = writeln!(text, "  {}", layout.to_short_text());
        for (names, read) in readings {
            let _ = writeln!(text, "    {}: {names}", read.bounds_text());
        }
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "\nwarning: MPIs give these types different bounds\n{text}  A program that computes addresses from such an extent is wrong on one of \
             them, and types that are made of it\n  have their data at different places. MPI_Type_create_resized sets lower bound and extent on all.\n"
        ),
    }
}

/// Maximum characters of a text on its line.
const MOST_TEXT: usize = 2000;

/// The message as text, with long lists cut.
fn as_text(message: &Message) -> String {
    let layouts = match Layouts::from_message(message) {
        Ok(layouts) => layouts,
        Err(reason) => {
            return format!("\nAs text: not possible in this order, {reason}; -p order=ddt may be\n");
        }
    };
    let (whole, short) = (layouts.to_string(), layouts.to_short_text());
    match whole.len() <= MOST_TEXT {
        true => format!("\nAs text, which `ddtbench run --layout '...'` measures\n  {whole}\n"),
        false => format!(
            "\nAs text, lists cut: --format text prints the whole, of {} characters\n  {short}\n",
            whole.len()
        ),
    }
}

/// The message as text that can be measured again: each piece with the first byte in its array.
///
/// # Errors
/// If pieces return to an array, or there are too many arrays.
pub fn text(message: &Message) -> Result<String, String> {
    Ok(format!("{}\n", Layouts::from_message(message)?))
}

/// The test, its values and the side of the message.
pub fn heading(test: &Test, values: &Values, side: Side, order: WireOrder) -> String {
    let side = match side {
        Side::Send => "Sent data",
        Side::Receive => "Received data",
    };
    let order = match order {
        WireOrder::Manual => "the hand-written loop",
        WireOrder::Ddt => "the derived datatype",
    };
    format!("{}  {values}\n{}\n{side}, in the order of {order}\n", test.name, test.about)
}

/// The segments of a message in wire order, a line each: number of the array, first byte in it, bytes.
///
/// # Errors
/// Errors of `out`.
pub fn segments_csv(message: &Message, out: &mut dyn Write) -> std::io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "array,offset_bytes,bytes")?;
    for (array, segment) in message.segments() {
        writeln!(out, "{array},{},{}", segment.offset, segment.bytes)?;
    }
    out.flush()
}

/// A message for programs: arrays, layouts as text, and statistics as one JSON object.
pub fn json(test: &Test, values: &Values, app: &MicroApp, side: Side, order: WireOrder) -> String {
    let message = app.message(side, order);
    let array = |spec: &ArraySpec| {
        json!({
            "name": spec.name.to_string(),
            "element": spec.element.name(),
            "shape": spec.shape,
            "bytes": spec.bytes(),
        })
    };
    let piece = |piece: &Piece| {
        json!({
            "array": piece.array,
            "origin_bytes": piece.origin_bytes,
            "layout": piece.layout.to_text(),
            "lower_bound": piece.layout.lower_bound(),
            "extent": piece.layout.extent(),
            "true_extent": piece.layout.true_extent(),
        })
    };
    pretty(&json!({
        "schema": SCHEMA,
        "test": test.name,
        "params": Params(values.clone()),
        "side": if side == Side::Send { "send" } else { "receive" },
        "order": if order == WireOrder::Manual { "manual" } else { "ddt" },
        "bytes": message.size(),
        "arrays": app.arrays.iter().map(array).collect::<Vec<_>>(),
        "pieces": message.pieces.iter().map(piece).collect::<Vec<_>>(),
        "statistics": message.statistics(),
    }))
}

/// Values as an object, in the parameters' order: numbers as numbers, types by name.
pub struct Params(pub Values);

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.pairs().map(|(name, text)| {
            let value = text.parse::<i64>().map_or(serde_json::Value::String(text), Into::into);
            (name, value)
        }))
    }
}

/// `value` as indented JSON, ended by a newline.
pub fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("plain data has a JSON form") + "\n"
}

fn statistics_text(statistics: &Statistics) -> String {
    let spread = |spread: Option<Spread>| match spread {
        None => "none".to_owned(),
        Some(Spread { min, max, distinct: 1, .. }) if min == max => format!("always {min} B"),
        Some(Spread { min, median, max, distinct }) => {
            format!("min {min}, median {median}, max {max} B, {distinct} distinct")
        }
    };
    format!(
        "  bytes         {}\n  segments      {}\n  block length  {}\n  stride        {}\n",
        statistics.bytes,
        statistics.segments,
        spread(statistics.block_bytes),
        spread(statistics.stride_bytes),
    )
}

#[cfg(test)]
mod tests {
    use apps::{Context, find};

    use super::*;

    /// Three blocks of two doubles, four apart.
    fn strided() -> (&'static Test, Values, MicroApp) {
        let test = find("strided").unwrap();
        let mut values = test.set(test.quick_set().name).unwrap();
        for (name, text) in [("count", "3"), ("blocklength", "2"), ("stride", "4")] {
            values.assign(name, text).unwrap();
        }
        let app = test.build(&values, Context::default()).unwrap();
        (test, values, app)
    }

    #[test]
    fn a_message_in_every_form() {
        let (test, values, app) = strided();
        let mut segments = Vec::new();
        segments_csv(&app.message(Side::Receive, WireOrder::Ddt), &mut segments).unwrap();
        let all = [
            tree(test, &values, &app, Side::Send, WireOrder::Ddt),
            json(test, &values, &app, Side::Send, WireOrder::Manual),
            text(&app.message(Side::Send, WireOrder::Ddt)).unwrap(),
            String::from_utf8(segments).unwrap(),
        ];
        assert_eq!(all.join("\n"), include_str!("layout.txt"));
    }

    #[test]
    fn many_pieces_are_counted_and_spreads_written_out() {
        let test = find("specfem3d_mt").unwrap();
        let values = test.set(test.quick_set().name).unwrap();
        let app = test.build(&values, Context::default()).unwrap();
        assert!(tree(test, &values, &app, Side::Send, WireOrder::Ddt).contains("Pieces"));
        let spread = Spread { min: 4, median: 8, max: 40, distinct: 3 };
        let statistics = Statistics { segments: 1, bytes: 4, block_bytes: Some(spread), stride_bytes: None };
        let text = statistics_text(&statistics);
        assert!(text.contains("block length  min 4, median 8, max 40 B, 3 distinct\n  stride        none\n"));
    }
}
