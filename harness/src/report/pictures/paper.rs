//! The figure of a plan, for example of a paper: a picture with its own title and notes.

use serde::{Deserialize, Serialize};

use super::axis::Scale;
use super::sweep::in_series;
use super::{Drawn, PICTURES, Picture, Results};
use crate::model::plain::plain;
use common::kinds::Kind;

/// The figure of a plan, as its file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperFigure {
    /// Its name, and that of its files.
    pub name: String,
    /// A short description.
    pub title: String,
    /// The names of its pictures; if there are several, their names get letters.
    pub pictures: Vec<String>,
    /// A parameter whose values have separate lines instead of panels.
    pub lines: Option<String>,
    /// The scale of the axis of values, if it is not the picture's.
    pub scale: Option<Scale>,
    /// How to read it, if the picture's text is not enough.
    pub about: Option<String>,
    /// The paper's setting.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paper: String,
    /// Other differences from the paper.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub differs: String,
}

impl PaperFigure {
    /// Refuses a name that is not valid for files, and pictures that do not exist for the kind.
    ///
    /// # Errors
    /// The error, and valid values.
    pub fn check(&self, kind: Kind) -> Result<(), String> {
        let is_sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || !self.name.chars().all(is_sane) || Picture::find(&self.name).is_some() {
            return Err(format!(
                "name = {:?}: must be letters, digits, `-`, `_` and `.`, and not the name of a picture",
                self.name
            ));
        }
        let can_be = || PICTURES.iter().filter(|base| base.kinds.contains(&kind));
        let is_known = |name: &String| can_be().any(|base| base.name == *name);
        match self.pictures.iter().find(|name| !is_known(name)) {
            None if self.pictures.is_empty() => Err("pictures = []: must have at least one".to_owned()),
            None => Ok(()),
            Some(unknown) => {
                let names: Vec<&str> = can_be().map(|base| &*base.name).collect();
                Err(format!(
                    "pictures: {unknown:?} is not a picture of {} experiments; there are {}",
                    kind.name(),
                    names.join(", ")
                ))
            }
        }
    }

    pub fn file_names(&self) -> Vec<String> {
        match self.pictures.len() {
            1 => vec![self.name.clone()],
            count => ('a'..).take(count).map(|letter| format!("{}{letter}", self.name)).collect(),
        }
    }

    /// Its pictures of a run, if the run has the data.
    pub(super) fn draw(&self, results: &Results<'_>) -> Vec<Drawn> {
        let named = self.pictures.iter().zip(self.file_names());
        let draw = |(base, name): (&String, String)| self.draw_one(results, base, &name);
        named.filter_map(draw).collect()
    }

    fn draw_one(&self, results: &Results<'_>, base: &str, name: &str) -> Option<Drawn> {
        let base = PICTURES.iter().find(|picture| picture.name == base)?;
        let title = match self.pictures.len() {
            1 => self.title.clone(),
            _ => format!("{}, {}", self.title, base.axis),
        };
        let picture = Picture {
            name: name.to_owned(),
            title: plain(&title).into_owned(),
            about: self.about.as_deref().map_or(base.about.clone(), |about| plain(about).into_owned()),
            scale: self.scale.unwrap_or(base.scale),
            ..base.clone()
        };
        let paper =
            if self.paper.is_empty() { String::new() } else { format!("In the paper: {}", self.paper) };
        let notes = [paper, self.differs.clone()].map(|note| plain(&note).into_owned());
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        let data = picture.marks(results);
        let data = match &self.lines {
            Some(parameter) => in_series(data, parameter),
            None => data,
        };
        picture.draw_marks(results, data, &notes)
    }
}
