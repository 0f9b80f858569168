//! Text in aligned columns and in lines of a given width, and tables in Markdown.

use anstream::adapter::strip_str;
use serde::Serialize;

use super::markdown::escaped;

/// Width of text, if none is given.
const DEFAULT_WIDTH: usize = 120;

/// Minimum width of text.
const LEAST_WIDTH: usize = 60;

/// Width of headings and notes on a terminal of `width`.
pub fn text_width(width: Option<u16>) -> usize {
    width.map_or(DEFAULT_WIDTH, |width| usize::from(width).max(LEAST_WIDTH))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At its left end.
    Left,
    /// At its right end.
    Right,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Column<'a> {
    /// The name above it.
    pub name: &'a str,
    #[serde(skip)]
    align: Align,
    /// Blanks before it, except for the first column.
    #[serde(skip)]
    gap: usize,
    /// If columns do not fit, those of the highest rank are left out first. Rank 0 is always shown.
    #[serde(skip)]
    rank: u8,
}

impl<'a> Column<'a> {
    /// A column with `gap` blanks before it.
    pub const fn new(name: &'a str, align: Align, gap: usize) -> Self {
        Self { name, align, gap, rank: 0 }
    }

    /// Sets the rank: columns of high rank are left out first if there is no room.
    pub const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Whether pages leave it out, because a case's own section has it: those that are the first to be left out in front of a verdict.
    pub fn is_hidden_on_pages(&self) -> bool {
        (5..8).contains(&self.rank)
    }

    /// Whether it belongs to the column before it, such as an interval.
    fn is_attached(&self) -> bool {
        ["±", "[95%]"].contains(&self.name)
    }
}

/// A table: its columns, and the cells of its rows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table<'a> {
    /// Its columns, whose names are its header.
    pub columns: Vec<Column<'a>>,
    pub rows: Vec<Vec<String>>,
}

impl Table<'_> {
    /// For a table whose first columns are test and set: the set column shows only values in which rows of a
    /// test differ, and is always shown if there are any.
    pub fn with_distinct_sets(mut self) -> Self {
        let of = |row: &Vec<String>| (row[0].clone(), row[1].clone());
        let (sets, differ) = distinct_sets(&self.rows.iter().map(of).collect::<Vec<_>>());
        self.rows.iter_mut().zip(sets).for_each(|(row, set)| row[1] = set);
        if differ {
            self.columns[1].rank = 0;
        }
        self
    }

    /// The table without these columns, and without columns in which no row has a text.
    pub fn without(mut self, names: &[&str]) -> Self {
        let has_text = |at: usize| self.rows.iter().any(|row| !row[at].is_empty());
        let columns = self.columns.iter().enumerate();
        let kept: Vec<bool> =
            columns.map(|(at, column)| !names.contains(&column.name) && has_text(at)).collect();
        for row in &mut self.rows {
            let mut kept = kept.iter();
            row.retain(|_| kept.next() == Some(&true));
        }
        let mut kept = kept.iter();
        self.columns.retain(|_| kept.next() == Some(&true));
        self
    }

    fn with_header(&self) -> Vec<Vec<String>> {
        let header = self.columns.iter().map(|column| column.name.to_owned()).collect();
        std::iter::once(header).chain(self.rows.iter().cloned()).collect()
    }

    /// Text within the width of a terminal, with the names of hidden columns.
    pub fn text(&self, width: Option<u16>) -> String {
        let fitted = fitted(&self.columns, &self.with_header(), width.map(usize::from), 0);
        let lines: String = fitted.rows.iter().map(|row| format!("{row}\n")).collect();
        lines + &fitted.left_out_text(text_width(width))
    }

    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let row = |row: &Vec<String>| line(row.iter().map(|cell| escaped(cell)).collect());
        let mut lines: Vec<String> = self.with_header().iter().map(row).collect();
        lines.insert(1, line(vec!["---".to_owned(); self.columns.len()]));
        lines.concat()
    }
}

