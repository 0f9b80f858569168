//! A hit: an operation on a case with a wrong result. A finding: the simplest layout with the same fault.

use std::collections::BTreeSet;

use common::conformance::{Case, Fault, FaultKind, OPERATIONS, Operation};
use datatypes::{Construction, Feature, Layout};

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
    /// How the datatype is made.
    pub construction: Construction,
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
    /// Findings of other layouts or operations that probably have the same cause.
    pub similar: Vec<Finding>,
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
    pub fn of(fault: &Fault, layout: &Layout, case: &Case) -> Option<Self> {
        let node = fault.node.as_ref().map(|text| text.parse::<Layout>()).transpose().ok()?;
        let adopted = fault.adopted.as_ref().map(|text| text.parse()).transpose().ok()?;
        Some(Self {
            case: fault.case,
            // Bounds are those of one item.
            items: if node.is_some() { 1 } else { case.items },
            layout: node.unwrap_or_else(|| layout.clone()),
            at_end: case.at_end,
            construction: case.construction,
            operation: Operation::find(&fault.operation).ok()?,
            kind: fault.kind,
            detail: fault.detail.clone(),
            adopted,
        })
    }

    /// A case whose fault is filled in by the caller.
    pub fn untried(case: &Case, layout: &Layout) -> Self {
        Self {
            case: case.number,
            layout: layout.clone(),
            items: case.items,
            at_end: case.at_end,
            construction: case.construction,
            operation: &OPERATIONS[0],
            kind: FaultKind::Error,
            detail: String::new(),
            adopted: None,
        }
    }

    /// Whether it is of the class of another one, so that both probably have one cause.
    pub fn is_like(&self, simplest: &Self) -> bool {
        (simplest.construction.is_usual() || simplest.construction == self.construction)
            && self.items >= simplest.items.min(2)
            && self.layout.contains(&simplest.layout)
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

impl Finding {
    /// The first case that failed.
    pub fn first_case(&self) -> u64 {
        self.similar.iter().map(|finding| finding.hit.case).fold(self.hit.case, u64::min)
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
        let mut others: Vec<&'static Operation> = Vec::new();
        let all = self.operations().into_iter().chain(self.similar.iter().flat_map(Self::operations));
        for operation in all.filter(|operation| *operation != self.hit.operation) {
            if !others.contains(&operation) {
                others.push(operation);
            }
        }
        others
    }

    /// Whether its layout or a similar one has this fault.
    fn has_fault(&self, fault: (&'static Operation, FaultKind)) -> bool {
        self.faults().any(|own| own == fault) || self.similar.iter().any(|similar| similar.has_fault(fault))
    }

    /// Whether it probably has the same cause as another one: operations of the same part of an MPI, on layouts of which one contains
    /// the other, or whose places and bounds have the same properties.
    pub fn is_similar(&self, other: &Self) -> bool {
        let (own, of_other) = (&self.hit, &other.hit);
        if !self.is_reproduced || !other.is_reproduced {
            return self.is_reproduced == other.is_reproduced;
        }
        if part_of_mpi(own) != part_of_mpi(of_other) {
            // Processes die in different places with one layout.
            let is_known_to_fail = |finding: &Self, hit: &Hit| finding.has_fault((hit.operation, hit.kind));
            return own.layout == of_other.layout
                && (own.kind != FaultKind::Crash || own.detail == of_other.detail)
                && (is_known_to_fail(self, of_other) || is_known_to_fail(other, own));
        }
        let are_damage = is_damage(own.kind) && is_damage(of_other.kind);
        match part_of_mpi(own) {
            // The same function has a wrong result.
            "bounds" => {
                return own.detail.split(' ').find(is_function)
                    == of_other.detail.split(' ').find(is_function);
            }
            // Partitions of an MPI are at wrong places, or they are not.
            "partitioned" if are_damage => return true,
            // These copy by a list of blocks that the part makes of the type: it depends on places, not on constructors.
            "files" | "collectives" | "one-sided" if are_damage => {
                return FoundPlaces::of(own) == FoundPlaces::of(of_other);
            }
            _ => {}
        }
        let contained = [own.layout.contains(&of_other.layout), of_other.layout.contains(&own.layout)];
        match own.kind == of_other.kind {
            true => contained.contains(&true) || Properties::of(own) == Properties::of(of_other),
            false => own.layout == of_other.layout || contained == [true; 2],
        }
    }
}

/// The part of an MPI that an operation uses. MPIs count elements in separate code.
fn part_of_mpi(hit: &Hit) -> &'static str {
    let operation = hit.operation;
    match (operation.name, operation.clause.split('.').next()) {
        ("equivalent", _) if hit.kind == FaultKind::WrongValue => "bounds",
        ("bounds" | "contents" | "life_cycle", _) => operation.name,
        ("pack_external" | "unpack_external", _) => "external32",
        ("element_count" | "short_message" | "probe", _) => "counts",
        ("accumulate" | "get_accumulate", _) => "accumulate",
        ("partitioned", _) => "partitioned",
        (_, Some("12")) => "one-sided",
        (_, Some("14")) => "files",
        (_, Some("6" | "8")) => "collectives",
        _ => "copies",
    }
}

/// Whether a word is the name of a function.
fn is_function(word: &&str) -> bool {
    word.starts_with("MPI_")
}

/// Wrong bytes: the process may find them, refuse them or die.
fn is_damage(kind: FaultKind) -> bool {
    kind != FaultKind::WrongValue && kind != FaultKind::Hang
}

/// Places of data and bounds.
#[derive(PartialEq, Eq)]
struct FoundPlaces {
    has_data: bool,
    first_byte: i64,
    has_lower_bound: bool,
    /// The extent relative to the data.
    extent: (i64, std::cmp::Ordering),
    has_empty_parts: bool,
}

impl FoundPlaces {
    fn of(hit: &Hit) -> Self {
        let layout = &hit.layout;
        let empty = [Feature::NoBlock, Feature::EmptyBlock, Feature::EmptyChild];
        Self {
            has_data: layout.size() > 0,
            first_byte: layout.true_lower_bound().signum(),
            has_lower_bound: layout.lower_bound() != 0,
            extent: (layout.extent().signum(), layout.extent().cmp(&layout.true_extent())),
            has_empty_parts: layout.all_features().iter().any(|feature| empty.contains(feature)),
        }
    }
}

/// Properties of places and bounds that implementations get wrong, whatever the constructors are.
#[derive(PartialEq, Eq)]
struct Properties {
    places: FoundPlaces,
    features: BTreeSet<Feature>,
    has_several_items: bool,
}

impl Properties {
    fn of(hit: &Hit) -> Self {
        let layout = &hit.layout;
        // These depend on the constructors, not on the data.
        let is_of_data = |feature: &Feature| {
            !matches!(feature, Feature::SeveralBlocks | Feature::LongBlock | Feature::NegativeDisplacement)
        };
        Self {
            places: FoundPlaces::of(hit),
            features: layout.all_features().into_iter().filter(is_of_data).collect(),
            has_several_items: hit.items > 1,
        }
    }
}
