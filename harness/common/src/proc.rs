//! Values in the kernel's name-value files, such as `/proc/meminfo`.

use std::fs;

/// The value after `name:` in a file; `None` if the system does not report it.
pub fn value(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim().to_owned()))
}
