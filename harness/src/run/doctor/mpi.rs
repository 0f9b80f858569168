//! Findings about an MPI, after its rank program has run once.

use std::collections::BTreeSet;

use super::{Finding, Health};
use crate::experiments::Kind;
use crate::experiments::pingpong::methods::REFERENCE;
use crate::model::event::{Hello, RankPlace};
use crate::model::load::Load;
use crate::model::transport::Medium;
use crate::model::{Outcome, Record};
use crate::mpi::{Family, Installation, Pmi};

/// An MPI for which the rank program could not be built or started.
pub fn broken(reason: &str) -> Vec<Finding> {
    vec![Finding { health: Health::Error, what: "start", text: reason.to_owned() }]
}

/// Observations of one kind of experiments on an MPI: the rank program's account, and the results of the kind's methods.
#[derive(Clone, Debug)]
pub struct Seen {
    pub kind: Kind,
    /// The rank program's account of itself.
    pub hello: Hello,
    /// The records of the kind's headline phase.
    pub records: Vec<Record>,
    /// A sentence about variables that are withheld from the launcher.
    pub outer_launcher: Option<String>,
}

/// Findings from ping-pongs and from transfers by several threads. `pmi` is how ranks would find each other
/// under `srun`, if there is one.
pub fn mpi(mpi: &Installation, pmi: Option<&Pmi>, ping_pongs: &Seen, transfers: &Seen) -> Vec<Finding> {
    let hello = &ping_pongs.hello;
    let version = format!("{}; MPI-{}", hello.library_version, hello.mpi_standard);
    let mut all = vec![Finding::ok("version", version), library(hello)];
    all.push(Finding::ok("launcher", mpi.mpiexec.display().to_string()));
    all.extend(ping_pongs.outer_launcher.clone().map(|text| Finding::ok("launched in", text)));
    all.extend(pmi.map(under_srun));
    all.extend([thread_level(&transfers.hello), binding(&hello.ranks)]);
    all.extend(Load::from_hello(hello).map(load));
    all.push(transport(hello));
    all.extend(account(hello));
    all.push(clock(hello));
    all.extend([ping_pongs, transfers].into_iter().find_map(|seen| ending(&seen.hello)));
    all.extend(settings(hello));
    all.extend([ping_pongs, transfers].map(methods));
    all
}

/// An MPI that crashes prints its whole stack.
fn shortened(text: String) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Whether an MPI of a family takes contiguous bytes in the memory of a device, and datatypes there. `error`: why the device is simulated.
pub fn device(seen: &Seen, family: Family, error: Option<&str>) -> Finding {
    let outcome =
        |method: &str| seen.records.iter().find(|record| record.method == method).map(|r| &r.outcome);
    let device = seen.hello.device_of_data();
    let of = |method: &str| match outcome(method) {
        Some(outcome) if outcome.is_measured() => "yes".to_owned(),
        Some(outcome) => shortened(outcome.with_reason()),
        None => "not tried".to_owned(),
    };
    let kinds = [("contiguous bytes", REFERENCE), ("datatypes", "ddt")];
    let text = kinds.map(|(kind, method)| format!("{kind}: {}", of(method))).join("; ");
    // The last sentence of the rank program, which follows those of the launcher.
    let reason = error.and_then(|error| error.rsplit("error: ").next()?.split(';').next());
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    let text = format!("memory of {device}{reason}: {text}");
    match kinds.iter().all(|(_, method)| outcome(method).is_some_and(Outcome::is_measured)) {
        true => Finding::ok("device", text),
        false => no_device(format!("{text}; {}", device_advice(family))),
    }
}

pub fn no_device(text: String) -> Finding {
    Finding { health: Health::No, what: "device", text }
}

/// How to get an MPI that takes memory of a device.
const fn device_advice(family: Family) -> &'static str {
    match family {
        Family::OpenMpi => {
            "Open MPI takes it if it, or its UCX, was built `--with-cuda`; some builds need OMPI_MCA_opal_cuda_support=1"
        }
        Family::Intel => {
            "Intel MPI takes contiguous bytes with I_MPI_OFFLOAD=1 and I_MPI_OFFLOAD_MODE=cuda, which ddtbench sets"
        }
        Family::Mpich => {
            "MPICH takes it if it was built `--with-cuda`, with MPIR_CVAR_ENABLE_GPU=1; Cray's with MPICH_GPU_SUPPORT_ENABLED=1"
        }
        Family::Other => "its makers document what it needs",
    }
}

