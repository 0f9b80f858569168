//! The kinds of experiments, and the properties of each: its methods, its phases, its ranks.

pub mod engine;
pub mod halo;
pub mod overlap;
pub mod partitioned;
pub mod pingpong;

use serde::{Deserialize, Serialize};

use crate::model::conditions::{Cache, MemoryKind};
use crate::model::event::TimedApart;
use crate::model::{LOOP, MethodInfo, Phase, Place};

/// A kind of experiments, as plans and results name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A round trip of a micro-app's message.
    #[default]
    PingPong,
    /// Our pack engine compared with other ways to pack, without communication.
    Engine,
    /// A message between two ranks, handed over in partitions.
    Partitioned,
    /// The exchange of a micro-app between many ranks.
    Halo,
    /// Communication while the ranks compute.
    Overlap,
}

/// The properties of a kind.
#[derive(Debug)]
pub struct Row {
    /// Its name: the subcommand of the rank program, and its name in plans and results.
    pub name: &'static str,
    /// The subcommand of `ddtbench` that plans it.
    pub command: &'static str,
    /// Its methods, in report order.
    pub methods: fn() -> &'static [MethodInfo],
    /// The method with a name; parameters may follow the name.
    pub find: fn(&str) -> Result<&'static MethodInfo, String>,
    /// Its phases, in the order in which they happen; the headline phase last.
    pub phases: &'static [Phase],
    /// The phases whose times must be precise enough before a method is done.
    pub decisive: &'static [Phase],
    /// The method that all others are compared with.
    pub reference: &'static str,
    /// The number of ranks if the plan does not give one.
    pub default_ranks: usize,
    /// The reason why a number of ranks is not supported, if there is one.
    pub refuse_ranks: fn(usize) -> Option<&'static str>,
    /// Why its caches are always warm, if they are.
    pub only_warm: Option<&'static str>,
    /// Why its data is always in usual memory, if it is.
    pub only_host: Option<&'static str>,
    /// Plan options that only some kinds have: `pack`, `pairs`, `startall`, `rule`.
    pub options: &'static [&'static str],
    /// The phases of a block that were timed in separate repetitions. The k-th samples of all other phases are of the same repetition.
    pub timed_apart: TimedApart,
    /// Whether methods are ranked by the ratios of their headline phase.
    pub is_contest: bool,
}

/// The number of launches if the plan does not give one: the fewest for which intervals assume no distribution and the
/// range of another run is known. Measured: docs/evidence/statistics.md, "How many launches".
pub const LAUNCHES: usize = 6;

/// Phases that are not part of a repetition, in any kind; the first partition has a time only for repetitions
/// in which the receiver checked for it.
pub const NOT_REPEATED: &[Phase] =
    &[Phase::Create, Phase::Free, Phase::Init, Phase::ComputationWithoutMpi, Phase::FirstPartition];

impl Kind {
    /// All, in the order in which `list` shows them.
    pub const ALL: [Self; 5] = [Self::PingPong, Self::Engine, Self::Partitioned, Self::Halo, Self::Overlap];

