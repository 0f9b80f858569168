//! Simpler layouts, one step away from a given one: the steps of a shrinker.

use std::collections::BTreeSet;

use crate::{Argument, Constructor, DistributedArray, Distribution, Element, Layout};

/// Lists that are longer lose halves only, since each entry less is another candidate.
const MOST_SINGLE_STEPS: usize = 12;

impl Layout {
    /// Layouts that are one step simpler, the simplest first: a constructor replaced by its child or by a weaker one, fewer entries in a
    /// list, smaller numbers, a plainer predefined type. None has a [`Feature`](crate::Feature) that this one lacks, so that a shrinker
    /// does not slide from one fault into another.
    pub fn simpler(&self) -> Vec<Self> {
        let (weight, features) = (weight(self), self.all_features());
        let mut seen = BTreeSet::new();
        let mut found: Vec<(Weight, Self)> = steps(self)
            .into_iter()
            .map(|layout| (self::weight(&layout), layout))
            .filter(|(of, layout)| *of < weight && layout.all_features().is_subset(&features))
            .filter(|(_, layout)| seen.insert(layout.to_text()))
            .collect();
        found.sort_by_key(|(weight, _)| *weight);
        found.into_iter().map(|(_, layout)| layout).collect()
    }

    /// The same constructor with other children; `None` if there are not as many as before, or if that is not a layout.
    pub fn with_children(&self, new: &[Self]) -> Option<Self> {
        let mut constructor = self.constructor().clone();
        let children = constructor.children_mut();
        (children.len() == new.len()).then(|| children.clone_from_slice(new))?;
        Self::new(constructor).ok()
    }
}

/// How far a layout is from the simplest one: constructors, entries of lists, numbers, how general the
/// constructors and the predefined types are. Every step makes it less, so that a shrinker ends.
type Weight = (usize, usize, u64, u64, u64);

fn weight(layout: &Layout) -> Weight {
    let constructor = layout.constructor();
    if let Constructor::Named { element } = constructor {
        let place = Element::ALL.iter().position(|known| known == element);
        return (0, 0, 0, 0, place.unwrap_or_default() as u64);
    }
    let (mut entries, mut sum) = (None, 0);
    for argument in constructor.arguments() {
        sum += match argument {
            Argument::Number(value) | Argument::Address(value) => size_of_number(*value),
            Argument::List(list) | Argument::Addresses(list) => {
                entries.get_or_insert(list.len());
                list.iter().map(|value| size_of_number(*value)).sum()
            }
            Argument::Blocks(list) => list.iter().map(|value| size_of_number(value.unwrap_or(0))).sum(),
            Argument::Distributions(list) => {
                list.iter().filter(|distribution| **distribution != Distribution::None).count() as u64
            }
            _ => 0,
        };
    }
    if let Constructor::Darray { array, .. } = constructor {
        // It is the product of others.
        sum -= size_of_number(array.size);
    }
    let own = (1, entries.unwrap_or(0), sum, constructor.generality() as u64, 0);
    constructor.children().iter().map(weight).fold(own, |sum, child| {
        (sum.0 + child.0, sum.1 + child.1, sum.2 + child.2, sum.3 + child.3, sum.4 + child.4)
    })
}

/// 0, then 1, then by the number of digits, then by value; a negative number is larger than its absolute value.
fn size_of_number(value: i64) -> u64 {
    2 * value.unsigned_abs().min(1 << 40) + u64::from(value < 0)
}

/// All steps, those that are not simpler among them.
fn steps(layout: &Layout) -> Vec<Layout> {
    let constructor = layout.constructor();
    let mut found: Vec<Layout> = constructor.children().to_vec();
    // A type without data is as good as any other.
    if layout.size() == 0 {
        found.extend(Layout::contiguous(0, &Layout::named(Element::Byte)));
    }
    found.extend(own_steps(constructor).into_iter().filter_map(|step| Layout::new(step).ok()));
    if let Constructor::Named { .. } = constructor {
        return [Element::Byte, Element::Int16, Element::Int32, Element::Double].map(Layout::named).into();
    }
    let children = constructor.children();
    for (i, child) in children.iter().enumerate() {
        for simpler in steps(child) {
            let mut changed = children.to_vec();
            changed[i] = simpler.clone();
            found.extend(layout.with_children(&changed));
            // Equal members of a structure stay equal.
            if children.len() > 1 && children.iter().filter(|other| *other == child).count() > 1 {
                let all = children.iter().map(|other| if other == child { &simpler } else { other });
                found.extend(layout.with_children(&all.cloned().collect::<Vec<_>>()));
            }
        }
    }
    found
}

/// Numbers that are simpler than `value`.
fn numbers(value: i64) -> impl Iterator<Item = i64> {
    let to_multiple = |of: i64| value - value % of;
    let all =
        [0, 1, value.signum(), value / 2, to_multiple(8), to_multiple(4), value - value.signum(), -value];
    all.into_iter().filter(move |new| size_of_number(*new) < size_of_number(value))
}

