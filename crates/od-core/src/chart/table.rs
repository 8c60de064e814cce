//! The values of a chart as a table: hidden in the page for those who do not see it, and as CSV.

use std::io;

use super::draw::{Drawing, name};
use super::pen::{Pen, Sink};
use super::spec::ChartSpec;
#[cfg(feature = "artifacts")]
use crate::export::csv::write_record;

/// Writes the table that a page has beside every chart, out of sight.
pub(crate) fn write<S: Sink>(drawing: &Drawing<'_>, pen: &mut Pen<'_, S>) -> io::Result<()> {
    let Drawing { spec, points, .. } = drawing;
    pen.markup("<div class=\"od-t\"><table><caption>")?;
    name(spec, pen)?;
    pen.markup("</caption><thead><tr><th scope=\"col\">")?.text(&spec.points)?;
    for label in &spec.labels {
        pen.markup("</th><th scope=\"col\">")?.text(label)?;
    }
    pen.markup("</th></tr></thead><tbody>")?;
    for point in 0..points.count {
        pen.markup("<tr><th scope=\"row\">")?.text(points.names.get(point))?.markup("</th>")?;
        for series in 0..points.series {
            pen.markup("<td>")?.text(points.text(point, series))?.markup("</td>")?;
        }
        pen.markup("</tr>")?;
    }
    pen.markup("</tbody></table></div>")?;
    Ok(())
}

/// The values that one chart of a page shows, as the data has them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ChartTable {
    /// The title, or the names of the series.
    pub title: String,
    /// The name of the points, then those of the series.
    pub columns: Vec<String>,
    /// A point each: its name, then its values; `None` where there is a gap.
    pub rows: Vec<Vec<Option<String>>>,
}

impl ChartTable {
    pub(crate) fn new(spec: &ChartSpec) -> Self {
        let labels = || spec.labels.iter().map(ToString::to_string);
        let title = match &spec.title {
            Some(title) => title.to_string(),
            None => labels().collect::<Vec<_>>().join(", "),
        };
        let columns = std::iter::once(spec.points.to_string()).chain(labels()).collect();
        Self { title, columns, rows: Vec::new() }
    }

    /// Returns the table as CSV (RFC 4180).
    ///
    /// A text that a spreadsheet would take for a formula has an apostrophe before it.
    ///
    /// ```
    /// use od_core::template::{Grammar, Template};
    ///
    /// let html = r#"<figure data-od-chart="bar" data-od-repeat="d in data.days" data-od-x="d.day" data-od-y="d.n"></figure>"#;
    /// let (template, _) = Template::compile_as(html, Grammar::V2).unwrap();
    /// let data = serde_json::json!({ "days": [{ "day": "Mon", "n": 3 }, { "day": "=1", "n": null }] });
    /// let tables = template.chart_tables(&data, &Default::default()).unwrap();
    /// assert_eq!(tables[0].to_csv(), "day,n\r\nMon,3\r\n'=1,\r\n");
    /// ```
    #[cfg(feature = "artifacts")]
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = String::new();
        write_record(self.columns.iter().map(String::as_str), &mut csv);
        for row in &self.rows {
            write_record(row.iter().map(|cell| cell.as_deref().unwrap_or_default()), &mut csv);
        }
        csv
    }
}
