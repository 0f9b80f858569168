//! Figures: values derived from times, each with its interval, its unit, and its basis of comparison.

use serde::{Deserialize, Serialize};

/// The quantity that a figure gives. Its definition is the same in all kinds of experiments; the basis of comparison is a separate field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// (t - t_other) / t for the headline phase, where the other method sends contiguous bytes: the pack overhead fraction.
    #[default]
    OverheadReference,
    /// Share of timed packing and unpacking in the headline phase: the pack overhead fraction without a reference.
    OverheadPack,
    /// Payload per second one way in the headline phase, summed over pairs; for packing and unpacking, packed bytes per second.
    Bandwidth,
    /// Bytes divided by the time from the last partition becoming ready to the end.
    PerceivedBandwidth,
    /// t_other / t of the headline phase, without computing.
    Gain,
    /// The gain that the model predicts from measurements of the same run; compared with the model's equation.
    GainModel,
    /// The gain minus that of the model.
    GainDifference,
    /// (t_other - t) / t_other, including computing.
    Speedup,
    /// Share of the other's time that is not spent waiting after the last partition became ready.
    Availability,
    /// Share of the bytes that had arrived when the last partition became ready, or when a rank had handed over its own.
    EarlyBird,
    /// Messages, puts or requests of a repetition; the maximum over ranks.
    Messages,
    /// Bytes that network interfaces and InfiniBand ports of all hosts sent per repetition, on one host its loopback
    /// interface as well. The value is from the block with the fewest, because other programs' bytes add to it.
    DeviceBytes,
    /// Copies of a device's driver in all processes for one message, as far as its driver counts them.
    DeviceCopies,
    /// How much later than the origin the peer began to wait; negative if it was ready earlier.
    StartSkew,
    /// Residual clock offset between ranks that do not read the same clock, measured with messages after each block; the largest.
    ClockError,
    /// How late the latest rank began the parts of a repetition relative to the agreed time; median over blocks.
    StartLate,
    /// Ranks in which the MPI's threads are not bound to the core that is left free for them; for the worst block.
    UnboundRanks,
    /// Its time divided by another's; median over the rounds that both have.
    TimeOver,
    /// The same relative to the fastest method of the case that an application could use.
    TimeOverFastest,
    /// Its mean divided by another's; median over launches. Only for several launches, because one has no interval for it.
    MeanOver,
    /// The time of a copy that touches as many cache lines, divided by its own: its share of the speed that memory allows.
    BoundShare,
    /// Bytes of all cache lines that packing or unpacking touches.
    LineBytes,
    /// (t - longer) / shorter for communication and computation by themselves, with t for both at once: 0
    /// with perfect overlap, 1 if they take as long as one after the other, more if they hinder each other.
    OverheadRatio,
    /// Time of a computation while MPI is idle, divided by that of the same computation before MPI was initialised.
    MpiImpact,
    /// Time of a computation during a communication, divided by that of the computation by itself.
    ComputationSlowdown,
    /// Time in the call and the wait of a communication during a computation, divided by that of the communication by itself.
    CommunicationRatio,
    /// Share of the communication's own time that it does not add to the computation's time.
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
            Self::DeviceCopies => FigureUnit::Copies,
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
    /// A share of a whole, in most cases between 0 and 1; not percent.
    #[default]
    Fraction,
    /// A quotient of two values with the same unit.
    Ratio,
    /// Bytes per second.
    BytesPerS,
    /// Messages, puts or requests.
    Messages,
    Copies,
    /// Seconds.
    S,
    Bytes,
    Ranks,
}

/// A value of a quantity. A value that does not exist is missing, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    #[serde(rename = "figure")]
    pub quantity: Quantity,
    /// Its value; missing if only the basis of comparison is known.
    pub value: Option<f64>,
    /// Lower end of its 95% interval.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The unit of the three.
    pub unit: FigureUnit,
    /// The basis of comparison: a method or an equation of a model; empty if there is none.
    pub against: String,
    /// Whether the first and the second half of the rounds differ, so that there is no verdict; missing if that does not apply.
    pub unsteady: Option<bool>,
}

impl Figure {
    /// A value without an interval, for quantities that are not comparisons; missing if it is not a finite number.
    pub fn plain(quantity: Quantity, value: f64) -> Self {
        let value = Some(value).filter(|value| value.is_finite());
        Self { quantity, value, unit: quantity.unit(), ..Self::default() }
    }

    /// A value with its interval; the interval is missing if an end is not a finite number.
    pub fn with_interval(quantity: Quantity, value: f64, (low, high): (f64, f64)) -> Self {
        let ends = Some((low, high)).filter(|(low, high)| low.is_finite() && high.is_finite());
        let (low, high) = ends.unzip();
        Self { low, high, ..Self::plain(quantity, value) }
    }

    /// The same, compared with a method.
    pub fn against(self, method: &str) -> Self {
        Self { against: method.to_owned(), ..self }
    }

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
