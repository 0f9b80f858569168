//! From a [`Layout`] to an `MPI_Datatype`, constructor by constructor.
//!
//! A [`Recipe`] contains the arguments in MPI's form, so that the time of creation is only MPI's work: constructors, commit,
//! and freeing the intermediate types. A child that several parents share is created once, as in an application.

use std::ffi::c_int;

use common::conformance::contents::Integer;
use common::conformance::{Combiner, Contents};
use datatypes::{Construction, Constructor, Element, Layout};
use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::error::{check, int};
use super::large::{self, Count, inferred, small};
use super::threads::OneThread;
use super::{CallError, Comm};

/// A committed datatype. Predefined types are never freed; others by [`Datatype::free`].
pub struct Datatype {
    raw: MPI_Datatype,
    owned: bool,
    _of_one: OneThread,
}

impl Datatype {
    pub fn predefined(element: Element) -> Self {
        Self { raw: predefined(element), owned: false, _of_one: OneThread::default() }
    }

    /// `MPI_PACKED`.
    pub fn packed() -> Self {
        // SAFETY: a constant of the library.
        Self { raw: unsafe { ffi::RSMPI_PACKED }, owned: false, _of_one: OneThread::default() }
    }

    pub(super) fn raw(&self) -> MPI_Datatype {
        self.raw
    }

    /// A committed type that a call has created.
    ///
    /// # Safety
    /// The type must be live, and freed by nothing else.
    pub(super) unsafe fn owned(raw: MPI_Datatype) -> Self {
        Self { raw, owned: true, _of_one: OneThread::default() }
    }

    /// The handle, which the caller frees.
    pub fn into_raw(mut self) -> MPI_Datatype {
        self.owned = false;
        self.raw
    }

    /// `MPI_Type_free`, with its return code.
    pub fn free(mut self) -> Result<(), CallError> {
        let owned = std::mem::replace(&mut self.owned, false);
        if owned { free(&mut self.raw) } else { Ok(()) }
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if self.owned
            && let Err(error) = free(&mut self.raw)
        {
            eprintln!("{error}");
        }
    }
}

fn free(raw: &mut MPI_Datatype) -> Result<(), CallError> {
    // SAFETY: the caller owns the live handle and does not use it afterwards.
    unsafe { call!(MPI_Type_free(raw)) }
}

fn predefined(element: Element) -> MPI_Datatype {
    // SAFETY: constants of the library and of constants.c.
    unsafe {
        match element {
            Element::Byte => ffi::RSMPI_BYTE,
            Element::Char => ffi::RSMPI_CHAR,
            Element::Int8 => ffi::RSMPI_INT8_T,
            Element::Int16 => ffi::RSMPI_INT16_T,
            Element::Int32 => ffi::RSMPI_INT32_T,
            Element::Int64 => ffi::RSMPI_INT64_T,
            Element::Uint8 => ffi::RSMPI_UINT8_T,
            Element::Uint16 => ffi::RSMPI_UINT16_T,
            Element::Uint32 => ffi::RSMPI_UINT32_T,
            Element::Uint64 => ffi::RSMPI_UINT64_T,
            Element::Float => ffi::RSMPI_FLOAT,
            Element::Double => ffi::RSMPI_DOUBLE,
            Element::FloatComplex => ffi::RSMPI_FLOAT_COMPLEX,
            Element::DoubleComplex => ffi::RSMPI_DOUBLE_COMPLEX,
            Element::LongDouble => ffi::RSMPI_LONG_DOUBLE,
            Element::LongDoubleComplex => ffi::RSMPI_LONG_DOUBLE_COMPLEX,
            Element::Bool => ffi::RSMPI_C_BOOL,
            Element::Half => half().unwrap_or(ffi::RSMPI_DATATYPE_NULL),
            other => unreachable!("{other} has no MPI type here"),
        }
    }
}

/// The type of half precision, if this MPI has it: MPICH's `MPIX_C_FLOAT16`, Open MPI's `MPIX_SHORT_FLOAT`.
/// Both have a constant without it, too, the size of which is another.
fn half() -> Option<MPI_Datatype> {
    // SAFETY: a function of constants.c without arguments.
    let half = unsafe { ffi::RSMPI_half() };
    let mut bytes = 0;
    // SAFETY: comparing or asking for the size of a constant of the library; the pointer lives through the call.
    let is_known =
        unsafe { half != ffi::RSMPI_DATATYPE_NULL && call!(MPI_Type_size(half, &mut bytes)).is_ok() };
    (is_known && bytes as u64 == Element::Half.size()).then_some(half)
}

