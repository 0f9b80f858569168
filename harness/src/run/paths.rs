//! Hosts and transport of a run. They should be the same in all launches; otherwise there are warnings.

use std::collections::{HashMap, HashSet};

use crate::model::event::Hello;
use crate::model::transport::contradiction;
use crate::model::{Case, Quantity, Record};

/// Hosts and transport of each MPI of a run, by its name in tables.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: HashMap<String, (usize, String)>,
    warned: HashSet<String>,
}

impl Paths {
    /// The paths of earlier results.
    pub fn from_cases<'a>(done: impl Iterator<Item = &'a Case>) -> Self {
        let mut paths = Self::default();
        for case in done.filter(|case| case.hosts > 0) {
            paths.known.insert(case.mpi_label(), (case.hosts, case.transport.clone()));
        }
        paths
    }

    /// Adds hosts and transport to the case, from its process's account. A process that ended before its
    /// account counts as unchanged. Also returns a warning, once for each path of an MPI.
    pub fn complete(&mut self, case: Case, hello: Option<&Hello>) -> (Case, Option<String>) {
        let label = case.mpi_label();
        let known = self.known.get(&label);
        let Some((hello, transport)) = hello.and_then(|hello| Some((hello, hello.transport.as_ref()?)))
        else {
            let (hosts, transport) =
                known.cloned().unwrap_or_else(|| (hello.map_or(0, Hello::hosts), String::new()));
            return (Case { hosts, transport, ..case }, None);
        };
        let (hosts, name) = (hello.hosts(), transport.name());
        let mut warning = None;
        if let Some((other_hosts, other)) = known.filter(|known| (known.0, &known.1) != (hosts, &name)) {
            let way = |hosts: usize, name: &str| {
                format!(
                    "{} ({name})",
                    if hosts == 1 { "1 host".to_owned() } else { format!("{hosts} hosts") }
                )
            };
            warning = Some(format!(
                "warning: {label} uses {} instead of {} as before: such launches are separate cases",
                way(hosts, &name),
                way(*other_hosts, other)
            ));
        } else if transport.has_crossed() == Some(false) {
            let why = if transport.is_one_kernel() {
                "the hosts share a kernel and its memory"
            } else {
                "the transport has no counters"
            };
            warning = Some(format!(
                "warning: {label} runs on {hosts} hosts, but no network interface or InfiniBand port counted their messages: {why}"
            ));
        }
        self.known.entry(label.clone()).or_insert_with(|| (hosts, name.clone()));
        let warning = warning.filter(|_| self.warned.insert(format!("{label} {hosts} {name}")));
        (Case { hosts, transport: name, device: hello.device_of_data(), ..case }, warning)
    }

    /// Warnings for methods whose messages were counted on another transport than their case's, once for each
    /// transport of an MPI.
    pub fn contradictions(&mut self, records: &[Record]) -> Vec<String> {
        let warning = |record: &Record| {
            let counted = record.value(Quantity::DeviceBytes)?;
            let seen = contradiction(&record.case.transport, record.bytes, counted)?;
            let (label, Record { method, case, bytes, .. }) = (record.case.mpi_label(), record);
            let text = format!(
                "warning: {label}, {method}: its messages used {seen}, although messages of 1 MiB use {} ({}: {counted:.0} bytes counted per repetition of {bytes})",
                case.transport, case.test
            );
            self.warned.insert(format!("{label} {method} {seen}")).then_some(text)
        };
        records.iter().filter_map(warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Figure;
    use crate::model::event::RankPlace;
    use crate::model::transport::{Counted, HostAccount, Transport};

    fn hello(hosts: &[&str], network_bytes: u64) -> Hello {
        let counted = Counted { payload_bytes: 100, network_bytes, ..Counted::default() };
        let several = hosts.len() > 1;
        let account = |host: &&str| HostAccount {
            host: (*host).to_owned(),
            boot_id: "one".to_owned(),
            within: (!several).then_some(counted),
            between: several.then_some(counted),
        };
        let place = |host: &&str| RankPlace { host: (*host).to_owned(), ..RankPlace::default() };
        Hello {
            ranks: hosts.iter().map(place).collect(),
            transport: Some(Transport { hosts: hosts.iter().map(account).collect() }),
            ..Hello::default()
        }
    }

    fn case() -> Case {
        Case { mpi: "mpich".to_owned(), ..Case::default() }
    }

    #[test]
    fn a_launch_that_goes_another_way_is_its_own_case_and_reported_once() {
        let mut paths = Paths::default();
        let (first, warning) = paths.complete(case(), Some(&hello(&["a"], 0)));
        assert_eq!((first.hosts, first.transport.as_str(), warning), (1, "shm", None));
        let (other, warning) = paths.complete(case(), Some(&hello(&["a"], 100)));
        assert_ne!(first, other);
        let warning = warning.unwrap();
        assert!(warning.contains("1 host (tcp)") && warning.contains("1 host (shm)"), "{warning}");
        assert_eq!(paths.complete(case(), Some(&hello(&["a"], 100))), (other.clone(), None));
        let mut resumed = Paths::from_cases([&first].into_iter());
        assert!(resumed.complete(case(), Some(&hello(&["a"], 100))).1.is_some());
        assert_eq!(resumed.complete(case(), Some(&hello(&["a"], 0))).1, None);
    }

    #[test]
    fn a_process_that_reports_nothing_went_the_known_way() {
        let mut paths = Paths::default();
        assert_eq!(paths.complete(case(), None), (case(), None), "nothing is known");
        let (known, _) = paths.complete(case(), Some(&hello(&["a", "b"], 100)));
        assert_eq!((known.hosts, known.transport.as_str()), (2, "tcp"));
        assert_eq!(paths.complete(case(), None), (known, None));
    }

    #[test]
    fn a_method_whose_messages_go_another_way_is_reported_once() {
        let case = Case { transport: "shm".to_owned(), ..case() };
        let mut record =
            Record { case: case.into(), method: "put_ddt".to_owned(), bytes: 10_000, ..Record::default() };
        assert_eq!(
            Paths::default().contradictions(std::slice::from_ref(&record)),
            [""; 0],
            "nothing was counted"
        );
        record.add([Figure::plain(Quantity::DeviceBytes, 21_000.0)]);
        let mut paths = Paths::default();
        let warnings = paths.contradictions(&[record.clone(), record]);
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("mpich, put_ddt") && warnings[0].contains("by network interfaces"),
            "{warnings:?}"
        );
    }

    #[test]
    fn hosts_that_no_network_joins_are_reported_once() {
        let mut paths = Paths::default();
        let (case_of, warning) = paths.complete(case(), Some(&hello(&["a", "b"], 10)));
        assert_eq!(case_of.transport, "shm");
        assert!(warning.unwrap().contains("share a kernel"));
        assert_eq!(paths.complete(case(), Some(&hello(&["a", "b"], 10))).1, None);
    }
}
