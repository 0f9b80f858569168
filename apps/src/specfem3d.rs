//! SPECFEM3D_GLOBE: the gather of a transpose, and the assembly of the values that neighbouring meshes share.
//!
//! Source: SPECFEM3D_GLOBE, mesh of 10x10x6 ranks; as micro-apps in DDTBench 1.2, `src_c/timing_specfem3d.c`.
//!
//! - `specfem3d_mt`: `send(dim1, dim2, dim3)`, floats, first index fastest. Sends plane 0 of the middle index:
//!   dim3 runs of dim1; receives in one run into `received(dim1, dim3)`. Bytes 4 dim1 dim3.
//! - `specfem3d_oc` (outer core): `accel(dim1)`, floats; sends and receives the values of an index list in place,
//!   in list order. Bytes 4 icount.
//! - `specfem3d_cm` (crust and mantle, inner core): `accel_cm(3, dim2_cm)` and `accel_ic(3, dim2_ic)`; sends and
//!   receives the three values of each index, first those of one list, then those of the other. Bytes 12 (icount_cm +
//!   icount_ic).

use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::Element;
use ndarray::{Axis, Ix3};

use crate::face::{Face, FaceBlock};
use crate::list::List;
use crate::permutation::IndexList;
use crate::plain::Run;
use crate::region::{BoxLoops, Region, Whole};
use crate::rows::{pack_rows, unpack_rows};
use crate::{ArraySpec, Built, Context, MicroApp, Parameter, ParameterError, Preset, Test, Values};

const SOURCE: &str = "SPECFEM3D_GLOBE; DDTBench 1.2 src_c/timing_specfem3d.c";

/// Components of an acceleration.
pub(crate) const VECTOR: usize = 3;

/// The gather of a transpose.
pub const MT: Test = Test {
    name: "specfem3d_mt",
    original_name: Some("SPECFEM3D_mt"),
    source: SOURCE,
    about: "one plane of the middle index of a 3-d array, received in one run",
    parameters: &[
        Parameter::integer("dim1", "values", "extent of the fastest index"),
        Parameter::integer("dim2", "values", "extent of the middle index, of which one plane is sent"),
        Parameter::integer("dim3", "values", "extent of the slowest index"),
    ],
    sets: &[
        Preset::Quick.set("3x2x7600", "3 2 7600"),
        Preset::Default.set("3x2x6400", "3 2 6400"),
        Preset::Default.set("3x2x5600", "3 2 5600"),
        Preset::Default.set("3x2x6200", "3 2 6200"),
        Preset::Full.set("3x2x760000", "3 2 760000"),
    ],
    make: |values, _| transpose(values),
};

/// Values of the outer core.
pub const OC: Test = Test {
    name: "specfem3d_oc",
    original_name: Some("SPECFEM3D_oc"),
    about: "single floats at random indices",
    parameters: &[
        Parameter::integer("dim1", "points", "grid points of the outer core"),
        Parameter::integer("icount", "points", "points shared with the neighbour"),
    ],
    sets: &[
        Preset::Quick.set("88881_3225", "88881 3225"),
        Preset::Default.set("38585_1897", "38585 1897"),
        Preset::Default.set("12857_877", "12857 877"),
        Preset::Default.set("3697_493", "3697 493"),
        Preset::Full.set("8888100_322500", "8888100 322500"),
    ],
    make: |values, context| {
        shared(values, 1, &[Mesh::checked(values, context, "accel", ["dim1", "icount"], 0)?])
    },
    ..MT
};

