//! What pipelining a message can gain: the model of Gillis et al., "Quantifying the Performance Benefits of
//! Partitioned Communication in MPI" (ICPP 2023), section 2.2 and appendix A.
//!
//! N threads have theta partitions each, N theta together, of equal size; the last one becomes ready a delay D after
//! the first. Bulk communication begins when all are ready, pipelined communication with each. Times count from when
//! the last partition is ready. Latency and contention of threads are left out.

/// Time of bulk communication, in seconds (equation 2).
pub fn bulk_time_s(partitions: usize, partition_bytes: u64, beta_bytes_per_s: f64) -> f64 {
    partitions as f64 * partition_bytes as f64 / beta_bytes_per_s
}

/// Time of pipelined communication, in seconds (equation 3): what does not fit into the delay, and the last partition.
pub fn pipelined_time_s(partitions: usize, partition_bytes: u64, beta_bytes_per_s: f64, delay_s: f64) -> f64 {
    let one_s = partition_bytes as f64 / beta_bytes_per_s;
    ((partitions as f64 - 1.0) * one_s - delay_s).max(0.0) + one_s
}

/// How many times faster pipelined communication is (equation 4), where the delay is `gamma_s_per_byte` times the
/// bytes of one partition. Between 1 and the number of partitions.
pub fn gain(partitions: usize, gamma_s_per_byte: f64, beta_bytes_per_s: f64) -> f64 {
    let partitions = partitions as f64;
    partitions / (partitions - gamma_s_per_byte * beta_bytes_per_s).max(1.0)
}

/// The same for messages so small that only latency counts, once for each partition (equation 5).
pub fn small_message_gain(partitions: usize) -> f64 {
    1.0 / partitions as f64
}

/// Average time of computing a byte that is communicated, mu, in seconds per byte (equation 6).
///
/// `flop_per_byte` is the arithmetic intensity; `sent_share` the communication intensity, the bytes communicated
/// per byte of memory that is computed on; of `frequency_hz` each cycle does 8 operations.
pub fn rate_s_per_byte(flop_per_byte: f64, sent_share: f64, frequency_hz: f64) -> f64 {
    /// Operations per cycle, the paper's number.
    const FLOP_PER_CYCLE: f64 = 8.0;
    flop_per_byte / sent_share / (FLOP_PER_CYCLE * frequency_hz)
}

/// The delay rate gamma of `theta` partitions per thread, in seconds per byte of one partition (equation 9).
///
/// `noise`, epsilon, is the system's share of variation in computing time, and `imbalance`, delta, the algorithm's.
pub fn delay_rate_s_per_byte(rate_s_per_byte: f64, theta: usize, noise: f64, imbalance: f64) -> f64 {
    let theta = theta as f64;
    rate_s_per_byte * (theta + (noise + imbalance) / 2.0 * (theta.sqrt() + 1.0) - 1.0)
}

/// What a message and its partitions are like, as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// How many partitions.
    pub partitions: usize,
    /// Bytes of all.
    pub bytes: f64,
    /// From the first partition that is ready to the last, in seconds.
    pub delay_s: f64,
    /// Time of the whole in one message, in seconds.
    pub bulk_s: f64,
    /// Time of an empty message, in seconds.
    pub latency_s: f64,
    /// Bytes per second, where they are given and not to be made of the times above.
    pub beta_bytes_per_s: Option<f64>,
}

/// An equation of the model that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// [`gain`]: time is that of bytes.
    Bytes,
    /// [`small_message_gain`]: time is that of messages.
    Messages,
}

impl Equation {
    /// Its number in the paper.
    pub const fn number(self) -> &'static str {
        match self {
            Self::Bytes => "4",
            Self::Messages => "5",
        }
    }
}

/// Latencies that a partition's bytes take, from which on equation 4 may leave latency out.
const MUCH: f64 = 4.0;

impl Measured {
    /// The time of bytes alone, as [`bulk_time_s`] has it.
    fn bytes_s(self) -> f64 {
        self.beta_bytes_per_s.map_or(self.bulk_s - self.latency_s, |beta| self.bytes / beta)
    }
}

/// The equation for the size; `None` where neither applies. Equation 4 has no latency: it applies where the bytes of a
/// partition take much longer than that. Equation 5 has nothing else: it applies where the bytes of the whole message take
/// less than that, and all partitions are ready within that time.
pub fn equation(measured: Measured) -> Option<Equation> {
    let Measured { partitions, delay_s, latency_s, .. } = measured;
    let bytes_s = measured.bytes_s();
    if bytes_s / partitions as f64 > MUCH * latency_s {
        return Some(Equation::Bytes);
    }
    (bytes_s < latency_s && delay_s < latency_s).then_some(Equation::Messages)
}

impl Equation {
    /// The gain that the equation predicts; `None` where bytes took no time, of which it makes nothing.
    pub fn gain(self, measured: Measured) -> Option<f64> {
        let Measured { partitions, bytes, delay_s, .. } = measured;
        match self {
            Self::Bytes => {
                let bytes_s = Some(measured.bytes_s()).filter(|&time| time > 0.0)?;
                let (beta, gamma) = (bytes / bytes_s, delay_s / (bytes / partitions as f64));
                Some(gain(partitions, gamma, beta)).filter(|gain| gain.is_finite())
            }
            Self::Messages => Some(small_message_gain(partitions)),
        }
    }
}

