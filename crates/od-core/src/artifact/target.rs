//! Whether a source's output has a place in the data.

use super::Source;
use crate::error::Issue;
use crate::json::{BoundedObject, Pointer};
use crate::refresh::obstacle;

/// Returns an issue for every `to` of a mapping that no refresh could write: a source that can only
/// fail is refused when it is set. `document_at` points to the document in the request.
pub(super) fn blocked_targets(
    source: Option<&Source>,
    data: &BoundedObject,
    document_at: &Pointer,
) -> Vec<Issue> {
    let mapping = source.and_then(|source| source.output_mapping.as_ref());
    let Some(paths) = mapping.and_then(|mapping| mapping.data_paths.as_ref()) else {
        return Vec::new();
    };
    let list = document_at.clone().key("sourceJson").key("outputMapping").key("dataPaths");
    let blocked = |(i, to)| {
        let found = obstacle(data.object(), to)?;
        let at = list.clone().index(i).key("to");
        let issue = Issue::new(at.as_str(), "target_blocked", "the data has no place for `to`")
            .got(format!("{to}: {found} stands on the way"))
            .want("a place below objects of the data, or one that is not there yet")
            .fix("map to another key, or make what stands on the way an object");
        Some(issue)
    };
    paths.iter().map(|path| &path.to).enumerate().filter_map(blocked).collect()
}
