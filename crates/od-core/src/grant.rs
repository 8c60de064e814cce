//! Grants that hold only where they were given: on this machine, for this data directory.
//!
//! An artifact carries its permission to refresh and its switched-on schedule in its own metadata, and
//! metadata travels: with a clone that brings a `.od/`, with a copy, with a backup. So every commit seals
//! what it grants with a key of the person's home, and a reader believes a grant only under a seal of
//! that key for this very place. What is not sealed here is shown, withheld, and waits for a person.
//!
//! ```
//! use od_core::grant::{Claim, GrantKey};
//!
//! let claim = Claim::of_project_schedules(&"demo".parse().unwrap());
//! let seal = GrantKey::new(&[1; 32]).seal("/home/me/od", &claim);
//! assert!(GrantKey::new(&[1; 32]).sealed("/home/me/od", &claim, &seal));
//! assert!(!GrantKey::new(&[1; 32]).sealed("/home/you/od", &claim, &seal));
//! ```

use std::fmt;

use ring::hmac;
use serde_json::json;

use crate::artifact::{Artifact, Author, RefreshPermission};
use crate::ids::{Digest, ProjectId, Timestamp};
use crate::schedule::{self, ScheduleRefused, ScheduleSwitch, ScheduledPermission};

/// The key of a person's home that seals grants. Its bytes never appear in debug output.
#[derive(Clone)]
pub struct GrantKey(hmac::Key);

impl GrantKey {
    /// The length of a key.
    pub const BYTES: usize = 32;

    /// Makes the key of these bytes.
    #[must_use]
    pub fn new(bytes: &[u8; Self::BYTES]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, bytes))
    }

    /// Seals a claim for a place.
    #[must_use]
    pub fn seal(&self, place: &str, claim: &Claim) -> GrantSeal {
        let tag = hmac::sign(&self.0, &message(place, claim));
        GrantSeal(tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns whether this key sealed the claim for this place; compared in constant time.
    #[must_use]
    pub fn sealed(&self, place: &str, claim: &Claim, seal: &GrantSeal) -> bool {
        let digits = seal.0.as_bytes().chunks(2);
        let tag: Option<Vec<u8>> = digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect();
        tag.is_some_and(|tag| hmac::verify(&self.0, &message(place, claim), &tag).is_ok())
    }
}

impl fmt::Debug for GrantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrantKey").finish_non_exhaustive()
    }
}

fn message(place: &str, claim: &Claim) -> Vec<u8> {
    // A place is a path and holds no NUL, so the two parts cannot be read another way.
    [b"od grant 1\0", place.as_bytes(), b"\0", claim.0.as_str().as_bytes()].concat()
}

/// The proof that a grant was given here, as it stands in a file.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(transparent)]
pub struct GrantSeal(String);

/// Everything that somebody allowed, in one digest: what a seal is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Claim(Digest);

impl Claim {
    /// Returns the claim of an artifact: that its sources, as they are, may be refreshed, and when by
    /// themselves. None if nothing is allowed.
    #[must_use]
    pub fn of_artifact(artifact: &Artifact) -> Option<Self> {
        let refresh = artifact.refresh_permission() == RefreshPermission::Manual;
        let schedule = switched_on(artifact);
        if !refresh && schedule.is_none() {
            return None;
        }
        let document = artifact.document.as_ref();
        Some(Self(Digest::of_json(&json!({
            "artifact": artifact.id,
            "project": artifact.project_id,
            "refresh": refresh,
            "schedule": schedule,
            // The sources themselves and what they are pinned to: a permission given for one file is
            // none for another that was put in its place.
            "sources": document.map(|document| json!([
                document.source_json, document.sources, document.queries,
            ])),
            "pins": [json!(artifact.source_pin), json!(artifact.source_pins)],
        }))))
    }

    /// Returns the claim of a project that lets its agents switch schedules on.
    #[must_use]
    pub fn of_project_schedules(project: &ProjectId) -> Self {
        Self(Digest::of_json(&json!({ "project": project, "allowSchedules": true })))
    }
}

/// The permissions that an artifact was given elsewhere, and that do not hold here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WithheldGrants {
    /// Whether it was allowed to be refreshed.
    pub refresh: bool,
    /// The schedule that was switched on.
    pub schedule: Option<ScheduleSwitch>,
}

/// Takes away what an artifact was allowed elsewhere, and remembers it for the person to decide on.
///
/// Who decided before is a person from here on: an agent gives nothing back that came with a copy.
pub fn withhold(artifact: &mut Artifact) {
    let refresh = artifact.refresh_permission() == RefreshPermission::Manual;
    let schedule = switched_on(artifact).cloned();
    if !refresh && schedule.is_none() {
        return;
    }
    if let Some(document) = &mut artifact.document {
        document.set_permission(RefreshPermission::None);
    }
    artifact.permission_set_by = Some(Author::Person);
    if schedule.is_some() {
        artifact.schedule_grant = None;
    }
    artifact.withheld = Some(WithheldGrants { refresh, schedule });
}

