//! Ranks on a grid: the number along each dimension, the place of each rank, and its neighbours.

/// Ranks on a grid of any number of dimensions, numbered as `MPI_Cart_create` numbers them: the last
/// dimension changes fastest. The dimensions come in the order of the arrays' axes, slowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Ranks along each dimension.
    pub dims: Vec<usize>,
    /// Whether the last rank of each dimension is a neighbour of the first.
    pub periodic: bool,
}

impl Grid {
    /// All `ranks` on a grid of `dimensions` that is as close to a cube as possible: the largest dimension is
    /// as small as possible, then the next. Dimensions descend, like those of `MPI_Dims_create`.
    ///
    /// # Panics
    /// If there are no ranks or no dimensions.
    pub fn balanced(ranks: usize, dimensions: usize, periodic: bool) -> Self {
        assert!(ranks > 0 && dimensions > 0, "a grid has ranks and dimensions");
        let mut dims = Vec::with_capacity(dimensions);
        let found = factor(ranks, ranks, dimensions, &mut dims);
        assert!(found, "{ranks} is a product of itself and ones");
        Self { dims, periodic }
    }

    pub fn ranks(&self) -> usize {
        self.dims.iter().product()
    }

    /// The place of a rank.
    pub fn coordinates(&self, rank: usize) -> Vec<usize> {
        indices(rank, &self.dims)
    }

    /// The rank that is `offset` away from `rank`; `None` beyond the border of a grid that is not periodic.
    pub fn neighbour(&self, rank: usize, offset: &[i64]) -> Option<usize> {
        let mut number = 0;
        for ((at, &ranks), step) in self.coordinates(rank).into_iter().zip(&self.dims).zip(offset) {
            let there = at as i64 + step;
            let wrapped = there.rem_euclid(ranks as i64);
            if wrapped != there && !self.periodic {
                return None;
            }
            number = number * ranks + wrapped as usize;
        }
        Some(number)
    }

    /// The two offsets along dimension `d`: down, up.
    pub fn along(&self, d: usize) -> [Vec<i64>; 2] {
        [-1, 1].map(|step| {
            let mut offset = vec![0; self.dims.len()];
            offset[d] = step;
            offset
        })
    }
}

/// The dimension of an offset of one step along it, and whether that is upwards; `None` for any other offset.
pub(crate) fn along(offset: &[i64]) -> Option<(usize, bool)> {
    let steps: Vec<_> = offset.iter().enumerate().filter(|(_, step)| **step != 0).collect();
    match steps[..] {
        [(dimension, &step)] if step.abs() == 1 => Some((dimension, step == 1)),
        _ => None,
    }
}

/// The indices of element `linear` of a C-order array of `shape`.
pub(crate) fn indices<S: Clone + AsRef<[usize]> + AsMut<[usize]>>(linear: usize, shape: &S) -> S {
    let (mut rest, mut indices) = (linear, shape.clone());
    for (index, &length) in indices.as_mut().iter_mut().zip(shape.as_ref()).rev() {
        (*index, rest) = (rest % length, rest / length);
    }
    indices
}

/// Appends `count` descending factors of `product`, none larger than `most`, the largest as small as possible.
fn factor(product: usize, most: usize, count: usize, factors: &mut Vec<usize>) -> bool {
    if count == 0 {
        return product == 1;
    }
    for first in (1..=most.min(product)).filter(|first| product.is_multiple_of(*first)) {
        factors.push(first);
        if factor(product / first, first, count - 1, factors) {
            return true;
        }
        factors.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_square_as_their_ranks_allow() {
        let cases = "1 7 1,1 2,2 3,2 7,1 4,3 6,6 3,1,1 2,2,2 3,2,2 4,2,2 4,3,2 10,10,10 16,8,8 2,2,2,1 2,2,2,2 1000003,1";
        for case in cases.split(' ') {
            let dims: Vec<usize> = case.split(',').map(|dim| dim.parse().unwrap()).collect();
            let ranks = dims.iter().product();
            assert_eq!(Grid::balanced(ranks, dims.len(), true).dims, dims, "{ranks} ranks");
        }
    }
}
