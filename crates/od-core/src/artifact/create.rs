//! The request that creates an artifact.

use super::document::{DocumentInput, DocumentPatch};
use super::heading::{Heading, HeadingPatch};
use super::provenance::ProvenanceInput;
use super::{Attempt, Preview};
use crate::error::Issue;
use crate::ids::{AttemptId, Digest, SessionId};
use crate::input::{Flag, Input as _, TemplateHtml, input, object, parsed, schema_of};
use crate::json::Value;

input! {
    /// A whole create request, checked.
    ///
    /// ```
    /// use od_core::artifact::CreateRequest;
    /// use serde_json::json;
    ///
    /// let body = json!({ "input": { "title": "Releases", "document": { "dataJson": { "n": 1 } } } });
    /// assert_eq!(CreateRequest::parse(&body).unwrap().input.heading.slug.as_str(), "releases");
    ///
    /// let issues = CreateRequest::parse(&json!({ "input": { "titel": "Releases" } })).unwrap_err();
    /// assert_eq!(issues[0].fix.as_deref(), Some("did you mean `title`?"));
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    pub struct CreateRequest "creates a live artifact" {
        @unsent {
            /// The changes that made the request safe; not faults.
            warnings: Vec<Issue>;
        }
        /// The artifact.
        required input: CreateInput = "input", object();
        /// The template; a plain page for the data if absent.
        optional template_html: String = "templateHtml", TemplateHtml;
        /// Where the data came from.
        optional provenance: ProvenanceInput = "provenanceJson", object();
        /// Names the attempt, so that a repeated request creates one artifact.
        optional attempt_id: AttemptId
            = "attemptId", parsed(), "names this attempt: the same attempt creates one artifact";
    }
}

schema_of!(CreateRequest);

impl CreateRequest {
    /// Reads the body of a create request.
    ///
    /// # Errors
    ///
    /// Returns every fault at once, at most 20, with pointers from the root of the body. The
    /// template is compiled by the caller, who adds its issues to these.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        let (request, warnings) = Self::read_whole(value)?;
        Ok(Self { warnings, ..request })
    }

    /// Returns the attempt that a body names, whatever else is wrong with it: the same attempt is
    /// answered with what it made, another body of it is a conflict.
    #[must_use]
    pub fn attempt(body: &Value) -> Option<Attempt> {
        let id = body.get("attemptId")?.as_str()?.parse().ok()?;
        Some(Attempt { id, digest: Digest::of_json(body) })
    }
}

