//! The loops of halo exchanges, as they are run by one rank of two, against plain C.
//!
//! `cargo bench -p ddtbench-apps --bench halo_loops` needs a C compiler. First plain and tuned loops and the twins of `loops.c`
//! must move the same bytes; then loops take turns, each as in an exchange: the values that are sent change, all is packed, copied twice as by
//! an MPI within a node, and unpacked. So caches hold what an exchange leaves in them, and the quartiles of packing and
//! unpacking are what the phases of `ddtbench halo EXCHANGE -n 2 -m manual,reference` are to be compared with, on the same
//! machine. `-- --test` checks without timing.

#[path = "../shared/ratios.rs"]
mod ratios;

use std::error::Error;
use std::ffi::c_void;
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use ddtbench_apps::Arrays;
use ddtbench_apps::halo::{Face, Field, HaloContext, find};
use libloading::Library;

/// The exchanges that have twins, at their quick sets but for these values.
const EXCHANGES: [(&str, &[(&str, &str)]); 4] = [
    ("nas_mg", &[("d1", "66"), ("d2", "66"), ("d3", "66")]),
    ("nas_mg", &[]),
    ("wrf_vec", &[]),
    ("milc", &[]),
];

/// How the twins are compiled: for speed as applications are, and for this very machine with and without the promise that
/// arrays and buffer are apart.
const COMPILED: [(&str, &[&str]); 4] = [
    ("C -O2", &["-O2"]),
    ("C -O3", &["-O3"]),
    ("C native", &["-O3", "-march=native"]),
    ("C restrict", &["-O3", "-march=native", "-DQUALIFIER=restrict"]),
];

/// Rounds, in each of which every loop has a turn: enough for quartiles.
const ROUNDS: usize = 201;

/// Untimed and timed exchanges of a turn: the first finds what the last loop left in the caches.
const RUNS: [usize; 2] = [2, 5];

type Twin = unsafe extern "C" fn(*const *mut c_void, *mut c_void, *const i64);

/// Who moves the bytes.
#[derive(Clone, Copy)]
enum Loops {
    /// The exchange's plain loops.
    Plain,
    /// Its tuned ones.
    Tuned,
    /// Its twin in C, that packs and that unpacks.
    C([Twin; 2]),
}

