//! Rows with shared columns, as CSV files and databases give them.

use std::borrow::Cow;

use super::cell::{CellRef, DecimalMark};
use super::fault::IntakeFault;
use super::json_text::over;
use crate::limits::{INTAKE_CELLS, INTAKE_COLUMNS, INTAKE_ROWS, INTAKE_SOURCE};

/// A table: named columns, cells row by row, all texts in one buffer.
///
/// A cell takes 16 bytes beside its text. As JSON objects the same rows took over 100 bytes a cell.
#[derive(Clone, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    cells: Vec<Cell>,
    text: String,
    rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    /// Offsets fit: a table's texts are at most 32 MiB.
    Text {
        start: u32,
        len: u32,
    },
}

/// Shows no cell: it may be a secret that is not yet scrubbed.
impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({} columns, {} rows)", self.columns.len(), self.rows)
    }
}

impl Table {
    /// Returns the names of the columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Counts the rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns a cell; null beyond the table's edges.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> CellRef<'_> {
        let width = self.columns.len();
        let cell = if column < width { self.cells.get(row * width + column) } else { None };
        cell.map_or(CellRef::Null, |cell| self.show(cell))
    }

    /// Returns the cells of one row, in the order of the columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = CellRef<'_>> {
        let width = self.columns.len();
        let cells = self.cells.get(row * width..(row + 1) * width).unwrap_or_default();
        cells.iter().map(|cell| self.show(cell))
    }

    fn show(&self, cell: &Cell) -> CellRef<'_> {
        match *cell {
            Cell::Null => CellRef::Null,
            Cell::Bool(bool) => CellRef::Bool(bool),
            Cell::Integer(integer) => CellRef::Integer(integer),
            Cell::Real(real) => CellRef::Real(real),
            Cell::Text { start, len } => {
                let start = start as usize;
                let text = self.text.get(start..start + len as usize).unwrap_or_default();
                CellRef::Text(Cow::Borrowed(text))
            }
        }
    }
}

/// Builds a table row by row; every limit of an intake holds while rows arrive.
#[derive(Debug)]
pub struct TableBuilder {
    table: Table,
    /// Cells of the row being written.
    width: usize,
}

impl TableBuilder {
    /// Begins a table.
    ///
    /// # Errors
    ///
    /// Fails if there are more columns than a table may have.
    pub fn new(columns: Vec<String>) -> Result<Self, IntakeFault> {
        if !INTAKE_COLUMNS.allows(columns.len()) {
            return Err(over(INTAKE_COLUMNS, columns.len()));
        }
        let columns = distinct_names(columns);
        let table = Table { columns, cells: Vec::new(), text: String::new(), rows: 0 };
        Ok(Self { table, width: 0 })
    }

    /// Appends a cell to the current row.
    ///
    /// # Errors
    ///
    /// Fails if the row or the table becomes larger than allowed, or a text holds NUL.
    pub fn push(&mut self, cell: &CellRef<'_>) -> Result<(), IntakeFault> {
        self.width += 1;
        if self.width > self.table.columns.len() {
            return Err(over(INTAKE_COLUMNS, self.width));
        }
        let cell = match cell {
            CellRef::Null => Cell::Null,
            CellRef::Bool(bool) => Cell::Bool(*bool),
            CellRef::Integer(integer) => Cell::Integer(*integer),
            CellRef::Real(real) if real.is_finite() => Cell::Real(*real),
            CellRef::Real(real) => self.append(&real.to_string())?,
            CellRef::Text(text) => self.append(text)?,
        };
        if !INTAKE_CELLS.allows(self.table.cells.len() + 1) {
            return Err(over(INTAKE_CELLS, self.table.cells.len() + 1));
        }
        self.table.cells.push(cell);
        Ok(())
    }

    /// Ends the current row; cells that are missing are null.
    ///
    /// # Errors
    ///
    /// Fails if there are more rows or cells than a table may have.
    pub fn end_row(&mut self) -> Result<(), IntakeFault> {
        while self.width < self.table.columns.len() {
            self.push(&CellRef::Null)?;
        }
        self.width = 0;
        self.table.rows += 1;
        if INTAKE_ROWS.allows(self.table.rows) {
            Ok(())
        } else {
            Err(over(INTAKE_ROWS, self.table.rows))
        }
    }

