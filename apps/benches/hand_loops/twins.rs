//! The C twins are compiled when the benchmark starts, so that users of the library do not need a C compiler.

use std::error::Error;
use std::ffi::c_void;
use std::path::Path;
use std::process::Command;

use libloading::Library;

/// A loop of `twins.c`: arrays, packed buffer, parameters, index lists.
type Twin = unsafe extern "C" fn(*const *mut c_void, *mut c_void, *const i64, *const *const u32);

/// A compiler with its options.
#[derive(Clone, Copy, Debug)]
struct Compilation {
    name: &'static str,
    compiler: &'static str,
    options: &'static [&'static str],
}

const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// The loops of the original for the base instruction set and for this processor, as the tuned loops are, and those that copy runs.
const COMPILATIONS: [Compilation; 6] = [
    Compilation { name: "gcc -O2", compiler: "gcc", options: &["-O2"] },
    Compilation { name: "gcc -O3", compiler: "gcc", options: &["-O3"] },
    Compilation { name: "gcc nat", compiler: "gcc", options: NATIVE },
    Compilation { name: "gcc runs", compiler: "gcc", options: NATIVE_BY_RUNS },
    Compilation { name: "clang nat", compiler: "clang", options: NATIVE },
    Compilation { name: "cl. runs", compiler: "clang", options: NATIVE_BY_RUNS },
];

const NATIVE: &[&str] = &["-O3", "-march=native"];
const NATIVE_BY_RUNS: &[&str] = &["-O3", "-march=native", "-DBY_RUNS"];

/// `twins.c`, compiled.
pub struct Twins {
    compilation: Compilation,
    library: Library,
}

pub struct TwinLoops {
    /// Heading of their times.
    pub name: &'static str,
    pub pack: Twin,
    pub unpack: Twin,
}

impl Twins {
    /// Compiles with every compiler that this machine has, and prints their versions.
    ///
    /// # Errors
    /// If there is none, or if one cannot compile the twins.
    pub fn compile_all() -> Result<Vec<Self>, Box<dyn Error>> {
        let mut twins = Vec::new();
        for name in COMPILERS {
            let version = version(name);
            println!("{name}: {}", version.as_deref().unwrap_or("not found, so not compared"));
            for of in COMPILATIONS.iter().filter(|of| of.compiler == name && version.is_some()) {
                twins.push(Self::compile(*of)?);
            }
        }
        if twins.is_empty() { Err(format!("none of {COMPILERS:?} starts").into()) } else { Ok(twins) }
    }

    fn compile(compilation: Compilation) -> Result<Self, Box<dyn Error>> {
        let Compilation { name, compiler, options, .. } = compilation;
        let library =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("twins_{}.so", name.replace(' ', "")));
        let status = Command::new(compiler)
            .args(options)
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/hand_loops/twins.c"))
            .status()?;
        if !status.success() {
            return Err(format!("{compiler} cannot compile twins.c: {status}").into());
        }
        // SAFETY: the library is the one just compiled from twins.c, which has no initialisers.
        Ok(Self { compilation, library: unsafe { Library::new(&library) }? })
    }

    /// The loops of a test; WRF's four tests share the same loops.
    pub fn loops(&self, test: &str) -> Result<TwinLoops, libloading::Error> {
        let name = if test.starts_with("wrf") { "wrf" } else { test };
        // SAFETY: every `_pack` and `_unpack` of twins.c has the type `Twin`.
        let loop_of =
            |kind: &str| unsafe { self.library.get::<Twin>(format!("{name}_{kind}")).map(|symbol| *symbol) };
        Ok(TwinLoops { name: self.compilation.name, pack: loop_of("pack")?, unpack: loop_of("unpack")? })
    }
}

/// The first line of a compiler's version output, `None` if it does not start.
fn version(compiler: &str) -> Option<String> {
    let output =
        Command::new(compiler).arg("--version").output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
