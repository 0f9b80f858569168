//! Findings about the machine, without any MPI.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use procfs::process::{LimitValue, Process};
use procfs::{Current, LoadAverage, Meminfo};

use super::{Finding, Health};
use crate::mpi::shared_memory;
use crate::run::Machine;
use crate::run::machine::read_word;

/// All items in the order of the table. Items that the system does not report are left out.
pub fn machine() -> Vec<Finding> {
    let own = Process::myself().ok();
    let limit = |of: fn(procfs::process::Limits) -> procfs::process::Limit| {
        own.as_ref()?.limits().ok().map(|limits| of(limits).soft_limit)
    };
    let machine = Machine::this();
    let clock = read_word("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let pages = read_word("/sys/kernel/mm/transparent_hugepage/enabled");
    let leftovers = |text| Finding { health: Health::Warning, what: "shared memory", text };
    [
        Some(Finding::ok("processor", machine.to_string())),
        Some(governor(machine.governor.as_deref())),
        clock.as_deref().map(clock_source),
        pages.as_deref().map(huge_pages),
        LoadAverage::current().ok().map(|load| busy(load.one, machine.cpus)),
        Meminfo::current().ok().and_then(|memory| Some(memory_left(memory.mem_available?, cgroup_left()))),
        limit(|limits| limits.max_address_space).map(address_space),
        limit(|limits| limits.max_locked_memory).map(locked_memory),
        Some(locks(Path::new("."))),
        Some(shared_memory::message().map_or_else(|| Finding::ok("shared memory", room()), leftovers)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn governor(governor: Option<&str>) -> Finding {
    match governor {
        None => {
            Finding::ok("governor", "not visible, as in most virtual machines: the host sets the clock rate")
        }
        Some("performance") => Finding::ok("governor", "performance"),
        Some(governor) => Finding::warning(
            "governor",
            &format!("{governor}: the clock rate changes with the load"),
            "`cpupower frequency-set -g performance`, as root",
        ),
    }
}

fn clock_source(source: &str) -> Finding {
    match source {
        // These clocks are read without a system call; kvm-clock reads the same counter.
        "tsc" | "kvm-clock" | "arch_sys_counter" | "timebase" => Finding::ok("clock", source),
        _ => Finding::warning(
            "clock",
            &format!("{source}: each reading is a system call"),
            "if the processor has a constant counter, boot with `clocksource=tsc`",
        ),
    }
}

/// The active mode is in brackets.
fn huge_pages(modes: &str) -> Finding {
    let mode = modes.split(['[', ']']).nth(1).unwrap_or(modes);
    match mode {
        "always" => Finding::ok("huge pages", mode),
        _ => Finding::ok(
            "huge pages",
            format!("{mode}: large arrays use small pages, as in most applications"),
        ),
    }
}

fn busy(load: f32, cpus: usize) -> Finding {
    /// Maximum load of an idle machine.
    const IDLE: f32 = 0.5;
    match load < IDLE {
        true => Finding::ok("load", format!("{load:.2}")),
        false => Finding::warning(
            "load",
            &format!("{load:.2} in the last minute, {cpus} hardware threads"),
            "other processes are running; measure on an idle machine, or on exclusive nodes",
        ),
    }
}

/// Memory left in the control group; `None` without a limit.
fn cgroup_left() -> Option<u64> {
    let number = |file: &str| read_word(Path::new("/sys/fs/cgroup").join(file))?.parse::<u64>().ok();
    number("memory.max")?.checked_sub(number("memory.current")?)
}

fn memory_left(available: u64, of_group: Option<u64>) -> Finding {
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64);
    match of_group.filter(|left| *left < available) {
        None => Finding::ok("memory", format!("{} available", gib(available))),
        Some(left) => Finding::warning(
            "memory",
            &format!("{} available, but this job may use only {}", gib(available), gib(left)),
            "request more memory for large tests: ddtbench checks the memory of the machine, but the limit of the job kills it",
        ),
    }
}

fn address_space(limit: LimitValue) -> Finding {
    match limit {
        LimitValue::Unlimited => Finding::ok("address space", "unlimited"),
        LimitValue::Value(bytes) => Finding::warning(
            "address space",
            &format!("limited to {bytes} bytes, but MPIs reserve much"),
            "`ulimit -v unlimited`",
        ),
    }
}

fn locked_memory(limit: LimitValue) -> Finding {
    /// InfiniBand registers whole buffers. This is enough for a quick run.
    const ENOUGH: u64 = 64 << 20;
    match limit {
        LimitValue::Value(bytes) if bytes < ENOUGH => Finding::warning(
            "locked memory",
            &format!("{} KiB, too little for InfiniBand", bytes >> 10),
            "`ulimit -l unlimited`, or in /etc/security/limits.conf; not needed for shared memory and TCP",
        ),
        LimitValue::Value(bytes) => Finding::ok("locked memory", format!("{} MiB", bytes >> 20)),
        LimitValue::Unlimited => Finding::ok("locked memory", "unlimited"),
    }
}

fn locks(folder: &Path) -> Finding {
    let tried = File::open(folder).map(|folder| folder.try_lock());
    match tried {
        Ok(Ok(()) | Err(TryLockError::WouldBlock)) => Finding::ok("file locks", "work in this folder"),
        Ok(Err(TryLockError::Error(error))) | Err(error) => Finding::warning(
            "file locks",
            &format!("do not work in this folder ({error}): two runs could write to the same results"),
            "use a different --out for each run",
        ),
    }
}

/// The size of shared memory is an option of its mount.
fn room() -> String {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let size = size_of_shared_memory(&mounts).map_or_else(String::new, |size| format!(" of {size}"));
    format!("/dev/shm{size}; no remains of an MPI")
}

/// The size of /dev/shm in a list of mounts. A later mount hides earlier ones of the same folder.
fn size_of_shared_memory(mounts: &str) -> Option<&str> {
    let mount = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some("/dev/shm"))?;
    mount.split(' ').nth(3)?.split(',').find_map(|option| option.strip_prefix("size="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_figures_worse_is_warned_of_with_advice() {
        for (good, bad, advice) in [
            (governor(Some("performance")), governor(Some("powersave")), "cpupower"),
            (clock_source("tsc"), clock_source("hpet"), "clocksource=tsc"),
            (busy(0.1, 2), busy(1.7, 2), "idle machine"),
            (memory_left(1 << 30, None), memory_left(1 << 30, Some(1 << 20)), "request more memory"),
            (address_space(LimitValue::Unlimited), address_space(LimitValue::Value(1 << 30)), "ulimit -v"),
            (locked_memory(LimitValue::Unlimited), locked_memory(LimitValue::Value(64 << 10)), "ulimit -l"),
            (locks(Path::new("/")), locks(Path::new("/no/such/folder")), "--out"),
        ] {
            assert_eq!((good.health, bad.health), (Health::Ok, Health::Warning), "{bad:?}");
            assert!(bad.text.contains(advice), "{bad:?}");
        }
        assert!(huge_pages("always [madvise] never").text.starts_with("madvise"));
    }

    #[test]
    fn of_two_mounts_of_shared_memory_the_last_is_in_use() {
        let first = "tmpfs / tmpfs rw 0 0\ntmpfs /dev/shm tmpfs rw,size=24684092k 0 0\n";
        assert_eq!(size_of_shared_memory(first), Some("24684092k"));
        let both = format!("{first}tmpfs /dev/shm tmpfs rw,size=1024k 0 0\n");
        assert_eq!(size_of_shared_memory(&both), Some("1024k"));
        assert_eq!(size_of_shared_memory(&format!("{both}none /dev/shm tmpfs rw 0 0\n")), None);
    }

    #[test]
    fn this_machine_is_described() {
        let names: Vec<_> = machine().into_iter().map(|finding| finding.what).collect();
        for what in ["processor", "load", "memory", "file locks", "shared memory"] {
            assert!(names.contains(&what), "{names:?}");
        }
    }
}
