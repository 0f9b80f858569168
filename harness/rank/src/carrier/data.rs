//! The data of a message at one of its ends, as MPI's calls take it.

use datatypes::Layout;

use crate::checked::{CallError, Comm, Count, Datatype, Envelope, Recipe};

/// A place, a count and a datatype.
pub struct MessageData {
    /// Bytes from the start of its memory to the datatype's displacement 0, which may be outside of it: only the values are within.
    pub offset: i64,
    /// Elements of the datatype.
    pub count: usize,
    /// The constructor calls, if the datatype is derived.
    recipe: Option<Recipe>,
    /// The predefined type, or all derived ones that were created and not freed; the last one is used.
    datatypes: Vec<Datatype>,
}

impl MessageData {
    /// Adjacent values of a predefined type.
    pub fn adjacent(offset: i64, count: usize, datatype: Datatype) -> Self {
        Self { offset, count, recipe: None, datatypes: vec![datatype] }
    }

    /// Elements of a derived datatype, which is not created yet.
    pub fn derived(offset: i64, count: usize, layout: &Layout, comm: &Comm) -> Result<Self, CallError> {
        Ok(Self { offset, count, recipe: Some(Recipe::new(layout, comm)?), datatypes: Vec::new() })
    }

    pub fn is_derived(&self) -> bool {
        self.recipe.is_some()
    }

    /// Creates the datatype, if it is derived. Repeated calls add more of them.
    pub fn create(&mut self) -> Result<(), CallError> {
        self.datatypes.extend(self.recipe.as_ref().map(Recipe::create).transpose()?);
        Ok(())
    }

    /// Frees the one that was created last.
    pub fn free(&mut self) -> Result<(), CallError> {
        let created = self.recipe.as_ref().and_then(|_| self.datatypes.pop());
        created.map_or(Ok(()), Datatype::free)
    }

    /// The datatype that was created last.
    #[inline]
    pub fn datatype(&self) -> &Datatype {
        self.datatypes.last().expect("created before use")
    }

    /// The data at an address or displacement, as the arguments of a call.
    #[inline]
    pub fn at<P>(&self, place: P) -> (P, Count, &Datatype) {
        (place, self.count as Count, self.datatype())
    }

    /// The arguments of a message with this data.
    #[inline]
    pub fn envelope<'a>(&'a self, peer: usize, tag: usize, comm: &'a Comm) -> Envelope<'a> {
        Envelope { count: self.count, datatype: self.datatype(), peer, tag, comm }
    }
}