input! {
    /// The `input` of a create request, checked.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CreateInput "the artifact; the daemon adds ids, times, revision and digests",
    patch UpdateInput "the changes; what is absent stays" {
        ..heading: Heading => HeadingPatch;
        @once {
            /// The chat the agent works in.
            session_id: SessionId = "sessionId", parsed(), "the chat the agent works in";
        }
        /// Whether the console keeps it at the top of its lists.
        default(false) pinned: bool
            = "pinned", Flag, "whether the console keeps it at the top of its lists";
        /// How it is shown.
        default(Preview::html()) preview: Preview = "preview", object();
        /// Its document.
        nested(DocumentPatch) document: DocumentInput = "document", object();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{RefreshPermission, SourceType, Status, Transform};
    use super::*;

    #[track_caller]
    fn faults(value: &Value) -> Vec<(String, String)> {
        let issues = CreateInput::read_whole(value).unwrap_err();
        issues.into_iter().map(|issue| (issue.path, issue.code)).collect()
    }

    #[test]
    fn a_target_below_data_is_refused_with_the_path_meant() {
        let source = json!({ "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": [{ "from": "a", "to": "data.rows.0" }] } });
        let issues = CreateInput::read_whole(&with_source(&source)).unwrap_err();
        assert_eq!(issues[0].code, "target_below_data");
        assert_eq!(issues[0].fix.as_deref(), Some("rows.0"));
    }

    fn with_source(source: &Value) -> Value {
        json!({ "title": "T", "document": { "dataJson": {}, "sourceJson": source } })
    }

    #[track_caller]
    fn check_source(source: &Value, want: &[(&str, &str)]) {
        let found = match CreateInput::read_whole(&with_source(source)) {
            Ok(_) => Vec::new(),
            Err(issues) => issues.into_iter().map(|issue| (issue.path, issue.code)).collect(),
        };
        let want: Vec<_> = want
            .iter()
            .map(|(path, code)| (format!("/document/sourceJson{path}"), (*code).to_owned()))
            .collect();
        assert_eq!(found, want);
    }

    #[test]
    fn the_smallest_input_is_filled_in() {
        let (input, _) = CreateInput::read_whole(&json!({ "title": "Crème: 1" })).unwrap();
        assert_eq!(input.heading.slug.as_str(), "creme-1");
        assert_eq!((input.heading.status, input.pinned), (Status::Active, false));
        assert_eq!(input.document, None);
    }

    #[test]
    fn every_fault_comes_at_once_with_its_place() {
        let value = json!({
            "id": "x",
            "titel": "T",
            "title": "",
            "slug": "Not A Slug",
            "status": "error",
            "pinned": "yes",
            "preview": { "type": "jsx", "entry": "index.html" },
            "document": { "format": "html_template_v3", "dataJson": { "raw": 1 }, "templatePath": "t.html" },
        });
        let want = [
            ("/id", "daemon_owned"),
            ("/titel", "unknown_field"),
            ("/title", "empty"),
            ("/status", "not_allowed"),
            ("/pinned", "wrong_type"),
            ("/preview/type", "not_allowed"),
            ("/document/templatePath", "not_allowed"),
            ("/document/format", "not_allowed"),
            ("/document/dataJson/raw", "denied_key"),
        ];
        let want: Vec<_> =
            want.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect();
        assert_eq!(faults(&value), want);
        let issues = CreateInput::read_whole(&value).unwrap_err();
        assert_eq!(issues[1].fix.as_deref(), Some("did you mean `title`?"));
    }

    #[test]
    fn every_daemon_owned_field_is_refused() {
        for field in super::super::DAEMON_OWNED {
            let mut value = json!({ "title": "T" });
            value[*field] = json!("x");
            assert_eq!(faults(&value), [(format!("/{field}"), "daemon_owned".to_owned())]);
        }
    }

    #[test]
    fn a_title_is_measured_in_utf16_units() {
        let parse = |title: String| CreateInput::read_whole(&json!({ "title": title }));
        assert!(parse("😀".repeat(100)).is_ok());
        assert!(parse(format!("{}a", "😀".repeat(100))).is_err());
        assert!(parse("a\0b".to_owned()).is_err());
        assert!(parse(" \n".to_owned()).is_err());
    }

    #[test]
    fn credentials_are_refused_without_being_repeated() {
        let key = ["gh", "p_abcdefghij0123456789klmnopqrst"].concat();
        let value = json!({ "title": key, "document": { "dataJson": { "a": [key] } } });
        let issues = CreateInput::read_whole(&value).unwrap_err();
        assert!(issues.iter().all(|issue| issue.code == "REDACTION_REQUIRED"));
        assert_eq!(issues.len(), 2);
        assert!(!format!("{issues:?}").contains(&key));
    }

    #[test]
    fn credentials_in_a_source_input_are_redacted_and_told() {
        let key = ["gh", "p_abcdefghij0123456789klmnopqrst"].concat();
        let value =
            with_source(&json!({ "type": "local_file", "input": { "path": "a.json", "q": key } }));
        let (input, warnings) = CreateInput::read_whole(&value).unwrap();
        assert_eq!(warnings[0].path, "/document/sourceJson/input/q");
        let source = input.document.unwrap().source.unwrap();
        assert_eq!(source.input.object()["q"], "[redacted]");
    }

    #[test]
    fn a_schema_is_enforced_on_the_data() {
        let value = json!({ "title": "T", "document": {
            "dataJson": { "n": "x" },
            "dataSchemaJson": { "properties": { "n": { "type": "number" } } },
        }});
        assert_eq!(faults(&value), [("/document/dataJson/n".to_owned(), "schema_type".to_owned())]);
        let value = json!({ "title": "T", "document": {
            "dataJson": {}, "dataSchemaJson": { "properties": { "n": { "format": "date" } } },
        }});
        assert_eq!(
            faults(&value),
            [(
                "/document/dataSchemaJson/properties/n/format".to_owned(),
                "schema_keyword".to_owned()
            )]
        );
    }

    #[test]
    fn a_connector_source_is_stored_qualified() {
        let value = with_source(&json!({
            "type": "connector_tool",
            "toolName": "list_releases",
            "connector": { "connectorId": "github", "toolName": "github.list_releases", "accountLabel": "o/r" },
            "outputMapping": { "dataPaths": [{ "from": "$.items", "to": "releases" }], "transform": "compact_table" },
            "refreshPermission": "manual_refresh_granted_for_read_only",
        }));
        let source = CreateInput::read_whole(&value).unwrap().0.document.unwrap().source.unwrap();
        assert_eq!(source.kind, SourceType::ConnectorTool);
        assert_eq!(source.tool_name.unwrap().as_str(), "github.list_releases");
        assert_eq!(source.connector.unwrap().tool_name.as_str(), "github.list_releases");
        assert_eq!(source.refresh_permission, RefreshPermission::Manual);
        assert_eq!(source.output_mapping.unwrap().transform, Some(Transform::CompactTable));
    }

    #[test]
    fn a_source_that_can_only_fail_is_refused() {
        check_source(&json!({}), &[("/type", "required")]);
        check_source(&json!({ "type": "local_file" }), &[("/input", "file_not_named")]);
        check_source(
            &json!({ "type": "local_file", "input": { "file": "../x" } }),
            &[("/input/file", "malformed")],
        );
        check_source(
            &json!({ "type": "local_file", "input": { "path": 1, "file": "a.json" } }),
            &[("/input/path", "wrong_type")],
        );
        check_source(
            &json!({ "type": "local_file", "toolName": "x", "input": { "name": "a.json" } }),
            &[("/toolName", "field_of_another_type")],
        );
        check_source(&json!({ "type": "daemon_tool" }), &[("/toolName", "required")]);
        check_source(
            &json!({ "type": "daemon_tool", "toolName": "git.sumary" }),
            &[("/toolName", "unknown_tool")],
        );
        check_source(
            &json!({ "type": "daemon_tool", "toolName": "project_files.read_json", "input": {} }),
            &[("/input", "file_not_named")],
        );
        check_source(&json!({ "type": "connector_tool" }), &[("/connector", "required")]);
        check_source(
            &json!({ "type": "connector_tool", "toolName": "a",
                     "connector": { "connectorId": "c", "toolName": "b" } }),
            &[("/toolName", "tool_name_differs")],
        );
        check_source(
            &json!({ "type": "local_file", "input": { "path": "a.json", "token": "x" } }),
            &[("/input/token", "denied_key")],
        );
    }

    #[test]
    fn mapping_paths_are_checked() {
        let check = |paths: Value, want: &[(&str, &str)]| {
            check_source(
                &json!({ "type": "local_file", "input": { "path": "a.json" },
                         "outputMapping": { "dataPaths": paths } }),
                want,
            );
        };
        check(json!([]), &[("/outputMapping/dataPaths", "empty")]);
        check(json!([{ "from": "$", "to": "a" }]), &[]);
        check(
            json!([{ "from": "a..b", "to": "$" }]),
            &[
                ("/outputMapping/dataPaths/0/from", "malformed"),
                ("/outputMapping/dataPaths/0/to", "target_not_a_key"),
            ],
        );
        check(
            json!([{ "from": "a", "to": "x.__proto__" }]),
            &[("/outputMapping/dataPaths/0/to", "malformed")],
        );
        check(
            json!([{ "from": "a", "to": "x.token" }]),
            &[("/outputMapping/dataPaths/0/to", "denied_key")],
        );
        check(
            json!([{ "from": "a", "to": "x.y" }, { "from": "b", "to": "x" }]),
            &[("/outputMapping/dataPaths/1/to", "overlapping_target")],
        );
        let many: Vec<_> =
            (0..101).map(|i| json!({ "from": "a", "to": format!("k{i}") })).collect();
        check(json!(many), &[("/outputMapping/dataPaths", "too_many_items")]);
    }

    #[test]
    fn a_mapping_that_the_data_has_no_place_for_is_refused() {
        let value = json!({ "title": "T", "document": {
            "dataJson": { "title": "text" },
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" },
                "outputMapping": { "dataPaths": [
                    { "from": "a", "to": "x" }, { "from": "b", "to": "title.x" }] } },
        }});
        assert_eq!(
            faults(&value),
            [(
                "/document/sourceJson/outputMapping/dataPaths/1/to".to_owned(),
                "target_blocked".to_owned()
            )]
        );
    }

    #[test]
    fn credentials_are_refused_in_names_too() {
        let key = ["gh", "p_abcdefghij0123456789klmnopqrst"].concat();
        let path = json!([{ "from": key, "to": key }]);
        let value = json!({ "input": { "title": "T", "sessionId": key, "slug": key,
            "document": { "dataJson": {}, "sourceJson": {
                "type": "local_file", "input": { "path": "a.json" },
                "outputMapping": { "dataPaths": path } } } }, "attemptId": key });
        let issues = CreateRequest::parse(&value).unwrap_err();
        let paths: Vec<_> = issues.iter().map(|issue| issue.path.as_str()).collect();
        let mapping = "/input/document/sourceJson/outputMapping/dataPaths/0";
        assert_eq!(
            paths,
            [
                "/input/slug",
                "/input/sessionId",
                &format!("{mapping}/from"),
                &format!("{mapping}/to"),
                "/attemptId"
            ]
        );
        assert!(issues.iter().all(|issue| issue.code == "REDACTION_REQUIRED"));
        assert!(!format!("{issues:?}").contains(&key));
    }

    #[test]
    fn every_fault_says_how_to_repair_it() {
        let many: Vec<_> = (0..101).map(|i| json!({ "from": 1, "to": format!("k{i}") })).collect();
        let value = json!({ "input": { "title": 5, "slug": "Not A Slug", "status": "gone",
            "pinned": "yes", "preview": [], "x": 1, "document": {
                "dataJson": [], "dataSchemaJson": 1, "sourceJson": { "type": "local_file",
                    "input": { "path": "../a" }, "outputMapping": { "dataPaths":
                        [{ "from": "a", "to": "$" }, { "from": "a..b", "to": "b" }] } } } },
            "templateHtml": 5, "attemptId": "a b", "provenanceJson": { "notes": 5 } });
        let issues = CreateRequest::parse(&value).unwrap_err();
        assert!(issues.len() > 12, "{issues:?}");
        let too_many = with_source(&json!({ "type": "local_file", "input": { "path": "a.json" },
            "outputMapping": { "dataPaths": many } }));
        for issue in issues.iter().chain(&CreateInput::read_whole(&too_many).unwrap_err()) {
            assert!(issue.fix.as_ref().is_some_and(|fix| !fix.is_empty()), "{issue:?}");
        }
    }

    #[test]
    fn a_request_has_its_parts_and_their_pointers() {
        let request = CreateRequest::parse(&json!({
            "input": { "title": "T" }, "templateHtml": "<p>x</p>", "attemptId": "a-1",
            "provenanceJson": { "generatedBy": "agent", "generatedAt": "2026-04-30T00:00:00Z",
                "sources": [{ "label": "me", "type": "user_input" }] },
        }))
        .unwrap();
        assert_eq!(request.template_html.as_deref(), Some("<p>x</p>"));
        assert_eq!(request.provenance.unwrap().sources.len(), 1);
        let issues = CreateRequest::parse(&json!({
            "input": { "titel": 1 }, "templateHtml": 5, "projectId": "p",
            "provenanceJson": { "generatedBy": "refresh_runner", "sources": [{ "type": "web" }] },
        }))
        .unwrap_err();
        let paths: Vec<_> = issues.iter().map(|issue| issue.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "/projectId",
                "/input/titel",
                "/input/title",
                "/templateHtml",
                "/provenanceJson/generatedBy",
                "/provenanceJson/sources/0/label",
                "/provenanceJson/sources/0/type",
            ]
        );
    }
}
