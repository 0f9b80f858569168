//! A hit: an operation on a case with a wrong result. A finding: the simplest layout with the same fault.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use common::conformance::{Case, FIRST_FIXED, Fault, FaultKind, OPERATIONS, Operation};
use datatypes::{Construction, Layout};
use serde::Serialize;

use super::campaign::constructors;
use super::properties::Property;
use crate::conformance::process::DAMAGED_HEAP;

/// Separates the end of a process from the place of its crash.
pub const PLACE: &str = ": ";

/// An operation on a case with a wrong result.
#[derive(Clone, Debug, Serialize)]
pub struct Hit {
    /// The number of the case.
    #[serde(skip)]
    pub case: u64,
    /// The layout, or the part of it to which the fault belongs.
    pub layout: Layout,
    /// Items in the message.
    pub items: u32,
    /// Whether data ends at a page that cannot be accessed; otherwise it begins behind one.
    pub at_end: bool,
    /// How the datatype is made.
    pub construction: Construction,
    /// The operation.
    pub operation: &'static Operation,
    /// How it failed.
    pub kind: FaultKind,
    /// The expected and the actual result.
    pub detail: String,
    /// The layout with the bounds that the MPI gives, if they differ from ours and are allowed too.
    #[serde(skip)]
    pub adopted: Option<Layout>,
    /// Whether the layout may have more than the fault needs, because the time was over.
    #[serde(skip)]
    pub is_unfinished: bool,
}

/// The simplest layout with a fault.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The simplest hit.
    pub hit: Hit,
    /// Other operations that fail with the same layout, and how.
    pub others: Vec<(&'static Operation, FaultKind)>,
    /// Whether all other operations were tried.
    pub is_complete: bool,
    /// Findings of other layouts or operations that probably have the same cause, and hits of other classes that were not shrunk.
    pub similar: Vec<Finding>,
    /// Cases of hits that it explains.
    pub cases: BTreeSet<u64>,
    /// Whether the hit occurs without other cases before it.
    pub is_reproduced: bool,
    /// Whether it was in the list of known findings.
    pub is_known: bool,
    /// Whether the list may lack it by chance (`mark_uncertain`).
    pub is_uncertain: bool,
    /// The C program, and what it did.
    pub confirmation: Confirmation,
}

/// The C program of a finding.
#[derive(Clone, Debug, Default)]
pub struct Confirmation {
    /// The program.
    pub code: String,
    /// Its result.
    pub evidence: Evidence,
}

/// The result of the C program of a finding, with its output or its end, or with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Evidence {
    /// It was not tried.
    #[default]
    Untried,
    /// It was not run to its end in time.
    Unfinished(String),
    /// It does not show the fault, or is not possible.
    NotShown(String),
    /// It shows the fault with the baseline, too.
    Old(String),
    /// It shows the fault.
    Shown(String),
}

impl Confirmation {
    /// The output or the end of a program that shows the fault.
    pub fn shown(&self) -> Option<&str> {
        if let Evidence::Shown(shown) = &self.evidence { Some(shown) } else { None }
    }
}

impl Hit {
    /// A fault of a case.
    pub fn from_fault(fault: &Fault, case: &Case) -> Self {
        let Fault { operation, kind, detail, node, adopted, .. } = fault.clone();
        let hit = Self { operation, kind, detail, adopted, is_unfinished: true, ..Self::untried(case) };
        match node {
            // Bounds are those of one item.
            Some(layout) => Self { layout, items: 1, ..hit },
            None => hit,
        }
    }

    /// A case whose fault is filled in by the caller.
    pub fn untried(case: &Case) -> Self {
        Self {
            case: case.origin,
            layout: case.layout.clone(),
            items: case.items,
            at_end: case.at_end,
            construction: case.construction,
            operation: &OPERATIONS[0],
            kind: FaultKind::Error,
            detail: String::new(),
            adopted: None,
            is_unfinished: false,
        }
    }

    /// A hit of one item for tests.
    #[cfg(test)]
    pub fn fake(operation: &str, kind: FaultKind, layout: &str) -> Self {
        let case = Case::with_layout(0, layout.parse().unwrap(), 1, true);
        Self { operation: Operation::find(operation).unwrap(), kind, ..Self::untried(&case) }
    }

