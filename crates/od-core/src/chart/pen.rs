//! Writes the markup of a chart: our own literals, integers, and texts through the escaper.

use std::io;

/// The output of a chart.
pub(crate) trait Sink {
    /// Writes markup of our own.
    fn markup(&mut self, markup: &str) -> io::Result<()>;
    /// Writes text so that HTML reads back exactly these characters.
    fn text(&mut self, text: &str) -> io::Result<()>;
}

/// Whole units that the width of a chart has.
pub(crate) const UNITS: i64 = 10_000;

/// Writes the pieces of markup. Numbers are integers, or integers with their point moved: no double
/// is ever printed.
pub(crate) struct Pen<'s, S> {
    sink: &'s mut S,
}

impl<'s, S: Sink> Pen<'s, S> {
    pub(crate) const fn new(sink: &'s mut S) -> Self {
        Self { sink }
    }

    pub(crate) fn markup(&mut self, markup: &str) -> io::Result<&mut Self> {
        self.sink.markup(markup)?;
        Ok(self)
    }

    pub(crate) fn text(&mut self, text: &str) -> io::Result<&mut Self> {
        self.sink.text(text)?;
        Ok(self)
    }

    pub(crate) fn integer(&mut self, integer: i64) -> io::Result<&mut Self> {
        self.sink.markup(itoa::Buffer::new().format(integer))?;
        Ok(self)
    }

    /// Writes tenths: 123 as `12.3`.
    pub(crate) fn tenths(&mut self, tenths: i64) -> io::Result<&mut Self> {
        self.pointed(tenths, 10)
    }

    /// Writes units of [`UNITS`] as a percentage: 1234 as `12.34%`.
    pub(crate) fn percent(&mut self, units: i64) -> io::Result<&mut Self> {
        self.pointed(units, UNITS / 100)?.markup("%")
    }

    fn pointed(&mut self, value: i64, parts: i64) -> io::Result<&mut Self> {
        if value < 0 {
            self.markup("-")?;
        }
        let (whole, part) = (value.abs() / parts, value.abs() % parts);
        self.integer(whole)?;
        if part == 0 {
            return Ok(self);
        }
        self.markup(".")?;
        // `12.05`, not `12.5`; and `12.5`, not `12.50`.
        if parts > 10 && part < 10 {
            self.markup("0")?;
        }
        if parts > 10 && part % 10 == 0 { self.integer(part / 10) } else { self.integer(part) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    pub(crate) struct Page(String);

    impl Sink for Page {
        fn markup(&mut self, markup: &str) -> io::Result<()> {
            self.0.push_str(markup);
            Ok(())
        }
        fn text(&mut self, text: &str) -> io::Result<()> {
            self.markup(text)
        }
    }

    #[test]
    fn integers_get_their_point_back() {
        let mut page = Page::default();
        let mut pen = Pen::new(&mut page);
        for units in [0, 5, 50, 1234, 1200, 1230, 10_000, -5] {
            pen.percent(units).unwrap().markup(" ").unwrap();
        }
        for tenths in [0, 7, 120, 123, -123] {
            pen.tenths(tenths).unwrap().markup(" ").unwrap();
        }
        assert_eq!(page.0, "0% 0.05% 0.5% 12.34% 12% 12.3% 100% -0.05% 0 0.7 12 12.3 -12.3 ");
    }
}
