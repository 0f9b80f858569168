//! The figures of papers: a row each, with the command that measures what it shows, and how it is drawn. As in [`PICTURES`], marks
//! are made of records by functions of `marks.rs`.
//!
//! Axes, lines and normalisation are the paper's; intervals are ours.
//!
//! [`PICTURES`]: super::PICTURES

use super::axis::{Scale, Unit};
use super::{Picture, Results, Shape, caption, marks};
use crate::model::Record;

/// A figure of a paper.
pub struct PaperFigure {
    /// The picture; its name is the figure's, as `cmb-5`.
    pub picture: Picture,
    /// The paper's own setting, where that is not what this machine has.
    pub setting: &'static str,
    /// What differs besides: what the paper shows and this does not.
    pub differs: &'static str,
    /// The words of the command that measures it, behind `ddtbench`.
    pub command: &'static [&'static str],
    /// Words for a first look within some minutes; ratios need six rounds, so those of such figures set no `--max-time`, in the place of those of the same flags.
    pub quick: &'static [&'static str],
}

/// A picture of lines over an axis that is logarithmic where it is long.
const fn lines(
    name: &'static str,
    title: &'static str,
    kinds: &'static [&'static str],
    data: fn(&Results<'_>) -> Vec<super::Datum>,
    (axis, unit, scale): (&'static str, Unit, Scale),
    about: &'static str,
) -> Picture {
    Picture {
        name,
        title,
        kinds,
        needs: "the cases of this figure: ddtbench figure NAME measures them",
        data,
        shape: Shape::Lines,
        axis,
        unit,
        scale,
        about,
        finding: caption::extremes,
    }
}

const TIME: (&str, Unit, Scale) = ("time", Unit::Seconds, Scale::Log);
const BANDWIDTH: (&str, Unit, Scale) = ("bandwidth", Unit::Rate, Scale::Log);
const LINEAR_BANDWIDTH: (&str, Unit, Scale) = ("bandwidth", Unit::Rate, Scale::Linear);
const SPEEDUP: (&str, Unit, Scale) = ("speed-up over BSP messages", Unit::Percent, Scale::Linear);

const OF_DDTBENCH: &str =
    "two hosts with AMD Opteron 270 HE and SDR InfiniBand; Open MPI 1.6 and MVAPICH 1.8.";
const OF_CMB: &str = "32 hosts, one rank each with 32 threads (Manzano) or 16 (Mutrino), caches cleared before each \
    iteration; the mean of five trials of 200 iterations, summed.";
const OF_PCOMM: &str = "MPICH on two hosts of MeluXina, HDR200 InfiniBand, a core per thread; the mean of 150 iterations with its 90% \
    interval.";
const OF_HLRS: &str = "Open MPI 5.0.3 on two hosts of HAWK, HDR InfiniBand, up to 16 threads; means.";

const CMB: &str = "By how much less time an iteration takes, computing included, than with bulk-synchronous two-sided messages (manual): \
    (BSP - t) / BSP. fine sends each thread's part, aggregated:bins=2 in two parts, put_ddt puts. Upright lines are 95% intervals.";
const PCOMM: &str = "The time from the start to the end at the receiver, without computing. single is Pt2Pt single, many Pt2Pt many, partitioned \
    Pt2Pt part; aggregated is our own layer. Upright lines are 95% intervals.";
const HLRS: &str = "Bytes over the time of a transfer of all partitions. Upright lines are 95% intervals, those of the time turned around.";

const QUICK_HALO: &[&str] = &["-p", "bytes=1KiB,64KiB,1MiB", "--launches", "1"];
const QUICK_PCOMM: &[&str] = &["--bytes", "1KiB,32KiB,1MiB", "--launches", "1", "--max-time", "0.1"];
const QUICK_HLRS: &[&str] =
    &["--bytes", "1MiB", "--partition-bytes", "4KiB,64KiB,1MiB", "--launches", "1", "--max-time", "0.1"];

const NO_BOUND: &str = "The line of the network's bandwidth is not drawn: two ranks on one host have none.";
const STENCILS: &str =
    "Neighbours lie on a grid of as many ranks as -n says; the paper's are the next of a ring.";

/// All figures, in the order of papers and numbers.
pub static PAPERS: [PaperFigure; 14] = [
    PaperFigure {
        picture: lines(
            "ddtbench-5",
            "DDTBench (EuroMPI 2012), figure 5: packing overheads",
            &["pingpong"],
            marks::overhead_over_size,
            ("packing overhead", Unit::Percent, Scale::Linear),
            "The share of a method's time that the same bytes in one piece do not take, without the creation of datatypes, over the bytes sent: \
            a panel per test. Upright lines are 95% intervals.",
        ),
        setting: OF_DDTBENCH,
        differs: "MPIs stand side by side; the paper has its two in one diagram.",
        command: &["run", "--preset", "default", "--method", "reference,manual,mpi_pack,ddt"],
        quick: &["nas_lu_x", "nas_lu_y", "--launches", "1"],
    },
    PaperFigure {
        picture: Picture {
            name: "ddtbench-6",
            title: "DDTBench (EuroMPI 2012), figure 6: absolute times",
            kinds: &["pingpong"],
            needs: "the cases of this figure: ddtbench figure NAME measures them",
            data: marks::phases,
            shape: Shape::Stack,
            axis: "time",
            unit: Unit::Seconds,
            scale: Scale::Linear,
            about: "Creation and commit of the datatype, packing and unpacking of the origin doubled as in the paper, and the rest of the round \
                trip; of a datatype MPI packs within the communication. Each test has an axis of its own.",
            finding: caption::nothing,
        },
        setting: OF_DDTBENCH,
        differs: "Tests of WRF and SPECFEM3D, which the paper's text names; others by their names behind the figure's.",
        command: &[
            "run",
            "wrf_x_vec",
            "wrf_y_vec",
            "specfem3d_oc",
            "specfem3d_cm",
            "--preset",
            "quick",
            "--method",
            "reference,manual,mpi_pack,ddt",
        ],
        quick: &["wrf_y_vec", "specfem3d_oc", "--launches", "1", "--max-time", "0.1"],
    },
    PaperFigure {
        picture: lines(
            "cmb-5",
            "CMB (CCGrid 2024), figure 5: speed-up, one late thread",
            &["halo"],
            marks::speedup_over_buffer,
            SPEEDUP,
            CMB,
        ),
        setting: OF_CMB,
        differs: STENCILS,
        command: &["halo", "--figures", "--only", "5"],
        quick: QUICK_HALO,
    },
    PaperFigure {
        picture: lines(
            "cmb-6",
            "CMB (CCGrid 2024), figure 6: speed-up, normal arrivals",
            &["halo"],
            marks::speedup_over_buffer,
            SPEEDUP,
            CMB,
        ),
        setting: OF_CMB,
        differs: STENCILS,
        command: &["halo", "--figures", "--only", "6"],
        quick: QUICK_HALO,
    },
    PaperFigure {
        picture: lines(
            "cmb-7",
            "CMB (CCGrid 2024), figure 7: speed-up, densities of arrivals",
            &["halo"],
            marks::speedup_over_buffer,
            SPEEDUP,
            CMB,
        ),
        setting: OF_CMB,
        differs: "The paper's times of MiniFE, MiniMD and MiniQMC are not public: these are of three kernels of ours.",
        command: &["halo", "--figures", "--only", "7"],
        quick: QUICK_HALO,
    },
    PaperFigure {
        picture: lines(
            "hlrs-3",
            "HLRS (EuroMPI 2024), figure 3: blocking, persistent, partitioned",
            &["partitioned"],
            marks::bandwidth_over_partition,
            LINEAR_BANDWIDTH,
            HLRS,
        ),
        setting: OF_HLRS,
        differs: "",
        command: &["partitioned", "--preset", "hlrs", "--only", "3"],
        quick: QUICK_HLRS,
    },
    PaperFigure {
        picture: lines(
            "hlrs-4",
            "HLRS (EuroMPI 2024), figure 4: persistent and partitioned by threads",
            &["partitioned"],
            marks::bandwidth_by_threads,
            LINEAR_BANDWIDTH,
            HLRS,
        ),
        setting: OF_HLRS,
        differs: "",
        command: &["partitioned", "--preset", "hlrs", "--only", "4"],
        quick: QUICK_HLRS,
    },
    PaperFigure {
        picture: lines(
            "hlrs-5",
            "HLRS (EuroMPI 2024), figure 5: partitioned by orders",
            &["partitioned"],
            marks::bandwidth_by_order,
            LINEAR_BANDWIDTH,
            HLRS,
        ),
        setting: OF_HLRS,
        differs: "",
        command: &["partitioned", "--preset", "hlrs", "--only", "5"],
        quick: QUICK_HLRS,
    },
    PaperFigure {
        picture: lines(
            "hlrs-6",
            "HLRS (EuroMPI 2024), figure 6: partitions merged",
            &["partitioned"],
            marks::bandwidth_over_partition,
            LINEAR_BANDWIDTH,
            HLRS,
        ),
        setting: OF_HLRS,
        differs: "The paper's own layer is in no release; aggregated is ours, with transport partitions of 64 KiB too.",
        command: &["partitioned", "--preset", "hlrs", "--only", "6"],
        quick: QUICK_HLRS,
    },
    PaperFigure {
        picture: lines(
            "pcomm-4",
            "bench-pcomm (ICPP 2023), figure 4: one thread, one partition",
            &["partitioned"],
            marks::time_over_bytes,
            TIME,
            PCOMM,
        ),
        setting: OF_PCOMM,
        differs: NO_BOUND,
        command: &["partitioned", "--preset", "pcomm", "--only", "4"],
        quick: QUICK_PCOMM,
    },
    PaperFigure {
        picture: lines(
            "pcomm-5",
            "bench-pcomm (ICPP 2023), figure 5: 32 partitions, contended",
            &["partitioned"],
            marks::time_over_bytes,
            TIME,
            PCOMM,
        ),
        setting: "MPICH on two hosts of MeluXina with 32 threads each, a core per thread; means.",
        differs: NO_BOUND,
        command: &["partitioned", "--preset", "pcomm", "--only", "5"],
        quick: QUICK_PCOMM,
    },
    PaperFigure {
        picture: lines(
            "pcomm-6",
            "bench-pcomm (ICPP 2023), figure 6: the same with an interface per thread",
            &["partitioned"],
            marks::time_over_bytes,
            TIME,
            PCOMM,
        ),
        setting: "MPICH on two hosts of MeluXina with 32 threads and 32 virtual interfaces each; means.",
        differs: "Virtual interfaces are MPICH's; other MPIs have none.",
        command: &["partitioned", "--preset", "pcomm", "--only", "6"],
        quick: QUICK_PCOMM,
    },
    PaperFigure {
        picture: lines(
            "pcomm-7",
            "bench-pcomm (ICPP 2023), figure 7: 32 partitions per thread, merged",
            &["partitioned"],
            marks::time_over_bytes,
            TIME,
            PCOMM,
        ),
        setting: "MPICH on two hosts of MeluXina, 4 threads each; means.",
        differs: "No release of MPICH merges partitions as the paper's did; aggregated:bytes=N, our layer, stands for it.",
        command: &["partitioned", "--preset", "pcomm", "--only", "7"],
        quick: QUICK_PCOMM,
    },
    PaperFigure {
        picture: lines(
            "pcomm-8",
            "bench-pcomm (ICPP 2023), figure 8: bandwidth with a late partition",
            &["partitioned"],
            marks::bandwidth_over_bytes,
            BANDWIDTH,
            "Bytes over the time from the start to the end at the receiver, without computing; the last of 4 partitions is late by 100 us for \
            each MB of it. Upright lines are 95% intervals, those of the time turned around.",
        ),
        setting: "MPICH on two hosts of MeluXina, 4 threads each; means.",
        differs: "",
        command: &["partitioned", "--preset", "pcomm", "--only", "8"],
        quick: QUICK_PCOMM,
    },
];

impl PaperFigure {
    /// The figure called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        PAPERS.iter().find(|figure| figure.picture.name == name)
    }

    /// The name of the cases that are its own, in plans that have several figures'.
    pub fn set(&self) -> String {
        self.picture.name.replace('-', "_")
    }

    /// What it is of: the records of its own cases, where a run marks them, or all of a run that was made for it.
    pub fn records(&self, results: &Results<'_>, of: &[Record]) -> Option<Vec<Record>> {
        let set = self.set();
        let is_own = |record: &&Record| record.case.set.split('+').any(|name| name == set);
        let own: Vec<Record> = of.iter().filter(is_own).cloned().collect();
        let is_asked_for = results.figure == Some(self.picture.name);
        if own.is_empty() && is_asked_for {
            Some(of.to_vec())
        } else {
            Some(own).filter(|own| !own.is_empty())
        }
    }

    /// What stands below its title, besides what was measured where.
    pub fn notes(&self) -> Vec<String> {
        let paper = format!("In the paper: {}", self.setting);
        [paper, self.differs.to_owned()].into_iter().filter(|note| !note.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_paper_and_number_and_no_other_pictures() {
        for (i, figure) in PAPERS.iter().enumerate() {
            let name = figure.picture.name;
            assert!(PAPERS[..i].iter().all(|other| other.picture.name != name), "{name}");
            assert!(super::super::PICTURES.iter().all(|picture| picture.name != name), "{name}");
            let (_, number) = name.rsplit_once('-').unwrap();
            assert!(figure.picture.title.contains(&format!("figure {number}:")), "{name}");
            assert!(!figure.setting.is_empty() && !figure.command.is_empty(), "{name}");
        }
    }
}
