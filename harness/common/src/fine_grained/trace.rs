//! Measured times of threads: files, and recorded traces that are part of the program.
//!
//! A trace is CSV: a line per iteration with a column per thread, in whole nanoseconds from the common start
//! of the iteration to the end of the thread's work. Lines that begin with `#` are comments. A header,
//! `thread_0_ns,thread_1_ns,...`, may come before the first iteration; without it, the file has CMB's format.

use std::fs;

/// Each is named after its computation.
const RECORDED: [(&str, &str); 3] = [
    ("sparse", include_str!("../../fixtures/arrivals/sparse.csv")),
    ("molecular", include_str!("../../fixtures/arrivals/molecular.csv")),
    ("matrix", include_str!("../../fixtures/arrivals/matrix.csv")),
];

/// Times of threads, iteration by iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// For each iteration the time of each thread, in nanoseconds. There is at least one iteration, and all
    /// have the same number of threads.
    pub times_ns: Vec<Vec<u64>>,
}

impl Trace {
    /// The recorded trace called `source`; if there is none, the file at that path.
    pub fn load(source: &str) -> Result<Self, String> {
        if let Some((_, text)) = RECORDED.iter().find(|(name, _)| *name == source) {
            return Self::parse(source, text);
        }
        let unreadable = |reason: String| {
            let names = RECORDED.map(|(name, _)| name).join(", ");
            format!("{source}: {reason}; it is a file, or one of the recorded {names}")
        };
        // Reading a device or a pipe may never end.
        if fs::metadata(source).is_ok_and(|facts| !facts.is_file()) {
            return Err(unreadable("not a plain file".to_owned()));
        }
        let text = fs::read_to_string(source).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(source, &text)
    }

    /// Reads a trace, which errors call `source`.
    pub fn parse(source: &str, text: &str) -> Result<Self, String> {
        let place = |line: usize, column: usize, reason: String| {
            format!("{source}, line {line}, column {column}: {reason}")
        };
        let mut trace = Self::default();
        let mut columns = None;
        for (line, text) in (1..).zip(text.lines()) {
            let fields: Vec<&str> = text.split(',').map(str::trim).collect();
            if text.starts_with('#') || fields == [""] {
                continue;
            }
            let expected = *columns.get_or_insert(fields.len());
            if fields.len() != expected {
                let reason = format!("the line ends after {} numbers, others have {expected}", fields.len());
                return Err(place(line, fields.len().min(expected + 1), reason));
            }
            let is_head = |(thread, field): (usize, &&str)| *field == format!("thread_{thread}_ns");
            if trace.times_ns.is_empty() && fields.iter().enumerate().all(is_head) {
                continue;
            }
            let time = |(column, field): (usize, &&str)| {
                let is_number = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
                field.parse().ok().filter(|_| is_number).ok_or_else(|| {
                    let reason = format!("{field:?} must be a whole number of nanoseconds");
                    place(line, column + 1, reason)
                })
            };
            trace.times_ns.push(fields.iter().enumerate().map(time).collect::<Result<_, _>>()?);
        }
        if trace.times_ns.is_empty() {
            return Err(format!(
                "{source}: it has no iteration, i.e. no line of nanoseconds with one number per thread"
            ));
        }
        Ok(trace)
    }

    /// The times of all threads in all iterations, in seconds.
    pub fn pooled_s(&self) -> Vec<f64> {
        self.times_ns.iter().flatten().map(|&time_ns| time_ns as f64 / 1e9).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_as_cmb_reads_them_are_traces_and_bad_ones_are_named_by_line_and_column() {
        let text = "# CMB\nthread_0_ns,thread_1_ns,thread_2_ns\n100,200,300\n110, 210, 310\r\n\n";
        let trace = Trace::parse("", text).unwrap();
        assert_eq!(trace.times_ns, [[100, 200, 300], [110, 210, 310]]);
        assert_eq!(trace.pooled_s()[1], 200e-9);
        let in_second = "1,-2 1,+2 1,2.5 1, 1,99999999999999999999 1,thread_1_ns";
        for (bad, named) in in_second.split(' ').map(|bad| (bad, "line 1, column 2: ")).chain([
            ("# a\n1,2\n3,x\n", "a.csv, line 3, column 2: \"x\" must be a whole number of nanoseconds"),
            ("thread_1_ns,thread_0_ns\n1,2", "line 1, column 1: "),
            ("1,2\n1\n", "line 2, column 1: the line ends after 1 "),
            ("1,2\n1,2,3\n", "line 2, column 3: the line ends after 3 "),
            ("# nothing\nthread_0_ns\n", "no iteration"),
        ]) {
            let error = Trace::parse("a.csv", bad).unwrap_err();
            assert!(error.starts_with("a.csv") && error.contains(named), "{bad}: {error}");
        }
    }

    #[test]
    fn recorded_traces_have_enough_iterations_and_name_their_origin() {
        for (name, text) in RECORDED {
            let trace = Trace::load(name).unwrap();
            assert!(trace.times_ns.len() >= 100 && trace.times_ns[0].len() == 2, "{name}");
            assert!(text.starts_with(&format!("# {name}: ")), "{name}");
            assert!(trace.pooled_s().iter().all(|&time| time > 0.0), "{name}");
        }
    }
}
