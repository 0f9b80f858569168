//! Messages that travel otherwise than as one of their datatype: as a count of what it repeats, in two halves, in a message per
//! piece.

use apps::{Arrays, Exchange, MicroApp, Side, WireOrder};
use datatypes::Layout;

/// Pieces of a message at most: each costs as much as a small message, so that more of them would take milliseconds, of which a
/// launch has time for a few repetitions.
const MOST_PIECES: usize = 4096;

/// How a message is parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// One message, of several of what the datatype repeats.
    Count,
    /// Two messages, of about as many bytes.
    Halves,
    /// A message for each run of values at the sender.
    Pieces,
}

impl Parting {
    /// The places of the packed stream at which messages begin, in bytes, and its end; `None` where the message cannot be parted
    /// so: blocks of an all-to-all follow each other in one call, lists repeat nothing, and there may be too many pieces.
    pub fn places(self, app: &MicroApp) -> Option<Vec<u64>> {
        let Exchange::Pairs = app.exchange else { return None };
        let message = app.message(Side::Send, WireOrder::Ddt);
        let (_, layout) = message.datatype(&Arrays::displacements_of(&app.arrays));
        match self {
            Self::Count => layout.repetition().map(|_| vec![0, layout.size()]),
            Self::Halves => middle(&layout).map(|middle| vec![0, middle, layout.size()]),
            Self::Pieces => {
                let ends: Vec<u64> = ends(&layout).take(MOST_PIECES + 1).collect();
                (2..=MOST_PIECES).contains(&ends.len()).then(|| [vec![0], ends].concat())
            }
        }
    }
}

/// Where runs of values end in the packed stream, in bytes.
fn ends(layout: &Layout) -> impl Iterator<Item = u64> {
    layout.runs().scan(0, |end, run| {
        *end += run.bytes();
        Some(*end)
    })
}

/// The end of a run that is next to the middle; of a single run its middle value. `None` where there is nothing to part.
fn middle(layout: &Layout) -> Option<u64> {
    let half = layout.size() / 2;
    let inner = ends(layout).filter(|&end| end < layout.size());
    inner.min_by_key(|end| end.abs_diff(half)).or_else(|| {
        let run = layout.runs().next()?;
        Some(run.count / 2 * run.element.size()).filter(|&middle| middle > 0)
    })
}

#[cfg(test)]
mod tests {
    use apps::Context;

    use super::*;

    fn places(test: &str, parting: Parting) -> Option<Vec<u64>> {
        let test = apps::find(test).unwrap();
        let values = test.set(test.quick_set().name).unwrap();
        parting.places(&test.build(&values, Context::default()).unwrap())
    }

    #[test]
    fn a_message_is_parted_where_runs_end() {
        // 408 runs of five doubles.
        let parted = [Parting::Count, Parting::Halves, Parting::Pieces];
        let [count, halves, pieces] = parted.map(|parting| places("nas_lu_y", parting).unwrap());
        assert_eq!((count, halves), (vec![0, 16320], vec![0, 8160, 16320]));
        assert_eq!((pieces.len(), pieces[1], pieces[408]), (409, 40, 16320));
        assert_eq!(places("nas_lu_x", Parting::Halves).unwrap().len(), 3, "one run is parted as well");
        assert_eq!(places("nas_lu_x", Parting::Pieces), None, "one run has no pieces");
        assert_eq!(places("lammps_full", Parting::Count), None, "a list repeats nothing");
        assert_eq!(places("fft2d", Parting::Halves), None, "an all-to-all is one call");
    }
}
