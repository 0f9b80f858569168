//! From lists of values to cases, and the grids of three papers' figures.

use clap::ValueEnum;

use super::setting::{Setting, bytes};
use super::{TEST, mechanisms};
use crate::mpi::cores;
use crate::plan::{CUSTOM, Cache, Plan, PlannedCase, Text};

/// Values of each parameter; one of each is a case. Where a list is empty, the parameter has its default.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// Bytes of the message.
    pub bytes: Vec<String>,
    /// Partitions.
    pub partitions: Vec<String>,
    /// Partitions per thread, instead of their number.
    pub theta: Vec<String>,
    /// Bytes per partition, instead of the message's.
    pub partition_bytes: Vec<String>,
    /// Partitions of the receiver.
    pub receive: Vec<String>,
    /// Threads.
    pub threads: Vec<String>,
    /// Orders.
    pub order: Vec<String>,
    /// Arrival times.
    pub arrival: Vec<String>,
    /// Computing times.
    pub compute_us: Vec<String>,
    /// How computing passes.
    pub emulate: Vec<String>,
    /// Bandwidth for the model.
    pub beta: Vec<String>,
    /// Virtual interfaces of MPICH.
    pub vcis: Vec<String>,
    /// Whether both ranks send: 1 or 2.
    pub ways: Vec<String>,
}