    /// Its properties.
    pub const fn row(self) -> &'static Row {
        match self {
            Self::PingPong => &pingpong::ROW,
            Self::Engine => &engine::ROW,
            Self::Partitioned => &partitioned::ROW,
            Self::Halo => &halo::ROW,
            Self::Overlap => &overlap::ROW,
        }
    }

    /// Its name: the subcommand of the rank program, and its name in plans and results.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its methods, in report order.
    pub fn methods(self) -> &'static [MethodInfo] {
        (self.row().methods)()
    }

    /// Its phases, in the order in which they happen; the headline phase last.
    pub const fn phases(self) -> &'static [Phase] {
        self.row().phases
    }

    /// The method that all others are compared with.
    pub const fn reference(self) -> &'static str {
        self.row().reference
    }

    /// The kind called `name`.
    pub fn find(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            apps::no_such("kind of experiments", name, &names)
        })
    }

    /// The method called `name`.
    pub fn method(self, name: &str) -> Result<&'static MethodInfo, String> {
        (self.row().find)(name).map_err(|error| {
            let has_it = |kind: &Self| (kind.row().find)(name).is_ok();
            let owners: Vec<&str> = Self::ALL.into_iter().filter(has_it).map(Self::name).collect();
            match owners.is_empty() {
                true => error,
                false => {
                    format!("{name} is a method of {} only; `ddtbench list` shows all", owners.join(", "))
                }
            }
        })
    }

    /// The phase by which a method is judged: the last one.
    pub const fn headline(self) -> Phase {
        let phases = self.phases();
        phases[phases.len() - 1]
    }

    /// The reason why a cache mode is not supported, if there is one.
    pub fn refuse_cache(self, cache: Cache) -> Option<&'static str> {
        self.row().only_warm.filter(|_| cache != Cache::Warm)
    }

    /// The reason why a memory is not supported, if there is one.
    pub fn refuse_memory(self, memory: MemoryKind) -> Option<&'static str> {
        self.row().only_host.filter(|_| !memory.is_host())
    }

    /// Whether the data of a method can be in this memory.
    pub fn can_in(self, memory: MemoryKind, method: &str) -> bool {
        self.method(method).is_ok_and(|method| method.is_possible_in(memory))
    }

    /// Bytes of the host memory through which these methods stage a message of this size: at both ends of
    /// each, with an eighth more for `MPI_Pack`.
    pub fn staged_bytes(self, methods: &[String], message_bytes: u64) -> u64 {
        let is_staged =
            |name: &&String| self.method(name).is_ok_and(|method| method.only_in == Some(Place::Device));
        methods.iter().filter(is_staged).count() as u64 * message_bytes.saturating_add(message_bytes / 8) * 2
    }

    /// The method that shows whether an MPI takes memory of a device: the first one that gives it such
    /// memory. Packing without communication gives it some by `MPI_Pack` only.
    pub fn shows_devices(self) -> &'static str {
        if self == Self::Engine { engine::methods::MPI_PACK } else { self.reference() }
    }

    /// The names of all methods that are measured by default.
    pub fn all_methods(self) -> Vec<String> {
        self.usual_methods_in(&[MemoryKind::Host], std::iter::empty())
    }

    /// The same for a run of these tests, with data in any of these memories: the plain loop is included if a
    /// test has no hand-written loops.
    pub fn usual_methods_in<'a>(
        self,
        memories: &[MemoryKind],
        mut tests: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        // In overlap, names of exchanges have a prefix.
        let has_layout = tests.any(|test| {
            apps::is_of_layouts(test.strip_prefix(overlap::operations::EXCHANGE).unwrap_or(test))
        });
        let usual = self.methods().iter();
        let usual = usual.filter(|method| !method.on_request || has_layout && method.name == LOOP);
        let usual = usual.filter(|method| memories.iter().any(|memory| method.is_possible_in(*memory)));
        usual.map(|method| method.name.to_owned()).collect()
    }

    /// The method that `method` is compared with; `None` if it is a reference itself.
    pub fn reference_of(self, method: &str) -> Option<&'static str> {
        let info = self.method(method).ok();
        let is_reference = method == self.reference() || info.is_some_and(|info| info.is_reference);
        (!is_reference).then(|| info.and_then(|info| info.reference).unwrap_or(self.reference()))
    }

    /// Whether a method is measured in separate processes.
    pub fn in_own_processes(self, method: &str) -> bool {
        self.method(method).is_ok_and(|info| info.in_own_processes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::check::{PARTITIONED, find as find_check};
    use crate::parameter::Parameter;

    #[test]
    fn methods_are_found_in_their_kind_and_each_once() {
        for kind in Kind::ALL {
            let names: HashSet<_> = kind.methods().iter().map(|method| method.name).collect();
            assert_eq!(names.len(), kind.methods().len(), "{}", kind.name());
            for method in kind.methods() {
                assert_eq!(kind.method(method.name), Ok(method));
                assert!(method.checks.concat().iter().all(|name| find_check(PARTITIONED, name).is_ok()));
                assert!(method.needs.iter().all(|function| function.starts_with("MPI_")), "{}", method.name);
            }
            assert!(kind.method(kind.reference()).is_ok(), "{}", kind.name());
            assert_eq!(Kind::find(kind.name()), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert!(Kind::find("pingpongs").unwrap_err().contains("halo"));
        for phase in Phase::ALL {
            assert!(Kind::ALL.iter().any(|kind| kind.phases().contains(&phase)), "{phase:?}");
        }
        fn expect_distinct<S>(rows: &[Parameter<S>]) {
            let names: HashSet<_> = rows.iter().map(|row| row.info.name).collect();
            assert_eq!(names.len(), rows.len());
        }
        expect_distinct(halo::PARAMETERS);
        expect_distinct(overlap::PARAMETERS);
        expect_distinct(partitioned::PARAMETERS);
    }

    #[test]
    fn a_method_of_another_kind_is_refused_with_that_kind() {
        let error = Kind::PingPong.method("alltoallw").unwrap_err();
        assert_eq!(error, "alltoallw is a method of halo only; `ddtbench list` shows all");
        assert!(Kind::PingPong.method("nothing").unwrap_err().contains("there are reference,"));
    }
}
