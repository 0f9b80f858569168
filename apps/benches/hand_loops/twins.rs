//! The C twins are compiled when the benchmark starts, so that users of the library do not need a C compiler.

use std::error::Error;
use std::ffi::c_void;
use std::path::Path;

use libloading::Library;

/// A loop of `twins.c`: arrays, packed buffer, parameters, index lists.
type Twin = unsafe extern "C" fn(*const *mut c_void, *mut c_void, *const i64, *const *const u32);

#[derive(Clone, Copy, Debug)]
pub struct Compilation {
    pub name: &'static str,
    level: u32,
    flags: &'static [&'static str],
}

/// The compilations of the twins: two of the original's loops for the base instruction set, and the one that copies
/// runs.
pub const COMPILATIONS: [Compilation; 3] = [
    Compilation { name: "C -O2", level: 2, flags: &[] },
    Compilation { name: "C -O3", level: 3, flags: &[] },
    Compilation { name: "C runs", level: 3, flags: &["-march=native", "-DBY_RUNS"] },
];

/// `twins.c`, compiled.
pub struct Twins(Library);

/// The loops of one test.
pub struct TwinLoops {
    /// From the arrays into the buffer.
    pub pack: Twin,
    /// From the buffer into the arrays.
    pub unpack: Twin,
}

impl Twins {
    /// Compiles with the machine's C compiler.
    pub fn compile(compilation: Compilation) -> Result<Self, Box<dyn Error>> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let library = folder.join(format!("twins_{}.so", compilation.name.replace(' ', "")));
        let compiler = compiler(folder, compilation.level)?;
        let status = compiler
            .to_command()
            .args(compilation.flags)
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/hand_loops/twins.c"))
            .status()?;
        if !status.success() {
            return Err(format!("{} cannot compile twins.c: {status}", compiler.path().display()).into());
        }
        // SAFETY: the library is the one just compiled from twins.c, which has no initialisers.
        Ok(Self(unsafe { Library::new(&library) }?))
    }

    /// The loops of a test; WRF's four tests share the same loops.
    pub fn loops(&self, test: &str) -> Result<TwinLoops, libloading::Error> {
        let name = if test.starts_with("wrf") { "wrf" } else { test };
        // SAFETY: every `_pack` and `_unpack` of twins.c has the type `Twin`.
        let loop_of =
            |kind: &str| unsafe { self.0.get::<Twin>(format!("{name}_{kind}")).map(|symbol| *symbol) };
        Ok(TwinLoops { pack: loop_of("pack")?, unpack: loop_of("unpack")? })
    }
}

fn compiler(folder: &Path, level: u32) -> Result<cc::Tool, cc::Error> {
    let target = current_platform::CURRENT_PLATFORM;
    let mut build = cc::Build::new();
    build.cargo_metadata(false).cargo_warnings(false).cargo_debug(false).target(target).host(target);
    build.out_dir(folder).opt_level(level).try_get_compiler()
}

/// The first line of the C compiler's version output.
pub fn compiler_version() -> Result<String, Box<dyn Error>> {
    let compiler = compiler(Path::new(env!("CARGO_TARGET_TMPDIR")), 2)?;
    let output = compiler.to_command().arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
