//! The attributes of a chart, read.

use crate::format::value::Format;

/// The kinds of charts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChartKind {
    /// A line as high as a text, without axes.
    Spark,
    /// Lines over an axis.
    Line,
    /// Lines with the area below them.
    Area,
    /// Bars side by side.
    Bar,
    /// Bars on top of one another.
    StackedBar,
    /// The share of one value.
    Progress,
    /// The shares of a whole.
    Donut,
}

impl ChartKind {
    /// Every kind with its word in `data-od-chart`.
    pub const WORDS: [(&'static str, Self); 7] = [
        ("spark", Self::Spark),
        ("line", Self::Line),
        ("area", Self::Area),
        ("bar", Self::Bar),
        ("stacked-bar", Self::StackedBar),
        ("progress", Self::Progress),
        ("donut", Self::Donut),
    ];

    /// Returns the kind that a word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }

    /// Returns the word of the kind.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spark => "spark",
            Self::Line => "line",
            Self::Area => "area",
            Self::Bar => "bar",
            Self::StackedBar => "stacked-bar",
            Self::Progress => "progress",
            Self::Donut => "donut",
        }
    }

    /// Returns the word of this language for a kind of another.
    pub(crate) fn meant(word: &str) -> Option<&'static str> {
        Some(match word {
            "sparkline" | "sparklines" | "mini" | "trend" => "spark",
            "timeseries" | "time-series" | "lines" | "spline" | "linechart" | "line-chart" => {
                "line"
            }
            "areachart" | "area-chart" | "stacked-area" | "filled" => "area",
            "column" | "columns" | "bars" | "histogram" | "barchart" | "bar-chart" | "hbar"
            | "horizontal-bar" | "grouped-bar" => "bar",
            "stacked" | "stack" | "stackedbar" | "stacked-column" | "stacked_bar" => "stacked-bar",
            "gauge" | "meter" | "progressbar" | "progress-bar" | "bullet" => "progress",
            "pie" | "doughnut" | "ring" | "donut-chart" | "pie-chart" => "donut",
            _ => return None,
        })
    }

    /// Returns whether it draws bars over an axis.
    pub(crate) const fn has_bars(self) -> bool {
        matches!(self, Self::Bar | Self::StackedBar)
    }

    /// Returns whether it shows one series only.
    pub(crate) const fn is_single(self) -> bool {
        matches!(self, Self::Spark | Self::Progress | Self::Donut)
    }

    /// Returns whether it needs a name for every point.
    pub(crate) const fn needs_x(self) -> bool {
        !matches!(self, Self::Spark | Self::Progress)
    }

    /// Returns the height in pixels where the template says none.
    pub(crate) const fn default_height(self) -> u16 {
        match self {
            Self::Spark => 32,
            Self::Progress => 10,
            Self::Donut => 152,
            Self::Line | Self::Area | Self::Bar | Self::StackedBar => 240,
        }
    }

    /// Returns the least height in pixels that it can be drawn in.
    pub(crate) const fn least_height(self) -> u16 {
        match self {
            Self::Spark => 16,
            Self::Progress => 4,
            Self::Donut => 96,
            Self::Line | Self::Area | Self::Bar | Self::StackedBar => 96,
        }
    }
}

/// The parts of a chart that the template says.
#[derive(Clone, Debug)]
pub(crate) struct ChartSpec {
    pub(crate) kind: ChartKind,
    /// Shown above the chart; the names of the series where there is none.
    pub(crate) title: Option<Box<str>>,
    /// The name of the points, in the head of the table.
    pub(crate) points: Box<str>,
    /// The names of the series.
    pub(crate) labels: Box<[Box<str>]>,
    /// The format of the values.
    pub(crate) format: Option<Format>,
    /// In pixels.
    pub(crate) height: u16,
}

impl ChartSpec {
    /// Returns the name of a series.
    pub(crate) fn label(&self, series: usize) -> &str {
        self.labels.get(series).map_or("", |label| label)
    }
}
