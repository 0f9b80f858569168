//! Messages that are not sent as one value of their datatype: as a count of the repeated type, in two halves,
//! or as one message per piece.

use apps::{Arrays, Exchange, MicroApp, Side, WireOrder};
use datatypes::Layout;

/// Maximum pieces of a message: each costs as much as a small message, so more of them would take
/// milliseconds, and a launch has time for only a few such repetitions.
const MOST_PIECES: usize = 4096;

/// How a message is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// One message, with several elements of the type that the datatype repeats.
    Count,
    /// Two messages with about the same number of bytes.
    Halves,
    /// One message per run of values at the sender.
    Pieces,
}

impl Parting {
    /// The offsets in the packed stream at which messages begin, in bytes, and its end.
    pub fn places(self, app: &MicroApp) -> Result<Vec<u64>, &'static str> {
        let Exchange::Pairs = app.exchange else { return Err("blocks of an all-to-all travel in one call") };
        let message = app.message(Side::Send, WireOrder::Ddt);
        let (_, layout) = message.datatype(&Arrays::displacements_of(&app.arrays));
        let whole = layout.size();
        match self {
            Self::Count => layout.repetition().map(|_| vec![0, whole]).ok_or("its datatype repeats nothing"),
            Self::Halves => {
                middle(&layout).map(|middle| vec![0, middle, whole]).ok_or("it is a single value")
            }
            Self::Pieces => {
                let ends: Vec<u64> = ends(&layout).take(MOST_PIECES + 1).collect();
                match ends.len() {
                    0 | 1 => Err("it is a single run"),
                    2..=MOST_PIECES => Ok([vec![0], ends].concat()),
                    _ => Err("it has more than 4,096 runs"),
                }
            }
        }
    }
}

/// The offsets in the packed stream at which runs of values end, in bytes.
fn ends(layout: &Layout) -> impl Iterator<Item = u64> {
    layout.runs().scan(0, |end, run| {
        *end += run.bytes();
        Some(*end)
    })
}

/// The end of the run nearest to the middle; for a single run, its middle value. `None` if there is nothing to part.
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

    fn places(test: &str, parting: Parting) -> Result<Vec<u64>, &'static str> {
        let test = apps::find(test).unwrap();
        let values = test.set(test.quick_set().name).unwrap();
        parting.places(&test.build(&values, Context::default()).unwrap())
    }

    #[test]
    fn a_message_is_divided_where_runs_end() {
        // 408 runs of five doubles.
        let divided = [Parting::Count, Parting::Halves, Parting::Pieces];
        let [count, halves, pieces] = divided.map(|parting| places("nas_lu_y", parting).unwrap());
        assert_eq!((count, halves), (vec![0, 16320], vec![0, 8160, 16320]));
        assert_eq!((pieces.len(), pieces[1], pieces[408]), (409, 40, 16320));
        assert_eq!(places("nas_lu_x", Parting::Halves).unwrap().len(), 3, "one run is divided as well");
        assert_eq!(places("nas_lu_x", Parting::Pieces), Err("it is a single run"));
        assert_eq!(places("lammps_full", Parting::Count), Err("its datatype repeats nothing"));
        assert_eq!(places("specfem3d_oc", Parting::Pieces).map(|places| places.len()), Ok(3226));
        assert_eq!(places("fft2d", Parting::Halves), Err("blocks of an all-to-all travel in one call"));
    }
}