/// Vectors of crust and mantle, and of the inner core.
pub const CM: Test = Test {
    name: "specfem3d_cm",
    original_name: Some("SPECFEM3D_cm"),
    about: "three floats each at random indices of two arrays",
    parameters: &[
        Parameter::integer("dim2_cm", "points", "grid points of crust and mantle"),
        Parameter::integer("dim2_ic", "points", "grid points of the inner core"),
        Parameter::integer("icount_cm", "points", "points of crust and mantle shared with the neighbour"),
        Parameter::integer("icount_ic", "points", "points of the inner core shared with the neighbour"),
    ],
    sets: &[
        Preset::Default.set("834917_51153_11797_3009", "834917 51153 11797 3009"),
        Preset::Quick.set("396849_22477_7125_1729", "396849 22477 7125 1729"),
        Preset::Default.set("152001_7209_3801_801", "152001 7209 3801 801"),
        Preset::Default.set("39929_1225_1957_245", "39929 1225 1957 245"),
        Preset::Full.set("8349170_511530_117970_30090", "8349170 511530 117970 30090"),
    ],
    make: |values, context| {
        let cm = Mesh::checked(values, context, "accel_cm", ["dim2_cm", "icount_cm"], 0)?;
        let ic = Mesh::checked(values, context, "accel_ic", ["dim2_ic", "icount_ic"], 1)?;
        shared(values, VECTOR, &[cm, ic])
    },
    ..MT
};

/// The loops over the one plane of the middle index.
pub(crate) const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, array, plane, packed| {
        let plane = arrays.block::<f32, Ix3>(array, plane);
        pack_rows(plane.index_axis_move(Axis(1), 0), &mut cast_slice_mut(packed));
    },
    unpack: |packed, arrays, array, plane| {
        let plane = arrays.block_mut::<f32, Ix3>(array, plane);
        unpack_rows(&mut cast_slice(packed), plane.index_axis_move(Axis(1), 0));
    },
};

/// `specfem3d_mt`.
fn transpose(values: &Values) -> Built {
    let [dim1, dim2, dim3] = ["dim1", "dim2", "dim3"].map(|name| values.positive(name));
    let (dim1, dim2, dim3) = (dim1?, dim2?, dim3?);
    let shape = [dim3, dim2, dim1];
    let arrays = values.addressable(vec![
        ArraySpec::new("send", Element::Float, &shape),
        ArraySpec::new("received", Element::Float, &[dim3, dim1]),
    ])?;
    let send = Whole::vectors(0, Element::Float, &shape, 1, Some(LOOPS));
    let send = Face::from_block(Region::new(&send, [0..dim3, 0..1, 0..dim1]));
    let receive = Face::from_block(Run { array: 1, element: Element::Float, range: 0..dim1 * dim3 });
    Ok(MicroApp { receives_in_place: true, ..MicroApp::new(Element::Float, arrays, send, receive) })
}

/// The points of one part of the earth, and those that a neighbour shares.
struct Mesh {
    name: &'static str,
    points: usize,
    shared: IndexList,
}

impl Mesh {
    fn checked(
        values: &Values,
        context: Context,
        name: &'static str,
        [points, shared]: [&'static str; 2],
        stream: u64,
    ) -> Result<Self, ParameterError> {
        let points = values.positive(points)?;
        let shared = values.within(shared, 1..=points as i64)? as usize;
        Ok(Self { name, points, shared: IndexList::drawn(context.seed, stream, points as u32, shared) })
    }
}

/// `specfem3d_oc` and `specfem3d_cm`: `components` floats at each point.
fn shared(values: &Values, components: usize, meshes: &[Mesh]) -> Built {
    let array = |mesh: &Mesh| ArraySpec::new(mesh.name, Element::Float, &shape(mesh.points, components));
    let arrays = values.addressable(meshes.iter().map(array).collect())?;
    let blocks = meshes.iter().enumerate().map(|(array, mesh)| list(array, components, mesh.shared.clone()));
    let face = Face::new(blocks);
    Ok(MicroApp::new(Element::Float, arrays, face.clone(), face))
}

pub(crate) fn shape(points: usize, components: usize) -> Vec<usize> {
    if components == 1 { vec![points] } else { vec![points, components] }
}

/// The values at some points of an array.
pub(crate) fn list(array: usize, components: usize, places: IndexList) -> Arc<dyn FaceBlock> {
    Arc::new(List {
        array,
        element: Element::Float,
        length: components,
        length_is_known: true,
        places,
        per_plane: 1,
    })
}
