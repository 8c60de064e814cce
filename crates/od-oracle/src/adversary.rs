//! Templates of any size that try to make the compiler work more than it should.

use od_core::template::Grammar::{self, V1, V2};

/// A kind of hostile template.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What the command line calls it.
    pub name: &'static str,
    /// The grammar that reads it.
    pub grammar: Grammar,
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
    Family { name: "unclosed-bindings",   grammar: V1, make: |bytes| format!("<p>{}", fill("{{ ", bytes)) },
    Family { name: "binding-and-spaces",  grammar: V1, make: |bytes| format!("<p>{{{{{}", fill(" ", bytes)) },
    Family { name: "braces",              grammar: V1, make: |bytes| fill("{", bytes) },
    Family { name: "brackets",            grammar: V1, make: |bytes| fill("<", bytes) },
    Family { name: "open-tags",           grammar: V1, make: |bytes| fill("<a", bytes) },
    Family { name: "end-tags",            grammar: V1, make: |bytes| fill("</p>", bytes) },
    Family { name: "double-quotes",       grammar: V1, make: |bytes| format!("<p a={}", fill("\"", bytes)) },
    Family { name: "single-quotes",       grammar: V1, make: |bytes| format!("<p a={}>", fill("'", bytes)) },
    Family { name: "white-space",         grammar: V1, make: |bytes| format!("<p>{}{{{{data.x}}}}", fill(" \n\t", bytes)) },
    Family { name: "white-space-in-tag",  grammar: V1, make: |bytes| format!("<p {}>", fill(" ", bytes)) },
    Family { name: "repeats",             grammar: V1, make: |bytes| format!("<body>{}", fill("<i data-od-repeat=\"r in data.l\">{{r.n}}</i>", bytes)) },
    Family { name: "deep-nesting",        grammar: V1, make: |bytes| fill("<div>", bytes) },
    Family { name: "deep-formatting",     grammar: V1, make: |bytes| fill("<b><p>", bytes) },
    Family { name: "deepest-allowed",     grammar: V1, make: |bytes| format!("{}{}", "<div>".repeat(200), fill("<p>{{data.x}}", bytes)) },
    Family { name: "huge-attribute",      grammar: V1, make: |bytes| format!("<p title=\"{}\">{{{{data.x}}}}", fill("x", bytes)) },
    Family { name: "huge-bound-style",    grammar: V1, make: |bytes| format!("<p style=\"{}\">", fill("a:{{data.x}};", bytes)) },
    Family { name: "huge-url",            grammar: V1, make: |bytes| format!("<a href=\"{}\">x</a>", fill("/{{data.x}}", bytes)) },
    Family { name: "many-attributes",     grammar: V1, make: |bytes| format!("<p {}>", (0..bytes / 8).map(|at| format!("a{at:06} ")).collect::<String>()) },
    Family { name: "ampersands",          grammar: V1, make: |bytes| format!("<p>{}{{{{data.x}}}}", fill("&", bytes)) },
    Family { name: "long-reference",      grammar: V1, make: |bytes| format!("<p>&{}{{{{data.x}}}}", fill("a", bytes)) },
    Family { name: "comments",            grammar: V1, make: |bytes| fill("<!-- {{ -->", bytes) },
    Family { name: "unclosed-comment",    grammar: V1, make: |bytes| format!("<p><!--{}", fill("--!", bytes)) },
    Family { name: "unclosed-title",      grammar: V1, make: |bytes| format!("<title>{}", fill("</titl", bytes)) },
    Family { name: "scripts",             grammar: V1, make: |bytes| fill("<script></script>", bytes) },
    Family { name: "unclosed-scripts",    grammar: V1, make: |bytes| fill("<script>", bytes) },
    Family { name: "table-text",          grammar: V1, make: |bytes| format!("<table>{}", fill("x<tr>", bytes)) },
    Family { name: "selects",             grammar: V1, make: |bytes| fill("<select><option>{{data.x}}</select>", bytes) },
    Family { name: "svg",                 grammar: V1, make: |bytes| format!("<p>{}", fill("<svg><path d=\"M0 0\"/><text>{{data.x}}</text></svg>", bytes)) },
    Family { name: "items",               grammar: V1, make: |bytes| format!("<ul>{}", fill("<li>{{data.x}}", bytes)) },
    Family { name: "honest-dashboard",    grammar: V1, make: |bytes| format!("<!doctype html><title>{{{{data.t}}}}</title><body>{}", fill(CARD, bytes)) },
    Family { name: "honest-tables",       grammar: V1, make: |bytes| format!("<table><tbody>{}</tbody></table>", fill("<tr><td class=\"a\">{{data.x}}</td></tr>\n", bytes)) },
    Family { name: "deep-conditions",     grammar: V2, make: |bytes| format!("<p>{}{}{}", "<i data-od-if=\"data.a == 'x'\">".repeat(200), fill("<b data-od-if=\"!data.b\">{{data.x}}</b>", bytes), "</i>".repeat(200)) },
    Family { name: "else-chains",         grammar: V2, make: |bytes| format!("<p><b data-od-if=\"data.a\">x</b>{}", fill("<b data-od-else-if=\"data.b >= 0.5\">{{data.x}}</b>", bytes)) },
    Family { name: "long-condition",      grammar: V2, make: |bytes| format!("<p><b data-od-if=\"data.a == '{}'\">x</b>", fill("x", bytes)) },
    Family { name: "broken-condition",    grammar: V2, make: |bytes| format!("<p><b data-od-if=\"data.a {}\">x</b>", fill("' == ", bytes)) },
    Family { name: "nested-repeats",      grammar: V2, make: |bytes| format!("<p>{}", fill("<i data-od-repeat=\"a in data.a\"><i data-od-repeat=\"b in a.b\">{{b.n}} {{@index}}</i><i data-od-else>x</i></i>", bytes)) },
    Family { name: "many-formats",        grammar: V2, make: |bytes| format!("<p>{}", fill("{{data.x | currency:EUR:2 | or:'none'}} {{data.y | date:full}}", bytes)) },
    Family { name: "unknown-formats",     grammar: V2, make: |bytes| format!("<p>{}", fill("{{data.x | moneyy:'a':b}}", bytes)) },
    Family { name: "long-format",         grammar: V2, make: |bytes| format!("<p>{{{{data.x | or:'{}'}}}}", fill("x", bytes)) },
    Family { name: "many-pipes",          grammar: V2, make: |bytes| format!("<p>{{{{data.x{}}}}}", fill(" | upper", bytes)) },
    Family { name: "many-arguments",      grammar: V2, make: |bytes| format!("<p>{{{{data.x | date{}}}}}", fill(":'x'", bytes)) },
    Family { name: "charts",              grammar: V2, make: |bytes| format!("<p>x</p>{}", fill("<div data-od-chart=\"line\" data-od-repeat=\"d in data.l\" data-od-x=\"d.t\" data-od-y=\"d.a d.b\" data-od-labels=\"A, B\" data-od-format=\"number:1\"></div>", bytes)) },
    Family { name: "chart-content",       grammar: V2, make: |bytes| format!("<div data-od-chart=\"bar\" data-od-repeat=\"d in data.l\" data-od-x=\"d.t\" data-od-y=\"d.a\">{}", fill("<i>x</i>", bytes)) },
    Family { name: "chart-children",      grammar: V2, make: |bytes| format!("<div data-od-chart=\"bar\" data-od-repeat=\"d in data.l\" data-od-x=\"d.t\" data-od-y=\"d.a\">{}", fill("<i>", bytes)) },
    Family { name: "chart-series",        grammar: V2, make: |bytes| format!("<div data-od-chart=\"line\" data-od-repeat=\"d in data.l\" data-od-x=\"d.t\" data-od-y=\"{}\"></div>", fill("d.a ", bytes)) },
    Family { name: "chart-labels",        grammar: V2, make: |bytes| format!("<div data-od-chart=\"line\" data-od-repeat=\"d in data.l\" data-od-x=\"d.t\" data-od-y=\"d.a\" data-od-labels=\"{}\"></div>", fill("x,", bytes)) },
    Family { name: "other-marks",         grammar: V2, make: |bytes| format!("<p>{}", fill("{% if x ", bytes)) },
];

const CARD: &str = "<section class=\"card\" id=\"c\"><h2>{{data.cards.7.title}}</h2><p>Figures of the last week, as the source gave them.</p>\
<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M5 12h14M12 5l7 7-7 7\" fill=\"none\" stroke=\"currentColor\"/></svg>\
<a href=\"https://example.com/cards/7\" style=\"--share: {{data.cards.7.share}}\">{{data.cards.7.value}}</a></section>\n";

fn fill(piece: &str, bytes: usize) -> String {
    piece.repeat((bytes / piece.len()).max(1))
}
