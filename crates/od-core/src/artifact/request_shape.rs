//! The shapes of create and update requests, for the schemas that clients read.
//!
//! The parsers collect every fault and so are written by hand; these types say the same to a schema
//! generator. A test holds both to one set of fields.

use schemars::JsonSchema;

use super::{
    ConnectorRef, DataFile, DocumentFormat, GeneratedPreviewPath, OutputMapping, PreviewEntry,
    PreviewType, ProvenanceSourceType, RefreshPermission, SourceType, TemplatePath,
};
use crate::ids::{ArtifactId, AttemptId, Revision, SessionId, Slug, Timestamp, ToolName};
use crate::json::BoundedObject;
use crate::words::words;

/// The body of a create request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateShape {
    /// The artifact.
    pub input: CreateInputShape,
    /// The template; a plain page for the data if absent.
    #[schemars(length(max = 1_048_576))]
    pub template_html: Option<String>,
    /// Where the data came from; what the daemon knows if absent.
    pub provenance_json: Option<ProvenanceShape>,
    /// Names the attempt, so that a repeated request creates one artifact.
    pub attempt_id: Option<AttemptId>,
}

/// The body of an update request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateShape {
    /// The changes of the artifact.
    pub input: Option<UpdateInputShape>,
    /// The new template.
    #[schemars(length(max = 1_048_576))]
    pub template_html: Option<String>,
    /// Where the new data came from.
    pub provenance_json: Option<ProvenanceShape>,
    /// The revision the change is based on.
    pub if_revision: Option<Revision>,
}

/// The body of an update request at the agent's door.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolUpdateShape {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// The changes of the artifact.
    pub input: Option<UpdateInputShape>,
    /// The new template.
    #[schemars(length(max = 1_048_576))]
    pub template_html: Option<String>,
    /// Where the new data came from.
    pub provenance_json: Option<ProvenanceShape>,
    /// The revision the change is based on.
    pub if_revision: Option<Revision>,
}

/// The `input` of a create request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateInputShape {
    /// What a person calls the artifact.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// The title as part of names; made from the title if absent.
    pub slug: Option<Slug>,
    /// The chat the agent works in.
    pub session_id: Option<SessionId>,
    /// Active if absent.
    pub status: Option<GivenStatus>,
    /// Whether it is kept at the top of lists.
    pub pinned: Option<bool>,
    /// How it is shown; it has one value.
    pub preview: Option<PreviewShape>,
    /// Its document.
    pub document: Option<CreateDocumentShape>,
}

/// The `input` of an update request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateInputShape {
    /// The new title.
    #[schemars(length(min = 1, max = 200))]
    pub title: Option<String>,
    /// The new slug.
    pub slug: Option<Slug>,
    /// Active or archived.
    pub status: Option<GivenStatus>,
    /// Whether it is kept at the top of lists.
    pub pinned: Option<bool>,
    /// How it is shown; it has one value.
    pub preview: Option<PreviewShape>,
    /// The changes of its document.
    pub document: Option<UpdateDocumentShape>,
}

words! {
    /// The states a client may give an artifact.
    GivenStatus {
        /// In use.
        Active = "active",
        /// Put away.
        Archived = "archived",
    }
}

words! {
    /// Who a client may say made the data.
    GivenAuthor {
        /// The agent itself.
        Agent = "agent",
    }
}

/// How an artifact is shown, as a client says it.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewShape {
    /// The type of the preview.
    #[schemars(rename = "type")]
    pub kind: Option<PreviewType>,
    /// The file that is shown.
    pub entry: Option<PreviewEntry>,
}

/// The document of a create request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateDocumentShape {
    /// The format; it has one value.
    pub format: Option<DocumentFormat>,
    /// The template's file; it has one name.
    pub template_path: Option<TemplatePath>,
    /// The rendered page's file; it has one name.
    pub generated_preview_path: Option<GeneratedPreviewPath>,
    /// The data's file; it has one name.
    pub data_path: Option<DataFile>,
    /// The data.
    pub data_json: BoundedObject,
    /// What the data must look like, in the documented subset of JSON Schema.
    pub data_schema_json: Option<BoundedObject>,
    /// Where refreshed data comes from.
    pub source_json: Option<SourceShape>,
}

