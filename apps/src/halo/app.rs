//! The trait of all exchanges between many ranks, and its types.

use super::Grid;
use crate::face::Face;
use crate::parameters::joined_by_x;
use crate::{ArraySpec, ParameterError, Test, Values};

/// Properties of a run that an exchange needs besides its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HaloContext {
    /// Number of ranks of the run, at least 1.
    pub ranks: usize,
    /// Whether the first and the last rank along a dimension are neighbours. All-to-alls and irregular
    /// neighbourhoods have no border and are the same either way.
    pub periodic: bool,
    /// The ranks along each dimension of the grid; `None` for a grid as near to a cube as possible.
    pub dims: Option<Vec<usize>>,
    /// Seed of random index lists and neighbourhoods.
    pub seed: u64,
}

impl HaloContext {
    /// A periodic grid as near to a cube as possible, with seed 1.
    pub fn periodic(ranks: usize) -> Self {
        Self { ranks, periodic: true, dims: None, seed: 1 }
    }

    /// The grid of an exchange that divides this number of dimensions.
    ///
    /// # Errors
    /// Given dimensions of another number, or for another number of ranks.
    pub(crate) fn grid(&self, dimensions: usize) -> Result<Grid, ParameterError> {
        let Some(dims) = &self.dims else { return Ok(Grid::balanced(self.ranks, dimensions, self.periodic)) };
        let ranks = dims.iter().try_fold(1, |product: usize, &n| product.checked_mul(n));
        match ranks {
            _ if dims.len() != dimensions => {
                let numbers = if dimensions == 1 { "1 number" } else { &format!("{dimensions} numbers") };
                Err(self.refuse_grid(format!("must have {numbers}, one for each dimension of the grid")))
            }
            Some(ranks) if ranks == self.ranks => Ok(Grid { dims: dims.clone(), periodic: self.periodic }),
            ranks => {
                let these = ranks.map_or_else(|| "more".to_owned(), |ranks| ranks.to_string());
                Err(self.refuse_grid(format!(
                    "must have {} ranks, as many as the run; it has {these}",
                    self.ranks
                )))
            }
        }
    }

    fn refuse_grid(&self, reason: String) -> ParameterError {
        let value = self.dims.as_deref().map(joined_by_x).unwrap_or_default();
        ParameterError::Value { name: "grid", value, reason }
    }
}

/// An exchange between many ranks: a row of [`HALOS`](super::HALOS).
pub type HaloTest = Test<fn(&Values, HaloContext) -> HaloBuilt>;

/// An exchange, or why its values or ranks were refused.
pub type HaloBuilt = Result<Box<dyn HaloApp>, ParameterError>;

impl HaloTest {
    /// The exchange with these values on the context's ranks.
    ///
    /// # Errors
    /// A value that the application cannot have, with what would be right; a number of ranks that it cannot
    /// have, with the nearest ones; arrays that cannot be addressed.
    pub fn build(&self, values: &Values, context: HaloContext) -> HaloBuilt {
        if context.ranks == 0 {
            return Err(refuse_ranks(self.name, 0, |_| true));
        }
        let app = (self.make)(values, context.clone())?;
        if context.dims.is_some() && app.grid().is_none() {
            return Err(
                context.refuse_grid(format!("the ranks of {} are not on a grid; leave it out", self.name))
            );
        }
        for rank in 0..context.ranks {
            values.addressable(app.arrays(rank))?;
        }
        Ok(app)
    }
}

/// The error that refuses `ranks` for `test`. It names the nearest number for which the test `works`, among
/// up to twice as many.
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
    /// The sender's number of the direction in which it sends. It distinguishes messages between the same two
    /// ranks in all stages, and is the same at both ends.
    pub tag: usize,
    /// The data to send, or its destination.
    pub face: Face,
}

/// Transfers that depend only on earlier stages. The sent data of a stage and its destinations do not overlap.
///
/// Both lists ascend by tag, then by peer. So the n-th message from one rank to another is also the n-th that
/// the other expects from it, as in neighbourhood collectives.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The transfers that a rank sends.
    pub sends: Vec<Transfer>,
    pub receives: Vec<Transfer>,
}

impl Stage {
    /// A stage of these transfers, in any order.
    pub(crate) fn new(mut sends: Vec<Transfer>, mut receives: Vec<Transfer>) -> Self {
        for list in [&mut sends, &mut receives] {
            list.sort_by_key(|transfer| (transfer.tag, transfer.peer));
        }
        Self { sends, receives }
    }

    /// The stage in which every rank exchanges with all `ranks`, including itself.
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

/// The content of an array element after the exchange. The number identifies one value of the whole run: it
/// is the same at the owner and in every halo that has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// The rank's own value, unchanged by the exchange.
    Own(u64),
    /// Another rank's value, delivered by the exchange.
    Halo(u64),
    /// Not part of the exchange: the element must be unchanged.
    Other,
}

/// The cell of element `i` of an array, for every `i`.
pub type Cells<'a> = Box<dyn Fn(usize) -> Cell + 'a>;

/// The exchange of one application between all ranks of a run. Any rank can compute the arrays and stages of
/// any other: in this way the origin of a one-sided transfer knows where its target receives.
pub trait HaloApp: Send + Sync {
    fn arrays(&self, rank: usize) -> Vec<ArraySpec>;

    /// The transfers of a rank: one stage after the other, because later ones may forward data from earlier
    /// ones. Every rank has the same number of stages.
    fn stages(&self, rank: usize) -> Vec<Stage>;

    /// The cells of a rank's array `array` after all stages: a literal transcription of positions, slow, and
    /// independent of [`HaloApp::stages`].
    fn cells(&self, rank: usize, array: usize) -> Cells<'_>;

    /// The grid of the ranks, for `MPI_Cart_create`; `None` if the neighbours are not on a grid.
    fn grid(&self) -> Option<&Grid> {
        None
    }

    /// The direction of transfers with this tag, if they go to the next rank along one dimension of the grid: the
    /// dimension, and whether upwards. By default, tags number these directions as neighbourhood collectives do.
    fn along_grid(&self, tag: usize) -> Option<(usize, bool)> {
        self.grid().map(|_| (tag / 2, !tag.is_multiple_of(2)))
    }

    /// Whether its faces have hand-written loops. Without them, the oracle packs; it is slow and must not be timed.
    fn has_loops(&self) -> bool {
        true
    }

    /// The destination of `send`, a transfer of `rank` in stage `stage`, in the arrays of its peer.
    ///
    /// # Panics
    /// If the transfer does not exist.
    fn target(&self, rank: usize, stage: usize, send: &Transfer) -> Face {
        far_end(&self.stages(send.peer)[stage].receives, rank, send)
    }

    /// The origin of `receive`, a transfer of `rank` in stage `stage`, in the arrays of its peer.
    ///
    /// # Panics
    /// If the transfer does not exist.
    fn source(&self, rank: usize, stage: usize, receive: &Transfer) -> Face {
        far_end(&self.stages(receive.peer)[stage].sends, rank, receive)
    }
}

/// The face of the transfer of a peer that matches `transfer` of `rank`.
fn far_end(transfers: &[Transfer], rank: usize, transfer: &Transfer) -> Face {
    let end = transfers.iter().find(|end| (end.peer, end.tag) == (rank, transfer.tag));
    end.expect("each sent message is received").face.clone()
}
