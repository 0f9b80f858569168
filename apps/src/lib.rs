//! The data that applications send: the exchanges of DDTBench's micro-applications, without MPI and without a
//! clock in any loop.
//!
//! A [`Test`] is a row of the table [`TESTS`]: a name, the source of the exchange, its parameters and their
//! named sets. [`Test::build`] makes a [`MicroApp`] of it: the arrays, the layouts to send from and to
//! receive into, and the hand-written pack and unpack loops of the application.
//!
//! A side of the message is a [`Face`], which has layouts and two loops: [`Loops::Plain`], the application's nest,
//! and [`Loops::Tuned`], an expert's version of it. `cargo bench --bench hand_loops` compares both with C.
//!
//! ```
//! use ddtbench_apps::{Context, Side, WireOrder, find};
//!
//! let test = find("nas_lu_y")?;
//! let mut values = test.set("408x408")?;
//! values.assign("ny", "100")?;
//! let app = test.build(&values, Context::default())?;
//! let message = app.message(Side::Send, WireOrder::Ddt);
//! assert_eq!((message.size(), message.segments().count()), (100 * 5 * 8, 100));
//! # Ok::<(), ddtbench_apps::ParameterError>(())
//! ```
//!
//! To add one, write a file that describes its arrays and its two faces, declare it here, and add a line to
//! [`TESTS`].
//!
//! These are messages between two ranks. [`halo`] has the exchanges that they come from, between any number of ranks.

mod app;
mod arrays;
mod bytes;
mod copy_choice;
mod face;
mod layouts;
mod list;
mod message;
mod nest;
mod nests;
mod parameters;
mod permutation;
mod region;
mod rows;
mod words;

pub mod halo;

mod fft2d;
mod lammps;
mod layout;
mod milc;
mod nas_lu;
mod nas_mg;
mod plain;
mod scattered;
mod specfem3d;
mod subarray;
mod wrf;

pub use app::{Exchange, MicroApp, Side, WireOrder};
pub use arrays::{ArrayName, ArraySpec, Arrays, PAGE_BYTES};
pub use bytes::bytes;
pub use datatypes::{no_such, similar};
pub use face::{Cut, Face, Loops};
pub use layout::{LAYOUT, UNNAMED};
pub use layouts::{CountedLayout, Layouts};
pub use message::{Message, Piece};
pub use parameters::{
    Built, Context, OnlyWith, Parameter, ParameterError, ParameterSet, ParameterType, PerAxis, Preset, Test,
    Values, joined_by_x,
};

/// All tests that a run includes by default: those with loops.
pub const TESTS: &[Test] = &[
    wrf::X_VEC,
    wrf::X_SA,
    wrf::Y_VEC,
    wrf::Y_SA,
    milc::SU3_ZD,
    nas_mg::X,
    nas_mg::Y,
    nas_mg::Z,
    nas_lu::X,
    nas_lu::Y,
    fft2d::FFT2D,
    specfem3d::MT,
    specfem3d::OC,
    specfem3d::CM,
    lammps::FULL,
    lammps::ATOMIC,
    plain::CONTIGUOUS,
    plain::STRIDED,
    scattered::SCATTERED,
    subarray::SUBARRAY,
];

/// The vectors that tuned loops use on this processor; the C library may use longer ones.
pub fn tuned_vectors() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        return "vectors of 32 bytes, chosen at run time";
    }
    "vectors of the base instruction set"
}

/// Whether a test or an exchange consists of the user's layouts, which have names and no hand-written loops.
pub fn is_of_layouts(test: &str) -> bool {
    [LAYOUT.name, halo::MESSAGES.name].contains(&test)
}

/// All tests, and [`LAYOUT`], which runs only if it is named.
pub fn all() -> impl Iterator<Item = &'static Test> + Clone {
    TESTS.iter().chain([const { &LAYOUT }])
}

/// The test called `name`.
///
/// # Errors
/// If there is none, with the nearest name.
pub fn find(name: &str) -> Result<&'static Test, ParameterError> {
    Test::find(all(), name)
}
