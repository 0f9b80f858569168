//! Text in Markdown that is shown as it is: names of MPIs and runs may have been chosen by somebody else.

/// The text without anything that is a markup language: HTML, links, emphasis, code, formulas, and at its beginning headings and lists.
/// It is one line. An underscore between letters, as in names of tests, is none of these.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut last = None;
    let mut all = text.chars().peekable();
    while let Some(c) = all.next() {
        let is_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\n' | '\r' => escaped.push(' '),
            '_' if is_of_word(last) && is_of_word(all.peek().copied()) => escaped.push(c),
            // Without these, brackets are not a link, and intervals stay readable.
            ']' if !matches!(all.peek(), Some('(' | '[' | ':')) => escaped.push(c),
            '#' | '+' | '-' | '=' if escaped.trim_start().is_empty() => escaped.extend(['\\', c]),
            '.' | ')' if !escaped.is_empty() && escaped.bytes().all(|c| c.is_ascii_digit()) => {
                escaped.extend(['\\', c]);
            }
            '\\' | '`' | '*' | '_' | ']' | '|' | '~' | '$' | '!' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
        last = Some(c);
    }
    escaped
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
            Event::Text(text) => Some(text.to_string()),
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

    const TEXTS: [&str; 24] = [
        "<img src=x onerror=alert(1)>",
        "a <!-- b",
        "&lt;b&gt; & &#64;",
        "[x](javascript:1)",
        "![x](y)",
        "[x][y]",
        "[x]: http://y",
        "a|b",
        "`code`",
        "**bold** *it* _it_ __b__",
        "~~gone~~ ~gone~",
        "# heading",
        "- item",
        "+ item",
        "* item",
        "1. item",
        "12) item",
        "> quote",
        "===",
        "---",
        "$x$ and $$y$$",
        "a\\b \\* \\",
        "nas_lu_y ddt: 1.67x [1.42, 1.98]",
        "-5% to +3%, _a and b_, x!",
    ];

    #[test]
    fn every_text_is_shown_as_it_is() {
        for text in TEXTS {
            assert_eq!(shown(&escaped(text)), text);
            assert_eq!(shown(&format!("x {}", escaped(text))), format!("x {text}"));
        }
        assert_eq!(shown(&escaped("a\n\n# b")), "a  # b");
        assert_eq!(escaped("nas_lu_y: 2.5x [1, 2] (5%)"), "nas_lu_y: 2.5x [1, 2] (5%)");
    }

    #[test]
    fn a_table_has_its_cells_and_nothing_else() {
        let row = TEXTS.map(escaped).join(" | ");
        let dashes = ["---"; TEXTS.len()].join(" | ");
        let mut page = String::new();
        let table = format!("| {row} |\n| {dashes} |\n");
        html::push_html(&mut page, Parser::new_ext(&table, EXTENSIONS));
        assert_eq!(page.matches("<th>").count(), TEXTS.len(), "{page}");
        let tags = [
            "<table>", "<thead>", "<tr>", "<th>", "</th>", "</tr>", "</thead>", "<tbody>", "</tbody>",
            "</table>",
        ];
        let rest = tags.iter().fold(page.clone(), |page, tag| page.replace(tag, ""));
        assert!(!rest.contains('<'), "{rest}");
    }
}
