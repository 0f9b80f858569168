//! Rows as CSV. Nested values become separate columns.
//!
//! Numbers are written in the shortest form that reads back as the same number. Missing values are empty cells. A text that a
//! spreadsheet would execute as a formula gets an apostrophe in front, as in spreadsheets, and is read without it.

use csv::{ByteRecord, StringRecord};
use serde::Serialize;
use serde_json::Value;

/// The names of the columns of a row, in their order.
pub fn columns(row: &impl Serialize) -> Vec<String> {
    fn add(name: Option<&str>, value: &Value, columns: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| add(Some(name), value, columns)),
            Value::Array(parts) => parts.iter().for_each(|part| add(None, part, columns)),
            _ => columns.extend(name.map(str::to_owned)),
        }
    }
    let (value, mut columns) = (serde_json::to_value(row).expect("plain data"), Vec::new());
    add(None, &value, &mut columns);
    columns
}

/// The line with the names of the columns.
pub fn header(columns: &[String]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns).expect("a row of plain fields always fits into memory");
    writer.into_inner().expect("writing to memory does not fail")
}

/// The rows without a header.
pub fn rows<T: Serialize>(rows: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of plain fields always fits into memory");
    }
    inert(writer.into_inner().expect("writing to memory does not fail"))
}

/// Whether a spreadsheet takes a cell with this beginning for a formula.
fn begins_formula(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'))
}

/// Rows in which no cell is a formula.
fn inert(rows: Vec<u8>) -> Vec<u8> {
    let is_number = |cell: &[u8]| std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok());
    // Without the apostrophe, a text that has one already would be read as another one.
    let is_active = |cell: &[u8]| match cell.strip_prefix(b"'") {
        Some(rest) => begins_formula(rest) || rest.starts_with(b"'"),
        None => begins_formula(cell) && !is_number(cell),
    };
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&rows[..]);
    let all: Vec<ByteRecord> = reader.byte_records().map(|row| row.expect("it was just written")).collect();
    if !all.iter().flatten().any(is_active) {
        return rows;
    }
    let mut writer = csv::WriterBuilder::new().has_headers(false).flexible(true).from_writer(Vec::new());
    let cell = |cell: &[u8]| if is_active(cell) { [b"'", cell].concat() } else { cell.to_vec() };
    for row in &all {
        writer.write_record(row.iter().map(cell)).expect("it fits into memory");
    }
    writer.into_inner().expect("writing to memory does not fail")
}

/// A row as it was before [`rows`] wrote it.
pub fn active(row: StringRecord) -> StringRecord {
    let text = |cell: &str| {
        let rest =
            cell.strip_prefix('\'').filter(|rest| begins_formula(rest.as_bytes()) || rest.starts_with('\''));
        rest.map(str::to_owned)
    };
    if row.iter().all(|cell| text(cell).is_none()) {
        return row;
    }
    let mut read: StringRecord =
        row.iter().map(|cell| text(cell).unwrap_or_else(|| cell.to_owned())).collect();
    read.set_position(row.position().cloned());
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_all_are_read_as_they_were() {
        let texts = [
            "=1+1", "+a", "-a", "@sum", "\tx", "\rx", "=a,\"b\"", "'=1", "''=1", "'a", "'", "", "-1e-6",
            "+5", "-", "a=1", "-inf",
        ];
        let written = rows([texts]);
        let read = |bytes: &[u8]| {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
            reader.records().next().unwrap().unwrap()
        };
        let cells = read(&written);
        for (cell, text) in cells.iter().zip(texts) {
            let is_safe = cell.parse::<f64>().is_ok() || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
            assert!(is_safe, "{text:?} is written as {cell:?}");
        }
        assert_eq!(active(cells).iter().collect::<Vec<_>>(), texts);
        assert_eq!(rows([["a", "-5"]]), b"a,-5\n", "numbers stay");
    }
}