/// The library's file name shows its ABI.
fn library(hello: &Hello) -> Finding {
    let Some(path) = &hello.library_path else { return Finding::ok("library", "linked into the program") };
    let file = path.rsplit('/').next().unwrap_or(path);
    let abi = match () {
        () if file.starts_with("libmpi_abi.so") => "; the standard's ABI",
        () if file.starts_with("libmpi.so.12") => "; the ABI of MPICH and its family",
        () if file.starts_with("libmpi.so.40") => "; Open MPI's ABI",
        () => "",
    };
    Finding::ok("library", format!("{path}{abi}"))
}

/// Whether `--launcher srun` has a PMI that the MPI supports.
fn under_srun(pmi: &Pmi) -> Finding {
    let text = pmi.to_string();
    match pmi {
        Pmi::Given { .. } | Pmi::Chosen { .. } | Pmi::Unknown => Finding::ok("under srun", text),
        Pmi::Lacking { .. } => Finding::warning(
            "under srun",
            &text,
            "use the MPI's own launcher in jobs, or an MPI built for this Slurm",
        ),
    }
}

fn thread_level(hello: &Hello) -> Finding {
    match hello.thread_level.to_lowercase().contains("multiple") {
        true => Finding::ok("threads", &*hello.thread_level),
        false => Finding::warning(
            "threads",
            &format!("at most {}", hello.thread_level),
            "methods whose threads call MPI are not available; use an MPI built for MPI_THREAD_MULTIPLE",
        ),
    }
}

fn binding(ranks: &[RankPlace]) -> Finding {
    let place = |rank: &RankPlace| {
        let cpus: Vec<String> = rank.cpus.iter().map(usize::to_string).collect();
        format!("rank {} on {}", rank.rank, if cpus.is_empty() { "?".to_owned() } else { cpus.join(",") })
    };
    let places = ranks.iter().map(place).collect::<Vec<_>>().join("; ");
    let share = ranks.iter().enumerate().any(|(i, rank)| {
        let others = ranks[..i].iter().filter(|other| other.host == rank.host);
        others.flat_map(|other| &other.cpus).any(|cpu| rank.cpus.contains(cpu))
    });
    match share {
        false => Finding::ok("binding", format!("works: {places}")),
        true => Finding::warning(
            "binding",
            &format!("ranks may move from core to core ({places})"),
            "ddtbench binds ranks if there are enough cores; check whether the launcher or the batch system prevents it",
        ),
    }
}

fn load(load: Load) -> Finding {
    let Load { runnable_threads, cores } = load;
    match runnable_threads <= cores {
        true => Finding::ok("cores", format!("{cores} hardware threads for {runnable_threads} ranks")),
        false => Finding::warning(
            "cores",
            &format!("{runnable_threads} ranks share {cores} hardware threads"),
            "waiting ranks slow down working ranks; use a machine with a core for each rank",
        ),
    }
}

fn transport(hello: &Hello) -> Finding {
    let hosts: BTreeSet<&str> = hello.ranks.iter().map(|rank| rank.host.as_str()).collect();
    let (media, name) =
        hello.transport.as_ref().map(|transport| (transport.media(), transport.name())).unwrap_or_default();
    let device = hello.device.as_deref().map(|device| format!(", {device}")).unwrap_or_default();
    match (&media[..], hosts.len()) {
        ([Medium::Tcp], 1) => Finding::warning(
            "transport",
            &format!("tcp between ranks of one host{device}"),
            "shared memory is faster; check the settings below, and /dev/shm",
        ),
        ([] | [Medium::Unknown], _) => Finding::warning(
            "transport",
            &format!("unknown{device}"),
            "no counter saw the bytes: an unknown kind of network, or no network",
        ),
        _ => Finding::ok("transport", format!("{name}{device}")),
    }
}

