//! The list of the console's files. A test compares it with `web/`.

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../web/", $name)))),*]
    };
}

/// Every file of the console: its name under `web/`, and its text.
#[rustfmt::skip]
pub(super) const FILES: &[(&str, &str)] = embedded![
    "index.html", "icon.svg", "base.css", "views.css",
    "actions.js", "api.js", "compare.js", "connectors.js", "controls.js", "create.js", "data.js",
    "dom.js", "events.js", "format.js", "history.js", "home.js", "live.js",
    "main.js", "notices.js", "overlays.js", "preview.js", "provenance.js", "router.js", "session.js", "shape.js",
    "shell.js", "shortcuts.js", "source.js", "store.js", "thumbs.js", "treenav.js", "viewer.js",
    "windowed.js", "workspace.js",
];

/// The bundled templates, which the console offers for a new artifact. They are text to it: a browser
/// never draws them on the console's origin.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    (
        "/templates/dashboard.html",
        include_str!("../../../../skills/live-artifact/assets/templates/dashboard.html"),
    ),
    (
        "/templates/report.html",
        include_str!("../../../../skills/live-artifact/assets/templates/report.html"),
    ),
];
