//! Templates of any size that try to make the compiler work more than it should.

/// A kind of hostile template.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What the command line calls it.
    pub name: &'static str,
    make: fn(usize) -> String,
}

impl Family {
    /// Builds a template of about `bytes` bytes.
    #[must_use]
    pub fn template(&self, bytes: usize) -> String {
        (self.make)(bytes)
    }
}

/// Every family.
#[rustfmt::skip]
pub const FAMILIES: &[Family] = &[
    Family { name: "unclosed-bindings",   make: |bytes| format!("<p>{}", fill("{{ ", bytes)) },
    Family { name: "binding-and-spaces",  make: |bytes| format!("<p>{{{{{}", fill(" ", bytes)) },
    Family { name: "braces",              make: |bytes| fill("{", bytes) },
    Family { name: "brackets",            make: |bytes| fill("<", bytes) },
    Family { name: "open-tags",           make: |bytes| fill("<a", bytes) },
    Family { name: "end-tags",            make: |bytes| fill("</p>", bytes) },
    Family { name: "double-quotes",       make: |bytes| format!("<p a={}", fill("\"", bytes)) },
    Family { name: "single-quotes",       make: |bytes| format!("<p a={}>", fill("'", bytes)) },
    Family { name: "white-space",         make: |bytes| format!("<p>{}{{{{data.x}}}}", fill(" \n\t", bytes)) },
    Family { name: "white-space-in-tag",  make: |bytes| format!("<p {}>", fill(" ", bytes)) },
    Family { name: "repeats",             make: |bytes| format!("<body>{}", fill("<i data-od-repeat=\"r in data.l\">{{r.n}}</i>", bytes)) },
    Family { name: "deep-nesting",        make: |bytes| fill("<div>", bytes) },
    Family { name: "deep-formatting",     make: |bytes| fill("<b><p>", bytes) },
    Family { name: "deepest-allowed",     make: |bytes| format!("{}{}", "<div>".repeat(200), fill("<p>{{data.x}}", bytes)) },
    Family { name: "huge-attribute",      make: |bytes| format!("<p title=\"{}\">{{{{data.x}}}}", fill("x", bytes)) },
    Family { name: "huge-bound-style",    make: |bytes| format!("<p style=\"{}\">", fill("a:{{data.x}};", bytes)) },
    Family { name: "huge-url",            make: |bytes| format!("<a href=\"{}\">x</a>", fill("/{{data.x}}", bytes)) },
    Family { name: "many-attributes",     make: |bytes| format!("<p {}>", (0..bytes / 8).map(|at| format!("a{at:06} ")).collect::<String>()) },
    Family { name: "ampersands",          make: |bytes| format!("<p>{}{{{{data.x}}}}", fill("&", bytes)) },
    Family { name: "long-reference",      make: |bytes| format!("<p>&{}{{{{data.x}}}}", fill("a", bytes)) },
    Family { name: "comments",            make: |bytes| fill("<!-- {{ -->", bytes) },
    Family { name: "unclosed-comment",    make: |bytes| format!("<p><!--{}", fill("--!", bytes)) },
    Family { name: "unclosed-title",      make: |bytes| format!("<title>{}", fill("</titl", bytes)) },
    Family { name: "scripts",             make: |bytes| fill("<script></script>", bytes) },
    Family { name: "unclosed-scripts",    make: |bytes| fill("<script>", bytes) },
    Family { name: "table-text",          make: |bytes| format!("<table>{}", fill("x<tr>", bytes)) },
    Family { name: "selects",             make: |bytes| fill("<select><option>{{data.x}}</select>", bytes) },
    Family { name: "svg",                 make: |bytes| format!("<p>{}", fill("<svg><path d=\"M0 0\"/><text>{{data.x}}</text></svg>", bytes)) },
    Family { name: "items",               make: |bytes| format!("<ul>{}", fill("<li>{{data.x}}", bytes)) },
    Family { name: "honest-dashboard",    make: |bytes| format!("<!doctype html><title>{{{{data.t}}}}</title><body>{}", fill(CARD, bytes)) },
    Family { name: "honest-tables",       make: |bytes| format!("<table><tbody>{}</tbody></table>", fill("<tr><td class=\"a\">{{data.x}}</td></tr>\n", bytes)) },
];

const CARD: &str = "<section class=\"card\" id=\"c\"><h2>{{data.cards.7.title}}</h2><p>Figures of the last week, as the source gave them.</p>\
<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M5 12h14M12 5l7 7-7 7\" fill=\"none\" stroke=\"currentColor\"/></svg>\
<a href=\"https://example.com/cards/7\" style=\"--share: {{data.cards.7.share}}\">{{data.cards.7.value}}</a></section>\n";

fn fill(piece: &str, bytes: usize) -> String {
    piece.repeat((bytes / piece.len()).max(1))
}
