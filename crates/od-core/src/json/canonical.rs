//! The canonical form (RFC 8785), its size, and the form on disk.
//!
//! Written by hand rather than with `serde_jcs`, which reads every key back from its own output: this
//! writer cannot fail, sorts references, and takes a fraction of the time. Both `serde_jcs` and
//! `serde_json_canonicalizer` are oracles in the tests.

use super::{Map, Value};

/// Returns the canonical form of a value: no spaces, keys sorted by UTF-16 code units, numbers as
/// ECMAScript prints them.
#[must_use]
pub fn canonical_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write_value(&mut out, value);
    out
}

/// Counts the bytes of the canonical form without making it.
#[must_use]
pub fn canonical_size(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => with_number_text(number, str::len),
        Value::String(text) => string_size(text),
        Value::Array(items) => {
            2 + items.len().saturating_sub(1) + items.iter().map(canonical_size).sum::<usize>()
        }
        Value::Object(map) => {
            let members: usize =
                map.iter().map(|(key, value)| string_size(key) + 1 + canonical_size(value)).sum();
            2 + map.len().saturating_sub(1) + members
        }
    }
}

/// Returns the form on disk: pretty-printed in the value's own key order, with a final newline.
#[must_use]
pub fn pretty_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing a `Value` to memory cannot fail: keys are strings and numbers are finite.
    if serde_json::to_writer_pretty(&mut out, value).is_err() {
        out = canonical_bytes(value);
    }
    out.push(b'\n');
    out
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => {
            with_number_text(number, |text| out.extend_from_slice(text.as_bytes()));
        }
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_value(out, item);
            }
            out.push(b']');
        }
        Value::Object(map) => write_object(out, map),
    }
}

fn write_object(out: &mut Vec<u8>, map: &Map) {
    let mut members: Vec<(&String, &Value)> = map.iter().collect();
    members.sort_unstable_by(|(a, _), (b, _)| compare_utf16(a, b));
    out.push(b'{');
    for (i, (key, value)) in members.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_string(out, key);
        out.push(b':');
        write_value(out, value);
    }
    out.push(b'}');
}

/// Compares by UTF-16 code units: as bytes do, except that characters past U+FFFF come before
/// U+E000 to U+FFFF.
fn compare_utf16(a: &str, b: &str) -> std::cmp::Ordering {
    if a.is_ascii() && b.is_ascii() {
        a.as_bytes().cmp(b.as_bytes())
    } else {
        a.encode_utf16().cmp(b.encode_utf16())
    }
}

pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    for (i, &byte) in bytes.iter().enumerate() {
        let extra = ESCAPE_EXTRA[usize::from(byte)];
        if extra == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[copied..i]);
        copied = i + 1;
        match byte {
            b'\x08' => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\x0c' => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            control => out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                HEX[usize::from(control >> 4)],
                HEX[usize::from(control & 15)],
            ]),
        }
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// The bytes that a byte of a string grows by in canonical form.
pub(super) const ESCAPE_EXTRA: [u8; 256] = {
    let mut extra = [0; 256];
    let mut control = 0;
    while control < 0x20 {
        extra[control] = 5;
        control += 1;
    }
    extra[0x08] = 1;
    extra[b'\t' as usize] = 1;
    extra[b'\n' as usize] = 1;
    extra[0x0c] = 1;
    extra[b'\r' as usize] = 1;
    extra[b'"' as usize] = 1;
    extra[b'\\' as usize] = 1;
    extra
};

/// Counts the bytes of a string in canonical form, quotes included.
pub(super) fn string_size(text: &str) -> usize {
    let escapes: usize = text.bytes().map(|b| usize::from(ESCAPE_EXTRA[usize::from(b)])).sum();
    text.len() + 2 + escapes
}

/// Prints a number as ECMAScript does and hands the text on.
pub(super) fn with_number_text<T>(number: &serde_json::Number, take: impl FnOnce(&str) -> T) -> T {
    // Small integers print alike in both; everything else goes through the double it is.
    const EXACT: i64 = (1 << 53) - 1;
    match number.as_i64() {
        Some(integer) if (-EXACT..=EXACT).contains(&integer) => take(itoa(integer, &mut [0; 20])),
        Some(_) | None => {
            // Without `arbitrary_precision` every number is a finite double or an integer.
            let double = number.as_f64().unwrap_or(0.0);
            take(ryu_js::Buffer::new().format_finite(double))
        }
    }
}

/// Prints an integer of at most 16 digits into the end of a buffer.
fn itoa(integer: i64, buffer: &mut [u8; 20]) -> &str {
    let mut rest = integer.unsigned_abs();
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    std::str::from_utf8(&buffer[at..]).unwrap_or("0")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, want: &str) {
        let bytes = canonical_bytes(value);
        assert_eq!(String::from_utf8(bytes.clone()).unwrap(), want);
        assert_eq!(canonical_size(value), bytes.len());
    }

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 8785 section 3.2.2 and 3.2.3.
        let value: Value = serde_json::from_str(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                "literals":[null,true,false]}"#,
        )
        .unwrap();
        check(
            &value,
            concat!(
                r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#,
                r#""string":"€$\u000f\nA'B\"\\\\\"/"}"#
            ),
        );
    }

    #[test]
    fn keys_are_sorted_by_utf16_units() {
        let value = json!({ "\u{fb33}": 1, "😀": 2, "é": 3, "a": 4, "\r": 5 });
        check(&value, "{\"\\r\":5,\"a\":4,\"é\":3,\"😀\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn integers_and_doubles_print_as_ecmascript_does() {
        check(&json!(-0.0), "0");
        check(&json!(9_007_199_254_740_991_i64), "9007199254740991");
        check(&json!(-9_007_199_254_740_991_i64), "-9007199254740991");
        check(&json!(1e21), "1e+21");
        check(&json!(1e-7), "1e-7");
        check(&json!(0), "0");
        check(&json!(u64::MAX), "18446744073709552000");
    }

    #[test]
    fn the_form_on_disk_ends_with_a_newline() {
        assert_eq!(pretty_bytes(&json!({ "b": 1, "a": 2 })), b"{\n  \"b\": 1,\n  \"a\": 2\n}\n");
    }
}
