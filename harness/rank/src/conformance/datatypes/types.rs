//! Other types with the same type map: equivalent descriptions and duplicates.

use common::conformance::Contents;
use common::conformance::contents::Integer;
use datatypes::{Construction, Equivalent};

use super::bench::{Bench, Stop, WrongBytes, expect_packed};
use super::operations::Gathered;
use super::packing;
use super::subject::Subject;
use crate::checked::{Datatype, Recipe};

/// Values of an item at most: longer lists take more time than they are worth.
const MOST_VALUES: usize = 2000;

/// Descriptions with other constructors have the same size, bounds and bytes.
pub fn equivalent(bench: &Bench<'_>, subject: &Subject, salt: u64) -> Result<(), Stop> {
    // If the MPI rounds extents in another way than this project does, descriptions are not equivalent on it.
    if subject.has_other_bounds || subject.data.values.len() > MOST_VALUES {
        return Err(Stop::Unsuitable);
    }
    let data = &subject.data;
    let typed = bench.filled(subject, data, salt);
    let expected = data.gathered(&data.filled(salt));
    for (way, other) in Equivalent::all_of(&subject.layout) {
        if !way.keeps_bounds() {
            continue;
        }
        let datatype = Recipe::new(&other, &bench.own)?.create()?;
        let text = other.to_short_text();
        if let Some(fault) = datatype.reported()?.fault(&other) {
            return Err(Stop::from(WrongBytes::value(format!("as {text}: {fault}"))));
        }
        // The bounds of another description may be rounded in another way, which only several items show.
        if datatype.reported()?.extent != subject.layout.extent() {
            continue;
        }
        let compared = packing::pack_as(bench, subject, &datatype, typed.address)
            .and_then(|found| Ok(expect_packed(&expected, &found)?));
        compared.map_err(|stop| match stop {
            Stop::WrongBytes(wrong) => {
                WrongBytes { detail: format!("as {text}: {}", wrong.detail), ..wrong }.into()
            }
            Stop::Unsuitable => stop,
        })?;
    }
    Ok(())
}

/// A duplicate packs the same bytes.
pub fn duplicate(bench: &Bench<'_>, subject: &Subject, from: *const u8) -> Gathered {
    let original: Datatype = subject.recipe(&bench.own)?.create()?;
    let duplicate = original.duplicate()?;
    original.free()?;
    packing::pack_as(bench, subject, &duplicate, from).map(Some)
}

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
pub fn life_cycle(bench: &Bench<'_>, subject: &Subject, _: u64) -> Result<(), Stop> {
    if subject.is_generated && !subject.number.is_multiple_of(ONE_IN)
        || subject.data.values.len() > MOST_VALUES
        || subject.layout.to_text().len() > LONGEST
    {
        return Err(Stop::Unsuitable);
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
fn resident_pages() -> Result<i64, Stop> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    // Systems without this file cannot be examined.
    pages.and_then(|text| text.split(' ').nth(1)?.parse().ok()).ok_or(Stop::Unsuitable)
}

/// `MPI_Type_get_envelope` and `MPI_Type_get_contents` return the arguments of the constructor.
pub fn contents(bench: &Bench<'_>, subject: &Subject, _: u64) -> Result<(), Stop> {
    let expected = match subject.construction {
        Construction::Usual => Contents::of(&subject.layout),
        Construction::Duplicated => Contents::of_duplicate(),
        // Arguments of large counts need other functions.
        Construction::Large => return Err(Stop::Unsuitable),
    };
    // So do arguments beyond an int.
    let is_beyond_int =
        |integer: &Integer| matches!(integer, Integer::Number(number) if i32::try_from(*number).is_err());
    if expected.integers.iter().any(is_beyond_int) {
        return Err(Stop::Unsuitable);
    }
    let found = subject.recipe(&bench.own)?.create()?.contents()?;
    if found == expected {
        return Ok(());
    }
    Err(WrongBytes::value(format!("MPI_Type_get_contents gives {found} instead of {expected}")).into())
}
