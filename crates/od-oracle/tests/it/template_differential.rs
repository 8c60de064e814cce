//! Rendered pages against a browser-grade parser: whatever the data, the page has the tree of the
//! template with the values put in.
//!
//! `OD_TEMPLATE_CASES` sets the number of cases (5,000 without it), `OD_TEMPLATE_SEED` the first seed.

use od_core::template::{
    Grammar, INSPECTION_STYLE, InspectedPath, Inspection, RenderError, Template,
};
use serde_json::Value;

use crate::dice::Dice;
use crate::{data, generate, oracle, shrink};

/// What became of one template and its data.
pub(crate) enum Outcome {
    /// The template was refused.
    Refused,
    /// The data did not fit.
    Unrendered(RenderError),
    /// The trees are equal.
    Equal,
    /// The trees differ.
    Differs { page: String, expected: String, actual: String },
}

pub(crate) fn compare(html: &str, grammar: Grammar, data: &Value) -> Outcome {
    let Ok((template, _)) = Template::compile_as(html, grammar) else { return Outcome::Refused };
    let mut page = Vec::new();
    if let Err(error) = template.render(data, &mut page) {
        return Outcome::Unrendered(error);
    }
    let page = String::from_utf8(page).unwrap();
    let expected = oracle::expected(html, data);
    let actual = oracle::actual(&page);
    if expected == actual { Outcome::Equal } else { Outcome::Differs { page, expected, actual } }
}

