//! Counts of what was tried, and the violations that were found.

/// Counts of what was tried, and the violations that were found.
#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) kill_points: usize,
    pub(crate) errno_points: usize,
    pub(crate) corruptions: usize,
    pub(crate) power_points: usize,
    mixed: Vec<String>,
    lost: Vec<String>,
    torn: Vec<String>,
    other: Vec<String>,
}

/// A broken promise of the store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Violation {
    /// Parts of two generations together.
    Mixed(String),
    /// Something acknowledged is gone.
    Lost(String),
    /// Something is half there, or cannot be used any more.
    Torn(String),
    /// The suite or the program misbehaved in another way.
    Other(String),
}

impl Score {
    pub(crate) fn record(&mut self, place: &str, violation: Violation) {
        let (list, kind, what) = match violation {
            Violation::Mixed(what) => (&mut self.mixed, "MIXED", what),
            Violation::Lost(what) => (&mut self.lost, "LOST", what),
            Violation::Torn(what) => (&mut self.torn, "TORN", what),
            Violation::Other(what) => (&mut self.other, "WRONG", what),
        };
        if list.len() < 20 {
            eprintln!("{kind} {place}: {what}");
        }
        list.push(format!("{place}: {what}"));
    }

    /// Counts a fault without printing it.
    pub(crate) fn count(&mut self, violation: Violation) {
        match violation {
            Violation::Mixed(what) => self.mixed.push(what),
            Violation::Lost(what) => self.lost.push(what),
            Violation::Torn(what) => self.torn.push(what),
            Violation::Other(what) => self.other.push(what),
        }
    }

    /// Says what a whole run has tried too little of: a suite that finds nothing to break proves nothing.
    pub(crate) fn check_tried(&mut self) {
        for (what, tried, least) in [
            ("kill points", self.kill_points, 1_500),
            ("errno points", self.errno_points, 1_000),
            ("corruptions", self.corruptions, 30_000),
        ] {
            if tried < least {
                self.record(
                    what,
                    Violation::Other(format!("{tried} tried, {least} are the least")),
                );
            }
        }
    }

    pub(crate) fn is_good(&self) -> bool {
        self.mixed.is_empty()
            && self.lost.is_empty()
            && self.torn.is_empty()
            && self.other.is_empty()
    }

    /// Returns the number of points that ended in a violation.
    pub(crate) fn faults(&self) -> usize {
        self.mixed.len() + self.lost.len() + self.torn.len()
    }

    pub(crate) fn print(&self) {
        println!(
            "{} kill points, {} errno points, {} corruptions: {} mixed, {} lost, {} torn",
            self.kill_points,
            self.errno_points,
            self.corruptions,
            self.mixed.len(),
            self.lost.len(),
            self.torn.len(),
        );
        if self.power_points > 0 {
            println!("{} power-loss points on a loop-mounted ext4", self.power_points);
        }
        if !self.other.is_empty() {
            println!("{} other faults", self.other.len());
        }
    }
}
