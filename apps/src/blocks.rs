//! The loops over blocks of one length at listed places of an array.

use bytemuck::{Pod, cast_slice, cast_slice_mut};

/// Blocks of `length` elements; block `list[k]` of the array is the `k`-th of the packed ones.
pub(crate) struct Blocks<'a> {
    /// Places of the blocks, counted in blocks.
    pub list: &'a [u32],
    /// Elements of a block.
    pub length: usize,
    /// Bytes of an element: a power of 2 up to 16.
    pub element_bytes: usize,
}

/// Which way blocks are copied.
enum Way<'a> {
    Gather { array: &'a [u8], packed: &'a mut [u8] },
    Scatter { packed: &'a [u8], array: &'a mut [u8] },
}

impl Blocks<'_> {
    /// Packs every block of `array`, one behind the other, value by value.
    pub fn pack(&self, array: &[u8], packed: &mut [u8]) {
        match self.element_bytes {
            1 => self.pack_of::<u8>(array, packed),
            2 => self.pack_of::<u16>(array, packed),
            4 => self.pack_of::<u32>(array, packed),
            8 => self.pack_of::<u64>(array, packed),
            _ => self.pack_of::<[u64; 2]>(array, packed),
        }
    }

    /// Unpacks to every block of `array`, value by value.
    pub fn unpack(&self, packed: &[u8], array: &mut [u8]) {
        match self.element_bytes {
            1 => self.unpack_of::<u8>(packed, array),
            2 => self.unpack_of::<u16>(packed, array),
            4 => self.unpack_of::<u32>(packed, array),
            8 => self.unpack_of::<u64>(packed, array),
            _ => self.unpack_of::<[u64; 2]>(packed, array),
        }
    }

    fn pack_of<T: Pod>(&self, array: &[u8], packed: &mut [u8]) {
        let (array, packed) = (cast_slice::<u8, T>(array), cast_slice_mut::<u8, T>(packed));
        if self.length == 1 {
            packed.iter_mut().zip(self.list).for_each(|(to, &place)| *to = array[place as usize]);
            return;
        }
        for (to, &place) in packed.chunks_exact_mut(self.length).zip(self.list) {
            for (to, from) in to.iter_mut().zip(&array[place as usize * self.length..]) {
                *to = *from;
            }
        }
    }

    fn unpack_of<T: Pod>(&self, packed: &[u8], array: &mut [u8]) {
        let (packed, array) = (cast_slice::<u8, T>(packed), cast_slice_mut::<u8, T>(array));
        if self.length == 1 {
            return unpack_values(self.list, packed, array);
        }
        for (from, &place) in packed.chunks_exact(self.length).zip(self.list) {
            for (from, to) in from.iter().zip(&mut array[place as usize * self.length..]) {
                *to = *from;
            }
        }
    }

    /// Packs every block of `array`, one behind the other, by copies of known sizes.
    pub fn gather(&self, array: &[u8], packed: &mut [u8]) {
        self.copy(Way::Gather { array, packed });
    }

    /// Unpacks to every block of `array`, by copies of known sizes.
    pub fn scatter(&self, packed: &[u8], array: &mut [u8]) {
        self.copy(Way::Scatter { packed, array });
    }

    fn copy(&self, way: Way<'_>) {
        match self.element_bytes {
            1 => self.copy_of::<u8>(way),
            2 => self.copy_of::<u16>(way),
            4 => self.copy_of::<u32>(way),
            8 => self.copy_of::<u64>(way),
            _ => self.copy_of::<[u64; 2]>(way),
        }
    }

    /// Short blocks have a loop of their own, whose copies the compiler knows the size of.
    fn copy_of<T: Pod>(&self, way: Way<'_>) {
        match self.length {
            1 => self.copy_short::<1, T>(way),
            2 => self.copy_short::<2, T>(way),
            3 => self.copy_short::<3, T>(way),
            4 => self.copy_short::<4, T>(way),
            5 => self.copy_short::<5, T>(way),
            6 => self.copy_short::<6, T>(way),
            7 => self.copy_short::<7, T>(way),
            8 => self.copy_short::<8, T>(way),
            16 => self.copy_short::<16, T>(way),
            _ => self.copy_long::<T>(way),
        }
    }

    fn copy_short<const N: usize, T: Pod>(&self, way: Way<'_>) {
        match way {
            Way::Gather { array, packed } => {
                let (blocks, _) = cast_slice::<u8, T>(array).as_chunks::<N>();
                let (packed, _) = cast_slice_mut::<u8, T>(packed).as_chunks_mut::<N>();
                packed.iter_mut().zip(self.list).for_each(|(to, &place)| *to = blocks[place as usize]);
            }
            Way::Scatter { packed, array } => {
                let (blocks, _) = cast_slice_mut::<u8, T>(array).as_chunks_mut::<N>();
                let (packed, _) = cast_slice::<u8, T>(packed).as_chunks::<N>();
                packed.iter().zip(self.list).for_each(|(from, &place)| blocks[place as usize] = *from);
            }
        }
    }

    fn copy_long<T: Pod>(&self, way: Way<'_>) {
        let length = self.length;
        let starts = self.list.iter().map(|&place| place as usize * length);
        match way {
            Way::Gather { array, packed } => {
                let array = cast_slice::<u8, T>(array);
                let packed = cast_slice_mut::<u8, T>(packed).chunks_exact_mut(length);
                packed.zip(starts).for_each(|(to, start)| to.copy_from_slice(&array[start..][..length]));
            }
            Way::Scatter { packed, array } => {
                let array = cast_slice_mut::<u8, T>(array);
                let packed = cast_slice::<u8, T>(packed).chunks_exact(length);
                packed.zip(starts).for_each(|(from, start)| array[start..][..length].copy_from_slice(from));
            }
        }
    }
}

/// Unpacks single values to listed places. A function of its own: beside the loop over longer blocks the compiler keeps the
/// address of the list in memory, and reads it anew for each value.
#[inline(never)]
fn unpack_values<T: Copy>(list: &[u32], packed: &[T], array: &mut [T]) {
    packed.iter().zip(list).for_each(|(from, &place)| array[place as usize] = *from);
}
