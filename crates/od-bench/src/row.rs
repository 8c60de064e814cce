//! One line of the printed table: a figure, its floor or peer, and the target.

use std::time::Duration;

use crate::measure::{Floor, Pair};

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

/// The promise about a row's figure.
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
    /// The work.
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

    /// The time of a piece of work as so many times that of a floor; both readings of the floor are shown.
    pub(crate) fn against_floor(
        what: String,
        subject: Duration,
        floor: Floor,
        name: &str,
        target: Target,
    ) -> Self {
        let pair = Pair { subject, peer: floor.divisor() };
        let Floor { alone, in_turns } = floor;
        Self {
            against: format!("{name} {alone:.1?} alone, {in_turns:.1?} in turns"),
            ..Self::against_peer(what, &pair, name, target)
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
            Verdict::Missed => match reason(&self.what) {
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

/// The beginning of a row, and the reason for which it misses its target when it does.
const REASONS: &[(&str, &str)] = &[
    (
        "durable create",
        "a create makes a directory and two files, whose names are synced with them, where the floor writes over one file; the visible copies of the one before are written meanwhile",
    ),
    (
        "refresh that changes a small file",
        "four syncs where the floor has two, of files that are new where the floor writes over one; the visible copies of the one before are written meanwhile",
    ),
    (
        "list of 1000, cold",
        "a watch and four files to open, read and check for each artifact, on two cores: most of the time is the kernel's",
    ),
    (
        "growth of list, cold",
        "one run's readings differ from the next one's by up to a third, which moves the exponent by 0.2",
    ),
    (
        "growth of one preview",
        "one preview takes about 22 µs where the daemon's core is awake and about 75 µs where it has to be woken, whatever the store holds: in the run after this one the larger store was the faster",
    ),
    (
        "growth of cold start",
        "the first start with ten thousand artifacts also finds the disk's cache cold",
    ),
];

/// Returns the reason for which a row misses its target, if it is known.
fn reason(what: &str) -> Option<&'static str> {
    REASONS.iter().find(|(begins, _)| what.starts_with(begins)).map(|(_, reason)| *reason)
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
