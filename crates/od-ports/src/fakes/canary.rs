//! A secret that is nobody's, and the search for it in all it may be disguised as.

use std::io;
use std::path::Path;

/// The secret to plant: it has to be escaped in a URL and takes both cases of letters.
pub const CANARY: &str = "od-canary/Qz7+19xKfe";

/// Returns the disguise in which the canary stands in a text, if it does.
#[must_use]
pub fn find_canary(text: &str) -> Option<String> {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let disguises = [
        CANARY,
        "od-canary%2FQz7%2B19xKfe",
        // What its base64 has whatever stands around it, at each of the three alignments.
        "b2QtY2FuYXJ5L1F6NysxOXhLZm",
        "9kLWNhbmFyeS9RejcrMTl4S2Zl",
        "vZC1jYW5hcnkvUXo3KzE5eEtmZ",
        &hex,
    ];
    let folded = text.to_lowercase();
    disguises.iter().map(|disguise| disguise.to_lowercase()).find(|it| folded.contains(it))
}

/// Searches a text for the canary.
///
/// # Panics
///
/// When it is there.
#[track_caller]
pub fn assert_no_canary(what: &str, text: &str) {
    assert_eq!(find_canary(text), None, "{what} tells the canary");
}

/// Searches for the canary in every file below a directory, and returns how many there are.
///
/// # Errors
///
/// When a file cannot be read.
///
/// # Panics
///
/// When it is there.
pub fn assert_no_canary_below(directory: &Path) -> io::Result<usize> {
    // Whoever moves a file meanwhile moves it out of sight: then everything is looked at again.
    let mut looks = std::iter::repeat_with(|| look_below(directory)).take(LOOKS_MAX);
    let is_final = |look: &io::Result<usize>| {
        !look.as_ref().is_err_and(|err| err.kind() == io::ErrorKind::NotFound)
    };
    looks.find(is_final).unwrap_or_else(|| look_below(directory))
}

/// Tries to search while files are moved about.
const LOOKS_MAX: usize = 100;

fn look_below(directory: &Path) -> io::Result<usize> {
    let mut files = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files += look_below(&path)?;
        } else {
            files += 1;
            let bytes = std::fs::read(&path)?;
            assert_no_canary(&path.display().to_string(), &String::from_utf8_lossy(&bytes));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canary_is_found_in_every_disguise() {
        for disguised in [
            "xod-canary/Qz7+19xKfex",
            "OD-CANARY/QZ7+19XKFE",
            "?t=od-canary%2fQz7%2b19xKfe",
            // Base64 of the canary alone, after `x` and after `xy`; each at the end and before `~~`.
            "b2QtY2FuYXJ5L1F6NysxOXhLZmU=",
            "b2QtY2FuYXJ5L1F6NysxOXhLZmV+fg==",
            "eG9kLWNhbmFyeS9RejcrMTl4S2Zl",
            "eG9kLWNhbmFyeS9RejcrMTl4S2Zlfn4=",
            "eHlvZC1jYW5hcnkvUXo3KzE5eEtmZQ==",
            "eHlvZC1jYW5hcnkvUXo3KzE5eEtmZX5+",
            "6F642D63616E6172792F517A372B3139784B6665",
        ] {
            assert!(find_canary(disguised).is_some(), "{disguised}");
        }
        assert_eq!(find_canary("a canary"), None);
    }
}
