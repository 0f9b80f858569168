//! A case from first verification to last: methods interleaved in blocks until each is known well enough.
//!
//! All ranks walk through this together. Rank 0 decides what comes next, and tells the others in a collective,
//! so that no rank ever waits for one that has stopped.

use std::time::Instant;

use ddtbench::event::{Block, Event, MachineState, Outcome};
use ddtbench::methods::METHODS;
use ddtbench::plan::Limits;
use ddtbench::stats;

use super::block::{self, Amount};
use super::session::Session;
use crate::checked::symbols;
use crate::guard::MemoryGuard;
use crate::memory::Memory;
use crate::method::{Method, table};
use crate::verify::verify;

/// A block lasts about this long: short against changes of the machine, which come in seconds and minutes, and
/// long against the readings of its state around it.
const BLOCK_S: f64 = 0.005;

/// Samples of a block at least and at most: the first few see cold predictors, and the readings of the machine's
/// state should lie close to every sample.
const BLOCK_SAMPLES: (f64, f64) = (4.0, 50.0);

/// Blocks of a method at least: the median's interval rests on the blocks' medians, of which the lowest and the
/// highest lie outside it from ten on, so that one disturbed block does not decide.
const MIN_BLOCKS: usize = 10;

/// Repetitions that the first guess of a method's time rests on; the shortest counts.
const TRIALS: u32 = 5;

/// Room in the message that tells all ranks which methods go on.
const MOST_METHODS: usize = 32;

/// The method that stays as long as any other: all are compared with it.
const REFERENCE: &str = "reference";

const _: () = assert!(METHODS.len() <= MOST_METHODS);

/// A method's progress.
struct Course {
    name: String,
    amount: Amount,
    /// The round trips of each block; empty where this rank is no origin.
    blocks: Vec<Vec<f64>>,
    time_s: f64,
    outcome: Option<Outcome>,
}

impl Course {
    fn samples(&self) -> usize {
        self.blocks.len() * self.amount.samples
    }
}

/// Runs all `methods` of a case.
pub fn run(
    session: &mut Session<'_>,
    memory: &mut Memory,
    methods: &[String],
    limits: Limits,
) -> anyhow::Result<()> {
    let mut courses = Vec::new();
    for name in methods {
        if is_available(session, name)? && is_right(session, memory, name)? {
            courses.push(calibrate(session, memory, name, limits)?);
        }
    }
    let mut round = 0;
    let mut before = session.probe.read()?;
    while courses.iter().any(|course| course.outcome.is_none()) {
        let count = courses.len();
        for k in (0..count).map(|k| (k + round) % count) {
            if is_wanted(&courses, k) {
                before = one_block(session, memory, &mut courses[k], before)?;
            }
        }
        decide(session, &mut courses, limits)?;
        round += 1;
    }
    for course in courses {
        if is_right(session, memory, &course.name)? {
            session.ended(&course.name, course.outcome.expect("the loop above ran until all had one"));
        }
    }
    Ok(())
}

/// Whether a method runs in this round: it is unfinished, or all others are compared with it.
fn is_wanted(courses: &[Course], k: usize) -> bool {
    courses[k].outcome.is_none() || courses[k].name == REFERENCE
}

/// Whether the MPI has all functions of a method; says which are missing.
fn is_available(session: &mut Session<'_>, name: &str) -> anyhow::Result<bool> {
    let missing = symbols::missing(table::needs(name));
    let available = session.everywhere(missing.is_empty())?;
    if !available {
        let reason = format!("this MPI lacks {}", missing.join(", "));
        session.ended(name, Outcome::NotAvailable { reason });
    }
    Ok(available)
}

/// Whether a method moves the right bytes; says what is wrong.
fn is_right(session: &mut Session<'_>, memory: &mut Memory, name: &str) -> anyhow::Result<bool> {
    session.working(name, "verify");
    let _guard = MemoryGuard::watch(name);
    let mut method = table::make(name, session.setup, memory)?;
    method.create()?;
    let complaint = verify(session, memory, &mut *method)?;
    method.free()?;
    drop(method);
    let complaints = session.world.gather(complaint.clone().unwrap_or_default().as_bytes())?;
    let right = session.everywhere(complaint.is_none())?;
    if !right {
        let said: Vec<_> =
            complaints.iter().filter(|c| !c.is_empty()).map(|c| String::from_utf8_lossy(c)).collect();
        session.ended(name, Outcome::WrongData { detail: said.join("; ") });
    }
    Ok(right)
}

