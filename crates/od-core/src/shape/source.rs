//! The shapes of a source and of provenance, as agents see them.

use serde_json::json;

use super::builder::{array, object, text, typed, words};
use crate::artifact::{
    ApprovalPolicy, GeneratedBy, ProvenanceSourceType, RefreshPermission, SourceType, Transform,
};
use crate::ids::{ConnectorId, MappingPath, Timestamp, ToolName};
use crate::json::{BoundedObject, Value};
use crate::limits;

pub(super) fn source() -> Value {
    object(
        "where refreshed data comes from: a file of the project, a local tool, or a connector's tool",
        [
            ("type", words("what kind of source it is", SourceType::ALL, SourceType::as_str)),
            (
                "toolName",
                typed::<ToolName>(
                    "the tool that runs; required for daemon_tool, absent for local_file",
                ),
            ),
            (
                "input",
                typed::<BoundedObject>(
                    "free-form: the tool's input, or {\"path\": …} for a file of the project; bounded like all stored JSON; credentials are redacted",
                ),
            ),
            ("connector", connector()),
            ("outputMapping", output_mapping()),
            (
                "refreshPermission",
                words(
                    "whether a refresh may run the source; none if absent",
                    RefreshPermission::ALL,
                    RefreshPermission::as_str,
                ),
            ),
        ],
        &["type"],
    )
}

fn connector() -> Value {
    object(
        "which connector and account the tool belongs to; required for connector_tool",
        [
            ("connectorId", typed::<ConnectorId>("the connector")),
            ("toolName", typed::<ToolName>("the tool, qualified or short")),
            (
                "accountLabel",
                text("the account the connector must be connected to", 0, &limits::SHORT_TEXT),
            ),
            (
                "approvalPolicy",
                words("how the call was approved", ApprovalPolicy::ALL, ApprovalPolicy::as_str),
            ),
        ],
        &["connectorId", "toolName"],
    )
}

fn output_mapping() -> Value {
    let path = object(
        "takes the value at `from` of the output and replaces what stands at `to` of the data",
        [
            ("from", typed::<MappingPath>("where the value stands in the output; $ is all of it")),
            ("to", typed::<MappingPath>("where it stands in the data; begins with a key")),
        ],
        &["from", "to"],
    );
    object(
        "how the output becomes data",
        [
            (
                "dataPaths",
                array(
                    "which parts go where; without it the output's top-level keys replace those of the data",
                    &path,
                    1,
                    &limits::MAPPING_PATHS,
                ),
            ),
            (
                "transform",
                words(
                    "what is done to each value; identity if absent",
                    Transform::ALL,
                    Transform::as_str,
                ),
            ),
        ],
        &[],
    )
}

pub(super) fn provenance() -> Value {
    let origin = object(
        "one origin of the data",
        [
            ("label", text("what a reader should call it", 1, &limits::SHORT_TEXT)),
            (
                "type",
                words(
                    "what kind of origin it is",
                    ProvenanceSourceType::ALL,
                    ProvenanceSourceType::as_str,
                ),
            ),
            ("ref", text("which one: a tool, a file, an address", 0, &limits::SHORT_TEXT)),
            ("accountLabel", text("the account it was read with", 0, &limits::SHORT_TEXT)),
        ],
        &["label", "type"],
    );
    let mut generated_by =
        words("who made the data; agents say agent", &[GeneratedBy::Agent], GeneratedBy::as_str);
    generated_by["default"] = json!("agent");
    object(
        "where the data came from; the daemon writes what it knows if absent",
        [
            ("generatedAt", typed::<Timestamp>("when the data was made; now if absent")),
            ("generatedBy", generated_by),
            ("notes", text("what a reader should know", 0, &limits::NOTES)),
            ("sources", array("the origins", &origin, 0, &limits::PROVENANCE_SOURCES)),
        ],
        &[],
    )
}
