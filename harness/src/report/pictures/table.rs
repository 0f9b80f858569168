//! The table of pictures.

use common::kinds::Kind;

use super::axis::{
    AxisUnit, BUFFER_BYTES, BYTES, COMMUNICATION, COMPUTATION, MESSAGE_BYTES, PARTITION_BYTES, Scale,
};
use super::colours::{BEST_TO_WORST, OVERHEAD_RATIO, SLOWDOWN, TIME_OVER, TIMES_AS_FAST};
use super::marks::Marks;
use super::sweep::Over;
use super::{MarkShape, Picture, marks};
use crate::model::{Phase, Quantity};

/// The axes of overlap: the times of both parts.
const TIMES: &[[&str; 2]] = &[[COMMUNICATION, COMPUTATION]];

/// Bars of a plain number; what rows leave out.
const PLAIN: Picture<'static> = Picture {
    name: "",
    title: "",
    kinds: &[],
    needs: "",
    marks: Marks::Of(|_| Vec::new()),
    over: Over::Nothing,
    shape: MarkShape::Bars { base: 0.0 },
    axis: "",
    unit: AxisUnit::Ratio,
    scale: Scale::Linear,
    about: "",
};

/// All pictures, in the order in which a page has them.
pub const PICTURES: &[Picture<'static>] = &[
    Picture {
        name: "change",
        title: "Change of each method against the base",
        kinds: &[Kind::PingPong, Kind::Halo, Kind::Engine, Kind::Partitioned, Kind::Overlap],
        needs: "a comparison (ddtbench compare)",
        marks: Marks::Of(marks::changes),
        shape: MarkShape::Points { base: 1.0 },
        axis: "time over that of the base",
        scale: Scale::Log,
        about: "A point per method: its time over the base's, right of the line slower, left of it faster; both held against the control where \
            the verdict is. Lines are intervals, corrected for the number of rows.",
        ..PLAIN
    },
    Picture {
        name: "overhead",
        title: "Pack overhead per test",
        kinds: &[Kind::PingPong, Kind::Halo],
        needs: "methods with their reference",
        marks: Marks::Of(marks::overhead),
        shape: MarkShape::Bars { base: 0.0 },
        axis: "pack overhead",
        unit: AxisUnit::Percent,
        about: "The share of a method's time that the same bytes in one piece (reference) do not take; below 0 it is faster than these. Lines \
            are 95% intervals; a bar without a line has none.",
        ..PLAIN
    },
    Picture {
        name: "overhead_put",
        title: "Pack overhead of one-sided methods",
        kinds: &[Kind::PingPong, Kind::Halo],
        needs: "one-sided methods with put_reference",
        marks: Marks::Of(marks::overhead_put),
        shape: MarkShape::Bars { base: 0.0 },
        axis: "pack overhead",
        unit: AxisUnit::Percent,
        about: "The share of a method's time that a put of the same bytes in one piece (put_reference) does not take. Lines are 95% intervals; \
            a bar without a line has none.",
        ..PLAIN
    },
    Picture {
        name: "gain_over_partition",
        title: "Gain over partition size, and the model",
        kinds: &[Kind::Partitioned],
        needs: "at least two partition sizes, and single",
        marks: Marks::Of(marks::gain_and_model),
        over: Over::PartitionSize,
        shape: MarkShape::Lines,
        axis: "gain over single",
        scale: Scale::Log,
        about: "The time of the bulk-synchronous message (single) over the mechanism's; above 1 the mechanism is faster. Dashed: what the model \
            predicts of the delays and times measured beside it. Upright lines are 95% intervals; points of one size stand a little apart.",
        ..PLAIN
    },
    Picture {
        name: "gain_over_grid",
        title: "Gain over bytes and partitions",
        kinds: &[Kind::Partitioned],
        needs: "bytes and numbers of partitions that were both swept, and single",
        marks: Marks::Figure(Quantity::Gain),
        over: Over::Grid(&[[BYTES, "partitions"], [PARTITION_BYTES, "partitions"]]),
        shape: MarkShape::Heat { colours: &TIMES_AS_FAST },
        axis: "gain over single",
        scale: Scale::Log,
        about: "A map per mechanism: the time of the bulk-synchronous message (single) over the mechanism's. Blue: the mechanism is faster. A ~ \
            stands before a value whose 95% interval holds 1: there no difference is shown.",
        ..PLAIN
    },
    Picture {
        name: "overhead_ratio",
        title: "Overlap: overhead ratio",
        kinds: &[Kind::Overlap],
        needs: "times of communication and computation that were both swept",
        marks: Marks::Figure(Quantity::OverheadRatio),
        over: Over::Grid(TIMES),
        shape: MarkShape::Heat { colours: &OVERHEAD_RATIO },
        axis: "overhead ratio",
        about: "(t - longer) / shorter of communication and computation by themselves, t with both at once: 0 is perfect overlap, 1 as long as \
            one after the other, above 1 longer; below 0 a reference was imprecise. On the diagonal from bottom left both take equally long.",
        ..PLAIN
    },
    Picture {
        name: "communication_ratio",
        title: "Overlap: time within MPI over that of the communication alone",
        kinds: &[Kind::Overlap],
        needs: "times of communication and computation that were both swept",
        marks: Marks::Figure(Quantity::CommunicationRatio),
        over: Over::Grid(TIMES),
        shape: MarkShape::Heat { colours: &BEST_TO_WORST },
        axis: "communication ratio",
        about: "(call + wait) / the communication by itself: 0 where all of it hides, about 1 where none does, above 1 where it is slowed.",
        ..PLAIN
    },
    Picture {
        name: "computation_slowdown",
        title: "Overlap: time of the computation over that alone",
        kinds: &[Kind::Overlap],
        needs: "times of communication and computation that were both swept",
        marks: Marks::Figure(Quantity::ComputationSlowdown),
        over: Over::Grid(TIMES),
        shape: MarkShape::Heat { colours: &SLOWDOWN },
        axis: "computation slowdown",
        about: "The computation beside the communication over the computation by itself: 1 where it is not disturbed.",
        ..PLAIN
    },
    Picture {
        name: "hidden",
        title: "Share of the communication that hides behind the computation",
        kinds: &[Kind::Overlap],
        needs: "messages or exchanges of applications",
        marks: Marks::Of(marks::hidden),
        shape: MarkShape::Bars { base: 0.0 },
        axis: "hidden",
        unit: AxisUnit::Percent,
        about: "The share of a communication's own time, packing and unpacking included, that the application does not wait for when it computes \
            in between; below 0 both at once take longer than one after the other. Lines are 95% intervals; a bar without a line has none.",
        ..PLAIN
    },
    Picture {
        name: "mpi_impact",
        title: "Impact of an MPI that has nothing to do on a computation",
        kinds: &[Kind::Overlap],
        needs: "a computation before MPI_Init and after",
        marks: Marks::Figure(Quantity::MpiImpact),
        shape: MarkShape::Bars { base: 1.0 },
        axis: "time over that without MPI",
        about: "The computation while MPI has nothing to do, over the same before MPI_Init: 1 is no impact. Lines are 95% intervals; a bar without \
            a line has none.",
        ..PLAIN
    },
    Picture {
        name: "gain",
        title: "Gain of each mechanism",
        kinds: &[Kind::Partitioned],
        needs: "mechanisms beside single",
        marks: Marks::Figure(Quantity::Gain),
        shape: MarkShape::Bars { base: 1.0 },
        axis: "gain over single",
        scale: Scale::Log,
        about: "The time of the bulk-synchronous message (single) over the mechanism's: bars to the right of 1 are faster. Lines are 95% \
            intervals.",
        ..PLAIN
    },
    Picture {
        name: "bandwidth_over_partition",
        title: "Bandwidth over partition size",
        kinds: &[Kind::Partitioned],
        needs: "at least two partition sizes",
        marks: Marks::Of(marks::bandwidths),
        over: Over::PartitionSize,
        shape: MarkShape::Lines,
        axis: "bandwidth",
        unit: AxisUnit::Rate,
        scale: Scale::Log,
        about: "Bytes over the time to solution. Upright lines are 95% intervals; points of one size stand a little apart, those of the time turned around.",
    },
    Picture {
        name: "pack_over_engine",
        title: "Packing: time over the engine's",
        kinds: &[Kind::Engine],
        needs: "the engine and what is held against it",
        marks: Marks::Of(|results| marks::over_engine(results, Phase::Pack)),
        shape: MarkShape::Bars { base: 1.0 },
        axis: "time over the engine's",
        scale: Scale::Log,
        about: "How many times as long as the pack engine a method packs: bars to the right of 1 say that the engine is faster. Lines are 95% \
            intervals.",
        ..PLAIN
    },
    Picture {
        name: "unpack_over_engine",
        title: "Unpacking: time over the engine's",
        kinds: &[Kind::Engine],
        needs: "the engine and what is held against it",
        marks: Marks::Of(|results| marks::over_engine(results, Phase::Unpack)),
        shape: MarkShape::Bars { base: 1.0 },
        axis: "time over the engine's",
        scale: Scale::Log,
        about: "How many times as long as the pack engine a method unpacks: bars to the right of 1 say that the engine is faster. Lines are 95% \
            intervals.",
        ..PLAIN
    },
    Picture {
        name: "exchange",
        title: "Time of an exchange",
        kinds: &[Kind::Halo],
        needs: "an exchange with times",
        marks: Marks::Of(marks::times),
        shape: MarkShape::Times,
        axis: "time that an exchange adds",
        unit: AxisUnit::Seconds,
        about: "The median of what an exchange adds to the computing of the rank that computes longest. Each test has an axis of its own; a bar that \
            it does not hold says how long it is. Lines are 95% intervals; a bar without a line has none.",
        ..PLAIN
    },
    Picture {
        name: "phases",
        title: "What a round trip is made of",
        kinds: &[Kind::PingPong],
        needs: "methods with times",
        marks: Marks::Of(marks::phases),
        shape: MarkShape::Stack,
        axis: "time",
        unit: AxisUnit::Seconds,
        about: "Medians of the phases, one after the other. Explicit packing and unpacking are the origin's, doubled, since both ranks pack and \
            unpack in a round trip; of a datatype MPI packs within the communication, where nobody sees it. Creation is not part of a round \
            trip. Each test has an axis of its own; a bar that it does not hold says how long it is.",
        ..PLAIN
    },
    Picture {
        name: "time_over_size",
        title: "Time over size",
        kinds: &[Kind::PingPong, Kind::Halo, Kind::Engine],
        needs: "cases of one test that differ in size or in one parameter, as those of -p ny=200,400,800",
        marks: Marks::Of(marks::compared_times),
        over: Over::Swept,
        shape: MarkShape::Lines,
        axis: "median time",
        unit: AxisUnit::Seconds,
        scale: Scale::Log,
        about: "The median time of each method over what was swept. Upright lines are 95% intervals; points of one size stand a little apart.",
    },
    Picture {
        name: "bandwidth_over_size",
        title: "Bandwidth over size",
        kinds: &[Kind::PingPong, Kind::Halo, Kind::Engine],
        needs: "cases of one test that differ in size or in one parameter, as those of -p ny=200,400,800",
        marks: Marks::Of(marks::compared_bandwidths),
        over: Over::Swept,
        shape: MarkShape::Lines,
        axis: "bandwidth",
        unit: AxisUnit::Rate,
        scale: Scale::Log,
        about: "Payload per second of each method over what was swept. Upright lines are 95% intervals; points of one size stand a little apart, those of the time turned around.",
    },
    Picture {
        name: "time_over_manual",
        title: "Time over that of hand-written packing",
        kinds: &[Kind::PingPong, Kind::Halo],
        needs: "cases of one test that differ in two parameters, as those of -p nx=8,64 -p ny=8,64, and manual",
        marks: Marks::Of(marks::over_manual),
        over: Over::WidestGrid,
        shape: MarkShape::Heat { colours: &TIME_OVER },
        axis: "time over that of manual",
        scale: Scale::Log,
        about: "A map per method: its time over that of the hand-written loops (manual). Blue: the method is faster than these. A ~ stands \
            before a value whose 95% interval holds 1: there no difference is shown.",
        ..PLAIN
    },
    Picture {
        name: "launches",
        title: "Every launch",
        kinds: &[Kind::PingPong, Kind::Halo, Kind::Partitioned, Kind::Engine],
        needs: "at least two launches of a method",
        marks: Marks::Of(marks::launches),
        shape: MarkShape::Launches,
        axis: "median time of a launch",
        unit: AxisUnit::Seconds,
        scale: Scale::Log,
        about: "A point per launch, a new start of the program: its median. The upright line is the median over launches, with its 95% interval \
            where there is one. Each test has an axis of its own, equal ratios equally long where methods differ by more than four times.",
        ..PLAIN
    },
];

