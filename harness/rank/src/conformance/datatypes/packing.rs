//! Packing and unpacking. The packed form is not defined by the standard, so that it is only compared if the MPI packs values as they
//! are in memory, which [`is_plain`] finds out.

use super::bench::{Bench, Stop, WrongBytes, clean_margin, expect_packed};
use super::operations::{Gathered, expect_length};
use super::subject::Subject;
use crate::checked::{CallError, Comm, Datatype, typed};

/// Whether `MPI_Pack` of predefined types copies them.
pub fn is_plain(comm: &Comm) -> Result<bool, CallError> {
    for element in [datatypes::Element::Byte, datatypes::Element::Int32, datatypes::Element::Double] {
        let (datatype, bytes) = (Datatype::predefined(element), element.size() as usize);
        let (from, mut position) = ((1..=bytes as u8).collect::<Vec<u8>>(), 0);
        let mut packed = vec![0; comm.pack_size(1, &datatype, bytes)?.max(bytes)];
        let to = (packed.as_mut_ptr(), packed.len());
        // SAFETY: the value and the packed bytes are in these vectors.
        unsafe { comm.pack_at((from.as_ptr(), 1, &datatype), to, &mut position) }?;
        if position as usize != bytes || packed[..bytes] != from {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Bytes that `MPI_Pack_size` gives for some items.
fn pack_size(bench: &Bench<'_>, datatype: &Datatype, items: i32, needed: usize) -> Result<usize, Stop> {
    let size = bench.own.pack_size(items, datatype, needed)?;
    if size < needed {
        return Err(Stop::from(WrongBytes::value(format!(
            "MPI_Pack_size gives {size} for {needed} bytes of data"
        ))));
    }
    Ok(size)
}

pub fn pack(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    pack_as(bench, subject, &subject.datatype, from).map(Some)
}

/// Packs the data of a subject, which another type describes as well.
pub fn pack_as(
    bench: &Bench<'_>,
    subject: &Subject,
    datatype: &Datatype,
    from: *const u8,
) -> Result<Vec<u8>, Stop> {
    let bytes = subject.data.bytes();
    let room = pack_size(bench, datatype, subject.count(), bytes)?;
    let (part, mut position) = (bench.packed_target(subject, room), 0);
    // SAFETY: the bench has filled the memory of the type, and the part has `room` bytes.
    unsafe {
        let end = (from, subject.count(), datatype);
        bench.own.pack_at(end, (part.start(), room), &mut position)
    }?;
    expect_length("MPI_Pack", bytes, position as usize)?;
    clean_margin(part)?;
    Ok(part.read()[..bytes].to_vec())
}

pub fn pack_items(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let bytes = subject.data.bytes();
    let one = pack_size(bench, &subject.datatype, 1, bytes / (subject.items as usize).max(1))?;
    let (part, mut position) = (bench.packed_target(subject, one * subject.items as usize), 0);
    for item in 0..i64::from(subject.items) {
        let from = from.wrapping_offset((item * subject.layout.extent()) as isize);
        // SAFETY: an item of the memory that the bench has filled; there is room for all.
        unsafe {
            let end = (from, 1, &subject.datatype);
            bench.own.pack_at(end, (part.start(), part.bytes()), &mut position)
        }?;
    }
    expect_length("MPI_Pack", bytes, position as usize)?;
    clean_margin(part)?;
    Ok(Some(part.read()[..bytes].to_vec()))
}

pub fn unpack(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    let (part, mut position) = (bench.packed_source(subject, packed), 0);
    // SAFETY: the part has the packed data, and the bench has made the memory of the type.
    unsafe {
        let end = (to, subject.count(), &subject.datatype);
        bench.own.unpack_at((part.start().cast_const(), part.bytes()), &mut position, end)
    }?;
    expect_length("MPI_Unpack", packed.len(), position as usize)?;
    expect_packed(packed, &part.read())?;
    Ok(true)
}

pub fn unpack_items(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    let (part, mut position) = (bench.packed_source(subject, packed), 0);
    for item in 0..i64::from(subject.items) {
        let to = to.wrapping_offset((item * subject.layout.extent()) as isize);
        // SAFETY: as above, an item at a time.
        unsafe {
            let end = (to, 1, &subject.datatype);
            bench.own.unpack_at((part.start().cast_const(), part.bytes()), &mut position, end)
        }?;
    }
    expect_length("MPI_Unpack", packed.len(), position as usize)?;
    Ok(true)
}

pub fn pack_external(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    let typed = bench.filled(subject, data, salt);
    let expected = data.big_endian(&data.gathered(&data.filled(salt)));
    let room = typed::external_size(subject.count(), &subject.datatype)?;
    if room < expected.len() {
        let bytes = expected.len();
        return Err(Stop::from(WrongBytes::value(format!(
            "MPI_Pack_external_size gives {room} for {bytes} bytes of data"
        ))));
    }
    let part = bench.packed_target(subject, room);
    // SAFETY: the bench has filled the memory of the type, and the part has `room` bytes.
    let written = unsafe {
        let from = (typed.address.cast_const(), subject.count(), &subject.datatype);
        typed::pack_external(from, (part.start(), room))
    }?;
    expect_length("MPI_Pack_external", expected.len(), written)?;
    expect_packed(&expected, &part.read()[..written])?;
    clean_margin(part)?;
    Ok(typed.expect_unchanged(data)?)
}

pub fn unpack_external(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let packed = data.gathered(&data.filled(salt));
    let (typed, part) = (bench.blank(subject, data), bench.packed_source(subject, &data.big_endian(&packed)));
    // SAFETY: the part has the packed data, and the bench has made the memory of the type.
    let read = unsafe {
        let end = (typed.address, subject.count(), &subject.datatype);
        typed::unpack_external((part.start().cast_const(), part.bytes()), end)
    }?;
    expect_length("MPI_Unpack_external", packed.len(), read)?;
    Ok(typed.expect(data, &packed)?)
}