fn changed(list: &[i64]) -> Vec<Vec<i64>> {
    let mut found = Vec::new();
    for (i, value) in list.iter().enumerate().take(MOST_SINGLE_STEPS) {
        for number in numbers(*value) {
            let mut new = list.to_vec();
            new[i] = number;
            found.push(new);
        }
    }
    // All of them at once.
    for change in [|value: i64| value / 2, |value: i64| value - value.signum(), |value: i64| value.min(1)] {
        found.push(list.iter().map(|value| change(*value)).collect());
    }
    if let Some(least) = list.iter().min() {
        found.push(list.iter().map(|value| value - least).collect());
    }
    found
}

/// Entries of a list that stay: halves, and all but one.
fn kept(entries: usize) -> Vec<Vec<usize>> {
    let half = entries / 2;
    let mut found: Vec<Vec<usize>> = vec![(0..half).collect(), (half..entries).collect()];
    if entries <= MOST_SINGLE_STEPS {
        found.extend((0..entries).map(|left_out| (0..entries).filter(|i| *i != left_out).collect()));
    }
    found
}

fn select<T: Clone>(list: &[T], kept: &[usize]) -> Vec<T> {
    kept.iter().map(|&i| list[i].clone()).collect()
}

/// The number that all entries are.
fn common(list: &[i64]) -> Option<i64> {
    let first = *list.first()?;
    list.iter().all(|value| *value == first).then_some(first)
}

/// The distance between neighbours, if it is the same for all and the first entry is 0.
fn even(list: &[i64]) -> Option<i64> {
    match list {
        [0, second, ..] => list.windows(2).all(|pair| pair[1] - pair[0] == *second).then_some(*second),
        _ => None,
    }
}

fn in_extents(places: &[i64], child: &Layout) -> Option<Vec<i64>> {
    let extent = child.extent();
    (extent != 0 && places.iter().all(|place| place % extent == 0))
        .then(|| places.iter().map(|place| place / extent).collect())
}

/// Steps that leave the children as they are.
fn own_steps(constructor: &Constructor) -> Vec<Constructor> {
    let mut found = weaker(constructor);
    if let Constructor::Darray { array, child } = constructor {
        let arrays = simpler_arrays(array).into_iter();
        found.extend(arrays.map(|array| Constructor::Darray { array, child: child.clone() }));
        return found;
    }
    let with = |change: &dyn Fn(&mut Constructor)| {
        let mut new = constructor.clone();
        change(&mut new);
        new
    };
    let mut own = constructor.clone();
    let values: Vec<i64> = own.numbers_mut().map(|value| *value).collect();
    let lists: Vec<Vec<i64>> = own.lists_mut().map(|list| list.clone()).collect();
    for kept in lists.first().map_or(Vec::new(), |list| kept(list.len())) {
        found.push(with(&|new| {
            new.lists_mut().for_each(|list| *list = select(list, &kept));
            if let Constructor::Struct { children, .. } = new {
                *children = select(children, &kept);
            }
        }));
    }
    if let [count, blocklength, stride] = values[..] {
        let set = |new: &mut Constructor, values: &[i64]| {
            new.numbers_mut().zip(values).for_each(|(old, value)| *old = *value);
        };
        let all = changed(&[count, blocklength, stride]).into_iter();
        found.extend(all.map(|values| with(&|new| set(new, &values))));
    } else {
        for (place, value) in values.into_iter().enumerate() {
            let set = |new: &mut Constructor, value| new.numbers_mut().nth(place).map(|old| *old = value);
            found.extend(numbers(value).map(|value| with(&|new| set(new, value).unwrap_or_default())));
        }
    }
    for (place, list) in lists.into_iter().enumerate() {
        let set = |new: &mut Constructor, list: &Vec<i64>| {
            new.lists_mut().nth(place).map(|old| old.clone_from(list)).unwrap_or_default();
        };
        found.extend(changed(&list).into_iter().map(|list| with(&|new| set(new, &list))));
    }
    found
}

