//! Counts of what was tried, and the violations that were found.

/// Counts of what was tried, and the violations that were found.
#[derive(Debug, Default)]
pub(crate) struct Score {
    /// One line for each file system that was run on.
    disks: Vec<String>,
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

    /// Takes in the score of one file system, and keeps its line.
    pub(crate) fn add_disk(&mut self, name: &str, disk: Self) {
        self.disks.push(format!("{name}: {}", disk.line()));
        self.kill_points += disk.kill_points;
        self.errno_points += disk.errno_points;
        self.corruptions += disk.corruptions;
        self.power_points += disk.power_points;
        self.mixed.extend(disk.mixed);
        self.lost.extend(disk.lost);
        self.torn.extend(disk.torn);
        self.other.extend(disk.other);
    }

    /// Keeps the line of a file system that this machine does not have.
    pub(crate) fn skip_disk(&mut self, name: &str, reason: &str) {
        self.disks.push(format!("{name}: skipped, it cannot be mounted here: {reason}"));
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

    fn line(&self) -> String {
        format!(
            "{} kill points, {} errno points, {} power losses, {} corruptions: {} mixed, {} lost, {} torn{}",
            self.kill_points,
            self.errno_points,
            self.power_points,
            self.corruptions,
            self.mixed.len(),
            self.lost.len(),
            self.torn.len(),
            if self.other.is_empty() {
                String::new()
            } else {
                format!(", {} wrong", self.other.len())
            },
        )
    }

    /// Prints a line for each file system and one for all of them.
    pub(crate) fn print(&self) {
        for disk in &self.disks {
            println!("{disk}");
        }
        println!("in all: {}", self.line());
    }
}
