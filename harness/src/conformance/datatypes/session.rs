//! All steps for one MPI: known findings, then campaigns, each with its reduction and without the findings of
//! those before it, and confirmation.

use std::collections::HashMap;
use std::iter;
use std::time::{Duration, Instant};

use common::conformance::{Case, FaultKind, OPERATIONS, Operation};
use datatypes::{Element, Layout};

use super::baseline::{are_old, lasting};
use super::campaign::{Campaign, Range};
use super::causes::{join, mark_uncertain, mark_variants};
use super::confirmation::confirm;
use super::corpus::corpus;
use super::finding::{Confirmation, Evidence, Finding, Hit};
use super::limit::Limit;
use super::program::{ProgramMemory, program};
use super::reduction::{Reduced, explains, one_of_each, reduce};
use super::report::MpiReport;
use super::trial::{Outcome, evaluate, evaluate_alone, evaluate_often};
use super::worker::{Worker, unless_stopped};
use crate::conformance::Conditions;
use crate::mpi::MpiError;

/// Time for shrinking the hits of a campaign, at least.
const TO_SHRINK: Duration = Duration::from_secs(30);

/// Cases of the first campaign, and how much longer each next one is. They avoid the layouts that were found
/// before, which would take most of the time and hide other faults.
const FIRST_CASES: u64 = 400;
const GROWTH: u64 = 10;

/// Further cases of operations with a finding that one type shows, and the time for them.
const FURTHER: u64 = 600;
const TO_LOOK_AGAIN: Duration = Duration::from_secs(10);

/// The part of the time in which known findings are tried again.
const PART_OF_KNOWN: u32 = 8;

/// The part of the time of a search that the findings of other MPIs get afterwards.
pub const ELSEWHERE: u32 = 7;

/// Similar hits whose programs are tried if that of the simplest one does not show the fault.
const MOST_SIMILAR: usize = 3;

/// Settings of a search.
#[derive(Clone, Debug, Default)]
pub struct SessionPlan {
    /// Makes the cases.
    pub seed: u64,
    /// Cases of all campaigns.
    pub cases: u64,
    /// Whether all of them should be tried in the time: shrinking comes second.
    pub cases_first: bool,
    /// Time for everything; without it, shrinking takes as long as the cases, or a minute after each campaign.
    pub time: Option<Duration>,
    /// Operations.
    pub operations: Vec<&'static Operation>,
    /// Processes of operations that need several.
    pub ranks: usize,
}

/// The steps for one MPI.
#[derive(Debug)]
pub struct Session<'a> {
    worker: Worker<'a>,
    plan: &'a SessionPlan,
    limit: Option<Limit>,
    /// Results of C programs.
    confirmed: HashMap<String, Confirmation>,
    /// Crashes and hangs that occur with the baseline, too.
    avoided: Vec<Finding>,
    /// Those that were not shrunk yet.
    old: Campaign,
    /// Known findings that were right when they were tried again.
    right: Vec<Finding>,
}

impl<'a> Session<'a> {
    /// For an MPI, and perhaps a baseline.
    ///
    /// # Errors
    /// If files cannot be written.
    pub fn new(
        conditions: Conditions<'a>,
        baseline: Option<Conditions<'a>>,
        plan: &'a SessionPlan,
    ) -> std::io::Result<Self> {
        let mut worker = Worker::new(conditions, plan.ranks)?;
        let baseline = baseline.map(|conditions| Worker::new(conditions, plan.ranks)).transpose()?;
        worker.baseline = baseline.map(Box::new);
        Ok(Self {
            worker,
            plan,
            limit: None,
            confirmed: HashMap::new(),
            avoided: Vec::new(),
            old: Campaign::default(),
            right: Vec::new(),
        })
    }

    /// Tries listed findings again, and nothing else.
    pub fn replay(&mut self, listed: &[Hit]) -> Result<MpiReport, MpiError> {
        let mut report = self.report();
        report.operations.retain(|operation| listed.iter().any(|hit| hit.operation == *operation));
        report.coverage.operations.resize(OPERATIONS.len(), 0);
        for (listed, outcome) in listed.iter().zip(evaluate(&mut self.worker, listed, usize::MAX)?) {
            let is_tried = matches!(outcome, Outcome::Fails(_) | Outcome::Right);
            report.coverage.operations[listed.operation.number()] += u64::from(is_tried);
            match outcome {
                Outcome::Fails(hit) => {
                    let hit = Hit { is_unfinished: listed.is_unfinished, ..hit };
                    report.findings.push(Finding { is_complete: false, ..Finding::new(hit) });
                }
                Outcome::Right => report.fixed.push(listed.clone()),
                Outcome::NotReached | Outcome::Untried => {}
            }
        }
        self.note_conditions(&mut report);
        self.confirm(&mut report, Duration::ZERO)?;
        Ok(report)
    }

