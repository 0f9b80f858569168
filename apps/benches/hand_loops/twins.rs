//! The C twins: compiled when the benchmark starts, so that nobody who uses the library needs a C compiler.

use std::error::Error;
use std::ffi::c_void;
use std::path::Path;

use libloading::Library;

/// A loop of `twins.c`: arrays, packed buffer, parameters, index lists.
type Twin = unsafe extern "C" fn(*const *mut c_void, *mut c_void, *const i64, *const *const u32);

/// How the twins' pointers are qualified: which is faster depends on the loop.
pub const QUALIFIERS: [&str; 2] = ["", "restrict"];

/// `twins.c` compiled with one qualifier.
pub struct Twins(Library);

/// The loops of one test.
pub struct Loops {
    /// From the arrays into the buffer.
    pub pack: Twin,
    /// From the buffer into the arrays.
    pub unpack: Twin,
}

impl Twins {
    /// Compiles as the loops are compiled where they come from: for speed and for this very machine.
    pub fn compile(qualifier: &str) -> Result<Self, Box<dyn Error>> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let target = current_platform::CURRENT_PLATFORM;
        let compiler = cc::Build::new()
            .cargo_metadata(false)
            .target(target)
            .host(target)
            .out_dir(folder)
            .opt_level(3)
            .try_get_compiler()?;
        let library = folder.join(format!("twins_{qualifier}.so"));
        let status = compiler
            .to_command()
            .args(["-march=native", "-shared", "-fPIC"])
            .arg(format!("-DQUALIFIER={qualifier}"))
            .arg("-o")
            .arg(&library)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/hand_loops/twins.c"))
            .status()?;
        if !status.success() {
            return Err(format!("{} cannot compile twins.c: {status}", compiler.path().display()).into());
        }
        // SAFETY: the library is the one just compiled from twins.c, which has no initialisers.
        Ok(Self(unsafe { Library::new(&library) }?))
    }

    /// The loops of a test; those of WRF's four are the same.
    pub fn loops(&self, test: &str) -> Result<Loops, libloading::Error> {
        let name = if test.starts_with("wrf") { "wrf" } else { test };
        // SAFETY: every `_pack` and `_unpack` of twins.c has the type `Twin`.
        let loop_of =
            |kind: &str| unsafe { self.0.get::<Twin>(format!("{name}_{kind}")).map(|symbol| *symbol) };
        Ok(Loops { pack: loop_of("pack")?, unpack: loop_of("unpack")? })
    }
}
