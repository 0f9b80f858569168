//! From a [`Layout`] to an `MPI_Datatype`, constructor for constructor.
//!
//! A [`Recipe`] holds the arguments as MPI wants them, so that what is timed as creation is MPI's work alone:
//! constructors, commit, and the freeing of the types in between. A child that several parents share is made
//! once, as an application would.

use std::ffi::c_int;

use datatypes::{Constructor, Element, Layout, Order};
use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::error::int;
use super::threads::OneThread;
use super::{CallError, Comm, check};

/// A committed datatype. Predefined types are never freed; others by [`Datatype::free`].
pub struct Datatype {
    raw: MPI_Datatype,
    owned: bool,
    _of_one: OneThread,
}

impl Datatype {
    /// A predefined type.
    pub fn predefined(element: Element) -> Self {
        Self { raw: predefined(element), owned: false, _of_one: OneThread::default() }
    }

    /// `MPI_PACKED`.
    pub fn packed() -> Self {
        // SAFETY: a constant of the library.
        Self { raw: unsafe { super::ddtbench_packed }, owned: false, _of_one: OneThread::default() }
    }

    pub(super) fn raw(&self) -> MPI_Datatype {
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
    // SAFETY: the caller owns the live handle and does not use it again.
    check("MPI_Type_free", unsafe { ffi::MPI_Type_free(raw) })
}

fn predefined(element: Element) -> MPI_Datatype {
    // SAFETY: constants of the library and of constants.c.
    unsafe {
        match element {
            Element::Byte => super::ddtbench_byte,
            Element::Char => super::ddtbench_char,
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
            Element::Logical => ffi::RSMPI_C_BOOL,
            other => unreachable!("{other} has no MPI type here"),
        }
    }
}

/// One constructor call; children are numbers of earlier steps.
enum Step {
    Named(MPI_Datatype),
    Contiguous { count: c_int, child: usize },
    Vector { count: c_int, blocklength: c_int, stride: c_int, child: usize },
    Hvector { count: c_int, blocklength: c_int, stride_bytes: MPI_Aint, child: usize },
    Indexed { blocklengths: Vec<c_int>, displacements: Vec<c_int>, child: usize },
    Hindexed { blocklengths: Vec<c_int>, displacements: Vec<MPI_Aint>, child: usize },
    IndexedBlock { blocklength: c_int, displacements: Vec<c_int>, child: usize },
    HindexedBlock { blocklength: c_int, displacements: Vec<MPI_Aint>, child: usize },
    Struct { blocklengths: Vec<c_int>, displacements: Vec<MPI_Aint>, children: Vec<usize> },
    Subarray { sizes: Vec<c_int>, subsizes: Vec<c_int>, starts: Vec<c_int>, order: c_int, child: usize },
    Resized { lower_bound: MPI_Aint, extent: MPI_Aint, child: usize },
}

/// The constructor calls that make a datatype, in order.
pub struct Recipe {
    steps: Vec<Step>,
    _of_one: OneThread,
}

impl Recipe {
    /// Converts the arguments; fails where one does not fit in the C interface. The communicator shows that MPI is
    /// initialised, and that this is the thread that did it.
    pub fn new(layout: &Layout, _: &Comm) -> Result<Self, CallError> {
        let mut recipe = Self { steps: Vec::new(), _of_one: OneThread::default() };
        recipe.add(layout, &mut Vec::new())?;
        Ok(recipe)
    }

    /// Adds a layout after its children, unless the very same tree was added before; returns its number.
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
        let step = step(layout.constructor(), children)?;
        self.steps.push(step);
        seen.push((layout, self.steps.len() - 1));
        Ok(self.steps.len() - 1)
    }

