//! The rows of a source as a table that SQL can read.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::cell::CellRef;
use super::slice::JsonSlice;
use super::table::distinct_names;
use super::{Intake, JsonText, Table};
use crate::ids::MappingPath;
use crate::limits::{INTAKE_CELLS, INTAKE_COLUMNS};
use crate::refresh::ROW_KEYS;

/// The column of rows that are scalars.
const VALUE_COLUMN: &str = "value";
/// The column of the keys of an object whose members are the rows.
const KEY_COLUMN: &str = "key";

/// Refuses to read an intake as rows.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RowsFault {
    /// The `rows` path names nothing.
    #[error("`{path}` names nothing in the output of `{source_id}`")]
    Unresolved {
        /// The source.
        source_id: String,
        /// Its `rows`.
        path: MappingPath,
    },
    /// The rows have more keys than a table has columns.
    #[error("the rows of `{source_id}` have more than {} different keys", INTAKE_COLUMNS.allowed)]
    TooManyColumns {
        /// The source.
        source_id: String,
    },
    /// Rows times columns is more than a table may hold.
    #[error("the rows of `{source_id}` have more than {} cells", INTAKE_CELLS.allowed)]
    TooManyCells {
        /// The source.
        source_id: String,
    },
}

/// One table of a query: its name, its columns, and the rows of an intake, which it shares.
#[derive(Clone, Debug)]
pub struct InputTable {
    name: String,
    columns: Vec<String>,
    rows: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    Table(Arc<Intake>),
    /// Rows of a document: where they stand in its text, and the column of each key.
    Json {
        intake: Arc<Intake>,
        at: Range<usize>,
        keys: HashMap<String, usize>,
        form: RowForm,
    },
    /// Rows made by us.
    Own(Arc<Table>),
}

/// The form of rows in a document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RowForm {
    /// The items of an array.
    Items,
    /// The members of an object, whose keys are the first column.
    Members,
    /// One value.
    Single,
}

impl RowForm {
    fn of(rows: JsonSlice<'_>, is_named: bool) -> Self {
        let is_map =
            || rows.members().count() > 1 && rows.members().all(|(_, value)| value.is_object());
        if rows.is_array() {
            Self::Items
        } else if is_named && rows.is_object() && is_map() {
            Self::Members
        } else {
            Self::Single
        }
    }
}

impl InputTable {
    /// Reads the rows of a source's output.
    ///
    /// They are found at `path` if there is one, else as `compact_table` finds them: the value itself,
    /// or its `rows`, `items`, `matches`, `results` or `data`. A value that is no array is one row; at a
    /// path, an object of several objects is a row for each of them, with its key in the column `key`.
    /// The columns are the keys of all rows in the order they are first seen; a scalar row has the
    /// column `value`, a row that is an array the columns `c0`, `c1`, ….
    ///
    /// # Errors
    ///
    /// Fails if the path leads nowhere, or the rows are wider than a table may be.
    pub fn of_source(
        name: &str,
        intake: &Arc<Intake>,
        path: Option<&MappingPath>,
    ) -> Result<Self, RowsFault> {
        let unresolved = |path: &MappingPath| RowsFault::Unresolved {
            source_id: name.to_owned(),
            path: path.clone(),
        };
        match (&**intake, path) {
            (Intake::Table(table), None) => Ok(Self::whole(name, intake, table)),
            (Intake::Table(table), Some(path)) => {
                if path.as_str().trim_start_matches("$.") == "rows" || path.is_root() {
                    Ok(Self::whole(name, intake, table))
                } else {
                    Err(unresolved(path))
                }
            }
            (Intake::Json(text), Some(path)) => {
                let rows = text.resolve(path).ok_or_else(|| unresolved(path))?;
                Self::of_json(name, intake, text, (rows, RowForm::of(rows, true)))
            }
            (Intake::Json(text), None) => {
                let root = text.root();
                let found = ROW_KEYS.iter().find_map(|key| root.get(key).filter(|r| r.is_array()));
                let rows = found.unwrap_or(root);
                Self::of_json(name, intake, text, (rows, RowForm::of(rows, false)))
            }
        }
    }

    /// Takes rows that were made for the query, such as an artifact's own history.
    #[must_use]
    pub fn of_table(name: &str, table: Table) -> Self {
        let columns = table.columns().to_vec();
        Self { name: name.to_owned(), columns, rows: Rows::Own(Arc::new(table)) }
    }

