//! The machine that a part of a run is started on.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use procfs::{CpuInfo, Current, Meminfo};
use serde::{Deserialize, Serialize};

/// The machine that started the run. On a cluster, the machines of the ranks may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub host: Option<String>,
    pub cpu_model: Option<String>,
    /// Its hardware threads.
    pub cpus: usize,
    /// The caches of the first processor, such as `L1 Data 32K`.
    pub caches: Vec<String>,
    /// System and version.
    pub kernel: Option<String>,
    /// The clock-rate governor of the first processor.
    pub governor: Option<String>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} hardware threads", self.cpu_model.as_deref().unwrap_or("unknown"), self.cpus)
    }
}

impl Machine {
    /// The current state of this machine.
    pub fn this() -> Self {
        let cpu_info = CpuInfo::current().ok();
        let field = |name| Some(cpu_info.as_ref()?.get_field(0, name)?.to_owned());
        let system = read_word("/proc/sys/kernel/ostype");
        let release = read_word("/proc/sys/kernel/osrelease");
        Self {
            host: read_word("/proc/sys/kernel/hostname"),
            cpu_model: field("model name").or_else(|| field("CPU part")),
            cpus: cpu_info.as_ref().map_or(0, CpuInfo::num_cores),
            caches: caches(),
            kernel: system.zip(release).map(|(system, release)| format!("{system} {release}")),
            governor: read_word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
        }
    }
}

pub(super) fn read_word(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn caches() -> Vec<String> {
    let cache = |i: usize| {
        let folder = PathBuf::from(format!("/sys/devices/system/cpu/cpu0/cache/index{i}"));
        let [level, kind, size] = ["level", "type", "size"].map(|name| read_word(folder.join(name)));
        Some(format!("L{} {} {}", level?, kind?, size?))
    };
    (0..).map_while(cache).collect()
}
