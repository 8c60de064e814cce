//! Random templates: a grammar of everything HTML restructures, mostly well formed, sometimes not.

use od_core::template::Grammar;

use crate::dice::Dice;

/// Templates that the compiler must accept.
pub(crate) const TEXTBOOK: &[&str] = &[
    "<p>{{data.t}}</p>",
    "<p>a{{data.e}}<p>b{{data.w}}",
    "<body>{{data.w}}<p>x",
    "text {{data.t}}",
    "<title>{{data.t}}</title><p title=\"{{data.t}}\" class='{{data.t}}'>x",
    "<pre>{{data.n}}</pre><pre>\n{{data.n}}</pre><textarea>{{data.n}}</textarea><textarea>\n{{data.n}}</textarea><listing>{{data.n}}</listing>",
    "<p>x<pre><b data-od-repeat=\"r in data.none\">{{r}}</b>\ny</pre>",
    "<p>x<pre>{{data.e}}\ny</pre>",
    "<table><thead><tr><th>{{data.t}}<tbody><tr data-od-repeat=\"r in data.rows\"><td>{{r.t}}</td></tr></table>",
    "<table><tr><td>x</td></tr><tr data-od-repeat=\"r in data.rows\"><td>{{r.t}}</td></tr></table>",
    "<table><caption>{{data.t}}</caption><colgroup><col data-od-repeat=\"r in data.rows\" class=\"{{r.t}}\"></colgroup></table>",
    "<ul><li>a<li>{{data.t}}</ul><dl><dt>{{data.t}}<dd>{{data.w}}</dl>",
    "<p><select><option data-od-repeat=\"r in data.rows\" value=\"{{r.t}}\">{{r.t}}</option></select>",
    "<p><svg viewBox='0 0 1 1'><title>{{data.t}}</title><g data-od-repeat=\"r in data.rows\"><path d=\"{{r.t}}\"/><text>{{r.t}}</text></g></svg>",
    "<p><math><mi>{{data.t}}</mi><mo data-od-repeat=\"r in data.rows\">{{r.t}}</mo></math>",
    "<p>x<a href=\"{{data.u}}\" target=_self rel='a b'>{{data.t}}</a><area href='{{data.u}}'>",
    "<p>x\r\n{{data.n}}\r{{data.n}}",
    "\u{feff}<!doctype html><html lang=\"{{data.t}}\"><head><title>x</title></head>\n<body class=\"{{data.t}}\">{{data.t}}</body></html>\n",
    "<!-- a --><!doctype html><!-- b --><p>{{data.t}}</p><!-- c -->",
    "<p>a<ruby>b<rp>(<rt>{{data.t}}<rp>)</ruby>",
    "<p><b><i>{{data.t}}</i></b><a href='#'><b>{{data.t}}</b></a>",
    "<p>&amp;{{data.amp}} &lt;{{data.amp}} 1 < {{data.amp}}",
    "<body><p data-od-repeat='r in data.none'>{{r}}</p>x",
];

const BLOCKS: &[&str] = &[
    "div",
    "p",
    "section",
    "article",
    "ul",
    "ol",
    "dl",
    "h1",
    "h2",
    "table",
    "pre",
    "form",
    "address",
    "center",
    "details",
    "fieldset",
    "blockquote",
    "main",
    "figure",
    "listing",
    "menu",
    "dialog",
    "search",
];
const INLINES: &[&str] = &[
    "span", "b", "i", "em", "strong", "a", "code", "small", "font", "nobr", "u", "label", "button",
    "select", "ruby", "svg", "math", "sub", "x-card", "marquee", "q", "mark", "time", "summary",
    "legend", "title", "textarea", "video", "datalist",
];
const VOIDS: &[&str] = &["br", "hr", "img", "input", "wbr", "area", "source", "meta", "link"];
const PARTS: &[&str] = &[
    "caption", "colgroup", "col", "tbody", "thead", "tfoot", "tr", "td", "th", "li", "dt", "dd",
    "option", "optgroup", "rt", "rp", "rb", "rtc",
];
const FOREIGN: &[&str] = &[
    "g",
    "path",
    "rect",
    "text",
    "tspan",
    "title",
    "desc",
    "style",
    "use",
    "a",
    "linearGradient",
    "image",
    "animate",
    "mi",
    "mo",
    "mrow",
    "mtext",
    "foreignObject",
    "annotation-xml",
    "svg",
    "math",
];
const ODD: &[&str] = &[
    "html",
    "head",
    "body",
    "frameset",
    "template",
    "script",
    "iframe",
    "plaintext",
    "xmp",
    "noscript",
    "style",
    "image",
    "object",
    "isindex",
    "keygen",
    "param",
    "menuitem",
];
const TEXTS: &[&str] = &[
    "text", " ", "\n", "a < b", "&amp;", "&am", "&", "&#", "&lt;", "&copy; y", "&notit;", "{",
    "}}", "\u{a0}", "<", "\r\n", "\r", "x", "  \n ", "é", "3 <4", "\"", "'",
];
const MARKUP: &[&str] = &[
    "<!-- c -->",
    "<!---->",
    "<!-->",
    "<!--->",
    "<!-- -- ! --!>",
    "<!doctype html>",
    "<?xml?>",
    "<![CDATA[x]]>",
    "</>",
    "</ x>",
    "<!x>",
    "<!-- <p> -->",
];

