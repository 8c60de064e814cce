//! Why a target is missed where it is, as a profiler and a trace of system calls told it.

/// What a row begins with, and why it misses its target when it does.
const REASONS: &[(&str, &str)] = &[
    (
        "durable create",
        "a create makes a directory and two files, whose names are synced with them, where the floor writes over one file; the visible copies of the one before are written meanwhile",
    ),
    (
        "refresh from a small file",
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

/// Returns why a row misses its target, if somebody has looked.
pub(crate) fn reason(what: &str) -> Option<&'static str> {
    REASONS.iter().find(|(begins, _)| what.starts_with(begins)).map(|(_, reason)| *reason)
}
