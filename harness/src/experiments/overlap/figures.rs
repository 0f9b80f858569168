//! Figures of overlap, by the formulas of BenchNBC (Denis et al., CCPE 2022, section 3), and the percentages
//! that the Intel MPI Benchmarks and the OSU Micro-Benchmarks would print for the same times.
//!
//! Each figure is computed per round, from the medians of its times. Its value is the median over rounds.

use std::collections::BTreeMap;

use crate::experiments::summary::RowContext;
use crate::model::{Figure, Phase, Quantity, Record};
use crate::stats;
use common::summary::{Rounds, medians};

/// The times of a round, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub communication_s: f64,
    /// The computation only, including its rim.
    pub computation_s: f64,
    /// The rim only: it waits for the communication, so that nothing can hide behind it.
    pub rim_alone_s: f64,
    /// The computation, together with the communication.
    pub compute_s: f64,
    /// The rim after the wait.
    pub rim_s: f64,
    /// Call and wait, together with the computation.
    pub in_mpi_s: f64,
    /// Both together, from the first start to the last end.
    pub overlapped_s: f64,
}

impl Cell {
    /// (t - longer) / shorter; for a computation with a rim (t - rim - longer) / shorter, of the communication and the interior.
    pub fn overhead_ratio(&self) -> f64 {
        let (longer, shorter) = self.longer_and_shorter();
        (self.overlapped_s - self.rim_alone_s - longer) / shorter
    }

    /// The part of the computation that can hide a communication.
    fn interior_s(&self) -> f64 {
        self.computation_s - self.rim_alone_s
    }

    /// The time of the computation together with the communication, relative to the computation only.
    pub fn computation_slowdown(&self) -> f64 {
        self.compute_s / self.interior_s()
    }

    /// The time within MPI together with the computation, relative to the communication only.
    pub fn communication_ratio(&self) -> f64 {
        self.in_mpi_s / self.communication_s
    }

    /// The fraction of the communication's time that does not add to the computation's.
    pub fn hidden(&self) -> f64 {
        (self.communication_s + self.computation_s - self.overlapped_s) / self.communication_s
    }

    /// The formula of IMB-NBC: (t_pure + t_CPU - t_ovrl) / min(t_pure, t_CPU), from 0 to 1.
    pub fn overlap_imb(&self) -> f64 {
        let (_, shorter) = self.longer_and_shorter();
        ((self.communication_s + self.computation_s - self.overlapped_s) / shorter).clamp(0.0, 1.0)
    }

    /// The formula of the OSU benchmarks of nonblocking collectives: 1 - (t_total - t_compute) / t_pure, at
    /// least 0; the computation is the one together with the communication.
    pub fn overlap_osu(&self) -> f64 {
        (1.0 - (self.overlapped_s - self.compute_s - self.rim_s) / self.communication_s).max(0.0)
    }

    fn longer_and_shorter(&self) -> (f64, f64) {
        let (a, b) = (self.communication_s, self.interior_s());
        (a.max(b), a.min(b))
    }
}

/// Computes a value from the times of a round.
type OfRound = fn(&Cell) -> f64;

const OF_ROUNDS: [(Quantity, OfRound); 6] = [
    (Quantity::OverheadRatio, Cell::overhead_ratio),
    (Quantity::ComputationSlowdown, Cell::computation_slowdown),
    (Quantity::CommunicationRatio, Cell::communication_ratio),
    (Quantity::Hidden, Cell::hidden),
    (Quantity::OverlapImb, Cell::overlap_imb),
    (Quantity::OverlapOsu, Cell::overlap_osu),
];

/// Adds the figures of a method: the ratios, and the effect of an idle MPI on a computation.
pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    record.add(context.overhead());
    let cells = cells(context);
    for (quantity, of) in OF_ROUNDS {
        record.add(over_rounds(quantity, cells.values().map(of)));
    }
    record.add(mpi_impact(context));
    record.add(context.clock_error());
    record.add(context.device_bytes());
    record.add(context.start_late());
    record.add(context.unbound_ranks());
}

/// The times of each round that has all of them.
fn cells(context: &RowContext<'_>) -> BTreeMap<usize, Cell> {
    let of = |phase| medians(&context.view.rounds(phase, context.scope));
    let [communication, computation, compute, in_mpi, overlapped] =
        [Phase::CommunicationAlone, Phase::ComputationAlone, Phase::Compute, Phase::InMpi, Phase::Overlapped]
            .map(of);
    // Without a rim, it is not timed.
    let [rim_alone, rim] = [Phase::RimAlone, Phase::Rim].map(of);
    let cell = |(round, &overlapped_s): (&usize, &f64)| {
        let at = |times: &BTreeMap<usize, f64>| times.get(round).copied();
        let cell = Cell {
            communication_s: at(&communication)?,
            computation_s: at(&computation)?,
            rim_alone_s: at(&rim_alone).unwrap_or(0.0),
            compute_s: at(&compute)?,
            rim_s: at(&rim).unwrap_or(0.0),
            in_mpi_s: at(&in_mpi)?,
            overlapped_s,
        };
        Some((*round, cell))
    };
    overlapped.iter().filter_map(cell).collect()
}

