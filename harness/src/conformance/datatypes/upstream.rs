//! A new finding as a text for the tracker of an MPI's developers, in Markdown.

use super::finding::Finding;
use super::matrix::cell;
use super::report::{MpiReport, Reports};
use crate::report::markdown::escaped;

impl Reports {
    /// The texts of all new findings that their C programs show, with the names of their files.
    pub fn upstream(&self) -> Vec<(String, String)> {
        let of_mpi = |report: &MpiReport| -> Vec<(String, String)> {
            let findings = report.new_findings().enumerate();
            let text = |(number, finding)| Some((report.file_name(number), self.text_of(report, finding)?));
            findings.filter_map(text).collect()
        };
        self.0.iter().flat_map(of_mpi).collect()
    }

    /// `None` if the finding is not confirmed: developers could not repeat it.
    fn text_of(&self, report: &MpiReport, finding: &Finding) -> Option<String> {
        let (hit, shown) = (&finding.hit, finding.confirmation.shown.as_ref()?);
        let others = finding.other_operations();
        let others =
            match others.len() {
                0 => String::new(),
                _ => "Other operations that fail with this datatype:\n\n".to_owned(),
            } + &others.iter().map(|other| format!("- {}\n", escaped(other.asks))).collect::<String>();
        let result = |other: &MpiReport| {
            let result = match cell(other, hit) {
                "" => "not tried",
                result => result,
            };
            let settings: String =
                other.settings.iter().map(|(name, value)| format!(", {name}={value}")).collect();
            let place = match hit.operation.ranks {
                1 => "1 rank".to_owned(),
                _ => {
                    format!("{} ranks, {}", other.ranks, other.transport.as_deref().unwrap_or("not started"))
                }
            };
            format!("{} | {} | {result}\n", other.title, escaped(&(place + &settings)))
        };
        Some(format!(
            "# {}: {} with {}{}\n\n\
             The operation of the program below: {} (MPI-4.1, section {}).\n\
             It should print `right`. Result: `{}`.\n\
             {others}\nMPI | Conditions | Result\n---|---|---\n{}\n```c\n{}```\n",
            report.title,
            hit.kind,
            escaped(&hit.layout.to_short_text()),
            hit.message(),
            escaped(hit.operation.asks),
            hit.operation.clause,
            shown.replace('`', "'"),
            self.0.iter().map(result).collect::<String>(),
            finding.confirmation.code,
        ))
    }
}
