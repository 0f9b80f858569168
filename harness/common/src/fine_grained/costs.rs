//! The measured costs of messages between two ranks by size, and the time they predict for a transfer of
//! several messages.

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub bytes: u64,
    /// Time in the sender's thread for the call that starts it, in seconds.
    pub start_s: f64,
    /// From its start to its arrival when no other message is under way, in seconds.
    pub alone_s: f64,
    /// Time it adds to a series of messages of the same size, in seconds.
    pub streamed_s: f64,
}

/// The costs of messages by size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs(Vec<Cost>);

/// A message of a transfer: when it can be started, by which thread, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// When all of its data is ready, in seconds.
    pub ready_s: f64,
    /// The thread that starts it.
    pub thread: usize,
    pub bytes: u64,
}

impl Costs {
    /// The costs of messages of different sizes.
    ///
    /// # Panics
    /// Without any.
    pub fn new(mut costs: Vec<Cost>) -> Self {
        assert!(!costs.is_empty(), "costs of no message");
        costs.sort_by_key(|cost| cost.bytes);
        Self(costs)
    }

    /// The costs of the sizes that were measured.
    pub fn measured(&self) -> &[Cost] {
        &self.0
    }

    /// The cost of a message of `bytes`: interpolated between measured sizes; outside their range, that of
    /// the nearest one.
    pub fn cost_of(&self, bytes: u64) -> Cost {
        let after = self.0.partition_point(|cost| cost.bytes < bytes);
        let Some(upper) = self.0.get(after) else { return self.0[self.0.len() - 1] };
        if after == 0 || upper.bytes == bytes {
            return *upper;
        }
        let lower = self.0[after - 1];
        let share = (bytes - lower.bytes) as f64 / (upper.bytes - lower.bytes) as f64;
        let between = |a: f64, b: f64| a + share * (b - a);
        Cost {
            bytes,
            start_s: between(lower.start_s, upper.start_s),
            alone_s: between(lower.alone_s, upper.alone_s),
            streamed_s: between(lower.streamed_s, upper.streamed_s),
        }
    }

    /// When the last of some messages has arrived. Each thread starts its messages one after the other, and a
    /// started message waits for those started before it.
    pub fn arrival_s(&self, departures: &mut [Departure]) -> f64 {
        departures.sort_by(|a, b| a.ready_s.total_cmp(&b.ready_s));
        let threads = departures.iter().map(|departure| departure.thread + 1).max().unwrap_or(0);
        // How late each thread is because of the messages that it started.
        let mut behind_s = vec![0.0; threads];
        let (mut free_s, mut arrival_s) = (f64::NEG_INFINITY, 0.0_f64);
        for departure in departures {
            let cost = self.cost_of(departure.bytes);
            let started_s = departure.ready_s + behind_s[departure.thread];
            behind_s[departure.thread] += cost.start_s;
            let begins_s = started_s.max(free_s);
            free_s = begins_s + cost.streamed_s;
            arrival_s = arrival_s.max(begins_s + cost.alone_s);
        }
        arrival_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(bytes: u64, alone_s: f64, streamed_s: f64) -> Cost {
        Cost { bytes, start_s: 0.0, alone_s, streamed_s }
    }

    #[test]
    fn sizes_between_lie_on_a_line_and_those_beyond_are_the_next() {
        let costs = Costs::new(vec![cost(100, 3.0, 2.0), cost(10, 1.0, 0.0)]);
        assert_eq!(costs.cost_of(10), cost(10, 1.0, 0.0));
        assert_eq!(costs.cost_of(55), cost(55, 2.0, 1.0));
        assert_eq!((costs.cost_of(1).alone_s, costs.cost_of(1000).alone_s), (1.0, 3.0));
    }

    #[test]
    fn a_row_takes_one_alone_and_what_each_other_adds_or_what_a_thread_needs_to_start_them() {
        let arrival_s = |start_s: f64, cost: Cost, departures: &[(f64, usize)]| {
            let departure = |&(ready_s, thread): &(f64, usize)| Departure { ready_s, thread, bytes: 10 };
            let costs = Costs::new(vec![Cost { start_s, ..cost }]);
            costs.arrival_s(&mut departures.iter().map(departure).collect::<Vec<_>>())
        };
        let cheap = |departures: &[(f64, usize)]| arrival_s(0.0, cost(10, 5.0, 2.0), departures);
        assert_eq!(cheap(&[(0.0, 0); 3]), 9.0);
        assert_eq!(cheap(&[(100.0, 0), (0.0, 0), (0.0, 0)]), 105.0, "the others were there long before");
        assert_eq!(cheap(&[]), 0.0);
        let slow_start = |departures: &[(f64, usize)]| arrival_s(3.0, cost(10, 4.0, 1.0), departures);
        assert_eq!(slow_start(&[(0.0, 0); 3]), 10.0, "started at 0, 3 and 6");
        assert_eq!(slow_start(&[(0.0, 0), (0.0, 1), (0.0, 2)]), 6.0, "started together");
    }
}
