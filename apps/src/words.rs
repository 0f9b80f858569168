//! Loops over elements whose size is known only at run time, as loops over words.

/// Runs a block for elements of the given number of bytes, a power of 2 up to 32; in the block their type is called
/// `$Word`.
macro_rules! of_words {
    ($bytes:expr, $Word:ident => $block:block) => {
        match $bytes {
            1 => of_words!(@ $Word = u8, $block),
            2 => of_words!(@ $Word = u16, $block),
            4 => of_words!(@ $Word = u32, $block),
            8 => of_words!(@ $Word = u64, $block),
            16 => of_words!(@ $Word = [u64; 2], $block),
            _ => of_words!(@ $Word = [u64; 4], $block),
        }
    };
    (@ $Word:ident = $word:ty, $block:block) => {{
        type $Word = $word;
        $block
    }};
}

pub(crate) use of_words;