/// The values in which rows of a test differ, for rows with test and set; and whether there are any.
pub fn distinct_sets(rows: &[(String, String)]) -> (Vec<String>, bool) {
    let all_of =
        |test: &str, is: &dyn Fn(&str) -> bool| rows.iter().filter(|row| row.0 == test).all(|row| is(&row.1));
    let own = |(test, set): &(String, String)| {
        let is_shared = |word: &&str| {
            word.contains('=') && all_of(test, &|other| other.split(' ').any(|known| known == *word))
        };
        set.split(' ').filter(|word| !is_shared(word)).collect::<Vec<_>>().join(" ")
    };
    let differ = rows.iter().any(|(test, set)| !all_of(test, &|other| other == set));
    (rows.iter().map(own).collect(), differ)
}

/// Rows as lines, with the columns that did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitted<'a> {
    /// The lines of each row: one, or more if its last cell is wrapped.
    pub rows: Vec<String>,
    /// The names of the columns that are there.
    pub names: Vec<&'a str>,
    /// The names of the hidden columns.
    pub left_out: Vec<&'a str>,
}

impl Fitted<'_> {
    /// The names of the hidden columns, in lines of at most `width`; empty if all columns are shown.
    pub fn left_out_text(&self, width: usize) -> String {
        match &self.left_out[..] {
            [] => String::new(),
            names => {
                wrapped("", &format!("Hidden columns (terminal too narrow): {}.", names.join(", ")), width, 0)
            }
        }
    }
}

/// Minimum widths for wrapping a cell: most words fit into the first, and all numbers into the second.
const LEAST_CELLS: [usize; 2] = [16, 9];

/// Rows as lines of at most `width`, with `indent` blanks before each. Columns of the highest rank are left
/// out first; then the last column is wrapped, then the widest columns of text.
pub fn fitted<'a>(
    columns: &[Column<'a>],
    rows: &[Vec<String>],
    width: Option<usize>,
    indent: usize,
) -> Fitted<'a> {
    let widths = widths(columns.len(), rows);
    let width_of = |shown: &[usize]| {
        let with_gap = |(i, &at): (usize, &usize)| match widths[at] {
            0 => 0,
            width => width + if i > 0 { columns[at].gap } else { 0 },
        };
        indent + shown.iter().enumerate().map(with_gap).sum::<usize>()
    };
    // An empty column shows nothing.
    let is_empty = |at: usize| rows.iter().all(|row| row[at].is_empty() || row[at] == columns[at].name);
    let mut shown: Vec<usize> = Vec::new();
    for at in 0..columns.len() {
        let lead = (0..=at).rev().find(|&lead| !columns[lead].is_attached()).unwrap_or(at);
        if columns[lead].rank == 0 || !is_empty(lead) {
            shown.push(at);
        }
    }
    let mut left_out = Vec::new();
    while width.is_some_and(|width| width_of(&shown) > width) {
        // The heading of an empty last column takes no room.
        if shown.last().is_some_and(|&last| is_empty(last)) {
            shown.pop();
            continue;
        }
        let ranked = shown.iter().copied().filter(|&at| columns[at].rank > 0);
        let Some(least) = ranked.max_by_key(|&at| columns[at].rank) else { break };
        let attached = (least + 1..columns.len()).take_while(|&at| columns[at].is_attached()).last();
        let out = least..=attached.unwrap_or(least);
        if out
            .clone()
            .any(|at| widths[at] > columns[at].name.chars().count() || rows.len() > 1 && widths[at] > 0)
            && !columns[least].is_attached()
            && !left_out.contains(&columns[least].name)
        {
            left_out.push(columns[least].name);
        }
        shown.retain(|at| !out.contains(at));
    }
    left_out.reverse();
    let kept: Vec<Column> = shown.iter().map(|&at| columns[at]).collect();
    let mut rows: Vec<Vec<String>> =
        rows.iter().map(|row| shown.iter().map(|&at| row[at].clone()).collect()).collect();
    let names = kept.iter().map(|column| column.name).collect();
    let room = width
        .unwrap_or(usize::MAX)
        .saturating_sub(width_of(&shown) - shown.iter().map(|&at| widths[at]).sum::<usize>());
    for (at, &room) in narrowed(&kept, &rows, room).iter().enumerate() {
        rows.iter_mut().map(|row| &mut row[at]).filter(|cell| columns_of(cell) > room).for_each(|cell| {
            *cell = in_lines(cell, room);
        });
    }
    Fitted { rows: lines(&kept, &rows, indent), names, left_out }
}

