//! The trait of all exchanges between many ranks, and the words it uses.

use datatypes::Element;

use super::Grid;
use crate::face::Face;
use crate::{ArraySpec, ParameterError, Test, Values};

/// What an exchange needs to know besides its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HaloContext {
    /// Number of ranks of the run, at least 1.
    pub ranks: usize,
    /// Whether the first and the last rank along a dimension are neighbours. All-to-alls and irregular
    /// neighbourhoods have no border and are the same either way.
    pub periodic: bool,
    /// Seed of random index lists and neighbourhoods.
    pub seed: u64,
}

/// An exchange between many ranks: a row of [`HALOS`](super::HALOS).
pub type HaloTest = Test<fn(&Values, HaloContext) -> HaloBuilt>;

/// An exchange, or why its values or ranks were refused.
pub type HaloBuilt = Result<Box<dyn HaloApp>, ParameterError>;

impl HaloTest {
    /// The exchange with these values on the context's ranks.
    ///
    /// # Errors
    /// A value that the application cannot have, with what would be right; a number of ranks that it cannot have, with the
    /// nearest ones; arrays that could not even be addressed.
    pub fn build(&self, values: &Values, context: HaloContext) -> HaloBuilt {
        if context.ranks == 0 {
            return Err(refuse_ranks(self.name, 0, |_| true));
        }
        let app = (self.make)(values, context)?;
        for rank in 0..context.ranks {
            values.addressable(app.arrays(rank))?;
        }
        Ok(app)
    }
}

/// The error that refuses `ranks` for `test` and names the nearest number for which it `works`, among up to twice as
/// many.
pub(crate) fn refuse_ranks(
    test: &'static str,
    ranks: usize,
    works: impl Fn(usize) -> bool,
) -> ParameterError {
    let below = (1..ranks).rev().find(|&n| works(n));
    let above = (ranks + 1..=2 * ranks + 1).find(|&n| works(n));
    let reason = match (below, above) {
        (Some(below), Some(above)) => format!("the nearest that work are {below} and {above}"),
        (Some(one), None) | (None, Some(one)) => format!("the nearest that works is {one}"),
        (None, None) => "none works with these parameters".to_owned(),
    };
    ParameterError::Other(format!("{test} on {ranks} ranks: {reason}"))
}

/// One message of a stage, seen from one of its ends.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The rank at the other end; may be the rank itself.
    pub peer: usize,
    /// The sender's number for the direction in which it sends: tells messages between the same two ranks apart, in
    /// all stages. The same at both ends.
    pub tag: usize,
    /// What is sent, or where it goes.
    pub face: Face,
}

/// Transfers that depend on nothing but earlier stages. Nothing that a stage sends lies where it receives.
///
/// Both lists ascend by tag, then by peer. So the n-th message from one rank to another is also the n-th that the
/// latter expects of it, as neighbourhood collectives have it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What a rank sends.
    pub sends: Vec<Transfer>,
    /// What it receives.
    pub receives: Vec<Transfer>,
}

impl Stage {
    /// A stage of these transfers, in whatever order.
    pub(crate) fn new(mut sends: Vec<Transfer>, mut receives: Vec<Transfer>) -> Self {
        for list in [&mut sends, &mut receives] {
            list.sort_by_key(|transfer| (transfer.tag, transfer.peer));
        }
        Self { sends, receives }
    }

    /// The stage in which every rank exchanges with all `ranks`, itself included.
    pub(crate) fn all_to_all(
        ranks: usize,
        send: impl Fn(usize) -> Face,
        receive: impl Fn(usize) -> Face,
    ) -> Self {
        let transfer = |peer, face| Transfer { peer, tag: 0, face };
        Self::new(
            (0..ranks).map(|peer| transfer(peer, send(peer))).collect(),
            (0..ranks).map(|peer| transfer(peer, receive(peer))).collect(),
        )
    }
}

/// What an element of an array holds after the exchange. A number stands for one value of the whole run: it is the
/// same at the owner and in every halo that has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The rank's own value, which the exchange leaves as it was.
    Own(u64),
    /// Another rank's value, which the exchange brings.
    Halo(u64),
    /// Nothing of the exchange: it must keep what it had.
    Other,
}

/// What element `i` of an array is, for every `i`.
pub type Cells<'a> = Box<dyn Fn(usize) -> Cell + 'a>;

/// The exchange of one application between all ranks of a run. Each rank can be asked about each: an origin of
/// one-sided transfers so learns where its target receives.
pub trait HaloApp: Send + Sync {
    /// The predefined type of every value on the wire; `byte` where there are several.
    fn element(&self) -> Element;

    /// The arrays of a rank.
    fn arrays(&self, rank: usize) -> Vec<ArraySpec>;

    /// What a rank sends and receives: one stage after the other, as later ones may forward what came in earlier
    /// ones. Every rank has the same number of stages.
    fn stages(&self, rank: usize) -> Vec<Stage>;

    /// What the elements of a rank's array `array` are after all stages: a literal transcription of positions,
    /// slow, and independent of [`HaloApp::stages`].
    fn cells(&self, rank: usize, array: usize) -> Cells<'_>;

    /// The grid of the ranks, for `MPI_Cart_create`; `None` where the neighbours are no grid's.
    fn grid(&self) -> Option<&Grid> {
        None
    }

    /// Whether loops were written for its faces by hand. Where none were, they pack by the oracle, which is slow and no method.
    fn has_loops(&self) -> bool {
        true
    }

    /// Where `send`, a transfer of `rank` in stage `stage`, arrives in the arrays of its peer.
    ///
    /// # Panics
    /// If there is no such transfer.
    fn target(&self, rank: usize, stage: usize, send: &Transfer) -> Face {
        far_end(&self.stages(send.peer)[stage].receives, rank, send)
    }

    /// What `receive`, a transfer of `rank` in stage `stage`, is in the arrays of its peer.
    ///
    /// # Panics
    /// If there is no such transfer.
    fn source(&self, rank: usize, stage: usize, receive: &Transfer) -> Face {
        far_end(&self.stages(receive.peer)[stage].sends, rank, receive)
    }
}

/// The face among `transfers` of a peer that belongs to `transfer` of `rank`.
fn far_end(transfers: &[Transfer], rank: usize, transfer: &Transfer) -> Face {
    let end = transfers.iter().find(|end| (end.peer, end.tag) == (rank, transfer.tag));
    end.expect("what is sent is received").face.clone()
}
