//! A case as an experiment: sent data is verified to have arrived, and blocks of repetitions are measured.

use common::model::Phase;
use common::model::event::Block;

use super::cell::{Cell, collected};
use super::traffic::Traffic;
use crate::checked::{CallError, Comm};
use crate::measure::experiment::{Amount, Made, ScheduledCase, Turn};
use crate::measure::job::Job;

/// Communications before timing, each filled and compared: with and without a computation in between.
const VERIFIED: usize = 3;

/// A case as an experiment.
pub struct OverlapExperiment<'a, T> {
    pub job: Job<'a>,
    pub traffic: T,
    pub cell: Cell,
    /// Times of the computation before MPI was initialised; reported with the first block of each method.
    pub without_mpi_s: Vec<f64>,
    /// Ranks in which no thread is bound to the core that is left free, if one is; complete on rank 0.
    pub unbound_ranks: Option<usize>,
    /// Why nothing can be measured.
    pub refusal: Option<String>,
}

impl<'a, T: Traffic> ScheduledCase<'a> for OverlapExperiment<'a, T> {
    type ActiveMethod = Made<T::Active>;

    fn job(&mut self) -> &mut Job<'a> {
        &mut self.job
    }

    fn make(&mut self, method: &str) -> anyhow::Result<Self::ActiveMethod> {
        let is_refused = !self.job.world.everywhere(self.refusal.is_none())?;
        if is_refused {
            let reason = self.refusal.clone().unwrap_or_else(|| "another rank cannot".to_owned());
            return Err(CallError::NotPossible { reason }.into());
        }
        Made::timed(|| self.traffic.make(method))
    }

    fn verify(&mut self, measured: &mut Self::ActiveMethod) -> anyhow::Result<Option<String>> {
        let active = &mut measured.active;
        let (mut mismatch, product) = (None, self.cell.computation.checksum());
        for _ in 0..VERIFIED {
            for computes in [false, true] {
                self.traffic.fill(active)?;
                self.job.world.barrier()?;
                self.traffic.start(active)?;
                if computes {
                    self.cell.computation.run();
                }
                self.traffic.wait(active)?;
                if computes {
                    self.cell.computation.run_rim();
                }
                mismatch = mismatch.or(self.traffic.wrong());
                // No rank may fill data that others still send.
                self.job.world.barrier()?;
            }
        }
        if self.traffic.synchronises() {
            let ranks = self.job.world.size()?;
            for late in 0..ranks {
                let found = self.cell.expect_all(&mut self.traffic, active, self.job.world, late)?;
                mismatch = mismatch.or(found);
            }
        }
        let is_same = self.cell.computation.checksum() == product;
        let other = || "the simultaneous computation had another result".to_owned();
        Ok(mismatch.or_else(|| (!is_same).then(other)))
    }

    fn repeat(&mut self, measured: &mut Self::ActiveMethod, count: u32) -> anyhow::Result<Turn> {
        self.traffic.fill(&mut measured.active)?;
        Turn::shortest(count, || {
            // The blocks will report the error.
            let readings = self.cell.repeat(&mut self.traffic, &mut measured.active, true)?;
            Ok(readings.overlapped[1] - readings.overlapped[0])
        })
    }

    fn block(
        &mut self,
        measured: &mut Self::ActiveMethod,
        amount: Amount,
        _: u32,
    ) -> anyhow::Result<(Option<Block>, Option<String>)> {
        let active = &mut measured.active;
        let window = self.cell.sync.begin()?;
        self.traffic.fill(active)?;
        for _ in 0..amount.untimed {
            self.cell.repeat(&mut self.traffic, active, false)?;
        }
        let mut readings = Vec::with_capacity(amount.samples);
        for _ in 0..amount.samples {
            readings.push(self.cell.repeat(&mut self.traffic, active, true)?);
            if self.traffic.checks().is_compared() {
                self.traffic.compare();
                // The caches are others after it, so the next repetition does not count.
                self.cell.repeat(&mut self.traffic, active, false)?;
            }
        }
        let clock = self.cell.sync.end(window)?;
        let clock_error_s = self.cell.sync.residual_s()?;
        let readings: Vec<_> = readings.into_iter().map(|readings| readings.converted(&clock)).collect();
        self.traffic.compare();
        let (mismatch, compared) = (self.traffic.checks().wrong(), self.traffic.checks().compared);
        let world = self.job.world;
        let init_s = measured.init_s.take();
        let without_mpi_s = if init_s.is_some() { slowest(world, &self.without_mpi_s)? } else { Vec::new() };
        let block = collected(world, &readings, self.cell.computation.has_rim)?.map(|mut block| {
            (block.clock_error_s, block.compared) = (clock_error_s, compared);
            block.unbound_ranks = self.unbound_ranks;
            block.times[Phase::Init].extend(init_s);
            block.times[Phase::ComputationWithoutMpi] = without_mpi_s;
            block
        });
        Ok((block, mismatch))
    }

    fn teardown(&mut self, measured: Self::ActiveMethod) -> anyhow::Result<()> {
        Ok(self.traffic.teardown(measured.active)?)
    }
}

/// For each of several times, the longest over all ranks. Noise may give ranks different numbers of times;
/// the smallest number is used. Collective.
fn slowest(world: &Comm, mine: &[f64]) -> anyhow::Result<Vec<f64>> {
    let common = world.minima(&[mine.len() as f64])?[0] as usize;
    Ok(world.maxima(&mine[..common])?)
}
