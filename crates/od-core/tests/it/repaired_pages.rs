//! Pages that were refused, with the fixes of one answer applied together: what they say then is what
//! their authors meant.

use od_core::artifact::{PageSettings, check_page, page_grammar, render_page};
use od_core::repair::{Operation, Proposal, foreign_marks};
use od_core::template::Grammar;
use serde_json::{Value, json};

/// A page after its repair.
struct Repaired {
    body: Value,
    /// Every fix that was told, in one text.
    told: String,
    holds: bool,
}

impl Repaired {
    /// Returns the template, once the repaired body was judged right.
    #[track_caller]
    fn page(&self) -> &str {
        assert!(self.holds, "{} {}", self.told, self.body);
        self.body["templateHtml"].as_str().unwrap()
    }
}

/// Judges and mends a body as create does it.
fn repair(body: &Value) -> Repaired {
    let faults = |body: &Value| {
        let html = body["templateHtml"].as_str().unwrap();
        let grammar = page_grammar(body, None);
        let mut found = match grammar {
            Grammar::V1 => foreign_marks(html),
            Grammar::V2 => Vec::new(),
        };
        found.extend(check_page(html, body.pointer("/input/document/dataJson"), grammar));
        found
    };
    let mut proposal = Proposal::new(Operation::Create, body);
    let mut found = faults(body);
    assert!(!found.is_empty(), "nothing is wrong with {body}");
    for _ in 0..Proposal::ROUNDS {
        if !proposal.mend(found, None) {
            break;
        }
        found = faults(proposal.body());
        if found.is_empty() {
            break;
        }
    }
    let body = proposal.body().clone();
    let holds = faults(&body).is_empty();
    let told: Vec<String> =
        proposal.finish(holds).into_iter().filter_map(|issue| issue.fix).collect();
    Repaired { body, told: told.join("\n"), holds }
}

fn commits() -> Value {
    json!({
        "title": "T",
        "branch": "main",
        "pie": [{ "name": "a", "n": 1 }],
        "commits": [{ "subject": "first" }, { "subject": "second" }],
    })
}

fn body(inner: &str, format: Option<&str>) -> Value {
    let html = format!("<!doctype html><title>T</title><main>{inner}</main>");
    let mut document = json!({ "dataJson": commits() });
    if let Some(format) = format {
        document["format"] = json!(format);
    }
    json!({ "input": { "title": "T", "document": document }, "templateHtml": html })
}

const V2: Option<&str> = Some("html_template_v2");

#[test]
fn a_loop_around_a_repeat_of_the_same_list_goes_and_the_repeat_stays_as_it_is() {
    let repeat = "<ul><li data-od-repeat=\"commit in data.commits\">{{commit.subject}}</li></ul>";
    for (open, close) in [
        ("{{#each data.commits}}", "{{/each}}"),
        ("{{#commits}}", "{{/commits}}"),
        ("{% for commit in data.commits %}", "{% endfor %}"),
        ("{% for row in commits %}", "{% endfor %}"),
    ] {
        let written = repeat
            .replace("<ul>", &format!("<ul>{open}"))
            .replace("</ul>", &format!("{close}</ul>"));
        for format in [None, V2] {
            let repaired = repair(&body(&written, format));
            let whole = format!("<main>{repeat}</main>");
            assert!(repaired.page().contains(&whole), "{open} {format:?}: {}", repaired.page());
        }
    }
    // The name of the row in the outer loop means the same row.
    let renamed = "{% for c in data.commits %}<p data-od-repeat=\"commit in data.commits\">\
        {{c.subject}} {{this.subject}} {{subject}}</p>{% endfor %}";
    for format in [None, V2] {
        let repaired = repair(&body(renamed, format));
        let row = "<p data-od-repeat=\"commit in data.commits\">\
            {{commit.subject}} {{commit.subject}} {{commit.subject}}</p></main>";
        assert!(repaired.page().contains(row), "{}", repaired.page());
    }
}

#[test]
fn an_attribute_that_goes_takes_its_space_with_it() {
    let inner = "<p data-od-repeat=\"row in data.commits\" data-od-if=\"row.subject\" >{{row.subject}}</p>\
        <b onclick=\"go()\" class=\"c\" hidden onfocus=\"x\">b</b>";
    let repaired = repair(&body(inner, V2));
    let page = repaired.page();
    assert!(page.contains("<b class=\"c\" hidden>b</b>"), "{page}");
    assert!(!page.contains("  ") && !page.contains("\" \""), "{page}");
}

#[test]
fn words_of_the_second_format_ask_for_it_before_anything_is_rewritten() {
    let inner = "<p data-od-if=\"data.commits.length > 0 && data.branch\">{{data.branch | upper}}</p>\
        <figure data-od-chart=\"donut\" data-od-repeat=\"row in data.pie\" data-od-x=\"row.name\" data-od-y=\"row.n\"></figure>\
        <ul>{{#each data.commits}}<li>{{subject}}</li>{{/each}}</ul><p>{{data.pie.0.n | number:0}}</p>";
    let repaired = repair(&body(inner, None));
    let page = repaired.page();
    assert_eq!(repaired.body["input"]["document"]["format"], "html_template_v2");
    assert!(repaired.told.contains("write `\"html_template_v2\"`"), "{}", repaired.told);
    assert!(page.contains("{{data.branch | upper}}"), "{page}");
    assert!(page.contains("data-od-chart=\"donut\""), "{page}");
    assert!(page.contains("{{data.pie.0.n | number:0}}"), "{page}");
    assert!(page.contains("data-od-repeat=\"item in data.commits\""), "{page}");
    assert!(
        page.contains("<div data-od-if=\"data.commits\"><p data-od-if=\"data.branch\">"),
        "{page}"
    );
}