    /// Searches for findings that the list, if there is one, lacks. `log` gets sentences for the user, and `save` the results so far, which are kept.
    pub fn search(
        &mut self,
        known: Option<&[Finding]>,
        log: &mut dyn FnMut(&str),
        save: &mut dyn FnMut(&MpiReport),
    ) -> Result<MpiReport, MpiError> {
        self.try_memory()?;
        self.try_baseline()?;
        let mut report = self.report();
        let begun = Instant::now();
        let reserved = known.map_or(Duration::ZERO, |_| TO_LOOK_AGAIN);
        self.limit = self.plan.time.map(|time| Limit::new(time - reserved.min(time / 6), begun));
        let mut shrunk = self.known(known.unwrap_or_default(), log)?;
        (report.findings, report.fixed) = self.joined(shrunk.clone());
        let (mut first, mut cases) = (0, FIRST_CASES);
        while first < self.plan.cases && !report.is_stopped {
            if self.limit.is_some_and(|limit| !limit.has_room(Instant::now())) {
                break;
            }
            report.is_stopped = self.avoid_old()?;
            if report.is_stopped {
                break;
            }
            // A short rest is not worth another campaign.
            let rest = self.plan.cases - first;
            let count = if rest <= 2 * cases { rest } else { cases };
            let deadline = self.limit.map(|limit| {
                limit.of_cases(Instant::now(), self.plan.cases_first, report.baseline.is_some())
            });
            let fixed = if first == 0 { corpus() } else { Vec::new() };
            let range = Range { fixed, seed: self.plan.seed, first, cases: count, deadline };
            let before = report.coverage.cases;
            first += self.campaign(&range, &mut shrunk, &mut report, log, save)?;
            // On a busy machine, a process may take all the time of a campaign to start.
            if report.coverage.cases == before && deadline.is_none_or(|deadline| Instant::now() < deadline) {
                break;
            }
            cases *= GROWTH;
        }
        if known.is_some() && !report.is_stopped {
            let deadline = self.plan.time.map(|time| begun + time);
            let range = Range { fixed: corpus(), seed: self.plan.seed, first, cases: FURTHER, deadline };
            let marked = mark_uncertain(&mut self.worker, &mut report.findings, &range);
            unless_stopped(marked, &mut report.is_stopped)?;
        }
        if self.plan.cases_first && first < self.plan.cases && !report.is_stopped {
            log(&format!("the time was over after {first} of {} random cases", self.plan.cases));
        }
        Ok(report)
    }

    /// Sends contiguous bytes, if they are in the memory of a device.
    ///
    /// # Errors
    /// If the MPI does not take them: everything would fail.
    fn try_memory(&mut self) -> Result<(), MpiError> {
        let memory = self.worker.conditions.memory;
        if memory.is_host() {
            return Ok(());
        }
        let plain = Hit::untried(&Case::with_layout(0, Layout::named(Element::Byte), 64, false));
        let operation = Operation::find("receive_from_self").map_err(MpiError::Other)?;
        match evaluate_alone(&mut self.worker, &[Hit { operation, ..plain }], 0)?.swap_remove(0).hit() {
            Some(hit) => Err(MpiError::Other(format!(
                "{} does not take {} memory: a contiguous message: {}",
                self.worker.conditions.target.installation.title(),
                memory.name(),
                hit.detail
            ))),
            None => Ok(()),
        }
    }

    /// Starts the MPI and the baseline once.
    ///
    /// # Errors
    /// If one of them does not start, or if both are the same library by mistake: no fault would be new.
    fn try_baseline(&mut self) -> Result<(), MpiError> {
        let Some(mut baseline) = self.worker.baseline.take() else { return Ok(()) };
        let operation = &OPERATIONS[0];
        let cases = [Case::with_layout(0, Layout::named(Element::Byte), 1, false)];
        self.worker.run(&[operation], operation.ranks, &cases)?;
        baseline.run(&[operation], operation.ranks, &cases)?;
        let [new, old] = [&self.worker, &*baseline].map(|worker| &worker.conditions.target.installation);
        if let Some((_, Some(library))) = baseline.library.as_ref().filter(|_| new.mpicc != old.mpicc)
            && self.worker.library == baseline.library
        {
            let [new, old] = [new, old].map(|mpi| mpi.mpiexec.display());
            return Err(MpiError::Other(format!(
                "the ranks of {new} and those of the baseline, {old}, have loaded {library}: check LD_LIBRARY_PATH and the loaded modules"
            )));
        }
        self.worker.baseline = Some(baseline);
        Ok(())
    }

