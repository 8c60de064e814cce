//! Keys that are not characters.

/// Returns the code of a key by its name, as the DevTools protocol wants it; 0 for a character.
pub(super) fn virtual_code(key: &str) -> i64 {
    match key {
        "Tab" => 9,
        "Enter" => 13,
        "Escape" => 27,
        " " => 32,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        "ArrowDown" => 40,
        _ => 0,
    }
}
