//! Text in aligned columns and in lines of a given width.

use std::fmt::Write as _;

/// Where a column's text stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At its left end.
    Left,
    /// At its right end.
    Right,
}

/// A column of [`aligned`].
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name above it.
    pub name: &'static str,
    align: Align,
    /// Blanks before it, where it is not the first.
    gap: usize,
}

impl Column {
    /// A column called `name`, `gap` blanks after the one before it.
    pub const fn new(name: &'static str, align: Align, gap: usize) -> Self {
        Self { name, align, gap }
    }
}

/// The rows as lines with aligned columns, without blanks at the end.
pub fn aligned(columns: &[Column], rows: &[Vec<String>]) -> Vec<String> {
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (i, ((cell, column), &width)) in row.iter().zip(columns).zip(&widths).enumerate() {
            if i > 0 && width > 0 {
                line.push_str(&" ".repeat(column.gap));
            }
            let _ = match column.align {
                Align::Left => write!(line, "{cell:<width$}"),
                Align::Right => write!(line, "{cell:>width$}"),
            };
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

/// The rows as a table in Markdown, the first of them its header.
pub fn markdown(rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let row = |row: &Vec<String>| line(row.iter().map(|cell| cell.replace('|', "\\|")).collect());
    let mut lines: Vec<String> = rows.iter().map(row).collect();
    if let Some(header) = rows.first() {
        lines.insert(1, line(vec!["---".to_owned(); header.len()]));
    }
    lines.concat()
}

/// `start` and then the words of `text`, in lines of at most `width`; all but the first begin with `indent` blanks.
pub fn wrapped(start: &str, text: &str, width: usize, indent: usize) -> String {
    let mut lines = start.to_owned();
    let mut used = start.chars().count();
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && used + 1 + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent;
        } else if i > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines.push('\n');
    lines
}
