//! One line of the printed table: a figure, what it is compared with, and what was promised.

use crate::measure::Pair;
use crate::reasons;

/// The head of the table.
pub(crate) const HEADER: &str = "\
| area | what | measured | against | ratio or figure | target | verdict |
|---|---|---|---|---|---|---|";

/// Whether a row keeps its promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The target is met.
    Met,
    /// The target is missed.
    Missed,
    /// There is no target: the row informs.
    Informs,
}

/// What a row promises about its figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// The figure is at most this.
    AtMost(f64),
    /// The figure is at least this.
    AtLeast(f64),
    /// Nothing is promised.
    None,
}

/// One measured line.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What was done.
    pub(crate) what: String,
    /// The absolute reading, for orientation.
    pub(crate) measured: String,
    /// The floor or peer of the same run, or an empty text where the figure stands alone.
    pub(crate) against: String,
    /// The figure that the target speaks of.
    pub(crate) figure: f64,
    /// The unit of the figure: `x` for a ratio.
    pub(crate) unit: &'static str,
    /// The promise.
    pub(crate) target: Target,
}

impl Row {
    /// The time of a piece of work as so many times that of a floor or peer of the same run.
    pub(crate) fn against_peer(what: String, pair: &Pair, peer: &str, target: Target) -> Self {
        Self {
            what,
            measured: format!("{:.1?}", pair.subject),
            against: format!("{peer} {:.1?}", pair.peer).trim_start().to_owned(),
            figure: pair.ratio(),
            unit: "x",
            target,
        }
    }

    /// A figure that stands alone.
    pub(crate) fn alone(
        what: String,
        measured: String,
        (figure, unit): (f64, &'static str),
        target: Target,
    ) -> Self {
        Self { what, measured, against: String::new(), figure, unit, target }
    }

    /// Compares the figure with the promise.
    pub(crate) fn verdict(&self) -> Verdict {
        let met = match self.target {
            Target::AtMost(limit) => self.figure <= limit,
            Target::AtLeast(limit) => self.figure >= limit,
            Target::None => return Verdict::Informs,
        };
        if met { Verdict::Met } else { Verdict::Missed }
    }

    /// Prints the row as a line of the table.
    pub(crate) fn markdown(&self, area: &str) -> String {
        let unit = self.unit;
        let target = match self.target {
            Target::AtMost(limit) => format!("≤ {limit} {unit}"),
            Target::AtLeast(limit) => format!("≥ {limit} {unit}"),
            Target::None => "–".to_owned(),
        };
        let verdict = match self.verdict() {
            Verdict::Met => "met",
            Verdict::Missed => match reasons::reason(&self.what) {
                Some(reason) => &format!("**missed**: {reason}"),
                None => "**missed**",
            },
            Verdict::Informs => "–",
        };
        format!(
            "| {area} | {} | {} | {} | {:.2} {unit} | {target} | {verdict} |",
            self.what, self.measured, self.against, self.figure
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_beyond_its_target_is_called_missed() {
        let mut row = Row {
            what: "parse".to_owned(),
            measured: "3 ms".to_owned(),
            against: "serde_json 1 ms".to_owned(),
            figure: 3.0,
            unit: "x",
            target: Target::AtMost(2.0),
        };
        assert_eq!(row.verdict(), Verdict::Missed);
        assert!(row.markdown("json").ends_with("| 3.00 x | ≤ 2 x | **missed** |"));
        row.what = "durable create".to_owned();
        assert!(row.markdown("store").contains("**missed**: a create makes"));
        row.target = Target::AtLeast(2.0);
        assert_eq!(row.verdict(), Verdict::Met);
        row.target = Target::None;
        assert_eq!(row.verdict(), Verdict::Informs);
    }
}
