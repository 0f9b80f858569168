//! Files of MPI-IO: the type in memory, and as the view of a file.

use std::fs;

use common::conformance::FaultKind;
use common::conformance::items::{UNWRITTEN, Value};
use datatypes::Element;

use super::bench::{Bench, Stop, WrongBytes, expect_packed};
use super::subject::Subject;
use crate::checked::{Datatype, File};

/// Bytes of a file at most.
const MOST_BYTES: i64 = 1 << 24;

/// The type is written, compared with the bytes of the file, and read.
pub fn memory(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let packed = data.gathered(&data.filled(salt));
    let (from, to) = (bench.filled(subject, data, salt), bench.blank(subject, data));
    let file = open(bench, &[])?;
    // SAFETY: the bench has made both memories of the type.
    unsafe {
        file.write((from.address.cast_const(), subject.count(), &subject.datatype))?;
        file.sync()?;
        expect_packed(&packed, &contents(bench)?)?;
        file.read((to.address, subject.count(), &subject.datatype))?;
    }
    file.close()?;
    to.expect(data, &packed)?;
    Ok(from.expect_unchanged(data)?)
}

/// Values are written through a view of the type, compared with the bytes of the file, and read.
pub fn view(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    let element = subject.viewed_as().ok_or(Stop::Unsuitable)?;
    if data.span.1 > MOST_BYTES {
        return Err(Stop::Unsuitable);
    }
    let packed = data.gathered(&data.filled(salt));
    let (source, values) = (bench.packed_source(subject, &packed), data.values.len() as i32);
    let value = Datatype::predefined(element);
    // The standard does not define holes of a new file, so that the file exists before.
    let mut expected = vec![UNWRITTEN; data.span.1 as usize];
    let file = open(bench, &expected)?;
    file.set_view(&value, &subject.datatype)?;
    // SAFETY: the part has the data.
    unsafe { file.write((source.start().cast_const(), values, &value)) }?;
    file.sync()?;
    let at = |value: &Value| value.displacement as usize;
    for (value, bytes) in data.values.iter().zip(packed.chunks_exact(element.size() as usize)) {
        expected[at(value)..][..bytes.len()].copy_from_slice(bytes);
    }
    let found = contents(bench)?;
    if let Some(place) = expected.iter().zip(&found).position(|(expected, found)| expected != found) {
        let detail = format!(
            "byte {place} of the file is 0x{:02x} instead of 0x{:02x}",
            found[place], expected[place]
        );
        return Err(WrongBytes { kind: FaultKind::WrongData, detail }.into());
    }
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(WrongBytes::value(format!("the file has {found} bytes instead of {expected}")).into());
    }
    let target = bench.packed_target(subject, packed.len());
    // SAFETY: the part has room for the values.
    unsafe { file.read((target.start(), values, &value)) }?;
    file.close()?;
    Ok(expect_packed(&packed, &target.read())?)
}

/// A file with these contents.
fn open(bench: &Bench<'_>, before: &[u8]) -> Result<File, Stop> {
    let written = fs::write(bench.file(), before);
    written.map_err(|error| WrongBytes::value(format!("no file can be written: {error}")))?;
    File::open(bench.file(), &bench.own)?.ok_or(Stop::Unsuitable)
}

fn contents(bench: &Bench<'_>) -> Result<Vec<u8>, Stop> {
    fs::read(bench.file())
        .map_err(|error| WrongBytes::value(format!("the file cannot be read: {error}")).into())
}

impl Subject {
    /// The elementary type of a file view of this type; `None` if the standard does not allow the view (MPI-4.1, sections 14.1.1 and 14.3):
    /// displacements must not be negative or descend, the type must be made of one elementary type, its holes and its extent must be
    /// multiples of it, and tiles must not overlap.
    fn viewed_as(&self) -> Option<Element> {
        let data = &self.data;
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
}
