//! The user's loop (`--pack`): a C or Fortran file is compiled with the user's compiler into the folder of
//! the run, and a shared object is copied to it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::{Result, at, other};
use super::install::command_line;
use super::tool;
use super::trusted::Trusted;

/// Variables and defaults of a language's compiler.
struct Compiler {
    suffixes: &'static [&'static str],
    /// The variable with the command, and the default.
    command: [&'static str; 2],
    /// The variable with the flags.
    flags: &'static str,
}

/// Flags without the user's.
const DEFAULT_FLAGS: &str = "-O3";

const COMPILERS: [Compiler; 2] = [
    Compiler { suffixes: &["c"], command: ["CC", "cc"], flags: "CFLAGS" },
    Compiler {
        suffixes: &["f", "for", "f90", "f95", "f03", "f08", "F", "F90", "F95"],
        command: ["FC", "gfortran"],
        flags: "FFLAGS",
    },
];

/// A loop that rank programs can load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnLoop {
    /// The shared object.
    pub file: PathBuf,
    /// The user's file.
    pub source: PathBuf,
    /// How it was compiled; `None` in a resumed run, whose first part has it.
    pub about: Option<String>,
}

impl Trusted {
    /// The plan's loop as a shared object at this place, unless it is there: a resumed run continues with the same one.
    ///
    /// # Errors
    /// If the file has no known kind, or what the compiler says.
    pub fn own_loop(&self, place: &Path) -> Result<Option<OwnLoop>> {
        let Some(source) = self.pack() else { return Ok(None) };
        let file = std::path::absolute(place).map_err(at("finding", place))?;
        let refuse = |reason: &str| other(format!("--pack {}: {reason}", source.display()));
        let suffix = source.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let compiler = COMPILERS.iter().find(|compiler| compiler.suffixes.contains(&suffix));
        if compiler.is_none() && suffix != "so" {
            return Err(refuse(
                "must be a C file (.c), a Fortran file (.f90, .f), or a shared object (.so), of C++ with extern \"C\"",
            ));
        }
        let made = |about| {
            let object = fs::read(&file).map_err(at("reading", &file))?;
            // Fortran adds an underscore.
            let missing = |name: &&str| {
                let is_it = |symbol: &str| symbol.strip_suffix('_').unwrap_or(symbol) == *name;
                has_function(&object, is_it) == Some(false)
            };
            let Some(name) = FUNCTIONS.into_iter().find(missing) else {
                return Ok(Some(OwnLoop { file: file.clone(), source: source.to_owned(), about }));
            };
            let in_module = |symbol: &str| symbol.ends_with(&format!("_MOD_{name}"));
            Err(refuse(&match has_function(&object, in_module) {
                Some(true) => format!("its `{name}` is in a module: put it outside, or add bind(c)"),
                _ => format!("has no function `{name}`; it needs {NEEDED}"),
            }))
        };
        if file.exists() {
            return made(None);
        }
        if !source.is_file() {
            return Err(refuse("no such file"));
        }
        let Some(compiler) = compiler else {
            fs::copy(source, &file).map_err(at("copying", source))?;
            return made(Some(format!("{name}, compiled before")));
        };
        let [variable, default] = compiler.command;
        let setting = |name: &str, default: &str| {
            let text =
                env::var(name).ok().filter(|text| !text.trim().is_empty()).unwrap_or(default.to_owned());
            shlex::split(&text).ok_or_else(|| other(format!("{name}={text}: quotes that are not closed")))
        };
        let (words, flags) = (setting(variable, default)?, setting(compiler.flags, DEFAULT_FLAGS)?);
        let (program, options) = words.split_first().expect("not blank");
        let about = format!("{name}, by {} {}{}", words.join(" "), flags.join(" "), version(program));
        let mut command = Command::new(program);
        command.args(options).args(&flags).args(["-shared", "-fPIC", "-o"]).arg(&file).arg(source);
        let line = command_line(&command);
        // Else the user's folder gets files of modules.
        let modules = tempfile::tempdir().map_err(at("making a folder for", source))?;
        if program.ends_with("gfortran") {
            command.arg("-J").arg(modules.path());
        }
        let ended = tool::run(command, tool::QUESTION)
            .map_err(|error| refuse(&format!("{error}; {variable} names the compiler")))?;
        if !ended.exit.success() {
            // The first error is often the cause of the others.
            let first: Vec<String> = ended.out.into_iter().chain(ended.err).take(SHOWN_LINES).collect();
            return Err(refuse(&format!("`{line}`: {}", tool::last_lines(&first, SHOWN_LINES))));
        }
        made(Some(about))
    }
}

const FUNCTIONS: [&str; 2] = ["pack", "unpack"];

/// The functions of a file in C.
const NEEDED: &str =
    "void pack(const void *array, void *message) and void unpack(const void *message, void *array)";

/// Whether a shared object exports a function with such a name. `None` of other files than ELF of 64 bits.
fn has_function(object: &[u8], is_name: impl Fn(&str) -> bool) -> Option<bool> {
    let number = |at: usize, bytes: usize| {
        let bytes = object.get(at..at.checked_add(bytes)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    const DYNAMIC_SYMBOLS: usize = 11;
    let is_elf = object.starts_with(b"\x7fELF\x02\x01");
    let (sections, size) = (number(0x28, 8).filter(|_| is_elf)?, number(0x3a, 2)?);
    let section = |i: usize| sections.checked_add(i.checked_mul(size)?);
    let of_symbols =
        (0..number(0x3c, 2)?).filter_map(section).find(|at| number(at + 4, 4) == Some(DYNAMIC_SYMBOLS))?;
    let (start, bytes) = (number(of_symbols + 0x18, 8)?, number(of_symbols + 0x20, 8)?);
    let names = number(section(number(of_symbols + 0x28, 4)?)? + 0x18, 8)?;
    let is_it = |symbol: usize| {
        let text = object.get(names.checked_add(number(symbol, 4)?)?..)?;
        let text = text.split(|byte| *byte == 0).next()?;
        // An undefined symbol has no section.
        let is_defined = number(symbol + 6, 2)? != 0;
        Some(is_defined && std::str::from_utf8(text).is_ok_and(&is_name))
    };
    Some((start..start.checked_add(bytes)?).step_by(24).any(|symbol| is_it(symbol) == Some(true)))
}

/// Maximum lines of a compiler in an error.
const SHOWN_LINES: usize = 20;

/// The compiler's version in brackets; empty if it does not say.
fn version(program: &str) -> String {
    let mut command = Command::new(program);
    command.arg("--version");
    let ended = tool::run(command, tool::QUESTION).ok().filter(|ended| ended.exit.success());
    let line = ended.and_then(|ended| ended.out.into_iter().find(|line| !line.trim().is_empty()));
    line.map_or_else(String::new, |line| format!(" ({})", line.trim()))
}
