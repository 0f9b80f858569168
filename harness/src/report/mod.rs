//! Exporters: records, cases, tests and layouts as text. No files, no printing, no figures computed here.

pub mod agree;
mod case;
mod columns;
pub mod csv;
pub mod ddtbench_format;
pub mod engine;
pub mod engine_csv;
mod exchange;
pub mod html;
pub mod layout;
pub mod list;
mod pingpong;
pub mod probes;
pub mod program;
pub mod table;
mod transfer;
pub mod units;
mod verdict;
