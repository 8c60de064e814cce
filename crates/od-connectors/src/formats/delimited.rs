//! CSV and its kin.

use csv::{ByteRecord, ReaderBuilder};
use od_core::intake::{CellRef, DecimalMark, Table, TableBuilder};
use od_core::limits::{INTAKE_COLUMNS, INTAKE_SOURCE};

use super::{FormatFault, malformed, utf8};

/// Choices of the caller; what is left out is found from the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delimited {
    /// The byte between two cells.
    pub(crate) delimiter: Option<u8>,
    /// The first line is a row, and the columns are `c1`, `c2`, ….
    pub(crate) has_no_header: bool,
    /// The mark before the fraction of a number.
    pub(crate) decimal: DecimalMark,
}

/// Bytes that may stand between cells, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// More cells in a line are no table, also where a text among them is full of delimiters.
const LINE_CELLS_MAX: usize = 1_000_001;

/// Reads cells line by line. A column whose every cell is plainly a number holds numbers, an empty cell
/// is null.
pub(crate) fn read_delimited(bytes: &[u8], options: &Delimited) -> Result<Table, FormatFault> {
    if !INTAKE_SOURCE.allows(bytes.len()) {
        return Err(FormatFault::TooLong { limit: INTAKE_SOURCE, measured: bytes.len() });
    }
    let text = utf8(bytes)?;
    let delimiter = options.delimiter.unwrap_or_else(|| find_delimiter(text));
    // A record is read whole before its cells are counted: 33 million commas took 826 MB.
    for line in text.as_bytes().split(|byte| *byte == b'\n') {
        let cells = line.iter().filter(|byte| **byte == delimiter).count() + 1;
        if cells > LINE_CELLS_MAX {
            return Err(FormatFault::TooLong { limit: INTAKE_COLUMNS, measured: cells });
        }
    }
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut record = ByteRecord::new();
    let mut read = |record: &mut ByteRecord| {
        reader.read_byte_record(record).map_err(|_| malformed("the text is not CSV"))
    };
    if !read(&mut record)? {
        return Ok(TableBuilder::new(Vec::new())?.finish());
    }
    // Names are made of the cells only once their number is known to be allowed.
    if !INTAKE_COLUMNS.allows(record.len()) {
        return Err(FormatFault::TooLong { limit: INTAKE_COLUMNS, measured: record.len() });
    }
    let names = if options.has_no_header {
        (1..=record.len()).map(|at| format!("c{at}")).collect()
    } else {
        record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()
    };
    let mut builder = TableBuilder::new(names)?;
    let width = record.len();
    let mut is_row = options.has_no_header;
    loop {
        if is_row {
            if record.len() > width {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(malformed(format!(
                    "line {line} has {} cells, the first line {width}",
                    record.len()
                )));
            }
            for cell in &record {
                builder.push(&CellRef::Text(String::from_utf8_lossy(cell)))?;
            }
            builder.end_row()?;
        }
        is_row = true;
        if !read(&mut record)? {
            return Ok(builder.with_numbers_of(options.decimal).finish());
        }
    }
}

/// Finds the byte that stands most often in the first line, outside quotes.
fn find_delimiter(text: &str) -> u8 {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut is_quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            _ => {
                if let (false, Some(at)) = (is_quoted, DELIMITERS.iter().position(|d| *d == byte)) {
                    counts[at] += 1;
                }
            }
        }
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let first = counts.iter().position(|count| *count == most).unwrap_or(0);
    DELIMITERS[first]
}

/// Reads a cell of the caller's choice of a delimiter.
pub(crate) fn delimiter_of(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] => Some(*byte).filter(u8::is_ascii),
        _ => (text == "\\t" || text == "tab").then_some(b'\t'),
    }
}

#[cfg(test)]
mod tests {
    use od_core::intake::Intake;
    use serde_json::{Value, json};

    use super::*;

    fn read(text: &str) -> Value {
        Intake::Table(read_delimited(text.as_bytes(), &Delimited::default()).unwrap()).to_value()
    }

    #[test]
    fn quotes_line_ends_and_delimiters_are_read() {
        assert_eq!(
            read("\u{feff}name, n ,note\r\n\"a, \"\"b\"\"\",1,\"two\nlines\"\r\n\r\nc,2.5,\r\n")["rows"],
            json!([
                { "name": "a, \"b\"", "n": 1, "note": "two\nlines" },
                { "name": "c", "n": 2.5, "note": null },
            ])
        );
        assert_eq!(read("a;b\n1,5;x\n")["rows"], json!([{ "a": "1,5", "b": "x" }]));
        assert_eq!(read("a\tb\n1\t2")["rows"], json!([{ "a": 1, "b": 2 }]));
        assert_eq!(read("\"x,y\";b\n1;2")["columns"], json!(["x,y", "b"]));
        assert_eq!(read("one\n1\n2\n")["rows"], json!([{ "one": 1 }, { "one": 2 }]));
        assert_eq!(read(""), json!({ "columns": [], "rows": [], "count": 0 }));
        assert_eq!(read("a,b\n"), json!({ "columns": ["a", "b"], "rows": [], "count": 0 }));
    }

    #[test]
    fn names_are_made_distinct_and_short_rows_filled() {
        assert_eq!(
            read("id,,ID\n1\n")["rows"],
            json!([{ "id": 1, "column_2": null, "ID_2": null }])
        );
    }

    #[test]
    fn a_file_without_a_header_has_numbered_columns() {
        let options = Delimited { has_no_header: true, ..Delimited::default() };
        let table = read_delimited(b"x,1\ny,2\n", &options).unwrap();
        assert_eq!(
            Intake::Table(table).to_value()["rows"],
            json!([{ "c1": "x", "c2": 1 }, { "c1": "y", "c2": 2 }])
        );
    }

    #[test]
    fn a_decimal_comma_is_read_if_it_is_asked_for() {
        let options = Delimited { decimal: DecimalMark::Comma, ..Delimited::default() };
        let table = read_delimited(b"name;betrag\na;1.234,50\nb;99,00\n", &options).unwrap();
        assert_eq!(
            Intake::Table(table).to_value()["rows"],
            json!([{ "name": "a", "betrag": 1234.5 }, { "name": "b", "betrag": 99 }])
        );
    }

    #[test]
    fn hostile_files_are_refused_at_their_limit() {
        let fault = |text: &[u8]| read_delimited(text, &Delimited::default()).unwrap_err();
        let wide = vec![b','; 1_000_000];
        assert!(fault(&wide).to_string().contains("intake_columns: 1000001"), "{}", fault(&wide));
        let wider = [b"a,b\n".as_slice(), &vec![b','; 2_000_000]].concat();
        assert!(fault(&wider).to_string().contains("intake_columns: 2000001"));
        assert!(fault(b"a,b\n1,2,3\n").to_string().contains("line 2 has 3 cells"));
        assert!(fault(b"a\nx\xff\n").to_string().contains("line 2 is not UTF-8"));
        let long = "1\n".repeat(200_002);
        assert!(fault(long.as_bytes()).to_string().contains("intake_rows"));
        assert!(fault(b"a\nx\0y\n").to_string().contains("NUL"));
        let large = vec![b'x'; INTAKE_SOURCE.max() + 1];
        assert!(fault(&large).to_string().contains("intake_source"));
        // A quote that never closes is one cell.
        let open = [b"a\n\"".as_slice(), &vec![b'x'; 1_000_000]].concat();
        assert_eq!(read_delimited(&open, &Delimited::default()).unwrap().len(), 1);
    }
}
