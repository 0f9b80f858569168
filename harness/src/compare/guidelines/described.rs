//! The fastest description of the same bytes, as code.

use datatypes::{Language, Layout};
use serde::Serialize;

use super::{Findings, GuidelineRow, Standing};
use crate::compare::Subject;
use crate::compare::same_bytes::name;
use crate::experiments::pingpong::descriptions::Description;
use crate::experiments::pingpong::methods::description;
use crate::report::columns::{text_width, wrapped};
use crate::report::markdown::escaped;
use crate::report::units;

/// Another description of a message, and its code.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FasterDescription {
    /// The send side as a layout.
    pub send: String,
    /// The receive side, if it is described in another way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<String>,
    /// The send side in C.
    pub c: String,
    /// The same in Fortran.
    pub fortran: String,
}

/// Maximum lines of a language: longer code is mostly lists, which are hard to read in a terminal.
const MOST_LINES: usize = 24;

impl FasterDescription {
    fn from_description(described: &Description) -> Self {
        let [c, fortran] = [Language::C, Language::Fortran].map(|language| described.send.code(language));
        let receive = Some(&described.receive).filter(|receive| **receive != described.send);
        Self { send: described.send.to_text(), receive: receive.map(Layout::to_text), c, fortran }
    }
}

impl Findings {
    /// Adds the faster descriptions; `of` has those of a case.
    pub fn describe(&mut self, of: &dyn Fn(&Subject) -> Vec<Description>) {
        for row in self.rows.iter_mut().filter(|row| row.standing == Standing::Violated) {
            let Some(way) = description(&row.than) else { continue };
            // Code for the bounds of one MPI would describe other bytes on another.
            let is_clear = |layout: &Layout| layout.has_same_places_everywhere();
            let is_it =
                |known: &Description| known.way == way && is_clear(&known.send) && is_clear(&known.receive);
            let described = of(&row.subject).into_iter().find(is_it);
            row.description = described.as_ref().map(FasterDescription::from_description);
        }
    }
}

/// The description that gains most on each MPI, as code, for a terminal of `width`; with `fence` in Markdown. Empty without one.
pub fn code(all: &[Findings], fence: bool, width: Option<u16>) -> String {
    let mut text = String::new();
    let width = if fence { usize::MAX } else { text_width(width) };
    for findings in all {
        // Rows are sorted by size.
        let best = findings.rows.iter().find_map(|row| Some((row, row.description.as_ref()?)));
        let Some((row, found)) = best else { continue };
        let at =
            if findings.states.len() > 1 { format!(" at {}", findings.at(row.state)) } else { String::new() };
        let best = format!(
            "{}: {} is fastest described as {}: {} ({} instead of {}{at}).",
            findings.mpi,
            name(&row.subject),
            row.than.trim_start_matches("ddt:"),
            gain(row),
            units::seconds(row.than_s),
            units::seconds(row.time_s),
        );
        let shown = |text: &str| if fence { escaped(text) } else { text.to_owned() };
        text += &format!("\n{}", wrapped("", &shown(&best), width, 2));
        if let Some(receive) = &found.receive {
            let short: String = receive.chars().take(200).collect();
            let side = format!("The code is that of the send side; the receive side is {short}.");
            text += &wrapped("", &shown(&side), width, 2);
        }
        for (language, code) in [(Language::C, &found.c), (Language::Fortran, &found.fortran)] {
            text += &block(language, code, fence);
        }
    }
    text
}

/// The speed-up by the other description.
fn gain(row: &GuidelineRow) -> String {
    let text = row.answer.text();
    text.replacen("x ", " ", 1) + " times as fast as its own description"
}

fn block(language: Language, code: &str, fence: bool) -> String {
    let lines = code.lines().count();
    let mut shown: Vec<&str> = code.lines().take(MOST_LINES).collect();
    let more = format!("... {} more lines: --format json has all", lines.saturating_sub(MOST_LINES));
    if lines > MOST_LINES {
        shown.push(&more);
    }
    let name = language.name();
    match fence {
        true => format!("\n```{}\n{}\n```\n", name.to_lowercase(), shown.join("\n")),
        false => format!("\n  {name}:\n    {}\n", shown.join("\n    ")),
    }
}