/// Names and values that one case is given.
type Given = Vec<(&'static str, String)>;

impl Sweep {
    /// The cases: the product of all lists, the last list running fastest. A case that comes twice is kept once.
    ///
    /// # Errors
    /// A value that cannot be, and what would be right.
    pub fn cases(&self) -> Result<Vec<PlannedCase>, String> {
        let lists: [(&'static str, &Vec<String>); 13] = [
            ("order", &self.order),
            ("arrival", &self.arrival),
            ("compute_us", &self.compute_us),
            ("emulate", &self.emulate),
            ("beta", &self.beta),
            ("vcis", &self.vcis),
            ("ways", &self.ways),
            ("threads", &self.threads),
            ("theta", &self.theta),
            ("partitions", &self.partitions),
            ("receive", &self.receive),
            ("partition_bytes", &self.partition_bytes),
            ("bytes", &self.bytes),
        ];
        let mut all: Vec<Given> = vec![Vec::new()];
        for (name, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
            let with = |given: &Given, value: &String| [given.clone(), vec![(name, value.clone())]].concat();
            all = all.iter().flat_map(|given| values.iter().map(move |value| with(given, value))).collect();
        }
        let mut cases: Vec<PlannedCase> = Vec::new();
        for given in all {
            let case = case(given)?;
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        Ok(cases)
    }
}

/// A case of the parameters that a setting has, after those that stand for a product of two.
fn case(mut given: Given) -> Result<PlannedCase, String> {
    let mut take = |name: &str| {
        let at = given.iter().position(|(known, _)| *known == name)?;
        Some(given.remove(at).1)
    };
    let number = |name: &str, text: &str| {
        let wrong =
            || format!("{name} = {text}: must be a whole number of at least 1, for example 64KiB or 32");
        bytes(text).filter(|&n| n > 0).ok_or_else(wrong)
    };
    let (theta, partition_bytes) = (take("theta"), take("partition_bytes"));
    let product = |a: u64, b: u64| {
        a.checked_mul(b).ok_or_else(|| format!("{a} times {b} is too large")).map(|n| n.to_string())
    };
    let known = |given: &Given, name: &str, default: u64| match given.iter().find(|(known, _)| *known == name)
    {
        Some((_, text)) => number(name, text),
        None => Ok(default),
    };
    if let Some(theta) = theta {
        let threads = known(&given, "threads", 1)?;
        given.push(("partitions", product(number("theta", &theta)?, threads)?));
    }
    if let (Some(size), Some((_, all))) = (&partition_bytes, given.iter().find(|(name, _)| *name == "bytes"))
    {
        let (size, all) = (number("partition_bytes", size)?, number("bytes", all)?);
        given.push(("partitions", (all / size).max(1).to_string()));
    } else if let Some(size) = partition_bytes {
        let partitions = known(&given, "partitions", Setting::default().partitions as u64)?;
        given.push(("bytes", product(number("partition_bytes", &size)?, partitions)?));
    }
    let setting = Setting::parse(given.iter().map(|(name, value)| (*name, value.as_str())))?;
    let params = setting.pairs().into_iter().map(|(name, value)| (name.to_owned(), Text(value))).collect();
    Ok(PlannedCase { test: TEST.to_owned(), set: Some(CUSTOM.to_owned()), params, methods: Vec::new() })
}

/// Threads that stand for the 32 of CMB where these only sleep: more partitions than the smallest number of bins, and
/// few enough to wake up together.
pub const SLEEPERS: usize = 8;

/// Papers whose figures can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figures {
    /// No paper's: how `aggregated` stands to its rivals, see the page on partitioned communication
    Aggregated,
    /// Marts et al., CCGrid 2024, figures 5 to 7, with one peer
    Cmb,
    /// Schneewind & Niethammer, EuroMPI 2024, figures 3 to 6
    Hlrs,
    /// Gillis et al., ICPP 2023, figures 4 to 8
    Pcomm,
}

/// The grid of one figure.
struct Figure {
    name: &'static str,
    methods: &'static str,
    sweep: Sweep,
}

/// Words as a list of values.
fn list(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// Powers of two from 2^from to 2^to, by steps of 2^step.
fn powers(from: u32, to: u32, step: usize) -> Vec<String> {
    (from..=to).step_by(step).map(|exponent| (1u64 << exponent).to_string()).collect()
}

impl Figures {
    /// Adds the cases of all figures to a plan, with the mechanisms that each compares. Lists that the user gave win over
    /// the grid's. `full` is the paper's own grid; without it, there are as many threads as this machine has cores for
    /// each of two ranks, at least two, and fewer sizes; [`SLEEPERS`] where they sleep.
    ///
    /// # Errors
    /// As [`Sweep::cases`].
    pub fn add_to(self, plan: &mut Plan, given: &Sweep, full: bool) -> Result<(), String> {
        let asked = (plan.methods != crate::plan::all_methods(plan.experiment)).then(|| plan.methods.clone());
        let mut all: Vec<String> = Vec::new();
        for Figure { name, methods, sweep } in self.figures(full) {
            let methods: Vec<String> = asked.clone().unwrap_or_else(|| list(methods));
            for case in sweep.with(given).cases()? {
                match plan.cases.iter_mut().find(|known| known.params == case.params) {
                    Some(known) => {
                        let more: Vec<_> =
                            methods.iter().filter(|m| !known.methods.contains(m)).cloned().collect();
                        known.methods.extend(more);
                        known.set = known.set.take().map(|set| format!("{set}+{name}"));
                    }
                    None => plan.cases.push(PlannedCase {
                        set: Some(name.to_owned()),
                        methods: methods.clone(),
                        ..case
                    }),
                }
            }
            all.extend(methods.into_iter().filter(|method| !all.contains(method)).collect::<Vec<_>>());
        }
        let order = |name: &String| {
            let found = mechanisms::find(name).map(|info| info.name);
            mechanisms::MECHANISMS.iter().position(|info| Ok(info.name) == found).unwrap_or(usize::MAX)
        };
        all.sort_by_key(order);
        plan.methods = all;
        Ok(())
    }

    /// The caches of the paper's runs: CMB clears them before each iteration.
    pub fn cache(self) -> Cache {
        if self == Self::Cmb { Cache::Cold } else { Cache::Warm }
    }

    fn figures(self, full: bool) -> Vec<Figure> {
        // Two at least: with one, no figure of threads shows what it is about.
        let threads = |paper: usize| if full { paper } else { (cores() / 2).clamp(2, paper) }.to_string();
        let up_to = |paper: u32| {
            let most = threads(1 << paper).parse::<u32>().unwrap_or(1).ilog2();
            powers(0, most, 1)
        };
        let step = |scaled: usize| if full { 1 } else { scaled };
        match self {
            Self::Aggregated => contests(full),
            Self::Pcomm => {
                let sizes = |from: u32| powers(from, if full { 25 } else { 22 }, step(4));
                let contended = "single many partitioned aggregated rma_single_passive rma_many_passive";
                vec![
                    Figure {
                        name: "pcomm_4",
                        methods: "single many partitioned aggregated rma_single_passive rma_many_passive \
                                  rma_single_active rma_many_active",
                        sweep: Sweep { partitions: list("1"), bytes: sizes(3), ..Sweep::default() },
                    },
                    Figure {
                        name: "pcomm_5",
                        methods: contended,
                        sweep: Sweep {
                            threads: vec![threads(32)],
                            partitions: list("32"),
                            bytes: sizes(8),
                            ..Sweep::default()
                        },
                    },
                    Figure {
                        name: "pcomm_6",
                        methods: contended,
                        sweep: Sweep {
                            threads: vec![threads(32)],
                            partitions: list("32"),
                            bytes: sizes(8),
                            vcis: vec![threads(32)],
                            ..Sweep::default()
                        },
                    },
                    Figure {
                        name: "pcomm_7",
                        methods: "single many partitioned aggregated aggregated:bytes=512 aggregated:bytes=1024 \
                                  aggregated:bytes=4096 aggregated:bytes=16384",
                        sweep: Sweep {
                            threads: vec![threads(4)],
                            theta: list("32"),
                            bytes: sizes(10),
                            ..Sweep::default()
                        },
                    },
                    Figure {
                        name: "pcomm_8",
                        methods: "single many partitioned aggregated rma_single_passive",
                        sweep: Sweep {
                            threads: vec![threads(4)],
                            partitions: list("4"),
                            arrival: list("delay:100"),
                            bytes: sizes(6),
                            ..Sweep::default()
                        },
                    },
                ]
            }
            Self::Hlrs => {
                let base = Sweep {
                    partition_bytes: powers(10, 23, step(3)),
                    bytes: list("8388608"),
                    ..Sweep::default()
                };
                let orders = list("linear random neighbourhood");
                vec![
                    Figure {
                        name: "hlrs_3",
                        methods: "single send persistent partitioned",
                        sweep: base.clone(),
                    },
                    Figure {
                        name: "hlrs_4",
                        methods: "single persistent partitioned",
                        sweep: Sweep { threads: up_to(4), ..base.clone() },
                    },
                    Figure {
                        name: "hlrs_5",
                        methods: "single partitioned",
                        sweep: Sweep { order: orders.clone(), ..base.clone() },
                    },
                    Figure {
                        name: "hlrs_6",
                        methods: "single partitioned aggregated aggregated:bytes=65536 \
                                  aggregated:bytes=65536@partitioned",
                        sweep: Sweep { order: orders, ..base },
                    },
                ]
            }
            Self::Cmb => {
                // Fewer bins than partitions.
                let bins = match full {
                    true => {
                        "single isend aggregated:bins=2 aggregated:bins=4 aggregated:bins=8 aggregated:bins=16 \
                         aggregated rma_fence single:init single:launched"
                    }
                    false => {
                        "single isend aggregated:bins=2 aggregated:bins=4 aggregated rma_fence single:init \
                         single:launched"
                    }
                };
                let arrivals = |words: &str| Sweep {
                    // One partition each. They sleep, which needs no core.
                    threads: vec![if full { 32 } else { SLEEPERS }.to_string()],
                    theta: list("1"),
                    bytes: powers(8, 22, if full { 2 } else { 7 }),
                    arrival: list(words),
                    // 2^22 ns: the paper says 67.1 ms beside it, which is 2^26.
                    compute_us: list("4194.304"),
                    emulate: list("sleep"),
                    // Every rank of CMB sends to its peers and receives from them at once.
                    ways: list("2"),
                    ..Sweep::default()
                };
                let laggards = if full { "laggard:0.01 laggard:0.04 laggard:0.1" } else { "laggard:0.04" };
                let normals = if full { "normal:200ns normal:2us normal:20us" } else { "normal:2us" };
                vec![
                    Figure { name: "cmb_5", methods: bins, sweep: arrivals(laggards) },
                    Figure { name: "cmb_6", methods: bins, sweep: arrivals(normals) },
                    Figure {
                        name: "cmb_7",
                        methods: bins,
                        sweep: arrivals("kde:sparse kde:molecular kde:matrix"),
                    },
                ]
            }
        }
    }
}

/// Partitions from 64 B to 4 MiB, with and without a late last one, and such as become ready at random; with all mechanisms
/// whose mapping is fixed as rivals.
fn contests(full: bool) -> Vec<Figure> {
    let rivals = |partitions: usize| match partitions {
        1 => "single many partitioned aggregated",
        2 => "single many partitioned aggregated:m=2 aggregated",
        4 => "single many partitioned aggregated:m=2 aggregated:m=4 aggregated",
        8 => "single many partitioned aggregated:m=2 aggregated:m=4 aggregated:m=8 aggregated",
        16 => {
            "single many partitioned aggregated:m=2 aggregated:m=4 aggregated:m=8 aggregated:m=16 aggregated"
        }
        32 => {
            "single many partitioned aggregated:m=4 aggregated:m=8 aggregated:m=16 aggregated:m=32 aggregated"
        }
        _ => {
            "single many partitioned aggregated:m=4 aggregated:m=16 aggregated:m=32 aggregated:m=64 aggregated"
        }
    };
    let partition_bytes = powers(6, 22, if full { 2 } else { 4 });
    let counts = powers(0, 6, if full { 1 } else { 2 });
    let number = |text: &String| text.parse().unwrap_or(1);
    let repeated = counts.iter().map(|partitions| Figure {
        name: "aggregated_repeated",
        methods: rivals(number(partitions)),
        sweep: Sweep {
            partitions: vec![partitions.clone()],
            partition_bytes: partition_bytes.clone(),
            arrival: list("none delay:2000"),
            ..Sweep::default()
        },
    });
    // Threads that sleep need no core.
    let at_random = ["1", "4"].map(|theta| Figure {
        name: "aggregated_random",
        methods: rivals(4 * number(&theta.to_owned())),
        sweep: Sweep {
            threads: list("4"),
            theta: list(theta),
            partition_bytes: powers(6, 22, 8),
            arrival: list("normal:100us uniform:0.5"),
            compute_us: list("500"),
            emulate: list("sleep"),
            ..Sweep::default()
        },
    });
    repeated.chain(at_random).collect()
}

impl Sweep {
    /// This one, with the lists that the other has.
    fn with(mut self, other: &Self) -> Self {
        // All three say how many partitions there are.
        if [&other.partitions, &other.theta, &other.partition_bytes].iter().any(|list| !list.is_empty()) {
            for list in [&mut self.partitions, &mut self.theta, &mut self.partition_bytes] {
                list.clear();
            }
        }
        let pairs = [
            (&mut self.bytes, &other.bytes),
            (&mut self.partitions, &other.partitions),
            (&mut self.theta, &other.theta),
            (&mut self.partition_bytes, &other.partition_bytes),
            (&mut self.receive, &other.receive),
            (&mut self.threads, &other.threads),
            (&mut self.order, &other.order),
            (&mut self.arrival, &other.arrival),
            (&mut self.compute_us, &other.compute_us),
            (&mut self.emulate, &other.emulate),
            (&mut self.beta, &other.beta),
            (&mut self.vcis, &other.vcis),
            (&mut self.ways, &other.ways),
        ];
        for (mine, theirs) in pairs {
            if !theirs.is_empty() {
                mine.clone_from(theirs);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn value<'a>(case: &'a PlannedCase, name: &str) -> &'a str {
        &case.params[name].0
    }

    #[test]
    fn a_sweep_is_the_product_of_its_lists() {
        let sweep = Sweep {
            threads: list("1 2"),
            theta: list("4 32"),
            partition_bytes: list("8 1KiB"),
            ..Sweep::default()
        };
        let cases = sweep.cases().unwrap();
        assert_eq!(cases.len(), 8);
        let last = cases.last().unwrap();
        assert_eq!((value(last, "partitions"), value(last, "bytes")), ("64", "65536"));
        assert_eq!(Sweep::default().cases().unwrap().len(), 1);
    }

    #[test]
    fn a_message_of_a_size_can_be_cut_into_partitions_of_a_size() {
        let sweep = Sweep { bytes: list("8MiB"), partition_bytes: list("1MiB 64KiB"), ..Sweep::default() };
        let cases = sweep.cases().unwrap();
        let partitions: Vec<&str> = cases.iter().map(|case| value(case, "partitions")).collect();
        assert_eq!(partitions, ["8", "128"]);
    }

    #[test]
    fn what_is_given_wins_over_a_grid() {
        let grid = Sweep { threads: list("8"), theta: list("1"), ..Sweep::default() };
        let of = |given: Sweep| grid.clone().with(&given).cases().unwrap();
        assert_eq!(value(&of(Sweep::default())[0], "partitions"), "8");
        assert_eq!(value(&of(Sweep { threads: list("3"), ..Sweep::default() })[0], "partitions"), "3");
        assert_eq!(value(&of(Sweep { partitions: list("32"), ..Sweep::default() })[0], "partitions"), "32");
        // However a grid says how many partitions there are.
        for figures in [Figures::Cmb, Figures::Hlrs, Figures::Pcomm] {
            let given = [
                ("8", Sweep { partitions: list("8"), threads: list("2"), ..Sweep::default() }),
                ("6", Sweep { theta: list("3"), threads: list("2"), ..Sweep::default() }),
            ];
            for (partitions, given) in given {
                let mut plan = Plan { ranks: 2, ..Plan::of(Experiment::Partitioned) };
                figures.add_to(&mut plan, &given, false).unwrap();
                assert!(plan.cases.iter().all(|case| value(case, "partitions") == partitions), "{figures:?}");
            }
        }
    }

    #[test]
    fn cmb_sends_both_ways_at_once_and_no_other_does() {
        for (figures, both_ways) in [(Figures::Cmb, true), (Figures::Hlrs, false), (Figures::Pcomm, false)] {
            let mut plan = Plan { ranks: 2, ..Plan::of(Experiment::Partitioned) };
            figures.add_to(&mut plan, &Sweep::default(), false).unwrap();
            assert!(
                plan.cases.iter().all(|case| case.params.contains_key("ways") == both_ways),
                "{figures:?}"
            );
        }
    }

    #[test]
    fn caches_are_those_of_the_paper() {
        assert_eq!((Figures::Cmb.cache(), Figures::Pcomm.cache()), (Cache::Cold, Cache::Warm));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (name, sweep) in [
            ("theta", Sweep { theta: list("0"), ..Sweep::default() }),
            ("order", Sweep { order: list("sideways"), ..Sweep::default() }),
            ("partition_bytes", Sweep { partition_bytes: list("x"), ..Sweep::default() }),
        ] {
            assert!(sweep.cases().unwrap_err().contains(name), "{name}");
        }
    }

    #[test]
    fn every_figure_is_a_plan_that_can_be_run() {
        for figures in [Figures::Aggregated, Figures::Cmb, Figures::Hlrs, Figures::Pcomm] {
            for full in [false, true] {
                let mut plan = Plan { ranks: 2, ..Plan::of(Experiment::Partitioned) };
                figures.add_to(&mut plan, &Sweep::default(), full).unwrap();
                plan.check().unwrap();
                assert!(plan.methods.contains(&"single".to_owned()));
                let shown =
                    |name: &str| plan.cases.iter().any(|case| case.set.as_ref().unwrap().contains(name));
                assert!(figures.figures(full).iter().all(|figure| shown(figure.name)));
            }
        }
    }
}
