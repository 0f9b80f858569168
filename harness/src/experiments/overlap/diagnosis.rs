//! Diagnoses from the ratios (Denis et al., CCPE 2022, section 3.3).

use crate::experiments::launches;
use crate::model::{Phase, Quantity, Record};
use crate::report::case::CaseView;

named! {
    /// How a communication and a computation overlapped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Diagnosis {
        /// Both together take hardly longer than the longer one.
        Overlapped = "overlapped",
        /// Part of the shorter one is hidden.
        InPart = "overlapped in part",
        /// The communication happens in the wait.
        NoProgression = "no progression",
        /// The communication happens during the computation, and slows it down.
        ComputationSlowed = "computation slowed",
        /// The computation is slowed down, and the communication still happens in the wait.
        Contention = "contention without overlap",
        /// The interval of the overhead ratio is too wide or missing.
        TooShort = "too short to decide",
        /// No interval, because there are several launches but too few.
        TooFewLaunches = "too few launches to decide",
    }
}

/// Limits for nothing and for all, as fractions of the shorter time. The references and their intervals need
/// less than this on a quiet machine.
const LITTLE: f64 = 0.25;
const MOST: f64 = 1.0 - LITTLE;

/// The widest interval of an overhead ratio that gives a diagnosis. The difference between perfect and serial is 1.
const WIDEST: f64 = 0.75;

/// The values for a diagnosis, as fractions of the shorter time unless noted otherwise.
#[derive(Clone, Copy, Debug)]
struct Ratios {
    overhead: f64,
    low: f64,
    high: f64,
    /// Time that the communication adds to the computation.
    stolen: f64,
    /// Time left in MPI, of the part of the communication that could be hidden.
    left: f64,
}

impl Diagnosis {
    /// The diagnosis of a method of a case.
    pub fn from_record(case: &CaseView<'_>, record: &Record) -> Self {
        let ratios = || {
            let overhead = record.figure(Quantity::OverheadRatio)?;
            let (low, high) = overhead.interval()?;
            let alone = |phase| case.median(&record.method, phase);
            let (communication_s, computation_s) =
                (alone(Phase::CommunicationAlone)?, alone(Phase::ComputationAlone)?);
            // A rim waits for the communication, which can hide only behind the interior.
            let computation_s = computation_s - alone(Phase::RimAlone).unwrap_or(0.0);
            let slowdown = record.value(Quantity::ComputationSlowdown)?;
            let shorter_s = communication_s.min(computation_s);
            let in_mpi_s = record.value(Quantity::CommunicationRatio)? * communication_s;
            Some(Ratios {
                overhead: overhead.value?,
                low,
                high,
                stolen: (slowdown - 1.0) * computation_s / shorter_s,
                left: 1.0 - (communication_s - in_mpi_s) / shorter_s,
            })
        };
        match ratios() {
            Some(ratios) => Self::of_ratios(ratios),
            None if (2..launches::FEWEST).contains(&record.launches) => Self::TooFewLaunches,
            None => Self::TooShort,
        }
    }

    fn of_ratios(ratios: Ratios) -> Self {
        let Ratios { overhead, low, high, stolen, left } = ratios;
        if high - low > WIDEST {
            // A result that is shown to be worse than serial is reported, even if it is much worse.
            if low < MOST {
                return Self::TooShort;
            }
        }
        if overhead < LITTLE {
            return Self::Overlapped;
        }
        match (stolen > LITTLE, left < MOST) {
            (true, true) => Self::ComputationSlowed,
            (true, false) => Self::Contention,
            (false, _) if overhead < MOST => Self::InPart,
            (false, _) => Self::NoProgression,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{self, Kind, summary};
    use crate::model::Case;
    use crate::report::made;

    fn of(overhead: f64, stolen: f64, left: f64) -> Diagnosis {
        let (low, high) = (overhead - 0.05, overhead + 0.05);
        Diagnosis::of_ratios(Ratios { overhead, low, high, stolen, left })
    }

    #[test]
    fn each_pattern_of_the_paper_has_its_label() {
        assert_eq!(of(0.02, 0.0, 0.01), Diagnosis::Overlapped);
        assert_eq!(of(-0.1, 0.0, 0.0), Diagnosis::Overlapped);
        assert_eq!(of(0.5, 0.0, 0.5), Diagnosis::InPart);
        assert_eq!(of(1.0, 0.0, 1.0), Diagnosis::NoProgression);
        assert_eq!(of(1.1, 1.1, 0.02), Diagnosis::ComputationSlowed);
        assert_eq!(of(0.6, 0.5, 0.1), Diagnosis::ComputationSlowed);
        assert_eq!(of(2.0, 1.0, 1.1), Diagnosis::Contention);
    }

    #[test]
    fn a_wide_interval_has_no_diagnosis_unless_all_of_it_is_serial_or_worse() {
        let wide = |overhead, low, high| {
            Diagnosis::of_ratios(Ratios { overhead, low, high, stolen: 0.0, left: 1.0 })
        };
        assert_eq!(wide(0.5, 0.0, 0.9), Diagnosis::TooShort);
        assert_eq!(wide(3.0, 0.9, 9.0), Diagnosis::NoProgression);
    }

    /// The diagnosis of rounds with these times in milliseconds: only communication, only computation, and of
    /// both together the computation and the time in MPI.
    fn of_rounds(rounds: [[f64; 4]; 7]) -> Diagnosis {
        let block = |ms: [f64; 4]| {
            let [communication, computation, compute, in_mpi] = ms.map(|ms| vec![ms * 1e-3; 2]);
            made::block([
                (Phase::CommunicationAlone, communication),
                (Phase::ComputationAlone, computation),
                (Phase::Compute, compute),
                (Phase::InMpi, in_mpi),
                (Phase::Overlapped, vec![(ms[2] + ms[3]) * 1e-3; 2]),
            ])
        };
        let case = Case { experiment: Kind::Overlap, ..made::case("ibcast", "mpich", "") };
        let result = made::result(case, vec![made::measured("nonblocking", rounds.map(block))]);
        let records = summary::records(Kind::Overlap, &result);
        let case = &CaseView::all(experiments::of_kind(Kind::Overlap).table_format, &records)[0];
        let headline = case.methods().next().expect("a method with times");
        Diagnosis::from_record(case, headline)
    }

    /// A broadcast of 60 ms during a computation of about the same time; one round is disturbed.
    #[test]
    fn a_perfect_and_two_bad_mpis_have_different_diagnoses() {
        let rounds = |compute: f64, in_mpi: f64| {
            let quiet = |i: usize| 1.0 + 0.01 * (i % 3) as f64;
            std::array::from_fn(|i| match i {
                4 => [60.3, 140.0, compute + 80.0, in_mpi + 25.0],
                _ => [60.2, 61.0 * quiet(i), compute * quiet(i + 1), in_mpi * quiet(i)],
            })
        };
        assert_eq!(of_rounds(rounds(61.5, 0.4)), Diagnosis::Overlapped);
        assert_eq!(of_rounds(rounds(61.5, 60.3)), Diagnosis::NoProgression);
        assert_eq!(of_rounds(rounds(119.0, 1.5)), Diagnosis::ComputationSlowed);
        // Every second round is disturbed: no diagnosis.
        let mut busy = rounds(61.5, 0.4);
        busy.iter_mut().step_by(2).for_each(|round| round[3] += 90.0);
        assert_eq!(of_rounds(busy), Diagnosis::TooShort);
    }
}