/// The document of an update request.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateDocumentShape {
    /// The format; it has one value.
    pub format: Option<DocumentFormat>,
    /// The template's file; it has one name.
    pub template_path: Option<TemplatePath>,
    /// The rendered page's file; it has one name.
    pub generated_preview_path: Option<GeneratedPreviewPath>,
    /// The data's file; it has one name.
    pub data_path: Option<DataFile>,
    /// The new data.
    pub data_json: Option<BoundedObject>,
    /// What the data must look like; null takes the schema away.
    pub data_schema_json: Option<BoundedObject>,
    /// Where refreshed data comes from; null takes the source away.
    pub source_json: Option<SourceShape>,
}

/// A source, as a client gives it.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceShape {
    /// What kind of source it is.
    #[schemars(rename = "type")]
    pub kind: SourceType,
    /// The tool that runs; absent for a local file.
    pub tool_name: Option<ToolName>,
    /// The input of the tool, or the file to read.
    pub input: Option<BoundedObject>,
    /// The connector the tool belongs to.
    pub connector: Option<ConnectorRef>,
    /// How the output becomes data.
    pub output_mapping: Option<OutputMapping>,
    /// Whether the source may be refreshed; not, if absent.
    pub refresh_permission: Option<RefreshPermission>,
}

/// What an agent says of its data's origin.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProvenanceShape {
    /// When the data was made.
    pub generated_at: Option<Timestamp>,
    /// Who made it.
    pub generated_by: Option<GivenAuthor>,
    /// What the agent wants a reader to know.
    #[schemars(length(max = 16_384))]
    pub notes: Option<String>,
    /// The origins.
    #[schemars(length(max = 50))]
    pub sources: Option<Vec<OriginShape>>,
}

/// One origin, as a client gives it.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
pub struct OriginShape {
    /// What a reader should call it.
    #[schemars(length(min = 1, max = 1024))]
    pub label: String,
    /// What kind of origin it is.
    #[schemars(rename = "type")]
    pub kind: ProvenanceSourceType,
    /// Which one: a tool, a file, an address without credentials.
    #[schemars(rename = "ref", length(max = 1024))]
    pub reference: Option<String>,
    /// The account it was read with.
    #[schemars(length(max = 1024))]
    pub account_label: Option<String>,
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde_json::{Value, json};

    use super::super::{CreateRequest, UpdateRequest};
    use super::*;
    use crate::error::Issue;

    fn schema<T: JsonSchema>() -> Value {
        let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        settings.into_generator().into_root_schema_for::<T>().to_value()
    }

    /// Lists every declared object: where it stands, and the names of its properties.
    fn objects(schema: &Value, path: &str, found: &mut Vec<(String, Vec<String>)>) {
        let object = match schema.get("anyOf").and_then(Value::as_array) {
            Some(choices) => &choices[0],
            None => schema,
        };
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        found.push((path.to_owned(), properties.keys().cloned().collect()));
        for (name, property) in properties {
            objects(property, &format!("{path}/{name}"), found);
        }
    }

    fn at(path: &str, leaf: Value) -> Value {
        path.rsplit('/')
            .filter(|step| !step.is_empty())
            .fold(leaf, |inner, step| json!({ step: inner }))
    }

    /// A parser that meets an unknown field names those it knows: they are the declared ones.
    #[track_caller]
    fn check<T: JsonSchema>(parse: impl Fn(&Value) -> Vec<Issue>) {
        let mut declared = Vec::new();
        objects(&schema::<T>(), "", &mut declared);
        assert!(declared.len() >= 8, "{declared:?}");
        for (path, names) in declared {
            let issues = parse(&at(&path, json!({ "nobodyKnows": 1 })));
            let issue = issues.iter().find(|issue| issue.code == "unknown_field").unwrap();
            assert_eq!(issue.path, format!("{path}/nobodyKnows"));
            let mut known: Vec<&str> =
                issue.want.as_deref().unwrap().trim_start_matches("one of ").split(", ").collect();
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            known.sort_unstable();
            names.sort_unstable();
            assert_eq!(names, known, "{path}");
        }
    }

    #[test]
    fn the_shape_of_a_create_request_is_what_its_parser_reads() {
        check::<CreateShape>(|value| CreateRequest::parse(value).unwrap_err());
    }

    #[test]
    fn the_shape_of_an_update_request_is_what_its_parser_reads() {
        check::<UpdateShape>(|value| UpdateRequest::parse(value).unwrap_err());
        check::<ToolUpdateShape>(|value| UpdateRequest::parse_tool(value).unwrap_err());
    }
}
