//! Messages, to this process and between two.

use common::conformance::partitions;
use common::packing::Form;

use super::bench::{Bench, Stop, WrongBytes, clean_margin, expect_packed};
use super::operations::Gathered;
use super::subject::{Dense, Subject};
use crate::checked::{Envelope, Partitioned, Request};

/// Tag of all messages that begin without waiting.
const TAG: usize = 1;

pub fn send_to_self(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let part = bench.packed_target(subject, subject.data.bytes());
    // SAFETY: the bench has filled the memory of the type; the part has room for its data.
    unsafe {
        let to = (part.start(), subject.dense.count, &subject.dense.datatype);
        bench.own.send_receive((from, subject.count(), &subject.datatype), to, 0)
    }?;
    clean_margin(part)?;
    Ok(Some(part.read()))
}

pub fn receive_from_self(
    bench: &Bench<'_>,
    subject: &Subject,
    packed: &[u8],
    to: *mut u8,
) -> Result<bool, Stop> {
    let part = bench.packed_source(subject, packed);
    // SAFETY: the part has the data, and the bench has made the memory of the type.
    unsafe {
        let from = (part.start().cast_const(), subject.dense.count, &subject.dense.datatype);
        bench.own.send_receive(from, (to, subject.count(), &subject.datatype), 0)
    }?;
    expect_packed(packed, &part.read())?;
    Ok(true)
}

pub fn typed_to_typed(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let (from, to) = (bench.filled(subject, data, salt), bench.blank(subject, data));
    // SAFETY: the bench has made both memories of the type.
    unsafe {
        let sent = (from.address.cast_const(), subject.count(), &subject.datatype);
        bench.own.send_receive(sent, (to.address, subject.count(), &subject.datatype), 0)
    }?;
    to.expect(data, &data.gathered(&data.filled(salt)))?;
    Ok(from.expect_unchanged(data)?)
}

pub fn element_count(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    counts_of_first(bench, subject, salt, subject.data.values.len())
}

pub fn short_message(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let values = subject.data.values.len();
    if values == 0 {
        return Err(Stop::Unsuitable);
    }
    // One value less than all, and any number that depends on the case.
    let any = (subject.number as usize).wrapping_mul(31) % values;
    counts_of_first(bench, subject, salt, values - 1)?;
    counts_of_first(bench, subject, salt, any)
}

/// Sends the first values only, and compares the received bytes and their counts.
fn counts_of_first(bench: &Bench<'_>, subject: &Subject, salt: u64, sent: usize) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() || data.values.is_empty() {
        return Err(Stop::Unsuitable);
    }
    let packed = data.gathered(&data.filled(salt))[..data.bytes_of_first(sent)].to_vec();
    let (typed, part) = (bench.blank(subject, data), bench.packed_source(subject, &packed));
    let dense = Dense::of(&data.values[..sent], &bench.own)?;
    // SAFETY: the part has the data, and the bench has made the memory of the type.
    let received = unsafe {
        let from = (part.start().cast_const(), dense.count, &dense.datatype);
        bench.own.send_receive(from, (typed.address, subject.count(), &subject.datatype), 0)
    }?;
    typed.expect(data, &packed)?;
    let per_item = data.values.len() / subject.items as usize;
    let expected = sent.is_multiple_of(per_item).then_some((sent / per_item) as i64);
    let (count, elements) = (received.count(&subject.datatype)?, received.elements(&subject.datatype)?);
    let text = |count: Option<i64>| count.map_or("MPI_UNDEFINED".to_owned(), |count| count.to_string());
    let fault = |call: &str, expected: Option<i64>, found: Option<i64>| {
        let all = data.values.len();
        let (found, expected) = (text(found), text(expected));
        let detail = format!("{call} gives {found} instead of {expected} after {sent} of {all} values");
        Err(Stop::from(WrongBytes::value(detail)))
    };
    if count != expected {
        return fault("MPI_Get_count", expected, count);
    }
    if elements != Some(sent as i64) {
        return fault("MPI_Get_elements", Some(sent as i64), elements);
    }
    Ok(())
}

/// Both types are freed between the start and the end of their messages.
pub fn freed_while_active(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let (from, to) = (bench.filled(subject, data, salt), bench.blank(subject, data));
    let (sent, received) = (subject.datatype.duplicate()?, subject.datatype.duplicate()?);
    let envelope =
        |datatype| Envelope { count: subject.items as usize, datatype, peer: 0, tag: TAG, comm: &bench.own };
    // SAFETY: the bench has made both memories of the type, which live until the requests are complete.
    let mut requests = unsafe {
        [Request::receive(to.address, envelope(&received))?, Request::send(from.address, envelope(&sent))?]
    };
    received.free()?;
    sent.free()?;
    for request in &mut requests {
        request.wait()?;
    }
    to.expect(data, &data.gathered(&data.filled(salt)))?;
    Ok(from.expect_unchanged(data)?)
}

