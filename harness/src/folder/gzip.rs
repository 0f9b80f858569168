//! Files of gzip members. Each member is complete, so that a cut does not affect earlier ones.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

pub fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

#[derive(Debug, PartialEq, Eq)]
pub struct Member<'a> {
    pub packed: &'a [u8],
    /// The uncompressed bytes, or the first of them.
    pub bytes: Vec<u8>,
}

/// The complete members of a file, each with its first bytes, and the rest after the last: empty, or part of a member.
pub fn members(file: &[u8]) -> (Vec<Member<'_>>, &[u8]) {
    let mut members = Members::starts(file);
    (members.by_ref().collect(), members.rest)
}

/// The members of a file one by one; at the end, the rest after the last.
pub struct Members<'a> {
    rest: &'a [u8],
    most: u64,
}

impl<'a> Members<'a> {
    /// Members with all their bytes.
    pub fn whole(file: &'a [u8]) -> Self {
        Self { rest: file, most: u64::MAX }
    }

    /// Members with the bytes of their first row only: a whole member may not fit into memory.
    pub fn starts(file: &'a [u8]) -> Self {
        /// A row has some hundred bytes.
        const START: u64 = 4096;
        Self { rest: file, most: START }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let (mut decoder, mut bytes) = (GzDecoder::new(self.rest), Vec::new());
        let read = decoder.by_ref().take(self.most).read_to_end(&mut bytes);
        let is_whole = read.and_then(|_| io::copy(&mut decoder, &mut io::sink())).is_ok();
        let after = (is_whole && !self.rest.is_empty()).then(|| decoder.into_inner())?;
        let packed = &self.rest[..self.rest.len() - after.len()];
        self.rest = after;
        Some(Member { packed, bytes })
    }
}

/// How every member begins.
const BEGINNING: [u8; 3] = [0x1f, 0x8b, 8];

/// Refuses a file in which complete members follow a broken one: a cut cannot cause that.
///
/// # Errors
/// The byte, from 0, and the error.
pub fn check(file: &[u8]) -> Result<(), String> {
    let mut members = Members::starts(file);
    members.by_ref().for_each(drop);
    let rest = members.rest;
    let begins =
        |at: &usize| rest[*at..].starts_with(&BEGINNING) && Members::starts(&rest[*at..]).next().is_some();
    match (1..rest.len()).find(begins) {
        Some(_) => Err(format!(
            "byte {} is damaged; repair or remove it in a copy of the folder",
            file.len() - rest.len()
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_costs_the_last_member_alone() {
        let [first, second] = [b"one\n".to_vec(), b"two\n".repeat(1000)].map(|bytes| member(&bytes));
        let file = [first.clone(), second.clone()].concat();
        let (whole, rest) = members(&file);
        assert_eq!((whole.len(), rest.len()), (2, 0));
        assert_eq!((whole[0].bytes.as_slice(), whole[1].packed), (&b"one\n"[..], &second[..]));
        for cut in first.len()..file.len() {
            let (whole, rest) = members(&file[..cut]);
            assert_eq!((whole.len(), rest.len()), (1, cut - first.len()), "{cut}");
            assert_eq!(check(&file[..cut]), Ok(()), "{cut}");
        }
    }

    #[test]
    fn of_a_large_member_only_the_start_is_kept() {
        let large = member(&b"0123456789abcde\n".repeat(1 << 16));
        let file = [large.clone(), member(b"two\n")].concat();
        let (all, rest) = members(&file);
        assert_eq!((all.len(), rest.len(), all[0].packed), (2, 0, &large[..]));
        assert!(all[0].bytes.len() < 1 << 16 && all[0].bytes.starts_with(b"0123"));
        let whole: Vec<_> = Members::whole(&file).map(|member| member.bytes.len()).collect();
        assert_eq!(whole, [1 << 20, 4]);
        assert_eq!(members(&large[..large.len() - 9]).0.len(), 0, "its end is damaged");
    }

    #[test]
    fn damage_before_whole_members_is_no_cut() {
        let all = [b"one\n".to_vec(), b"two\n".repeat(1000), b"three\n".to_vec()].map(|bytes| member(&bytes));
        let mut file = all.concat();
        let place = all[0].len() + all[1].len() / 2;
        file[place] ^= 0xff;
        let error = check(&file).unwrap_err();
        assert!(error.starts_with(&format!("byte {} is damaged", all[0].len())), "{error}");
    }
}
