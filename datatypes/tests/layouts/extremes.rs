//! Random trees with arguments from the whole range of 64 bits: an error, or a layout that is right.

use std::collections::BTreeMap;

use ddtbench_datatypes::unusual::unusual_layout;
use ddtbench_datatypes::{Constructor, Layout, Part};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::properties::assert_agrees;

/// Small numbers, the ends of 32 and 64 bits, powers of two and their neighbours, and anything.
fn argument(random: &mut Pcg64) -> i64 {
    match random.random_range(0..10) {
        0 => [i64::MIN, i64::MAX, i32::MIN.into(), i32::MAX.into()][random.random_range(0..4usize)],
        1 | 2 => {
            let power = (1i64 << random.random_range(0..63)) + random.random_range(-1..=1);
            if random.random_bool(0.5) { power } else { -power }
        }
        3 => random.random_range(i64::MIN..=i64::MAX),
        _ => random.random_range(-4..8),
    }
}

/// A random layout as text, in which some numbers are others: seldom negative ones, or most layouts would be refused for them.
fn altered(random: &mut Pcg64) -> String {
    let layouts = std::iter::repeat_with(|| unusual_layout(random.random(), random.random_range(1..5)));
    let is_small = |layout: &Layout| layout.runs().map(|run| run.count).sum::<u64>() <= 50;
    let layout = { layouts }.find(is_small).expect("most are small");
    let mut text = String::new();
    // Digits within names, as in `int32`, stay.
    let is_number = |word: &&str| word.parse::<i64>().is_ok();
    for word in layout.to_text().split_inclusive([' ', '(', ')', '[', ']', ',']) {
        let number = word.trim_end_matches([' ', '(', ')', '[', ']', ',']);
        if is_number(&number) && random.random_ratio(1, 5) {
            let value = argument(random);
            let value = if random.random_ratio(1, 3) { value } else { value.saturating_abs() };
            text += &format!("{value}{}", &word[number.len()..]);
        } else {
            text += word;
        }
    }
    text
}

/// Copies that a direct reading has to visit of any block, empty ones too; `None` if these are too many.
fn copies(layout: &Layout) -> Option<u64> {
    const LIMIT: u64 = 3000;
    let constructor = layout.constructor();
    let sum = |sum: u64, part: Part<'_>| sum.checked_add(part.repeat.max(1)).filter(|&sum| sum <= LIMIT);
    let here = match constructor {
        // One dimension after the other, also if a later one is empty.
        Constructor::Darray { array, .. } => {
            array.gsizes.iter().try_fold(1, |product: u64, &size| product.checked_mul(size as u64))?
        }
        _ => constructor.parts().try_fold(0, sum)?,
    };
    let below =
        constructor.children().iter().try_fold(1, |most: u64, child| Some(most.max(copies(child)?)))?;
    here.max(1).checked_mul(below).filter(|&copies| copies <= LIMIT)
}

/// All questions that take no time in proportion to the layout, with 128 bits to judge by.
fn assert_sound(layout: &Layout, name: &str) {
    let (lower, upper) = (layout.lower_bound() as i128, layout.upper_bound() as i128);
    assert_eq!(upper - lower, layout.extent() as i128, "{name}");
    let (first, end) = (layout.true_lower_bound() as i128, layout.true_upper_bound() as i128);
    assert_eq!(end - first, layout.true_extent() as i128, "{name}");
    let within = |from: i64, bytes: u64| from as i128 >= first && from as i128 + bytes as i128 <= end;
    assert!(layout.runs().take(50).all(|run| within(run.offset, run.bytes())), "{name}");
    assert_eq!(layout.runs().next().is_none(), layout.size() == 0, "{name}");
    let mut sum = 0;
    let few = layout.segments().take(50);
    assert!(few.inspect(|s| sum += s.bytes).all(|s| s.bytes > 0 && within(s.offset, s.bytes)), "{name}");
    assert!(sum <= layout.size(), "{name}");
    assert_eq!(layout.to_text().parse().as_ref(), Ok(layout), "{name}");
}

#[test]
fn no_argument_panics_or_wraps() {
    // How often each constructor was accepted and checked in full, accepted, refused.
    let mut seen: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    for seed in 0..60_000 {
        let mut random = Pcg64::seed_from_u64(seed);
        let text = altered(&mut random);
        let constructor = text.split('(').next().unwrap().to_owned();
        let times = seen.entry(constructor).or_default();
        match text.parse::<Layout>() {
            Err(error) => {
                times[2] += 1;
                assert!(error.to_string().contains(" = "), "{text}: {error}");
            }
            Ok(layout) => {
                times[1] += 1;
                assert_sound(&layout, &text);
                if copies(&layout).is_some() {
                    times[0] += 1;
                    assert_agrees(&layout, &text);
                }
            }
        }
    }
    assert_eq!(seen.len(), 11, "{seen:?}");
    assert!(seen.values().flatten().all(|&times| times > 200), "{seen:?}");
}
