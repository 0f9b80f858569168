//! The grids of three papers' figures, and one that shows how `aggregated` stands to the other mechanisms.

use clap::ValueEnum;

use super::{methods, sweep};
use crate::experiments::parameter::{Sweep, words};
use crate::experiments::planned::PlannedCase;
use crate::model::conditions::Cache;

/// Threads that stand for the 32 of CMB where these only sleep: more partitions than the smallest number of bins, and
/// few enough to wake up together.
pub const SLEEPERS: usize = 8;

/// Papers whose figures can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Figures {
    /// No paper's: how `aggregated` stands to the other mechanisms, see the page on partitioned communication
    Aggregated,
    /// Marts et al., CCGrid 2024, figures 5 to 7, with one peer
    Cmb,
    /// Schneewind & Niethammer, EuroMPI 2024, figures 3 to 6
    Hlrs,
    /// Gillis et al., ICPP 2023, figures 4 to 8
    Pcomm,
}

/// The grid of one figure.
struct FigureGrid {
    name: &'static str,
    methods: &'static str,
    sweep: Sweep,
}

/// Powers of two from 2^from to 2^to, by steps of 2^step.
fn powers(from: u32, to: u32, step: usize) -> Vec<String> {
    (from..=to).step_by(step).map(|exponent| (1u64 << exponent).to_string()).collect()
}

impl Figures {
    /// The cases of all figures with the mechanisms that each compares, and all mechanisms in report order. Lists that the
    /// user gave win over the grid's, and so do mechanisms that were `asked` for; `only` one figure, by its number. `full` is the paper's own grid; without it,
    /// there are as many threads as each of two ranks on this machine has of its `cores`, at least two, and fewer sizes;
    /// [`SLEEPERS`] where they sleep.
    ///
    /// # Errors
    /// As [`sweep::cases`].
    pub fn cases(
        self,
        given: &Sweep,
        asked: Option<&[String]>,
        cores: usize,
        full: bool,
        only: Option<u32>,
    ) -> Result<(Vec<PlannedCase>, Vec<String>), String> {
        let (mut cases, mut all): (Vec<PlannedCase>, Vec<String>) = (Vec::new(), Vec::new());
        let mut grids = self.figures(cores, full);
        if let Some(number) = only {
            let is_it = |grid: &FigureGrid| grid.name.ends_with(&format!("_{number}"));
            let names = grids.iter().map(|grid| grid.name).collect::<Vec<_>>().join(", ");
            grids.retain(is_it);
            if grids.is_empty() {
                return Err(format!(
                    "--only {number}: the preset has no figure of this number; it has {names}"
                ));
            }
        }
        for FigureGrid { name, methods, sweep: grid } in grids {
            let methods: Vec<String> = asked.map_or_else(|| words(methods), <[String]>::to_vec);
            for case in sweep::cases(&sweep::over(grid, given))? {
                match cases.iter_mut().find(|known| known.params == case.params) {
                    Some(known) => {
                        let more: Vec<_> =
                            methods.iter().filter(|m| !known.methods.contains(m)).cloned().collect();
                        known.methods.extend(more);
                        known.set = known.set.take().map(|set| format!("{set}+{name}"));
                    }
                    None => cases.push(PlannedCase {
                        set: Some(name.to_owned()),
                        methods: methods.clone(),
                        ..case
                    }),
                }
            }
            all.extend(methods.into_iter().filter(|method| !all.contains(method)).collect::<Vec<_>>());
        }
        let order = |name: &String| {
            let found = methods::find(name).map(|info| info.name);
            methods::MECHANISMS.iter().position(|info| Ok(info.name) == found).unwrap_or(usize::MAX)
        };
        all.sort_by_key(order);
        Ok((cases, all))
    }

    /// The caches of the paper's runs: CMB clears them before each iteration.
    pub fn cache(self) -> Cache {
        if self == Self::Cmb { Cache::Cold } else { Cache::Warm }
    }

