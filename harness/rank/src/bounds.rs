//! The bounds that this MPI gives the layouts of a case, so that all methods move the bytes that its datatypes describe.

use std::fmt::Display;

use apps::{Layouts, Values};
use datatypes::{Layout, Reported};

use crate::checked::{CallError, Comm, Recipe};

/// Gives layouts the bounds that this MPI reports.
pub struct AdoptedBounds<'a> {
    comm: &'a Comm,
    /// A note on each layout that MPIs read in several ways.
    pub notes: Vec<String>,
}

impl<'a> AdoptedBounds<'a> {
    /// The communicator proves that MPI is initialised.
    pub fn new(comm: &'a Comm) -> Self {
        Self { comm, notes: Vec::new() }
    }

    /// Values whose layouts have the bounds that this MPI reports.
    pub fn adopted(&mut self, values: &Values) -> Values {
        let mut values = values.clone();
        for counted in values.layouts_mut().flat_map(Layouts::iter_mut) {
            if counted.whole().is_ok_and(|whole| !whole.has_same_places_everywhere()) {
                self.note_readings(&counted.layout);
            }
            counted.layout = self.adopt(&counted.layout);
        }
        values
    }

    /// The layout with the bounds that this MPI reports, if they are allowed.
    fn adopt(&mut self, layout: &Layout) -> Layout {
        let adopted: Result<_, CallError> =
            layout.with_bounds_by(&mut |original, node| Ok(Some(self.bounds(original, node)?)));
        // The methods that create the type report the error.
        adopted.unwrap_or(None).unwrap_or_else(|| layout.clone())
    }

    fn note_readings(&mut self, layout: &Layout) {
        for (part, readings) in layout.read_in_several_ways() {
            let adopted = self.adopt(part);
            let others = readings.into_iter().filter(|(_, other)| !adopted.is_same_type(other));
            let others: Vec<String> =
                others.map(|(names, other)| format!("{} ({names})", other.bounds_text())).collect();
            let (name, here, others) = (part.to_short_text(), adopted.bounds_text(), others.join(" or "));
            self.add(format!("{name} has {here}, which all methods follow; other MPIs give it {others}"));
        }
    }

    fn bounds(&mut self, original: &Layout, node: &Layout) -> Result<(i64, i64), CallError> {
        let own = Reported::from_layout(node).bounds();
        if node.allowed_bounds() == [own] {
            return Ok(own);
        }
        let reported = Recipe::new(original, self.comm)?.create()?.reported()?;
        if reported.has_allowed_bounds(node) {
            return Ok(reported.bounds());
        }
        let (name, (lower, extent)) = (original.to_short_text(), reported.bounds());
        self.add(format!(
            "{name}: lower bound {lower}, extent {extent} are reported, which the standard does not allow"
        ));
        Ok(own)
    }

    fn add(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds the notes to a refusal of such values.
    pub fn explain<T>(&self, result: Result<T, impl Display>) -> anyhow::Result<T> {
        result.map_err(|reason| anyhow::anyhow!([&[reason.to_string()], &self.notes[..]].concat().join("; ")))
    }
}
