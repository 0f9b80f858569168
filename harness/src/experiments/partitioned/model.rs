//! The gain of pipelining a message: the model of Gillis et al., "Quantifying the Performance Benefits of
//! Partitioned Communication in MPI" (ICPP 2023), section 2.2 and appendix A.
//!
//! N threads have theta partitions each, N theta in total, of equal size. The last one becomes ready a delay
//! D after the first. Bulk communication begins when all are ready, pipelined communication with each. Times
//! start when the last partition is ready. Latency and contention of threads are ignored.

/// How many times faster pipelined communication is (equation 4). The delay is `gamma_s_per_byte` times the
/// bytes of one partition. The result is between 1 and the number of partitions.
pub fn gain(partitions: usize, gamma_s_per_byte: f64, beta_bytes_per_s: f64) -> f64 {
    let partitions = partitions as f64;
    partitions / (partitions - gamma_s_per_byte * beta_bytes_per_s).max(1.0)
}

/// The same for messages so small that only latency counts, once for each partition (equation 5).
pub fn small_message_gain(partitions: usize) -> f64 {
    1.0 / partitions as f64
}

/// Measured properties of a message and its partitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredMessage {
    pub partitions: usize,
    pub bytes: f64,
    /// From the first ready partition to the last, in seconds.
    pub delay_s: f64,
    /// Time of everything in one message, in seconds.
    pub bulk_s: f64,
    /// Time of an empty message, in seconds.
    pub latency_s: f64,
    /// Bytes per second, if given; otherwise computed from the times above.
    pub beta_bytes_per_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// [`gain`]: bytes determine the time.
    Bytes,
    /// [`small_message_gain`]: messages determine the time.
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

/// Equation 4 applies if the bytes of a partition take at least this many latencies.
const MUCH: f64 = 4.0;

impl MeasuredMessage {
    /// The time of the bytes without the latency.
    fn bytes_s(self) -> f64 {
        self.beta_bytes_per_s.map_or(self.bulk_s - self.latency_s, |beta| self.bytes / beta)
    }
}

/// The equation for the size; `None` if neither applies. Equation 4 ignores latency, and applies if the bytes
/// of a partition take much longer. Equation 5 has only latency, and applies if the bytes of the whole
/// message take less than that and all partitions become ready within that time.
pub fn equation(measured: MeasuredMessage) -> Option<Equation> {
    let MeasuredMessage { partitions, delay_s, latency_s, .. } = measured;
    let bytes_s = measured.bytes_s();
    if bytes_s / partitions as f64 > MUCH * latency_s {
        return Some(Equation::Bytes);
    }
    (bytes_s < latency_s && delay_s < latency_s).then_some(Equation::Messages)
}

impl Equation {
    /// The predicted gain; `None` if bytes took no time, where the equation is undefined.
    pub fn gain(self, measured: MeasuredMessage) -> Option<f64> {
        let MeasuredMessage { partitions, bytes, delay_s, .. } = measured;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's bandwidth, 25 GB/s.
    const BETA: f64 = 25e9;

    /// The paper's unit of rates, microseconds per megabyte.
    fn s_per_byte(us_per_mb: f64) -> f64 {
        us_per_mb / 1e12
    }

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
    fn gains_of_the_fourier_transform_are_those_of_the_appendix() {
        for (theta, gamma_us_per_mb, eta) in
            [(1, 7.1428, 1.0228), (2, 187.1936, 1.4134), (8, 1263.67, 1.9748)]
        {
            printed(gain(8 * theta, s_per_byte(gamma_us_per_mb), BETA), eta, 1e-4);
        }
    }

    #[test]
    fn gains_of_the_stencil_are_printed_for_half_of_its_threads() {
        // The appendix states N = 8 and prints 1.1060, 1.1718 and 1.2169. Equation 4 gives 1.0504, 1.0791 and
        // 1.0979 for its rates; the printed gains match N = 4, or 50 GB/s.
        for (theta, gamma_us_per_mb, of_eight, of_four) in [
            (1, 15.3398, 1.0504, 1.1060),
            (2, 46.923_854_11, 1.0791, 1.1718),
            (8, 228.213_109_32, 1.0979, 1.2169),
        ] {
            let gamma = s_per_byte(gamma_us_per_mb);
            printed(gain(8 * theta, gamma, BETA), of_eight, 1e-4);
            printed(gain(4 * theta, gamma, BETA), of_four, 1e-4);
            printed(gain(8 * theta, gamma, 2.0 * BETA), of_four, 1e-4);
        }
    }

    #[test]
    fn the_gain_is_the_quotient_of_the_times_whatever_the_size() {
        for partitions in [1.0, 2.0, 7.0, 64.0] {
            for gamma_us_per_mb in [0.0, 1.0, 100.0, 1e5] {
                for bytes in [1.0, 1e6] {
                    // Equations 2 and 3: the part that does not fit into the delay, and the last partition.
                    let (gamma, one_s) = (s_per_byte(gamma_us_per_mb), bytes / BETA);
                    let bulk_s = partitions * one_s;
                    let pipelined_s = ((partitions - 1.0) * one_s - gamma * bytes).max(0.0) + one_s;
                    let gain = gain(partitions as usize, gamma, BETA);
                    printed(gain, bulk_s / pipelined_s, 1e-9);
                    assert!((1.0..=partitions).contains(&gain));
                }
            }
        }
    }

    #[test]
    fn the_equation_is_that_of_the_size() {
        let measured = |bulk_s: f64, delay_s: f64| MeasuredMessage {
            partitions: 4,
            bytes: 4000.0,
            delay_s,
            bulk_s,
            latency_s: 1.0,
            beta_bytes_per_s: None,
        };
        let prediction =
            |measured| equation(measured).map(|equation| (equation, equation.gain(measured).unwrap()));
        // 32 s for all bytes, 8 s for a partition's; 16 s fit into the delay.
        assert_eq!(prediction(measured(33.0, 16.0)), Some((Equation::Bytes, 2.0)));
        assert_eq!(prediction(measured(1.5, 0.0)), Some((Equation::Messages, 0.25)));
        assert_eq!(prediction(measured(1.5, 10.0)), None, "early bytes cost nothing");
        assert_eq!(prediction(measured(9.0, 0.0)), None, "2 s for a partition are neither");
        let given = MeasuredMessage { beta_bytes_per_s: Some(4000.0 / 32.0), ..measured(1.5, 16.0) };
        assert_eq!(prediction(given), Some((Equation::Bytes, 2.0)));
        let no_time = measured(1.0, 16.0);
        assert_eq!((Equation::Bytes.gain(no_time), Equation::Messages.gain(no_time)), (None, Some(0.25)));
    }
}
