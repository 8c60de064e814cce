//! Text for people, kept apart from its colours until it is written.

use std::io::IsTerminal;

use super::escape::escape;

/// The look of a piece of text where colour is on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Ordinary text.
    Plain,
    /// Headings and names.
    Bold,
    /// Details.
    Dim,
    /// Success.
    Good,
    /// Warnings.
    Warn,
    /// Failures.
    Bad,
}

impl Style {
    /// Returns the SGR parameters, empty for plain.
    pub(super) fn sgr(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        }
    }
}

/// Lines of styled text. Everything that is put in is escaped, so that no stored text can steer a terminal.
#[derive(Clone, Debug, Default)]
pub struct Text {
    pub(super) lines: Vec<Vec<(Style, String)>>,
}

impl Text {
    /// Returns an empty text.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a line.
    #[must_use]
    pub fn line(self, text: &str) -> Self {
        self.styled(Style::Plain, text)
    }

    /// Adds a line in one style.
    #[must_use]
    pub fn styled(self, style: Style, text: &str) -> Self {
        self.pieces(&[(style, text)])
    }

    /// Adds a line made of several pieces.
    #[must_use]
    pub fn pieces(mut self, pieces: &[(Style, &str)]) -> Self {
        self.lines
            .push(pieces.iter().map(|(style, text)| (*style, escape(text).into_owned())).collect());
        self
    }

    /// Adds text of several lines, each escaped by itself.
    #[must_use]
    pub fn block(mut self, text: &str) -> Self {
        for line in text.lines() {
            self = self.line(line);
        }
        self
    }

    /// Adds an empty line.
    #[must_use]
    pub fn gap(self) -> Self {
        self.line("")
    }

    /// Adds the lines of another text.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.lines.extend(other.lines);
        self
    }

    /// Writes the text, with colour codes if asked for.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let mut out = String::new();
        for line in &self.lines {
            for (style, text) in line {
                match style.sgr() {
                    sgr if colour && !sgr.is_empty() => {
                        out.push_str(&format!("\u{1b}[{sgr}m{text}\u{1b}[0m"));
                    }
                    _ => out.push_str(text),
                }
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out
    }
}

/// Rows in columns, aligned by the width of their text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<(Style, String)>>,
}

impl Table {
    /// Returns a table with a heading.
    #[must_use]
    pub fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|text| (Style::Dim, (*text).to_owned())).collect();
        Self { rows: vec![heading] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[(Style, &str)]) {
        self.rows
            .push(cells.iter().map(|(style, text)| (*style, escape(text).into_owned())).collect());
    }

    /// Lays the rows out, two spaces between columns, within the width of the terminal.
    ///
    /// Where it is too narrow the columns of `shrinks` lose the ends of their texts. A pipe or a file
    /// gets everything.
    #[must_use]
    pub fn lay_out(self, shrinks: &[usize]) -> Text {
        self.lay_out_within(shrinks, terminal_columns())
    }

    fn lay_out_within(mut self, shrinks: &[usize], available: Option<usize>) -> Text {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..columns)
            .map(|at| {
                self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.1)).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
        if let Some(available) = available {
            shrink(&mut widths, shrinks, available);
            for row in &mut self.rows {
                for (at, (_, cell)) in row.iter_mut().enumerate() {
                    if width(cell) > widths[at] {
                        *cell = shortened(cell, widths[at]);
                    }
                }
            }
        }
        let mut text = Text::new();
        for row in self.rows {
            let last = row.len().saturating_sub(1);
            let mut line = Vec::new();
            for (at, (style, cell)) in row.into_iter().enumerate() {
                let pad = if at == last { 0 } else { widths[at].saturating_sub(width(&cell)) + 2 };
                line.push((style, cell));
                line.push((Style::Plain, " ".repeat(pad)));
            }
            text.lines.push(line);
        }
        text
    }
}

/// The width below which a column is not shrunk: less says nothing.
const COLUMN_MIN: usize = 8;

/// Takes columns from the widest of the named ones until all fit, or none can give any more.
fn shrink(widths: &mut [usize], shrinks: &[usize], available: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > available {
        let widest = shrinks.iter().copied().filter(|at| *at < widths.len());
        let Some(at) = widest.max_by_key(|at| widths[*at]) else { return };
        if widths[at] <= COLUMN_MIN {
            return;
        }
        widths[at] -= 1;
    }
}

/// Cuts a text to a width, with an ellipsis at its end.
fn shortened(text: &str, columns: usize) -> String {
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if width(&kept) + 1 > columns {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

/// Returns the columns of the terminal that stdout is, if it is one.
fn terminal_columns() -> Option<usize> {
    let stdout = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&stdout).ok().filter(|_| stdout.is_terminal())?;
    // Some terminals do not know their size and say 0.
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Returns how many columns a terminal gives the text: two for East Asian wide characters and emoji.
fn width(text: &str) -> usize {
    // A dozen ranges instead of a crate with the whole table: a title that is off by a column is ugly
    // and no more.
    let mut joined = false;
    text.chars()
        .map(|character| {
            // The parts of an emoji after a joiner stand in its own two columns.
            let part = std::mem::replace(&mut joined, character == '\u{200d}');
            match u32::from(character) {
                _ if part => 0,
                0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0x1f3fb..=0x1f3ff => 0,
                0x1100..=0x115f
                | 0x2e80..=0xa4cf
                | 0xac00..=0xd7a3
                | 0xf900..=0xfaff
                | 0xfe30..=0xfe6f
                | 0xff00..=0xff60
                | 0xffe0..=0xffe6
                | 0x1f300..=0x1faff
                | 0x20000..=0x3fffd => 2,
                _ => 1,
            }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_stored_text_stays_harmless() {
        let mut table = Table::new(&["ID", "TITLE", "STATE"]);
        table.row(&[(Style::Bold, "la-1"), (Style::Plain, "实时看板"), (Style::Good, "idle")]);
        table.row(&[(Style::Bold, "la-22"), (Style::Plain, "x\u{1b}[31m"), (Style::Bad, "failed")]);
        let shown = table.lay_out(&[]).render(false);
        assert_eq!(
            shown,
            "ID     TITLE        STATE\nla-1   实时看板     idle\nla-22  x\\u{1b}[31m  failed\n"
        );
    }

    #[test]
    fn a_table_fits_a_narrow_terminal_and_keeps_its_ids_whole() {
        let table = || {
            let mut table = Table::new(&["TITLE", "ID"]);
            table.row(&[
                (Style::Bold, "The dashboard of the release 👩\u{200d}💻"),
                (Style::Plain, "la-1"),
            ]);
            table
        };
        let shown = table().lay_out_within(&[0], Some(20)).render(false);
        assert_eq!(shown, "TITLE           ID\nThe dashboard…  la-1\n");
        assert!(shown.lines().all(|line| width(line) <= 20));
        let least = table().lay_out_within(&[0], Some(3)).render(false);
        assert_eq!(least, "TITLE     ID\nThe das…  la-1\n");
        let piped = table().lay_out_within(&[0], None).render(false);
        assert!(piped.contains("release 👩\u{200d}💻  la-1"), "{piped}");
    }

    #[test]
    fn colour_codes_come_only_from_styles() {
        let text = Text::new().pieces(&[(Style::Good, "ok"), (Style::Plain, " \u{1b}[0m")]);
        assert_eq!(text.render(true), "\u{1b}[32mok\u{1b}[0m \\u{1b}[0m\n");
        assert_eq!(text.render(false), "ok \\u{1b}[0m\n");
    }
}
