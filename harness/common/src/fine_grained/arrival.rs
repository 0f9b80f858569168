//! The times at which the threads of a rank finish computing and hand over their part of a message.

mod sampler;
mod text;

pub use sampler::Sampler;

/// How the computing time of threads is distributed. As text: see [`Arrival::from_str`](std::str::FromStr).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Arrival {
    /// All threads compute for the same time.
    #[default]
    None,
    /// Thread 0 computes longer, all others for the same time: the laggard of CMB (Marts et al., CCGrid
    /// 2024), who measure with 1, 4 and 10%.
    Laggard {
        /// The additional time, as a share of the computing time.
        fraction: f64,
    },
    /// Uniformly distributed around the computing time.
    Uniform {
        /// The distance of both ends, as a share of the computing time: 0 to 1.
        fraction: f64,
    },
    /// Normally distributed around the computing time. As in CMB, a negative time becomes 0, so the mean is larger if
    /// the deviation is not small compared with the computing time. CMB measures with 200 ns, 2 µs and 20 µs.
    Normal {
        /// Standard deviation, in seconds.
        sigma_s: f64,
    },
    /// Drawn from a density estimate of measured thread times, all in one pool; these times replace the computing time.
    /// CMB describes this method without naming its kernel and bandwidth; ours is [`Kde`](super::kde::Kde).
    Kde {
        /// A recorded trace's name, or a file's path: see [`Trace::load`](super::trace::Trace::load).
        source: String,
        /// The bandwidth, in seconds; by default, that of Silverman's rule.
        bandwidth_s: Option<f64>,
    },
    /// All threads compute for the same time, and only the partition with the last index is late, by a time
    /// proportional to its size: the noise of bench-pcomm (Gillis et al., ICPP 2023), who measure with 10 and
    /// 100 µs/MB.
    Delay {
        /// Microseconds per MB (10^6 bytes) of one partition.
        gamma_us_per_mb: f64,
    },
}

/// Converts a delay rate from microseconds per MB (10^6 bytes), the paper's unit, to seconds per byte.
pub fn s_per_byte(us_per_mb: f64) -> f64 {
    us_per_mb / 1e12
}

#[cfg(test)]
mod tests;
