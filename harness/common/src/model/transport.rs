//! The transport between ranks, according to the counters of the hosts' devices.
//!
//! Before measuring, ranks exchange messages of a known size: within each host, and then from host to host.
//! If a device carried them, it has counted them. If no device has counted them, they went through memory if
//! the ranks share a kernel; otherwise the transport is not known.

use serde::{Deserialize, Serialize};

/// The counts of all hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transport {
    /// One entry per host, in the order of their first ranks.
    pub hosts: Vec<HostAccount>,
}

/// The counts of one host's devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAccount {
    pub host: String,
    /// The kernel's boot id: containers of one machine share it, machines do not.
    pub boot_id: String,
    /// Counts while its ranks sent to each other; `None` with one rank.
    pub within: Option<Counted>,
    /// Counts while one of its ranks sent to one of the next host; `None` with one host.
    pub between: Option<Counted>,
}

/// Bytes that were sent, and bytes that each kind of device counted at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub payload_bytes: u64,
    /// Sent by the loopback interface.
    pub loopback_bytes: u64,
    /// Sent by all other network interfaces.
    pub network_bytes: u64,
    /// Sent by the ports of InfiniBand, `RoCE` and similar adapters.
    pub rdma_bytes: u64,
}

named! {
    /// The medium that carries bytes from rank to rank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Medium {
        /// Network interfaces: TCP, as far as MPIs are concerned.
        Tcp = "tcp",
        /// The ports of an adapter, bypassing the kernel.
        Rdma = "rdma",
        /// Memory.
        Shm = "shm",
        /// Unknown: no counter has seen the bytes, which went to another machine.
        Unknown = "unknown",
    }
}

impl Counted {
    /// The medium according to the devices; `None` if none counted all the bytes.
    fn seen(&self) -> Option<Medium> {
        match self.payload_bytes {
            bytes if self.rdma_bytes >= bytes => Some(Medium::Rdma),
            bytes if self.network_bytes >= bytes || self.loopback_bytes >= bytes => Some(Medium::Tcp),
            _ => None,
        }
    }
}

impl Transport {
    /// The media that carried bytes, that between hosts first. Empty if no rank has another to send to.
    pub fn media(&self) -> Vec<Medium> {
        let unseen = if self.is_one_kernel() { Medium::Shm } else { Medium::Unknown };
        let between = self.between().map(|counted| counted.seen().unwrap_or(unseen));
        let within = self.hosts.iter().filter_map(|host| host.within.as_ref());
        let mut media = Vec::new();
        for medium in between.chain(within.map(|counted| counted.seen().unwrap_or(Medium::Shm))) {
            if !media.contains(&medium) {
                media.push(medium);
            }
        }
        media
    }

    /// Their names: `shm`, `tcp`, `rdma+shm`.
    pub fn name(&self) -> String {
        self.media().iter().map(|medium| medium.name()).collect::<Vec<_>>().join("+")
    }

    /// Whether a network device counted the bytes from host to host; `None` with one host.
    pub fn has_crossed(&self) -> Option<bool> {
        (self.hosts.len() > 1).then(|| self.between().all(|counted| counted.seen().is_some()))
    }

    /// Whether all hosts are containers, or network namespaces, of one machine.
    pub fn is_one_kernel(&self) -> bool {
        self.hosts.windows(2).all(|pair| !pair[0].boot_id.is_empty() && pair[0].boot_id == pair[1].boot_id)
    }

    fn between(&self) -> impl Iterator<Item = &Counted> {
        self.hosts.iter().filter_map(|host| host.between.as_ref())
    }
}

/// Whether a transport's name is consistent with a network between this number of hosts. It is for one host,
/// and if the transport is unknown.
pub fn joins(hosts: usize, name: &str) -> bool {
    let media: Vec<_> = name.split('+').map(str::parse).collect();
    hosts < 2 || media[0] != Ok(Medium::Shm) && !media.contains(&Ok(Medium::Unknown))
}