/// Settings that choose paths and components: of MPICH and its relatives those that permit paths within a
/// host and define the sizes from which they are used, of Open MPI its components and OFI's providers.
const OF_PATHS: [&str; 15] = [
    // The reason for no account.
    "MPI_T",
    "MPIR_CVAR_NOLOCAL",
    "MPIR_CVAR_ODD_EVEN_CLIQUES",
    "MPIR_CVAR_NUM_CLIQUES",
    "MPIR_CVAR_CH4_CMA_ENABLE",
    "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD",
    "MPIR_CVAR_CH4_XPMEM_ENABLE",
    "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE",
    "MPIR_CVAR_INTEL_SHM_CMA",
    "pml",
    "mtl",
    "btl",
    "smsc",
    "opal_common_ofi_provider_include",
    "opal_common_ofi_provider_exclude",
];

/// The library's account of its transports, if it reports any. An empty text means that the library decides.
fn account(hello: &Hello) -> Option<Finding> {
    let is_of_paths = |name: &str| OF_PATHS.contains(&name) || name.ends_with(" components");
    let set = hello.library_account.iter().filter(|(name, value)| is_of_paths(name) && !value.is_empty());
    let settings: Vec<String> = set.map(|(name, value)| format!("{name} = {value}")).collect();
    (!settings.is_empty()).then(|| Finding::ok("its account", settings.join("; ")))
}

fn clock(hello: &Hello) -> Finding {
    /// A slower reading is a large part of the time of a short message.
    const EXPENSIVE_S: f64 = 2e-7;
    let ns = |seconds: f64| format!("{:.0} ns", seconds * 1e9);
    let text =
        format!("a reading takes {}, the resolution is {}", ns(hello.clock_cost_s), ns(hello.clock_step_s));
    match hello.clock_cost_s <= EXPENSIVE_S {
        true => Finding::ok("clock", text),
        false => Finding::warning("clock", &text, "samples of short messages are batches of repetitions"),
    }
}

/// How finished processes ended, if not normally.
fn ending(hello: &Hello) -> Option<Finding> {
    const ADVICE: &str = "results are not affected, but applications on this MPI fail in the same way";
    hello.bad_ending.as_ref().map(|text| Finding::warning("end", text, ADVICE))
}

/// Variables in the user's environment that control the MPI. Launchers have their own variables.
fn settings(hello: &Hello) -> Option<Finding> {
    let of_user = hello.settings.iter().filter(|(name, _)| std::env::var_os(name).is_some());
    let all: Vec<String> = of_user.map(|(name, value)| format!("{name}={value}")).collect();
    (!all.is_empty()).then(|| Finding::ok("settings", all.join(" ")))
}

