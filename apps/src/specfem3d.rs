//! SPECFEM3D_GLOBE: a transpose's gather, and the assembly of the values that neighbouring meshes share.
//!
//! Source: SPECFEM3D_GLOBE, mesh of 10x10x6 ranks; as micro-apps in DDTBench 1.2, `src_c/timing_specfem3d.c`.
//!
//! - `specfem3d_mt`: `send(dim1, dim2, dim3)`, floats, first index fastest. Sends plane 0 of the middle index:
//!   dim3 runs of dim1; receives in one run into `received(dim1, dim3)`. Bytes 4 dim1 dim3.
//! - `specfem3d_oc` (outer core): `accel(dim1)`, floats; sends and receives the values of an index list in place,
//!   in list order. Bytes 4 icount.
//! - `specfem3d_cm` (crust and mantle, inner core): `accel_cm(3, dim2_cm)` and `accel_ic(3, dim2_ic)`; sends and
//!   receives the three values of each index, first the list of the one, then that of the other. Bytes
//!   12 (icount_cm + icount_ic).

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::{ArrayView3, Axis, Ix3};

use crate::box_loops::BoxLoops;
use crate::nest::Nest;
use crate::permutation::IndexList;
use crate::rows::{pack_rows, unpack_rows};
use crate::{
    ArraySpec, Arrays, Built, Context, Message, MicroApp, Parameter, ParameterError, ParameterSet, Piece,
    Preset, Side, Test, Values, WireOrder,
};

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
        ParameterSet { name: "3x2x7600", preset: Preset::Quick, values: &[3, 2, 7600] },
        ParameterSet { name: "3x2x6400", preset: Preset::Default, values: &[3, 2, 6400] },
        ParameterSet { name: "3x2x5600", preset: Preset::Default, values: &[3, 2, 5600] },
        ParameterSet { name: "3x2x6200", preset: Preset::Default, values: &[3, 2, 6200] },
        ParameterSet { name: "3x2x760000", preset: Preset::Full, values: &[3, 2, 760_000] },
    ],
    make: |values, _| Transpose::boxed(values),
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
        ParameterSet { name: "88881_3225", preset: Preset::Quick, values: &[88_881, 3225] },
        ParameterSet { name: "38585_1897", preset: Preset::Default, values: &[38_585, 1897] },
        ParameterSet { name: "12857_877", preset: Preset::Default, values: &[12_857, 877] },
        ParameterSet { name: "3697_493", preset: Preset::Default, values: &[3697, 493] },
        ParameterSet { name: "8888100_322500", preset: Preset::Full, values: &[8_888_100, 322_500] },
    ],
    make: |values, context| {
        Shared::<1>::boxed(vec![Mesh::checked(values, context, "accel", ["dim1", "icount"], 0)?])
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
        ParameterSet {
            name: "834917_51153_11797_3009",
            preset: Preset::Default,
            values: &[834_917, 51_153, 11_797, 3009],
        },
        ParameterSet {
            name: "396849_22477_7125_1729",
            preset: Preset::Quick,
            values: &[396_849, 22_477, 7125, 1729],
        },
        ParameterSet {
            name: "152001_7209_3801_801",
            preset: Preset::Default,
            values: &[152_001, 7209, 3801, 801],
        },
        ParameterSet {
            name: "39929_1225_1957_245",
            preset: Preset::Default,
            values: &[39_929, 1225, 1957, 245],
        },
        ParameterSet {
            name: "8349170_511530_117970_30090",
            preset: Preset::Full,
            values: &[8_349_170, 511_530, 117_970, 30_090],
        },
    ],
    make: |values, context| {
        Shared::<VECTOR>::boxed(vec![
            Mesh::checked(values, context, "accel_cm", ["dim2_cm", "icount_cm"], 0)?,
            Mesh::checked(values, context, "accel_ic", ["dim2_ic", "icount_ic"], 1)?,
        ])
    },
    ..MT
};

/// The loops over a plane of the middle index.
pub(crate) const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, array, plane, packed| pack_plane(arrays.block(array, plane), cast_slice_mut(packed)),
    unpack: |packed, arrays, array, plane| {
        let plane = arrays.block_mut::<f32, Ix3>(array, plane);
        unpack_rows(&mut cast_slice(packed), plane.index_axis_move(Axis(1), 0));
    },
};

