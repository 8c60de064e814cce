//! Every instruction that the founding documents ask of the skill, each found in its text.

use od_core::artifact::CreateRequest;
use serde_json::{Value, json};

use super::check::tokens;
use super::{BUILTIN_FILES, read};

/// Where the instruction comes from, and words of the skill that carry it.
const RULES: &[(&str, &[&str])] = &[
    ("spec 5.2.1: live or static", &["Make a live artifact when", "normal static file"]),
    ("spec 5.2.2: query connectors", &["tools connectors list --format compact"]),
    (
        "spec 5.2.3: use the named source",
        &["named a source and it is connected: use it directly", "Do not ask"],
    ),
    (
        "spec 5.2.3: when to ask",
        &[
            "**only** when no matching connected source exists",
            "several candidates are equally plausible",
            "no topic, page, file or database clue",
        ],
    ),
    ("spec 5.2.4: safe render model", &["safe render model, not raw provider output"]),
    (
        "spec 5.2.5: the four files",
        &[
            "`template.html`, `data.json`, `artifact.json`, `provenance.json`",
            "`index.html` is derived",
        ],
    ),
    ("spec 5.2.6: register", &["tools live-artifacts create --input artifact.json"]),
    ("spec 5.2.7: provenance and source", &["**`provenance.json`**", "sourceJson"]),
    (
        "spec 5.2.8: never store",
        &["Never store credentials, raw OAuth responses, headers, cookies or tokens"],
    ),
    ("spec 13.2: no raw responses", &["Do not paste raw connector responses into `artifact.json`"]),
    ("spec 13.2: prefer summaries", &["Prefer summaries, normalized rows and derived metrics"]),
    ("spec 13.2: compact data", &["Keep `data.json` compact and preview-oriented"]),
    (
        "spec 13.2: daemon tools for registration and refresh",
        &["tools live-artifacts refresh --artifact-id \"$ID\""],
    ),
    (
        "spec 13.2: wrapper commands",
        &["Use these wrapper commands rather than raw HTTP", "for debugging only"],
    ),
    ("spec 5.3: project comes from the token", &["Do not pass a project: the token knows it"]),
    (
        "refresh contract: read and auto, refresh-eligible",
        &["safety is `read` + `auto`", "`refreshEligible: true`"],
    ),
    ("refresh contract: execute once", &["run it once", "tools connectors execute --connector"]),
    (
        "refresh contract: never provider APIs",
        &["Never call a provider's API yourself, and never from a script"],
    ),
    (
        "refresh contract: not as sources",
        &["write, destructive, unknown, disabled, unconnected or schema-drifted"],
    ),
    (
        "refresh contract: what is stored",
        &["only non-sensitive references, a bounded input, the mapping and the permission"],
    ),
    ("refresh contract: refresh does not redesign", &["A refresh changes data, never the design"]),
    ("refresh contract: all or nothing", &["A failed refresh keeps the last good page"]),
    (
        "refresh contract: refreshable values in data",
        &["Refreshable values live in `data.json`, never only in the HTML"],
    ),
    (
        "spec 5.1: triggers",
        &[
            "live artifact",
            "refreshable dashboard",
            "live report",
            "synced view",
            "可刷新",
            "实时看板",
        ],
    ),
    ("contract: OD_BIN", &["Always call `\"$OD_BIN\"`", "A bare `od` is another program"]),
    ("contract: tokens never printed", &["Never print environment variables or the token"]),
];

fn skill() -> String {
    BUILTIN_FILES[0].text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_instruction_of_the_founding_documents_is_in_the_skill() {
    let skill = skill();
    for (rule, words) in RULES {
        for part in *words {
            assert!(skill.contains(part), "{rule}: “{part}” is not in SKILL.md");
        }
    }
}

#[test]
fn the_triggers_stand_in_the_one_line_description() {
    let head = read(BUILTIN_FILES[0].text).unwrap();
    let description = head.description().unwrap();
    for trigger in [
        "live artifact",
        "refreshable dashboard",
        "live report",
        "synced view",
        "可刷新",
        "实时看板",
    ] {
        assert!(description.contains(trigger), "{trigger}");
    }
}

#[test]
fn the_body_is_short() {
    let head = read(BUILTIN_FILES[0].text).unwrap();
    let (lines, body) = (head.body.lines().count(), tokens(&head.body));
    assert!(lines < 200 && body <= 2_000, "{lines} lines, about {body} tokens");
    let references: usize = BUILTIN_FILES
        .iter()
        .filter(|file| file.path.starts_with("references/"))
        .map(|file| tokens(file.text))
        .sum();
    assert!(references <= 5_000, "about {references} tokens of references");
}

#[test]
fn the_first_sixty_lines_hold_the_three_files_of_an_artifact() {
    let first: Vec<&str> = BUILTIN_FILES[0].text.lines().take(60).collect();
    let first = first.join("\n");
    for part in ["**`artifact.json`**", "**`data.json`**", "**`template.html`**", "</html>\n```"] {
        assert!(first.contains(part), "{part}");
    }
}

#[test]
fn no_command_of_the_skill_is_a_bare_od() {
    for line in BUILTIN_FILES.iter().flat_map(|file| file.text.lines()) {
        assert!(!line.trim_start().starts_with("od "), "{line}");
        assert!(!line.contains("$OD_NODE_BIN"), "{line}");
    }
}

#[test]
fn every_json_example_of_the_skill_is_one_that_create_accepts() {
    let text = BUILTIN_FILES[0].text;
    let blocks: Vec<Value> = text
        .split("```json\n")
        .skip(1)
        .map(|rest| serde_json::from_str(rest.split("```").next().unwrap()).unwrap())
        .collect();
    assert_eq!(blocks.len(), 3);
    let mut input = blocks[0].clone();
    input["document"]["dataJson"] = json!({ "commits": [] });
    let body = json!({ "input": input, "provenanceJson": blocks[2] });
    CreateRequest::parse(&body).unwrap();
}
