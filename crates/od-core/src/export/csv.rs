//! Tables of the data as CSV (RFC 4180), safe to open in a spreadsheet.

use std::borrow::Cow;

use serde_json::Value;

/// Writes one record.
///
/// A text that a spreadsheet would take for a formula has an apostrophe before it; numbers stay
/// numbers, also negative ones.
pub(crate) fn write_record<'c>(cells: impl Iterator<Item = &'c str>, csv: &mut String) {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            csv.push(',');
        }
        let guarded = guarded(cell);
        if guarded.contains([',', '"', '\n', '\r', ';', '\t']) {
            csv.push('"');
            csv.push_str(&guarded.replace('"', "\"\""));
            csv.push('"');
        } else {
            csv.push_str(&guarded);
        }
    }
    csv.push_str("\r\n");
}

/// Returns the text with an apostrophe before what would be a formula.
///
/// Also behind a semicolon or a tab: a spreadsheet that takes those for its separator (LibreOffice does
/// in half of Europe) cuts there, whatever the quotation marks say of commas.
fn guarded(cell: &str) -> Cow<'_, str> {
    if !cell.contains([';', '\t']) {
        return if may_be_formula(cell) { Cow::Owned(format!("'{cell}")) } else { cell.into() };
    }
    let mut safe = String::with_capacity(cell.len() + 1);
    for part in cell.split_inclusive([';', '\t']) {
        if may_be_formula(part) {
            safe.push('\'');
        }
        safe.push_str(part);
    }
    Cow::Owned(safe)
}

fn may_be_formula(cell: &str) -> bool {
    // The full-width forms are folded into the plain ones by some.
    const SIGNS: [char; 11] =
        ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    // `-inf` is a number to Rust, and a name to a spreadsheet.
    let is_number = || {
        let is_mark = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e');
        let number = cell.trim_end_matches([';', '\t']);
        number.bytes().all(is_mark) && number.parse::<f64>().is_ok()
    };
    let begins = |text: &str| text.starts_with(SIGNS);
    (begins(cell) || begins(cell.trim_start())) && !is_number()
}

/// A list of the data, or an object, as rows of text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct DataTable {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl DataTable {
    /// Reads a list of objects (a column for each key, in the order they first appear), of lists (a
    /// column for each place) or of values, or an object (a row for each key). Nothing else is a
    /// table.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                Some(Self::of_objects(items))
            }
            Value::Array(items) => Some(Self::of_lists(items)),
            Value::Object(map) => Some(Self {
                columns: vec!["key".to_owned(), "value".to_owned()],
                rows: map.iter().map(|(key, value)| vec![key.clone(), cell(value)]).collect(),
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    fn of_objects(items: &[Value]) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for key in items.iter().filter_map(Value::as_object).flat_map(|row| row.keys()) {
            if !columns.contains(key) {
                columns.push(key.clone());
            }
        }
        let row = |item: &Value| {
            let value = |column: &String| item.get(column).map(cell).unwrap_or_default();
            columns.iter().map(value).collect()
        };
        Self { rows: items.iter().map(row).collect(), columns }
    }

    fn of_lists(items: &[Value]) -> Self {
        let width = items.iter().map(|item| item.as_array().map_or(1, Vec::len)).max().unwrap_or(1);
        let columns = match width {
            1 => vec!["value".to_owned()],
            _ => (1..=width).map(|column| column.to_string()).collect(),
        };
        let row = |item: &Value| {
            let alone = std::slice::from_ref(item);
            let cells = item.as_array().map_or(alone, Vec::as_slice);
            let mut row: Vec<String> = cells.iter().map(cell).collect();
            row.resize(width, String::new());
            row
        };
        Self { columns, rows: items.iter().map(row).collect() }
    }

    pub(crate) fn to_csv(&self) -> String {
        let mut csv = String::new();
        write_record(self.columns.iter().map(String::as_str), &mut csv);
        for row in &self.rows {
            write_record(row.iter().map(String::as_str), &mut csv);
        }
        csv
    }
}

/// Returns a value as text: nothing for null, JSON for lists and objects.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(cells: &[&str]) -> String {
        let mut csv = String::new();
        write_record(cells.iter().copied(), &mut csv);
        csv
    }

    #[test]
    fn a_formula_behind_another_separator_is_guarded_too() {
        assert_eq!(record(&["a;=cmd|'/c calc'!A0"]), "\"a;'=cmd|'/c calc'!A0\"\r\n");
        assert_eq!(record(&["a\t@SUM(1)"]), "\"a\t'@SUM(1)\"\r\n");
        assert_eq!(record(&["\u{ff1d}1", "\n=1", " =1"]), "'\u{ff1d}1,\"'\n=1\",' =1\r\n");
        assert_eq!(record(&["1;-2", "a; b"]), "\"1;-2\",\"a; b\"\r\n");
    }

    #[test]
    fn cells_are_quoted_where_they_must_be_and_no_text_is_a_formula() {
        assert_eq!(record(&["a,b", "say \"x\"", "1\n2"]), "\"a,b\",\"say \"\"x\"\"\",\"1\n2\"\r\n");
        assert_eq!(record(&["-1.5", "-x", "=A1,2", "@a", ""]), "-1.5,'-x,\"'=A1,2\",'@a,\r\n");
        assert_eq!(record(&["-inf", "+1e9", "\tx", "\rx"]), "'-inf,+1e9,\"'\tx\",\"'\rx\"\r\n");
    }

    #[test]
    fn lists_and_objects_are_tables() {
        let csv = |value: Value| DataTable::of(&value).unwrap().to_csv();
        assert_eq!(
            csv(json!([{ "a": 1, "b": null }, { "c": [1, 2], "a": "x" }, 5])),
            "a,b,c\r\n1,,\r\nx,,\"[1,2]\"\r\n,,\r\n"
        );
        assert_eq!(csv(json!([3, "=x", true])), "value\r\n3\r\n'=x\r\ntrue\r\n");
        assert_eq!(csv(json!([[1, 2], [3]])), "1,2\r\n1,2\r\n3,\r\n");
        assert_eq!(csv(json!({ "a": 1.5 })), "key,value\r\na,1.5\r\n");
        assert_eq!(csv(json!([])), "value\r\n");
        assert_eq!(DataTable::of(&json!("x")), None);
    }
}
