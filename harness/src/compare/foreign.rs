//! Tables of other programs as records of a run: the OSU micro-benchmarks, the Intel MPI Benchmarks, and CSV.
//!
//! If a table has a row of the same name and size several times, as in the output of several runs one after
//! the other, each one is a launch.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Case, CaseResult, Measured, Outcome, Phase, Record};

/// The only method of a program that does not name any.
const METHOD: &str = "time";

/// A row of a table.
struct ForeignRow {
    name: String,
    bytes: u64,
    /// 0 if the table does not have them.
    ranks: usize,
    time_s: f64,
    launch: Option<usize>,
}

/// The columns that a CSV can have.
const COLUMNS: [&str; 5] = ["name", "bytes", "time_us", "time_s", "launch"];

/// The records of a table.
///
/// # Errors
/// The line that is wrong, and the tables that can be read.
pub fn records(text: &str) -> Result<Vec<Record>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let first =
        text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap_or_default();
    let first_columns = first.to_lowercase();
    let has_name = first_columns.split(',').any(|column| column.trim() == "name");
    let (program, rows) = match text {
        _ if has_name && first_columns.contains("bytes") => ("CSV", of_csv(text)?),
        _ if text.contains("# Benchmarking ") => ("Intel MPI Benchmarks", of_imb(text)?),
        _ if text.contains("# OSU ") => ("OSU micro-benchmarks", of_osu(text)?),
        _ => {
            return Err(format!(
                "no table that can be read: its first line is `{}`; must be the output of an OSU benchmark of latencies, of the Intel \
                 MPI Benchmarks, or a CSV with the columns name,bytes,time_us,launch, separated by commas",
                first.chars().take(80).collect::<String>()
            ));
        }
    };
    if rows.is_empty() {
        return Err("the table has no times".to_owned());
    }
    let mut launches: HashMap<(String, u64, usize), usize> = HashMap::new();
    let record = |row: ForeignRow| {
        let next = launches.entry((row.name.clone(), row.bytes, row.ranks)).or_default();
        let launch = row.launch.unwrap_or(*next);
        *next += 1;
        let case = Case {
            run: launch.to_string(),
            test: row.name,
            set: row.bytes.to_string(),
            params: format!("bytes={}", row.bytes),
            mpi: program.to_owned(),
            ranks: row.ranks,
            ..Case::default()
        };
        let result = CaseResult { case: Arc::new(case), launch, ..CaseResult::default() };
        let measured =
            Measured { method: METHOD.to_owned(), outcome: Outcome::default(), blocks: Vec::new() };
        let record = Record::empty(&result, &measured, Phase::RoundTrip);
        Record { bytes: row.bytes, median_s: Some(row.time_s), ..record }
    };
    Ok(rows.into_iter().map(record).collect())
}

fn of_csv(text: &str) -> Result<Vec<ForeignRow>, String> {
    // Without comments, so that lines keep their numbers.
    let rows = text.lines().map(|line| if line.starts_with('#') { "" } else { line });
    let text = &rows.collect::<Vec<_>>().join("\n");
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?;
    let header: Vec<String> = header.iter().map(str::to_lowercase).collect();
    if let Some(other) = header.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
        return Err(format!("the column `{other}` is unknown: there are {}", COLUMNS.join(", ")));
    }
    let mut lines: HashMap<(String, u64, usize), usize> = HashMap::new();
    let row = |cells: Result<csv::StringRecord, csv::Error>| {
        let cells = cells.map_err(|error| error.to_string())?;
        // The position is before blank lines.
        let start = cells.position().map_or(0, |position| position.byte() as usize);
        let line = text.len() - text[start..].trim_start().len();
        let line = 1 + text[..line].matches('\n').count();
        if cells.len() != header.len() {
            let is_more = cells.len() > header.len();
            let advice = if is_more { "; decimal numbers need a point, such as 12.5" } else { "" };
            return Err(format!("line {line}: {} values for {} columns{advice}", cells.len(), header.len()));
        }
        let cell = |name| header.iter().position(|column| column == name).map_or("", |i| &cells[i]);
        let wrong = |name, right| format!("line {line}: {name} is `{}`: must be {right}", cell(name));
        let whole = |name| cell(name).parse::<u64>().map_err(|_| wrong(name, "a whole number, such as 4096"));
        let column = if cell("time_s").is_empty() { "time_us" } else { "time_s" };
        let time = cell(column).parse().ok().filter(|time: &f64| time.is_finite() && *time > 0.0);
        let time = time.ok_or_else(|| wrong(column, "a time above 0, such as 12.5"))?;
        let (name, bytes) = (cell("name").to_owned(), whole("bytes")?);
        let launch = if cell("launch").is_empty() { None } else { Some(whole("launch")? as usize) };
        if let Some(launch) = launch
            && let Some(earlier) = lines.insert((name.clone(), bytes, launch), line)
        {
            return Err(format!(
                "line {line}: {name}, {bytes} bytes, launch {launch} is already in line {earlier}"
            ));
        }
        let time_s = if column == "time_s" { time } else { time / 1e6 };
        Ok(ForeignRow { name, bytes, ranks: 0, time_s, launch })
    };
    reader.records().map(row).collect()
}

/// The size at the start of line `i` of a table, and the seconds in a column after it; `None` for a line without a size.
fn size_and_time(i: usize, line: &str, column: usize) -> Option<Result<(u64, f64), String>> {
    let mut words = line.split_whitespace();
    let bytes = words.next()?.parse().ok()?;
    let time_s = words.nth(column).and_then(|word| word.parse::<f64>().ok()).map(|time| time / 1e6);
    let time_s = time_s.filter(|time| time.is_finite() && *time >= 0.0);
    Some(
        time_s
            .map(|time| (bytes, time))
            .ok_or_else(|| format!("line {}: column {} must be a time in microseconds", i + 1, column + 2)),
    )
}