/// The smallest message for which device counters show the path: for smaller ones, other programs may send as much in the meantime.
const TELLING_BYTES: u64 = 4096;

/// How the bytes that devices sent per repetition of `bytes` contradict a transport, if they do. Also `None`
/// for a count in between: in an exchange a part may stay within a rank.
pub fn contradiction(name: &str, bytes: u64, device_bytes: f64) -> Option<&'static str> {
    /// Other programs send less than this share of the smallest message in the meantime.
    const NOISE: f64 = 1.0 / 16.0;
    let bytes_of = bytes as f64;
    match name.split('+').next()?.parse() {
        _ if bytes < TELLING_BYTES => None,
        Ok(Medium::Tcp | Medium::Rdma) if device_bytes < NOISE * bytes_of => {
            Some("by no network interface or port")
        }
        Ok(Medium::Shm) if device_bytes >= bytes_of => Some("by network interfaces or ports"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_go_another_way_than_the_transport_are_seen_by_devices() {
        assert!(contradiction("shm", 10_000, 600.0).is_none());
        assert!(contradiction("shm", 10_000, 20_500.0).is_some());
        assert!(contradiction("shm", 8, 200.0).is_none(), "others send as much");
        assert!(contradiction("tcp+shm", 10_000, 20_500.0).is_none());
        assert!(contradiction("tcp+shm", 10_000, 5_000.0).is_none(), "half may stay within a rank");
        assert!(contradiction("tcp+shm", 10_000, 100.0).is_some());
        for name in ["", "unknown"] {
            assert!(contradiction(name, 10_000, 0.0).is_none());
        }
    }

    const BYTES: u64 = 1 << 20;

    fn host(boot_id: &str, within: Option<Counted>, between: Option<Counted>) -> HostAccount {
        HostAccount { host: "node".to_owned(), boot_id: boot_id.to_owned(), within, between }
    }

    fn counted(loopback_bytes: u64, network_bytes: u64, rdma_bytes: u64) -> Option<Counted> {
        Some(Counted { payload_bytes: BYTES, loopback_bytes, network_bytes, rdma_bytes })
    }

    #[test]
    fn on_one_host_what_no_device_counts_is_shared_memory() {
        let name = |within| Transport { hosts: vec![host("a", within, None)] }.name();
        assert_eq!(name(counted(0, 0, 0)), "shm");
        assert_eq!(name(counted(BYTES - 1, BYTES - 1, 0)), "shm", "what others sent meanwhile");
        assert_eq!(name(counted(BYTES + 4096, 0, 0)), "tcp");
        assert_eq!(name(counted(0, 0, BYTES)), "rdma");
        assert_eq!(name(None), "", "one rank");
    }

    #[test]
    fn between_hosts_what_is_not_counted_has_crossed_no_network() {
        let of = |boots: [&str; 2], between: [Option<Counted>; 2]| {
            let hosts = boots.into_iter().zip(between).map(|(boot, between)| host(boot, None, between));
            let transport = Transport { hosts: hosts.collect() };
            (transport.name(), transport.has_crossed())
        };
        let (tcp, nothing) = (counted(0, BYTES + 999, 0), counted(0, 12_000, 0));
        assert_eq!(of(["a", "a"], [tcp, tcp]), ("tcp".to_owned(), Some(true)));
        assert_eq!(of(["a", "a"], [nothing, nothing]), ("shm".to_owned(), Some(false)));
        assert_eq!(of(["a", "b"], [nothing, nothing]), ("unknown".to_owned(), Some(false)));
        assert_eq!(of(["", ""], [nothing, nothing]).0, "unknown", "no boot id: perhaps another kernel");
        assert_eq!(of(["a", "b"], [tcp, nothing]), ("tcp+unknown".to_owned(), Some(false)), "one way only");
        // The transport between hosts is named first.
        let hosts = vec![host("a", counted(0, 0, 0), counted(0, BYTES, 0)); 2];
        assert_eq!(Transport { hosts }.name(), "tcp+shm");
    }
}
