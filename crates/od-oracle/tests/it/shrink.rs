//! Makes a failing template small enough to read.

/// Removes pieces while `fails` still holds.
pub(crate) fn shrink(text: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut text: Vec<char> = text.chars().collect();
    let mut size = text.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at + size <= text.len() {
            let mut shorter = text.clone();
            shorter.drain(at..at + size);
            if fails(&shorter.iter().collect::<String>()) {
                text = shorter;
            } else {
                at += 1.max(size / 2);
            }
        }
        size /= 2;
    }
    text.into_iter().collect()
}
