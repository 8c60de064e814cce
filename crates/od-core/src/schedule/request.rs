//! The request that changes a schedule.

use super::RefreshSchedule;
use crate::decide::ScheduleChange;
use crate::error::Issue;
use crate::ids::Revision;
use crate::input::{Fields, Flag, Input as _, RevisionNumber, input, object, schema_of};
use crate::json::Value;

input! {
    /// A change of a schedule, as a person sends it, checked.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ScheduleRequest "sets a schedule, switches it on, or switches it off" then check_request {
        /// The schedule; it is switched on with it.
        optional refresh: RefreshSchedule = "refresh", object();
        /// Whether it runs.
        optional on: bool = "on", Flag, "true switches on what is proposed, false switches it off";
        /// Whether it stays on or off as it is.
        optional keep: bool = "keep", Flag, "with refresh: true leaves it on or off, instead of switching it on";
        /// The revision that the change is made for.
        optional if_revision: Revision = "ifRevision", RevisionNumber, "refused if the artifact is at another revision";
    }
}

schema_of!(ScheduleRequest);

fn check_request(request: ScheduleRequest, fields: &mut Fields<'_, '_>) -> Option<ScheduleRequest> {
    let keeps = request.keep == Some(true);
    let (message, fix) = match (&request.refresh, request.on) {
        (Some(_), Some(_)) | (None, Some(_)) if keeps => {
            ("it is switched and left as it is at once", "leave out `keep`, or `on`")
        }
        (Some(_), _) | (None, Some(_)) => return Some(request),
        (None, None) => ("the request changes nothing", "{ \"on\": true }"),
    };
    if !fields.is_refused("refresh") && !fields.is_refused("on") {
        let issue = Issue::new(fields.here().as_str(), "required", message).fix(fix);
        fields.issues.push(issue.want("`refresh`, or `on`"));
    }
    None
}

impl ScheduleRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// Returns every fault at once.
    pub fn parse(value: &Value) -> Result<Self, Vec<Issue>> {
        Self::read_whole(value).map(|(request, _)| request)
    }

    /// Returns the change that it asks for.
    #[must_use]
    pub fn change(self) -> ScheduleChange {
        match (self.refresh, self.on) {
            (Some(refresh), None) if self.keep == Some(true) => ScheduleChange::Adjust(refresh),
            (Some(refresh), None | Some(true)) => ScheduleChange::Set(refresh),
            (Some(refresh), Some(false)) => ScheduleChange::SetOff(refresh),
            (None, Some(false)) => ScheduleChange::Off,
            (None, Some(true) | None) => ScheduleChange::On,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_says_one_thing() {
        let change = |value: Value| ScheduleRequest::parse(&value).map(ScheduleRequest::change);
        assert_eq!(change(json!({ "on": true })), Ok(ScheduleChange::On));
        assert_eq!(change(json!({ "on": false })), Ok(ScheduleChange::Off));
        let set = change(json!({ "refresh": { "every": "15m" }, "on": true })).unwrap();
        assert!(matches!(set, ScheduleChange::Set(_)));
        let off = change(json!({ "refresh": { "every": "15m" }, "on": false })).unwrap();
        assert!(matches!(off, ScheduleChange::SetOff(_)));
        let kept = change(json!({ "refresh": { "every": "15m" }, "keep": true })).unwrap();
        assert!(matches!(kept, ScheduleChange::Adjust(_)));
        assert!(change(json!({})).is_err());
        assert!(change(json!({ "keep": true })).is_err());
        assert!(change(json!({ "on": true, "keep": true })).is_err());
        let issues = change(json!({ "refresh": { "every": "15" } })).unwrap_err();
        assert_eq!((issues.len(), issues[0].path.as_str()), (1, "/refresh/every"));
    }
}
