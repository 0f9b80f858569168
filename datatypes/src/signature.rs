//! The type signature: the predefined types in order, without displacements.

use crate::{Constructor, Element, Layout};

/// Types with the numbers of their values; adjacent equal types are counted together (MPI-4.1, section 5.1).
pub fn joined_types(types: impl Iterator<Item = (Element, u64)>) -> impl Iterator<Item = (Element, u64)> {
    let mut types = types.peekable();
    std::iter::from_fn(move || {
        let (element, mut count) = types.next()?;
        while let Some((_, more)) = types.next_if(|(next, _)| *next == element) {
            count += more;
        }
        Some((element, count))
    })
}

impl Layout {
    /// The type signature of one copy: each type with the number of its consecutive values. It may be too long to store.
    pub fn signature(&self) -> impl Iterator<Item = (Element, u64)> + '_ {
        let one = self.uniform().map(|element| (element, self.size() / element.size()));
        let several = one.is_none().then(|| self.runs().map(|run| (run.element, run.count)));
        joined_types(one.into_iter().chain(several.into_iter().flatten()))
    }

    /// The predefined type of all values, if there is only one, derived from the constructors without listing values.
    pub fn uniform(&self) -> Option<Element> {
        if self.size() == 0 {
            return None;
        }
        let constructor = self.constructor();
        if let Constructor::Named { element } = constructor {
            return Some(*element);
        }
        let is_used = |i: usize| match constructor {
            Constructor::Struct { blocklengths, .. } => blocklengths[i] > 0,
            _ => true,
        };
        let used = constructor.children().iter().enumerate().filter(|(i, _)| is_used(*i));
        let mut types = used.filter(|(_, child)| child.size() > 0).map(|(_, child)| child.uniform());
        let first = types.next()??;
        types.all(|other| other == Some(first)).then_some(first)
    }
}