/// Refuses a type that this MPI lacks. The communicator proves that MPI is initialised.
pub fn check_type(element: Element, _: &Comm) -> Result<(), CallError> {
    if element == Element::Half && half().is_none() { Err(CallError::NoType { element }) } else { Ok(()) }
}

/// Intermediate types by number, with whether they are ours to free; freed on every return path.
struct Types(Vec<(MPI_Datatype, bool)>);

/// How a type is obtained.
enum Step {
    Predefined(MPI_Datatype),
    Made(ConstructorCall),
}

/// A constructor with its arguments in MPI's form.
struct ConstructorCall {
    combiner: Combiner,
    /// All integers, if they fit; in a call for large counts those that the standard has as an `int`, at their places.
    integers: Vec<c_int>,
    addresses: Vec<MPI_Aint>,
    /// The steps that make the types of its data.
    children: Vec<usize>,
    large: Option<LargeCall>,
}

/// A function whose C interface follows from its name.
type LargeFunction = unsafe extern "C" fn();

/// The function with the suffix `_c`, which takes counts and addresses as [`Count`].
struct LargeCall {
    function: LargeFunction,
    counts: Vec<Count>,
    addresses: Vec<Count>,
}

/// The constructor calls that create a datatype, in order.
pub struct Recipe {
    steps: Vec<Step>,
    construction: Construction,
    _of_one: OneThread,
}

impl Recipe {
    /// Converts the arguments; fails if one does not fit in the C interface. The communicator proves that MPI
    /// is initialised, and that this thread initialised it.
    pub fn new(layout: &Layout, comm: &Comm) -> Result<Self, CallError> {
        Self::with_construction(layout, Construction::Usual, comm)
    }

    /// The same for another construction.
    pub fn with_construction(
        layout: &Layout,
        construction: Construction,
        comm: &Comm,
    ) -> Result<Self, CallError> {
        if layout.has(&|element| element == Element::Half) {
            check_type(Element::Half, comm)?;
        }
        let mut recipe = Self { steps: Vec::new(), construction, _of_one: OneThread::default() };
        recipe.add(layout, &mut Vec::new())?;
        Ok(recipe)
    }

    /// Adds a layout after its children, unless an equal one was added before; returns its number.
    fn add<'a>(
        &mut self,
        layout: &'a Layout,
        seen: &mut Vec<(&'a Layout, usize)>,
    ) -> Result<usize, CallError> {
        if let Some((_, number)) = seen.iter().find(|(earlier, _)| *earlier == layout) {
            return Ok(*number);
        }
        let children: Vec<usize> = layout
            .constructor()
            .children()
            .iter()
            .map(|child| self.add(child, seen))
            .collect::<Result<_, _>>()?;
        self.steps.push(match layout.constructor() {
            Constructor::Named { element } => Step::Predefined(predefined(*element)),
            _ => {
                let is_large = self.construction == Construction::Large;
                Step::Made(ConstructorCall::new(&Contents::from_layout(layout), children, is_large)?)
            }
        });
        seen.push((layout, self.steps.len() - 1));
        Ok(self.steps.len() - 1)
    }

    /// Creates all types in order, commits the last and frees the intermediate ones.
    pub fn create(&self) -> Result<Datatype, CallError> {
        let mut types = Types(Vec::with_capacity(self.steps.len()));
        for step in &self.steps {
            // SAFETY: a null handle to be overwritten.
            let mut made = unsafe { ffi::RSMPI_DATATYPE_NULL };
            match step {
                Step::Predefined(raw) => made = *raw,
                Step::Made(call) => call.make(&types, &mut made)?,
            }
            if self.construction == Construction::Duplicated && matches!(step, Step::Made(_)) {
                // SAFETY: a null handle to be overwritten.
                let mut copy = unsafe { ffi::RSMPI_DATATYPE_NULL };
                // SAFETY: a live type of this step; the pointer lives through the call.
                let duplicated = unsafe { call!(MPI_Type_dup(made, &mut copy)) };
                free(&mut made)?;
                duplicated?;
                made = copy;
            }
            types.0.push((made, matches!(step, Step::Made(_))));
        }
        let (raw, owned) = types.0.pop().expect("a layout has a constructor");
        let mut datatype = Datatype { raw, owned, _of_one: OneThread::default() };
        if owned {
            // SAFETY: a live handle that `datatype` owns.
            unsafe { call!(MPI_Type_commit(&mut datatype.raw)) }?;
        }
        types.free()?;
        Ok(datatype)
    }
}

impl Types {
    fn free(mut self) -> Result<(), CallError> {
        std::mem::take(&mut self.0).into_iter().filter(|t| t.1).try_for_each(|(mut raw, _)| free(&mut raw))
    }
}

