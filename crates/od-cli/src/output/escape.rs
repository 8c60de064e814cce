//! Escapes stored text for a terminal.

use std::borrow::Cow;

/// Returns the text with every character that could steer a terminal written as `\u{…}`.
///
/// That is: control characters (C0, C1, DEL), bidirectional controls, line and paragraph
/// separators, invisible marks and tag characters. A newline is one of them: a title has one line.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Emoji of several parts and Arabic, Persian or Indic words need joiners. Between Latin
            // letters they would only make two titles look alike.
            '\u{200c}' | '\u{200d}' if !before.is_ascii() => out.push(character),
            _ if steers(character) => out.push_str(&format!("\\u{{{:x}}}", u32::from(character))),
            _ => out.push(character),
        }
        before = character;
    }
    Cow::Owned(out)
}

/// Returns JSON text in which those characters are written as `\uXXXX`; it means the same.
///
/// JSON writers escape C0 only; C1 and bidirectional controls would reach the terminal as they are.
/// Newlines and tabs outside strings are layout and stay.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let odd = |character: char| steers(character) && !matches!(character, '\n' | '\t' | '\r');
    if !json.chars().any(odd) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if odd(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_passes() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7}\u{202e}b\u{2066}\u{7f}\n\u{e0041}ü漢";
        let shown = escape(hostile);
        assert!(!shown.chars().any(steers), "{shown}");
        assert_eq!(shown, "a\\u{1b}[2J\\u{9b}31m\\u{7}\\u{202e}b\\u{2066}\\u{7f}\\n\\u{e0041}ü漢");
    }

    #[test]
    fn emoji_and_right_to_left_titles_are_shown_as_they_are() {
        for title in ["👩\u{200d}💻 Équipe 🇩🇪 ❤\u{fe0f}", "לוח מחוונים", "می\u{200c}خواهم"]
        {
            assert_eq!(escape(title), title);
        }
        assert_eq!(escape("a\u{200d}b"), "a\\u{200d}b");
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(escape("Release dashboard · 可刷新"), Cow::Borrowed(_)));
    }

    #[test]
    fn escaped_json_means_the_same() {
        let value = serde_json::json!({ "t": "a\u{1b}\u{9b}\u{202e}\u{e0041}\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = escape_json(&text);
        assert!(!shown.chars().any(|c| steers(c) && c != '\n'), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
