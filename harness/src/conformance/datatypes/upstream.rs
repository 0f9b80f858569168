//! A new finding as a text for the tracker of an MPI's developers, in Markdown.

use super::finding::Finding;
use super::matrix::cell;
use super::report::{MpiReport, Reports};
use crate::report::markdown::escaped;

impl Reports {
    /// The texts of all new findings that their C programs show on this machine, with the names of their files.
    pub fn upstream(&self, machine: &str) -> Vec<(String, String)> {
        let findings =
            |report| MpiReport::new_findings(report).enumerate().map(move |finding| (report, finding));
        let text = |(report, (number, finding)): (&MpiReport, (usize, &Finding))| {
            Some((format!("{}.md", report.file_name(number)), self.text_of(report, finding, machine)?))
        };
        self.0.iter().flat_map(findings).filter_map(text).collect()
    }

    /// `None` if the finding is not confirmed: developers could not repeat it.
    fn text_of(&self, report: &MpiReport, finding: &Finding, machine: &str) -> Option<String> {
        let (hit, shown) = (&finding.hit, finding.confirmation.shown()?);
        let others = finding.others.iter().map(|(other, _)| format!("- {}\n", escaped(other.asks)));
        let others: String = others.collect();
        let title = if others.is_empty() { "" } else { "Other operations that fail with this datatype:\n\n" };
        let result = |other: &MpiReport| {
            let result = Some(cell(other, hit)).filter(|result| !result.is_empty()).unwrap_or("not tried");
            let path = other.transport.as_deref().unwrap_or("not started");
            let settings: String =
                other.settings.iter().map(|(name, value)| format!(", {name}={value}")).collect();
            let place = match hit.operation.ranks {
                1 => "1 rank".to_owned(),
                _ => format!("{} ranks, {path}", other.ranks),
            };
            format!("{} | {} | {result}\n", other.title, escaped(&(place + &settings)))
        };
        Some(format!(
            "# {}: {} with {}{}\n\n\
             The operation of the program below: {} (MPI-4.1, section {}).\n\
             It should print `right`. Result: `{}`.\n\
             {title}{others}\nMPI | Conditions | Result\n---|---|---\n{}\n```c\n{}```\n\nMachine: {}.\n\n```text\n{}\n```\n",
            report.title,
            hit.kind,
            escaped(&hit.layout.to_short_text()),
            hit.message(),
            escaped(hit.operation.asks),
            hit.operation.clause,
            shown.replace('`', "'"),
            self.0.iter().map(result).collect::<String>(),
            finding.confirmation.code,
            escaped(machine),
            report.configuration.replace('`', "'"),
        ))
    }
}