    fn whole(name: &str, intake: &Arc<Intake>, table: &Table) -> Self {
        Self {
            name: name.to_owned(),
            columns: table.columns().to_vec(),
            rows: Rows::Table(Arc::clone(intake)),
        }
    }

    fn of_json(
        name: &str,
        intake: &Arc<Intake>,
        text: &JsonText,
        (rows, form): (JsonSlice<'_>, RowForm),
    ) -> Result<Self, RowsFault> {
        let mut keys: HashMap<String, usize> = HashMap::new();
        let mut names = Vec::new();
        if form == RowForm::Members {
            names.push(KEY_COLUMN.to_owned());
        }
        let mut count = 0;
        let mut add = |key: &str| {
            if !keys.contains_key(key) {
                keys.insert(key.to_owned(), names.len());
                names.push(key.to_owned());
            }
            names.len()
        };
        let too_wide = || RowsFault::TooManyColumns { source_id: name.to_owned() };
        let mut visit = |row: JsonSlice<'_>| {
            count += 1;
            let mut width = 0;
            if row.is_object() {
                for (key, _) in row.members() {
                    width = add(&key);
                    if !INTAKE_COLUMNS.allows(width) {
                        break;
                    }
                }
            } else if row.is_array() {
                let items = row.items().take(INTAKE_COLUMNS.max() + 1).count();
                for at in 0..items {
                    width = add(&format!("c{at}"));
                }
            } else {
                width = add(VALUE_COLUMN);
            }
            if INTAKE_COLUMNS.allows(width) { Ok(()) } else { Err(too_wide()) }
        };
        match form {
            RowForm::Single => visit(rows)?,
            RowForm::Items => rows.items().try_for_each(&mut visit)?,
            RowForm::Members => rows.members().try_for_each(|(_, row)| visit(row))?,
        }
        if !INTAKE_CELLS.allows(names.len() * count) {
            return Err(RowsFault::TooManyCells { source_id: name.to_owned() });
        }
        // A slice of the text lies inside it.
        let start = rows.as_str().as_ptr() as usize - text.as_str().as_ptr() as usize;
        let at = start..start + rows.as_str().len();
        let columns = distinct_names(names);
        let rows = Rows::Json { intake: Arc::clone(intake), at, keys, form };
        Ok(Self { name: name.to_owned(), columns, rows })
    }

    /// Returns the table's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the columns; no two are alike but for case.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Counts the rows.
    #[must_use]
    pub fn row_count(&self) -> usize {
        match &self.rows {
            Rows::Own(table) => table.len(),
            Rows::Table(intake) => match &**intake {
                Intake::Table(table) => table.len(),
                Intake::Json(_) => 0,
            },
            Rows::Json { intake, at, form, .. } => match (&**intake, form) {
                (Intake::Table(_), _) => 0,
                (_, RowForm::Single) => 1,
                (Intake::Json(text), RowForm::Items) => {
                    let rows = text.as_str().get(at.clone()).unwrap_or_default();
                    JsonSlice::whole(rows).items().count()
                }
                (Intake::Json(text), RowForm::Members) => {
                    let rows = text.as_str().get(at.clone()).unwrap_or_default();
                    JsonSlice::whole(rows).members().count()
                }
            },
        }
    }

