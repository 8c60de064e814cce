//! The points of a chart: numbers, and the texts of both axes.

use crate::limits::CHART_POINTS;

/// Texts one behind the other, in one allocation.
#[derive(Debug, Default)]
pub(crate) struct TextList {
    text: String,
    ends: Vec<usize>,
}

impl TextList {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.end();
    }

    /// Adds a character to the text that [`Self::end`] ends.
    pub(crate) fn push_char(&mut self, letter: char) {
        self.text.push(letter);
    }

    pub(crate) fn end(&mut self) {
        self.ends.push(self.text.len());
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(at).copied().unwrap_or_default();
        self.text.get(start.unwrap_or_default()..end).unwrap_or_default()
    }
}

/// The points of one chart; kept from one chart to the next, so that its room is used again.
#[derive(Debug, Default)]
pub(crate) struct Points {
    /// How many points there are.
    pub(crate) count: usize,
    /// How many values a point has.
    pub(crate) series: usize,
    /// The values of one point after those of another; NaN where there is none.
    pub(crate) values: Vec<f64>,
    /// The values as the page writes them.
    pub(crate) texts: TextList,
    /// The names of the points.
    pub(crate) names: TextList,
    /// The places of the points in time or on a number line; empty where they have none.
    pub(crate) places: Vec<f64>,
    /// The bounds that the template sets.
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
}

impl Points {
    /// Returns whether a chart may have so many.
    pub(crate) fn allows(count: usize) -> bool {
        CHART_POINTS.allows(count)
    }

    pub(crate) fn clear(&mut self, series: usize) {
        self.count = 0;
        self.series = series;
        self.values.clear();
        self.texts.clear();
        self.names.clear();
        self.places.clear();
        (self.min, self.max) = (None, None);
    }

    /// Returns a value, or `None` where there is a gap.
    pub(crate) fn value(&self, point: usize, series: usize) -> Option<f64> {
        let value = self.values.get(point * self.series + series).copied();
        value.filter(|value| !value.is_nan())
    }

    pub(crate) fn text(&self, point: usize, series: usize) -> &str {
        self.texts.get(point * self.series + series)
    }

    /// Returns the points with the least and the greatest value of a series.
    pub(crate) fn extremes(&self, series: usize) -> Option<(usize, usize)> {
        let mut found: Option<((usize, f64), (usize, f64))> = None;
        for point in 0..self.count {
            let Some(value) = self.value(point, series) else { continue };
            let (least, greatest) = found.get_or_insert(((point, value), (point, value)));
            if value < least.1 {
                *least = (point, value);
            }
            if value > greatest.1 {
                *greatest = (point, value);
            }
        }
        found.map(|((least, _), (greatest, _))| (least, greatest))
    }

    /// Forgets the places unless they lead from left to right.
    pub(crate) fn settle_places(&mut self) {
        let rises = self.places.windows(2).all(|pair| pair[0] < pair[1]);
        if self.places.len() != self.count || !rises {
            self.places.clear();
        }
    }
}

/// The largest magnitude that is drawn. Sums and differences of such values are finite.
const MAGNITUDE_MAX: f64 = 1e300;

/// Returns a value that can be drawn.
pub(crate) fn drawable(value: f64) -> f64 {
    value.clamp(-MAGNITUDE_MAX, MAGNITUDE_MAX)
}