    /// Makes all types in turn, commits the last and frees those in between.
    pub fn create(&self) -> Result<Datatype, CallError> {
        let mut types = Types(Vec::with_capacity(self.steps.len()));
        for step in &self.steps {
            let made = step.create(&types.0)?;
            types.0.push((made, !matches!(step, Step::Named(_))));
        }
        let (raw, owned) = types.0.pop().expect("a layout has a constructor");
        let mut datatype = Datatype { raw, owned, _of_one: OneThread::default() };
        if owned {
            // SAFETY: a live handle that `datatype` owns.
            check("MPI_Type_commit", unsafe { ffi::MPI_Type_commit(&mut datatype.raw) })?;
        }
        types.free()?;
        Ok(datatype)
    }
}

/// Types made on the way, with whether they are ours to free; freed on every way out.
struct Types(Vec<(MPI_Datatype, bool)>);

impl Types {
    fn free(mut self) -> Result<(), CallError> {
        std::mem::take(&mut self.0).into_iter().filter(|t| t.1).try_for_each(|(mut raw, _)| free(&mut raw))
    }
}

impl Drop for Types {
    fn drop(&mut self) {
        for (raw, _) in self.0.iter_mut().filter(|t| t.1) {
            // Only reached on the way out of an error, which is the one to report.
            let _ = free(raw);
        }
    }
}

fn ints(call: &'static str, argument: &'static str, values: &[i64]) -> Result<Vec<c_int>, CallError> {
    values.iter().map(|&value| int(call, argument, value)).collect()
}

fn addresses(values: &[i64]) -> Vec<MPI_Aint> {
    values.iter().map(|&value| value as MPI_Aint).collect()
}

fn step(constructor: &Constructor, children: Vec<usize>) -> Result<Step, CallError> {
    let child = children.first().copied().unwrap_or_default();
    Ok(match constructor {
        Constructor::Named { element } => Step::Named(predefined(*element)),
        Constructor::Contiguous { count, .. } => {
            Step::Contiguous { count: int("MPI_Type_contiguous", "count", *count)?, child }
        }
        Constructor::Vector { count, blocklength, stride, .. } => Step::Vector {
            count: int("MPI_Type_vector", "count", *count)?,
            blocklength: int("MPI_Type_vector", "blocklength", *blocklength)?,
            stride: int("MPI_Type_vector", "stride", *stride)?,
            child,
        },
        Constructor::Hvector { count, blocklength, stride_bytes, .. } => Step::Hvector {
            count: int("MPI_Type_create_hvector", "count", *count)?,
            blocklength: int("MPI_Type_create_hvector", "blocklength", *blocklength)?,
            stride_bytes: *stride_bytes as MPI_Aint,
            child,
        },
        Constructor::Indexed { blocklengths, displacements, .. } => Step::Indexed {
            blocklengths: ints("MPI_Type_indexed", "array_of_blocklengths", blocklengths)?,
            displacements: ints("MPI_Type_indexed", "array_of_displacements", displacements)?,
            child,
        },
        Constructor::Hindexed { blocklengths, displacements_bytes, .. } => Step::Hindexed {
            blocklengths: ints("MPI_Type_create_hindexed", "array_of_blocklengths", blocklengths)?,
            displacements: addresses(displacements_bytes),
            child,
        },
        Constructor::IndexedBlock { blocklength, displacements, .. } => Step::IndexedBlock {
            blocklength: int("MPI_Type_create_indexed_block", "blocklength", *blocklength)?,
            displacements: ints("MPI_Type_create_indexed_block", "array_of_displacements", displacements)?,
            child,
        },
        Constructor::HindexedBlock { blocklength, displacements_bytes, .. } => Step::HindexedBlock {
            blocklength: int("MPI_Type_create_hindexed_block", "blocklength", *blocklength)?,
            displacements: addresses(displacements_bytes),
            child,
        },
        Constructor::Struct { blocklengths, displacements_bytes, .. } => Step::Struct {
            blocklengths: ints("MPI_Type_create_struct", "array_of_blocklengths", blocklengths)?,
            displacements: addresses(displacements_bytes),
            children,
        },
        Constructor::Subarray { sizes, subsizes, starts, order, .. } => Step::Subarray {
            sizes: ints("MPI_Type_create_subarray", "array_of_sizes", sizes)?,
            subsizes: ints("MPI_Type_create_subarray", "array_of_subsizes", subsizes)?,
            starts: ints("MPI_Type_create_subarray", "array_of_starts", starts)?,
            order: match order {
                Order::C => ffi::MPI_ORDER_C as c_int,
                Order::Fortran => ffi::MPI_ORDER_FORTRAN as c_int,
            },
            child,
        },
        Constructor::Resized { lower_bound, extent, .. } => {
            Step::Resized { lower_bound: *lower_bound as MPI_Aint, extent: *extent as MPI_Aint, child }
        }
    })
}