/// The widths of columns that together are at most `room` wide, if columns of text can be narrowed so far.
fn narrowed(columns: &[Column], rows: &[Vec<String>], room: usize) -> Vec<usize> {
    let mut widths = widths(columns.len(), rows);
    let mut can_be_broken = vec![true; columns.len()];
    let (all, last) = (0..columns.len(), columns.len().saturating_sub(1)..columns.len());
    let [words, numbers] = LEAST_CELLS;
    // Numbers have no blanks; a number with its interval does.
    for (among, least, of_text) in
        [(last, words, true), (all.clone(), words, true), (all.clone(), numbers, true), (all, numbers, false)]
    {
        while widths.iter().sum::<usize>() > room {
            let is_wide = |&at: &usize| {
                let is_text = columns[at].align == Align::Left;
                (is_text || !of_text) && can_be_broken[at] && widths[at] > least
            };
            let Some(widest) = among.clone().filter(is_wide).max_by_key(|&at| widths[at]) else { break };
            let narrower =
                rows.iter().map(|row| columns_of(&in_lines(&row[widest], widths[widest] - 1))).max();
            can_be_broken[widest] = narrower.is_some_and(|narrower| narrower < widths[widest]);
            if can_be_broken[widest] {
                widths[widest] = narrower.unwrap_or_default();
            }
        }
    }
    widths
}

/// A cell in lines of at most `room`, each in the colour of the cell.
fn in_lines(cell: &str, room: usize) -> String {
    let plain = strip_str(cell).to_string();
    let (start, end) = cell.split_once(&plain).unwrap_or_default();
    let lines = wrapped("", &breakable(&plain, room), room, 0);
    lines.trim_end().split('\n').map(|line| format!("{start}{line}{end}")).collect::<Vec<_>>().join("\n")
}

/// The width of a cell, which is that of its longest line, without the codes of its colours.
fn columns_of(cell: &str) -> usize {
    let width = |line| strip_str(line).map(|text| text.chars().count()).sum();
    cell.split('\n').map(width).max().unwrap_or(0)
}

fn widths(columns: usize, rows: &[Vec<String>]) -> Vec<usize> {
    (0..columns).map(|i| rows.iter().map(|row| columns_of(&row[i])).max().unwrap_or(0)).collect()
}

