//! Runs of bytes and lists of their places: the pattern of a list of displacements, and its compact form. This is the
//! part of compiling whose time grows with the lists, so it uses the widest vectors of the processor.

/// Contiguous bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteRun {
    /// First byte.
    pub offset: i64,
    /// Number of bytes, at least 1.
    pub bytes: usize,
}

impl ByteRun {
    /// One past the last byte.
    pub fn end(self) -> i64 {
        self.offset.wrapping_add(self.bytes as i64)
    }
}

/// The pattern of a list of displacements; the list has at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    pub lowest: i64,
    pub highest: i64,
    /// Number of displacements that follow the previous one at a given distance.
    pub joined: usize,
    /// The distance of neighbours, if it is constant; 0 for a single displacement.
    pub stride: Option<i64>,
}

impl Survey {
    /// `joined` counts the displacements that are `distance` after the previous one.
    pub fn from_displacements(displacements: &[i64], distance: Option<i64>) -> Self {
        let (lowest, highest, joined) = vectorised(|| walk(displacements, distance.unwrap_or(0)));
        let joined = if distance.is_some() { joined } else { 0 };
        Self { lowest, highest, joined, stride: even_stride(displacements) }
    }
}

/// The lowest, the highest, and the number that are `distance` after the previous one.
#[inline(always)]
fn walk(displacements: &[i64], distance: i64) -> (i64, i64, usize) {
    let first = displacements[0];
    let (mut lowest, mut highest, mut joined) = (first, first, 0);
    for (before, &displacement) in displacements.iter().zip(&displacements[1..]) {
        (lowest, highest) = (lowest.min(displacement), highest.max(displacement));
        joined += u64::from(displacement.wrapping_sub(*before) == distance);
    }
    (lowest, highest, joined as usize)
}

/// The distance of neighbours, if it is constant; 0 for a single displacement.
fn even_stride(displacements: &[i64]) -> Option<i64> {
    let mut strides = displacements.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
    let first = strides.next().unwrap_or(0);
    strides.all(|stride| stride == first).then_some(first)
}

/// Displacements in bytes from `base`; they are given in units of `scale` bytes, and each result fits into 32 bits.
pub(crate) fn compact(displacements: &[i64], scale: i64, base: i64) -> Box<[u32]> {
    // The results fit into 32 bits, so they may be computed with 32 bits: wrapping gives the same result.
    let (scale, base) = (scale as u32, base as u32);
    let mut offsets = vec![0; displacements.len()];
    vectorised(|| {
        for (offset, &displacement) in offsets.iter_mut().zip(displacements) {
            *offset = (displacement as u32).wrapping_mul(scale).wrapping_sub(base);
        }
    });
    offsets.into()
}

/// Calls `run`, compiled for the widest vectors of this processor.
fn vectorised<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
        fn avx512<R>(run: impl FnOnce() -> R) -> R {
            run()
        }
        #[target_feature(enable = "avx2")]
        fn avx2<R>(run: impl FnOnce() -> R) -> R {
            run()
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the processor has these instructions, as checked just above.
            return unsafe { avx512(run) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            return unsafe { avx2(run) };
        }
    }
    run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_are_surveyed_and_made_compact() {
        for count in 1..70 {
            let list: Vec<i64> = (0..count).map(|i| (i * 37 + i / 5 * 11) % 53 - 20).collect();
            let joined = list.windows(2).filter(|pair| pair[1] - pair[0] == 37).count();
            let survey = Survey::from_displacements(&list, Some(37));
            let (lowest, highest) = (*list.iter().min().unwrap(), *list.iter().max().unwrap());
            assert_eq!((survey.lowest, survey.highest, survey.joined), (lowest, highest, joined), "{list:?}");
            assert_eq!(Survey::from_displacements(&list, None).joined, 0);
            let expected: Vec<u32> = list.iter().map(|d| (d - lowest) as u32 * 24).collect();
            assert_eq!(*compact(&list, 24, lowest * 24), expected, "{list:?}");
        }
        assert_eq!(Survey::from_displacements(&[5, 3, 1, -1], None).stride, Some(-2));
        assert_eq!(Survey::from_displacements(&[5, 3, 1, 0], None).stride, None);
        assert_eq!(Survey::from_displacements(&[5], None).stride, Some(0));
        assert_eq!(*compact(&[7, 9, 3], -8, -72), [16, 0, 48]);
    }
}
