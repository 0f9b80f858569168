//! Types as such: their life cycle and their contents; and whether packed values are copies.

use common::conformance::Contents;
use common::conformance::contents::Integer;
use datatypes::Construction;

use super::bench::{Bench, Halt, WrongBytes};
use super::subject::Subject;
use crate::checked::{CallError, Comm, Datatype};

/// Whether `MPI_Pack` of predefined types copies them: the standard does not define the packed form.
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

/// Values of an item at most: longer lists take more time than they are worth.
const MOST_VALUES: usize = 2000;

/// Types that are made and freed in each of three rounds.
const LIVES: usize = 2000;

/// Bytes that a type which is not freed takes at least, and the pages of them that all types of a round take.
const LEAST_BYTES: usize = 64;
const LEAST_PAGES: i64 = (LIVES * LEAST_BYTES / 4096) as i64;

/// Longest text of a type that is made often: types without data may have long lists too.
const LONGEST: usize = 2000;

/// One case in so many makes and frees the type often.
const ONE_IN: u64 = 40;

/// Making and freeing a type again and again does not take memory.
pub fn life_cycle(bench: &Bench<'_>, subject: &Subject) -> Result<(), Halt> {
    if subject.is_generated && !subject.origin.is_multiple_of(ONE_IN)
        || subject.data_of(1).values.len() > MOST_VALUES
        || subject.layout.to_text().len() > LONGEST
    {
        return Err(Halt::Unsuitable);
    }
    let recipe = subject.recipe(&bench.own)?;
    let mut least = i64::MAX;
    // Memory may grow once, since the system gives more than was asked for, but not again and again.
    for round in 0..4 {
        let before = resident_pages()?;
        for _ in 0..LIVES {
            recipe.create()?.free()?;
        }
        if round > 0 {
            least = least.min(resident_pages()? - before);
        }
    }
    if least < LEAST_PAGES {
        return Ok(());
    }
    Err(WrongBytes::value(format!("{LIVES} types that were freed leave at least {least} pages of memory"))
        .into())
}

/// The pages of memory of this process.
fn resident_pages() -> Result<i64, Halt> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    // Systems without this file cannot be examined.
    pages.and_then(|text| text.split(' ').nth(1)?.parse().ok()).ok_or(Halt::Unsuitable)
}

/// `MPI_Type_get_envelope` and `MPI_Type_get_contents` return the arguments of the constructor.
pub fn contents(bench: &Bench<'_>, subject: &Subject) -> Result<(), Halt> {
    let expected = match subject.construction {
        Construction::Usual => Contents::from_layout(&subject.layout),
        Construction::Duplicated => Contents::of_duplicate(),
        // Arguments of large counts need other functions.
        Construction::Large => return Err(Halt::Unsuitable),
    };
    // So do arguments beyond an int.
    let is_beyond_int =
        |integer: &Integer| matches!(integer, Integer::Number(number) if i32::try_from(*number).is_err());
    if expected.integers.iter().any(is_beyond_int) {
        return Err(Halt::Unsuitable);
    }
    let found = subject.recipe(&bench.own)?.create()?.contents()?;
    if found == expected {
        return Ok(());
    }
    Err(WrongBytes::value(format!("MPI_Type_get_contents gives {found} instead of {expected}")).into())
}
