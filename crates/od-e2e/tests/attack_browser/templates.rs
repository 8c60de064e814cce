//! Templates filled with hostile data: through the real renderer and the real preview route, in a real browser.

use std::fs;
use std::path::{Path, PathBuf};

use od_core::template::{Grammar, Place, Root, Template};
use od_e2e::browser::{Chromium, Problem, Tab};
use serde_json::{Value, json};

use crate::attacker::Attacker;
use crate::payloads::{PAYLOADS, URLS};
use crate::victim::Victim;

const TREE: &str = include_str!("tree.js");

/// Every ordinary place of a page, once for each payload.
const EVERYWHERE: &str = r#"<!doctype html><html lang="en"><head><title>{{data.title}}</title></head><body>
<textarea>{{data.title}}</textarea><pre>{{data.title}}</pre><h1 title="{{data.title}}">{{data.title}}</h1>
<ul><li data-od-repeat="row in data.rows" title="{{row}}" data-x='{{row}}' class="a {{row}}">{{row}}<b>{{row}}</b> and {{row}}</li></ul>
<table><tbody><tr data-od-repeat="row in data.rows"><td>{{row}}</td><td><input value="{{row}}"></td></tr></tbody></table>
<select><option data-od-repeat="row in data.rows" value="{{row}}">{{row}}</option></select>
<svg viewBox="0 0 1 1"><g data-od-repeat="row in data.rows"><text aria-label="{{row}}">{{row}}</text></g></svg>
</body></html>"#;

struct Case {
    name: String,
    html: String,
    data: Value,
    grammar: Grammar,
}

impl Case {
    fn render(&self, data: &Value) -> Vec<u8> {
        let mut page = Vec::new();
        let (template, _) = Template::compile_as(&self.html, self.grammar).unwrap();
        template.render(data, &mut page).unwrap();
        page
    }