    fn append(&mut self, text: &str) -> Result<Cell, IntakeFault> {
        let start = self.table.text.len();
        let end = start + text.len();
        if !INTAKE_SOURCE.allows(end) {
            return Err(over(INTAKE_SOURCE, end));
        }
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return Err(IntakeFault::Nul { line: self.table.rows + 1 });
        }
        self.table.text.push_str(text);
        // Both are below the limit just checked, which is far below 2^32.
        Ok(Cell::Text { start: start as u32, len: text.len() as u32 })
    }

    /// Turns the columns of a text format into numbers where every cell is plainly one, and empty
    /// cells into null.
    ///
    /// A column is judged as a whole: in one that holds `12`, `13` and `n/a`, a number beside a text
    /// would sort and compare in a way nobody expects.
    #[must_use]
    pub fn with_numbers(self) -> Self {
        self.with_numbers_of(DecimalMark::Point)
    }

    /// As [`Self::with_numbers`], with another mark before a fraction.
    #[must_use]
    pub fn with_numbers_of(mut self, mark: DecimalMark) -> Self {
        let width = self.table.columns.len();
        for column in 0..width {
            let is_numeric = (0..self.table.rows).all(|row| match self.table.cell(row, column) {
                CellRef::Text(text) => text.is_empty() || mark.number(&text).is_some(),
                CellRef::Null | CellRef::Bool(_) | CellRef::Integer(_) | CellRef::Real(_) => true,
            });
            for row in 0..self.table.rows {
                let read = match self.table.cell(row, column) {
                    CellRef::Text(text) if text.is_empty() => Some(Cell::Null),
                    CellRef::Text(text) if is_numeric => match mark.number(&text) {
                        Some(CellRef::Integer(integer)) => Some(Cell::Integer(integer)),
                        Some(CellRef::Real(real)) => Some(Cell::Real(real)),
                        Some(CellRef::Null | CellRef::Bool(_) | CellRef::Text(_)) | None => None,
                    },
                    CellRef::Text(_)
                    | CellRef::Null
                    | CellRef::Bool(_)
                    | CellRef::Integer(_)
                    | CellRef::Real(_) => None,
                };
                if let Some(read) = read {
                    self.table.cells[row * width + column] = read;
                }
            }
        }
        self
    }

    /// Returns the table; a row that was not ended is left out.
    #[must_use]
    pub fn finish(mut self) -> Table {
        self.table.cells.truncate(self.table.rows * self.table.columns.len());
        self.table
    }
}

impl Table {
    /// Returns the columns of texts that are numbers once a comma is read as the mark before their
    /// fractions: SQL takes each for the digits before it.
    #[must_use]
    pub fn comma_columns(&self) -> Vec<&str> {
        let is_comma = |column: usize| {
            let mut has_comma = false;
            let is_numeric = (0..self.rows).all(|row| match self.cell(row, column) {
                CellRef::Text(text) => {
                    has_comma |= text.contains(',');
                    text.is_empty() || DecimalMark::Comma.number(&text).is_some()
                }
                CellRef::Null => true,
                CellRef::Bool(_) | CellRef::Integer(_) | CellRef::Real(_) => false,
            });
            is_numeric && has_comma
        };
        let names = self.columns.iter().enumerate();
        names.filter(|(at, _)| is_comma(*at)).map(|(_, name)| name.as_str()).collect()
    }
}