/// Draws a template.
pub(crate) fn template(dice: &mut Dice, grammar: Grammar) -> String {
    let disorder = dice.pick(&[0, 0, 2, 5, 15, 50]);
    let mut writer = Writer {
        out: String::new(),
        open: Vec::new(),
        disorder,
        grammar,
        blocks: Vec::new(),
        ended: None,
        dice,
    };
    writer.document();
    writer.out
}

struct Writer<'d> {
    out: String,
    open: Vec<&'static str>,
    /// Percent of steps that ignore what belongs where.
    disorder: usize,
    grammar: Grammar,
    /// The open elements that are repeated or conditional: their depth, and the alias of the row.
    blocks: Vec<(usize, Option<&'static str>)>,
    /// The block that ended right before: whether it was a repeat.
    ended: Option<bool>,
    dice: &'d mut Dice,
}

impl Writer<'_> {
    fn document(&mut self) {
        if self.dice.chance(50) {
            self.out.push_str("<!DOCTYPE html>");
        }
        let framed = self.dice.chance(40);
        if framed {
            self.out.push_str("<html><head><title>t {{data.t1}}</title></head>");
            self.out.push_str(if self.dice.chance(80) { "<body>" } else { "\n" });
        } else if self.dice.chance(70) {
            self.out.push_str("<p>begin</p>");
        }
        for _ in 0..2 + self.dice.below(14) {
            self.step();
        }
        while let Some(name) = self.open.pop() {
            if !self.dice.chance(self.disorder / 2) {
                self.out.push_str(&format!("</{name}>"));
            }
        }
        if framed && self.dice.chance(70) {
            self.out.push_str("</body></html>");
        }
        if self.dice.chance(self.disorder) {
            self.step();
        }
    }

    /// Draws a directive for the element that begins, and opens its block.
    fn directive(&mut self) -> Option<String> {
        let depth = self.open.len();
        let quote = self.dice.pick(&["\"", "'"]);
        let ended = self.ended.take();
        let aliases = || self.blocks.iter().filter_map(|(_, alias)| *alias);
        if self.grammar == Grammar::V1 {
            if aliases().next().is_some() || !self.dice.chance(15) {
                return None;
            }
            let list = self.dice.pick(&["r in data.rows", "r in data.rows", "s in data.list"]);
            self.blocks.push((depth, Some(&list[..1])));
            return Some(format!(" data-od-repeat={quote}{list}{quote}"));
        }
        if let Some(repeated) = ended
            && self.dice.chance(60)
        {
            self.blocks.push((depth, None));
            let last = repeated || self.dice.chance(60);
            return Some(if last {
                " data-od-else".to_owned()
            } else {
                format!(" data-od-else-if=\"{}\"", self.condition())
            });
        }
        if self.dice.chance(10) {
            let condition = self.condition();
            self.blocks.push((depth, None));
            return Some(format!(" data-od-if=\"{condition}\""));
        }
        if !self.dice.chance(15) {
            return None;
        }
        let mut lists =
            vec!["r in data.rows", "s in data.list", "g in data.groups", "m in data.none"];
        if aliases().any(|alias| alias == "g") {
            lists.extend(["k in g.kids", "k in g.kids", "k in g.kids"]);
        }
        let list = self.dice.pick(&lists);
        let taken = aliases().any(|alias| *alias == list[..1]);
        if taken && !self.dice.chance(self.disorder) {
            return None;
        }
        self.blocks.push((depth, Some(&list[..1])));
        Some(format!(" data-od-repeat={quote}{list}{quote}"))
    }

    fn end_blocks(&mut self) {
        self.ended = None;
        while let Some((_, alias)) = self.blocks.pop_if(|(depth, _)| *depth >= self.open.len()) {
            self.ended = Some(alias.is_some());
        }
    }

    fn condition(&mut self) -> String {
        let subject = self.path("t");
        let subject = subject.trim_matches(['{', '}', ' ']).split('|').next().unwrap_or_default();
        let subject = subject.trim().to_owned();
        let test = self.dice.pick(&[
            "",
            "",
            "",
            " == 'a'",
            " != 'a'",
            " == 0",
            " == null",
            " != null",
            " == true",
            " > 'M'",
            " <= 'a'",
            "  &lt; 3",
            ">=2",
            " == '&amp;'",
        ]);
        let not = if test.is_empty() && self.dice.chance(30) { "!" } else { "" };
        format!("{not}{subject}{test}")
    }

    fn step(&mut self) {
        let top = self.open.last().copied().unwrap_or("body");
        let strict =
            matches!(top, "table" | "tbody" | "thead" | "tfoot" | "tr" | "colgroup" | "select");
        match self.dice.below(100) {
            0..20 if !strict || self.dice.chance(self.disorder) => {
                let text = self.dice.pick(TEXTS);
                self.ended = self.ended.filter(|_| text.trim_ascii().is_empty());
                self.out.push_str(text);
            }
            20..45 if !(strict || top == "style") || self.dice.chance(self.disorder) => {
                let path = self.path("t");
                self.ended = None;
                self.out.push_str(&path);
            }
            45..75 => self.start(),
            75..95 => self.end(),
            95 if self.grammar == Grammar::V2 && (!strict || self.dice.chance(self.disorder)) => {
                self.chart();
            }
            96..98 if self.dice.chance(30 + self.disorder) => {
                let markup = self.dice.pick(MARKUP);
                self.out.push_str(markup);
            }
            _ => self.out.push(' '),
        }
    }

    /// Draws a chart, mostly a good one.
    fn chart(&mut self) {
        self.ended = None;
        let element = self.dice.pick(&["figure", "div", "section"]);
        let in_group = self.blocks.iter().any(|(_, alias)| *alias == Some("g"));
        let (rows, x, y) = if in_group && self.dice.chance(50) {
            ("q in g.kids", "q.t", "q.n")
        } else {
            self.dice.pick(&[
                ("q in data.points", "q.t", "q.n"),
                ("q in data.points", "q.t", "q.m q.n"),
                ("q in data.points", "q.t | upper", "q.n"),
                ("q in data.numbers", "q", "q"),
                ("q in data.none", "q.t", "q.n"),
            ])
        };
        let kind =
            self.dice.pick(&["spark", "line", "area", "bar", "stacked-bar", "donut", "progress"]);
        let y = if matches!(kind, "spark" | "donut") { y.rsplit(' ').next().unwrap() } else { y };
        let title = self.dice.pick(&[
            "",
            " data-od-title=\"&lt;b&gt; &amp; 'x'\"",
            " data-od-title='\"><script>'",
        ]);
        let labels = if y.contains(' ') && self.dice.chance(50) {
            " data-od-labels=\"&lt;i&gt;, \u{e9} &quot;\""
        } else {
            ""
        };
        let format = self.dice.pick(&[
            "",
            "",
            " data-od-format=\"percent:1\"",
            " data-od-format=\"currency:EUR\"",
        ]);
        let bounds = self.dice.pick(&[
            "",
            "",
            " data-od-min=\"-3\" data-od-max=\"data.n1\"",
            " data-od-max=\"1e9\"",
        ]);
        let chart = if kind == "progress" {
            format!(" data-od-y=\"data.n1\"{title}{format}{bounds}")
        } else {
            format!(
                " data-od-repeat=\"{rows}\" data-od-x=\"{x}\" data-od-y=\"{y}\"{title}{labels}{format}{bounds}"
            )
        };
        let content = if self.dice.chance(self.disorder) { "x" } else { "" };
        self.out
            .push_str(&format!("<{element} data-od-chart=\"{kind}\"{chart}>{content}</{element}>"));
    }

    fn child(&mut self) -> &'static str {
        if self.dice.chance(self.disorder) {
            let list = self.dice.pick(&[BLOCKS, INLINES, VOIDS, PARTS, FOREIGN, ODD]);
            return self.dice.pick(list);
        }
        let foreign = self.open.iter().rev().find_map(|name| match *name {
            "svg" | "math" => Some(*name),
            _ => None,
        });
        let children: &[&str] = match (self.open.last().copied().unwrap_or("body"), foreign) {
            ("table", _) => &["tbody", "thead", "tfoot", "caption", "colgroup", "tr"],
            ("tbody" | "thead" | "tfoot", _) => &["tr"],
            ("tr", _) => &["td", "th"],
            ("colgroup", _) => &["col"],
            ("ul" | "ol" | "menu", _) => &["li"],
            ("dl", _) => &["dt", "dd"],
            ("select", _) => &["option", "optgroup"],
            ("optgroup", _) => &["option"],
            ("option", _) => &["option"],
            ("ruby", _) => &["rt", "rp", "b"],
            ("title" | "desc" | "mi" | "mo" | "mtext" | "textarea" | "style", _) => &[""],
            (_, Some("svg")) => &[
                "g",
                "path",
                "rect",
                "text",
                "tspan",
                "title",
                "desc",
                "use",
                "a",
                "linearGradient",
                "animate",
            ],
            (_, Some(_)) => &["mi", "mo", "mrow", "mtext", "mfrac"],
            (
                "p" | "h1" | "h2" | "span" | "b" | "i" | "em" | "a" | "button" | "label"
                | "summary" | "legend",
                _,
            ) => INLINES,
            _ => {
                let list = self.dice.pick(&[BLOCKS, BLOCKS, INLINES, VOIDS]);
                return self.dice.pick(list);
            }
        };
        self.dice.pick(children)
    }

    fn start(&mut self) {
        let name = self.child();
        if name.is_empty() || self.open.len() > 12 {
            return;
        }
        self.out.push('<');
        if self.dice.chance(3) {
            self.out.push_str(&name.to_uppercase());
        } else {
            self.out.push_str(name);
        }
        let directive = self.directive();
        for _ in 0..self.dice.below(3) {
            self.attribute(name);
        }
        if let Some(directive) = directive {
            self.out.push_str(&directive);
        }
        let void = VOIDS.contains(&name) || name == "col";
        let foreign = matches!(name, "path" | "rect" | "use" | "animate");
        if (foreign && self.dice.chance(95)) || self.dice.chance(self.disorder / 3) {
            self.out.push('/');
        }
        self.out.push('>');
        if void || foreign {
            self.end_blocks();
        } else {
            self.open.push(name);
        }
    }

    fn end(&mut self) {
        if self.dice.chance(self.disorder) {
            let list = self.dice.pick(&[
                BLOCKS,
                INLINES,
                PARTS,
                FOREIGN,
                &["p", "br", "body", "html", "head", "a", "b"],
            ]);
            let name = self.dice.pick(list);
            self.out.push_str(&format!("</{name}>"));
            return;
        }
        let Some(name) = self.open.pop() else { return };
        let inside = self.blocks.first().is_some_and(|(depth, _)| self.open.len() >= *depth);
        self.end_blocks();
        let optional = matches!(
            name,
            "p" | "li" | "dt" | "dd" | "tr" | "td" | "th" | "option" | "tbody" | "rt" | "rp"
        );
        let left_out = optional && !inside && self.dice.chance(30);
        if !left_out && !self.dice.chance(self.disorder / 3) {
            self.out.push_str(&format!("</{name}>"));
        }
    }

    fn path(&mut self, kind: &str) -> String {
        let spaces = if self.dice.chance(20) { " " } else { "" };
        let aliases: Vec<&str> = self.blocks.iter().filter_map(|(_, alias)| *alias).collect();
        let inside = !aliases.is_empty();
        let alias = if inside { self.dice.pick(&aliases) } else { "r" };
        let path = match (kind, inside && self.dice.chance(70)) {
            ("t", false) => (self.dice.pick(&[
                "data.t1",
                "data.t2",
                "data.t3",
                "data.deep.er.0.v",
                "data.none",
            ]))
            .to_owned(),
            ("u", false) => format!("data.u{}", 1 + self.dice.below(2)),
            (_, false) => format!("data.c{}", 1 + self.dice.below(2)),
            (kind, true) if self.grammar == Grammar::V1 => {
                (self.dice.pick(&[&format!("r.{kind}"), "r.t", "s"])).to_owned()
            }
            (kind, true) => match (alias, kind) {
                (_, "t") if self.dice.chance(15) => {
                    (self.dice.pick(&["@index", "@number", "@first", "@last"])).to_owned()
                }
                ("s" | "m", "t") => alias.to_owned(),
                ("s" | "m", kind) => format!("data.{kind}1"),
                ("k", "t") if self.dice.chance(40) => "k.n".to_owned(),
                (alias, kind) => format!("{alias}.{kind}"),
            },
        };
        if self.grammar == Grammar::V2 && self.dice.chance(25) {
            return self.piped(kind, &path);
        }
        format!("{{{{{spaces}{path}{spaces}}}}}")
    }

    /// Draws a binding with a format.
    fn piped(&mut self, kind: &str, path: &str) -> String {
        let or = self.dice.pick(&[
            "",
            "",
            " | or:'–'",
            "|or:'&lt;b&gt;'",
            " | or:'a &amp; b'",
            " | or:''",
        ]);
        if kind == "u" {
            return format!("{{{{{path} | or:'#x'}}}}");
        }
        if kind == "c" {
            let number = self.dice.pick(&["percent:1", "number:2", "percent"]);
            return format!("{{{{data.n1 | {number}}}}}");
        }
        let (path, format) = match self.dice.below(4) {
            0 => (path, self.dice.pick(&["upper", "lower", "title", "truncate:3"])),
            1 => (
                "data.n1",
                self.dice.pick(&[
                    "number:2",
                    "number",
                    "percent:1",
                    "currency:EUR",
                    "compact:1",
                    "bytes",
                    "duration:s",
                    "delta:1",
                    "plural:'&lt;one':'&amp;more'",
                ]),
            ),
            2 => (
                "data.d1",
                self.dice.pick(&["date:medium", "datetime:short", "since", "time", "date:full"]),
            ),
            _ => ("data.list", "count"),
        };
        format!("{{{{{path} | {format}{or}}}}}")
    }

    fn attribute(&mut self, element: &str) {
        let names: &[&str] = match element {
            "a" | "area" | "use" | "link" => {
                &["href", "href", "target", "rel", "title", "xlink:href"]
            }
            "img" | "video" | "source" => &["src", "srcset", "alt", "poster"],
            "form" => &["action", "method"],
            "meta" => &["name", "content", "charset"],
            "font" => &["color", "face"],
            _ => &[
                "title",
                "class",
                "id",
                "style",
                "data-x",
                "aria-label",
                "hidden",
                "width",
                "lang",
            ],
        };
        let name = if self.dice.chance(self.disorder / 4) {
            self.dice.pick(&["onclick", "srcdoc", "data-od-html", "{{data.t1}}", "a\"b", "class"])
        } else {
            self.dice.pick(names)
        };
        let kind = match name {
            "href" | "src" | "srcset" | "poster" | "action" | "xlink:href" => "u",
            "style" => "c",
            _ => "t",
        };
        let literal = match kind {
            "u" => self.dice.pick(&["#a", "/x?a=1&b=2", "https://lit.test/", "a.png", "?q=&amp;"]),
            "c" => self.dice.pick(&["color:red", "width:", "--x: ", "background:url(#x)"]),
            _ => self.dice.pick(&["v", "a b", "", "&amp;", "x&", "<b>", "'"]),
        };
        self.out.push_str(self.dice.pick(&[" ", " ", "\n", "  "]));
        self.out.push_str(name);
        match self.dice.below(10) {
            0 => {}
            1 if !literal.is_empty() && !literal.contains(['"', ' ']) => {
                self.out.push_str(&format!("={literal}"));
            }
            2..5 => self.out.push_str(&format!("=\"{literal}\"")),
            5..9 => {
                let path = self.path(kind);
                let (before, behind) = match kind {
                    "c" => (
                        self.dice.pick(&["width:", "color: ", "--v:"]),
                        self.dice.pick(&["", ";margin:0", "%"]),
                    ),
                    "u" => (
                        self.dice.pick(&["", "", "/p/", "https://b.test/?q="]),
                        self.dice.pick(&["", "", "#x"]),
                    ),
                    _ => (self.dice.pick(&["", "", "x ", "&lt;"]), self.dice.pick(&["", "", " y"])),
                };
                self.out.push_str(&format!("=\"{before}{path}{behind}\""));
            }
            _ if self.dice.chance(self.disorder) => {
                let path = self.path(kind);
                self.out.push_str(&format!("={path}"));
            }
            _ => {
                let path = self.path(kind);
                self.out.push_str(&format!(" = '{path}'"));
            }
        }
    }
}
