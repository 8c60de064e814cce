//! The output of a source, before a mapping or query picks from it.
//!
//! An intake may be a hundred times larger than what is stored: a log of 100,000 lines becomes ten
//! numbers. So it has limits of its own, held in forms whose memory is about the size of the bytes,
//! and only what is picked is checked against the limits of stored JSON.
//!
//! ```
//! use od_core::intake::{Intake, JsonText};
//!
//! let output = Intake::from(JsonText::parse(br#"{ "rows": [{ "n": 1 }] }"#).unwrap());
//! let found = output.resolve(&"rows.0.n".parse().unwrap());
//! assert_eq!(found, Some(serde_json::json!(1)));
//! ```

mod cell;
mod fault;
mod json_text;
mod protect;
mod rows;
mod sample;
mod slice;
mod table;

pub use cell::{CellRef, DecimalMark, number_value, plain_number, real_value};
pub use fault::IntakeFault;
pub use json_text::JsonText;
pub use protect::ProtectedIntake;
pub use rows::{InputTable, RowsFault};
pub use sample::sample;
pub use slice::{Items, JsonSlice, Members};
pub use table::{Table, TableBuilder};

use crate::ids::MappingPath;
use crate::json::{Map, Value};

/// The output of one source, checked against the intake limits.
#[derive(Clone, Debug, PartialEq)]
pub enum Intake {
    /// A document.
    Json(JsonText),
    /// Rows with shared columns. To mappings it is an object with `columns`, `rows` and `count`.
    Table(Table),
}

impl Intake {
    /// Returns what a path names, built as a value; nothing if the path leads nowhere.
    ///
    /// Building is bounded by the intake; the stored limits are the caller's to apply.
    #[must_use]
    pub fn resolve(&self, path: &MappingPath) -> Option<Value> {
        match self {
            Self::Json(text) => text.resolve(path).map(JsonSlice::to_value),
            Self::Table(table) => resolve_in_table(table, path),
        }
    }

    /// Builds the whole as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Json(text) => text.root().to_value(),
            Self::Table(table) => table_value(table),
        }
    }

    /// Estimates the bytes of the whole as JSON, without building it.
    #[must_use]
    pub fn json_size(&self) -> usize {
        match self {
            Self::Json(text) => text.as_str().len(),
            Self::Table(table) => {
                let names: usize = table.columns().iter().map(|name| name.len() + 4).sum();
                let cells: usize = (0..table.len())
                    .flat_map(|row| table.row(row))
                    .map(|cell| match cell {
                        CellRef::Null | CellRef::Bool(_) => 4,
                        CellRef::Integer(integer) => integer
                            .unsigned_abs()
                            .checked_ilog10()
                            .map_or(1, |log| log as usize + 1),
                        CellRef::Real(_) => 8,
                        CellRef::Text(text) => text.len() + 2,
                    })
                    .sum();
                names * (table.len() + 1) + cells
            }
        }
    }
}

/// Nothing, as JSON.
impl Default for Intake {
    fn default() -> Self {
        Self::Json(JsonText::from_compact("null".to_owned()))
    }
}

impl From<JsonText> for Intake {
    fn from(text: JsonText) -> Self {
        Self::Json(text)
    }
}

impl From<Table> for Intake {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl TryFrom<&Value> for Intake {
    type Error = IntakeFault;
    fn try_from(value: &Value) -> Result<Self, IntakeFault> {
        JsonText::from_value(value).map(Self::Json)
    }
}

fn resolve_in_table(table: &Table, path: &MappingPath) -> Option<Value> {
    let mut segments = path.segments();
    let Some(first) = segments.next() else { return Some(table_value(table)) };
    let (second, third, fourth) = (segments.next(), segments.next(), segments.next());
    if fourth.is_some() {
        return None;
    }
    match (first.key, second, third) {
        ("count", None, None) => Some(table.len().into()),
        ("columns", None, None) => Some(columns_value(table)),
        ("columns", Some(at), None) => {
            table.columns().get(at.index?).map(|name| Value::from(name.as_str()))
        }
        ("rows", None, None) => Some((0..table.len()).map(|row| row_value(table, row)).collect()),
        ("rows", Some(at), None) => {
            at.index.filter(|row| *row < table.len()).map(|row| row_value(table, row))
        }
        ("rows", Some(at), Some(name)) => {
            let row = at.index.filter(|row| *row < table.len())?;
            let column = table.columns().iter().position(|column| column == name.key)?;
            Some(table.cell(row, column).to_value())
        }
        _ => None,
    }
}

fn table_value(table: &Table) -> Value {
    let mut map = Map::new();
    map.insert("columns".to_owned(), columns_value(table));
    map.insert("rows".to_owned(), (0..table.len()).map(|row| row_value(table, row)).collect());
    map.insert("count".to_owned(), table.len().into());
    Value::Object(map)
}

fn columns_value(table: &Table) -> Value {
    table.columns().iter().map(|name| Value::from(name.as_str())).collect()
}

fn row_value(table: &Table, row: usize) -> Value {
    let cells = table.row(row).map(|cell| cell.to_value());
    Value::Object(table.columns().iter().cloned().zip(cells).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table() -> Intake {
        let mut builder = TableBuilder::new(vec!["name".to_owned(), "n".to_owned()]).unwrap();
        for (name, n) in [("a", 1), ("b", i64::MAX)] {
            builder.push(&CellRef::Text(name.into())).unwrap();
            builder.push(&CellRef::Integer(n)).unwrap();
            builder.end_row().unwrap();
        }
        Intake::Table(builder.finish())
    }

    #[test]
    fn a_table_is_addressed_as_the_object_it_stands_for() {
        let table = table();
        let whole = table.to_value();
        assert_eq!(
            whole,
            json!({
                "columns": ["name", "n"],
                "rows": [{ "name": "a", "n": 1 }, { "name": "b", "n": "9223372036854775807" }],
                "count": 2,
            })
        );
        let as_text = Intake::try_from(&whole).unwrap();
        for path in [
            "$",
            "count",
            "columns",
            "columns.1",
            "columns.2",
            "rows",
            "rows.0",
            "rows.1.n",
            "rows.2",
            "rows.0.x",
            "rows.0.n.x",
            "rows.x",
            "count.x",
            "other",
            "columns.0.x",
        ] {
            let path: MappingPath = path.parse().unwrap();
            assert_eq!(table.resolve(&path), as_text.resolve(&path), "{path}");
        }
    }

    #[test]
    fn the_size_is_estimated_without_building() {
        let table = table();
        let exact = table.to_value().to_string().len();
        assert!(table.json_size().abs_diff(exact) < 40, "{} {exact}", table.json_size());
    }
}
