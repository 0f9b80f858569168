//! The processor and the C library that a table belongs to.

use std::fs;

/// Model and microcode of a processor, and the C library, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Such as `AuthenticAMD family 25 model 17 stepping 1 (AMD EPYC)`.
    pub model: String,
    /// Its microcode, which can change speeds; empty if the system does not report it.
    pub microcode: String,
    /// The C library, whose `memcpy` is one of the ways; empty if it does not report its version.
    pub library: String,
}

#[cfg(target_env = "gnu")]
fn library() -> String {
    // SAFETY: the function returns a constant string that ends with a zero.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn library() -> String {
    String::new()
}

impl Processor {
    /// This machine's; `None` if the system does not describe it.
    pub fn this() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/cpuinfo").ok()?)
    }

    /// The first processor of a text such as `/proc/cpuinfo`.
    fn of(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.clone().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
        };
        let part = |name: &str, field: Option<&str>| Some(format!("{name} {}", field?));
        let x86 = ["cpu family", "model", "stepping"]
            .map(|name| part(name.trim_start_matches("cpu "), field(name)));
        let arm = ["CPU implementer", "CPU part", "CPU variant", "CPU revision"]
            .map(|name| part(name, field(name)));
        let ids: Vec<String> = x86.into_iter().chain(arm).flatten().collect();
        if ids.is_empty() {
            return None;
        }
        let vendor = field("vendor_id").map(str::to_owned);
        let name = field("model name").map(|name| format!("({name})"));
        let words: Vec<String> = vendor.into_iter().chain(ids).chain(name).collect();
        let microcode = field("microcode").unwrap_or_default().to_owned();
        Some(Self { model: words.join(" "), microcode, library: library() })
    }

    /// The name of its file.
    pub(super) fn file_name(&self, version: &str) -> String {
        let Self { model, microcode, library } = self;
        let text = format!("{model} {microcode} {library} {version}");
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = text.chars().map(plain).collect();
        let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
        format!("{}.json", words.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_described_by_model_and_microcode() {
        let amd = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD \
                   EPYC\nstepping\t: 1\nmicrocode\t: 0x1000065\n";
        let processor = Processor { library: "glibc 2.36".to_owned(), ..Processor::of(amd).unwrap() };
        assert_eq!(processor.model, "AuthenticAMD family 25 model 17 stepping 1 (AMD EPYC)");
        let name = processor.file_name("0.1.0");
        assert_eq!(
            name,
            "AuthenticAMD-family-25-model-17-stepping-1-AMD-EPYC-0x1000065-glibc-2.36-0.1.0.json"
        );
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        let processor = Processor::of(arm).unwrap();
        assert_eq!((&*processor.model, &*processor.microcode), ("CPU implementer 0x41 CPU part 0xd40", ""));
        assert_eq!(Processor::of("BogoMIPS : 100\n"), None);
    }
}
