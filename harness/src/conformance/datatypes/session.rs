//! All steps for one MPI: known findings, a campaign, its reduction, a second campaign without the findings of the first, and confirmation.

use std::time::{Duration, Instant};

use common::conformance::Operation;
use datatypes::Layout;

use super::campaign::{Campaign, Range};
use super::confirmation::confirm;
use super::finding::Hit;
use super::program::program;
use super::reduction::{reduce, repeated};
use super::report::MpiReport;
use super::worker::Worker;
use crate::conformance::Conditions;
use crate::mpi::MpiError;

/// Time for shrinking the hits of a campaign, at least.
const TO_SHRINK: Duration = Duration::from_secs(120);

/// Settings of a search.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// Makes the cases.
    pub seed: u64,
    /// Cases of both campaigns.
    pub cases: u64,
    /// Time of both campaigns; shrinking takes as long again at most.
    pub time: Option<Duration>,
    /// Operations.
    pub operations: Vec<&'static Operation>,
}

/// The steps for one MPI.
#[derive(Debug)]
pub struct Session<'a> {
    worker: Worker<'a>,
    plan: &'a SessionPlan,
}

impl<'a> Session<'a> {
    /// For an MPI.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn new(conditions: Conditions<'a>, plan: &'a SessionPlan) -> std::io::Result<Self> {
        Ok(Self { worker: Worker::new(conditions)?, plan })
    }

    /// Tries listed findings again, and nothing else.
    ///
    /// # Errors
    /// If no process begins.
    pub fn replay(&mut self, listed: &[Hit]) -> Result<MpiReport, MpiError> {
        let mut report = self.report();
        (report.findings, report.fixed) = repeated(&mut self.worker, listed)?;
        self.confirm(&mut report)?;
        Ok(report)
    }

    /// Searches for new findings. `log` gets sentences for the user.
    ///
    /// # Errors
    /// If no process begins.
    pub fn search(&mut self, known: &[Hit], log: &mut dyn FnMut(&str)) -> Result<MpiReport, MpiError> {
        let mut report = self.report();
        let (mut found, fixed) = repeated(&mut self.worker, known)?;
        found.iter_mut().for_each(|finding| finding.is_known = true);
        report.fixed = fixed;
        report.findings = found;
        let half = self.plan.cases.div_ceil(2);
        for (first, cases) in [(0, half), (half, self.plan.cases - half)] {
            let deadline = self.plan.time.map(|time| Instant::now() + time / 2);
            let range = Range { fixed: Vec::new(), seed: self.plan.seed, first, cases, deadline };
            self.campaign(&range, &mut report, log)?;
            if report.is_stopped {
                break;
            }
        }
        self.confirm(&mut report)?;
        Ok(report)
    }

    /// Tries all operations on these layouts with their numbers of items, and nothing else.
    ///
    /// # Errors
    /// If no process begins.
    pub fn examine(
        &mut self,
        layouts: Vec<(Layout, u32)>,
        log: &mut dyn FnMut(&str),
    ) -> Result<MpiReport, MpiError> {
        let mut report = self.report();
        self.campaign(&Range { fixed: layouts, ..Range::default() }, &mut report, log)?;
        self.confirm(&mut report)?;
        Ok(report)
    }

    /// Tries cases without those of earlier findings, and adds further findings to the report.
    fn campaign(
        &mut self,
        range: &Range,
        report: &mut MpiReport,
        log: &mut dyn FnMut(&str),
    ) -> Result<(), MpiError> {
        let mut campaign = Campaign::default();
        campaign.run(&mut self.worker, &self.plan.operations, range, &report.findings)?;
        log(&format!("{} cases, {} hits", campaign.coverage.cases, campaign.hits.len()));
        report.hits += campaign.hits.len();
        report.coverage.add(&campaign.coverage);
        let to_shrink = self.plan.time.map_or(TO_SHRINK, |time| (time / 2).max(TO_SHRINK));
        let deadline = Instant::now() + to_shrink;
        let (operations, findings) = (&self.plan.operations, &report.findings);
        let reduced = reduce(&mut self.worker, operations, campaign.hits, findings, deadline)?;
        if !reduced.findings.is_empty() {
            log(&format!("{} findings", reduced.findings.len()));
        }
        report.findings.extend(reduced.findings);
        report.is_stopped = campaign.is_stopped || reduced.is_stopped;
        Ok(())
    }

    fn report(&self) -> MpiReport {
        MpiReport::new(self.worker.conditions().target)
    }

    /// Compiles and runs the C program of each new finding.
    fn confirm(&self, report: &mut MpiReport) -> Result<(), MpiError> {
        for finding in report.findings.iter_mut().filter(|finding| !finding.is_known) {
            if report.is_stopped {
                finding.confirmation.code = program(&finding.hit, &report.title);
                "stopped before it was run".clone_into(&mut finding.confirmation.reason);
                continue;
            }
            match confirm(self.worker.conditions(), &finding.hit, self.worker.folder())? {
                Some(confirmation) => finding.confirmation = confirmation,
                None => report.is_stopped = true,
            }
        }
        Ok(())
    }
}
