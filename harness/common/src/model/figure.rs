//! Figures: what is made of times, each with its interval, its unit, and what it is held against.

use serde::{Deserialize, Serialize};

/// What a figure says. Its definition is the same in all kinds of experiments; what it is held against is said beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// (t - t_other) / t of the headline phase, the other a method of contiguous bytes: the pack overhead fraction.
    #[default]
    OverheadReference,
    /// Share of timed packing and unpacking in the headline phase: the pack overhead fraction without a reference.
    OverheadPack,
    /// Payload per second one way in the headline phase, summed over pairs; of packing and unpacking, packed bytes per second.
    Bandwidth,
    /// Bytes over the time from the last partition that became ready to the end.
    PerceivedBandwidth,
    /// t_other / t of the headline phase, computing left out.
    Gain,
    /// The gain that the model predicts of what was measured beside it; held against the model's equation.
    GainModel,
    /// The gain less that of the model.
    GainDifference,
    /// (t_other - t) / t_other, computing included.
    Speedup,
    /// Share of the other's time that is not waited for after the last partition became ready.
    Availability,
    /// Share of the bytes that had arrived when the last partition became ready, or when a rank had handed over its own.
    EarlyBird,
    /// Messages, puts or requests of a repetition; the most of any rank.
    Messages,
    /// Bytes that network interfaces and InfiniBand ports of all hosts sent per repetition, on one host its loopback interface as
    /// well: those of the block with least, since whatever else is sent adds to it.
    DeviceBytes,
    /// By how much the peer began to wait after the origin had begun; negative where it was ready before.
    StartSkew,
    /// How far off the common time of ranks was that do not read one clock, at the end of the worst block, as far as messages
    /// could tell.
    ClockError,
    /// By how much the rank that is latest began the parts of a repetition after the time that was agreed on, the median of blocks.
    StartLate,
    /// Ranks in which the MPI's threads are not bound to the core that is left free for them; of the worst block.
    UnboundRanks,
    /// Its time over another's, the median over the rounds that both have.
    TimeOver,
    /// The same over the fastest method of the case that an application could use.
    TimeOverFastest,
    /// Its mean over another's, the median over launches. Only of several launches: one has no interval for it.
    MeanOver,
    /// The time of a copy that touches as many cache lines over its own: its share of the speed that memory allows.
    BoundShare,
    /// Bytes of all cache lines that packing or unpacking touches.
    LineBytes,
    /// (t - longer) / shorter of communication and computation by themselves, t with both at once: 0 where they overlap
    /// perfectly, 1 where they take as long as one after the other, more where they hinder each other.
    OverheadRatio,
    /// Time of a computation while MPI has nothing to do, over that of the same before MPI was initialised.
    MpiImpact,
    /// Time of a computation beside a communication, over that of the computation by itself.
    ComputationSlowdown,
    /// Time spent in the call and the wait of a communication beside a computation, over that of the communication by itself.
    CommunicationRatio,
    /// Share of the communication's own time that it does not add to the computation's.
    Hidden,
    /// The overlap that the Intel MPI Benchmarks (IMB-NBC) would print.
    OverlapImb,
    /// The overlap that the OSU Micro-Benchmarks would print.
    OverlapOsu,
}

impl Quantity {
    /// The unit of its value and of both ends of its interval.
    pub const fn unit(self) -> FigureUnit {
        match self {
            Self::OverheadReference
            | Self::OverheadPack
            | Self::Speedup
            | Self::Availability
            | Self::EarlyBird
            | Self::BoundShare
            | Self::Hidden
            | Self::OverlapImb
            | Self::OverlapOsu => FigureUnit::Fraction,
            Self::Gain
            | Self::GainModel
            | Self::GainDifference
            | Self::TimeOver
            | Self::TimeOverFastest
            | Self::MeanOver
            | Self::OverheadRatio
            | Self::MpiImpact
            | Self::ComputationSlowdown
            | Self::CommunicationRatio => FigureUnit::Ratio,
            Self::Bandwidth | Self::PerceivedBandwidth => FigureUnit::BytesPerS,
            Self::Messages => FigureUnit::Messages,
            Self::StartSkew | Self::ClockError | Self::StartLate => FigureUnit::S,
            Self::LineBytes | Self::DeviceBytes => FigureUnit::Bytes,
            Self::UnboundRanks => FigureUnit::Ranks,
        }
    }
}

/// The unit of a figure, as results name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// A share of a whole, between 0 and 1 in most cases; not percent.
    #[default]
    Fraction,
    /// One quantity over another of the same unit.
    Ratio,
    /// Bytes per second.
    BytesPerS,
    /// Messages, puts or requests.
    Messages,
    /// Seconds.
    S,
    /// Bytes.
    Bytes,
    /// Ranks.
    Ranks,
}

/// A value of a quantity. What does not exist is missing, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it says.
    #[serde(rename = "figure")]
    pub quantity: Quantity,
    /// Its value; missing where only what it is held against can be said.
    pub value: Option<f64>,
    /// Lower end of its 95% interval.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// The unit of the three.
    pub unit: FigureUnit,
    /// What it is held against: a method, or an equation of a model; empty where nothing is.
    pub against: String,
    /// Whether the first and the second half of the rounds part, so that no verdict is drawn; missing where that is no
    /// question.
    pub unsteady: Option<bool>,
}

impl Figure {
    /// A value without an interval, which no comparison is; missing where it is no finite number.
    pub fn plain(quantity: Quantity, value: f64) -> Self {
        let value = Some(value).filter(|value| value.is_finite());
        Self { quantity, value, unit: quantity.unit(), ..Self::default() }
    }

    /// A value with its interval, which is missing where an end is no finite number.
    pub fn with_interval(quantity: Quantity, value: f64, (low, high): (f64, f64)) -> Self {
        let ends = Some((low, high)).filter(|(low, high)| low.is_finite() && high.is_finite());
        let (low, high) = ends.unzip();
        Self { low, high, ..Self::plain(quantity, value) }
    }

    /// The same, held against a method.
    pub fn against(self, method: &str) -> Self {
        Self { against: method.to_owned(), ..self }
    }

    /// Both ends of its interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_finite_number_is_missing() {
        assert_eq!(Figure::plain(Quantity::Bandwidth, f64::INFINITY).value, None);
        let wide = Figure::with_interval(Quantity::Bandwidth, 2.0, (1.0, f64::INFINITY));
        assert_eq!((wide.value, wide.interval()), (Some(2.0), None));
    }
}