    /// Known findings that still occur or were not tried in time; shrunk similar ones become separate findings.
    fn known(&mut self, known: &[Finding], log: &mut dyn FnMut(&str)) -> Result<Vec<Finding>, MpiError> {
        let mut known: Vec<_> =
            known.iter().filter(|finding| finding.is_of(&self.plan.operations)).cloned().collect();
        // Crashes take a new process, and hangs the limit of silence.
        known.sort_by_key(|finding| finding.hit.kind);
        self.worker.deadline = self.limit.map(|limit| Instant::now() + limit.time / PART_OF_KNOWN);
        let hits: Vec<Hit> = known.iter().map(|finding| finding.hit.clone()).collect();
        let outcomes = evaluate_often(&mut self.worker, &hits)?;
        let (all, mut untried, mut found) = (known.len(), 0, Vec::new());
        for (mut finding, outcome) in known.into_iter().zip(outcomes) {
            match outcome {
                // Some fail in several ways.
                Outcome::Fails(hit) if hit.kind != finding.hit.kind => {
                    finding.others.push((hit.operation, hit.kind));
                }
                Outcome::Fails(hit) => {
                    let Hit { is_unfinished, detail, .. } = finding.hit.clone();
                    // Others that crash where it did are known, too.
                    let detail = if finding.hit.place().is_some() { detail } else { hit.detail.clone() };
                    finding.hit = Hit { is_unfinished, detail, ..hit };
                }
                Outcome::NotReached | Outcome::Untried => untried += 1,
                Outcome::Right => {
                    self.right.push(finding);
                    continue;
                }
            }
            let shrunk =
                finding.similar.extract_if(.., |similar| !similar.hit.is_unfinished).collect::<Vec<_>>();
            found.extend(iter::once(finding).chain(shrunk));
        }
        if untried > 0 {
            log(&format!(
                "the time was over before {untried} of {all} known findings were tried again: they count as not fixed"
            ));
        }
        Ok(found)
    }

    /// Tries all operations on these layouts with their numbers of items, and nothing else.
    pub fn examine(
        &mut self,
        layouts: Vec<(Layout, u32)>,
        log: &mut dyn FnMut(&str),
        save: &mut dyn FnMut(&MpiReport),
    ) -> Result<MpiReport, MpiError> {
        let mut report = self.report();
        let range = Range { fixed: layouts, ..Range::default() };
        self.campaign(&range, &mut Vec::new(), &mut report, log, save)?;
        Ok(report)
    }

    /// Tries cases without those of earlier findings, and adds further findings to the list of shrunk ones, and to the report those that
    /// probably have different causes. Returns the number of random cases that were begun.
    fn campaign(
        &mut self,
        range: &Range,
        shrunk: &mut Vec<Finding>,
        report: &mut MpiReport,
        log: &mut dyn FnMut(&str),
        save: &mut dyn FnMut(&MpiReport),
    ) -> Result<u64, MpiError> {
        let mut campaign = Campaign::default();
        let left_out = [shrunk.as_slice(), &self.avoided].concat();
        // With a baseline, each hang is tried again with the usual limit of silence.
        let limit = self.limit.filter(|_| self.worker.baseline.is_some());
        let hurry = limit.map_or(1.0, |limit| limit.hurry(self.worker.conditions.timeout_s));
        self.worker.hurried(hurry, |worker| campaign.run(worker, &self.plan.operations, range, &left_out))?;
        log(&format!("{} cases, {} hits", campaign.coverage.cases, campaign.hits.len()));
        report.hits += campaign.hits.len();
        self.leave_out_old(&mut campaign, report)?;
        report.coverage.add(&campaign.coverage);
        self.note_conditions(report);
        let is_new = |hit: &&Hit| !shrunk.iter().any(|finding| explains(finding, hit));
        let new = one_of_each(&campaign.hits.iter().filter(is_new).cloned().collect::<Vec<_>>());
        let unshrunk = new.into_iter().map(|hit| Finding { is_complete: false, ..Finding::new(hit) });
        let all = shrunk.iter().cloned().chain(unshrunk).collect();
        (report.findings, report.fixed) = self.joined(all);
        save(report);
        let now = Instant::now();
        // Shrinking is to leave the time that the other cases will take.
        let cases = if self.plan.cases_first { self.plan.cases } else { 0 };
        let rest = cases.saturating_sub(range.first + range.cases) as f64;
        let rest = Duration::try_from_secs_f64(rest * 60.0 / report.coverage.cases_per_minute().max(1e-9));
        let rest = rest.unwrap_or(Duration::MAX);
        self.worker.deadline = self.limit.map(|limit| limit.of_shrinking(now, rest));
        let deadline = match self.worker.deadline {
            _ if campaign.is_stopped => now,
            // The rest is for other operations on layouts that are not shrunk.
            Some(deadline) => now + (deadline - now) * 3 / 4,
            None => now + campaign.coverage.time.max(TO_SHRINK),
        };
        let (is_stopped, reached) = (campaign.is_stopped, campaign.reached);
        let reduced = reduce(&mut self.worker, &self.plan.operations, campaign, shrunk, deadline)?;
        report.is_stopped = is_stopped || reduced.is_stopped;
        report.once.extend(reduced.once);
        let now = Instant::now();
        self.worker.deadline = self.limit.map(|limit| now + limit.left_to_search(now) / 2);
        shrunk.extend(lasting(&mut self.worker, reduced.findings, report)?);
        if !report.is_stopped {
            let now = Instant::now();
            self.worker.deadline = self.limit.map(|limit| now + limit.left_to_search(now) / 2);
            unless_stopped(mark_variants(&mut self.worker, shrunk), &mut report.is_stopped)?;
        }
        (report.findings, report.fixed) = self.joined(shrunk.clone());
        if !report.findings.is_empty() {
            log(&format!("{} findings", report.findings.len()));
        }
        self.confirm(report, rest)?;
        save(report);
        Ok(reached)
    }

