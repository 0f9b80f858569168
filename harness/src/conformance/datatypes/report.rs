//! The report: findings with their C programs, coverage, and rates; as text, JSON or JUnit XML.

use std::collections::BTreeMap;
use std::fmt::Write;

use common::conformance::{FIRST_FIXED, FaultKind, Operation};
use indexmap::IndexMap;
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};

use super::campaign::Coverage;
use super::finding::{Evidence, Finding, Hit, distinct_hits};
use super::list::FindingList;
use super::matrix;
use crate::report::names::distinct;

/// Layouts with probably the same cause that are shown.
const MOST_SIMILAR: usize = 3;

/// The findings in one MPI.
#[derive(Debug, Default)]
pub struct MpiReport {
    /// Its name in tables.
    pub label: String,
    /// The maker and the version.
    pub title: String,
    /// The name, the maker and the version of the baseline.
    pub baseline: Option<String>,
    /// The findings, known ones first.
    pub findings: Vec<Finding>,
    /// Operations that were asked for.
    pub operations: Vec<&'static Operation>,
    /// Listed findings that do not occur any more.
    pub fixed: Vec<Hit>,
    /// Hits that did not occur again, neither by themselves nor with their operation on the cases before them.
    pub once: Vec<Hit>,
    /// Findings of other MPIs, and how they fail here.
    pub elsewhere: Vec<(Hit, Option<FaultKind>)>,
    /// Processes of the operations that need several, and the path of their messages.
    pub ranks: usize,
    pub transport: Option<String>,
    /// The text of `MPI_Get_library_version`.
    pub configuration: String,
    /// Variables that control the MPI; filled in by the caller.
    pub settings: BTreeMap<String, String>,
    /// Wrong results before they were shrunk and joined.
    pub hits: usize,
    /// Those that do not occur with the baseline.
    pub new_hits: usize,
    /// Those that were not tried with the baseline, because the time was over.
    pub uncompared: usize,
    /// A hit of each operation that occurs with the baseline, too.
    pub old: BTreeMap<&'static str, Hit>,
    /// Counts of tried operations.
    pub coverage: Coverage,
    /// Whether the user has stopped it.
    pub is_stopped: bool,
}

/// The reports of all MPIs of a run.
#[derive(Debug, Default)]
pub struct Reports(pub Vec<MpiReport>);