    /// Whether it is of the class of another one, so that both probably have one cause.
    pub fn is_like(&self, simplest: &Self) -> bool {
        (simplest.construction.is_usual() || simplest.construction == self.construction)
            && self.items >= simplest.items.min(2)
            && self.layout.contains(&simplest.layout)
    }

    /// Whether both crash at the same place: with the same assertion, or in a function while the same part of the MPI is used.
    pub fn crashes_as(&self, other: &Self) -> bool {
        let is_assertion = |place: &str| !place.starts_with("in ");
        let is_same = |place: &str| is_assertion(place) || part_of_mpi(self) == part_of_mpi(other);
        self.place().is_some_and(is_same) && self.place() == other.place()
    }

    pub fn place(&self) -> Option<&str> {
        let (_, place) = self.detail.split_once(PLACE).filter(|_| self.kind == FaultKind::Crash)?;
        Some(place)
    }

    /// Whether both are the same operation on the same message.
    pub fn is_same_trial(&self, other: &Self) -> bool {
        let of = |hit: &Self| (hit.operation.number(), hit.items, hit.at_end, hit.construction);
        of(self) == of(other) && self.layout == other.layout
    }

    /// The number of items and the construction, unless they are the usual ones, as the end of a sentence.
    pub fn message(&self) -> String {
        let items = if self.items == 1 { String::new() } else { format!(", {} items", self.items) };
        let construction = self.construction.text();
        if construction.is_empty() { items } else { format!("{items}, {construction}") }
    }

    /// How large it is: a shrinker begins with the smallest.
    pub fn size(&self) -> (usize, usize, u32) {
        (self.layout.constructors(), self.layout.to_text().len(), self.items)
    }
}

/// The first of each trial.
pub fn distinct_hits<T: Borrow<Hit>>(hits: impl Iterator<Item = T>) -> Vec<T> {
    hits.fold(Vec::new(), |mut all, hit| {
        if !all.iter().any(|known: &T| known.borrow().is_same_trial(hit.borrow())) {
            all.push(hit);
        }
        all
    })
}

impl Finding {
    /// A hit that occurs without other cases before it.
    pub fn new(hit: Hit) -> Self {
        Self {
            cases: BTreeSet::from([hit.case]),
            hit,
            others: Vec::new(),
            is_complete: true,
            similar: Vec::new(),
            is_reproduced: true,
            is_known: false,
            is_uncertain: false,
            confirmation: Confirmation::default(),
        }
    }

    /// Whether one type shows it. Each fixed one has two cases.
    pub fn is_single(&self) -> bool {
        let number = |case: &u64| if *case < FIRST_FIXED { *case } else { *case / 2 };
        self.cases.iter().map(number).collect::<BTreeSet<_>>().len() == 1
    }