/// What the lines of figures need.
const NEEDS: &str = "the cases of a plan with a figure (ddtbench figure)";

/// Pictures that are drawn only for the figure of a plan.
pub const OF_FIGURES: &[Picture<'static>] = &[
    Picture {
        name: "overhead_over_size",
        title: "Pack overhead over size",
        kinds: &[Kind::PingPong],
        needs: NEEDS,
        marks: Marks::Of(marks::overhead),
        over: Over::Swept,
        shape: MarkShape::Lines,
        axis: "packing overhead",
        unit: AxisUnit::Percent,
        about: "The share of a method's time that the same bytes in one piece do not take, without the creation of datatypes, over the bytes sent: \
            a panel per test. Upright lines are 95% intervals.",
        ..PLAIN
    },
    Picture {
        name: "speedup_over_bytes",
        title: "Speed-up over the size of a buffer",
        kinds: &[Kind::Halo],
        needs: NEEDS,
        marks: Marks::Figure(Quantity::Speedup),
        over: Over::Parameter(BYTES, BUFFER_BYTES),
        shape: MarkShape::Lines,
        axis: "speed-up over BSP messages",
        unit: AxisUnit::Percent,
        about: "By how much less time an iteration takes, computing included, than with bulk-synchronous two-sided messages (manual): \
            (BSP - t) / BSP. fine sends each thread's part, aggregated:bins=2 in two parts, put_ddt puts. Upright lines are 95% intervals.",
        ..PLAIN
    },
    Picture {
        name: "time_over_bytes",
        title: "Time over the size of the message",
        kinds: &[Kind::Partitioned],
        needs: NEEDS,
        marks: Marks::Of(marks::times),
        over: Over::Parameter(BYTES, MESSAGE_BYTES),
        shape: MarkShape::Lines,
        axis: "time",
        unit: AxisUnit::Seconds,
        scale: Scale::Log,
        about: "The time from the start to the end at the receiver, without computing. Upright lines are 95% intervals.",
    },
    Picture {
        name: "bandwidth_over_bytes",
        title: "Bandwidth over the size of the message",
        kinds: &[Kind::Partitioned],
        needs: NEEDS,
        marks: Marks::Of(marks::bandwidths),
        over: Over::Parameter(BYTES, MESSAGE_BYTES),
        shape: MarkShape::Lines,
        axis: "bandwidth",
        unit: AxisUnit::Rate,
        scale: Scale::Log,
        about: "Bytes over the time from the start to the end at the receiver, without computing. Upright lines are 95% intervals, those of the \
            time turned around.",
    },
];