    fn joined(&self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<Hit>) {
        join(findings, &self.right, self.worker.baseline.is_some())
    }

    /// Leaves out hits that occur with the baseline, too.
    fn leave_out_old(&mut self, campaign: &mut Campaign, report: &mut MpiReport) -> Result<(), MpiError> {
        let Some(baseline) = &mut self.worker.baseline else { return Ok(()) };
        baseline.deadline = self.limit.map(|limit| limit.end);
        let are_old = unless_stopped(are_old(baseline, &campaign.hits), &mut campaign.is_stopped)?;
        let mut are_old = are_old.unwrap_or_default().into_iter();
        campaign.hits.retain(|hit| match are_old.next().flatten() {
            Some(false) => true,
            Some(true) => {
                report.old.entry(hit.operation.name).or_insert_with(|| hit.clone());
                self.old.hits.extend(hit.kind.ends_process().then(|| hit.clone()));
                false
            }
            None => {
                report.uncompared += 1;
                false
            }
        });
        report.new_hits += campaign.hits.len();
        Ok(())
    }

    /// Shrinks crashes and hangs that occur with the baseline, too, so that the next campaign leaves out
    /// their types: after many, an operation is not tried any more. Returns whether the user wants to stop.
    fn avoid_old(&mut self) -> Result<bool, MpiError> {
        let old = std::mem::take(&mut self.old);
        if old.hits.is_empty() {
            return Ok(false);
        }
        let now = Instant::now();
        let time = self.limit.map_or(TO_SHRINK, |limit| limit.left_to_search(now) / 4);
        self.worker.deadline = Some(now + time);
        let baseline = self.worker.baseline.take();
        // Other operations that fail with these types may do so since today: they are not left out.
        let reduced = reduce(&mut self.worker, &[], old, &mut self.avoided, now + time * 3 / 4);
        self.worker.baseline = baseline;
        let Reduced { findings, is_stopped, .. } = reduced?;
        self.avoided.extend(findings);
        Ok(is_stopped)
    }