impl Drop for Types {
    fn drop(&mut self) {
        for (raw, _) in self.0.iter_mut().filter(|t| t.1) {
            // Only reached after an error, and that is the one to report.
            let _ = free(raw);
        }
    }
}

/// The functions of a constructor: the usual one, and that for large counts. Then the names of its integers:
/// numbers, and lists of equal length.
const fn interface(combiner: Combiner) -> ([&'static str; 2], &'static [&'static str]) {
    macro_rules! both {
        ($name:literal, $($argument:literal)*) => {
            ([$name, concat!($name, "_c")], &[$($argument),*])
        };
    }
    match combiner {
        Combiner::Contiguous => both!("MPI_Type_contiguous", "count"),
        Combiner::Vector => both!("MPI_Type_vector", "count" "blocklength" "stride"),
        Combiner::Hvector => both!("MPI_Type_create_hvector", "count" "blocklength"),
        Combiner::Indexed => {
            both!("MPI_Type_indexed", "count" "array_of_blocklengths" "array_of_displacements")
        }
        Combiner::Hindexed => both!("MPI_Type_create_hindexed", "count" "array_of_blocklengths"),
        Combiner::IndexedBlock => {
            both!("MPI_Type_create_indexed_block", "count" "blocklength" "array_of_displacements")
        }
        Combiner::HindexedBlock => both!("MPI_Type_create_hindexed_block", "count" "blocklength"),
        Combiner::Struct => both!("MPI_Type_create_struct", "count" "array_of_blocklengths"),
        Combiner::Subarray => both!(
            "MPI_Type_create_subarray", "ndims" "array_of_sizes" "array_of_subsizes" "array_of_starts"
        ),
        Combiner::Darray => both!(
            "MPI_Type_create_darray", "size" "rank" "ndims"
            "array_of_gsizes" "array_of_distribs" "array_of_dargs" "array_of_psizes"
        ),
        Combiner::Resized => both!("MPI_Type_create_resized",),
        Combiner::Named | Combiner::Dup => panic!("no constructor of a layout"),
    }
}

/// Calls the constructor: `$call` a function with the arguments, where `$n` and `$a` are its counts and
/// addresses, and `$i` its integers of type `int`.
macro_rules! construct {
    ($call:ident, $of:expr, $types:expr, $new:expr, $i:expr, $n:expr, $a:expr) => {{
        let (i, n, a, new): (&[c_int], &[_], &[_], *mut MPI_Datatype) = ($i, $n, $a, $new);
        let of = || $types.0[$of.children[0]].0;
        // The start of the k-th list of as many values as the first one has, behind `from` integers.
        let list = |from: usize, k: usize, length: usize| n[from + k * length..].as_ptr();
        match $of.combiner {
            Combiner::Contiguous => $call!(MPI_Type_contiguous(n[0], of(), new)),
            Combiner::Vector => $call!(MPI_Type_vector(n[0], n[1], n[2], of(), new)),
            Combiner::Hvector => $call!(MPI_Type_create_hvector(n[0], n[1], a[0], of(), new)),
            Combiner::Indexed => {
                let length = n[0] as usize;
                $call!(MPI_Type_indexed(n[0], list(1, 0, length), list(1, 1, length), of(), new))
            }
            Combiner::Hindexed => {
                $call!(MPI_Type_create_hindexed(n[0], list(1, 0, 0), a.as_ptr(), of(), new))
            }
            Combiner::IndexedBlock => {
                $call!(MPI_Type_create_indexed_block(n[0], n[1], list(2, 0, 0), of(), new))
            }
            Combiner::HindexedBlock => {
                $call!(MPI_Type_create_hindexed_block(n[0], n[1], a.as_ptr(), of(), new))
            }
            Combiner::Struct => {
                let all: Vec<MPI_Datatype> = $of.children.iter().map(|&child| $types.0[child].0).collect();
                $call!(MPI_Type_create_struct(n[0], list(1, 0, 0), a.as_ptr(), all.as_ptr(), new))
            }
            Combiner::Subarray => {
                let (dims, last) = (i[0] as usize, i[i.len() - 1]);
                let [sizes, subsizes, starts] = [0, 1, 2].map(|k| list(1, k, dims));
                $call!(MPI_Type_create_subarray(i[0], sizes, subsizes, starts, last, of(), new))
            }
            Combiner::Darray => {
                let (dims, last) = (i[2] as usize, i[i.len() - 1]);
                let [kinds, dargs, ranks] = [1, 2, 3].map(|k| i[3 + k * dims..].as_ptr());
                let sizes = list(3, 0, dims);
                $call!(MPI_Type_create_darray(i[0], i[1], i[2], sizes, kinds, dargs, ranks, last, of(), new))
            }
            Combiner::Resized => $call!(MPI_Type_create_resized(of(), a[0], a[1], new)),
            Combiner::Named | Combiner::Dup => unreachable!("refused by `new`"),
        }
    }};
}

impl ConstructorCall {
    /// Converts the arguments; `is_large` asks for the function for large counts.
    fn new(contents: &Contents, children: Vec<usize>, is_large: bool) -> Result<Self, CallError> {
        let Contents { combiner, integers, addresses, .. } = contents;
        let (combiner, ([call, large], names)) = (*combiner, interface(*combiner));
        let numbers = names.iter().take_while(|name| !name.starts_with("array_of_")).count();
        let length = (integers.len() - numbers) / (names.len() - numbers).max(1);
        let name = |place: usize| match place.checked_sub(numbers) {
            Some(behind) => names.get(numbers + behind / length.max(1)).copied().unwrap_or("order"),
            None => names[place],
        };
        let fitting = |(place, integer): (usize, &Integer)| match integer {
            Integer::Number(value) => small(call, name(place), *value as Count),
            Integer::Constant(constant) => int(call, constant, number(integer)),
        };
        let refused = match integers.iter().enumerate().map(fitting).collect() {
            Ok(integers) if !is_large => {
                let addresses = addresses.iter().map(|&address| address as MPI_Aint).collect();
                return Ok(Self { combiner, integers, addresses, children, large: None });
            }
            refused => refused.err().unwrap_or(CallError::TooLarge { call, argument: "all", value: 0 }),
        };
        let counts: Vec<Count> = integers.iter().map(number).collect();
        let integer = |(place, &count): (usize, &Count)| match combiner {
            Combiner::Darray if name(place) != "array_of_gsizes" => int(call, name(place), count),
            // Only the number of dimensions and constants are used.
            _ => Ok(c_int::try_from(count).unwrap_or(c_int::MAX)),
        };
        let integers = counts.iter().enumerate().map(integer).collect::<Result<_, _>>()?;
        // SAFETY: a function of the standard with this name (MPI-4.1, section 5.1.2 and the following).
        let function = unsafe { large::function(large, refused) }?;
        let addresses = addresses.iter().map(|&address| address as Count).collect();
        let large = Some(LargeCall { function, counts, addresses });
        Ok(Self { combiner, integers, addresses: Vec::new(), children, large })
    }

    /// Makes the type of those made before.
    fn make(&self, types: &Types, new: &mut MPI_Datatype) -> Result<(), CallError> {
        let (i, a) = (&self.integers[..], &self.addresses[..]);
        // SAFETY: children are live types of earlier steps; lists have the lengths that are passed, which
        // `Layout` has checked; the new type lives through the call.
        unsafe {
            let Some(LargeCall { function, counts, addresses }) = &self.large else {
                return construct!(call, self, types, new, i, i, a);
            };
            macro_rules! call_function {
                ($name:ident($($argument:expr),*)) => {{
                    let typed: unsafe extern "C" fn($(inferred!($argument)),*) -> c_int =
                        std::mem::transmute(*function);
                    check(concat!(stringify!($name), "_c"), typed($($argument),*))
                }};
            }
            construct!(call_function, self, types, new, i, counts, addresses)
        }
    }
}

/// The number of an integer argument in this MPI.
pub(super) fn number(integer: &Integer) -> Count {
    match integer {
        Integer::Number(number) => *number as Count,
        Integer::Constant(name) => {
            let known = CONSTANTS.iter().find(|(_, known)| known == name);
            known.expect("all constants of layouts are listed").0.into()
        }
    }
}

/// The constants among integer arguments: orders of arrays, and distributions.
const CONSTANTS: [(c_int, &str); 6] = [
    (ffi::MPI_ORDER_C as c_int, "MPI_ORDER_C"),
    (ffi::MPI_ORDER_FORTRAN as c_int, "MPI_ORDER_FORTRAN"),
    (ffi::MPI_DISTRIBUTE_BLOCK as c_int, "MPI_DISTRIBUTE_BLOCK"),
    (ffi::MPI_DISTRIBUTE_CYCLIC as c_int, "MPI_DISTRIBUTE_CYCLIC"),
    (ffi::MPI_DISTRIBUTE_NONE as c_int, "MPI_DISTRIBUTE_NONE"),
    (ffi::MPI_DISTRIBUTE_DFLT_DARG as c_int, "MPI_DISTRIBUTE_DFLT_DARG"),
];
