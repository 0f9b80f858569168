//! Text in Markdown that is shown as it is: names of MPIs and runs may have been chosen by somebody else.

/// The text without anything that is markup: HTML, links, emphasis, code, formulas, and at its beginning
/// headings and lists. It is one line. An underscore between letters, as in names of tests, is none of these.
///
/// A word that GitHub or GitLab would make a link, or that would notify somebody, becomes code: they look for
/// such words in the finished page, so neither a backslash nor an entity helps.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut all = text;
    while !all.is_empty() {
        // No escape works in code, so a word of code has neither of these two.
        let end = |c: char| c.is_whitespace() || matches!(c, '`' | '|');
        let (word, rest) = all.split_at(all.find(end).unwrap_or(all.len()));
        if is_active(word) {
            escaped += &format!("`{word}`");
        } else {
            add_word(&mut escaped, word);
        }
        let mut rest = rest.chars();
        match rest.next() {
            Some('\n' | '\r') => escaped.push(' '),
            Some(c @ ('`' | '|')) => escaped.extend(['\\', c]),
            other => escaped.extend(other),
        }
        all = rest.as_str();
    }
    escaped
}

/// Whether a word has an address, or mentions somebody or an issue, a change or a milestone.
fn is_active(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_numbered = |mark| {
        let mut behind = word.split(mark).skip(1);
        behind.any(|rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    ["@", "://", "www."].iter().any(|mark| word.contains(mark))
        || ["#", "!", "$", "%", "&", "~", "gh-"].into_iter().any(is_numbered)
}

fn add_word(escaped: &mut String, word: &str) {
    let mut last = None;
    let mut all = word.chars().peekable();
    while let Some(c) = all.next() {
        let is_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match c {
            '&' => *escaped += "&amp;",
            '<' => *escaped += "&lt;",
            '>' => *escaped += "&gt;",
            '_' if is_of_word(last) && is_of_word(all.peek().copied()) => escaped.push(c),
            // Without these, brackets are not a link, and intervals stay readable.
            ']' if !matches!(all.peek(), Some('(' | '[' | ':')) => escaped.push(c),
            '#' | '+' | '-' | '=' if escaped.trim_start().is_empty() => escaped.extend(['\\', c]),
            '.' | ')' if !escaped.is_empty() && escaped.bytes().all(|c| c.is_ascii_digit()) => {
                escaped.extend(['\\', c]);
            }
            '\\' | '*' | '_' | ']' | '~' | '$' | '!' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
        last = Some(c);
    }
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, html};

    use super::*;

    /// As GitHub and GitLab have them. Without typographic quotes and dashes.
    const EXTENSIONS: Options = Options::all().difference(Options::ENABLE_SMART_PUNCTUATION);

    /// The text of the only paragraph or cell; anything else in it is markup.
    fn shown(markdown: &str) -> String {
        let events = Parser::new_ext(markdown, EXTENSIONS);
        let text = |event| match event {
            // GitHub and GitLab look for links in text, but not in code.
            Event::Text(text) => {
                assert!(!ACTIVE.iter().any(|active| text.contains(active)), "{markdown:?} has {text:?}");
                Some(text.to_string())
            }
            Event::Code(code) => Some(code.to_string()),
            Event::Start(tag) => {
                let is_frame = matches!(format!("{tag:?}").split(['(', ' ']).next(), Some("Paragraph"));
                assert!(is_frame, "{markdown:?} has {tag:?}");
                None
            }
            Event::End(_) => None,
            other => panic!("{markdown:?} has {other:?}"),
        };
        events.filter_map(text).collect()
    }

    /// Text that becomes a link or notifies somebody.
    const ACTIVE: [&str; 12] =
        ["@team", "@b.c", "#12", "GH-12", "gh-12", "://", "www.", "WWW.", "!12", "%12", "&12", "~12"];

    fn texts() -> Vec<&'static str> {
        include_str!("markdown_texts.txt").lines().collect()
    }

    #[test]
    fn every_text_is_shown_as_it_is() {
        for text in texts() {
            assert_eq!(shown(&escaped(text)), text);
            assert_eq!(shown(&format!("x {}", escaped(text))), format!("x {text}"));
        }
        assert_eq!(shown(&escaped("a\n\n# b")), "a  # b");
        assert_eq!(escaped("nas_lu_y: 2.5x [1, 2] (5%)"), "nas_lu_y: 2.5x [1, 2] (5%)");
    }

    #[test]
    fn a_table_has_its_cells_and_nothing_else() {
        let row = texts().into_iter().map(escaped).collect::<Vec<_>>().join(" | ");
        let dashes = vec!["---"; texts().len()].join(" | ");
        let mut page = String::new();
        let table = format!("| {row} |\n| {dashes} |\n");
        html::push_html(&mut page, Parser::new_ext(&table, EXTENSIONS));
        assert_eq!(page.matches("<th>").count(), texts().len(), "{page}");
        let tags = [
            "<table>", "<thead>", "<tr>", "<th>", "</th>", "</tr>", "</thead>", "<tbody>", "</tbody>",
            "</table>", "<code>", "</code>",
        ];
        let rest = tags.iter().fold(page.clone(), |page, tag| page.replace(tag, ""));
        assert!(!rest.contains('<'), "{rest}");
    }
}