#[test]
fn conditions_that_are_joined_nest_or_say_what_is_left_out() {
    let page = |inner: &str| {
        let repaired = repair(&body(inner, V2));
        (repaired.page().to_owned(), repaired.told)
    };
    let (both, _) = page("<b data-od-if=\"data.title == 'T' and data.branch\">x</b>");
    let nested =
        "<span data-od-if=\"data.title == 'T'\"><b data-od-if=\"data.branch\">x</b></span>";
    assert!(both.contains(nested), "{both}");
    let (either, _) = page("<p data-od-if=\"data.gone || data.branch\">x</p>");
    let twice = "<p data-od-if=\"data.gone\">x</p><p data-od-else-if=\"data.branch\">x</p>";
    assert!(either.contains(twice), "{either}");
    // A row of a table cannot be wrapped, and an else belongs to all of the condition.
    for inner in [
        "<table><tbody><tr data-od-if=\"data.title && data.branch\"><td>x</td></tr></tbody></table>",
        "<p data-od-if=\"data.title && data.branch\">x</p><p data-od-else>y</p>",
    ] {
        let (first, told) = page(inner);
        assert!(first.contains("data-od-if=\"data.title\""), "{first}");
        assert!(told.contains("`data.branch` is left out"), "{told}");
    }
}

#[test]
fn the_length_of_a_list_in_a_condition_is_the_list_itself() {
    for (written, meant) in [
        ("data.commits.length > 0", "data.commits"),
        ("data.commits.length &gt;= 1", "data.commits"),
        ("data.commits.length != 0", "data.commits"),
        ("data.commits.length !== 0", "data.commits"),
        ("data.commits.length == 0", "!data.commits"),
        ("data.commits.length < 1", "!data.commits"),
        ("data.commits.size > 0", "data.commits"),
    ] {
        // A binding that is refused beside it: also a condition that nobody refuses is mended then.
        let inner =
            format!("<p data-od-if=\"{written}\">x</p><p>{{{{data.pie.0.n | numberr}}}}</p>");
        let repaired = repair(&body(&inner, V2));
        let page = repaired.page();
        assert!(page.contains(&format!("<p data-od-if=\"{meant}\">x</p>")), "{written}: {page}");
    }
    let more = repair(&body("<p data-od-if=\"data.commits.length > 3\">x</p>", V2));
    assert!(more.told.contains("count"), "{}", more.told);
    assert!(!more.told.contains("for a value first"), "{}", more.told);
    // A key of that name is a value like any other.
    let mut own =
        body("<p data-od-if=\"data.road.length > 3\">x</p><p>{{data.pie.0.n | numberr}}</p>", V2);
    own["input"]["document"]["dataJson"]["road"] = json!({ "length": 4 });
    let own = repair(&own);
    assert!(own.page().contains("data.road.length > 3"), "{}", own.page());
}

#[test]
fn a_page_that_is_accepted_with_a_condition_on_a_length_is_told_the_condition_to_write() {
    for (written, meant) in [
        ("data.commits.length", "data.commits"),
        ("!data.commits.length", "!data.commits"),
        ("data.commits.length != 0", "data.commits"),
        ("data.commits.length == 0", "!data.commits"),
    ] {
        let html = format!("<!doctype html><title>T</title><p data-od-if=\"{written}\">x</p>");
        let settings = PageSettings { grammar: Grammar::V2, ..PageSettings::default() };
        let (_, remarks) = render_page(&html, &commits(), &settings).unwrap();
        let fixes: Vec<String> = remarks.into_iter().filter_map(|remark| remark.fix).collect();
        let told = format!("data-od-if=\"{meant}\"");
        assert!(fixes.iter().any(|fix| fix.contains(&told)), "{written}: {fixes:?}");
    }
}

#[test]
fn a_count_in_another_languages_condition_is_a_value_where_the_data_has_it() {
    let mut stats = body(
        "<p v-if=\"stats.count > 3\">many</p><p v-if=\"commits.length > 0\">some</p>\
         <p v-if=\"title && branch\">both</p>",
        V2,
    );
    stats["input"]["document"]["dataJson"]["stats"] = json!({ "count": 4 });
    let repaired = repair(&stats);
    let page = repaired.page();
    assert!(page.contains("<p data-od-if=\"data.stats.count &gt; 3\">many</p>"), "{page}");
    assert!(page.contains("<p data-od-if=\"data.commits\">some</p>"), "{page}");
    assert!(page.contains("<p data-od-if=\"data.title\">both</p>"), "{page}");
    assert!(repaired.told.contains("`branch` is left out"), "{}", repaired.told);
}