    /// All operations that fail with the layout.
    pub fn operations(&self) -> Vec<&'static Operation> {
        self.faults().map(|(operation, _)| operation).collect()
    }

    /// The same, and how.
    pub fn faults(&self) -> impl Iterator<Item = (&'static Operation, FaultKind)> {
        std::iter::once((self.hit.operation, self.hit.kind)).chain(self.others.iter().copied())
    }

    /// Whether it matters to a search with these operations. The first one makes the datatype for all others.
    pub fn is_of(&self, operations: &[&'static Operation]) -> bool {
        self.faults().any(|(operation, _)| operation.number() == 0 || operations.contains(&operation))
    }

    /// Operations other than its own that fail with its layout or a similar one, each once.
    pub fn other_operations(&self) -> Vec<&'static Operation> {
        let all = self.operations().into_iter().chain(self.similar.iter().flat_map(Self::operations));
        let mut others: Vec<_> = all.filter(|operation| *operation != self.hit.operation).collect();
        others.sort_by_key(|operation| operation.number());
        others.dedup();
        others
    }

    /// Whether a hit crashes at its place. A damaged heap is known for own operations only.
    pub fn crashes_as(&self, hit: &Hit) -> bool {
        let is_certain = !self.is_known || self.hit.place() != Some(DAMAGED_HEAP);
        self.hit.crashes_as(hit) && (is_certain || self.has_fault(hit))
    }

    /// Whether it explains another finding. The layout of one that needs other cases does not show its cause: it is explained by any of
    /// its part of an MPI, or that damages the heap, too.
    pub fn is_cause_of(&self, other: &Self) -> bool {
        let (own, hit) = (&self.hit, &other.hit);
        let damage_heap = [own, hit].iter().all(|hit| hit.place() == Some(DAMAGED_HEAP));
        !other.is_reproduced && (damage_heap || is_of_same_part(own, hit))
            || self.is_cause_by_layout_of(other)
    }

    /// Whether another finding crashes at the same place, or fails with a layout that contains its own, or that has the same unusual
    /// properties. If only this one is known, its operation must be the same or be listed: one that is missing was right or was not
    /// tried. Otherwise it is enough that both operations use the same part of an MPI.
    pub fn is_cause_by_layout_of(&self, other: &Self) -> bool {
        let (own, hit) = (&self.hit, &other.hit);
        // Two layouts of one operation that are not shrunk do not show different causes.
        if own.is_unfinished && hit.is_unfinished && self.is_known == other.is_known {
            let are_same = own.operation.section().name == hit.operation.section().name;
            if are_same && is_same_way(own.kind, hit.kind) {
                return true;
            }
        }
        if !self.is_reproduced {
            return !other.is_reproduced && own.operation == hit.operation;
        }
        if self.crashes_as(hit) {
            return true;
        }
        let is_tried = function(own).is_some() || self.is_known == other.is_known;
        let is_of_function = function(hit).is_none_or(|of| function(own) == Some(of));
        let is_in_same_way = self.may_have_fault(hit) || is_tried && is_of_same_part(own, hit);
        let is_usable = |of: &&Self| of.is_known == self.is_known && (of.is_known || !of.hit.is_unfinished);
        let similar = self.similar.iter().filter(is_usable);
        (is_of_function && is_in_same_way && is_alike(hit, own))
            || similar.into_iter().any(|similar| similar.is_cause_by_layout_of(other))
    }

    /// Whether both have one cause if few are new: they call one function, or one type has the outermost constructor of the other and the
    /// same part of an MPI is used. All parts copy data, and use bounds.
    pub fn is_of_one_change(&self, other: &Self) -> bool {
        let (own, hit) = (&self.hit, &other.hit);
        let has = |layout: &Layout, other: &Layout| {
            other.constructors() > 0 && constructors(layout).contains(other.constructor().name())
        };
        let parts = [own, hit].map(part_of_mpi);
        let shares_part = parts[0] == parts[1] || parts.contains(&COPIES) || parts.contains(&BOUNDS);
        let functions = [own, hit].map(|hit| hit.operation.call.or(function(hit)));
        self.is_reproduced
            && (own.kind == FaultKind::Hang) == (hit.kind == FaultKind::Hang)
            && (functions[0].is_some() && functions[0] == functions[1]
                || shares_part && (has(&own.layout, &hit.layout) || has(&hit.layout, &own.layout)))
    }

    /// Whether both are new, and of the same unusual message, or crash in the same function, or fail in the same way in a part of an MPI
    /// with little separate code.
    pub fn is_probably_same(&self, other: &Self) -> bool {
        let (own, hit) = (&self.hit, &other.hit);
        let of = |hit: &Hit| (hit.items, hit.construction);
        let is_message = own.layout.constructors() > 2 && own.layout == hit.layout && of(own) == of(hit);
        let is_place = own.place().is_some_and(|place| place != DAMAGED_HEAP) && own.place() == hit.place();
        let is_small = ["external32", "counts", "accumulate", "partitioned"].contains(&part_of_mpi(own));
        !self.is_known && !other.is_known && (is_message || is_place || is_small && is_of_same_part(own, hit))
    }

    /// Whether the layout of another finding fails with its operation, too, so that it has the same cause if
    /// the other operation is right with its own layout.
    pub fn may_be_cause_of(&self, other: &Self) -> bool {
        // All operations copy data, and use the type's bounds.
        let is_used =
            [COPIES, BOUNDS].contains(&part_of_mpi(&self.hit)) || is_of_same_part(&self.hit, &other.hit);
        is_used && other.may_have_fault(&self.hit) && is_alike(&other.hit, &self.hit)
    }

    /// Whether the operation of a hit fails with the layout in the same way, or the one of which it is another form.
    pub fn has_fault(&self, hit: &Hit) -> bool {
        self.faults().any(|(operation, kind)| is_form_of(hit, operation) && kind == hit.kind)
    }

    /// A search does not try other operations of a part that hangs.
    fn may_have_fault(&self, hit: &Hit) -> bool {
        self.faults().any(|(operation, kind)| is_form_of(hit, operation) && is_same_way(kind, hit.kind))
            || (hit.kind == FaultKind::Hang && is_of_same_part(&self.hit, hit))
    }
}