/// The type is received twice by one persistent request.
pub fn persistent(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let packed = data.gathered(&data.filled(salt));
    let (to, part) = (bench.blank(subject, data), bench.packed_source(subject, &packed));
    let Dense { datatype, count } = &subject.dense;
    let envelope = |datatype, count: i32| Envelope {
        count: count as usize,
        datatype,
        peer: 0,
        tag: TAG,
        comm: &bench.own,
    };
    // SAFETY: the bench has made both memories, which live until the requests are freed.
    let mut requests = unsafe {
        [
            Request::of_message(
                Form::Persistent,
                false,
                to.address,
                envelope(&subject.datatype, subject.count()),
            )?,
            Request::of_message(Form::Persistent, true, part.start(), envelope(datatype, *count))?,
        ]
    };
    for _ in 0..2 {
        to.clear(data);
        requests.iter_mut().try_for_each(Request::start)?;
        requests.iter_mut().try_for_each(Request::wait)?;
        to.expect(data, &packed)?;
    }
    requests.into_iter().try_for_each(Request::free)?;
    Ok(())
}

/// A message whose elements are counted before it is received.
pub fn probe(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let packed = data.gathered(&data.filled(salt));
    let (to, part) = (bench.blank(subject, data), bench.packed_source(subject, &packed));
    let Dense { datatype, count } = &subject.dense;
    let envelope = Envelope { count: *count as usize, datatype, peer: 0, tag: TAG, comm: &bench.own };
    // SAFETY: the bench has made both memories.
    let (mut request, probed) = unsafe {
        let request = Request::send(part.start(), envelope)?;
        (request, bench.own.probe_and_receive((to.address, subject.count(), &subject.datatype), TAG)?)
    };
    request.wait()?;
    let (values, found) = (data.values.len() as i64, probed.elements(&subject.datatype)?);
    if found != Some(values) && values > 0 {
        let found = found.map_or("MPI_UNDEFINED".to_owned(), |found| found.to_string());
        let detail = format!("MPI_Get_elements gives {found} instead of {values} for a probed message");
        return Err(WrongBytes::value(detail).into());
    }
    Ok(to.expect(data, &packed)?)
}

/// Both ranks send the type to each other from the memory into which they receive.
pub fn replace(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    if !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let Some(pair) = bench.pair else { return Ok(()) };
    let of_rank = |rank: usize| salt + ((rank as u64) << 20);
    let (typed, other) = (bench.filled(subject, data, of_rank(bench.rank)), of_rank(pair.peer));
    // SAFETY: the bench has made the memory of the type.
    unsafe { bench.world.replace((typed.address, subject.count(), &subject.datatype), pair.peer) }?;
    Ok(typed.expect_within(data, &data.gathered(&data.filled(other)))?)
}

/// A partitioned message, the partitions of which are ready in descending order.
pub fn partitioned(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    let data = &subject.data;
    let partitions = partitions(subject.items) as usize;
    if !bench.has_partitions || partitions == 0 || !data.are_disjoint() {
        return Err(Stop::Unsuitable);
    }
    let Some(pair) = bench.pair else { return Ok(()) };
    let is_sent = pair.place == 0;
    let typed = if is_sent { bench.filled(subject, data, salt) } else { bench.blank(subject, data) };
    let (count, datatype) = (subject.items as usize / partitions, &subject.datatype);
    let envelope = Envelope { count, datatype, peer: pair.peer, tag: TAG, comm: bench.world };
    // SAFETY: the bench has made the memory of the type, which lives until the request is freed.
    let mut message = unsafe { Partitioned::new(is_sent, typed.address, partitions, envelope) }?;
    message.request().start()?;
    if is_sent {
        (0..partitions).rev().try_for_each(|partition| message.ready(partition))?;
    }
    message.request().wait()?;
    match is_sent {
        true => typed.expect_unchanged(data)?,
        false => typed.expect(data, &data.gathered(&data.filled(salt)))?,
    }
    Ok(message.free()?)
}

pub fn send(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let Some(pair) = bench.pair else { return Ok(None) };
    if pair.place == 0 {
        // SAFETY: the bench has filled the memory of the type.
        unsafe { bench.world.send(from, subject.count().into(), &subject.datatype, pair.peer) }?;
        return Ok(None);
    }
    let part = bench.packed_target(subject, subject.data.bytes());
    let Dense { datatype, count } = &subject.dense;
    // SAFETY: the part has room for the data.
    unsafe { bench.world.receive(part.start(), (*count).into(), datatype, pair.peer) }?;
    clean_margin(part)?;
    Ok(Some(part.read()))
}

pub fn receive(bench: &Bench<'_>, subject: &Subject, packed: &[u8], to: *mut u8) -> Result<bool, Stop> {
    let Some(pair) = bench.pair else { return Ok(false) };
    if pair.place == 0 {
        let (part, Dense { datatype, count }) = (bench.packed_source(subject, packed), &subject.dense);
        // SAFETY: the part has the data.
        unsafe { bench.world.send(part.start(), (*count).into(), datatype, pair.peer) }?;
        return Ok(false);
    }
    // SAFETY: the bench has made the memory of the type.
    unsafe { bench.world.receive(to, subject.count().into(), &subject.datatype, pair.peer) }?;
    Ok(true)
}
