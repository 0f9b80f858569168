//! Messages whose datatypes are described by other constructors.

use apps::{Arrays, Exchange, MicroApp, Side, WireOrder};
use datatypes::{Equivalent, Layout};

/// A message with an alternative description.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The kind of description.
    pub way: Equivalent,
    /// The send side.
    pub send: Layout,
    /// The receive side.
    pub receive: Layout,
}

/// A side of a message with this description; unchanged if that is not possible.
pub fn described(way: Equivalent, layout: &Layout) -> Layout {
    way.rewritten(layout).unwrap_or_else(|| layout.clone())
}

/// All descriptions of a message that differ from its own and from each other. Blocks of an all-to-all are an
/// extent apart, so they keep their bounds.
pub fn descriptions(app: &MicroApp) -> Vec<Description> {
    let (send, receive) = match &app.exchange {
        Exchange::AllToAll { send_block, receive_block } => (send_block.clone(), receive_block.clone()),
        Exchange::Pairs => {
            let displacements = Arrays::displacements_of(&app.arrays);
            let side = |side: Side| app.message(side, WireOrder::Ddt).datatype(&displacements).1;
            (side(Side::Send), side(Side::Receive))
        }
    };
    let mut all: Vec<Description> = Vec::new();
    for way in Equivalent::ALL {
        if app.exchange != Exchange::Pairs && !way.keeps_bounds() {
            continue;
        }
        let sent = described(way, &send);
        let received = if receive == send { sent.clone() } else { described(way, &receive) };
        let is_known = |known: &Description| known.send == sent && known.receive == received;
        if (&sent, &received) != (&send, &receive) && !all.iter().any(is_known) {
            all.push(Description { way, send: sent, receive: received });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use apps::Context;

    use super::*;

    #[test]
    fn descriptions_differ_from_the_message_and_from_each_other() {
        let of = |test: &str| {
            let test = apps::find(test).unwrap();
            let values = test.set(test.quick_set().name).unwrap();
            descriptions(&test.build(&values, Context::default()).unwrap())
        };
        let ways = |test: &str| of(test).into_iter().map(|of| of.way).collect::<Vec<_>>();
        for test in ["nas_lu_y", "fft2d", "lammps_full", "nas_mg_x", "specfem3d_mt"] {
            let all = of(test);
            assert!(all.len() > 4, "{test}: {all:?}");
            for (i, one) in all.iter().enumerate() {
                let is_like =
                    |other: &Description| (&other.send, &other.receive) == (&one.send, &one.receive);
                assert!(!all[..i].iter().any(is_like), "{test}: {:?} twice", one.way);
            }
        }
        assert!(ways("nas_lu_y").contains(&Equivalent::SubarraySplit));
        // Blocks of an all-to-all are an extent apart.
        assert!(!ways("fft2d").contains(&Equivalent::Subarray));
        // A list of single values does not have a pattern.
        assert!(!ways("specfem3d_oc").contains(&Equivalent::Vector));
        // Structures of vectors and of subarrays describe the same arrays.
        let vectors = of("wrf_x_vec").into_iter().find(|of| of.way == Equivalent::Subarray).unwrap();
        assert!(
            vectors.send.to_text().starts_with("struct([") && vectors.send.to_text().contains("subarray(")
        );
    }
}