/// Makes the names of columns usable in SQL: none empty, no two alike but for case.
#[must_use]
pub(super) fn distinct_names(names: Vec<String>) -> Vec<String> {
    let mut used = std::collections::HashSet::new();
    let mut distinct = Vec::with_capacity(names.len());
    for (at, name) in names.into_iter().enumerate() {
        let base = if name.trim().is_empty() { format!("column_{}", at + 1) } else { name };
        let mut name = base.clone();
        let mut copy = 2;
        while !used.insert(name.to_lowercase()) {
            name = format!("{base}_{copy}");
            copy += 1;
        }
        distinct.push(name);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> CellRef<'_> {
        CellRef::Text(Cow::Borrowed(text))
    }

    #[test]
    fn a_column_is_numeric_only_if_every_cell_is() {
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut builder = TableBuilder::new(names).unwrap();
        for row in [["1", "2", "007"], ["2.5", "n/a", "8"], ["", "", ""]] {
            for cell in row {
                builder.push(&text(cell)).unwrap();
            }
            builder.end_row().unwrap();
        }
        let table = builder.with_numbers().finish();
        let rows: Vec<Vec<CellRef<'_>>> = (0..3).map(|row| table.row(row).collect()).collect();
        assert_eq!(
            rows,
            [
                vec![CellRef::Integer(1), text("2"), text("007")],
                vec![CellRef::Real(2.5), text("n/a"), text("8")],
                vec![CellRef::Null, CellRef::Null, CellRef::Null],
            ]
        );
    }

    #[test]
    fn columns_of_numbers_with_a_decimal_comma_are_named_and_read_only_if_asked() {
        let rows =
            [["1.234,50", "1,5", "x", "1"], ["99,00", "n/a", "1,5", "2"], ["", "2", "3", "3"]];
        let table = |mark: DecimalMark| {
            let names = ["betrag", "mixed", "text", "n"].map(str::to_owned).to_vec();
            let mut builder = TableBuilder::new(names).unwrap();
            for cell in rows.iter().flat_map(|row| row.iter().map(|it| Some(*it)).chain([None])) {
                match cell {
                    Some(cell) => builder.push(&text(cell)).unwrap(),
                    None => builder.end_row().unwrap(),
                }
            }
            builder.with_numbers_of(mark).finish()
        };
        let point = table(DecimalMark::Point);
        assert_eq!(point.comma_columns(), ["betrag"]);
        assert_eq!(point.cell(0, 0), text("1.234,50"));
        let comma = table(DecimalMark::Comma);
        assert_eq!(
            (comma.cell(0, 0), comma.cell(1, 0)),
            (CellRef::Real(1234.5), CellRef::Real(99.0))
        );
        assert_eq!((comma.cell(0, 3), comma.cell(0, 1)), (CellRef::Integer(1), text("1,5")));
        assert_eq!(comma.comma_columns(), [""; 0]);
    }

    #[test]
    fn short_rows_are_filled_and_long_ones_refused() {
        let mut builder = TableBuilder::new(vec!["a".to_owned(), "b".to_owned()]).unwrap();
        builder.push(&CellRef::Integer(1)).unwrap();
        builder.end_row().unwrap();
        for _ in 0..2 {
            builder.push(&CellRef::Bool(true)).unwrap();
        }
        assert!(builder.push(&CellRef::Null).unwrap_err().size_limit().is_some());
        let table = builder.finish();
        assert_eq!((table.len(), table.cell(0, 1)), (1, CellRef::Null));
        assert_eq!(table.cell(0, 7), CellRef::Null);
    }

    #[test]
    fn limits_hold_while_rows_arrive() {
        let wide: Vec<String> = (0..=INTAKE_COLUMNS.allowed).map(|i| format!("c{i}")).collect();
        assert!(matches!(
            TableBuilder::new(wide),
            Err(IntakeFault::Over { limit: INTAKE_COLUMNS, .. })
        ));
        let mut builder = TableBuilder::new(vec!["a".to_owned()]).unwrap();
        for _ in 0..INTAKE_ROWS.allowed {
            builder.end_row().unwrap();
        }
        assert!(matches!(
            builder.end_row(),
            Err(IntakeFault::Over { limit: INTAKE_ROWS, measured: 200_001 })
        ));
        let mut builder = TableBuilder::new(vec!["a".to_owned()]).unwrap();
        let large = "x".repeat(INTAKE_SOURCE.max());
        builder.push(&text(&large)).unwrap();
        builder.end_row().unwrap();
        assert!(builder.push(&text("y")).unwrap_err().size_limit().is_some());
        assert_eq!(builder.push(&text("")), Err(over(INTAKE_COLUMNS, 2)));
    }

    #[test]
    fn names_differ_by_more_than_case() {
        let names = ["id", "ID", "", "id_2", "id"].map(str::to_owned).to_vec();
        assert_eq!(distinct_names(names), ["id", "ID_2", "column_3", "id_2_2", "id_3"]);
    }
}
