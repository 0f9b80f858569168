//! Records, cases, tests and layouts as text. This module has no files, does not print, and computes no figures.

pub mod account;
pub mod answer;
pub mod case;
pub mod columns;
pub mod compared;
pub mod export;
pub mod html;
pub mod layout;
#[cfg(test)]
pub(crate) mod made;
pub mod markdown;
pub mod names;
pub mod pictures;
pub mod program;
pub mod ratio;
pub(crate) mod sentences;
pub mod state;
pub mod table;
pub use common::units;
pub mod verdict;
