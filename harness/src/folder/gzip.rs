//! Files of gzip members: each is whole by itself, so that a cut costs nothing that was finished before it.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

/// Bytes as a member.
pub fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

/// A member of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// As it is in the file.
    pub packed: &'a [u8],
    /// The bytes that were compressed into it.
    pub bytes: Vec<u8>,
}

/// The whole members of a file, and what follows the last: nothing, or what a cut has left of one.
pub fn members(file: &[u8]) -> (Vec<Member<'_>>, &[u8]) {
    let mut members = Members(file);
    (members.by_ref().collect(), members.0)
}

/// The members of a file one by one; in the end, what follows the last.
pub struct Members<'a>(pub &'a [u8]);

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let (mut decoder, mut bytes) = (GzDecoder::new(self.0), Vec::new());
        let is_whole = !self.0.is_empty() && decoder.read_to_end(&mut bytes).is_ok();
        let after = is_whole.then(|| decoder.into_inner())?;
        let packed = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some(Member { packed, bytes })
    }
}

/// How every member begins.
const BEGINNING: [u8; 3] = [0x1f, 0x8b, 8];

/// Refuses a file in which whole members follow what is none: a cut leaves nothing behind it.
///
/// # Errors
/// The byte, from 0, and what is wrong there.
pub fn check(file: &[u8]) -> Result<(), String> {
    let (_, rest) = members(file);
    let begins = |at: &usize| rest[*at..].starts_with(&BEGINNING) && !members(&rest[*at..]).0.is_empty();
    match (1..rest.len()).find(begins) {
        Some(_) => Err(format!(
            "byte {} is damaged; mend or remove it in a copy of the folder",
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
    fn damage_before_whole_members_is_no_cut() {
        let all = [b"one\n".to_vec(), b"two\n".repeat(1000), b"three\n".to_vec()].map(|bytes| member(&bytes));
        let mut file = all.concat();
        let place = all[0].len() + all[1].len() / 2;
        file[place] ^= 0xff;
        let error = check(&file).unwrap_err();
        assert!(error.starts_with(&format!("byte {} is damaged", all[0].len())), "{error}");
    }
}
