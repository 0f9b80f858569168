//! The type signature: which predefined types, in which order, without their places.

use crate::{Element, Layout};

/// A type signature as (type, how many) pairs, neighbours of one type counted together (MPI-4.1, section 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature(Vec<(Element, u64)>);

impl Signature {
    /// The pairs, in order.
    pub fn pairs(&self) -> &[(Element, u64)] {
        &self.0
    }

    /// The one predefined type of the signature, where it has only one.
    pub fn uniform(&self) -> Option<Element> {
        match self.0[..] {
            [(element, _)] => Some(element),
            _ => None,
        }
    }

    fn push(&mut self, element: Element, count: u64) {
        match self.0.last_mut() {
            Some((last, total)) if *last == element => *total += count,
            _ => self.0.push((element, count)),
        }
    }
}

impl FromIterator<(Element, u64)> for Signature {
    fn from_iter<I: IntoIterator<Item = (Element, u64)>>(pairs: I) -> Self {
        let mut signature = Self::default();
        pairs.into_iter().for_each(|(element, count)| signature.push(element, count));
        signature
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs: Vec<_> = self.0.iter().map(|(element, count)| format!("{count} {element}")).collect();
        f.pad(&pairs.join(", "))
    }
}

impl Layout {
    /// The type signature of one copy.
    pub fn signature(&self) -> Signature {
        self.runs().map(|run| (run.element, run.count)).collect()
    }
}