    /// Hands every row to `visit`, cells in the order of the columns, until it fails.
    ///
    /// # Errors
    ///
    /// Returns the error of `visit`.
    pub fn for_each_row<E>(
        &self,
        mut visit: impl FnMut(&[CellRef<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.rows {
            Rows::Own(table) => visit_table(table, &mut visit),
            Rows::Table(intake) => match &**intake {
                Intake::Table(table) => visit_table(table, &mut visit),
                Intake::Json(_) => Ok(()),
            },
            Rows::Json { intake, at, keys, form } => {
                let Intake::Json(text) = &**intake else { return Ok(()) };
                let rows = JsonSlice::whole(text.as_str().get(at.clone()).unwrap_or_default());
                let width = self.columns.len();
                match form {
                    RowForm::Single => visit(&json_cells(rows, keys, width)),
                    RowForm::Items => {
                        rows.items().try_for_each(|row| visit(&json_cells(row, keys, width)))
                    }
                    RowForm::Members => rows.members().try_for_each(|(key, row)| {
                        let mut cells = json_cells(row, keys, width);
                        if let Some(first) = cells.first_mut() {
                            *first = CellRef::Text(key);
                        }
                        visit(&cells)
                    }),
                }
            }
        }
    }
}

fn visit_table<E>(
    table: &Table,
    visit: &mut impl FnMut(&[CellRef<'_>]) -> Result<(), E>,
) -> Result<(), E> {
    let mut cells = Vec::with_capacity(table.columns().len());
    for row in 0..table.len() {
        cells.clear();
        cells.extend(table.row(row));
        visit(&cells)?;
    }
    Ok(())
}

fn json_cells<'a>(
    row: JsonSlice<'a>,
    keys: &HashMap<String, usize>,
    width: usize,
) -> Vec<CellRef<'a>> {
    let mut cells = vec![CellRef::Null; width];
    let mut put = |key: &str, cell: CellRef<'a>| {
        if let Some(place) = keys.get(key).and_then(|at| cells.get_mut(*at)) {
            *place = cell;
        }
    };
    if row.is_object() {
        for (key, value) in row.members() {
            put(&key, value.cell());
        }
    } else if row.is_array() {
        for (at, value) in row.items().enumerate() {
            put(&format!("c{at}"), value.cell());
        }
    } else {
        put(VALUE_COLUMN, row.cell());
    }
    cells
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: &Value, path: Option<&str>) -> Result<(Vec<String>, Value), RowsFault> {
        let intake = Arc::new(Intake::try_from(value).unwrap());
        let path: Option<MappingPath> = path.map(|path| path.parse().unwrap());
        let table = InputTable::of_source("s", &intake, path.as_ref())?;
        let mut rows = Vec::new();
        let visited: Result<(), ()> = table.for_each_row(|cells| {
            rows.push(cells.iter().map(CellRef::to_value).collect::<Value>());
            Ok(())
        });
        visited.unwrap();
        Ok((table.columns().to_vec(), Value::Array(rows)))
    }

    #[track_caller]
    fn check(value: &Value, path: Option<&str>, columns: &[&str], rows: &Value) {
        let (got_columns, got_rows) = read(value, path).unwrap();
        let got_columns: Vec<&str> = got_columns.iter().map(String::as_str).collect();
        assert_eq!((got_columns.as_slice(), &got_rows), (columns, rows));
    }

    #[test]
    fn columns_are_the_union_of_keys_and_nested_values_are_json_text() {
        check(
            &json!({ "items": [{ "b": 1, "n": { "x": [1, "y"] } }, { "a": true, "B": null, "b": "t" }] }),
            None,
            &["b", "n", "a", "B_2"],
            &json!([[1, "{\"x\":[1,\"y\"]}", null, null], ["t", null, true, null]]),
        );
    }

    #[test]
    fn rows_are_found_by_path_by_name_or_are_the_value_itself() {
        check(&json!([1, "x", null]), None, &["value"], &json!([[1], ["x"], [null]]));
        check(
            &json!({ "deep": { "list": [[1, 2], [3]] } }),
            Some("deep.list"),
            &["c0", "c1"],
            &json!([[1, 2], [3, null]]),
        );
        check(&json!({ "rows": 5, "data": [{ "a": 1 }] }), None, &["a"], &json!([[1]]));
        check(&json!({ "total": 3, "ok": false }), None, &["total", "ok"], &json!([[3, false]]));
        check(&json!("x"), None, &["value"], &json!([["x"]]));
        check(&json!([]), None, &[], &json!([]));
        assert!(matches!(read(&json!({ "a": 1 }), Some("b")), Err(RowsFault::Unresolved { .. })));
    }

    #[test]
    fn a_named_object_of_objects_is_rows_with_their_keys() {
        let files = json!({ "a.rs": { "lines": 1, "key": "k" }, "b.rs": { "lines": 2 } });
        check(
            &json!({ "files": files }),
            Some("files"),
            &["key", "lines", "key_2"],
            &json!([["a.rs", 1, "k"], ["b.rs", 2, null]]),
        );
        check(&json!({ "one": { "n": { "x": 1 } } }), Some("one"), &["n"], &json!([["{\"x\":1}"]]));
    }

    #[test]
    fn a_table_is_not_wider_than_its_limit() {
        let wide: crate::json::Map = (0..101).map(|i| (format!("k{i}"), json!(i))).collect();
        assert!(matches!(read(&json!([wide]), None), Err(RowsFault::TooManyColumns { .. })));
        let long: Vec<i32> = (0..101).collect();
        assert!(matches!(read(&json!([long]), None), Err(RowsFault::TooManyColumns { .. })));
    }

    #[test]
    fn a_table_without_columns_has_no_cells() {
        check(&json!([{}, {}]), None, &[], &json!([[], []]));
    }
}