fn compile(number: usize, flags: &[&str]) -> Result<Library, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = current_platform::CURRENT_PLATFORM;
    let compiler = cc::Build::new()
        .cargo_metadata(false)
        .target(target)
        .host(target)
        .out_dir(folder)
        .opt_level(2)
        .try_get_compiler()?;
    let library = folder.join(format!("halo_loops_{number}.so"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/halo_loops/loops.c");
    let mut command = compiler.to_command();
    command.args(flags).args(["-Wall", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    let status = command.status()?;
    if !status.success() {
        return Err(format!("{} cannot compile {source}: {status}", compiler.path().display()).into());
    }
    // SAFETY: the library is the one just compiled, which has no initialisers.
    Ok(unsafe { Library::new(&library) }?)
}

/// What one rank has, and all that it sends or receives.
struct Case {
    arrays: Arrays,
    sends: Vec<Face>,
    receives: Vec<Face>,
    /// The values that are sent, in bytes of the arrays' memory.
    sent: Vec<Range<usize>>,
    packed: Vec<u64>,
    transit: Vec<u64>,
    arrived: Vec<u64>,
    bytes: usize,
    parameters: Vec<i64>,
}

impl Case {
    fn new(name: &str, changed: &[(&str, &str)]) -> Self {
        let test = find(name).expect("an exchange of the table");
        let mut values = test.set(test.quick_set().name).expect("the set is its own");
        for (name, text) in changed {
            values.assign(test, name, text).expect("a value that it can have");
        }
        let context = HaloContext { ranks: 2, periodic: true, seed: 1 };
        let app = test.build(&values, context).expect("two ranks can have it");
        let mut arrays = Arrays::new(app.arrays(0));
        let field = Field::new(&*app, 0);
        field.fill(&mut arrays, 1);
        let mut sent: Vec<Range<usize>> = Vec::new();
        for array in 0..arrays.specs().len() {
            let (place, bytes) = (arrays.place(array), field.element_bytes(array));
            for at in place.clone().step_by(bytes).filter(|at| field.changes(array, at - place.start)) {
                match sent.last_mut().filter(|last| last.end == at) {
                    Some(last) => last.end += bytes,
                    None => sent.push(at..at + bytes),
                }
            }
        }
        let stages = app.stages(0);
        let faces = |which: fn(&ddtbench_apps::halo::Stage) -> &Vec<ddtbench_apps::halo::Transfer>| {
            stages.iter().flat_map(which).map(|transfer| transfer.face.clone()).collect::<Vec<_>>()
        };
        let (sends, receives) = (faces(|stage| &stage.sends), faces(|stage| &stage.receives));
        let bytes = sends.iter().map(Face::bytes).sum::<usize>();
        assert_eq!(bytes, receives.iter().map(Face::bytes).sum::<usize>(), "{name}: all ranks are alike");
        let parameters = test.parameters.iter().map(|parameter| values.get(parameter.name)).collect();
        let [packed, transit, arrived] = [0, 1, 2].map(|salt| vec![salt; bytes.div_ceil(8)]);
        Self { arrays, sends, receives, sent, packed, transit, arrived, bytes, parameters }
    }

    fn change(&mut self) {
        let memory = self.arrays.memory_mut();
        self.sent.iter().for_each(|run| memory[run.clone()].iter_mut().for_each(|byte| *byte ^= 0x5A));
    }

    fn travel(&mut self) {
        self.transit.copy_from_slice(black_box(&self.packed));
        self.arrived.copy_from_slice(black_box(&self.transit));
    }

    fn pack(&mut self, loops: Loops) {
        let pack = match loops {
            Loops::Plain => Face::pack,
            Loops::Tuned => Face::pack_tuned,
            Loops::C([twin, _]) => return self.twin(twin, false),
        };
        let mut packed = &mut bytemuck::cast_slice_mut(&mut self.packed)[..self.bytes];
        for face in &self.sends {
            pack(face, &self.arrays, packed.split_off_mut(..face.bytes()).expect("all faces fit"));
        }
    }

    fn unpack(&mut self, loops: Loops) {
        let unpack = match loops {
            Loops::Plain => Face::unpack,
            Loops::Tuned => Face::unpack_tuned,
            Loops::C([_, twin]) => return self.twin(twin, true),
        };
        let mut packed = &bytemuck::cast_slice(&self.arrived)[..self.bytes];
        for face in &self.receives {
            unpack(face, packed.split_off(..face.bytes()).expect("all faces fit"), &mut self.arrays);
        }
    }

    fn twin(&mut self, twin: Twin, unpacks: bool) {
        let starts: Vec<_> = (0..self.arrays.specs().len()).map(|i| self.arrays.place(i).start).collect();
        let memory = self.arrays.memory_mut();
        let arrays: Vec<*mut c_void> =
            starts.into_iter().map(|start| memory[start..].as_mut_ptr().cast()).collect();
        let buffer = if unpacks { &mut self.arrived } else { &mut self.packed };
        // SAFETY: the twin reads and writes what the Rust loops do, which `check` shows; all of it is alive.
        unsafe { twin(arrays.as_ptr(), buffer.as_mut_ptr().cast(), self.parameters.as_ptr()) };
    }

    /// # Panics
    /// If `loops` do not move the bytes that the plain ones move.
    fn check(&mut self, name: &str, (kind, loops): (&str, Loops)) {
        let packed = |case: &mut Self, loops| {
            case.packed.fill(u64::MAX);
            case.pack(loops);
            case.packed.clone()
        };
        assert!(packed(self, loops) == packed(self, Loops::Plain), "{name}: {kind} packs other bytes");
        self.travel();
        let unpacked = |case: &mut Self, loops| {
            case.arrays.memory_mut().fill(0xA5);
            case.unpack(loops);
            case.arrays.memory().to_vec()
        };
        assert!(
            unpacked(self, loops) == unpacked(self, Loops::Plain),
            "{name}: {kind} unpacks to other places"
        );
    }
}

/// Lower quartile, median and upper quartile, in microseconds.
fn quartiles(times: &[f64]) -> [f64; 3] {
    [0.25, 0.5, 0.75].map(|share| ratios::quantile(times, share) * 1e6)
}

fn main() -> Result<(), Box<dyn Error>> {
    let libraries = (COMPILED.iter().enumerate())
        .map(|(number, (_, flags))| compile(number, flags))
        .collect::<Result<Vec<_>, _>>()?;
    let is_timed =
        std::env::args().any(|a| a == "--bench") && !std::env::args().any(|a| a == "--test" || a == "--list");
    for (name, changed) in EXCHANGES {
        let mut case = Case::new(name, changed);
        let mut loops = vec![("plain", Loops::Plain), ("tuned", Loops::Tuned)];
        for (library, (compiled, _)) in libraries.iter().zip(COMPILED) {
            let twin = |kind| -> Result<Twin, libloading::Error> {
                // SAFETY: every function of `loops.c` has the type `Twin`.
                unsafe { library.get::<Twin>(format!("{name}_{kind}")).map(|symbol| *symbol) }
            };
            loops.push((compiled, Loops::C([twin("pack")?, twin("unpack")?])));
        }
        loops.iter().for_each(|&loops| case.check(name, loops));
        if is_timed {
            compare(name, &mut case, &loops);
        } else {
            println!("{name}: all loops move the same bytes");
        }
    }
    Ok(())
}

/// Measures the loops of a case in turn, and prints what came of it.
fn compare(name: &str, case: &mut Case, all: &[(&str, Loops)]) {
    println!("{name}, {} bytes: quartiles in us; ours over the faster of C -O2 and -O3", case.bytes);
    // Packing and unpacking, of each of the loops: the times of all rounds.
    let mut times = [0, 1].map(|_| vec![Vec::new(); all.len()]);
    for round in 0..ROUNDS {
        for turn in 0..all.len() {
            let number = (turn + round) % all.len();
            let loops = all[number].1;
            for run in 0..RUNS[0] + RUNS[1] {
                case.change();
                let start = Instant::now();
                case.pack(loops);
                let packed = Instant::now();
                case.travel();
                let arrived = Instant::now();
                case.unpack(loops);
                let end = arrived.elapsed();
                if run >= RUNS[0] {
                    times[0][number].push((packed - start).as_secs_f64());
                    times[1][number].push(end.as_secs_f64());
                }
                black_box((&mut case.packed, case.arrays.memory_mut()));
            }
        }
    }
    for (kind, times) in ["pack", "unpack"].into_iter().zip(times) {
        let median = |round: &[f64]| ratios::quantile(round, 0.5);
        let of_rounds: Vec<Vec<f64>> =
            times.iter().map(|times| times.chunks(RUNS[1]).map(median).collect()).collect();
        for (number, (loops, _)) in all.iter().enumerate() {
            let [low, median, high] = quartiles(&times[number]);
            print!("  {kind:6} {loops:10} {low:8.2} {median:8.2} {high:8.2}");
            if number < FIRST_TWIN {
                let (over, _) = ratios::over_fastest(
                    &of_rounds[number],
                    &[&of_rounds[FIRST_TWIN], &of_rounds[FIRST_TWIN + 1]],
                );
                let [low, median, high] = ratios::interval(&over);
                print!("   {median:.2} [{low:.2}, {high:.2}]");
            }
            println!();
        }
    }
}

/// Our loops that come before the twins.
const FIRST_TWIN: usize = 2;
