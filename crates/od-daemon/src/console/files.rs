//! The list of the console's files. A test compares it with `web/`.

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../web/", $name)).as_slice())),*]
    };
}

/// Every file of the console: its name under `web/`, and its bytes.
pub(super) const FILES: &[(&str, &[u8])] = embedded!["index.html",];