/// A delay rate in seconds per byte, of one in microseconds per MB (10^6 bytes): the paper's unit.
pub fn s_per_byte(us_per_mb: f64) -> f64 {
    us_per_mb / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's bandwidth, 25 GB/s.
    const BETA: f64 = 25e9;

    /// Of the paper's examples: no frequency is printed, but all its rates are those of 3.5 GHz.
    const FREQUENCY_HZ: f64 = 3.5e9;

    #[track_caller]
    fn printed(found: f64, printed: f64, half_digit: f64) {
        assert!((found - printed).abs() <= half_digit, "{found} is not the printed {printed}");
    }

    #[test]
    fn gains_are_those_of_section_2_and_of_figure_8() {
        printed(gain(8, s_per_byte(1.0), BETA), 1.003, 5e-4);
        printed(gain(8, s_per_byte(10.0), BETA), 1.032, 5e-4);
        printed(gain(64, s_per_byte(1000.0), BETA), 1.641, 5e-4);
        printed(gain(4, s_per_byte(100.0), BETA), 2.67, 5e-3);
    }

    #[test]
    fn rates_and_gains_of_the_fourier_transform_are_those_of_the_appendix() {
        let mu = rate_s_per_byte(5.0, 1.0, FREQUENCY_HZ);
        for (theta, gamma_us_per_mb, eta) in
            [(1, 7.1428, 1.0228), (2, 187.1936, 1.4134), (8, 1263.67, 1.9748)]
        {
            let gamma = delay_rate_s_per_byte(mu, theta, 0.04, 0.0);
            printed(gamma * 1e12, gamma_us_per_mb, gamma_us_per_mb * 1e-5);
            printed(gain(8 * theta, gamma, BETA), eta, 1e-4);
        }
    }

    #[test]
    fn rates_of_the_stencil_are_those_of_the_appendix() {
        for (theta, gamma_us_per_mb) in [(1, 15.3398), (2, 46.923_854_11), (8, 228.213_109_32)] {
            let gamma = delay_rate_s_per_byte(stencil_rate(), theta, 0.04, 0.5);
            printed(gamma * 1e12, gamma_us_per_mb, gamma_us_per_mb * 1e-5);
        }
    }

    #[test]
    fn gains_of_the_stencil_are_printed_for_half_of_its_threads() {
        // The appendix says N = 8 and prints 1.1060, 1.1718 and 1.2169. Equation 4 gives 1.0504, 1.0791 and 1.0979 for
        // its rates; the printed gains are those of N = 4, or of 50 GB/s.
        for (theta, of_eight, of_four) in [(1, 1.0504, 1.1060), (2, 1.0791, 1.1718), (8, 1.0979, 1.2169)] {
            let gamma = delay_rate_s_per_byte(stencil_rate(), theta, 0.04, 0.5);
            printed(gain(8 * theta, gamma, BETA), of_eight, 1e-4);
            printed(gain(4 * theta, gamma, BETA), of_four, 1e-4);
            printed(gain(8 * theta, gamma, 2.0 * BETA), of_four, 1e-4);
        }
    }

    /// Of 64^3 cells with two ghost points; the communication intensity is not rounded to the printed 0.1.
    fn stencil_rate() -> f64 {
        rate_s_per_byte(1.0 / 13.0, (66.0_f64 / 64.0).powi(3) - 1.0, FREQUENCY_HZ)
    }

    #[test]
    fn the_gain_is_the_quotient_of_the_times_whatever_the_size() {
        for partitions in [1, 2, 7, 64] {
            for gamma_us_per_mb in [0.0, 1.0, 100.0, 1e5] {
                for bytes in [1, 1 << 20] {
                    let gamma = s_per_byte(gamma_us_per_mb);
                    let pipelined = pipelined_time_s(partitions, bytes, BETA, gamma * bytes as f64);
                    let quotient = bulk_time_s(partitions, bytes, BETA) / pipelined;
                    printed(gain(partitions, gamma, BETA), quotient, 1e-9);
                    assert!((1.0..=partitions as f64).contains(&gain(partitions, gamma, BETA)));
                }
            }
        }
    }

    #[test]
    fn the_equation_is_that_of_the_size() {
        let measured = |bulk_s: f64, delay_s: f64| Measured {
            partitions: 4,
            bytes: 4000.0,
            delay_s,
            bulk_s,
            latency_s: 1.0,
            beta_bytes_per_s: None,
        };
        let prediction =
            |measured| equation(measured).map(|equation| (equation, equation.gain(measured).unwrap()));
        // 32 s for all bytes, 8 s for a partition's, of which 16 s fit into the delay.
        assert_eq!(prediction(measured(33.0, 16.0)), Some((Equation::Bytes, 2.0)));
        assert_eq!(prediction(measured(1.5, 0.0)), Some((Equation::Messages, 0.25)));
        assert_eq!(prediction(measured(1.5, 10.0)), None, "what is sent early costs nothing");
        assert_eq!(prediction(measured(9.0, 0.0)), None, "2 s for a partition are neither");
        let given = Measured { beta_bytes_per_s: Some(4000.0 / 32.0), ..measured(1.5, 16.0) };
        assert_eq!(prediction(given), Some((Equation::Bytes, 2.0)));
        let no_time = measured(1.0, 16.0);
        assert_eq!((Equation::Bytes.gain(no_time), Equation::Messages.gain(no_time)), (None, Some(0.25)));
    }

    #[test]
    fn small_messages_lose_by_each_partition() {
        assert_eq!(small_message_gain(1), 1.0);
        assert_eq!(small_message_gain(8), 0.125);
    }
}
