//! Text from other sources in a form that is safe to show: characters that control a terminal, or cannot be
//! written as XML, are made visible when the text is read.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Whether a character affects the display: a control character except line ends and tabs, one that changes
/// the direction of writing, or a noncharacter such as U+FFFE.
fn steers(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}');
    let is_none = matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    turns || is_none || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// The text with control characters and similar ones as `\u{1b}`; line ends and tabs stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return text.into();
    }
    let shown = |shown: String, c: char| match steers(c) {
        true => shown + &c.escape_unicode().to_string(),
        false => shown + c.encode_utf8(&mut [0; 4]),
    };
    text.chars().fold(String::with_capacity(text.len()), shown).into()
}

/// The same for a file's bytes, if they are text.
pub fn plain_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(bytes).map(plain) {
        Ok(Cow::Owned(text)) => text.into_bytes().into(),
        _ => bytes.into(),
    }
}

/// The value of a JSON text, with all of its strings plain.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    fn walk(value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(shown) = plain(text) {
                    *text = shown;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(walk),
            Value::Object(fields) => fields.values_mut().for_each(walk),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    // The unchanged text first: errors include the place in the text, which a parsed value does not have.
    serde_json::from_slice::<T>(bytes)?;
    let mut value = serde_json::from_slice(bytes)?;
    walk(&mut value);
    serde_json::from_value(value)
}

/// How a process ended, without the decoration that launchers draw around a crash, and without stack frames.
pub fn undecorated(ending: &str) -> String {
    const OUTPUT: &str = "last output:";
    const DECORATION: [&str; 6] = ["=", "/", "--", "YOU CAN IGNORE", "This typically refers", "Please see"];
    let is_useful = |text: &&str| !DECORATION.iter().any(|start| text.starts_with(start));
    let pieces = ending.replacen(&format!("{OUTPUT} "), &format!("{OUTPUT} | "), 1);
    let text = pieces.split(" | ").filter(is_useful).collect::<Vec<_>>().join(" | ");
    let text = text.replacen(&format!("{OUTPUT} | "), &format!("{OUTPUT} "), 1);
    text.trim_end_matches(&format!("; {OUTPUT}")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_shown_without_its_frame() {
        let note =
            "exit code 11; last output: ===== | =   PID 1 | Segmentation fault | /lib/libmpi.so(+0x1) [0x2]";
        assert_eq!(undecorated(note), "exit code 11; last output: Segmentation fault");
        assert_eq!(undecorated("killed; last output: ===="), "killed");
    }

    #[test]
    fn what_steers_a_terminal_is_shown() {
        assert_eq!(plain("a\tb\r\nc \u{e9}"), "a\tb\r\nc \u{e9}");
        assert_eq!(plain("\u{1b}[8mx\u{9b}2J\u{7}\u{7f}"), "\\u{1b}[8mx\\u{9b}2J\\u{7}\\u{7f}");
        assert_eq!(plain("a\u{202e}b\u{fffe}c\u{1ffff}\u{2066}"), "a\\u{202e}b\\u{fffe}c\\u{1ffff}\\u{2066}");
        assert_eq!(*plain_bytes(b"a,\x1b]0;x\n"), *b"a,\\u{1b}]0;x\n");
        assert_eq!(*plain_bytes(b"\xff\x1b"), *b"\xff\x1b", "no text");
    }

    #[test]
    fn strings_of_json_are_plain() {
        let texts: Vec<Vec<String>> = from_json(br#"[["\u001b[1m"], ["b"]]"#).unwrap();
        assert_eq!(texts, [["\\u{1b}[1m"], ["b"]]);
        assert!(from_json::<Vec<String>>(b"[1]").unwrap_err().to_string().contains("line 1"));
    }
}
