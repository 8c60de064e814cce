//! Values of a database as cells of a table. The server writes each as text, in forms that are set.

use std::borrow::Cow;

use od_core::intake::{CellRef, plain_number};
use tokio_postgres::types::{Kind, Type};

/// A way to read a column's texts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ColumnKind {
    Bool,
    Integer,
    Real,
    Decimal,
    Timestamp,
    Bytes,
    /// As the server writes it: texts, dates, JSON, arrays, whatever else there is.
    Text,
}

impl ColumnKind {
    /// Tells how a type is read.
    pub(super) fn of(kind: &Type) -> Self {
        if let Kind::Domain(inner) = kind.kind() {
            return Self::of(inner);
        }
        match *kind {
            Type::BOOL => Self::Bool,
            Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => Self::Integer,
            Type::FLOAT4 | Type::FLOAT8 => Self::Real,
            Type::NUMERIC => Self::Decimal,
            Type::TIMESTAMP | Type::TIMESTAMPTZ => Self::Timestamp,
            Type::BYTEA => Self::Bytes,
            _ => Self::Text,
        }
    }

    /// Reads one value.
    pub(super) fn cell(self, text: &str) -> CellRef<'_> {
        let as_text = || CellRef::Text(Cow::Borrowed(text));
        match self {
            Self::Bool => CellRef::Bool(text == "t"),
            Self::Integer => text.parse().map_or_else(|_| as_text(), CellRef::Integer),
            Self::Real => match text.parse::<f64>() {
                Ok(real) if real.is_finite() => CellRef::Real(real),
                // JSON has no NaN and no infinity.
                Ok(_) => CellRef::Null,
                Err(_) => as_text(),
            },
            Self::Decimal => decimal(text),
            Self::Timestamp => CellRef::Text(Cow::Owned(timestamp(text))),
            Self::Bytes => {
                let bytes = text.len().saturating_sub("\\x".len()) / 2;
                CellRef::Text(Cow::Owned(format!("bytea ({bytes} bytes)")))
            }
            Self::Text => as_text(),
        }
    }
}

/// An exact decimal is a number if a number can hold it, else its text.
fn decimal(text: &str) -> CellRef<'_> {
    if !text.bytes().all(|b| b.is_ascii_digit() || b"-.".contains(&b)) {
        return CellRef::Null;
    }
    let shortest = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    };
    plain_number(shortest).unwrap_or(CellRef::Text(Cow::Borrowed(text)))
}

/// Writes a time as RFC 3339; those with a zone are in UTC. `infinity` and years before Christ stay.
fn timestamp(text: &str) -> String {
    let written = text.replacen(' ', "T", 1);
    match written.strip_suffix("+00") {
        Some(utc) => format!("{utc}Z"),
        None => written,
    }
}

#[cfg(test)]
mod tests {
    use od_core::json::Value;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(kind: ColumnKind, text: &str, expected: &Value) {
        assert_eq!(kind.cell(text).to_value(), *expected, "{kind:?} {text}");
    }

    #[test]
    fn a_value_is_a_number_where_a_number_can_hold_it() {
        check(ColumnKind::Integer, "9007199254740991", &json!(9_007_199_254_740_991_i64));
        check(ColumnKind::Integer, "9007199254740993", &json!("9007199254740993"));
        check(ColumnKind::Decimal, "19.90", &json!(19.9));
        check(ColumnKind::Decimal, "0.00", &json!(0));
        check(ColumnKind::Decimal, "-12", &json!(-12));
        check(ColumnKind::Decimal, "2.3333333333333333", &json!("2.3333333333333333"));
        check(ColumnKind::Decimal, "NaN", &json!(null));
        check(ColumnKind::Real, "-Infinity", &json!(null));
        check(ColumnKind::Real, "1e-07", &json!(1e-7));
        check(ColumnKind::Bool, "f", &json!(false));
    }

    #[test]
    fn times_and_bytes_have_one_form() {
        check(ColumnKind::Timestamp, "2026-05-01 10:00:00.5+00", &json!("2026-05-01T10:00:00.5Z"));
        check(ColumnKind::Timestamp, "2026-05-01 10:00:00", &json!("2026-05-01T10:00:00"));
        check(ColumnKind::Timestamp, "infinity", &json!("infinity"));
        check(ColumnKind::Bytes, "\\x0001ff", &json!("bytea (3 bytes)"));
    }
}
