//! How results are told, by a run and by `report` alike: the answer or all details, and files for other programs.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::Args;
use ddtbench::experiments::{self, Kind};
use ddtbench::folder::times_csv;
use ddtbench::model::Record;
use ddtbench::report::export;

use super::headings::RESULTS;
use super::output;
use super::output_file::write_new;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = RESULTS)]
pub struct ResultsArgs {
    /// Print all methods with all their figures, and not only the answer
    #[arg(long)]
    details: bool,
    /// Write times and figures over all launches to a new file, as JSON
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,
    /// Write the tables of all methods to a new file, as Markdown
    #[arg(long, value_name = "FILE")]
    export_markdown: Option<PathBuf>,
    /// Write times over all launches to a new file, as in the folder's summary.csv
    #[arg(long, value_name = "FILE")]
    export_csv: Option<PathBuf>,
}

impl ResultsArgs {
    /// Refuses files that are there already, before anything is measured.
    pub fn check(&self) -> anyhow::Result<()> {
        let files = [
            ("--export-json", &self.export_json),
            ("--export-markdown", &self.export_markdown),
            ("--export-csv", &self.export_csv),
        ];
        for (flag, file) in files {
            let Some(file) = file else { continue };
            let shown = file.display();
            ensure!(
                !file.exists(),
                "{flag} {shown}: is there already, and is not overwritten; name another file"
            );
            let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            ensure!(dir.is_dir(), "{flag} {shown}: there is no folder {}", dir.display());
        }
        Ok(())
    }

    /// Whether the table of all methods is printed.
    pub const fn has_details(&self) -> bool {
        self.details
    }

    /// Prints the answer or all details, and writes the files.
    pub fn tell(&self, kind: Kind, records: &[Record]) -> anyhow::Result<()> {
        let shown = if self.details {
            experiments::of(kind).table(records, output::width())
        } else {
            experiments::of(kind).answer(records, output::width())
        };
        output::print_coloured(&shown)?;
        if let Some(file) = &self.export_json {
            write_new(file, export::json(records).as_bytes())?;
        }
        if let Some(file) = &self.export_markdown {
            write_new(file, export::markdown(experiments::of(kind).table_format(), records).as_bytes())?;
        }
        if let Some(file) = &self.export_csv {
            write_new(file, &times_csv(records))?;
        }
        Ok(())
    }
}
