//! One page as a file of its own: it asks for nothing when it is opened from a disk.

use crate::artifact::ArtifactState;
use crate::ids::Digest;
use crate::template::scan::{Scanner, Token};

/// The policy of the previews, without what a `<meta>` cannot say: no script, no request.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
                      img-src data:; font-src data:; base-uri 'none'; form-action 'none'\">";

/// Keeps the parts of a page together on paper, and repeats the heads of its tables.
const PRINT: &str = "<style>@media print { @page { margin: 15mm } thead { display: table-header-group } tr, figure, svg, section { break-inside: avoid } }</style>";

/// Colours of the system, so that the footer can be read on any page.
const FOOTER_STYLE: &str = "all: revert; display: block; color-scheme: light dark; margin: 2rem 0 0; padding: .75rem 1rem; background: Canvas; \
                            color: CanvasText; border-top: 1px solid GrayText; font: 12px/1.6 system-ui, sans-serif; overflow-wrap: anywhere";

/// Returns the page with its policy, print rules and a footer that says what it is.
///
/// The links are names and addresses relative to the page.
pub(super) fn standalone(state: &ArtifactState, page: &str, links: &[(String, String)]) -> String {
    let head = head_of(page);
    let foot = foot_of(page);
    let footer = footer(state, page, links);
    let charset = if has_charset(page) { "" } else { "<meta charset=\"utf-8\">" };
    [&page[..head], charset, POLICY, &page[head..foot], PRINT, &footer, &page[foot..]].concat()
}

/// Returns where the head's content begins, or would: behind the doctype and the tags of html and head.
fn head_of(page: &str) -> usize {
    let mut scanner = Scanner::new(page, 0);
    let mut at = 0;
    while let Some(token) = scanner.next() {
        match token {
            Token::Doctype(span) => at = span.end,
            Token::Start(tag) if tag.name == "html" => at = tag.span.end,
            Token::Start(tag) if tag.name == "head" => return tag.span.end,
            Token::Comment(_) => {}
            Token::Text(span) if page[span.clone()].trim_ascii().is_empty() => {}
            Token::Text(_)
            | Token::Start(_)
            | Token::End(_)
            | Token::Cdata(_)
            | Token::BogusComment(_)
            | Token::UnclosedComment(_)
            | Token::UnclosedTag(_) => break,
        }
    }
    at
}

/// Returns where the body ends: before its end tag if nothing but that of html follows, else where
/// the page does, which HTML reads as the end of the body.
fn foot_of(page: &str) -> usize {
    let end = page.trim_ascii_end();
    let end = strip_end_tag(end, "html").unwrap_or(end);
    strip_end_tag(end, "body").unwrap_or(end).len()
}

fn strip_end_tag<'p>(page: &'p str, name: &str) -> Option<&'p str> {
    let start = page.len().checked_sub(name.len() + 3)?;
    let tag = page.get(start..)?;
    let is_tag = tag.starts_with("</") && tag.ends_with('>');
    let found = tag.get(2..2 + name.len())?;
    (is_tag && found.eq_ignore_ascii_case(name)).then(|| page[..start].trim_ascii_end())
}

/// A disk says no encoding: without a mark the browser would guess one.
fn has_charset(page: &str) -> bool {
    // A browser looks for it in the first kilobyte.
    const TOKENS_MAX: usize = 64;
    let mut scanner = Scanner::new(page, 0);
    std::iter::from_fn(|| scanner.next()).take(TOKENS_MAX).any(|token| {
        let Token::Start(tag) = token else { return false };
        tag.name == "meta" && tag.attributes.iter().any(|attribute| attribute.name == "charset")
    })
}

fn footer(state: &ArtifactState, page: &str, links: &[(String, String)]) -> String {
    let title = escape(&state.artifact.heading.title);
    let at = state.provenance.generated_at;
    let sources: Vec<String> =
        state.provenance.sources.iter().map(|source| escape(&source.label)).collect();
    let sources = if sources.is_empty() { "none named".to_owned() } else { sources.join(", ") };
    let digest = Digest::of_bytes(page.as_bytes());
    let link = |(name, to): &(String, String)| {
        format!("<a style=\"all: revert\" href=\"{}\">{}</a>", escape(to), escape(name))
    };
    let links: Vec<String> = links.iter().map(link).collect();
    let links =
        if links.is_empty() { String::new() } else { format!("<br>{}", links.join(" · ")) };
    format!(
        "<footer style=\"{FOOTER_STYLE}\"><strong>{title}</strong><br>As of <time datetime=\"{at}\">{at}</time><br>\
         Sources: {sources}<br>Page {digest}{links}</footer>\n"
    )
}

/// Escapes a text for HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn split(page: &str, head: &str, foot: &str) {
        assert_eq!((&page[head_of(page)..], &page[foot_of(page)..]), (head, foot), "{page}");
    }

    #[test]
    fn the_policy_comes_before_everything_and_the_footer_last() {
        split(
            "<!doctype html>\n<html lang=en><head><title>x</title></head><body>y</body></html>\n",
            "<title>x</title></head><body>y</body></html>\n",
            "</body></html>\n",
        );
        split("<!doctype html><p>y</p>", "<p>y</p>", "");
        split("<p>y</p>", "<p>y</p>", "");
        split("<html><body>y</BODY> </HTML>", "<body>y</BODY> </HTML>", "</BODY> </HTML>");
        // Elsewhere the same letters are no end tag.
        split("<p>y</p><!-- </body> -->", "<p>y</p><!-- </body> -->", "");
        split("<!-- a --><p title='<head>'>y</p>", "<!-- a --><p title='<head>'>y</p>", "");
    }

    #[test]
    fn a_page_without_an_encoding_gets_one() {
        assert!(has_charset("<!doctype html><head><meta charset=utf-8><title>x</title>"));
        assert!(!has_charset("<!doctype html><p title='<meta charset=x>'>y"));
    }
}