/// Rows as lines with aligned columns, without trailing blanks.
fn lines(columns: &[Column], rows: &[Vec<String>], indent: usize) -> Vec<String> {
    let widths = widths(columns.len(), rows);
    let line = |row: &Vec<String>, number: usize| {
        let mut line = " ".repeat(indent);
        for (i, ((cell, column), &width)) in row.iter().zip(columns).zip(&widths).enumerate() {
            let cell = cell.split('\n').nth(number).unwrap_or_default();
            if i > 0 && width > 0 {
                line.push_str(&" ".repeat(column.gap));
            }
            let blanks = " ".repeat(width.saturating_sub(columns_of(cell)));
            match column.align {
                Align::Left => line.extend([cell, &blanks]),
                Align::Right => line.extend([&blanks, cell]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    };
    let of_row = |row: &Vec<String>| {
        let count = row.iter().map(|cell| cell.split('\n').count()).max().unwrap_or(1);
        (0..count).map(|number| line(row, number)).collect::<Vec<_>>().join("\n")
    };
    rows.iter().map(of_row).collect()
}

/// The text with blanks in words that are longer than `room`, after separators, as in `shape=8x8,16x16` or a path.
pub fn breakable(text: &str, room: usize) -> String {
    let is_end = |c: char| "/,;:=+-_".contains(c);
    let in_parts = |word: &str| {
        let (mut lines, mut used) = (String::new(), 0);
        for part in word.split_inclusive(is_end) {
            let length = part.chars().count();
            if used > 0 && used + length > room {
                lines.push(' ');
                used = 0;
            }
            lines.push_str(part);
            used += length;
        }
        lines
    };
    let words = text.split(' ');
    let words = words.map(|word| if columns_of(word) > room { in_parts(word) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

/// Wraps each line of `text` at `width`. Continuation lines are indented by two more blanks.
pub fn wrapped_lines(text: &str, width: usize) -> String {
    let line = |line: &str| {
        let rest = line.trim_start();
        let start = &line[..line.len() - rest.len()];
        wrapped(start, rest, width, start.len() + 2).trim_end().to_owned()
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// `start` and the words of `text`, in lines of at most `width`. All lines but the first begin with `indent`
/// blanks. Several blanks between words are kept within a line.
pub fn wrapped(start: &str, text: &str, width: usize, indent: usize) -> String {
    let (mut lines, mut used) = (start.to_owned(), columns_of(start));
    let (mut gap, mut is_first) = (0, true);
    for word in text.trim().split(char::is_whitespace) {
        gap += 1;
        if word.is_empty() {
            continue;
        }
        let length = columns_of(word);
        if !is_first && used + gap + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent;
        } else if !is_first {
            lines.push_str(&" ".repeat(gap));
            used += gap;
        }
        lines.push_str(word);
        used += length;
        (gap, is_first) = (0, false);
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made::expect_texts;

    const COLUMNS: [Column; 5] = [
        Column::new("test", Align::Left, 0),
        Column::new("bytes", Align::Right, 2).rank(2),
        Column::new("ovh", Align::Right, 2).rank(1),
        Column::new("[95%]", Align::Left, 1),
        Column::new("verdict", Align::Left, 2),
    ];

    fn table(columns: &[Column<'static>], rows: &[&[&str]]) -> Table<'static> {
        let row = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        Table { columns: columns.to_vec(), rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn tables_fit_a_width() {
        let ranked = table(&COLUMNS, &[&["a", "8", "5%", "[4, 6]", "one is as fast as the other"]]);
        let red = "\u{1b}[31mengine or 3 more\u{1b}[0m";
        let coloured = table(&[Column::new("", Align::Left, 1); 3], &[&["shape=1026x1026", red, "slower"]]);
        let columns = [Column::new("", Align::Left, 0), Column::new("", Align::Left, 2)];
        let path = table(&columns, &[&["mpich", "the/home/of/a/suite/.ddtbench/mpi/mpich/bin/mpicc"]]);
        let columns = ["test", "set", "time"]
            .map(|name| Column::new(name, Align::Left, 2).rank(u8::from(name == "set")));
        let sets = |sets: [&str; 2]| {
            let rows = sets.map(|set| ["subarray", set, "a time that is long"]);
            table(&columns, &[&rows[0], &rows[1]]).with_distinct_sets()
        };
        let texts = [
            ("all columns", ranked.text(None)),
            ("exactly all columns", ranked.text(Some(52))),
            ("columns of a high rank go first", ranked.text(Some(51))),
            ("intervals go with their column", ranked.text(Some(36))),
            ("the widest columns are broken last", ranked.text(Some(30))),
            (
                "codes of colours take no room, and begin again",
                coloured.text(Some(30)).replace('\u{1b}', "ESC"),
            ),
            ("a long word is broken between its parts", path.text(Some(35))),
            (
                "rows of a test differ at every width",
                sets(["shape=66x66 halo=1", "shape=258x258 halo=1"]).text(Some(30)),
            ),
            ("a column of equal sets goes", sets(["66x66", "66x66"]).text(Some(30))),
        ];
        expect_texts("report/columns.txt", texts);
    }

    #[test]
    fn lines_keep_where_they_begin_and_codes_of_colours_take_no_room() {
        assert_eq!(wrapped_lines("one\n  two three\n", 8), "one\n  two\n    three\n");
        assert_eq!(wrapped_lines("\u{1b}[1mone\u{1b}[0m two", 7), "\u{1b}[1mone\u{1b}[0m two");
    }
}