impl MpiReport {
    /// Findings that were not known.
    pub fn new_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.is_known)
    }

    /// Those of them that are certain.
    fn regressions(&self) -> impl Iterator<Item = &Finding> {
        self.new_findings().filter(|finding| !finding.is_uncertain)
    }

    /// The name of a finding's files: the MPI and the number among the new findings.
    pub fn file_name(&self, number: usize) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        format!("{}-{}", self.label.chars().map(plain).collect::<String>(), number + 1)
    }

    /// In one line: the version, the conditions, and the number of findings.
    pub fn summary(&self) -> String {
        let new = self.regressions().count();
        let uncertain = self.new_findings().count() - new;
        let known = self.findings.len() - new - uncertain;
        let others = [(uncertain, "uncertain"), (known, "known")].into_iter().filter(|(count, _)| *count > 0);
        let others: String = others.map(|(count, what)| format!(", {count} {what}")).collect();
        let new = counted(new, "new finding");
        let ranks = format!(", {} ranks", self.ranks);
        let path = self.transport.as_ref().map_or_else(String::new, |path| format!("{ranks}, {path}"));
        let baseline = self.baseline.as_ref().map_or_else(String::new, |title| format!("; baseline {title}"));
        format!("{} ({}{path}{baseline}): {new}{others}", self.label, self.title)
    }

    fn text(&self) -> String {
        let new: Vec<_> = self.new_findings().collect();
        let mut text = self.summary() + "\n";
        for (number, finding) in new.iter().enumerate() {
            text += &format!("\n{}. {}", number + 1, finding.text());
            if !finding.confirmation.code.is_empty() {
                let _ = writeln!(text, "   C program: {}.c", self.file_name(number));
            }
        }
        for hit in &self.fixed {
            let _ =
                writeln!(text, "\nnot found any more: {} of {}", hit.operation.name, hit.layout.to_text());
        }
        if !self.once.is_empty() {
            let names = distinct(self.once.iter().map(|hit| hit.operation.name)).join(", ");
            let _ = writeln!(text, "\nwith hits that did not occur each time: {names}");
        }
        if self.coverage.cases > 0 {
            text += &self.coverage_text();
        }
        text
    }

    fn json(&self) -> Value {
        let finding = |finding: &Finding| {
            let mut json = json!(finding.hit);
            json["clause"] = json!(finding.hit.operation.clause);
            json["other_operations"] = finding.other_operations().iter().map(|other| other.name).collect();
            json["similar"] = finding.similar.iter().map(|similar| similar.hit.layout.to_text()).collect();
            json["cases"] = json!(finding.cases);
            json["known"] = json!(finding.is_known);
            json["uncertain"] = json!(finding.is_uncertain);
            json["reproduced"] = json!(finding.is_reproduced);
            json["confirmed"] = json!(finding.confirmation.shown().is_some());
            json["program"] = json!(finding.confirmation.code);
            json
        };
        json!({
            "mpi": self.label,
            "title": self.title,
            "baseline": self.baseline,
            "ranks": self.ranks,
            "transport": self.transport,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "not_found_any_more": self.fixed,
            "occurred_once": self.once,
            "cases": self.coverage.cases,
            "seconds": self.coverage.time.as_secs_f64(),
            "hits": self.hits,
            "uncompared_hits": self.baseline.as_ref().map(|_| self.uncompared),
            "new_hits": self.baseline.as_ref().map(|_| self.new_hits),
            "operations": self.counts().into_iter().collect::<BTreeMap<_, _>>(),
            "left_out": self.coverage.left_out,
            "stopped": self.is_stopped,
        })
    }

    /// A test case for each operation, and for each listed finding that does not occur any more.
    fn suite(&self) -> TestSuite {
        let mut suite = TestSuite::new(&self.label);
        for operation in &self.operations {
            let mut case = TestCase::new(operation.name, self.status(operation));
            case.set_classname("datatypes");
            suite.add_test_case(case);
        }
        for hit in &self.fixed {
            let name =
                format!("{}, {}: {}{}", hit.operation.name, hit.kind, hit.layout.to_text(), hit.message());
            let mut case = TestCase::new(name, TestCaseStatus::success());
            case.set_classname("known findings").set_system_out("not found any more");
            suite.add_test_case(case);
        }
        suite
    }

    /// A new finding of an operation fails. Otherwise it passes if it was right with all layouts.
    fn status(&self, operation: &Operation) -> TestCaseStatus {
        let is_own = |finding: &&Finding| finding.hit.operation == operation;
        let new: Vec<_> = self.regressions().filter(is_own).collect();
        if let Some(first) = new.first() {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(first.hit.sentence()).set_type(first.hit.kind.name());
            status.set_description(new.iter().map(|finding| finding.text()).collect::<String>());
            return status;
        }
        let known = self.findings.iter().find(is_own);
        let also = self.findings.iter().find(|finding| finding.other_operations().contains(&operation));
        let reason = match (known, also, self.coverage.left_out.get(operation.name)) {
            _ if self.old.contains_key(operation.name) => {
                format!("with the baseline, too: {}", self.old[operation.name].sentence())
            }
            (Some(own), ..) => {
                format!("{}: {}", if own.is_known { "known" } else { "uncertain" }, own.hit.sentence())
            }
            (_, Some(finding), _) => format!("also wrong: {}", finding.hit.sentence()),
            (.., Some(times)) => format!("left out {times} times after crashes or hangs"),
            _ if self.coverage.operations.get(operation.number()).is_some_and(|times| *times > 0) => {
                return TestCaseStatus::success();
            }
            _ => "not tried".to_owned(),
        };
        let mut status = TestCaseStatus::skipped();
        status.set_message(reason);
        status
    }

    /// How often each operation was tried.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let times = |operation: &Operation| self.coverage.operations.get(operation.number()).copied();
        self.operations.iter().map(|operation| (operation.name, times(operation).unwrap_or(0))).collect()
    }

    fn coverage_text(&self) -> String {
        let Coverage { cases, time, left_out, .. } = &self.coverage;
        let untried = format!(", {} not tried there, since the time was over", self.uncompared);
        let untried = if self.uncompared > 0 { untried } else { String::new() };
        let old = self.hits - self.new_hits - self.uncompared;
        let new = format!(": {} here only, {old} with the baseline, too{untried}", self.new_hits);
        let new = if self.baseline.is_some() { new } else { String::new() };
        let mut text = format!(
            "\n{cases} cases in {:.0} s ({:.0} cases per minute), {}{new}\n",
            time.as_secs_f64(),
            self.coverage.cases_per_minute(),
            counted(self.hits, "hit")
        );
        let all = with_forms(self.counts());
        let untried: Vec<&str> =
            all.iter().filter(|(_, times)| **times == 0).map(|(name, _)| *name).collect();
        if !untried.is_empty() {
            let (few, all) = (untried.len(), all.len());
            let _ = writeln!(text, "never tried, {few} of {all} operations: {}", untried.join(", "));
        }
        let left_out =
            with_forms(left_out.clone()).into_iter().map(|(name, times)| format!("{name} {times}"));
        let left_out = left_out.collect::<Vec<_>>().join(", ");
        if !left_out.is_empty() {
            let _ = writeln!(text, "left out after crashes or hangs: {left_out}");
        }
        text
    }
}

