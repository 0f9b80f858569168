//! A process that finds sizes: bytes and matrices for the requested times, reported as events.

use common::kinds::overlap::methods::NONBLOCKING;
use common::kinds::overlap::operations::Operation;
use common::kinds::overlap::{Built, MOST_BYTES, MOST_ROWS};
use common::memory::available_bytes;
use common::model::Outcome;
use common::model::calibration::{CalibratedSize, SizeOf};
use common::model::event::{Event, Stage};

use super::CaseStart;
use super::calibrate;
use super::cell::Cell;
use super::computation::Computation;
use super::operation::OperationTraffic;
use super::traffic::Traffic;
use crate::environment;
use crate::measure::job::Job;
use crate::measure::schedule::or_lack;

impl CaseStart<'_> {
    /// Finds the bytes of an operation for some times, and the matrices for others.
    pub(super) fn calibrate_operation(
        self,
        operation: &'static Operation,
        mut job: Job<'_>,
    ) -> anyhow::Result<u8> {
        let (methods, _) = self.methods(&Built::Operation)?;
        let mut cell = self.cell(&self.world.comm)?;
        self.report_hello(&mut job, &cell)?;
        let available = available_bytes().unwrap_or(u64::MAX);
        let of_host = self.world.comm.split_shared()?.size()? as u64;
        // A block for each rank on either side, and as much in the buffers of an MPI that copies; the
        // smallest limit of all ranks applies.
        let most = available / (4 * of_host * self.ranks as u64);
        let most = self.world.comm.minima(&[most.min(MOST_BYTES) as f64])?[0] as u64;
        // The form that every MPI has, whichever methods are measured.
        let method = NONBLOCKING.to_owned();
        let element = self.case.setting.element;
        let sizes = calibrate::find(&self.args.communication_s, SizeOf::Bytes, most.max(1), |bytes| {
            job.reporter.working(&method, Stage::Calibrate);
            let mut traffic = OperationTraffic::new(job.world, operation, element, usize::try_from(bytes)?)?;
            let mut active = traffic.make(&method)?;
            let time_s = calibrate::communication_s(job.world, &mut cell, &mut traffic, &mut active)?;
            traffic.teardown(active)?;
            Ok(time_s)
        })?;
        report(&mut job, &sizes);
        let matrices = self.matrices(&mut job, &mut cell, &self.args.computation_s)?;
        report(&mut job, &matrices);
        end(job, &methods)
    }

    /// Measures the time of a case's communication by the slowest method, and finds the matrices for some times, or for that one.
    pub(super) fn calibrate_case(
        self,
        mut job: Job<'_>,
        mut traffic: impl Traffic,
        mut cell: Cell,
        methods: &[String],
    ) -> anyhow::Result<u8> {
        self.report_hello(&mut job, &cell)?;
        let mut longest_s = 0.0_f64;
        for method in methods {
            job.reporter.working(method, Stage::Calibrate);
            if let Ok(mut active) = or_lack(traffic.make(method))? {
                longest_s = longest_s.max(calibrate::communication_s(
                    job.world,
                    &mut cell,
                    &mut traffic,
                    &mut active,
                )?);
                traffic.teardown(active)?;
            }
        }
        // Three digits: a time that is easy to type.
        let longest_s = rounded(longest_s);
        let bytes = self.case.setting.bytes.unwrap_or(0);
        let message = CalibratedSize {
            of: SizeOf::Message,
            target_s: longest_s,
            size: bytes,
            time_s: longest_s,
            is_found: true,
        };
        let mut targets_s = self.args.computation_s.clone();
        if self.args.as_long {
            targets_s.push(longest_s);
            targets_s.sort_by(f64::total_cmp);
        }
        report(&mut job, &[message]);
        let matrices = self.matrices(&mut job, &mut cell, &targets_s)?;
        report(&mut job, &matrices);
        end(job, methods)
    }

    /// The matrices for some times.
    fn matrices(
        &self,
        job: &mut Job<'_>,
        cell: &mut Cell,
        targets_s: &[f64],
    ) -> anyhow::Result<Vec<CalibratedSize>> {
        let (threads, rim_share) = (self.case.setting.threads, self.case.setting.rim_share());
        calibrate::find(targets_s, SizeOf::MatrixOrder, MOST_ROWS, |order| {
            let method = job.reporter.method.clone();
            job.reporter.working(&method, Stage::Calibrate);
            cell.computation = Computation::new(threads, usize::try_from(order)?, rim_share)?;
            cell.sync.again()?;
            calibrate::median_s(job.world, || Ok(cell.compute()?.whole_s))
        })
    }

    /// Reports that the process has begun.
    fn report_hello(&self, job: &mut Job<'_>, cell: &Cell) -> anyhow::Result<()> {
        let place = environment::place(job.rank);
        let facts = self.case.message(&Built::Operation, self.ranks);
        let mut hello = environment::hello(self.world, &place, facts, job.clock, Vec::new())?;
        hello.clocks = Some(cell.sync.facts()?);
        job.reporter.report(&Event::Hello(Box::new(hello)));
        Ok(())
    }
}

/// A time rounded to three digits.
fn rounded(time_s: f64) -> f64 {
    format!("{time_s:.2e}").parse().unwrap_or(time_s)
}

/// Reports sizes that were found.
fn report(job: &mut Job<'_>, sizes: &[CalibratedSize]) {
    sizes.iter().for_each(|size| job.reporter.report(&Event::Size(*size)));
}

/// Ends a process after it has found all sizes.
fn end(mut job: Job<'_>, methods: &[String]) -> anyhow::Result<u8> {
    methods.iter().for_each(|method| job.reporter.ended(method, Outcome::Converged));
    job.finish()?;
    Ok(job.reporter.exit_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_three_digits_is_one_to_type() {
        assert_eq!([rounded(0.000_123_456), rounded(1.239)], [0.000_123, 1.24]);
    }
}
