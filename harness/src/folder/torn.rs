//! Files of a run that was cut off: the whole rows of finished cases are kept, all else is removed.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::{FolderError, Key, at, replace};

/// All rows but a last one that does not end or lacks cells.
pub fn whole_rows(bytes: &[u8]) -> &[u8] {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let (mut row, mut cells, mut end) = (csv::ByteRecord::new(), None, 0);
    while let Ok(true) = reader.read_byte_record(&mut row) {
        let next = reader.position().byte() as usize;
        let bytes = &bytes[end..next];
        // The end of the file also ends a row in which a quote is still open.
        let is_closed = bytes.iter().filter(|&&byte| byte == b'"').count() % 2 == 0;
        if row.len() != *cells.get_or_insert(row.len()) || !is_closed || !bytes.ends_with(b"\n") {
            break;
        }
        end = next;
    }
    &bytes[..end]
}

/// Rewrites a table with the rows of finished cases, told by its columns `test` and `params`.
pub fn keep(file: &Path, done: &HashSet<Key>) -> Result<(), FolderError> {
    if !file.exists() {
        return Ok(());
    }
    let bytes = fs::read(file).map_err(at(file))?;
    let broken = |reason: String| FolderError::Broken { path: file.to_owned(), reason };
    let mut reader = csv::Reader::from_reader(whole_rows(&bytes));
    let header = reader.byte_headers().map_err(|error| broken(error.to_string()))?.clone();
    let mut kept = Vec::with_capacity(bytes.len());
    if !done.is_empty() {
        let column = |name: &str| {
            let found = header.iter().position(|cell| cell == name.as_bytes());
            found.ok_or_else(|| broken(format!("there is no column {name:?}")))
        };
        let (test, params) = (column("test")?, column("params")?);
        let done: HashSet<(&[u8], &[u8])> =
            done.iter().map(|(test, params)| (test.as_bytes(), params.as_bytes())).collect();
        let mut start = reader.position().byte() as usize;
        kept.extend_from_slice(&bytes[..start]);
        let mut row = csv::ByteRecord::new();
        while reader.read_byte_record(&mut row).map_err(|error| broken(error.to_string()))? {
            let end = reader.position().byte() as usize;
            if done.contains(&(&row[test], &row[params])) {
                kept.extend_from_slice(&bytes[start..end]);
            }
            start = end;
        }
    }
    if kept == bytes { Ok(()) } else { replace(file, &kept) }
}

/// The same for the original suite's format, by the ends that the index gives.
pub fn keep_original(file: &Path, index: &Path, done: &HashSet<Key>) -> Result<(), FolderError> {
    if !file.exists() || !index.exists() {
        return Ok(());
    }
    let bytes = fs::read(file).map_err(at(file))?;
    let ends = fs::read(index).map_err(at(index))?;
    let (mut kept, mut kept_ends) = (Vec::new(), csv::Writer::from_writer(Vec::new()));
    let mut start = 0;
    let rows = csv::ReaderBuilder::new().has_headers(false).from_reader(whole_rows(&ends)).into_records();
    for row in rows.map_while(Result::ok) {
        let Some(end) = row.get(2).and_then(|end| end.parse::<usize>().ok()) else { break };
        let Some(lines) = bytes.get(start..end) else { break };
        if done.contains(&(row[0].to_owned(), row[1].to_owned())) {
            kept.extend_from_slice(lines);
            let end = kept.len().to_string();
            kept_ends.write_record([&row[0], &row[1], &end]).expect("memory does not fail");
        }
        start = end;
    }
    // The index goes last: until then its ends lie beyond the file or at the ends of what they stood for.
    replace(file, &kept)?;
    replace(index, &kept_ends.into_inner().expect("memory does not fail"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_row_is_left_out() {
        for (torn, whole) in [
            ("a,b\n1,2\n", "a,b\n1,2\n"),
            ("a,b\n1,2\n3,", "a,b\n1,2\n"),
            ("a,b\n1,2\n3,4", "a,b\n1,2\n"),
            ("a,b\n1,2\n3\n", "a,b\n1,2\n"),
            ("a,b\n1,\"x\ny\"\n3,\"z\nw\n", "a,b\n1,\"x\ny\"\n"),
            ("a,b", ""),
            ("", ""),
        ] {
            assert_eq!(whole_rows(torn.as_bytes()), whole.as_bytes(), "{torn:?}");
        }
    }
}