/// Less general constructors with the same blocks.
fn weaker(constructor: &Constructor) -> Vec<Constructor> {
    use Constructor::{Contiguous, Hindexed, HindexedBlock, Hvector, Indexed, IndexedBlock, Struct, Vector};
    let [first, second] = match constructor.clone() {
        Vector { count, blocklength, child, .. } => {
            [Some(Contiguous { count: count * blocklength, child }), None]
        }
        Hvector { count, blocklength, stride_bytes, child } => {
            let stride = in_extents(&[stride_bytes], &child);
            [stride.map(|stride| Vector { count, blocklength, stride: stride[0], child }), None]
        }
        IndexedBlock { blocklength, displacements, child } => {
            let count = displacements.len() as i64;
            [even(&displacements).map(|stride| Vector { count, blocklength, stride, child }), None]
        }
        HindexedBlock { blocklength, displacements_bytes: places, child } => {
            let (count, of) = (places.len() as i64, child.clone());
            let block = |displacements| IndexedBlock { blocklength, displacements, child: of };
            let vector = |stride_bytes| Hvector { count, blocklength, stride_bytes, child: child.clone() };
            [in_extents(&places, &child).map(block), even(&places).map(vector)]
        }
        Indexed { blocklengths, displacements, child } => {
            let block = |blocklength| IndexedBlock { blocklength, displacements, child };
            [common(&blocklengths).map(block), None]
        }
        Hindexed { blocklengths, displacements_bytes, child } => {
            let (lengths, of) = (blocklengths.clone(), child.clone());
            let indexed = |displacements| Indexed { blocklengths: lengths, displacements, child: of };
            let indexed = in_extents(&displacements_bytes, &child).map(indexed);
            let block = |blocklength| HindexedBlock { blocklength, displacements_bytes, child };
            [indexed, common(&blocklengths).map(block)]
        }
        Struct { blocklengths, displacements_bytes, children } => {
            let same = children.first().filter(|first| children.iter().all(|child| child == *first));
            let of_one =
                |child: &Layout| Hindexed { blocklengths, displacements_bytes, child: child.clone() };
            [same.map(of_one), None]
        }
        _ => [None, None],
    };
    first.into_iter().chain(second).collect()
}

/// Distributed arrays with fewer dimensions, of fewer elements, on fewer processes.
fn simpler_arrays(array: &DistributedArray) -> Vec<DistributedArray> {
    let DistributedArray { gsizes, distribs, dargs, psizes, .. } = array;
    // The process with the same number, or the last one.
    let on = |array: DistributedArray| {
        let size = array.psizes.iter().product::<i64>();
        DistributedArray { size, rank: array.rank.clamp(0, (size - 1).max(0)), ..array }
    };
    let mut found: Vec<DistributedArray> =
        numbers(array.rank).map(|rank| DistributedArray { rank, ..array.clone() }).collect();
    for kept in kept(gsizes.len()) {
        let (gsizes, distribs) = (select(gsizes, &kept), select(distribs, &kept));
        let (dargs, psizes) = (select(dargs, &kept), select(psizes, &kept));
        found.push(on(DistributedArray { gsizes, distribs, dargs, psizes, ..array.clone() }));
    }
    for dim in 0..gsizes.len() {
        let mut whole = array.clone();
        (whole.distribs[dim], whole.dargs[dim], whole.psizes[dim]) = (Distribution::None, None, 1);
        let mut usual = array.clone();
        usual.dargs[dim] = None;
        found.extend([on(whole), usual]);
    }
    found.extend(changed(gsizes).into_iter().map(|gsizes| DistributedArray { gsizes, ..array.clone() }));
    found.extend(changed(psizes).into_iter().map(|psizes| on(DistributedArray { psizes, ..array.clone() })));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unusual::unusual_layout;

    /// Shrinks a layout as long as it is `wrong`.
    fn shrunk(mut layout: Layout, wrong: impl Fn(&Layout) -> bool) -> Layout {
        while let Some(simpler) = layout.simpler().into_iter().find(|simpler| wrong(simpler)) {
            layout = simpler;
        }
        layout
    }

    #[test]
    fn every_step_is_simpler_and_adds_no_feature() {
        for seed in 0..300 {
            let layout = unusual_layout(seed, 1 + (seed % 4) as u32);
            for simpler in layout.simpler() {
                assert!(weight(&simpler) < weight(&layout), "{} of {}", simpler.to_text(), layout.to_text());
                assert!(simpler.all_features().is_subset(&layout.all_features()));
            }
        }
    }

    #[test]
    fn a_fault_is_shrunk_to_the_constructors_that_cause_it() {
        /// An MPI that gets vectors with a negative stride and at least three blocks wrong, wherever they are.
        fn is_wrong(layout: &Layout) -> bool {
            let own = matches!(
                layout.constructor(),
                Constructor::Vector { count: 3.., stride: ..0, blocklength: 1.., .. }
            );
            own && layout.size() > 0 || layout.constructor().children().iter().any(is_wrong)
        }
        let found: Vec<Layout> =
            (0..3000).map(|seed| unusual_layout(seed, 4)).filter(is_wrong).take(20).collect();
        assert_eq!(found.len(), 20);
        for layout in found {
            let simplest = shrunk(layout.clone(), is_wrong);
            // An extent that is not positive stays: without it the stride goes backwards, which is another feature.
            let text = simplest.to_text();
            assert!(text.starts_with("vector(3, 1, -1, ") && simplest.constructors() <= 2, "{text}");
        }
    }

    #[test]
    fn a_fault_without_zero_counts_is_not_shrunk_to_one_with() {
        let layout: Layout = "contiguous(3, vector(2, 2, 3, double))".parse().unwrap();
        let text = shrunk(layout, |layout| layout.size() < 1000).to_text();
        assert_eq!(text, "byte");
        let layout: Layout = "vector(2, 2, 3, double)".parse().unwrap();
        let text =
            shrunk(layout, |layout| matches!(layout.constructor(), Constructor::Vector { .. })).to_text();
        assert_eq!(text, "vector(1, 1, 0, byte)");
    }
}
