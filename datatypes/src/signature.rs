//! The type signature: the predefined types in order, without displacements.

use crate::{Constructor, Element, Layout};

/// A type signature as (type, count) pairs; adjacent equal types are counted together (MPI-4.1, section 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature(Vec<(Element, u64)>);

impl Signature {
    /// The pairs, in order.
    pub fn pairs(&self) -> &[(Element, u64)] {
        &self.0
    }

    /// The predefined type, if the signature has only one.
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
        match self.uniform() {
            Some(element) => [(element, self.size() / element.size())].into_iter().collect(),
            None => self.runs().map(|run| (run.element, run.count)).collect(),
        }
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