/// Warms a method up and finds out how many repetitions make a sample and a block.
fn calibrate(
    session: &mut Session<'_>,
    memory: &mut Memory,
    name: &str,
    limits: Limits,
) -> anyhow::Result<Course> {
    session.working(name, "warm up");
    let _guard = MemoryGuard::watch(name);
    let mut method = table::make(name, session.setup, memory)?;
    method.create()?;
    let first_s = trials(session, memory, &mut *method, 1)?;
    // A method that takes seconds must not be silent for minutes.
    let affordable = (limits.max_time_s / first_s).clamp(1.0, u32::MAX.into()) as u32;
    trials(session, memory, &mut *method, limits.warmup.min(affordable))?;
    let trial_s = trials(session, memory, &mut *method, TRIALS.min(affordable))?;
    method.free()?;
    let [shortest_s] = session.world.broadcast([session.clock.shortest_sample_s()])?;
    let batch = match session.eviction {
        Some(_) => 1, // what a batch would repeat is no longer cold
        None => (shortest_s / trial_s).ceil().clamp(1.0, 1e6) as u32,
    };
    let samples = (BLOCK_S / (trial_s * f64::from(batch))).clamp(BLOCK_SAMPLES.0, BLOCK_SAMPLES.1);
    let amount = Amount { samples: (samples as usize).min(limits.max_runs as usize), batch };
    Ok(Course { name: name.to_owned(), amount, blocks: Vec::new(), time_s: 0.0, outcome: None })
}

/// The origin's shortest time of some repetitions, on all ranks.
fn trials(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &mut dyn Method,
    count: u32,
) -> anyhow::Result<f64> {
    session.setup.comm.barrier()?;
    let mut shortest_s = f64::INFINITY;
    for _ in 0..count {
        let start = Instant::now();
        block::repetition_unread(session.setup, memory, method)?;
        shortest_s = shortest_s.min(start.elapsed().as_secs_f64());
    }
    Ok(session.world.broadcast([shortest_s])?[0])
}

/// Runs a block of one method, and returns the state of the machine after it.
fn one_block(
    session: &mut Session<'_>,
    memory: &mut Memory,
    course: &mut Course,
    before: MachineState,
) -> anyhow::Result<MachineState> {
    session.working(&course.name, "measure");
    let guard = MemoryGuard::watch(&course.name);
    let mut method = table::make(&course.name, session.setup, memory)?;
    let start = Instant::now();
    let block = block::run(session, memory, &mut *method, course.amount)?;
    course.time_s += start.elapsed().as_secs_f64();
    drop(method);
    drop(guard);
    let after = session.probe.read()?;
    let block = Block { method: course.name.clone(), block: course.blocks.len(), before, after, ..block };
    course.blocks.push(block.round_trip_s.clone());
    tell(session, block)?;
    Ok(after)
}

/// Brings the blocks of all origins to rank 0, which passes them on.
fn tell(session: &mut Session<'_>, block: Block) -> anyhow::Result<()> {
    // In an all-to-all only rank 0 measures; otherwise every pair's origin does.
    let mine = if session.is_origin() { serde_json::to_vec(&Event::Block(block))? } else { Vec::new() };
    for line in session.world.gather(&mine)?.iter().filter(|line| !line.is_empty()) {
        session.output.tell(&serde_json::from_slice(line)?);
    }
    Ok(())
}

/// Rank 0 decides which methods have ended; all ranks learn it.
fn decide(session: &Session<'_>, courses: &mut [Course], limits: Limits) -> anyhow::Result<()> {
    let narrow = |course: &Course| {
        let enough = course.samples() >= limits.min_runs as usize && course.blocks.len() >= MIN_BLOCKS;
        !session.is_origin() || enough && stats::is_narrow(&course.blocks, limits.precision_percent / 100.0)
    };
    let mine: Vec<f64> = courses.iter().map(|course| f64::from(u8::from(narrow(course)))).collect();
    let narrow_everywhere = session.world.minima(&mine)?;
    let mut verdicts = [GOES_ON; MOST_METHODS];
    for ((course, narrow), verdict) in courses.iter().zip(&narrow_everywhere).zip(&mut verdicts) {
        *verdict = if *narrow > 0.0 {
            CONVERGED
        } else if course.time_s >= limits.max_time_s {
            TIME_LIMIT
        } else if course.samples() >= limits.max_runs as usize {
            RUN_LIMIT
        } else {
            GOES_ON
        };
    }
    let verdicts = session.world.broadcast(verdicts)?;
    for (course, verdict) in courses.iter_mut().zip(verdicts) {
        let outcome = match verdict {
            CONVERGED => Some(Outcome::Converged),
            TIME_LIMIT => Some(Outcome::TimeLimit),
            RUN_LIMIT => Some(Outcome::RunLimit),
            _ => None,
        };
        course.outcome = course.outcome.take().or(outcome);
    }
    Ok(())
}

const GOES_ON: f64 = 0.0;
const CONVERGED: f64 = 1.0;
const TIME_LIMIT: f64 = 2.0;
const RUN_LIMIT: f64 = 3.0;
