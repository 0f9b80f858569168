//! Finds out the transport between ranks: ranks send messages of a known size, and the counters of each
//! host's devices are read before and after. The counters are also read around the measured messages.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use common::model::event::RankPlace;
use common::model::transport::{Counted, HostAccount, Transport};
use datatypes::Element;

use crate::checked::{CallError, Comm, Datatype, Envelope};
use crate::environment;

/// Bytes of a message: above every eager limit, far more than other programs send through a device in the
/// fraction of a millisecond that it takes, and a hundredth of a second on a slow network.
const MESSAGE_BYTES: usize = 1 << 20;

/// The hosts of the ranks; the first rank of each reads the counters.
pub struct Hosts {
    /// The ranks of this host.
    host: Comm,
    /// The first rank of each host; on the others, these.
    firsts: Comm,
    is_first: bool,
}

impl Hosts {
    /// For the ranks of `world`; `place` is that of this rank. Collective.
    pub fn of_world(world: &Comm, place: &RankPlace) -> Result<Self, CallError> {
        let host = world.split(color(&place.host), place.rank)?;
        let is_first = host.rank()? == 0;
        let firsts = world.split(usize::from(is_first), place.rank)?;
        Ok(Self { host, firsts, is_first })
    }

    /// The transport between the ranks of `world`; complete on rank 0 only. Collective.
    pub fn account(&self, world: &Comm) -> anyhow::Result<Transport> {
        // The counters are the host's: its first rank reports them, for all messages that its ranks send.
        let within = count(world, &self.host, self.host.size()?)?;
        let between = count(world, &self.firsts, usize::from(self.is_first))?;
        let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let boot_id = boot_id.trim().to_owned();
        let mine = HostAccount { host: environment::host(), boot_id, within, between };
        let accounts = world.gather_values(&self.is_first.then_some(mine))?;
        Ok(Transport { hosts: accounts.into_iter().flatten().collect() })
    }

    /// The counters of this host, if this rank reads them.
    pub fn counters(&self) -> Option<Counted> {
        self.is_first.then(counters)
    }

    /// Bytes that the devices of all hosts have sent since `before`: those of network interfaces and ports, on one host of its
    /// loopback interface as well. On rank 0 only; collective over the ranks that have counters.
    pub fn sent_since(&self, before: Option<Counted>) -> Result<Option<u64>, CallError> {
        let Some(before) = before else { return Ok(None) };
        let sent = since(before);
        let loopback = if self.firsts.size()? == 1 { sent.loopback_bytes } else { 0 };
        let all = self.firsts.gather(&(loopback + sent.network_bytes + sent.rdma_bytes).to_ne_bytes())?;
        let of = |bytes: &Vec<u8>| Some(u64::from_ne_bytes(bytes.as_slice().try_into().ok()?));
        Ok(if self.firsts.rank()? == 0 { all.iter().map(of).sum() } else { None })
    }
}

/// The ranks of a host get the same colour, and other hosts' ranks another.
fn color(host: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    host.hash(&mut hasher);
    // Colours are ints from 0.
    (hasher.finish() >> 33) as usize
}

/// The counts of this host's devices while its ranks send `messages` around a ring, and ranks of `world` do
/// nothing else. `None` if the host sends none.
fn count(world: &Comm, ring: &Comm, messages: usize) -> Result<Option<Counted>, CallError> {
    let is_part = messages > 0 && ring.size()? > 1;
    let before = counters();
    world.barrier()?;
    if is_part {
        send_around(ring)?;
    }
    world.barrier()?;
    let payload_bytes = (messages * MESSAGE_BYTES) as u64;
    Ok(is_part.then(|| Counted { payload_bytes, ..since(before) }))
}

/// Each rank sends a message to the next.
fn send_around(ring: &Comm) -> Result<(), CallError> {
    let (rank, size) = (ring.rank()?, ring.size()?);
    let byte = Datatype::predefined(Element::Byte);
    let (mut outgoing, mut incoming) = (vec![1_u8; MESSAGE_BYTES], vec![0_u8; MESSAGE_BYTES]);
    // If all sent first, none would return: rank 1 at least receives first.
    for sends in [rank % 2 == 0, rank % 2 == 1] {
        let (peer, buffer) = if sends { (rank + 1, &mut outgoing) } else { (rank + size - 1, &mut incoming) };
        let envelope =
            Envelope { count: MESSAGE_BYTES, datatype: &byte, peer: peer % size, tag: 0, comm: ring };
        // SAFETY: the buffer has as many bytes, and lives through the call.
        unsafe { envelope.pass(sends, buffer.as_mut_ptr()) }?;
    }
    Ok(())
}

/// Bytes that this host's devices have sent since the host was started.
fn counters() -> Counted {
    /// Index of this count: after the device's name and the eight numbers for received data.
    const SENT: usize = 8;
    let devices = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let sent = |line: &'_ str| -> Option<(bool, u64)> {
        let (name, numbers) = line.split_once(':')?;
        Some((name.trim() == "lo", numbers.split_whitespace().nth(SENT)?.parse().ok()?))
    };
    let of = |loopback: bool| {
        devices.lines().filter_map(sent).filter(|(is, _)| *is == loopback).map(|(_, bytes)| bytes).sum()
    };
    let rdma_bytes = sent_by_ports(Path::new("/sys/class/infiniband"));
    Counted { payload_bytes: 0, loopback_bytes: of(true), network_bytes: of(false), rdma_bytes }
}

/// The bytes sent since these counts.
fn since(before: Counted) -> Counted {
    let now = counters();
    Counted {
        payload_bytes: 0,
        loopback_bytes: now.loopback_bytes.saturating_sub(before.loopback_bytes),
        network_bytes: now.network_bytes.saturating_sub(before.network_bytes),
        rdma_bytes: now.rdma_bytes.saturating_sub(before.rdma_bytes),
    }
}

/// Bytes that the ports of all adapters in this folder have sent.
fn sent_by_ports(adapters: &Path) -> u64 {
    /// Bytes per step of `port_xmit_data`.
    const STEP: u64 = 4;
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let of_port = |port: &Path| {
        let steps = number(&port.join("counters/port_xmit_data"));
        // Adapters of some clouds count bytes, in another file.
        steps.map(|steps| steps * STEP).or_else(|| number(&port.join("hw_counters/tx_bytes"))).unwrap_or(0)
    };
    let children =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    children(adapters).flat_map(|adapter| children(&adapter.join("ports"))).map(|port| of_port(&port)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_all_adapters_are_counted_in_steps_or_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        assert_eq!(sent_by_ports(folder.path()), 0);
        write("mlx5_0/ports/1/counters/port_xmit_data", "1000\n");
        write("mlx5_0/ports/2/counters/port_xmit_data", "1\n");
        write("efa_0/ports/1/hw_counters/tx_bytes", "7\n");
        write("broken/ports/1/counters/port_xmit_data", "N/A\n");
        assert_eq!(sent_by_ports(folder.path()), 4011);
    }
}
