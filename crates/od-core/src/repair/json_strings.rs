//! Strings that are almost JSON: quotation marks and line breaks inside, ends that are missing.

/// Escapes what stands in a text as it was written, line breaks and quotation marks included.
pub(super) fn escape(inner: &str, from: usize, put: &mut impl FnMut(std::ops::Range<usize>, &str)) {
    let mut before = '\0';
    for (found, mark) in inner.char_indices() {
        let at = from + found;
        match mark {
            '"' if before != '\\' => put(at..at + 1, "\\\""),
            '\n' => put(at..at + 1, "\\n"),
            '\r' => put(at..at + 1, "\\r"),
            '\t' => put(at..at + 1, "\\t"),
            _ => {}
        }
        before = mark;
    }
}

/// Passes a string over; line breaks and tabs in it are escaped. Returns where it ends.
pub(super) fn string(
    text: &str,
    open: usize,
    close: char,
    put: &mut impl FnMut(std::ops::Range<usize>, &str),
) -> usize {
    let start = if text[open..].starts_with('"') && close == '"' { open + 1 } else { open };
    if close == '"'
        && let Some(end) = key_end(text, open, start, put)
    {
        return end;
    }
    let mut escaped = false;
    for (found, mark) in text[start..].char_indices() {
        let at = start + found;
        match mark {
            // A line that goes on behind a backslash, as in JavaScript.
            '\n' if escaped => {
                put(at - 1..at + 1, "");
                escaped = false;
            }
            _ if escaped => {
                if close == '"' && !"\"\\/bfnrtu".contains(mark) {
                    put(at - 1..at, "\\\\");
                }
                escaped = false;
            }
            '\\' => escaped = true,
            // `"green,` and a member on the next line: the text was not closed.
            '\n' if close == '"' && lacks_its_end(&text[start..at], &text[at..]) => {
                let end = start + text[start..at].trim_end().trim_end_matches(',').len();
                put(end..end, "\"");
                return end;
            }
            '\n' => put(at..at + 1, "\\n"),
            '\r' => put(at..at + 1, "\\r"),
            '\t' => put(at..at + 1, "\\t"),
            mark if mark == close => {
                let behind = text[at + mark.len_utf8()..].trim_start();
                // `"one" + "two"`: one text.
                if close == '"'
                    && let Some(next) = behind.strip_prefix('+').map(str::trim_start)
                    && next.starts_with('"')
                {
                    let opens = text.len() - next.len();
                    put(at..opens + 1, "");
                    return string(text, opens, close, put);
                }
                let ends = behind.is_empty()
                    || behind.starts_with([',', ':', '}', ']', '\n', '：', '，'])
                    || text[at + 1..].starts_with('\n');
                if ends || close != '"' {
                    return at + mark.len_utf8();
                }
                // `"Ops, "total": 8`: the text was not closed, and this begins the next key.
                let before = text[start..at].trim_end();
                let key = text[at + 1..].split_once("\":").map(|(key, _)| key);
                if before.ends_with(',')
                    && !before.contains(['<', '{', '\n'])
                    && key.is_some_and(|key| key.chars().all(|c| c.is_alphanumeric() || c == '_'))
                {
                    let end = start + before.trim_end_matches(',').len();
                    put(end..end, "\"");
                    return end;
                }
                // A quotation mark inside a text, as HTML has them.
                put(at..at + 1, "\\\"");
            }
            _ => {}
        }
    }
    text.len()
}

/// Ends a key that is not closed (`"total: 42`), or that lacks its colon (`"total" 42`).
fn key_end(
    text: &str,
    open: usize,
    start: usize,
    put: &mut impl FnMut(std::ops::Range<usize>, &str),
) -> Option<usize> {
    if !text[..open].trim_end().ends_with(['{', ',']) {
        return None;
    }
    let line = text[start..].lines().next().unwrap_or_default();
    let length = line.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(0);
    let behind = &line[length..];
    if length > 0 && behind.starts_with(':') && !behind.contains('"') {
        put(start + length..start + length, "\"");
        return Some(start + length);
    }
    let value = behind.strip_prefix('"')?.trim_start();
    let lacks_colon = value.starts_with(|c: char| c.is_ascii_digit() || "{[-".contains(c))
        || ["=", "true", "false", "null"].iter().any(|word| value.starts_with(word));
    (length > 0 && lacks_colon).then_some(start + length + 1)
}

/// Returns whether a text that reaches the end of its line should have been closed there.
fn lacks_its_end(inner: &str, behind: &str) -> bool {
    let next = behind.trim_start();
    let is_member = next
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
        .is_some_and(|(key, rest)| !key.contains('\n') && rest.trim_start().starts_with(':'));
    let ends = inner.trim_end().ends_with(',') && is_member || next.starts_with(['}', ']']);
    ends && !inner.contains(['\n', '<', '{'])
}