/// The median over rounds with its interval. Without an interval there is no figure.
fn over_rounds(quantity: Quantity, values: impl Iterator<Item = f64>) -> Option<Figure> {
    let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let interval = stats::series_interval(&values)?;
    let value = stats::median(&stats::sorted(values))?;
    Some(Figure::with_interval(quantity, value, interval))
}

/// The computation while MPI is idle, relative to that before MPI was initialised. The interval includes the
/// errors of both medians: the first computations were at one time, and share no rounds with the later ones.
fn mpi_impact(context: &RowContext<'_>) -> Option<Figure> {
    let rounds = |phase| -> Rounds { context.view.rounds(phase, context.scope) };
    let before = stats::sorted(rounds(Phase::ComputationWithoutMpi).into_values().flatten());
    let after: Vec<Vec<f64>> = rounds(Phase::ComputationAlone).into_values().collect();
    let (low_before, high_before) = stats::median_interval(&before)?;
    let (low, high) = stats::blocks_interval(&after)?;
    let middle = stats::median(&stats::sorted(after.into_iter().flatten()))? / stats::median(&before)?;
    Some(Figure::with_interval(Quantity::MpiImpact, middle, (low / high_before, high / low_before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round in which the parts take these times separately, and these in MPI and computing together.
    fn cell(communication_s: f64, computation_s: f64, in_mpi_s: f64, compute_s: f64) -> Cell {
        let overlapped_s = in_mpi_s + compute_s;
        Cell {
            communication_s,
            computation_s,
            rim_alone_s: 0.0,
            compute_s,
            rim_s: 0.0,
            in_mpi_s,
            overlapped_s,
        }
    }

    /// The same with a rim of 1.
    fn with_rim(cell: Cell) -> Cell {
        let (computation_s, overlapped_s) = (cell.computation_s + 1.0, cell.overlapped_s + 1.0);
        Cell { computation_s, rim_alone_s: 1.0, rim_s: 1.0, overlapped_s, ..cell }
    }

    #[test]
    fn nothing_hides_behind_a_rim_and_it_is_no_cost_of_the_communication() {
        for alone in [cell(2.0, 4.0, 2.0, 4.0), cell(2.0, 4.0, 1.0, 4.0), cell(4.0, 1.0, 3.0, 1.5)] {
            let rimmed = with_rim(alone);
            for (quantity, of) in OF_ROUNDS {
                assert_eq!(of(&rimmed), of(&alone), "{quantity:?}");
            }
        }
        // A communication that takes as long as interior and rim cannot hide behind the rim: perfect is 4 + 1, not 4.
        let long = Cell { overlapped_s: 5.0, ..with_rim(cell(4.0, 3.0, 1.0, 3.0)) };
        assert_eq!((long.overhead_ratio(), long.hidden()), (0.0, 0.75));
        // If a rim takes longer after the wait than separately, that is a cost.
        let late = Cell { rim_s: 2.0, overlapped_s: 8.0, ..with_rim(cell(2.0, 4.0, 2.0, 4.0)) };
        assert_eq!((late.overhead_ratio(), late.overlap_osu()), (1.5, 0.0));
    }

    #[test]
    fn the_formulas_are_the_papers() {
        // Serial.
        let serial = cell(2.0, 4.0, 2.0, 4.0);
        assert_eq!(
            (serial.overhead_ratio(), serial.computation_slowdown(), serial.communication_ratio()),
            (1.0, 1.0, 1.0)
        );
        assert_eq!((serial.hidden(), serial.overlap_imb(), serial.overlap_osu()), (0.0, 0.0, 0.0));
        // All of the communication is hidden behind the computation, and vice versa.
        let perfect = cell(2.0, 4.0, 0.0, 4.0);
        assert_eq!(
            (perfect.overhead_ratio(), perfect.communication_ratio(), perfect.hidden()),
            (0.0, 0.0, 1.0)
        );
        assert_eq!((perfect.overlap_imb(), perfect.overlap_osu()), (1.0, 1.0));
        let short = cell(4.0, 1.0, 3.0, 1.0);
        assert_eq!((short.overhead_ratio(), short.hidden(), short.overlap_imb()), (0.0, 0.25, 1.0));
        // Half of it is hidden.
        assert_eq!(cell(2.0, 4.0, 1.0, 4.0).overhead_ratio(), 0.5);
        // Twice the serial time: IMB calls it no overlap.
        let slower = cell(2.0, 4.0, 4.0, 8.0);
        assert_eq!((slower.overhead_ratio(), slower.overlap_imb(), slower.hidden()), (4.0, 0.0, -3.0));
        // The communication slows the computation by its whole time: OSU counts it as hidden.
        let stolen = cell(2.0, 4.0, 0.0, 6.0);
        assert_eq!(
            (stolen.overhead_ratio(), stolen.computation_slowdown(), stolen.overlap_osu()),
            (1.0, 1.5, 1.0)
        );
        // Faster than possible: a reference was imprecise.
        assert!(cell(2.0, 4.0, 0.0, 3.0).overhead_ratio() < 0.0);
    }

    #[test]
    fn a_figure_stands_with_its_interval_or_not_at_all() {
        assert_eq!(over_rounds(Quantity::OverheadRatio, [1.0; 5].into_iter()), None);
        let figure = over_rounds(Quantity::OverheadRatio, [1.0; 6].into_iter()).unwrap();
        assert_eq!((figure.value, figure.interval()), (Some(1.0), Some((1.0, 1.0))));
    }
}
