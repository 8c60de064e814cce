//! Text for people, kept apart from its colours until it is written.

use std::io::IsTerminal;

use od_core::ids::Timestamp;

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
                    sgr if colour && !sgr.is_empty() && !text.is_empty() => {
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
    shrinks: Vec<usize>,
    spare: Option<usize>,
}

impl Table {
    /// Returns a table with a heading.
    #[must_use]
    pub fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|text| (Style::Dim, (*text).to_owned())).collect();
        Self { rows: vec![heading], ..Self::default() }
    }

    /// Names the columns whose texts may lose their ends where the terminal is too narrow.
    #[must_use]
    pub fn shrinking(self, columns: &[usize]) -> Self {
        Self { shrinks: columns.to_vec(), ..self }
    }

    /// Names the column that is left out where the others would become unreadable beside it.
    #[must_use]
    pub fn sparing(self, column: usize) -> Self {
        Self { spare: Some(column), ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[(Style, &str)]) {
        self.rows
            .push(cells.iter().map(|(style, text)| (*style, escape(text).into_owned())).collect());
    }

    /// Lays the rows out, two spaces between columns, within the width of the terminal. A pipe or a file
    /// gets everything.
    #[must_use]
    pub fn lay_out(self) -> Text {
        self.lay_out_within(terminal_columns())
    }

    /// Where the terminal is too narrow, times lose their seconds, then the spare column goes, then texts lose
    /// their ends, and at last every row becomes lines of its own: ids are never cut, for they are copied.
    fn lay_out_within(mut self, available: Option<usize>) -> Text {
        let Some(available) = available.filter(|columns| taken(&self.widths()) > *columns) else {
            return self.in_columns();
        };
        for (_, cell) in self.rows.iter_mut().flatten() {
            if cell.parse::<Timestamp>().is_ok() {
                *cell = to_the_minute(cell);
            }
        }
        if let Some(spare) = self.spare
            && !self.fits(available, COLUMN_READABLE)
        {
            self.rows.iter_mut().filter(|row| spare < row.len()).for_each(|row| {
                row.remove(spare);
            });
            self.shrinks.retain(|at| *at != spare);
            self.shrinks.iter_mut().filter(|at| **at > spare).for_each(|at| *at -= 1);
        }
        if !self.fits(available, COLUMN_MIN) {
            return self.in_lines();
        }
        let mut widths = self.widths();
        shrink(&mut widths, &self.shrinks, available);
        for row in &mut self.rows {
            for (at, (_, cell)) in row.iter_mut().enumerate() {
                if width(cell) > widths[at] {
                    *cell = shortened(cell, widths[at]);
                }
            }
        }
        self.in_columns()
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |at| self.rows.iter().filter_map(move |row| row.get(at));
        (0..columns).map(|at| cells(at).map(|cell| width(&cell.1)).max().unwrap_or(0)).collect()
    }

    /// Returns whether the rows fit once the shrinking columns have lost all but `least`.
    fn fits(&self, available: usize, least: usize) -> bool {
        let mut widths = self.widths();
        for at in &self.shrinks {
            if let Some(width) = widths.get_mut(*at) {
                *width = least.min(*width);
            }
        }
        taken(&widths) <= available
    }

    fn in_columns(self) -> Text {
        let widths = self.widths();
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

    /// Lays every row out as lines of its own, each with the heading of its column.
    fn in_lines(self) -> Text {
        let mut rows = self.rows.into_iter();
        let names: Vec<String> =
            rows.next().into_iter().flatten().map(|(_, name)| name.to_lowercase()).collect();
        let longest = names.iter().skip(1).map(|name| width(name)).max().unwrap_or(0);
        let mut text = Text::new();
        for row in rows {
            for (at, (style, cell)) in row.into_iter().enumerate() {
                let name = match at {
                    0 => String::new(),
                    at => format!("  {:<longest$}  ", names.get(at).map_or("", String::as_str)),
                };
                text.lines.push(vec![(Style::Dim, name), (style, cell)]);
            }
        }
        text
    }
}

/// The width below which a column is not shrunk: less says nothing.
const COLUMN_MIN: usize = 8;
/// The width that a shrinking column should keep before a spare one goes.
const COLUMN_READABLE: usize = 16;

/// Returns the columns that cells of these widths take, with the gaps between them.
fn taken(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Takes columns from the widest of the named ones until all fit, or none can give any more.
fn shrink(widths: &mut [usize], shrinks: &[usize], available: usize) {
    while taken(widths) > available {
        let widest = shrinks.iter().copied().filter(|at| *at < widths.len());
        let Some(at) = widest.max_by_key(|at| widths[*at]) else { return };
        if widths[at] <= COLUMN_MIN {
            return;
        }
        widths[at] -= 1;
    }
}

/// Writes `2026-04-30T12:34:56.789Z` as `2026-04-30 12:34Z`.
fn to_the_minute(moment: &str) -> String {
    format!("{}Z", moment.get(..16).unwrap_or(moment).replacen('T', " ", 1))
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

/// Returns a count with its noun: `1 file`, `2 files`.
pub(crate) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
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
        let shown = table.lay_out().render(false);
        assert_eq!(
            shown,
            "ID     TITLE        STATE\nla-1   实时看板     idle\nla-22  x\\u{1b}[31m  failed\n"
        );
    }

    #[test]
    fn a_table_fits_a_narrow_terminal_and_keeps_its_ids_whole() {
        let table = || {
            let mut table = Table::new(&["TITLE", "ID", "PROJECT", "REFRESHED"]);
            table.row(&[
                (Style::Bold, "The dashboard of the release 👩\u{200d}💻"),
                (Style::Plain, "la-1"),
                (Style::Plain, "web"),
                (Style::Plain, "2026-04-30T12:34:56.789Z"),
            ]);
            table.shrinking(&[0]).sparing(2)
        };
        let shown = |columns| {
            let shown = table().lay_out_within(Some(columns)).render(false);
            assert!(shown.lines().all(|line| width(line) <= columns), "{columns}:\n{shown}");
            shown
        };
        let piped = table().lay_out_within(None).render(false);
        assert!(piped.contains("release 👩\u{200d}💻  la-1  web      2026-04-30T12:34:56.789Z"));
        assert_eq!(shown(200), piped);
        assert!(shown(66).contains("release 👩\u{200d}💻  la-1  web      2026-04-30 12:34Z"));
        assert_eq!(
            shown(50).lines().nth(1),
            Some("The dashboard o…  la-1  web      2026-04-30 12:34Z")
        );
        assert_eq!(shown(33).lines().nth(1), Some("The das…  la-1  2026-04-30 12:34Z"));
        assert_eq!(
            table().lay_out_within(Some(30)).render(false),
            "The dashboard of the release 👩\u{200d}💻\n  id         la-1\n  refreshed  2026-04-30 12:34Z\n"
        );
    }

    #[test]
    fn colour_codes_come_only_from_styles() {
        let text = Text::new().pieces(&[(Style::Good, "ok"), (Style::Plain, " \u{1b}[0m")]);
        assert_eq!(text.render(true), "\u{1b}[32mok\u{1b}[0m \\u{1b}[0m\n");
        assert_eq!(text.render(false), "ok \\u{1b}[0m\n");
    }
}
