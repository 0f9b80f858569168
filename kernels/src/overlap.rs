//! Whether a program names a byte of the array twice. Where it does not, its packed stream may be scattered in any
//! order, and by several threads at once.

use std::ops::ControlFlow;

use crate::Program;
use crate::operation::{Leaf, Operation, Sequence, Step};

impl Program {
    /// Whether no two bytes of the packed stream have the same place in the array. Found out at the first call and
    /// kept.
    ///
    /// Time grows with the number of runs. Runs in ascending order, as most layouts have them, need no memory;
    /// others a bit per byte from the first to the last byte of data, an eighth of the array.
    pub(crate) fn is_disjoint(&self) -> bool {
        *self.disjoint.get_or_init(|| self.ascends() || self.names_each_byte_once())
    }

    /// Whether each run begins at or behind the end of the one before.
    fn ascends(&self) -> bool {
        let mut end = i64::MIN;
        let walked = self.sequence.visit_runs(0, &mut |offset, bytes| {
            if offset < end {
                return ControlFlow::Break(());
            }
            end = offset + bytes as i64;
            ControlFlow::Continue(())
        });
        walked.is_continue()
    }

    /// Literally: marks every byte that is named.
    fn names_each_byte_once(&self) -> bool {
        let (lower, span) = self.span();
        let mut marks = Marks { words: vec![0; span.div_ceil(64)] };
        let walked = self.sequence.visit_runs(0, &mut |offset, bytes| match marks
            .add(offset.wrapping_sub(lower) as usize, bytes)
        {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
        walked.is_continue()
    }
}

/// A bit per byte.
struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// Marks `bytes` bytes from `first` on; `false` as soon as one is marked already.
    fn add(&mut self, first: usize, bytes: usize) -> bool {
        let (mut at, end) = (first, first + bytes);
        while at < end {
            let (bit, count) = (at % 64, (64 - at % 64).min(end - at));
            let mask = (u64::MAX >> (64 - count)) << bit;
            let word = &mut self.words[at / 64];
            if *word & mask != 0 {
                return false;
            }
            *word |= mask;
            at += count;
        }
        true
    }
}

impl Sequence {
    /// Calls `visit(offset, bytes)` for every run in packed order, `at` being displacement 0, until it breaks.
    fn visit_runs<F>(&self, at: i64, visit: &mut F) -> ControlFlow<()>
    where
        F: FnMut(i64, usize) -> ControlFlow<()>,
    {
        self.operations.iter().try_for_each(|operation| operation.visit_runs(&operation.steps, at, visit))
    }
}

impl Operation {
    fn visit_runs<F>(&self, steps: &[Step], at: i64, visit: &mut F) -> ControlFlow<()>
    where
        F: FnMut(i64, usize) -> ControlFlow<()>,
    {
        match steps {
            [] => self.leaf.visit_runs(at, visit),
            [step, inner @ ..] => each(at, *step).try_for_each(|at| self.visit_runs(inner, at, visit)),
        }
    }
}

/// Where the iterations of a loop begin.
fn each(at: i64, step: Step) -> impl Iterator<Item = i64> {
    (0..step.count as i64).map(move |i| at.wrapping_add(step.stride.wrapping_mul(i)))
}

impl Leaf {
    fn visit_runs<F>(&self, at: i64, visit: &mut F) -> ControlFlow<()>
    where
        F: FnMut(i64, usize) -> ControlFlow<()>,
    {
        match self {
            Self::Block { offset, bytes, .. } => visit(at.wrapping_add(*offset), *bytes),
            Self::Indexed { lowest, block, offsets, .. } => {
                let base = at.wrapping_add(*lowest);
                offsets.iter().try_for_each(|&offset| visit(base.wrapping_add(offset.into()), *block))
            }
            Self::Records { records, .. } => {
                records.blocks().try_for_each(|(offset, bytes)| visit(at.wrapping_add(offset), bytes))
            }
            Self::Runs { offsets, ends, .. } => {
                let mut start = 0;
                offsets.iter().zip(ends).try_for_each(|(&offset, &end)| {
                    let bytes = end - std::mem::replace(&mut start, end);
                    visit(at.wrapping_add(offset), bytes)
                })
            }
            Self::Body { offsets, body } => {
                offsets.iter().try_for_each(|&offset| body.visit_runs(at.wrapping_add(offset), visit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use datatypes::pool::random_layout;
    use datatypes::{Element, Layout, interpret};

    use super::*;
    use crate::compile;

    #[test]
    fn bytes_are_marked_once_within_and_across_words() {
        let mut marks = Marks { words: vec![0; 4] };
        for (first, bytes, is_new) in
            [(3, 60, true), (63, 130, true), (0, 3, true), (193, 63, true), (192, 1, false), (5, 1, false)]
        {
            assert_eq!(marks.add(first, bytes), is_new, "{bytes} bytes from {first}");
        }
    }

    #[test]
    fn an_overlap_is_found_however_it_comes_about() {
        let double = Layout::named(Element::Double);
        let disjoint = |layout: Layout, count| compile(&layout, count).unwrap().is_disjoint();
        assert!(disjoint(Layout::vector(4, 1, 2, &double).unwrap(), 1));
        assert!(disjoint(Layout::vector(4, 1, -2, &double).unwrap(), 1));
        // Columns of a matrix: no run lies behind the one before, and yet all lie apart.
        let column = Layout::resized(0, 8, &Layout::vector(5, 1, 3, &double).unwrap()).unwrap();
        assert!(disjoint(column.clone(), 3));
        assert!(!disjoint(column, 4));
        assert!(!disjoint(Layout::hvector(2, 1, 7, &double).unwrap(), 1));
        assert!(!disjoint(Layout::hvector(2, 1, 0, &double).unwrap(), 1));
        assert!(!disjoint(Layout::indexed(&[2, 1], &[5, 6], &double).unwrap(), 1));
        assert!(!disjoint(Layout::resized(0, 0, &double).unwrap(), 2));
    }

    /// Scattering other bytes to each place and gathering them again gives them back just where none was lost.
    #[test]
    fn random_layouts_overlap_where_scattered_bytes_are_lost() {
        let mut disjoint = 0;
        let seeds = if cfg!(miri) { 30 } else { 2000 };
        for seed in 0..seeds {
            let layout = random_layout(seed, 4, 60);
            let program = compile(&layout, 2).unwrap();
            let (lower, span) = program.span();
            let (mut array, mut is_lost) = (vec![0; span], false);
            // The stream has up to 1920 bytes: each gets a number of 16 bits, a byte at a time.
            for shift in [0, 8] {
                let stream: Vec<u8> = (0..program.size()).map(|i| (i >> shift) as u8).collect();
                interpret::unpack(&layout, 2, &stream, &mut array, -lower).unwrap();
                is_lost |= interpret::pack(&layout, 2, &array, -lower).unwrap() != stream;
            }
            assert_eq!(program.is_disjoint(), !is_lost, "{program}{layout:?}");
            disjoint += u64::from(program.is_disjoint());
        }
        // Both must really occur.
        assert!(disjoint > seeds / 10 && disjoint < seeds - seeds / 10, "{disjoint} of {seeds}");
    }
}