    /// Whether the page differs between two texts in nothing but the texts: no case is changed, nothing
    /// is cut, and no condition orders them.
    fn keeps_texts(&self) -> bool {
        let changes = ["upper", "lower", "title", "truncate", "plural", "since"];
        !changes.iter().any(|word| self.html.contains(&format!("| {word}")))
            && !self.name.contains("order")
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The accepted fixtures of both formats, the bundled templates, and the page with a binding in every ordinary place.
fn cases(attacker: &Attacker) -> Vec<Case> {
    let fixtures = repository().join("fixtures/templates");
    let shared = read_json(&fixtures.join("data.json"));
    let mut cases = Vec::new();
    for rule in sorted(&fixtures).into_iter().filter(|path| path.is_dir()) {
        let is_v2 = rule.file_name().is_some_and(|name| name.to_string_lossy().starts_with("v2-"));
        let grammar = if is_v2 { Grammar::V2 } else { Grammar::V1 };
        for page in sorted(&rule) {
            let Some(stem) = page.to_str().unwrap().strip_suffix(".page.html") else { continue };
            let own = PathBuf::from(format!("{stem}.json"));
            let data = if own.exists() { read_json(&own) } else { shared.clone() };
            let html = fs::read_to_string(format!("{stem}.html")).unwrap();
            let name = Path::new(stem).strip_prefix(&fixtures).unwrap().display().to_string();
            cases.push(Case { name, html, data, grammar });
        }
    }
    assert!(cases.len() >= 60, "{} accepted fixtures", cases.len());
    for name in ["dashboard", "report", "status", "releases", "sprint", "costs", "metrics", "table"]
    {
        let bundled = repository().join("skills/live-artifact/assets/templates");
        let html = fs::read_to_string(bundled.join(format!("{name}.html"))).unwrap();
        let data = read_json(&bundled.join(format!("{name}.data.json")));
        cases.push(Case { name: name.to_owned(), html, data, grammar: Grammar::V2 });
    }
    for (at, case) in cases.iter_mut().enumerate() {
        poison(case, attacker, at * 7);
    }
    let rows: Vec<String> = (0..PAYLOADS.len()).map(|at| payload(attacker, at)).collect();
    let data = json!({ "title": rows.join(" "), "rows": rows });
    let (name, html) = ("everywhere".to_owned(), EVERYWHERE.to_owned());
    cases.push(Case { name, html, data, grammar: Grammar::V1 });
    cases
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn payload(attacker: &Attacker, at: usize) -> String {
    let at = at % PAYLOADS.len();
    PAYLOADS[at].replace("HIT", &format!("{}/payload-{at}", attacker.origin()))
}

/// Replaces every string of the data: by a payload, or where a URL or a style is wanted by one that is allowed.
fn poison(case: &mut Case, attacker: &Attacker, first: usize) {
    let (template, _) = Template::compile_as(&case.html, case.grammar).unwrap();
    let guarded: Vec<(String, bool)> = template
        .bindings()
        .iter()
        .filter_map(|binding| match &binding.place {
            // A URL made of parts may not take a whole one: those keep what they have.
            Place::Url(name) => {
                Some((binding.full_path.to_string(), is_whole(&case.html, binding.offset, name)))
            }
            Place::Style(_) => Some((binding.full_path.to_string(), false)),
            Place::Text | Place::Attribute(_) | Place::Repeat | Place::Condition | Place::Chart => {
                None
            }
        })
        .collect();
    let mut next = first;
    let mut data = case.data.take();
    walk(&mut data, "data", "data", &mut |exact, general, text| {
        let rules: Vec<bool> = guarded
            .iter()
            .filter(|(path, _)| path == exact || path == general)
            .map(|(_, whole)| *whole)
            .collect();
        next += 1;
        // Formats take times and numbers: a payload in their place is refused before it reaches a page.
        if case.grammar == Grammar::V2 && text.starts_with(|first: char| first.is_ascii_digit()) {
            return;
        }
        if rules.is_empty() {
            *text = payload(attacker, next);
        } else if rules.iter().all(|whole| *whole) {
            URLS[next % URLS.len()].clone_into(text);
        }
    });
    case.data = data;
}

/// True if the binding at this place is the whole value of a link's `href`.
fn is_whole(html: &str, offset: usize, attribute: &str) -> bool {
    let ends = html[offset..].find("}}").map(|end| offset + end + 2);
    let quote = html[..offset].chars().next_back();
    attribute == "href"
        && quote == ends.and_then(|end| html[end..].chars().next())
        && quote.is_some_and(|it| "\"'".contains(it))
}

/// Visits every string with its path, as it is and with `*` for positions.
fn walk(
    value: &mut Value,
    exact: &str,
    general: &str,
    visit: &mut impl FnMut(&str, &str, &mut String),
) {
    match value {
        Value::String(text) => visit(exact, general, text),
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                walk(item, &format!("{exact}.{at}"), &format!("{general}.*"), visit);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                walk(item, &format!("{exact}.{key}"), &format!("{general}.{key}"), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the page that the template describes, as the browser's own parser sees it.
async fn expected(tab: &Tab, html: &str, data: &Value) -> Value {
    let (template, _) = Template::compile(html).unwrap();
    let mut source = html.to_owned();
    let mut bindings = Vec::new();
    for (index, binding) in template.bindings().iter().enumerate() {
        let path: Vec<String> = binding.path.segments.iter().map(ToString::to_string).collect();
        bindings.push(json!({ "item": binding.path.root != Root::Data, "path": path }));
        assert!(index < 10_000);
    }
    for (index, binding) in template.bindings().iter().enumerate().rev() {
        if !matches!(binding.place, Place::Repeat | Place::Condition) {
            let span = binding.offset..binding.offset + binding.length;
            source.replace_range(span, &format!("\u{e000}{index}\u{e001}"));
        }
    }
    let source = Value::from(source.trim_start_matches('\u{feff}'));
    let bindings = Value::from(bindings);
    tab.run(&format!(
        "(() => {{ {TREE} return JSON.stringify(expectedTree({source}, {bindings}, {data})); }})()"
    ))
    .await
}

/// Returns the page with harmless marks in place of the payloads, as the browser sees it, and the
/// payloads put back into its texts: whatever they are, they change nothing else.
async fn expected_of_benign(tab: &Tab, case: &Case, attacker: &Attacker) -> Value {
    let mut payloads = Vec::new();
    let mut data = case.data.clone();
    walk(&mut data, "data", "data", &mut |_, _, text| {
        if PAYLOADS.iter().any(|payload| *text == payload.replace("HIT", &hit(attacker, payload))) {
            payloads.push(std::mem::replace(text, format!("\u{e000}{}\u{e001}", payloads.len())));
        }
    });
    let page = attacker.put(&format!("/benign/{}", case.name), case.render(&data));
    tab.open(&page).await;
    tab.until("document.readyState === 'complete'").await;
    let mut tree = actual(tab).await.as_str().unwrap_or_default().to_owned();
    for (at, payload) in payloads.iter().enumerate() {
        let text = Value::from(payload.as_str()).to_string();
        tree = tree.replace(&format!("\u{e000}{at}\u{e001}"), &text[1..text.len() - 1]);
    }
    Value::from(tree)
}

/// Returns where a payload would call.
fn hit(attacker: &Attacker, payload: &str) -> String {
    let at = PAYLOADS.iter().position(|other| *other == payload).unwrap_or_default();
    format!("{}/payload-{at}", attacker.origin())
}

async fn actual(tab: &Tab) -> Value {
    tab.run(&format!("(() => {{ {TREE} return JSON.stringify(treeOf(document)); }})()")).await
}

/// Fails if anything of the data ran, or reached the attacker.
#[track_caller]
fn assert_inert(name: &str, tab: &Tab, ran: &Value, attacker: &Attacker) {
    assert_eq!(ran, "undefined", "{name}: a payload ran");
    assert_eq!(tab.dialogs(), Vec::<String>::new(), "{name}: a dialog opened");
    let tried: Vec<_> = tab
        .problems()
        .into_iter()
        .filter(|it| match it {
            // What a template's own text loads is stopped and logged; the data must not even try.
            Problem::Console(text) => text.contains("Blocked script") || text.contains("payload"),
            Problem::Exception(_) => true,
            Problem::Network(text) => text.contains("payload"),
        })
        .collect();
    assert!(tried.is_empty(), "{name}: the data tried something: {tried:#?}");
    let hits: Vec<String> =
        attacker.hits().into_iter().filter(|hit| hit.contains("payload")).collect();
    assert_eq!(hits, Vec::<String>::new(), "{name}: the data reached out");
}

const RAN: &str = "typeof window.ran";
/// What a person does to a page, on every element of it.
const TOUCH: &str = "(() => { for (const el of document.querySelectorAll('*')) for (const name of ['mouseover', 'mousemove', \
    'pointerenter', 'focus', 'toggle', 'animationstart']) el.dispatchEvent(new Event(name)); return typeof window.ran; })()";

#[test]
fn hostile_data_runs_nothing_asks_for_nothing_and_reads_as_itself() {
    let victim = Victim::start();
    let attacker = Attacker::serve("", None);
    let mut cases = cases(&attacker);
    cases.retain(|case| victim.takes(&case.html, &case.data));
    assert!(cases.len() >= 60, "{} templates", cases.len());
    let pages: Vec<String> =
        cases.iter().map(|case| victim.sign(&victim.create(&case.html, &case.data))).collect();
    victim.while_browsing(async {
        // Whatever host a page names, the attacker would be asked.
        let everyone = attacker.origin().replace("http://", "MAP * ");
        let browser = Chromium::start_where(&everyone).await;
        let (tab, judge) = (browser.bare_tab().await, browser.tab().await);
        let mut wrong = Vec::new();
        for (case, url) in cases.iter().zip(&pages) {
            tab.open(url).await;
            tab.until("document.readyState === 'complete'").await;
            let ran = tab.run(RAN).await;
            assert_inert(&case.name, &tab, &ran, &attacker);
            if case.grammar == Grammar::V2 && !case.keeps_texts() {
                continue;
            }
            let got = actual(&tab).await;
            let want = match case.grammar {
                Grammar::V1 => expected(&judge, &case.html, &case.data).await,
                Grammar::V2 => expected_of_benign(&judge, case, &attacker).await,
            };
            if want != got {
                wrong.push(format!("{}\nwant {want}\ngot  {got}", case.name));
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of {} pages differ:\n{}",
            wrong.len(),
            cases.len(),
            wrong.join("\n")
        );
        println!(
            "{} templates, {} payloads: every bound place reads as its data",
            cases.len(),
            PAYLOADS.len()
        );
        browser.stop().await;
    });
    assert_eq!(attacker.hits(), Vec::<String>::new(), "a page asked somebody for something");
    victim.stop();
}

/// The same pages where no policy protects them: escaping alone has to be enough.
#[test]
fn hostile_data_is_inert_even_without_a_policy() {
    let victim = Victim::start();
    let attacker = Attacker::serve("", None);
    let mut cases = cases(&attacker);
    cases.retain(|case| victim.takes(&case.html, &case.data));
    assert!(cases.len() >= 60, "{} templates", cases.len());
    let chosen = cases.iter().filter(|it| {
        let folders = ["reports/", "places/", "v2-"];
        !it.name.contains('/') || folders.iter().any(|folder| it.name.starts_with(folder))
    });
    victim.while_browsing(async {
        let browser = Chromium::start().await;
        let tab = browser.tab().await;
        for (at, case) in chosen.enumerate() {
            tab.open(&attacker.put(&format!("/bare/{at}"), case.render(&case.data))).await;
            tab.until("document.readyState === 'complete'").await;
            let ran = tab.run(TOUCH).await;
            assert_inert(&case.name, &tab, &ran, &attacker);
        }
        browser.stop().await;
    });
    victim.stop();
}

/// The control: the same payloads, written without escaping, do run, and the comparison sees them.
#[test]
fn the_same_payloads_run_when_they_are_not_escaped() {
    let victim = Victim::start();
    let attacker = Attacker::serve("", None);
    victim.while_browsing(async {
        let browser = Chromium::start().await;
        let judge = browser.tab().await;
        for at in [0, 1, 2, 3, 13] {
            let tab = browser.tab().await;
            let text = payload(&attacker, at);
            let html = "<!doctype html><html><head><title>x</title></head><body><p>{{data.x}}</p></body></html>";
            let bare = attacker.put(&format!("/unescaped/{at}"), html.replace("{{data.x}}", &text));
            tab.open(&bare).await;
            tab.until("document.readyState === 'complete' && window.ran === 1").await;
            assert_ne!(expected(&judge, html, &json!({ "x": text })).await, actual(&tab).await, "{text}");
        }
        browser.stop().await;
    });
    assert!(attacker.hits().iter().any(|hit| hit.contains("payload-1")), "{:?}", attacker.hits());
    victim.stop();
}
