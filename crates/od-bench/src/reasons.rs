//! Why a target is missed where it is, as a profiler and a trace of system calls told it.

/// What a row begins with, and why it misses its target when it does.
const REASONS: &[(&str, &str)] = &[
    (
        "durable create",
        "a create makes two directories and syncs three times, where the floor syncs twice; the visible copies of the one before are written meanwhile",
    ),
    (
        "refresh from a small file",
        "five syncs where the floor has two; the rest of the time is not explained yet",
    ),
    (
        "list of 1000, cold",
        "eleven system calls for each artifact (a watch, a handle, looks at its files, one read): two thirds of the time is the kernel's",
    ),
    (
        "render 500 rows",
        "bound by memory: every value and every key of a row is a string of its own on the heap",
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
