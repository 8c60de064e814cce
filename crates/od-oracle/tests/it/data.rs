//! Random data: every class of markup, script, URL and white space that ever broke a template.

use serde_json::{Value, json};

use crate::dice::Dice;

const TEXTS: &[&str] = &[
    "",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{c}",
    " \n\t ",
    "\n\n",
    "\nx",
    "x\n",
    "\u{a0}",
    "\u{feff}",
    "\u{2028}",
    "a",
    "plain text",
    "<",
    ">",
    "&",
    "\"",
    "'",
    "`",
    "=",
    "/",
    "</",
    "<!",
    "<?",
    "]]>",
    "-->",
    "--!>",
    "<!--",
    "{{data.t1}}",
    "{{",
    "}}",
    "${x}",
    "\\",
    "amp;",
    "lt;",
    "#60;",
    "#x3c;",
    "notin;",
    ";",
    "x",
    "&lt;",
    "&#60;",
    "&amp;lt;",
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    " onfocus=alert(1) autofocus x=",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\">",
    "<table><tr><td>",
    "</td></tr></table>",
    "<p>",
    "</p>",
    "</div>",
    "<li>",
    "</li>",
    "<b>",
    "</b>",
    "<a href=x>",
    "</a>",
    "<plaintext>",
    "<!-- x -->",
    "<![CDATA[x]]>",
    "<body onload=alert(1)>",
    "data-od-repeat=\"x in data.rows\"",
    "日本語 العربية 🦀",
    "\u{202e}abc",
    "e\u{301}",
];
const URLS: &[&str] = &[
    "",
    "#",
    "#top",
    "/",
    "/a/b?c=d&e=f",
    "a/b.png",
    "?q=1",
    "https://example.com/",
    "http://example.com/a?b=\"c\"",
    "https://ex.test/<x>",
    "HTTPS://EX.test",
    " https://ex.test/ ",
    "javascript:alert(1)",
    "JaVa\tScript:alert(1)",
    "//evil.test",
    "/\\evil.test",
    "data:text/html,x",
    "vbscript:x",
    "https://u:p@h.test",
    "\u{1}javascript:x",
    "mailto:a@b.c",
    "https:evil.test",
];
const STYLES: &[&str] = &[
    "",
    "red",
    "#4f46e5",
    "50%",
    "10px",
    "rgb(1, 2, 3)",
    "1px solid",
    "calc(1px + 2px)",
    "0",
    "a b",
    "url(x)",
    "red;color:blue",
    "}",
    "/*",
    "\\",
    "\"",
    "expression(1)",
];

/// Draws a value for every path that random templates read.
pub(crate) fn random(dice: &mut Dice) -> Value {
    let mut rows = Vec::new();
    for _ in 0..dice.below(4) {
        let mut row = json!({ "t": text(dice), "u": url(dice), "c": style(dice) });
        if dice.chance(10) {
            row = json!({});
        }
        rows.push(row);
    }
    let list: Vec<Value> = (0..dice.below(4)).map(|_| text(dice)).collect();
    let mut data = json!({
        "t1": text(dice), "t2": text(dice), "t3": text(dice), "u1": url(dice), "u2": url(dice),
        "n1": number(dice), "d1": moment(dice), "c1": style(dice), "c2": style(dice), "groups": groups(dice), "rows": rows, "list": list, "deep": { "er": [{ "v": text(dice) }] },
    });
    data["points"] = (0..dice.below(9)).map(|_| point(dice)).collect();
    data["numbers"] = (0..dice.below(9)).map(|_| number(dice)).collect();
    if dice.chance(20) {
        data["t3"] = dice.pick(&[
            json!(null),
            json!(true),
            json!(0),
            json!(-0.5),
            json!(1e21),
            json!(123_456_789),
        ]);
    }
    data
}

/// A row that a chart draws.
fn point(dice: &mut Dice) -> Value {
    json!({ "t": text(dice), "n": number(dice), "m": number(dice) })
}

/// Draws data of the same shape: other texts, other numbers, fewer rows; what is null stays null.
pub(crate) fn redraw(dice: &mut Dice, value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) => loop {
            let other = number(dice);
            if other.is_number() {
                return other;
            }
        },
        // Times and decimal texts are what their formats take: they are kept.
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit()) => value.clone(),
        Value::String(_) => text(dice),
        Value::Array(items) => {
            // The first stays: a path may name it by its position.
            let kept = 1 + dice.below(items.len().max(1));
            items.iter().take(kept).map(|item| redraw(dice, item)).collect()
        }
        Value::Object(map) => {
            map.iter().map(|(key, item)| (key.clone(), redraw(dice, item))).collect()
        }
    }
}

fn number(dice: &mut Dice) -> Value {
    dice.pick(&[
        json!(0),
        json!(1),
        json!(-1.005),
        json!(1234.5),
        json!(999_950),
        json!(1e21),
        json!(5e-7),
        json!("12.50"),
        json!(null),
        json!(9_007_199_254_740_991_i64),
    ])
}

fn moment(dice: &mut Dice) -> Value {
    dice.pick(&[
        json!("2026-11-17T08:05:00Z"),
        json!("1969-12-31T23:59:59.999+14:00"),
        json!("9999-12-30T00:00:00Z"),
        json!(null),
    ])
}

fn groups(dice: &mut Dice) -> Vec<Value> {
    let kid = |dice: &mut Dice| {
        let n = dice.pick(&[json!(0), json!(1), json!(2.5), json!(-3), json!(null), json!("a")]);
        json!({ "t": text(dice), "u": url(dice), "c": style(dice), "n": n })
    };
    let group = |dice: &mut Dice| {
        let kids: Vec<Value> = (0..dice.below(4)).map(|_| kid(dice)).collect();
        json!({ "t": text(dice), "u": url(dice), "c": style(dice), "kids": kids })
    };
    (0..dice.below(4)).map(|_| group(dice)).collect()
}

fn text(dice: &mut Dice) -> Value {
    let mut text = (dice.pick(TEXTS)).to_owned();
    if dice.chance(20) {
        text.push_str(dice.pick(TEXTS));
    }
    text.into()
}

fn url(dice: &mut Dice) -> Value {
    // Mostly allowed ones: a refused URL ends the case.
    let end = if dice.chance(95) { 12 } else { URLS.len() };
    URLS[dice.below(end)].into()
}

fn style(dice: &mut Dice) -> Value {
    let end = if dice.chance(95) { 10 } else { STYLES.len() };
    STYLES[dice.below(end)].into()
}
