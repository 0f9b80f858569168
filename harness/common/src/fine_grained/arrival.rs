//! When the threads of a rank finish computing and hand over their part of a message.

mod sampler;
mod text;

pub use sampler::Sampler;

/// How the computing time of threads is distributed. As text: see [`Arrival::from_str`](std::str::FromStr).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Arrival {
    /// All threads compute for the same time.
    #[default]
    None,
    /// Thread 0 computes longer, the others all for the same time: the laggard of CMB (Marts et al., CCGrid 2024), who
    /// measure with 1, 4 and 10%.
    Laggard {
        /// By which share of the computing time.
        fraction: f64,
    },
    /// Any time around the computing time is as likely as any other.
    Uniform {
        /// The distance of both ends, as a share of the computing time: 0 to 1.
        fraction: f64,
    },
    /// Normally distributed around the computing time. As in CMB, a negative time becomes 0, so that the mean is larger
    /// where the deviation is not small against the computing time. CMB measures with 200 ns, 2 µs and 20 µs.
    Normal {
        /// Standard deviation, in seconds.
        sigma_s: f64,
    },
    /// Drawn from an estimate of the density of measured times of threads, all of them in one pool; they take the place
    /// of the computing time. CMB describes it, without saying which kernel and bandwidth; ours is
    /// [`Kde`](super::kde::Kde).
    Kde {
        /// A recorded trace's name, or a file's path: see [`Trace::load`](super::trace::Trace::load).
        source: String,
        /// The bandwidth, in seconds; without it, that of Silverman's rule.
        bandwidth_s: Option<f64>,
    },
    /// All threads compute for the same time, and the partition of the last index alone is late, by a time that grows
    /// with its size: the noise of bench-pcomm (Gillis et al., ICPP 2023), who measure with 10 and 100 µs/MB.
    Delay {
        /// Microseconds per MB, 10^6 bytes, of one partition.
        gamma_us_per_mb: f64,
    },
}

/// A delay rate in seconds per byte, of one in microseconds per MB (10^6 bytes): the paper's unit.
pub fn s_per_byte(us_per_mb: f64) -> f64 {
    us_per_mb / 1e12
}

#[cfg(test)]
mod tests;