impl Step {
    fn create(&self, types: &[(MPI_Datatype, bool)]) -> Result<MPI_Datatype, CallError> {
        // SAFETY: a null handle to be overwritten.
        let mut made = unsafe { ffi::RSMPI_DATATYPE_NULL };
        let of = |child: &usize| types[*child].0;
        // SAFETY: children are live types of earlier steps; every list is passed with its own length, and lists
        // that belong together are equally long, which `Layout` has checked; `made` lives through the call.
        let (call, code) = unsafe {
            match self {
                Self::Named(raw) => return Ok(*raw),
                Self::Contiguous { count, child } => {
                    ("MPI_Type_contiguous", ffi::MPI_Type_contiguous(*count, of(child), &mut made))
                }
                Self::Vector { count, blocklength, stride, child } => (
                    "MPI_Type_vector",
                    ffi::MPI_Type_vector(*count, *blocklength, *stride, of(child), &mut made),
                ),
                Self::Hvector { count, blocklength, stride_bytes, child } => (
                    "MPI_Type_create_hvector",
                    ffi::MPI_Type_create_hvector(*count, *blocklength, *stride_bytes, of(child), &mut made),
                ),
                Self::Indexed { blocklengths, displacements, child } => (
                    "MPI_Type_indexed",
                    ffi::MPI_Type_indexed(
                        blocklengths.len() as c_int,
                        blocklengths.as_ptr(),
                        displacements.as_ptr(),
                        of(child),
                        &mut made,
                    ),
                ),
                Self::Hindexed { blocklengths, displacements, child } => (
                    "MPI_Type_create_hindexed",
                    ffi::MPI_Type_create_hindexed(
                        blocklengths.len() as c_int,
                        blocklengths.as_ptr(),
                        displacements.as_ptr(),
                        of(child),
                        &mut made,
                    ),
                ),
                Self::IndexedBlock { blocklength, displacements, child } => (
                    "MPI_Type_create_indexed_block",
                    ffi::MPI_Type_create_indexed_block(
                        displacements.len() as c_int,
                        *blocklength,
                        displacements.as_ptr(),
                        of(child),
                        &mut made,
                    ),
                ),
                Self::HindexedBlock { blocklength, displacements, child } => (
                    "MPI_Type_create_hindexed_block",
                    ffi::MPI_Type_create_hindexed_block(
                        displacements.len() as c_int,
                        *blocklength,
                        displacements.as_ptr(),
                        of(child),
                        &mut made,
                    ),
                ),
                Self::Struct { blocklengths, displacements, children } => {
                    let children: Vec<MPI_Datatype> = children.iter().map(of).collect();
                    (
                        "MPI_Type_create_struct",
                        ffi::MPI_Type_create_struct(
                            children.len() as c_int,
                            blocklengths.as_ptr(),
                            displacements.as_ptr(),
                            children.as_ptr(),
                            &mut made,
                        ),
                    )
                }
                Self::Subarray { sizes, subsizes, starts, order, child } => (
                    "MPI_Type_create_subarray",
                    ffi::MPI_Type_create_subarray(
                        sizes.len() as c_int,
                        sizes.as_ptr(),
                        subsizes.as_ptr(),
                        starts.as_ptr(),
                        *order,
                        of(child),
                        &mut made,
                    ),
                ),
                Self::Resized { lower_bound, extent, child } => (
                    "MPI_Type_create_resized",
                    ffi::MPI_Type_create_resized(of(child), *lower_bound, *extent, &mut made),
                ),
            }
        };
        check(call, code)?;
        Ok(made)
    }
}