fn is_form_of(hit: &Hit, operation: &Operation) -> bool {
    [hit.operation, hit.operation.base(), hit.operation.section()].contains(&operation)
}

/// Whether a layout is of the class of a simpler one, or both have the same unusual properties.
fn is_alike(hit: &Hit, simplest: &Hit) -> bool {
    let (needed, there) = (Property::all(simplest), Property::all(hit));
    let mut common = needed.intersection(&there).filter(|property| **property != Property::Scattered);
    // One that was not shrunk to the end may need less than it has, but not what it lacks.
    let mut unusual = common.clone();
    let may_need_less = match (hit.is_unfinished, simplest.is_unfinished) {
        (false, false) => false,
        (true, false) => unusual.any(|property| needed.first() == Some(property)),
        (false, true) => unusual.any(|property| there.first() == Some(property)),
        (true, true) => unusual.next().is_some(),
    };
    hit.is_like(simplest)
        || may_need_less
        || match needed.first() {
            Some(first) => {
                there.first() == Some(first)
                    || needed.is_subset(&there)
                    || function(simplest).is_some() && function(hit).is_some() && common.next().is_some()
            }
            // An operation that fails with every message.
            None if simplest.layout.constructors() == 0 => true,
            // Plain messages.
            None => {
                there.is_empty() && simplest.layout.constructor().name() == hit.layout.constructor().name()
            }
        }
}

fn is_of_same_part(hit: &Hit, other: &Hit) -> bool {
    part_of_mpi(hit) == part_of_mpi(other) && is_same_way(hit.kind, other.kind)
}

/// Wrong bytes may be found, refused, or end the process.
fn is_same_way(kind: FaultKind, other: FaultKind) -> bool {
    let is_damage = |kind| kind != FaultKind::WrongValue && kind != FaultKind::Hang;
    kind == other || (is_damage(kind) && is_damage(other))
}

/// The function with a wrong result, of those that do not depend on the operation.
fn function(hit: &Hit) -> Option<&str> {
    match part_of_mpi(hit) {
        BOUNDS => hit.detail.split(' ').find(|word| word.starts_with("MPI_")),
        "life_cycle" => Some("MPI_Type_free"),
        _ => None,
    }
}

/// The parts that move data, and that compute bounds: all others use them.
const COPIES: &str = "copies";
const BOUNDS: &str = "bounds";

/// The part of an MPI that an operation uses. MPIs count elements in separate code.
fn part_of_mpi(hit: &Hit) -> &'static str {
    let operation = hit.operation;
    match (operation.section().name, operation.clause.split('.').next()) {
        ("bounds" | "contents" | "life_cycle", _) => operation.name,
        ("pack_external" | "unpack_external", _) => "external32",
        ("element_count" | "short_message" | "probe", _)
            if matches!(hit.kind, FaultKind::WrongValue | FaultKind::Crash) =>
        {
            "counts"
        }
        (name, _) if name.contains("accumulate") && hit.kind != FaultKind::Hang => "accumulate",
        (name, _) if name.starts_with("neighbor_") => "neighbours",
        ("partitioned", _) => "partitioned",
        (_, Some("12")) => "one-sided",
        (_, Some("14")) => "files",
        (_, Some("6" | "8")) => "collectives",
        _ => COPIES,
    }
}
