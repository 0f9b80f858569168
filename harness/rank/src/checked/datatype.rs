//! From a [`Layout`] to an `MPI_Datatype`, constructor by constructor.
//!
//! A [`Recipe`] contains the arguments in MPI's form, so that the time of creation is only MPI's work: constructors, commit,
//! and freeing the intermediate types. A child that several parents share is created once, as in an application.

use std::ffi::c_int;

use datatypes::{Construction, Constructor, DistributedArray, Distribution, Element, Layout, Order};
use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::error::{check, int};
use super::large::{self, Count, small};
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

/// The type of half precision, if this MPI has it: MPICH's `MPIX_C_FLOAT16`, Open MPI's `MPIX_SHORT_FLOAT`. Both have a constant
/// without it, too, the size of which is another.
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

/// A constructor with its arguments, applied to types from earlier steps.
type Make = dyn Fn(&Types, &mut MPI_Datatype) -> Result<(), CallError>;

/// How a type is obtained.
enum Step {
    /// Predefined.
    Named(MPI_Datatype),
    /// By a constructor.
    Made(Box<Make>),
}

/// The constructor calls that create a datatype, in order.
pub struct Recipe {
    steps: Vec<Step>,
    construction: Construction,
}

impl Recipe {
    /// Converts the arguments; fails if one does not fit in the C interface. The communicator proves that MPI is
    /// initialised, and that this thread initialised it.
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
        let mut recipe = Self { steps: Vec::new(), construction };
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
        let step = step(layout.constructor(), children, self.construction == Construction::Large)?;
        self.steps.push(step);
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
                Step::Named(raw) => made = *raw,
                Step::Made(make) => make(&types, &mut made)?,
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

/// An argument of a constructor in MPI's form, as a C `int` if it is a count or a place in extents.
macro_rules! argument {
    (int, $call:expr, $name:ident) => {
        small($call, stringify!($name), *$name)?
    };
    (ints, $call:expr, $name:ident) => {{
        let name = concat!("array_of_", stringify!($name));
        $name.iter().map(|&value| small($call, name, value)).collect::<Result<Vec<c_int>, _>>()?
    }};
    (address, $call:expr, $name:ident) => {
        *$name as MPI_Aint
    };
    (addresses, $call:expr, $name:ident) => {
        $name.iter().map(|&value| value as MPI_Aint).collect::<Vec<_>>()
    };
    (constant, $call:expr, $name:ident) => {
        $name
    };
}

/// The same for functions with the suffix `_c`, and its C type.
macro_rules! large_argument {
    (int, $name:ident) => {
        *$name as Count
    };
    (ints, $name:ident) => {
        $name.iter().map(|&value| value as Count).collect::<Vec<_>>()
    };
    (address, $name:ident) => {
        *$name as Count
    };
    (addresses, $name:ident) => {
        large_argument!(ints, $name)
    };
    (constant, $name:ident) => {
        $name
    };
}
macro_rules! large_type {
    (ints) => { *const Count };
    (addresses) => { *const Count };
    (constant) => { c_int };
    ($kind:ident) => { Count };
}

/// The same in the form that is passed to C.
macro_rules! passed {
    (ints, $name:ident) => {
        $name.as_ptr()
    };
    (addresses, $name:ident) => {
        $name.as_ptr()
    };
    ($kind:ident, $name:ident) => {
        $name
    };
}

/// The step that calls a constructor with these arguments, preceded by the length of lists, if there are any, and
/// followed by the `child` and the new type. With an argument beyond `int` it calls the function with the suffix `_c`, whose length of
/// lists has the given type.
macro_rules! step {
    (($child:ident, $is_large:ident), $function:ident, $large:literal, ($([$list:ident: $length:ty],)? $($name:ident: $kind:ident),*)) => {{
        let small = (|| {
            refuse_if($is_large, stringify!($function))?;
            $(let $name = argument!($kind, stringify!($function), $name);)*
            Ok(Step::Made(Box::new(move |types: &Types, new: &mut MPI_Datatype| {
                // SAFETY: the child is a live type of an earlier step; every list is passed with its own length, and lists that belong
                // together are equally long, which `Layout` has checked; the new type lives through the call.
                unsafe {
                    call!($function(
                        $($list.len() as c_int,)? $(passed!($kind, $name),)* types.0[$child].0, new
                    ))
                }
            })))
        })();
        let refused = match small {
            Ok(step) => return Ok(step),
            Err(refused) => refused,
        };
        type Function = unsafe extern "C" fn(
            $($length,)? $(large_type!($kind),)* MPI_Datatype, *mut MPI_Datatype
        ) -> c_int;
        // SAFETY: the type of the function with this name (MPI-4.1, section 5.1.2 and the following).
        let function: Function = unsafe { large::function($large, refused) }?;
        $(let $name = large_argument!($kind, $name);)*
        Step::Made(Box::new(move |types: &Types, new: &mut MPI_Datatype| {
            // SAFETY: as above.
            check($large, unsafe {
                function($($list.len() as $length,)? $(passed!($kind, $name),)* types.0[$child].0, new)
            })
        }))
    }};
}

/// Refuses arguments of type `int`, so that the function with the suffix `_c` is called.
fn refuse_if(is_large: bool, call: &'static str) -> Result<(), CallError> {
    if is_large { Err(CallError::TooLarge { call, argument: "all", value: 0 }) } else { Ok(()) }
}

fn step(constructor: &Constructor, children: Vec<usize>, is_large: bool) -> Result<Step, CallError> {
    let child = children.first().copied().unwrap_or_default();
    Ok(match constructor {
        Constructor::Named { element } => Step::Named(predefined(*element)),
        Constructor::Contiguous { count, .. } => {
            step!((child, is_large), MPI_Type_contiguous, "MPI_Type_contiguous_c", (count: int))
        }
        Constructor::Vector { count, blocklength, stride, .. } => {
            step!((child, is_large), MPI_Type_vector, "MPI_Type_vector_c", (count: int, blocklength: int, stride: int))
        }
        Constructor::Hvector { count, blocklength, stride_bytes, .. } => step!(
            (child, is_large),
            MPI_Type_create_hvector,
            "MPI_Type_create_hvector_c",
            (count: int, blocklength: int, stride_bytes: address)
        ),
        Constructor::Indexed { blocklengths, displacements, .. } => step!(
            (child, is_large),
            MPI_Type_indexed,
            "MPI_Type_indexed_c",
            ([displacements: Count], blocklengths: ints, displacements: ints)
        ),
        Constructor::Hindexed { blocklengths, displacements_bytes: places, .. } => step!(
            (child, is_large),
            MPI_Type_create_hindexed,
            "MPI_Type_create_hindexed_c",
            ([places: Count], blocklengths: ints, places: addresses)
        ),
        Constructor::IndexedBlock { blocklength, displacements: places, .. } => step!(
            (child, is_large),
            MPI_Type_create_indexed_block,
            "MPI_Type_create_indexed_block_c",
            ([places: Count], blocklength: int, places: ints)
        ),
        Constructor::HindexedBlock { blocklength, displacements_bytes: places, .. } => step!(
            (child, is_large),
            MPI_Type_create_hindexed_block,
            "MPI_Type_create_hindexed_block_c",
            ([places: Count], blocklength: int, places: addresses)
        ),
        Constructor::Subarray { sizes, subsizes, starts, order, .. } => {
            let order = order_constant(*order);
            step!(
                (child, is_large),
                MPI_Type_create_subarray,
                "MPI_Type_create_subarray_c",
                ([sizes: c_int], sizes: ints, subsizes: ints, starts: ints, order: constant)
            )
        }
        Constructor::Darray { array, .. } => return darray(array, child, is_large),
        Constructor::Struct { blocklengths, displacements_bytes, .. } => {
            return structure(blocklengths, displacements_bytes, children, is_large);
        }
        Constructor::Resized { lower_bound, extent, .. } => resized(*lower_bound, *extent, child, is_large)?,
    })
}

fn structure(
    blocklengths: &[i64],
    displacements_bytes: &[i64],
    children: Vec<usize>,
    is_large: bool,
) -> Result<Step, CallError> {
    let types_of = move |types: &Types| -> Vec<MPI_Datatype> {
        children.iter().map(|&child| types.0[child].0).collect()
    };
    let lengths = || {
        refuse_if(is_large, "MPI_Type_create_struct")?;
        Ok(argument!(ints, "MPI_Type_create_struct", blocklengths))
    };
    let refused = match lengths() {
        Ok(lengths) => {
            let places = argument!(addresses, "MPI_Type_create_struct", displacements_bytes);
            return Ok(Step::Made(Box::new(move |types, new| {
                let types = types_of(types);
                let (count, lengths, places) = (types.len() as c_int, lengths.as_ptr(), places.as_ptr());
                // SAFETY: live types of earlier steps, and lists that are equally long; the new type lives through the call.
                unsafe { call!(MPI_Type_create_struct(count, lengths, places, types.as_ptr(), new)) }
            })));
        }
        Err(refused) => refused,
    };
    const LARGE: &str = "MPI_Type_create_struct_c";
    type Function = unsafe extern "C" fn(
        Count,
        *const Count,
        *const Count,
        *const MPI_Datatype,
        *mut MPI_Datatype,
    ) -> c_int;
    // SAFETY: the type of the function (MPI-4.1, section 5.1.2).
    let function: Function = unsafe { large::function(LARGE, refused) }?;
    let (lengths, places) = (blocklengths.to_vec(), displacements_bytes.to_vec());
    Ok(Step::Made(Box::new(move |types, new| {
        let types = types_of(types);
        let (count, lengths, places) = (types.len() as Count, lengths.as_ptr(), places.as_ptr());
        // SAFETY: as above.
        check(LARGE, unsafe { function(count, lengths, places, types.as_ptr(), new) })
    })))
}

/// The child comes first, unlike in other constructors.
fn resized(lower_bound: i64, extent: i64, child: usize, is_large: bool) -> Result<Step, CallError> {
    const CALL: &str = "MPI_Type_create_resized";
    const LARGE: &str = "MPI_Type_create_resized_c";
    let Err(refused) = refuse_if(is_large, CALL) else {
        let (lower_bound, extent) = (lower_bound as MPI_Aint, extent as MPI_Aint);
        return Ok(Step::Made(Box::new(move |types, new| {
            // SAFETY: as above.
            unsafe { call!(MPI_Type_create_resized(types.0[child].0, lower_bound, extent, new)) }
        })));
    };
    type Function = unsafe extern "C" fn(MPI_Datatype, Count, Count, *mut MPI_Datatype) -> c_int;
    // SAFETY: the type of the function (MPI-4.1, section 5.1.7).
    let function: Function = unsafe { large::function(LARGE, refused) }?;
    Ok(Step::Made(Box::new(move |types, new| {
        // SAFETY: as above.
        check(LARGE, unsafe { function(types.0[child].0, lower_bound as Count, extent as Count, new) })
    })))
}

fn darray(array: &DistributedArray, child: usize, is_large: bool) -> Result<Step, CallError> {
    const CALL: &str = "MPI_Type_create_darray";
    const LARGE: &str = "MPI_Type_create_darray_c";
    let DistributedArray { size, rank, gsizes, distribs, dargs, psizes, order } = array;
    let (size, rank) = (int(CALL, "size", *size)?, int(CALL, "rank", *rank)?);
    let distribs: Vec<c_int> = distribs.iter().copied().map(distribution_constant).collect();
    let default = i64::from(ffi::MPI_DISTRIBUTE_DFLT_DARG);
    let dargs: Vec<i64> = dargs.iter().map(|darg| darg.unwrap_or(default)).collect();
    let (dargs, psizes) = (argument!(ints, CALL, dargs), argument!(ints, CALL, psizes));
    let (ndims, order) = (gsizes.len() as c_int, order_constant(*order));
    let sizes = || {
        refuse_if(is_large, CALL)?;
        Ok(argument!(ints, CALL, gsizes))
    };
    let refused = match sizes() {
        Ok(gsizes) => {
            return Ok(Step::Made(Box::new(move |types, new| {
                let (gsizes, distribs) = (gsizes.as_ptr(), distribs.as_ptr());
                let (dargs, psizes, of) = (dargs.as_ptr(), psizes.as_ptr(), types.0[child].0);
                // SAFETY: a live type of an earlier step, and lists of `ndims` values; the new type lives through the call.
                unsafe {
                    call!(MPI_Type_create_darray(
                        size, rank, ndims, gsizes, distribs, dargs, psizes, order, of, new
                    ))
                }
            })));
        }
        Err(refused) => refused,
    };
    type Function = unsafe extern "C" fn(
        c_int,
        c_int,
        c_int,
        *const Count,
        *const c_int,
        *const c_int,
        *const c_int,
        c_int,
        MPI_Datatype,
        *mut MPI_Datatype,
    ) -> c_int;
    // SAFETY: the type of the function (MPI-4.1, section 5.1.4).
    let function: Function = unsafe { large::function(LARGE, refused) }?;
    let gsizes = gsizes.clone();
    Ok(Step::Made(Box::new(move |types, new| {
        let (gsizes, distribs) = (gsizes.as_ptr(), distribs.as_ptr());
        let (dargs, psizes, of) = (dargs.as_ptr(), psizes.as_ptr(), types.0[child].0);
        // SAFETY: as above.
        check(LARGE, unsafe { function(size, rank, ndims, gsizes, distribs, dargs, psizes, order, of, new) })
    })))
}

fn order_constant(order: Order) -> c_int {
    match order {
        Order::C => ffi::MPI_ORDER_C as c_int,
        Order::Fortran => ffi::MPI_ORDER_FORTRAN as c_int,
    }
}

fn distribution_constant(distribution: Distribution) -> c_int {
    match distribution {
        Distribution::Block => ffi::MPI_DISTRIBUTE_BLOCK as c_int,
        Distribution::Cyclic => ffi::MPI_DISTRIBUTE_CYCLIC as c_int,
        Distribution::None => ffi::MPI_DISTRIBUTE_NONE as c_int,
    }
}