    fn figures(self, cores: usize, full: bool) -> Vec<FigureGrid> {
        // Two at least: with one, no figure of threads shows what it is about.
        let threads = |paper: usize| if full { paper } else { (cores / 2).clamp(2, paper) }.to_string();
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
                    FigureGrid {
                        name: "pcomm_4",
                        methods: "single many partitioned aggregated rma_single_passive rma_many_passive \
                                  rma_single_active rma_many_active",
                        sweep: Sweep::of([("partitions", words("1")), ("bytes", sizes(3))]),
                    },
                    FigureGrid {
                        name: "pcomm_5",
                        methods: contended,
                        sweep: Sweep::of([
                            ("threads", vec![threads(32)]),
                            ("partitions", words("32")),
                            ("bytes", sizes(8)),
                        ]),
                    },
                    FigureGrid {
                        name: "pcomm_6",
                        methods: contended,
                        sweep: Sweep::of([
                            ("threads", vec![threads(32)]),
                            ("partitions", words("32")),
                            ("bytes", sizes(8)),
                            ("vcis", vec![threads(32)]),
                        ]),
                    },
                    FigureGrid {
                        name: "pcomm_7",
                        methods: "single many partitioned aggregated aggregated:bytes=512 aggregated:bytes=1024 \
                                  aggregated:bytes=4096 aggregated:bytes=16384",
                        sweep: Sweep::of([
                            ("threads", vec![threads(4)]),
                            ("theta", words("32")),
                            ("bytes", sizes(10)),
                        ]),
                    },
                    FigureGrid {
                        name: "pcomm_8",
                        methods: "single many partitioned aggregated rma_single_passive",
                        sweep: Sweep::of([
                            ("threads", vec![threads(4)]),
                            ("partitions", words("4")),
                            ("arrival", words("delay:100")),
                            ("bytes", sizes(6)),
                        ]),
                    },
                ]
            }
            Self::Hlrs => {
                let base =
                    Sweep::of([("partition_bytes", powers(10, 23, step(3))), ("bytes", words("8388608"))]);
                let orders = words("linear random neighbourhood");
                vec![
                    FigureGrid {
                        name: "hlrs_3",
                        methods: "single send persistent partitioned",
                        sweep: base.clone(),
                    },
                    FigureGrid {
                        name: "hlrs_4",
                        methods: "single persistent partitioned",
                        sweep: base.clone().with(&Sweep::of([("threads", up_to(4))])),
                    },
                    FigureGrid {
                        name: "hlrs_5",
                        methods: "single partitioned",
                        sweep: base.clone().with(&Sweep::of([("order", orders.clone())])),
                    },
                    FigureGrid {
                        name: "hlrs_6",
                        methods: "single partitioned aggregated aggregated:bytes=65536 \
                                  aggregated:bytes=65536@partitioned",
                        sweep: base.with(&Sweep::of([("order", orders)])),
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
                let arrivals = |times: &str| {
                    Sweep::of([
                        // One partition each. They sleep, which needs no core.
                        ("threads", vec![if full { 32 } else { SLEEPERS }.to_string()]),
                        ("theta", words("1")),
                        ("bytes", powers(8, 22, if full { 2 } else { 7 })),
                        ("arrival", words(times)),
                        // 2^22 ns: the paper says 67.1 ms beside it, which is 2^26.
                        ("compute_us", words("4194.304")),
                        ("emulate", words("sleep")),
                        // Every rank of CMB sends to its peers and receives from them at once.
                        ("ways", words("2")),
                    ])
                };
                let laggards = if full { "laggard:0.01 laggard:0.04 laggard:0.1" } else { "laggard:0.04" };
                let normals = if full { "normal:200ns normal:2us normal:20us" } else { "normal:2us" };
                vec![
                    FigureGrid { name: "cmb_5", methods: bins, sweep: arrivals(laggards) },
                    FigureGrid { name: "cmb_6", methods: bins, sweep: arrivals(normals) },
                    FigureGrid {
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
/// whose mapping is fixed beside `aggregated`.
fn contests(full: bool) -> Vec<FigureGrid> {
    let mechanisms = |partitions: usize| match partitions {
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
    let repeated = counts.iter().map(|partitions| FigureGrid {
        name: "aggregated_repeated",
        methods: mechanisms(number(partitions)),
        sweep: Sweep::of([
            ("partitions", vec![partitions.clone()]),
            ("partition_bytes", partition_bytes.clone()),
            ("arrival", words("none delay:2000")),
        ]),
    });
    // Threads that sleep need no core.
    let at_random = ["1", "4"].map(|theta| FigureGrid {
        name: "aggregated_random",
        methods: mechanisms(4 * number(&theta.to_owned())),
        sweep: Sweep::of([
            ("threads", words("4")),
            ("theta", words(theta)),
            ("partition_bytes", powers(6, 22, 8)),
            ("arrival", words("normal:100us uniform:0.5")),
            ("compute_us", words("500")),
            ("emulate", words("sleep")),
        ]),
    });
    repeated.chain(at_random).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Setup;
    use crate::experiments::partitioned::KIND;

    /// Cores of the machine that grids are for.
    const CORES: usize = 8;

    fn cases(figures: Figures, given: &Sweep) -> Vec<PlannedCase> {
        figures.cases(given, None, CORES, false, None).unwrap().0
    }

    fn value<'a>(case: &'a PlannedCase, name: &str) -> &'a str {
        &case.params[name].0
    }

    #[test]
    fn what_is_given_wins_over_a_grid() {
        let grid = Sweep::of([("threads", words("8")), ("theta", words("1"))]);
        let of = |given: Sweep| sweep::cases(&sweep::over(grid.clone(), &given)).unwrap();
        assert_eq!(value(&of(Sweep::default())[0], "partitions"), "8");
        assert_eq!(value(&of(Sweep::of([("threads", words("3"))]))[0], "partitions"), "3");
        assert_eq!(value(&of(Sweep::of([("partitions", words("32"))]))[0], "partitions"), "32");
        // However a grid says how many partitions there are.
        for figures in [Figures::Cmb, Figures::Hlrs, Figures::Pcomm] {
            let given = [
                ("8", Sweep::of([("partitions", words("8")), ("threads", words("2"))])),
                ("6", Sweep::of([("theta", words("3")), ("threads", words("2"))])),
            ];
            for (partitions, given) in given {
                let cases = cases(figures, &given);
                assert!(cases.iter().all(|case| value(case, "partitions") == partitions), "{figures:?}");
            }
        }
    }

    #[test]
    fn one_figure_is_its_number() {
        let of = |number| Figures::Hlrs.cases(&Sweep::default(), None, CORES, false, Some(number));
        assert!(of(4).unwrap().0.iter().all(|case| case.set.as_deref() == Some("hlrs_4")));
        let refusal = of(9).unwrap_err();
        assert!(refusal.contains("--only 9") && refusal.contains("hlrs_3"), "{refusal}");
    }

    #[test]
    fn cmb_sends_both_ways_at_once_and_no_other_does() {
        for (figures, both_ways) in [(Figures::Cmb, true), (Figures::Hlrs, false), (Figures::Pcomm, false)] {
            let cases = cases(figures, &Sweep::default());
            assert!(cases.iter().all(|case| case.params.contains_key("ways") == both_ways), "{figures:?}");
        }
    }

    #[test]
    fn caches_are_those_of_the_paper() {
        assert_eq!((Figures::Cmb.cache(), Figures::Pcomm.cache()), (Cache::Cold, Cache::Warm));
    }

    #[test]
    fn every_figure_is_a_plan_that_can_be_run() {
        for figures in [Figures::Aggregated, Figures::Cmb, Figures::Hlrs, Figures::Pcomm] {
            for full in [false, true] {
                let (cases, methods) = figures.cases(&Sweep::default(), None, CORES, full, None).unwrap();
                for case in &cases {
                    KIND.prepare(case, Setup { ranks: 2, seed: 1 }).unwrap();
                }
                assert!(methods.contains(&"single".to_owned()));
                let shown = |name: &str| cases.iter().any(|case| case.set.as_ref().unwrap().contains(name));
                assert!(figures.figures(CORES, full).iter().all(|figure| shown(figure.name)));
            }
        }
    }
}