/// A table of OSU: `# OSU MPI Latency Test v7.4`, then `# Size  Latency (us)`, and a line for each size.
fn of_osu(text: &str) -> Result<Vec<ForeignRow>, String> {
    let (mut rows, mut name, mut column) = (Vec::new(), String::new(), None);
    for (i, line) in text.lines().enumerate() {
        if let Some(title) = line.trim().strip_prefix("# OSU ") {
            name = title.split(" Test").next().unwrap_or_default().to_owned();
        } else if let Some(header) = line.trim().strip_prefix("# Size") {
            let columns: Vec<&str> =
                header.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
            column = columns.iter().position(|column| column.contains("Latency"));
            if column.is_none() {
                return Err(format!(
                    "line {}: {} is not a time: must be a table with a column `Latency (us)`",
                    i + 1,
                    columns.join(", ")
                ));
            }
        } else if let Some(row) = column.and_then(|column| size_and_time(i, line, column)) {
            let (bytes, time_s) = row?;
            if time_s == 0.0 {
                return Err(format!("line {}: a time above 0 is expected", i + 1));
            }
            // The last column of `-c`.
            if line.trim_end().ends_with("Fail") {
                return Err(format!("line {}: the data was wrong (Fail)", i + 1));
            }
            rows.push(ForeignRow { name: name.clone(), bytes, ranks: 0, time_s, launch: None });
        }
    }
    Ok(rows)
}

/// Tables of IMB: `# Benchmarking PingPong`, `# #processes = 2`, then `#bytes #repetitions t[usec]`, and a line for each size. A sample that
/// was left out has the reason after its size: `out-of-mem.; needed X= ...`.
fn of_imb(text: &str) -> Result<Vec<ForeignRow>, String> {
    let (mut rows, mut name, mut ranks, mut column) = (Vec::new(), String::new(), 0, None);
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(title) = line.strip_prefix("# Benchmarking ") {
            (name, column) = (title.trim().to_owned(), None);
        } else if let Some(count) = line.strip_prefix("# #processes =") {
            ranks = count.trim().parse().unwrap_or(0);
        } else if let Some(header) = line.strip_prefix("#bytes") {
            let columns: Vec<&str> = header.split_whitespace().collect();
            let place = |wanted: &str| columns.iter().position(|column| *column == wanted);
            column = place("t[usec]").or_else(|| place("t_avg[usec]"));
        } else if !line.contains(".; ")
            && let Some(row) = column.and_then(|column| size_and_time(i, line, column))
        {
            let (bytes, time_s) = row?;
            // Operations without data have no time for 0 bytes.
            if time_s > 0.0 {
                rows.push(ForeignRow { name: name.clone(), bytes, ranks, time_s, launch: None });
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test, bytes, ranks, launch and microseconds of each record.
    fn read(text: &str) -> Vec<(String, u64, usize, usize, f64)> {
        let records = records(text).unwrap();
        let row = |record: &Record| {
            let time_us = (record.median_s.unwrap() * 1e9).round() / 1e3;
            (record.case.test.clone(), record.bytes, record.case.ranks, record.launch.unwrap(), time_us)
        };
        records.iter().map(row).collect()
    }

    const OSU: &str = "\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size          Latency (us)\n1                       0.22\n2                       0.23\n";

    #[test]
    fn tables_of_osu_are_read_and_further_ones_are_launches() {
        let of = |bytes, launch, time| ("MPI Latency".to_owned(), bytes, 0, launch, time);
        let expected = [of(1, 0, 0.22), of(2, 0, 0.23), of(1, 1, 0.22), of(2, 1, 0.23)];
        assert_eq!(read(&OSU.repeat(2)), expected);
        let full = "# OSU MPI Allreduce Latency Test v6.2\n# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n\
            100000               1181.07           1168.71           1188.92         100\n";
        assert_eq!(read(full), [("MPI Allreduce Latency".to_owned(), 100_000, 0, 0, 1181.07)]);
        // With -c there is a column of words.
        let validated = OSU
            .replace("(us)", "(us)    Validation")
            .replace("0.22", "0.22    Pass")
            .replace("0.23", "0.23    Pass");
        assert_eq!(read(&validated), expected[..2]);
    }

    #[test]
    fn tables_of_imb_are_read_as_intel_mpi_2021_18_prints_them() {
        let of = |name: &str, bytes, ranks, time| (name.to_owned(), bytes, ranks, 0, time);
        let expected =
            [of("PingPong", 0, 2, 2.07), of("PingPong", 256, 2, 3.66), of("Allreduce", 256, 4, 2.41)];
        assert_eq!(read(include_str!("tests/imb.txt")), expected);
    }

    #[test]
    fn a_csv_has_a_unit_of_time_and_perhaps_launches() {
        let text = "\u{feff}# of March\nName,bytes,time_us,launch\nhalo, 64, 1.5, 3\nhalo, 64, 1.6, 4\n";
        let of = |launch, time| ("halo".to_owned(), 64, 0, launch, time);
        assert_eq!(read(text), [of(3, 1.5), of(4, 1.6)]);
        assert_eq!(read("name,bytes,time_s\nhalo,64,0.0000015\n"), [of(0, 1.5)]);
    }

    #[test]
    fn other_texts_are_refused_with_their_place() {
        for row in include_str!("tests/foreign.txt").lines().filter(|row| !row.starts_with("# A text")) {
            let (text, start) = row.split_once(" => ").unwrap();
            let error = records(&text.replace("\\n", "\n")).err().unwrap_or_default();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }
}
