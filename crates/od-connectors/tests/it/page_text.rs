//! The text of a page, for what it shows before and after a change.

/// The text that a reader sees: the body without its tags, spaces as one.
pub(crate) fn text_of(page: &str) -> String {
    let body = page.split_once("<body>").map_or(page, |(_, body)| body);
    let mut text = String::new();
    let mut is_tag = false;
    let shown: String = body.split("<style>").map(after_style).collect();
    for c in shown.chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Style sheets are not text; the first part of a page has none before it.
fn after_style(part: &str) -> &str {
    part.split_once("</style>").map_or(part, |(_, rest)| rest)
}