    fn report(&self) -> MpiReport {
        let name = |worker: &Worker<'_>| {
            let target = worker.conditions.target;
            (target.label(), target.installation.title())
        };
        let (label, title) = name(&self.worker);
        let baseline =
            self.worker.baseline.as_deref().map(name).map(|(label, title)| format!("{label}: {title}"));
        MpiReport { label, title, baseline, operations: self.plan.operations.clone(), ..MpiReport::default() }
    }

    /// The number of ranks, and the path of their messages, as far as it is known.
    fn note_conditions(&self, report: &mut MpiReport) {
        report.ranks = self.worker.ranks;
        report.transport.clone_from(&self.worker.transport);
        report.configuration = self.worker.library.clone().unwrap_or_default().0;
    }

    /// How findings of other MPIs fail on this one; `None` for those that do not.
    pub fn elsewhere(&mut self, hits: &[Hit]) -> Result<Vec<(Hit, Option<FaultKind>)>, MpiError> {
        self.worker.deadline = self.plan.time.map(|time| Instant::now() + time / ELSEWHERE);
        let outcomes = evaluate(&mut self.worker, hits, usize::MAX)?;
        let result = |(hit, outcome): (&Hit, Outcome)| match outcome {
            Outcome::Fails(hit) => Some((hit.clone(), Some(hit.kind))),
            Outcome::Right => Some((hit.clone(), None)),
            Outcome::NotReached | Outcome::Untried => None,
        };
        Ok(hits.iter().zip(outcomes).filter_map(result).collect())
    }

    /// Compiles and runs the C program of each new finding, once. If it does not show the fault, a similar hit represents the finding.
    fn confirm(&mut self, report: &mut MpiReport, rest: Duration) -> Result<(), MpiError> {
        let mut new: Vec<_> = report.findings.iter_mut().filter(|finding| !finding.is_known).collect();
        // A hanging program takes as long as many others.
        new.sort_by_key(|finding| finding.hit.kind == FaultKind::Hang);
        let memory = ProgramMemory::simplest(self.worker.conditions.memory);
        for finding in new {
            finding.similar.sort_by_key(|similar| similar.hit.is_unfinished);
            let shrunk = finding.similar.iter().map(|similar| &similar.hit).filter(|hit| !hit.is_unfinished);
            let hits: Vec<_> = iter::once(&finding.hit).chain(shrunk.take(MOST_SIMILAR)).cloned().collect();
            finding.confirmation.code =
                program(&finding.hit, &report.title, finding.hit.operation.ranks, memory);
            let reason = if report.is_stopped { "stopped" } else { "the time was over" };
            finding.confirmation.evidence = Evidence::Unfinished(format!("{reason} before it was run"));
            for (place, hit) in hits.into_iter().enumerate() {
                let code = program(&hit, &report.title, hit.operation.ranks, memory);
                let is_late = |limit: Limit| limit.is_too_late(Instant::now(), hit.kind, rest);
                let confirmation = match self.confirmed.get(&code) {
                    Some(known) => known.clone(),
                    None if report.is_stopped || self.limit.is_some_and(is_late) => break,
                    None => {
                        let new = confirm(&self.worker, &hit, self.limit.map(|limit| limit.end));
                        let Some(new) = unless_stopped(new, &mut report.is_stopped)? else { break };
                        self.confirmed.entry(code).or_insert(new).clone()
                    }
                };
                if place == 0 || confirmation.shown().is_some() {
                    finding.confirmation = confirmation;
                }
                if finding.confirmation.shown().is_some() {
                    if place > 0 {
                        let similar = &mut finding.similar[place - 1];
                        std::mem::swap(&mut finding.hit, &mut similar.hit);
                        std::mem::swap(&mut finding.others, &mut similar.others);
                        std::mem::swap(&mut finding.is_complete, &mut similar.is_complete);
                    }
                    break;
                }
            }
        }
        // The same program shows both, so that it is not a regression. Others that were joined to it may be one.
        let is_old = |finding: &mut Finding| matches!(finding.confirmation.evidence, Evidence::Old(_));
        for mut finding in report.findings.extract_if(.., is_old).collect::<Vec<_>>() {
            let similar = std::mem::take(&mut finding.similar);
            report.findings.extend(similar.into_iter().filter(|similar| !finding.is_cause_of(similar)));
            report.old.entry(finding.hit.operation.name).or_insert(finding.hit);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::confirmation::tests::mpi;
    use super::*;

    #[test]
    fn the_library_of_the_baseline_is_another_one() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let loads = |path: &str| {
            let event = format!(r#"{{"check":"library","version":"MPI 1.0","path":"{path}"}}"#);
            format!("echo '{event}'; echo '{{\"check\":\"done\"}}'")
        };
        let error = |libraries: [&str; 2]| {
            let targets = [0, 1].map(|i| mpi(folders[i].path(), &loads(libraries[i])));
            let conditions = targets.each_ref().map(|target| Conditions::on_host(target, 5.0));
            let [new, old] = conditions;
            let plan = SessionPlan::default();
            Session::new(new, Some(old), &plan).unwrap().try_baseline().err().map(|error| error.to_string())
        };
        assert_eq!(error(["/new/libmpi.so", "/old/libmpi.so"]), None);
        let same = error(["/old/libmpi.so"; 2]).unwrap();
        assert!(same.contains("have loaded /old/libmpi.so: check LD_LIBRARY_PATH"), "{same}");
    }
}