/// Packs the one plane of the middle index.
#[inline]
fn pack_plane(plane: ArrayView3<'_, f32>, mut packed: &mut [f32]) {
    pack_rows(plane.index_axis_move(Axis(1), 0), &mut packed);
}

/// `specfem3d_mt`.
struct Transpose {
    dim1: usize,
    dim2: usize,
    dim3: usize,
}

impl Transpose {
    fn boxed(values: &Values) -> Built {
        let [dim1, dim2, dim3] = ["dim1", "dim2", "dim3"].map(|name| values.positive(name));
        Ok(Box::new(Self { dim1: dim1?, dim2: dim2?, dim3: dim3? }))
    }
}

impl MicroApp for Transpose {
    fn arrays(&self) -> Vec<ArraySpec> {
        vec![
            ArraySpec::new("send", Element::Float, &[self.dim3, self.dim2, self.dim1]),
            ArraySpec::new("received", Element::Float, &[self.dim3, self.dim1]),
        ]
    }

    fn element(&self) -> Element {
        Element::Float
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let (dim1, dim2, dim3) = (self.dim1 as i64, self.dim2 as i64, self.dim3 as i64);
        let float = Layout::named(Element::Float);
        let (array, layout) = match side {
            Side::Send => {
                (0, Layout::contiguous(dim1, &float).and_then(|run| Layout::vector(dim3, 1, dim2, &run)))
            }
            Side::Receive => (1, Layout::contiguous(dim1 * dim3, &float)),
        };
        Message::single(array, 0, layout.expect("the arrays fit in memory"))
    }

    fn receives_in_place(&self) -> bool {
        true
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        pack_plane(arrays.view(0), cast_slice_mut(packed));
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        arrays.slice_mut::<u8>(1).copy_from_slice(packed);
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        let nest = Nest::plane(0, self.dim1, self.dim3, self.dim1 * self.dim2);
        nest.gather::<f32>(arrays.slice(0), cast_slice_mut(packed));
    }
}

/// The points of one part of the earth, and which of them a neighbour shares.
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
        Ok(Self { name, points, shared: IndexList::new(context.seed, stream, points as u32, shared) })
    }
}

/// `specfem3d_oc` and `specfem3d_cm`: `N` floats at each point.
struct Shared<const N: usize> {
    meshes: Vec<Mesh>,
}

impl<const N: usize> Shared<N>
where
    [f32; N]: Pod,
{
    fn boxed(meshes: Vec<Mesh>) -> Built {
        Ok(Box::new(Self { meshes }))
    }
}

impl<const N: usize> MicroApp for Shared<N>
where
    [f32; N]: Pod,
{
    fn arrays(&self) -> Vec<ArraySpec> {
        let shape = |mesh: &Mesh| if N == 1 { vec![mesh.points] } else { vec![mesh.points, N] };
        self.meshes.iter().map(|mesh| ArraySpec::new(mesh.name, Element::Float, &shape(mesh))).collect()
    }

    fn element(&self) -> Element {
        Element::Float
    }

    fn message(&self, _: Side, _: WireOrder) -> Message {
        let float = Layout::named(Element::Float);
        let piece = |(array, mesh): (usize, &Mesh)| {
            let layout = Layout::indexed_block(N as i64, &mesh.shared.displacements(N as i64), &float);
            Piece { array, origin_bytes: 0, layout: layout.expect("the arrays fit in memory") }
        };
        Message { pieces: self.meshes.iter().enumerate().map(piece).collect() }
    }

    fn listed_segments(&self) -> Option<u64> {
        Some(self.meshes.iter().map(|mesh| mesh.shared.len() as u64).sum())
    }

    fn message_bytes(&self) -> u64 {
        // As the default, without drawing the lists.
        self.meshes.iter().map(|mesh| (mesh.shared.len() * N * 4) as u64).sum()
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let mut rest: &mut [[f32; N]] = cast_slice_mut(packed);
        for (array, mesh) in self.meshes.iter().enumerate() {
            let points = arrays.slice::<[f32; N]>(array);
            let packed = rest.split_off_mut(..mesh.shared.len()).expect("the message has this size");
            mesh.shared.indices().gather(points, packed);
        }
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let mut rest: &[[f32; N]] = cast_slice(packed);
        for (array, mesh) in self.meshes.iter().enumerate() {
            let points = arrays.slice_mut::<[f32; N]>(array);
            let packed = rest.split_off(..mesh.shared.len()).expect("the message has this size");
            mesh.shared.indices().scatter(packed, points);
        }
    }
}