fn methods(Seen { kind, records, .. }: &Seen) -> Finding {
    let ending = |record: &&Record| {
        let detail = record.outcome.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{} {}{detail}", record.method, record.outcome.label())
    };
    let list = |records: Vec<&Record>| records.iter().map(ending).collect::<Vec<_>>().join("; ");
    let failed: Vec<&Record> = records.iter().filter(|record| record.has_failed()).collect();
    let lacking: Vec<&Record> = records.iter().filter(|record| record.outcome.is_lacking()).collect();
    match (failed.is_empty(), lacking.is_empty()) {
        (true, true) => {
            Finding::ok("methods", format!("all {} of {} experiments work", records.len(), kind.name()))
        }
        (false, _) => {
            let text = format!("{} experiments: {}", kind.name(), list(failed));
            let advice = "they have no results; another version of the MPI may work, and `ddtbench conform partitioned` tests this one";
            Finding { health: Health::Error, ..Finding::warning("methods", &text, advice) }
        }
        (true, false) => Finding::warning(
            "methods",
            &format!("{} experiments: {}", kind.name(), list(lacking)),
            "they have no results; a newer version of the MPI may support them",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let rank = |rank: usize| RankPlace { rank, host: "h".to_owned(), pid: 1, cpus: vec![rank] };
        Hello {
            library_version: "MPICH Version: 5.0.2".to_owned(),
            library_path: Some("/opt/lib/libmpi.so.12.3.0".to_owned()),
            thread_level: "MPI_THREAD_MULTIPLE".to_owned(),
            ranks: vec![rank(0), rank(1)],
            threads: 1,
            clock_cost_s: 2e-8,
            ..Hello::default()
        }
    }

    fn seen(hello: &Hello, records: &[Record]) -> Seen {
        Seen { kind: Kind::PingPong, hello: hello.clone(), records: records.to_vec(), outer_launcher: None }
    }

    fn health(hello: &Hello, what: &str) -> Health {
        let mpi_5 = Installation { version: "5.0.2".to_owned(), ..Installation::fake("mpiexec") };
        let all = mpi(&mpi_5, None, &seen(hello, &[]), &seen(hello, &[]));
        all.iter().find(|finding| finding.what == what).unwrap_or_else(|| panic!("{all:?}")).health
    }

    #[test]
    fn what_the_library_has_chosen_is_reported() {
        assert!(account(&hello()).is_none());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let library_account = vec![pair("pml", ""), pair("pml components", "ob1")];
        let text = account(&Hello { library_account, ..hello() }).expect("a finding").text;
        assert_eq!(text, "pml components = ob1");
    }

    #[test]
    fn what_an_mpi_reports_is_judged() {
        let good = hello();
        for what in ["version", "library", "launcher", "threads", "binding", "cores", "clock", "methods"] {
            assert_eq!(health(&good, what), Health::Ok, "{what}");
        }
        let bad = [
            ("threads", Hello { thread_level: "MPI_THREAD_FUNNELED".to_owned(), ..hello() }),
            ("clock", Hello { clock_cost_s: 1e-6, ..hello() }),
            ("cores", Hello { threads: 3, ..hello() }),
            ("end", Hello { bad_ending: Some("exit code 7".to_owned()), ..hello() }),
            ("transport", hello()),
        ];
        for (what, hello) in bad {
            assert_eq!(health(&hello, what), Health::Warning, "{what}");
        }
        let mut unbound = hello();
        unbound.ranks.iter_mut().for_each(|rank| rank.cpus = vec![0, 1]);
        assert_eq!(health(&unbound, "binding"), Health::Warning);
        unbound.ranks[1].host = "other".to_owned();
        assert_eq!(health(&unbound, "binding"), Health::Ok, "the other is on a machine of its own");
    }

    #[test]
    fn variables_of_an_outer_launcher_are_reported() {
        let has = |outer_launcher: Option<String>| {
            let seen = Seen { outer_launcher, ..seen(&hello(), &[]) };
            let all = mpi(&Installation::fake("mpiexec"), None, &seen, &seen);
            all.into_iter().any(|finding| finding.text.contains("PMI_RANK"))
        };
        assert!(has(Some("not passed on to mpiexec: PMI_RANK".to_owned())) && !has(None));
    }

    #[test]
    fn a_pmi_that_srun_lacks_is_a_warning() {
        let (mpi, listed) = ("Open MPI 5.0.11".to_owned(), vec!["pmi2".to_owned()]);
        let lacking = under_srun(&Pmi::Lacking { mpi: mpi.clone(), wanted: &["pmix"], listed });
        assert!(lacking.health == Health::Warning && lacking.text.contains("needs pmix"), "{lacking:?}");
        assert_eq!(under_srun(&Pmi::Chosen { mpi, name: "pmix" }).health, Health::Ok);
    }

    #[test]
    fn methods_that_fail_are_errors_and_those_that_lack_are_none() {
        let record = |method: &str, outcome: &str| Record {
            method: method.to_owned(),
            outcome: Outcome::from_label(outcome).unwrap(),
            ..Record::default()
        };
        let of_device = |outcome: &str| {
            let seen = seen(&hello(), &[record(REFERENCE, "converged"), record("ddt", outcome)]);
            device(&seen, Family::OpenMpi, Some("2 | error: no driver; try another"))
        };
        let lacking = of_device("not available");
        assert!(
            lacking.health == Health::No
                && lacking.text.contains("; Open MPI takes it if it, or its UCX, was built"),
            "{lacking:?}"
        );
        assert!(lacking.text.contains(" (no driver): contiguous bytes: yes; datatypes: not"), "{lacking:?}");
        assert_eq!(of_device("converged").health, Health::Ok);
        let finding = |records: &[Record]| methods(&seen(&hello(), records));
        assert_eq!(finding(&[record("ddt", "converged")]).health, Health::Ok);
        let lacking = finding(&[record("ddt", "converged"), record("put_ddt", "not available")]);
        assert!(lacking.health == Health::Warning && lacking.text.contains(": put_ddt"), "{lacking:?}");
        let crashed = finding(&[record("ddt", "crashed"), record("put_ddt", "not available")]);
        assert!(crashed.health == Health::Error && crashed.text.contains(": ddt crashed"), "{crashed:?}");
        assert_eq!(broken("no launcher")[0].health, Health::Error);
    }
}
