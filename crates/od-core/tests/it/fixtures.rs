//! `fixtures/artifacts`, as a client would send them.

use od_core::artifact::CreateRequest;
use od_core::error::{ErrorCode, Failure};
use od_core::json::{Value, parse_message};
use od_core::template::Template;

macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/artifacts/", $path))
    };
}

fn accepted(text: &str) -> CreateRequest {
    let request = CreateRequest::parse(&parse_message(text.as_bytes()).unwrap()).unwrap();
    let (template, warnings) =
        Template::compile(request.template_html.as_deref().unwrap()).unwrap();
    assert!(warnings.is_empty());
    let document = request.input.document.as_ref().unwrap();
    let mut page = Vec::new();
    template.render(document.data.value(), &mut page).unwrap();
    assert!(!page.is_empty());
    request
}

#[test]
fn the_static_case_is_accepted_and_renders() {
    let request = accepted(fixture!("valid-static/request.json"));
    assert_eq!(request.input.heading.slug.as_str(), "team-handbook-at-a-glance");
    assert!(request.input.document.unwrap().source.is_none());
}

#[test]
fn the_refreshable_case_is_accepted_and_renders() {
    let request = accepted(fixture!("valid-refreshable/request.json"));
    let source = request.input.document.unwrap().source.unwrap();
    assert_eq!(source.tool_name.unwrap().as_str(), "github.list_releases");
}

/// Values that look like credentials, put together here so that no file of the repository holds one.
fn made_up(name: &str) -> String {
    let tail = "abcdefghij0123456789KLMNOPQRST";
    match name {
        "provider_key" => ["gh", "p_", tail].concat(),
        "url_userinfo" => ["https://us", "er:pw@host"].concat(),
        "bearer" => ["Bea", "rer ", tail].concat(),
        "jwt" => ["ey", "JhbGciOi", ".ey", "JzdWIiOi.", tail].concat(),
        "pem" => ["-----BEG", "IN PRIVATE KEY-----", tail].concat(),
        other => panic!("no such value: {other}"),
    }
}

#[track_caller]
fn refused(request: &str, issues: &str) {
    let mut text = request.to_owned();
    for name in ["provider_key", "url_userinfo", "bearer", "jwt", "pem"] {
        text = text.replace(&format!("{{{{{name}}}}}"), &made_up(name));
    }
    let found = CreateRequest::parse(&parse_message(text.as_bytes()).unwrap()).unwrap_err();
    let pairs: Vec<Value> =
        found.iter().map(|issue| serde_json::json!([issue.path, issue.code])).collect();
    assert_eq!(Value::Array(pairs), serde_json::from_str::<Value>(issues).unwrap());
    let told = Failure::validation(ErrorCode::LiveArtifactInvalid, &found).to_json().to_string();
    for name in ["provider_key", "url_userinfo", "bearer", "jwt", "pem"] {
        assert!(!told.contains(&made_up(name)), "the refusal repeats the {name}");
    }
}

#[test]
fn the_raw_field_case_is_refused_everywhere_at_once() {
    refused(fixture!("refused-raw-field/request.json"), fixture!("refused-raw-field/issues.json"));
}

#[test]
fn the_credential_case_is_refused_without_repeating_it() {
    refused(
        fixture!("refused-credential-like/request.json"),
        fixture!("refused-credential-like/issues.json"),
    );
}
