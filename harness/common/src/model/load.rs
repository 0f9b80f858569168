//! How many threads of a job are runnable at the same time, and how many cores they have.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Hello, RankPlace};

/// Threads that are runnable at the same time, and the hardware threads that they may run on, at the place
/// with the fewest per thread. Waiting ranks count as runnable, because MPIs poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Threads of the ranks at this place.
    pub runnable_threads: usize,
    /// Hardware threads.
    pub cores: usize,
}

impl Load {
    /// The load of a job, from its description of itself; `None` if that does not include it.
    pub fn from_hello(hello: &Hello) -> Option<Self> {
        let mut hosts: BTreeMap<&str, Vec<&RankPlace>> = BTreeMap::new();
        hello.ranks.iter().for_each(|rank| hosts.entry(&rank.host).or_default().push(rank));
        let loads = hosts.values().flat_map(|ranks| {
            let cpus = |rank: &RankPlace| rank.cpus.iter().copied().collect::<BTreeSet<_>>();
            let all: BTreeSet<_> = ranks.iter().flat_map(|rank| cpus(rank)).collect();
            // Bound ranks share only the cores they are bound to.
            let places: BTreeSet<_> = ranks.iter().map(|rank| cpus(rank)).chain([all]).collect();
            places.into_iter().map(move |place| {
                let within = ranks.iter().filter(|rank| cpus(rank).is_subset(&place)).count();
                Self { runnable_threads: within * hello.threads, cores: place.len() }
            })
        });
        let known = loads.filter(|load| load.runnable_threads > 0 && load.cores > 0);
        // Among equal ones the whole host, which is larger.
        known.max_by(|a, b| {
            let shares = (a.runnable_threads * b.cores).cmp(&(b.runnable_threads * a.cores));
            shares.then(a.cores.cmp(&b.cores))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(threads: usize, ranks: &[(&str, &[usize])]) -> Option<(usize, usize)> {
        let place = |(rank, &(host, cpus)): (usize, &(&str, &[usize]))| RankPlace {
            rank,
            host: host.to_owned(),
            cpus: cpus.to_vec(),
            ..RankPlace::default()
        };
        let hello =
            Hello { threads, ranks: ranks.iter().enumerate().map(place).collect(), ..Hello::default() };
        Load::from_hello(&hello).map(|load| (load.runnable_threads, load.cores))
    }

    #[test]
    fn the_host_with_least_for_each_thread_counts() {
        let (two, four): (&[usize], &[usize]) = (&[0, 1], &[0, 1, 2, 3]);
        // Ranks that are not bound share the host.
        assert_eq!(load(1, &[("a", two); 4]), Some((4, 2)));
        assert_eq!(load(3, &[("a", four); 2]), Some((6, 4)));
        assert_eq!(load(1, &[("a", four); 2]), Some((2, 4)));
        // Others share what they are bound to.
        assert_eq!(load(2, &[("a", &[0]), ("a", &[1])]), Some((4, 2)));
        assert_eq!(load(1, &[("a", &[0]), ("a", &[0]), ("a", &[1, 2, 3])]), Some((2, 1)));
        assert_eq!(load(1, &[("a", two), ("b", &[0]), ("b", &[0]), ("b", &[0])]), Some((3, 1)));
        // Without reports it is unknown.
        assert_eq!([load(1, &[]), load(1, &[("a", &[])]), load(0, &[("a", &[0])])], [None; 3]);
    }
}