/// Gives an artifact here what it was allowed elsewhere, by a person's word. A schedule runs from now
/// on, and only if it and its sources are still those that were switched on.
///
/// # Errors
///
/// Fails if the schedule cannot run.
pub fn grant_here(artifact: &mut Artifact, at: Timestamp) -> Result<(), ScheduleRefused> {
    let Some(withheld) = artifact.withheld.take() else { return Ok(()) };
    if withheld.refresh {
        if let Some(document) = &mut artifact.document {
            document.set_permission(RefreshPermission::Manual);
        }
        artifact.permission_set_by = Some(Author::Person);
    }
    let covers = artifact.document.as_ref().map(schedule::digest_of);
    if withheld.schedule.is_some_and(|switch| Some(switch.covers) == covers) {
        schedule::switch_on(artifact, Author::Person, at)?;
    }
    Ok(())
}

fn switched_on(artifact: &Artifact) -> Option<&ScheduleSwitch> {
    let switch = artifact.schedule_grant.as_ref()?;
    (switch.permission == ScheduledPermission::ReadOnly).then_some(switch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Health;
    use crate::decide::created;
    use crate::schedule::{ScheduleState, switch_on};

    fn scheduled() -> Artifact {
        let body = json!({ "input": { "title": "T", "document": { "dataJson": { "n": 1 },
            "sourceJson": { "type": "local_file", "input": { "path": "a.json" } },
            "refresh": { "every": "15m" } } } });
        let mut artifact = created(&body, Author::Agent).artifact;
        switch_on(&mut artifact, Author::Person, Timestamp::from_unix_ms(0)).unwrap();
        artifact
    }

    #[test]
    fn a_seal_holds_for_one_key_one_place_and_what_was_allowed() {
        let (key, other) = (GrantKey::new(&[1; 32]), GrantKey::new(&[2; 32]));
        let artifact = scheduled();
        let claim = Claim::of_artifact(&artifact).unwrap();
        let seal = key.seal("/w/.od", &claim);
        assert!(key.sealed("/w/.od", &claim, &seal));
        assert!(!other.sealed("/w/.od", &claim, &seal), "another home");
        assert!(!key.sealed("/clone/.od", &claim, &seal), "another place");
        assert!(!key.sealed("/w/.od", &claim, &GrantSeal("zz".to_owned())), "no seal at all");
        assert!(!key.sealed("/w/.od", &claim, &GrantSeal(String::new())), "no seal at all");
        let mut changed = artifact.clone();
        let document = changed.document.as_mut().unwrap();
        let elsewhere = json!({ "type": "local_file", "input": { "path": "b.json" },
            "refreshPermission": "manual_refresh_granted_for_read_only" });
        document.source_json = Some(serde_json::from_value(elsewhere).unwrap());
        assert_ne!(Claim::of_artifact(&changed).unwrap(), claim, "another file");
        let mut faster = artifact.clone();
        faster.schedule_grant.as_mut().unwrap().covers = Digest::of_bytes(b"other");
        assert_ne!(Claim::of_artifact(&faster).unwrap(), claim, "another schedule");
        let mut renamed = artifact;
        renamed.heading.title = "U".to_owned();
        assert_eq!(Claim::of_artifact(&renamed).unwrap(), claim, "a title grants nothing");
    }

    #[test]
    fn what_was_allowed_elsewhere_waits_for_a_person_and_is_given_back_whole() {
        let mut artifact = scheduled();
        withhold(&mut artifact);
        assert_eq!(Claim::of_artifact(&artifact), None, "nothing is allowed any more");
        let summary = artifact.summary(Health::HEALTHY);
        assert!(summary.granted_elsewhere && !summary.refreshable);
        assert_eq!(summary.schedule.unwrap().state, ScheduleState::Elsewhere);
        let at = Timestamp::from_unix_ms(9);
        grant_here(&mut artifact, at).unwrap();
        let summary = artifact.summary(Health::HEALTHY);
        assert!(summary.refreshable && !summary.granted_elsewhere);
        let schedule = summary.schedule.unwrap();
        assert_eq!((schedule.state, schedule.since), (ScheduleState::Active, Some(at)));
    }

    #[test]
    fn a_schedule_that_was_changed_in_the_copy_stays_a_proposal() {
        let mut artifact = scheduled();
        withhold(&mut artifact);
        let document = artifact.document.as_mut().unwrap();
        document.refresh = Some(schedule::RefreshSchedule::every("1m".parse().unwrap()));
        grant_here(&mut artifact, Timestamp::from_unix_ms(9)).unwrap();
        let summary = artifact.summary(Health::HEALTHY);
        assert!(summary.refreshable);
        assert_eq!(summary.schedule.unwrap().state, ScheduleState::Proposed);
    }
}