/// Sums over all forms of an operation.
fn with_forms(counts: impl IntoIterator<Item = (&'static str, u64)>) -> IndexMap<&'static str, u64> {
    let mut sums = IndexMap::new();
    for (name, times) in counts {
        let section = Operation::find(name).map_or(name, |operation| operation.section().name);
        *sums.entry(section).or_default() += times;
    }
    sums
}

impl Hit {
    /// In one line.
    fn sentence(&self) -> String {
        let Self { layout, operation, kind, detail, .. } = self;
        let (layout, message) = (layout.to_short_text(), self.message());
        format!("{}, {kind}: {layout}{message}: {detail}", operation.name)
    }
}

impl Finding {
    fn text(&self) -> String {
        let Hit { layout, operation, kind, .. } = &self.hit;
        let text =
            format!("{}: {kind}\n   type: {}{}\n", operation.name, layout.to_text(), self.hit.message());
        self.lines().iter().fold(text, |text, line| text + &format!("   {line}\n"))
    }

    /// All but the operation and the type.
    pub fn lines(&self) -> Vec<String> {
        let Hit { operation, detail, .. } = &self.hit;
        let mut lines = vec![
            detail.lines().next().unwrap_or_default().to_owned(),
            format!("MPI-4.1, section {}", operation.clause),
        ];
        let others: Vec<_> = self.other_operations().iter().map(|operation| operation.name).collect();
        if !others.is_empty() {
            lines.push(format!("also wrong: {}", others.join(", ")));
        }
        let similar = self.similar.iter().map(|similar| &similar.hit).filter(|hit| !hit.is_unfinished);
        let mut similar: Vec<_> = similar.map(|hit| hit.layout.to_short_text()).collect();
        similar.dedup();
        similar.retain(|layout| *layout != self.hit.layout.to_short_text());
        if !similar.is_empty() {
            let more = similar.len().saturating_sub(MOST_SIMILAR);
            similar.truncate(MOST_SIMILAR);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("probably the same: {}{more}", similar.join("; ")));
        }
        let count = counted(self.cases.len(), "case");
        if let Some(first) = self.cases.first() {
            let fixed = first.checked_sub(FIRST_FIXED).map(|fixed| format!("fixed case {fixed}"));
            lines.push(format!("first in {}, in {count}", fixed.unwrap_or_else(|| format!("case {first}"))));
        }
        if self.is_uncertain {
            lines.push("uncertain: the list may lack it by chance".to_owned());
        }
        if !self.is_reproduced {
            lines.push("not reproduced without the cases before it".to_owned());
        }
        match &self.confirmation.evidence {
            Evidence::Untried => {}
            Evidence::Shown(shown) => lines.push(format!("confirmed by the C program: {shown}")),
            Evidence::Unfinished(reason) | Evidence::NotShown(reason) | Evidence::Old(reason) => {
                lines.push(format!("not confirmed: {reason}"));
            }
        }
        lines
    }
}

impl Reports {
    /// For each MPI the findings of the others.
    pub fn untried(&self) -> Vec<Vec<Hit>> {
        let of = |own: &MpiReport| {
            let found = self.0.iter().flat_map(|report| &report.findings);
            let is_own = |hit: &&Hit| own.findings.iter().any(|finding| finding.hit.is_same_trial(hit));
            let hits = found.filter(|finding| finding.is_reproduced).map(|finding| &finding.hit);
            distinct_hits(hits.filter(|hit| !is_own(hit)).cloned())
        };
        self.0.iter().map(of).collect()
    }

    /// As text, in lines of this width if possible.
    pub fn text(&self, width: Option<u16>) -> String {
        let table = matrix::table(&self.0).map(|table| format!("Findings by MPI:\n{}", table.text(width)));
        table.into_iter().chain(self.0.iter().map(MpiReport::text)).collect::<Vec<_>>().join("\n")
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let mpis: Vec<Value> = self.0.iter().map(MpiReport::json).collect();
        json!({ "mpis": mpis, "by_mpi": matrix::json(&self.0) })
    }

    /// As JUnit XML, a suite for each MPI.
    ///
    /// # Errors
    /// If a name cannot be written as XML.
    pub fn junit(&self) -> Result<String, SerializeError> {
        let mut report = Report::new("ddtbench conform");
        report.add_test_suites(self.0.iter().map(MpiReport::suite));
        report.to_string()
    }

    /// The list of all new findings.
    pub fn findings(&self) -> FindingList {
        let mut list = FindingList::default();
        self.0.iter().for_each(|report| list.add(&report.title, report.new_findings()));
        list
    }

    /// Whether any finding is new for certain.
    pub fn has_regressions(&self) -> bool {
        self.0.iter().any(|report| report.regressions().next().is_some())
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use common::conformance::OPERATIONS;

    use super::super::finding::Confirmation;
    use super::*;

    fn finding(operation: &str, shown: Option<&str>) -> Finding {
        let right = || Evidence::NotShown("the C program does not show it".to_owned());
        let evidence = shown.map_or_else(right, |shown| Evidence::Shown(shown.to_owned()));
        let confirmation = Confirmation { code: "int main".to_owned(), evidence };
        let hit = Hit::fake(operation, FaultKind::WrongData, "vector(2, 1, -1, byte)");
        let hit = Hit { case: 17, detail: "byte 3 is wrong".to_owned(), ..hit };
        Finding { cases: BTreeSet::from([17, 18, 30, 40]), confirmation, ..Finding::new(hit) }
    }

    fn reports() -> Reports {
        let mut operations = vec![5; OPERATIONS.len()];
        operations[Operation::find("bcast").unwrap().number()] = 0;
        let left_out = [("put", 7)].into();
        let coverage = Coverage { cases: 100, operations, left_out, ..Coverage::default() };
        let others = vec![(Operation::find("gather").unwrap(), FaultKind::Crash)];
        let known = Finding { is_known: true, others, ..finding("unpack", None) };
        Reports(vec![MpiReport {
            label: "mpich".to_owned(),
            title: "MPICH 9".to_owned(),
            baseline: Some("old: MPICH 8".to_owned()),
            findings: vec![known, finding("pack", Some("byte 1")), finding("send", None)],
            operations: OPERATIONS.iter().filter(|operation| operation.name != "probe").collect(),
            fixed: vec![finding("get", None).hit],
            once: vec![finding("put", None).hit],
            ranks: 2,
            transport: Some("shm".to_owned()),
            configuration: "MPICH 9\nconfigure: --fast".to_owned(),
            settings: [("MPIR_CVAR_X".to_owned(), "1".to_owned())].into(),
            hits: 9,
            new_hits: 5,
            uncompared: 1,
            old: [("get", finding("get", None).hit)].into(),
            coverage,
            ..MpiReport::default()
        }])
    }

    #[test]
    fn a_finding_is_shown_with_its_type_its_clause_and_its_program() {
        let text = reports().text(None);
        for part in [
            "mpich (MPICH 9, 2 ranks, shm; baseline old: MPICH 8): 2 new findings, 1 known",
            "1. pack: wrong data\n   type: vector(2, 1, -1, byte)\n   byte 3 is wrong\n   MPI-4.1, section 5.2",
            "first in case 17, in 4 cases\n   confirmed by the C program: byte 1\n   C program: mpich-1.c",
            "not confirmed: the C program does not show it\n   C program: mpich-2.c",
            "100 cases in",
            "9 hits: 5 here only, 3 with the baseline, too, 1 not tried there, since the time was over",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        assert!(!text.contains("never tried"), "{text}");
        let mut untried = reports();
        untried.0[0].coverage.operations.fill(0);
        // All but the one that was not asked for.
        let all = OPERATIONS.iter().filter(|operation| operation.section() == *operation).count() - 1;
        let never = format!("never tried, {all} of {all} operations: ");
        assert!(untried.text(None).contains(&never), "{}", untried.text(None));
    }

    #[test]
    fn junit_has_a_case_for_each_operation_with_the_reason_if_it_is_skipped() {
        let xml = reports().junit().unwrap();
        // Without the operation that was not asked for, and with a finding that does not occur any more.
        assert_eq!(xml.matches("<testcase ").count(), OPERATIONS.len());
        assert!(!xml.contains("\"probe\""), "{xml}");
        let case = |name: &str| {
            let from = xml.split_once(&format!("<testcase name=\"{name}\"")).expect(name).1;
            from.split("<testcase").next().unwrap().to_owned()
        };
        for (name, part) in [
            ("pack", "<failure message=\"pack, wrong data: vector"),
            ("unpack", "<skipped message=\"known: unpack, wrong data"),
            ("gather", "<skipped message=\"also wrong: unpack, wrong data"),
            ("put", "<skipped message=\"left out 7 times after crashes or hangs\""),
            ("bcast", "<skipped message=\"not tried\""),
            ("get, wrong data: vector(2, 1, -1, byte)", "<system-out>not found any more</system-out>"),
        ] {
            assert!(case(name).contains(part), "{part}: {}", case(name));
        }
        assert!(!case("scatter").contains("skipped") && !case("scatter").contains("failure"), "{xml}");
        assert_eq!(xml.matches("<failure ").count(), 2);
    }

    #[test]
    fn json_has_findings_that_do_not_occur_any_more_and_operations_that_were_asked_for() {
        let json = &reports().json()["mpis"][0];
        assert_eq!(json["findings"][1]["confirmed"], true);
        assert_eq!(json["not_found_any_more"][0]["operation"], "get");
        assert_eq!(json["occurred_once"][0]["operation"], "put");
        let text = reports().text(None);
        assert!(text.contains("\nwith hits that did not occur each time: put\n"), "{text}");
        assert_eq!((&json["operations"]["bcast"], &json["operations"]["probe"]), (&json!(0), &Value::Null));
        let mut reports = reports();
        assert!(reports.has_regressions());
        reports.0[0].findings.iter_mut().for_each(|finding| finding.is_uncertain = !finding.is_known);
        assert!(!reports.has_regressions() && reports.findings().finding.len() == 2);
        assert!(reports.text(None).contains("0 new findings, 2 uncertain, 1 known"));
        assert!(reports.junit().unwrap().contains("<skipped message=\"uncertain: pack, wrong data"));
    }

    #[test]
    fn a_table_has_each_finding_on_each_mpi() {
        assert!(matrix::table(&reports().0).is_none(), "one MPI");
        let mut both = reports();
        let mut other = reports().0.remove(0);
        other.label = "openmpi".to_owned();
        other.findings.truncate(1);
        let own = |i: usize| both.0[0].findings[i].hit.clone();
        other.elsewhere = vec![(own(1), None)];
        both.0.push(other);
        let text = both.text(None);
        for line in [
            "operation  type                    mpich       openmpi\n",
            "unpack     vector(2, 1, -1, byte)  wrong data  wrong data\n",
            "pack       vector(2, 1, -1, byte)  wrong data  right\n",
            "send       vector(2, 1, -1, byte)  wrong data\n",
        ] {
            assert!(text.contains(line), "{line} is not in:\n{text}");
        }
        let json = both.json();
        assert_eq!(json["by_mpi"][1]["mpis"]["openmpi"], "right");
        let texts = both.upstream("a processor");
        let names: Vec<&str> = texts.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["mpich-1.md"], "confirmed and new");
        for part in [
            "# MPICH 9: wrong data with vector(2, 1, -1, byte)\n\n",
            "(MPI-4.1, section 5.2).\nIt should print `right`. Result: `byte 1`.\n",
            "---|---|---\nMPICH 9 | 1 rank, MPIR_CVAR_X=1 | wrong data\nMPICH 9 | 1 rank, MPIR_CVAR_X=1 | right\n",
            "\n```c\nint main```\n",
            "\nMachine: a processor.\n\n```text\nMPICH 9\nconfigure: --fast\n```\n",
        ] {
            assert!(texts[0].1.contains(part), "{part} is not in:\n{}", texts[0].1);
        }
        let page = both.html();
        assert_eq!(page.matches("<details><summary>C program</summary>").count(), 4);
        assert_eq!(page.matches("<td class=\"left\">right</td>").count(), 1, "{page}");
        assert!(page.contains("<h3>2. pack: wrong data</h3>") && page.contains("int main"), "{page}");
    }
}
