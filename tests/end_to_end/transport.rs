//! The device that carries the bytes between the ranks of one host.

use std::collections::BTreeMap;

use libtest_mimic::Trial;

use super::setup::{Check, MPIS, Mpi, WITHOUT_SLEEP, trials_on};
use super::trial::Need;
use super::typed::{Kept, Measuring};

/// Bytes of a message that is large enough for a network.
const BYTES: f64 = 100_000.0;

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] =
        &[("memory and TCP on one host are distinguished, also by the library itself", one_host)];
    trials_on(&MPIS, Need::AllProcessors, "transport", checks)
}

/// The recorded settings of the library and its components are those of the run.
#[track_caller]
fn expect_account(mpi: &Mpi, kept: &Kept, is_tcp: bool) {
    let settings = kept.account()["library_account"].clone();
    let settings: BTreeMap<_, _> =
        serde_json::from_value::<Vec<(String, String)>>(settings).unwrap().into_iter().collect();
    let of = |name: &str| settings.get(name).unwrap_or_else(|| panic!("no {name} in {settings:?}")).as_str();
    if mpi.name != "openmpi" {
        assert_eq!(of("MPIR_CVAR_NOLOCAL"), if is_tcp { "1" } else { "0" });
        return;
    }
    assert_eq!((of("btl"), of("pml")), if is_tcp { ("tcp,self", "ob1") } else { (WITHOUT_SLEEP.1, "") });
    assert_eq!(of("pml components"), "ob1");
    let btl: Vec<&str> = of("btl components").split(' ').collect();
    assert!(btl.contains(&"tcp") && btl.contains(&"sm") != is_tcp, "{btl:?}");
}

/// If the devices carry the messages, they have counted the case's own in both directions; otherwise nothing of that
/// size.
#[track_caller]
fn expect_counted(kept: &Kept, is_tcp: bool) {
    let figures = kept.rows("figures.csv");
    let of_devices = figures.iter().find(|row| row.is(&[("figure", "device_bytes"), ("pair", "all")]));
    let counted = of_devices.expect("devices are counted").number("value").unwrap();
    assert!(if is_tcp { counted >= 2.0 * BYTES } else { counted < BYTES / 16.0 }, "{counted}");
}

fn one_host(mpi: &Mpi) {
    for (is_tcp, transport) in [(false, "shm"), (true, "tcp")] {
        let line = format!("run contiguous -p bytes={BYTES} -m reference --max-time 0.02");
        let measuring = Measuring::on(mpi, line);
        let kept = if is_tcp { measuring.over_tcp() } else { measuring }.ends(0);
        let cases = kept.rows("cases.csv");
        assert!(cases.len() == 1 && cases[0].is(&[("hosts", "1"), ("transport", transport)]), "{cases:?}");
        assert!(kept.ended.out.contains(&format!("2 ranks, {transport}, warm")), "{}", kept.ended);
        for warning in ["but no network interface", "its messages used"] {
            assert!(!kept.ended.err.contains(warning), "{}", kept.ended);
        }
        expect_account(mpi, &kept, is_tcp);
        expect_counted(&kept, is_tcp);
    }
}
