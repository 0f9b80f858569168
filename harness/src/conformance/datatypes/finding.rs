//! A hit: an operation on a case with a wrong result. A finding: the simplest layout with the same fault.

use common::conformance::{Fault, FaultKind, Operation};
use datatypes::Layout;

/// An operation on a case with a wrong result.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The number of the case.
    pub case: u64,
    /// The layout, or the part of it to which the fault belongs.
    pub layout: Layout,
    /// Items in the message.
    pub items: u32,
    /// Whether data ends at a page that cannot be accessed; otherwise it begins behind one.
    pub at_end: bool,
    /// The operation.
    pub operation: &'static Operation,
    /// How it failed.
    pub kind: FaultKind,
    /// The expected and the actual result.
    pub detail: String,
    /// The layout with the bounds that the MPI gives, if they differ from ours and are allowed too.
    pub adopted: Option<Layout>,
}

/// The simplest layout with a fault.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The simplest hit; its number is that of the first case.
    pub hit: Hit,
    /// Other operations that fail with the same layout, and how.
    pub others: Vec<(&'static Operation, FaultKind)>,
    /// Hits that it explains.
    pub hits: usize,
    /// Whether the hit occurs without other cases before it.
    pub is_reproduced: bool,
    /// Whether it was in the list of known findings.
    pub is_known: bool,
    /// The C program, and what it did.
    pub confirmation: Confirmation,
}

/// The C program of a finding.
#[derive(Clone, Debug, Default)]
pub struct Confirmation {
    /// The program.
    pub code: String,
    /// Its output or its end, if it shows the fault.
    pub shown: Option<String>,
    /// Why it does not show the fault.
    pub reason: String,
}

impl Hit {
    /// A fault of a case, whose layout this is; `None` if its texts cannot be read.
    pub fn of(fault: &Fault, layout: &Layout, items: u32, at_end: bool) -> Option<Self> {
        let node = fault.node.as_ref().map(|text| text.parse::<Layout>()).transpose().ok()?;
        let adopted = fault.adopted.as_ref().map(|text| text.parse()).transpose().ok()?;
        Some(Self {
            case: fault.case,
            // Bounds are those of one item.
            items: if node.is_some() { 1 } else { items },
            layout: node.unwrap_or_else(|| layout.clone()),
            at_end,
            operation: Operation::find(&fault.operation).ok()?,
            kind: fault.kind,
            detail: fault.detail.clone(),
            adopted,
        })
    }

    /// Whether it is of the class of another one, so that both probably have one cause.
    pub fn is_like(&self, simplest: &Self) -> bool {
        self.items >= simplest.items.min(2) && self.layout.contains(&simplest.layout)
    }

    /// How large it is: a shrinker begins with the smallest.
    pub fn size(&self) -> (usize, usize, u32) {
        (self.layout.constructors(), self.layout.to_text().len(), self.items)
    }
}

impl Finding {
    /// All operations that fail with the layout.
    pub fn operations(&self) -> Vec<&'static Operation> {
        std::iter::once(self.hit.operation)
            .chain(self.others.iter().map(|(operation, _)| *operation))
            .collect()
    }
}
