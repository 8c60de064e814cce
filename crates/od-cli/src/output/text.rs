//! Text for people, kept apart from its colours until it is written.

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

    /// Lays the rows out, two spaces between columns.
    #[must_use]
    pub fn lay_out(self) -> Text {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|at| {
                self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.1)).max()
            })
            .map(Option::unwrap_or_default)
            .collect();
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

/// Returns how many columns a terminal gives the text: two for East Asian wide characters and emoji.
fn width(text: &str) -> usize {
    // A dozen ranges instead of a crate with the whole table: a title that is off by a column is ugly
    // and no more.
    text.chars()
        .map(|character| match u32::from(character) {
            0x300..=0x36f => 0,
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
        let shown = table.lay_out().render(false);
        assert_eq!(
            shown,
            "ID     TITLE        STATE\nla-1   实时看板     idle\nla-22  x\\u{1b}[31m  failed\n"
        );
    }

    #[test]
    fn colour_codes_come_only_from_styles() {
        let text = Text::new().pieces(&[(Style::Good, "ok"), (Style::Plain, " \u{1b}[0m")]);
        assert_eq!(text.render(true), "\u{1b}[32mok\u{1b}[0m \\u{1b}[0m\n");
        assert_eq!(text.render(false), "ok \\u{1b}[0m\n");
    }
}
