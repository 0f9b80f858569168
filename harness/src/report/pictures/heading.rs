//! The heading within a picture: title, date, place and MPIs; for a paper's figure, also the differences from
//! the paper's setting.

use super::canvas::{BOLD, Canvas, LEFT, TEXT, TOP, WIDTH, bold, font, width};
use super::{Picture, Results};
use crate::model::{Case, Record};
use crate::report::columns::wrapped;
use crate::report::names::distinct;
use crate::report::state;

const TITLE: f64 = TEXT + 1.0;
/// Size of the lines below it.
const SMALL: f64 = TEXT - 2.0;
/// Height of the title, and of a line below it.
const HEIGHTS: [f64; 2] = [18.0, 13.0];
/// Empty space next to the text, and below all of it.
const BLANK: f64 = 4.0;

pub struct Heading {
    title: Vec<String>,
    lines: Vec<String>,
    /// All of it, without line breaks.
    text: String,
    /// Whether it is drawn. If not, a text around the picture contains it.
    is_drawn: bool,
}

impl Heading {
    /// The heading of a run's picture, with more lines below it.
    pub fn of_picture(results: &Results<'_>, picture: &Picture, more: &[String]) -> Self {
        let runs = results.accounts.iter().map(|account| format!("{}, {}", account.date, account.host));
        let parts = [distinct(runs).join("; "), setting(results.records(picture.marks))]
            .into_iter()
            .chain(more.iter().cloned());
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        let text = [std::slice::from_ref(&picture.title), &parts].concat().join(". ").replace("?. ", "? ");
        let parts: String = parts.iter().map(|text| fitting(text, SMALL)).collect();
        let lines = parts.lines().map(str::to_owned).collect();
        let title = fitting(&picture.title, BOLD * TITLE).lines().map(str::to_owned).collect();
        Self { title, lines, text, is_drawn: results.has_titles }
    }

    /// Only a title.
    #[cfg(test)]
    pub fn plain(title: &str) -> Self {
        Self { title: vec![title.to_owned()], lines: Vec::new(), text: title.to_owned(), is_drawn: true }
    }

    pub fn height(&self) -> f64 {
        if !self.is_drawn {
            return BLANK;
        }
        HEIGHTS[0] * self.title.len() as f64 + HEIGHTS[1] * self.lines.len() as f64 + 2.0 * BLANK
    }

    /// The heading as one text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Draws it at the top of a picture.
    pub fn draw(&self, canvas: &mut Canvas) {
        if !self.is_drawn {
            return;
        }
        for (i, line) in self.title.iter().enumerate() {
            let y = 2.0 + HEIGHTS[0] * i as f64;
            canvas.write(line, bold(TITLE, LEFT, TOP), (BLANK, y));
        }
        for (i, line) in self.lines.iter().enumerate() {
            let y = HEIGHTS[0] * self.title.len() as f64 + HEIGHTS[1] * i as f64;
            canvas.write(line, font(SMALL, LEFT, TOP), (BLANK, y));
        }
    }
}

/// Breaks a text into lines that fit the picture.
fn fitting(text: &str, size: f64) -> String {
    wrapped("", text, ((WIDTH - 2.0 * BLANK) / width("x", size)) as usize, 0)
}

/// The MPIs with their versions, ranks, hosts, threads, transport, caches, and memory if it is not the host's.
pub fn setting(records: &[Record]) -> String {
    let all = |of: fn(&Case) -> String| {
        let texts = distinct(Record::cases(records).map(|case| of(case)));
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
    };
    let threads = |case: &Case| {
        let found = crate::report::names::params(case).into_iter().find(|(name, _)| *name == "threads");
        found.map(|(_, threads)| threads.to_owned()).unwrap_or_default()
    };
    let counted = |number: String, unit: &str| match number.as_str() {
        "" => String::new(),
        "1" => format!("1 {unit}"),
        _ => format!("{number} {unit}s"),
    };
    let shared = records.iter().any(|record| record.oversubscribed().is_some());
    let memory = match records.iter().all(|record| record.case.memory.is_host()) {
        true => String::new(),
        false => format!("{} memory", all(|case| case.memory.name().to_owned())),
    };
    let parts = [
        all(|case| format!("{} {}", case.mpi_label(), case.mpi_version)),
        counted(all(|case| case.ranks.to_string()), "rank"),
        counted(all(|case| case.hosts.to_string()), "host"),
        counted(all(threads), "thread"),
        all(|case| case.transport.clone()),
        state::text(records),
        format!("{} caches", all(|case| case.cache.name().to_owned())),
        memory,
        if shared { "more threads than cores".to_owned() } else { String::new() },
    ];
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made::case;
    use crate::report::pictures::tests::results;

    #[test]
    fn a_long_title_has_several_lines_and_none_if_it_is_left_out() {
        let picture = Picture::find("overhead").unwrap();
        let picture =
            Picture { title: "blocking, persistent, partitioned, and more ".repeat(3), ..picture.clone() };
        let results = |has_titles| Results { has_titles, ..results(&[], &[]) };
        let drawn = Heading::of_picture(&results(true), &picture, &[]);
        assert_eq!(
            (drawn.title.len(), drawn.text().contains("more blocking")),
            (3, true),
            "{:?}",
            drawn.title
        );
        let left_out = Heading::of_picture(&results(false), &picture, &[]);
        assert!(left_out.height() < HEIGHTS[0] && left_out.text() == drawn.text());
    }

    #[test]
    fn a_setting_names_each_thing_once_and_leaves_out_what_is_unknown() {
        let case = |mpi: &str, threads: u32| {
            let case = case("t", mpi, &format!("bytes=8 threads={threads}"));
            Case { mpi_version: "5".into(), hosts: 1, ..case }
        };
        let over = [case("mpich", 1), case("mpich", 4), case("openmpi", 1)]
            .map(|case| Record { case: case.into(), ..Record::default() });
        assert_eq!(setting(&over), "mpich 5, openmpi 5; 2 ranks; 1 host; 1, 4 threads; warm caches");
        let over = over.map(|record| Record { runnable_threads: Some(8), cores: Some(2), ..record });
        assert!(setting(&over).ends_with("more threads than cores"));
    }
}
