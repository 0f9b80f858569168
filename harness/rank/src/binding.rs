//! Which hardware threads and cores threads may run on, and binding threads to them.

use std::collections::BTreeSet;

use common::cores;

use crate::checked::{CallError, Comm};

/// Binds threads of this process to these hardware threads, by number. Returns whether the binding is in effect for all of them.
pub fn bind(threads: &BTreeSet<libc::pid_t>, cpus: &[usize]) -> bool {
    // SAFETY: a set of bits, for which all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus.iter().filter(|&&cpu| cpu < libc::CPU_SETSIZE as usize) {
        // SAFETY: the number is within the set.
        unsafe { libc::CPU_SET(cpu, &mut set) };
    }
    // SAFETY: the set is given with its size; if a thread has ended in the meantime, the call returns an error.
    let is_bound = |&thread: &libc::pid_t| unsafe {
        libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &set) == 0
    };
    !cpus.is_empty() && threads.iter().all(is_bound) && threads.iter().all(|&thread| affinity(thread) == cpus)
}

/// The hardware threads that a thread may run on, in rising order; 0 is the calling thread.
pub fn affinity(thread: libc::pid_t) -> Vec<usize> {
    // SAFETY: a set of bits, for which all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is given with its size.
    if unsafe { libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), &mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the macro only reads bits below the set's size.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// The cores of this rank, each as a list of its hardware threads: all that the rank is bound to if no other rank of its host is bound to
/// any of them; an equal share if all ranks may run on the same cores. `None` if ranks share cores in other ways. Collective.
pub fn own_cores(world: &Comm) -> Result<Option<Vec<Vec<usize>>>, CallError> {
    let host = world.split_shared()?;
    let (rank, ranks, mine) = (host.rank()?, host.size()?, cores::by_core(&affinity(0)));
    // For each core of the host, the last and the first rank that may run there, counted from 1. Ranks on
    // different hardware threads of one core share it.
    let place = |threads: &Vec<usize>| cores::core(threads[0]);
    let at = |none: f64| {
        let mut ranks_at = vec![none; libc::CPU_SETSIZE as usize];
        mine.iter().for_each(|threads| ranks_at[place(threads)] = rank as f64 + 1.0);
        ranks_at
    };
    let (last, first) = (host.maxima(&at(0.0))?, host.minima(&at(f64::INFINITY))?);
    let is_exclusive = mine.iter().all(|threads| last[place(threads)] == first[place(threads)]);
    // If each rank may run on as many cores as all together, all may run on all of them.
    let fewest = host.minima(&[mine.len() as f64])?[0] as usize;
    let of_host = last.iter().filter(|&&rank| rank > 0.0).count();
    let kinds = host.minima(&[f64::from(u8::from(is_exclusive)), f64::from(u8::from(fewest == of_host))])?;
    Ok(match kinds[..] {
        [all_exclusive, _] if all_exclusive > 0.0 => Some(mine),
        [_, all_shared] if all_shared > 0.0 => Some(share(&mine, rank, ranks)),
        _ => None,
    })
}

/// The share of one rank if all ranks may run on the same cores; ranks with neighbouring numbers get
/// neighbouring cores. Some ranks have none if there are fewer cores than ranks.
fn share<T: Clone>(cores: &[T], rank: usize, ranks: usize) -> Vec<T> {
    let mut shares = cores.chunks_exact((cores.len() / ranks).max(1));
    shares.nth(rank).map_or(Vec::new(), <[T]>::to_vec)
}

#[cfg(test)]
pub mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Acts while another thread, which has the number that it gets, is busy. A panic would never end.
    pub fn with_busy_thread<R>(act: impl FnOnce(libc::pid_t) -> R) -> R {
        let (ends, (send, receive)) = (AtomicBool::new(false), std::sync::mpsc::channel());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: the call takes no arguments and changes nothing.
                send.send(unsafe { libc::gettid() }).unwrap();
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let thread = receive.recv().unwrap();
            let result = act(thread);
            ends.store(true, Ordering::Relaxed);
            result
        })
    }

    #[test]
    fn a_thread_is_bound_by_its_number_and_no_other_with_it() {
        let mine = affinity(0);
        let last = mine[mine.len() - 1];
        let seen = with_busy_thread(|thread| {
            let thread = BTreeSet::from([thread]);
            (bind(&thread, &[last]), affinity(*thread.first().unwrap()), bind(&thread, &[]))
        });
        assert_eq!(seen, (true, vec![last], false));
        assert_eq!(affinity(0), mine, "this thread stays where it was");
    }

    #[test]
    fn ranks_that_may_run_on_the_same_cores_share_them() {
        let of = |rank| share(&[0, 1, 4, 5, 6], rank, 2);
        assert_eq!((of(0), of(1)), (vec![0, 1], vec![4, 5]));
        assert_eq!((share(&[3], 0, 2), share(&[3], 1, 2)), (vec![3], vec![]));
    }
}
