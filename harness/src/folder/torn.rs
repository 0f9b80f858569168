//! Tables that may end with half a row after a cut. Any other error is damage.

use csv::ByteRecord;

/// The number of cells of the first row, and the end of the last complete row.
fn whole_rows(bytes: &[u8]) -> (usize, usize) {
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(bytes);
    let (mut row, mut first, mut end) = (ByteRecord::new(), None, 0);
    while let Ok(true) = reader.read_byte_record(&mut row) {
        let next = row_end(bytes, reader.position());
        let text = &bytes[end..next];
        // At the end of the file, a row with an open quote ends too.
        let is_closed = text.iter().filter(|&&byte| byte == b'"').count() % 2 == 0;
        if row.len() != *first.get_or_insert(row.len()) || !is_closed || !text.ends_with(b"\n") {
            break;
        }
        end = next;
    }
    (first.unwrap_or(0), end)
}

/// All complete rows, and the rest: empty, or an incomplete row.
pub fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(whole_rows(bytes).1)
}

/// The end of the row that a reader of `bytes` has just read. Some editors end lines as in DOS, and then the
/// reader has taken only the first half of the line end.
pub fn row_end(bytes: &[u8], position: &csv::Position) -> usize {
    let end = position.byte() as usize;
    let is_half = bytes[..end].ends_with(b"\r") && bytes.get(end) == Some(&b'\n');
    end + usize::from(is_half)
}

/// All complete rows of a table; nothing may follow an incomplete row.
///
/// # Errors
/// The line, from 1, and the error.
pub fn undamaged(bytes: &[u8]) -> Result<&[u8], String> {
    let (cells, end) = whole_rows(bytes);
    let (whole, rest) = bytes.split_at(end);
    let line = whole.iter().filter(|&&byte| byte == b'\n').count() + 1;
    // An incomplete row is the last one. It has no line ends except within quotes.
    let ends = whole_rows(rest).1 > 0;
    let mut later = rest.split_inclusive(|&byte| byte == b'\n').skip(1);
    let follows = later.any(|row| {
        let (its_cells, end) = whole_rows(row);
        end > 0 && its_cells == cells
    });
    // A header is one line. After an incomplete header, nothing can be parsed.
    let lacks_header = whole.is_empty() && rest.contains(&b'\n');
    if ends || follows || lacks_header {
        return Err(format!("line {line} is damaged; repair or remove it in a copy of the folder"));
    }
    Ok(whole)
}

/// Refuses a table in which something follows an incomplete row, or which has another header.
///
/// # Errors
/// The line, from 1, and the error.
pub fn check(bytes: &[u8], columns: &[String]) -> Result<(), String> {
    let whole = undamaged(bytes)?;
    let header = csv::Reader::from_reader(whole).headers().cloned().unwrap_or_default();
    if !whole.is_empty() && header.iter().ne(columns) {
        let unlike = columns.iter().zip(&header).find(|(ours, theirs)| ours != theirs);
        let what = match unlike {
            Some((ours, theirs)) => format!("column {theirs:?} is in the place of {ours:?}"),
            None => format!("it has {} columns, this version has {}", header.len(), columns.len()),
        };
        return Err(format!("line 1: {what}: rows of two kinds would be under one header; start a new run"));
    }
    Ok(())
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
            ("a,b\n1,\"x\ny\"\n3,\"z\nw\n", "a,b\n1,\"x\ny\"\n"),
            ("a,b\r\n1,2\r\n3,4\n5", "a,b\r\n1,2\r\n3,4\n"),
            ("a,b\r\n1,2\r", "a,b\r\n"),
            ("a,b", ""),
            ("", ""),
        ] {
            let (first, rest) = split(torn.as_bytes());
            assert_eq!((first, rest.len()), (whole.as_bytes(), torn.len() - whole.len()), "{torn:?}");
        }
    }

    #[test]
    fn damage_is_named_by_its_line_and_another_header_by_its_column() {
        let columns = ["a", "b"].map(str::to_owned);
        let check = |text: &str| check(text.as_bytes(), &columns);
        assert_eq!((check("a,b\n1,2\n3,"), check("")), (Ok(()), Ok(())));
        // Also with an open quote in a row, or in the header.
        for (text, line) in
            [("a,b\n1,2\n3\n4,5\n", 3), ("a,b\n1,2\n3,\"\n4,5\n", 3), ("\"a,b\n1,2\n3,4\n", 1)]
        {
            assert!(check(text).unwrap_err().contains(&format!("line {line} is damaged")), "{text}");
        }
        assert_eq!(check("a,b\r\n1,2\r\n"), Ok(()), "lines of DOS");
        assert_eq!(check("a,"), Ok(()), "cut in the header");
        assert_eq!(check("a,b\n1,2\n3,\"one\ntwo\n"), Ok(()), "a cut within quotes");
        assert!(check("a,c\n1,2\n").unwrap_err().contains("\"c\""));
        assert!(check("a\n1\n").unwrap_err().contains("1 columns, this version has 2"), "fewer");
    }
}