#[track_caller]
fn fail(seed: u64, html: &str, grammar: Grammar, data: &Value) -> ! {
    let differs = |html: &str| matches!(compare(html, grammar, data), Outcome::Differs { .. });
    let html = shrink::shrink(html, differs);
    let Outcome::Differs { page, expected, actual } = compare(&html, grammar, data) else {
        panic!("seed {seed}: does not repeat")
    };
    panic!(
        "seed {seed}\n--- template\n{html}\n--- data\n{data}\n--- page\n{page}\n--- expected\n{expected}\n--- actual\n{actual}"
    );
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_data_changes_the_tree_of_a_page() {
    compare_random(Grammar::V1, setting("OD_TEMPLATE_CASES", 5_000));
}

#[test]
fn conditions_and_nested_repeats_show_what_a_slow_evaluator_shows() {
    compare_random(Grammar::V2, setting("OD_TEMPLATE_CASES", 5_000));
}

fn compare_random(grammar: Grammar, wanted: u64) {
    let first = setting("OD_TEMPLATE_SEED", 1);
    let (mut equal, mut refused, mut unrendered, mut filled) = (0, 0, 0, 0);
    let mut seed = first;
    while equal < wanted {
        let mut dice = Dice::new(seed);
        let html = generate::template(&mut dice, grammar);
        let data = data::random(&mut dice);
        match compare(&html, grammar, &data) {
            Outcome::Refused => refused += 1,
            Outcome::Unrendered(RenderError::Url { .. } | RenderError::Css { .. }) => {
                unrendered += 1;
            }
            // Random data has no number where a condition wants an order, and `data.none` is no list.
            // A text case of a null or a number is no text either.
            Outcome::Unrendered(
                RenderError::NoOrder { .. }
                | RenderError::NotArray { .. }
                | RenderError::NotDrawable { .. }
                | RenderError::Format { .. },
            ) if grammar == Grammar::V2 => {
                unrendered += 1;
            }
            Outcome::Unrendered(error) => panic!("seed {seed}: {error}\n{html}\n{data}"),
            Outcome::Equal => {
                equal += 1;
                filled += u64::from(html.contains("{{"));
            }
            Outcome::Differs { .. } => fail(seed, &html, grammar, &data),
        }
        seed += 1;
    }
    // The grammar must keep producing templates that are worth comparing.
    assert!(
        filled * 2 > equal && refused + unrendered < 20 * equal,
        "{equal} equal ({filled} with bindings), {refused} refused, {unrendered} unrendered"
    );
}

/// Everything that a format, a condition, a repeat or a chart could refuse is found when an artifact is
/// created: a refresh that keeps the types cannot fail, but for the content of URLs and styles.
#[test]
fn what_the_check_accepts_renders_also_with_other_data_of_the_same_types() {
    let (mut accepted, mut charts) = (0, 0);
    for seed in 900_000.. {
        let mut dice = Dice::new(seed);
        let html = generate::template(&mut dice, Grammar::V2);
        let data = data::random(&mut dice);
        let Ok((template, _)) = Template::compile_as(&html, Grammar::V2) else { continue };
        let check = template.check(&data);
        // An order or a repeat of what is not there is accepted behind a condition that does not hold, with
        // a warning.
        let is_told = |message: &str| message.contains("and the page fails");
        if !check.errors.is_empty() || check.warnings.iter().any(|it| is_told(&it.message)) {
            continue;
        }
        let mut page = Vec::new();
        template
            .render(&data, &mut page)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{html}"));
        charts += u64::from(html.contains("data-od-chart"));
        for _ in 0..4 {
            let other = data::redraw(&mut dice, &data);
            match template.render(&other, &mut page) {
                Ok(_) | Err(RenderError::Url { .. } | RenderError::Css { .. }) => {}
                Err(error) => panic!("seed {seed}: {error}\n{html}\n{data}\n{other}"),
            }
        }
        accepted += 1;
        if accepted == setting("OD_TEMPLATE_CASES", 5_000) / 4 {
            break;
        }
    }
    assert!(charts * 50 > accepted, "{charts} templates with charts");
}

#[test]
fn inspection_adds_nothing_but_its_attributes_and_style() {
    let mut seen = 0;
    for seed in 500_000.. {
        let mut dice = Dice::new(seed);
        let grammar = if seed % 2 == 0 { Grammar::V1 } else { Grammar::V2 };
        let html = generate::template(&mut dice, grammar);
        let data = data::random(&mut dice);
        let Ok((template, _)) = Template::compile_as(&html, grammar) else { continue };
        let (mut page, mut inspected) = (Vec::new(), Vec::new());
        if template.render(&data, &mut page).is_err() {
            continue;
        }
        let origin = InspectedPath {
            path: "data".to_owned(),
            source: "a \"<b>'".to_owned(),
            time: "</style>".to_owned(),
            is_fixed: seed % 3 == 0,
        };
        let inspection = Inspection { paths: &[origin] };
        template.render_inspect(&data, inspection, &mut inspected).unwrap();
        let inspected = String::from_utf8(inspected).unwrap();
        let inspected = inspected.strip_suffix(INSPECTION_STYLE).unwrap();
        // Before it stands how many numbers come from the data.
        let inspected =
            inspected.rsplit_once("<style>html::after").map_or(inspected, |(page, _)| page);
        let page = String::from_utf8(page).unwrap();
        assert_eq!(
            oracle::without_marks(inspected),
            oracle::without_marks(&page),
            "seed {seed}\n{html}\n{inspected}"
        );
        seen += 1;
        if seen == 1_000 {
            return;
        }
    }
}

/// Every template here was once wrong, or is the textbook case of its rule.
#[test]
fn textbook_templates_keep_their_trees() {
    let data = serde_json::json!({
        "t": "</title><script>alert(1)</script>", "e": "", "w": " \n", "n": "\nx", "amp": "amp;", "u": "https://a.test/?x=1&y=\"",
        "none": [], "one": ["\n"], "rows": [{ "t": "<b>" }, { "t": "" }, {}],
    });
    for html in generate::TEXTBOOK {
        match compare(html, Grammar::V1, &data) {
            Outcome::Equal => {}
            Outcome::Differs { .. } => fail(0, html, Grammar::V1, &data),
            Outcome::Refused => panic!("refused: {html}\n{:#?}", Template::compile(html).err()),
            Outcome::Unrendered(error) => panic!("{error}: {html}"),
        }
    }
}
