//! Reading and checking an output mapping.

use super::{DataPath, OutputMapping, Transform};
use crate::error::Issue;
use crate::fields::{Fields, Issues};
use crate::ids::MappingPath;
use crate::json::{Pointer, Value, is_denied_key};
use crate::limits;

/// Reads an output mapping.
pub(super) fn read_mapping(
    value: &Value,
    at: Pointer,
    issues: &mut Issues,
) -> Option<OutputMapping> {
    let mut fields = Fields::open(value, at, &["dataPaths", "transform"], issues)?;
    let transform = fields.word("transform", Transform::ALL, Transform::as_str);
    let list_at = fields.at("dataPaths");
    let data_paths = fields.array("dataPaths", &limits::MAPPING_PATHS).map(|items| {
        if items.is_empty() {
            fields.issues.push(
                Issue::new(list_at.as_str(), "empty", "`dataPaths` maps nothing")
                    .fix("add an entry, or leave `dataPaths` out to take the output's keys"),
            );
        }
        read_paths(items, &list_at, fields.issues)
    });
    Some(OutputMapping { data_paths, transform })
}

fn read_paths(items: &[Value], list_at: &Pointer, issues: &mut Issues) -> Vec<DataPath> {
    let mut paths: Vec<DataPath> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let at = list_at.clone().index(i);
        let Some(mut fields) = Fields::open(item, at, &["from", "to"], issues) else { continue };
        fields.required("from");
        fields.required("to");
        let from: Option<MappingPath> = fields.parsed("from");
        let to: Option<MappingPath> = fields.parsed("to");
        let to_at = fields.at("to");
        let Some(to) = to else { continue };
        issues.extend(check_target(&to, &to_at));
        if let Some(other) = paths.iter().find(|path| overlap(&path.to, &to)) {
            issues.push(
                Issue::new(
                    to_at.as_str(),
                    "overlapping_target",
                    format!("writes over `{}`, which another entry writes", other.to),
                )
                .got(to.as_str())
                .fix("give each entry a place of its own"),
            );
        }
        paths.extend(from.map(|from| DataPath { from, to }));
    }
    paths
}

/// Checks that data may stand at a target: under a key of the root, and under no key that is never
/// stored.
fn check_target(to: &MappingPath, at: &Pointer) -> Option<Issue> {
    let first = to.segments().next();
    if first.is_none_or(|segment| segment.index.is_some()) {
        return Some(
            Issue::new(
                at.as_str(),
                "target_not_a_key",
                "data is an object: `to` names a key of it",
            )
            .got(to.as_str())
            .want("a key first, such as releases or summary.count")
            .fix("begin `to` with the key that the template shows"),
        );
    }
    let denied = to.segments().find(|segment| is_denied_key(segment.key))?;
    Some(
        Issue::new(at.as_str(), "denied_key", "the key is never stored")
            .got(denied.key)
            .want("none of the keys that name raw responses or credentials")
            .fix("use a key that says what the value means"),
    )
}

/// Returns whether one target is the other, or lies inside it.
fn overlap(a: &MappingPath, b: &MappingPath) -> bool {
    a.segments().zip(b.segments()).all(|(a, b)| a == b)
}
