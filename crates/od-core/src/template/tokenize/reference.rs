//! Character references in literal attribute values.

use std::borrow::Cow;

/// A reference whose meaning this module does not know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct UnknownReference {
    /// Offset of the `&` in the text.
    pub(crate) at: usize,
    /// The length with the semicolon.
    pub(crate) length: usize,
}

/// Decodes the references in an attribute value.
///
/// Numeric references and the names below are decoded. Another name with a semicolon is an error:
/// whoever checks a URL must know what it says. Names without a semicolon mean characters outside
/// ASCII, or one of `& < > "`, none of which turns a relative URL into another one.
pub(crate) fn decode(text: &str) -> Result<Cow<'_, str>, UnknownReference> {
    let mut decoded = String::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'&', &text.as_bytes()[at..]) {
        let start = at + found;
        decoded.push_str(&text[at..start]);
        let (value, length) =
            reference(&text[start..]).map_err(|length| UnknownReference { at: start, length })?;
        decoded.push(value);
        at = start + length;
    }
    if at == 0 {
        return Ok(Cow::Borrowed(text));
    }
    decoded.push_str(&text[at..]);
    Ok(Cow::Owned(decoded))
}

/// Finds the `&` of an unfinished reference at the end of the text, which what follows could complete.
pub(crate) fn ends_in_reference(text: &str) -> Option<usize> {
    let tail =
        text.bytes().rev().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    let ampersand = text.len().checked_sub(tail + 1)?;
    (text.as_bytes()[ampersand] == b'&').then_some(ampersand)
}

/// Reads the reference at the start of the text, which begins with `&`.
///
/// # Errors
///
/// Returns the length of a name that is not known here.
pub(crate) fn reference(text: &str) -> Result<(char, usize), usize> {
    if let Some(digits) = text.strip_prefix("&#") {
        return Ok(numeric(digits).unwrap_or(('&', 1)));
    }
    let name_length = text[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    let has_semicolon = text.as_bytes().get(1 + name_length) == Some(&b';');
    if name_length == 0 || !has_semicolon {
        return Ok(('&', 1));
    }
    let length = name_length + 2;
    match named(&text[1..=name_length]) {
        Some(value) => Ok((value, length)),
        None => Err(length),
    }
}

fn numeric(text: &str) -> Option<(char, usize)> {
    let (radix, prefix) = if text.starts_with(['x', 'X']) { (16, 1) } else { (10, 0) };
    let digits = text[prefix..].chars().take_while(|digit| digit.is_digit(radix)).count();
    if digits == 0 {
        return None;
    }
    let end = prefix + digits;
    let code = u32::from_str_radix(&text[prefix..end], radix).unwrap_or(u32::MAX);
    let value =
        char::from_u32(code).filter(|value| *value != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
    let semicolon = usize::from(text.as_bytes().get(end) == Some(&b';'));
    Some((value, 2 + end + semicolon))
}

#[rustfmt::skip]
fn named(name: &str) -> Option<char> {
    Some(match name {
        "amp" | "AMP" => '&', "lt" | "LT" => '<', "gt" | "GT" => '>', "quot" | "QUOT" => '"', "apos" => '\'',
        "nbsp" => '\u{A0}', "shy" => '\u{AD}', "copy" => '©', "reg" => '®', "trade" => '™', "deg" => '°',
        "middot" => '·', "bull" => '•', "hellip" => '…', "ndash" => '–', "mdash" => '—',
        "lsquo" => '‘', "rsquo" => '’', "ldquo" => '“', "rdquo" => '”', "laquo" => '«', "raquo" => '»',
        "euro" => '€', "pound" => '£', "yen" => '¥', "cent" => '¢', "sect" => '§', "para" => '¶',
        "times" => '×', "divide" => '÷', "plusmn" => '±', "minus" => '−', "larr" => '←', "rarr" => '→',
        "uarr" => '↑', "darr" => '↓', "auml" => 'ä', "ouml" => 'ö', "uuml" => 'ü', "Auml" => 'Ä',
        "Ouml" => 'Ö', "Uuml" => 'Ü', "szlig" => 'ß', "eacute" => 'é', "egrave" => 'è', "agrave" => 'à',
        "colon" => ':', "sol" => '/', "bsol" => '\\', "Tab" => '\t', "NewLine" => '\n', "num" => '#',
        "lpar" => '(', "rpar" => ')', "semi" => ';', "period" => '.', "comma" => ',', "quest" => '?',
        "excl" => '!', "equals" => '=', "percnt" => '%', "plus" => '+', "lowbar" => '_', "commat" => '@',
        "lbrace" | "lcub" => '{', "rbrace" | "rcub" => '}', "lsqb" | "lbrack" => '[', "rsqb" | "rbrack" => ']',
        "ast" | "midast" => '*', "dollar" => '$', "Hat" => '^', "grave" => '`', "vert" | "verbar" => '|',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_as_html_decodes_them_in_attributes() {
        let check =
            |text: &str, expected: &str| assert_eq!(decode(text).unwrap(), expected, "{text}");
        check("a&amp;b", "a&b");
        check("?a=1&b=2&copy=3&", "?a=1&b=2&copy=3&");
        check("&#106;&#x61;&#X76&#97script&colon;", "javascript:");
        check("&#0;&#1114112;&#xD800;&#99999999999;", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}");
        check("&#;&#x;&;", "&#;&#x;&;");
        assert_eq!(decode("x&nosuch;"), Err(UnknownReference { at: 1, length: 8 }));
    }

    #[test]
    fn an_unfinished_reference_is_seen() {
        for text in ["&", "a&am", "&#", "&#x1F", "&#12", "x&amp", "&&"] {
            assert!(ends_in_reference(text).is_some(), "{text}");
        }
        for text in ["", "amp", "&amp;", "& ", "&a b", "&-"] {
            assert!(ends_in_reference(text).is_none(), "{text}");
        }
    }
}
