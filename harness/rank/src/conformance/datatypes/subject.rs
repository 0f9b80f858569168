//! The subject of a case: a layout as a datatype of this MPI, and what its bytes should be.

use std::cell::RefCell;
use std::rc::Rc;

use common::conformance::items::{Value, contiguous};
use common::conformance::{Case, Contents, Fault, FaultKind, Items, OPERATIONS};
use datatypes::{Construction, Constructor, Element, Layout};

use crate::checked::operations::Arguments;
use crate::checked::{CallError, Comm, Datatype, Recipe};

/// A layout as a datatype, with its data.
pub struct Subject {
    /// With the bounds that the MPI reports for it and its parts.
    pub layout: Layout,
    /// Whether some of these differ from those that this project computes.
    pub has_other_bounds: bool,
    pub datatype: Datatype,
    /// Items in a message.
    pub items: u32,
    /// The data of that many messages, one behind the other: several operations need a message for each rank or neighbour.
    data: RefCell<Vec<(usize, Rc<Items>)>>,
    /// A contiguous type with the same signature.
    pub dense: Dense,
    pub at_end: bool,
    pub construction: Construction,
    /// The number of the case whose data it has.
    pub origin: u64,
    /// Whether the case is one of many; otherwise it is tried because of one operation.
    pub is_generated: bool,
}

/// A contiguous description of some values.
pub struct Dense {
    pub datatype: Datatype,
    pub count: i32,
}

impl Dense {
    /// The values, one after the other without gaps.
    pub fn from_values(values: &[Value], comm: &Comm) -> Result<Self, CallError> {
        let Some((layout, count)) = contiguous(values) else {
            return Ok(Self { datatype: Datatype::predefined(Element::Byte), count: 0 });
        };
        Ok(Self { datatype: Recipe::new(&layout, comm)?.create()?, count: count as i32 })
    }
}

impl Subject {
    /// Creates the datatype, and compares size and bounds of each type in it: wrong ones become `faults`.
    /// `None` if its bounds cannot be used.
    pub fn new(case: &Case, comm: &Comm, faults: &mut Vec<Fault>) -> Result<Option<Self>, CallError> {
        let layout = &case.layout;
        let Some(adopted) = adopted(case, comm, faults)? else {
            return Ok(None);
        };
        let data = Items::from_layout(&adopted, case.items);
        let datatype = Recipe::with_construction(layout, case.construction, comm)?.create()?;
        let mut dense = Dense::from_values(&data.values, comm)?;
        if data.values.is_empty() {
            // Both ends have the same number of items; `nothing_broadcast` and `nothing_from_others` try other numbers.
            dense = Dense { datatype: datatype.duplicate()?, count: case.items as i32 };
        }
        Ok(Some(Self {
            has_other_bounds: adopted != *layout,
            layout: adopted,
            datatype,
            items: case.items,
            data: RefCell::new(vec![(1, Rc::new(data))]),
            dense,
            at_end: case.at_end,
            construction: case.construction,
            origin: case.origin,
            is_generated: case.is_generated,
        }))
    }

    /// The data of so many messages, one behind the other.
    pub fn data_of(&self, blocks: usize) -> Rc<Items> {
        let mut known = self.data.borrow_mut();
        if let Some((_, data)) = known.iter().find(|(number, _)| *number == blocks) {
            return Rc::clone(data);
        }
        let data = Rc::new(Items::from_layout(&self.layout, self.items * blocks as u32));
        known.push((blocks, Rc::clone(&data)));
        data
    }

    /// The same type once more, which can be freed.
    pub fn another(&self, comm: &Comm) -> Result<Datatype, CallError> {
        let made = self.recipe(comm)?.create()?;
        if matches!(self.layout.constructor(), Constructor::Named { .. }) {
            made.duplicate()
        } else {
            Ok(made)
        }
    }

    /// The elementary type of a file view of this type; `None` if the standard does not allow the view (MPI-4.1, sections 14.1.1 and 14.3):
    /// displacements must not be negative or descend, the type must be made of one elementary type, its holes and its extent must be
    /// multiples of it, and tiles must not overlap.
    pub fn viewed_as(&self) -> Option<Element> {
        let data = self.data_of(1);
        let element = self.layout.only_element()?;
        let size = element.size() as i64;
        let extent = self.layout.extent();
        let is_allowed = !data.values.is_empty()
            && data.values.iter().all(|value| value.displacement >= 0 && value.displacement % size == 0)
            && data.values.is_sorted_by_key(|value| value.displacement)
            && data.are_disjoint()
            && extent > 0
            && extent % size == 0
            && extent >= self.layout.true_extent()
            && self.layout.lower_bound() == 0;
        is_allowed.then_some(element)
    }

    /// The arguments that `MPI_Type_get_contents` should give; `None` if one does not fit.
    pub fn arguments(&self) -> Option<Arguments> {
        // Arguments of large counts need other functions.
        let contents = Contents::of_type(&self.layout, self.construction);
        (self.construction != Construction::Large).then(|| Arguments::new(&contents)).flatten()
    }

    /// Whether an operation that takes long is tried: on few types, which have short lists, also those without data.
    pub fn is_one_of_few(&self) -> bool {
        const ONE_IN: u64 = 40;
        const MOST_VALUES: usize = 2000;
        (!self.is_generated || self.origin.is_multiple_of(ONE_IN))
            && self.data_of(1).values.len().max(self.layout.to_text().len()) <= MOST_VALUES
    }

    /// The calls that make the datatype once more.
    fn recipe(&self, comm: &Comm) -> Result<Recipe, CallError> {
        Recipe::with_construction(&self.layout, self.construction, comm)
    }
}

/// The layout with the bounds that the MPI reports, also wrong ones: otherwise every later comparison would fail.
fn adopted(case: &Case, comm: &Comm, faults: &mut Vec<Fault>) -> Result<Option<Layout>, CallError> {
    /// No test has so much memory.
    const FARTHEST: i64 = 1 << 36;
    case.layout.with_bounds_by(&mut |layout, node| {
        let reported = Recipe::with_construction(layout, case.construction, comm)?.create()?.reported()?;
        if let Some(detail) = reported.fault(node) {
            let fault = Fault::new(case.number, &OPERATIONS[0], FaultKind::WrongValue, detail);
            let adopted = (node != layout).then(|| node.with_resized());
            faults.push(Fault { node: Some(layout.clone()), adopted, ..fault });
        }
        let (lower_bound, extent) = reported.bounds();
        let is_near = lower_bound.abs() <= FARTHEST && extent.abs() <= FARTHEST;
        Ok(is_near.then_some((lower_bound, extent)))
    })
}
