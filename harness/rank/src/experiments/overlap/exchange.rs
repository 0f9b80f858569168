//! The exchange of a micro-app between all ranks. Its first stage overlaps with the computation; later stages
//! pack the data received in the first, and run during the wait.

use anyhow::Context;
use common::kinds::overlap::methods::transfer;

use super::traffic::Traffic;
use crate::checked::{CallError, TeamCalls};
use crate::experiments::halo::active::ActiveExchange;
use crate::experiments::halo::method::Parts;
use crate::experiments::halo::payload::ExchangePayload;
use crate::payload::{Checks, Mismatch};

/// One thread packs, at the start and in the wait: in between, the computation's threads use the cores.
pub const THREADS: usize = 1;

/// An exchange with its memory, on all ranks.
pub struct ExchangeTraffic<'a> {
    pub parts: &'a Parts,
    pub payload: ExchangePayload<'a>,
    /// Permission for this one thread to call MPI.
    pub calls: Result<TeamCalls, String>,
}

impl ExchangeTraffic<'_> {
    /// Begins a stage: receives are posted, shares packed, messages sent.
    fn start_stage(&self, active: &ActiveExchange<'_>, stage: usize) -> Result<(), CallError> {
        // SAFETY: there is only one thread. The previous stage has ended, and earlier sends are complete.
        unsafe {
            active.method.start(stage)?;
            for send in 0..self.parts.links.stages[stage].sends.len() {
                active.pack(stage, send, 0)?;
                active.method.ready(stage, send, 0)?;
            }
            active.method.send(stage)
        }
    }

    /// Ends a stage, and unpacks the received data.
    fn finish_stage(&self, active: &ActiveExchange<'_>, stage: usize) -> Result<(), CallError> {
        // SAFETY: all shares are sent, and there is no other thread.
        unsafe {
            active.method.finish(stage)?;
            active.unpack(stage)
        }
    }
}

impl<'a> Traffic for ExchangeTraffic<'a> {
    type Active = ActiveExchange<'a>;

    fn make(&mut self, method: &str) -> anyhow::Result<ActiveExchange<'a>> {
        let transfer = transfer(method).map_err(anyhow::Error::msg)?.exchange;
        let transfer = transfer.with_context(|| format!("{method} communicates no exchange"))?;
        Ok(ActiveExchange::make(transfer, self.parts, self.calls.clone())?)
    }

    fn fill(&mut self, active: &mut ActiveExchange<'a>) -> Result<(), CallError> {
        self.payload.fill(active.is_reference());
        Ok(())
    }

    fn renew(&mut self, _: &mut ActiveExchange<'a>) -> Result<(), CallError> {
        let version = self.payload.checks.change();
        // All communication has ended, and there is no other thread.
        self.payload.own()[0].write(version);
        Ok(())
    }

    fn start(&mut self, active: &mut ActiveExchange<'a>) -> Result<(), CallError> {
        self.start_stage(active, 0)
    }

    fn test(&mut self, active: &mut ActiveExchange<'a>) -> Result<bool, CallError> {
        // SAFETY: all shares of the stage are sent, and there is no other thread.
        unsafe { active.method.test(0) }
    }

    fn wait(&mut self, active: &mut ActiveExchange<'a>) -> Result<(), CallError> {
        self.finish_stage(active, 0)?;
        for stage in 1..self.parts.links.stages.len() {
            self.start_stage(active, stage)?;
            self.finish_stage(active, stage)?;
        }
        Ok(())
    }

    fn checks(&mut self) -> &mut Checks {
        &mut self.payload.checks
    }

    fn look(&mut self) {
        self.payload.look();
    }

    fn wrong(&mut self) -> Option<Mismatch> {
        self.payload.wrong()
    }

    fn teardown(&mut self, active: ActiveExchange<'a>) -> Result<(), CallError> {
        active.method.free()
    }
}
