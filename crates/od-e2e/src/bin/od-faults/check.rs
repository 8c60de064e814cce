//! Checks of what must hold after any fault.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use od_app::artifacts::{self, Address};
use od_app::preview::{self, PageRequest};
use od_app::{App, Caller, refresh};
use od_core::artifact::GeneratedBy;
use od_core::ids::{ArtifactId, RefreshId};
use od_core::token::Variant;
use od_ports::store::Stored;

use crate::driver::{self, ATTEMPT};
use crate::score::Violation;
use crate::strace::Ending;
use crate::world::{self, BYSTANDER, SUBJECT};

/// The time within which the last good page has to be served.
const PREVIEW_WITHIN: Duration = Duration::from_secs(2);

/// The change that an operation makes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effect {
    /// The subject goes from generation old to new.
    Changes,
    /// A new artifact appears.
    Creates,
    /// The subject disappears.
    Deletes,
    /// The subject comes back.
    Restores,
}

/// The states that may be seen afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expectation {
    pub(crate) effect: Effect,
    /// Whether the operation was acknowledged, so that only the state after it will do.
    pub(crate) acknowledged: bool,
}

impl Expectation {
    pub(crate) fn changed(ending: &Ending) -> Self {
        Self { effect: Effect::Changes, acknowledged: ending.acknowledged }
    }
}

/// Looks at a data directory the way the next process does, and uses it.
pub(crate) fn full(data_dir: &Path, expected: Expectation) -> Result<(), Violation> {
    quick(data_dir, expected)?;
    let app = open(data_dir)?;
    let recovered = world::wait(refresh::recover(&app))
        .map_err(|err| Violation::Torn(format!("recovery fails: {err}")))?;
    if let Some(unrecovered) = recovered.unrecovered.first() {
        return Err(Violation::Torn(format!("recovery fails: {}", unrecovered.error)));
    }
    let subject = check_state(&app, data_dir, expected)?;
    if let Some(id) = &subject {
        every_refresh_ended_once(&app, id)?;
    }
    verify(&app, BYSTANDER)?;
    if subject.is_some() {
        verify(&app, name(expected.effect))?;
    }
    check_next_operation(&app, expected)?;
    drop(app);
    check_nothing_pending(data_dir)
}

/// Looks at a data directory before anything was recovered.
pub(crate) fn quick(data_dir: &Path, expected: Expectation) -> Result<(), Violation> {
    let app = open(data_dir)?;
    check_state(&app, data_dir, expected)?;
    let bystander = world::find(&app, BYSTANDER)
        .ok_or_else(|| Violation::Lost("the bystander is gone".to_owned()))?;
    let seen = generation(&app, &bystander)?;
    if seen == "old" { Ok(()) } else { Err(Violation::Mixed(format!("the bystander is {seen}"))) }
}

fn open(data_dir: &Path) -> Result<App, Violation> {
    world::open(data_dir).map_err(|err| Violation::Torn(format!("the store does not open: {err}")))
}

const fn name(effect: Effect) -> &'static str {
    match effect {
        Effect::Creates => "created",
        Effect::Changes | Effect::Deletes | Effect::Restores => SUBJECT,
    }
}

/// Checks that exactly the state before or the one after is there.
fn check_state(
    app: &App,
    data_dir: &Path,
    expected: Expectation,
) -> Result<Option<ArtifactId>, Violation> {
    let found = world::find(app, name(expected.effect));
    let seen = match &found {
        Some(id) => Some(generation(app, id)?),
        None => None,
    };
    let (before, after) = match expected.effect {
        Effect::Changes => (Some("old"), Some("new")),
        Effect::Creates => (None, Some("new")),
        Effect::Deletes => (Some("old"), None),
        Effect::Restores => (None, Some("old")),
    };
    let seen = seen.as_deref();
    if seen != before && seen != after {
        return Err(Violation::Mixed(format!("{seen:?}, neither {before:?} nor {after:?}")));
    }
    if expected.acknowledged && seen != after {
        return Err(Violation::Lost(format!("acknowledged {after:?}, found {seen:?}")));
    }
    if expected.effect == Effect::Deletes && seen.is_none() || found.is_none() && seen != after {
        in_trash_or_never_there(app, data_dir, expected)?;
    }
    Ok(found)
}

fn in_trash_or_never_there(
    app: &App,
    data_dir: &Path,
    expected: Expectation,
) -> Result<(), Violation> {
    if expected.effect == Effect::Creates {
        return Ok(());
    }
    let trash = world::wait(app.ports.trash.list(&world::project()))
        .map_err(|err| Violation::Torn(format!("the trash cannot be listed: {err}")))?;
    if trash.is_empty() {
        let place = data_dir.display();
        return Err(Violation::Lost(format!("neither there nor in the trash: {place}")));
    }
    Ok(())
}

/// Returns the generation every part of an artifact is of.
pub(crate) fn generation(app: &App, id: &ArtifactId) -> Result<String, Violation> {
    let began = Instant::now();
    let request = PageRequest {
        project: Some(world::project()),
        artifact: id.clone(),
        variant: Variant::Rendered,
        snapshot: None,
        revision: None,
    };
    let page = world::wait(preview::page(app, request))
        .map_err(|err| Violation::Torn(format!("no page: {err}")))?;
    if began.elapsed() > PREVIEW_WITHIN {
        return Err(Violation::Torn(format!("the page took {:?}", began.elapsed())));
    }
    let stored = load(app, id)?;
    if !stored.health.is_healthy() {
        return Err(Violation::Torn(format!("not healthy: {:?}", stored.health)));
    }
    if !stored.drift.is_empty() {
        return Err(Violation::Mixed(format!("taken for an edit: {:?}", stored.drift)));
    }
    of_one_generation(&stored, &String::from_utf8_lossy(&page.bytes))
}

pub(crate) fn load(app: &App, id: &ArtifactId) -> Result<std::sync::Arc<Stored>, Violation> {
    world::wait(app.ports.artifacts.load(&world::project(), id))
        .map_err(|err| Violation::Torn(format!("it cannot be read: {err}")))
}

/// Checks that metadata, data, template, provenance and page belong together; returns whose data it
/// is. A refresh changes data, page and provenance only.
pub(crate) fn of_one_generation(stored: &Stored, page: &str) -> Result<String, Violation> {
    let state =
        stored.state.as_deref().ok_or_else(|| Violation::Torn("there is no state".to_owned()))?;
    let data = state.data.value()["generation"].as_str().unwrap_or_default().to_owned();
    let authored = state.artifact.heading.title.rsplit(' ').next().unwrap_or_default().to_owned();
    let parts = [
        ("provenance", state.provenance.notes.clone().unwrap_or_default(), &authored),
        ("template", between(&state.template_html, "template=", "<"), &authored),
        ("page's template", between(page, "template=", "<"), &authored),
        ("page's data", between(page, "data=", "<"), &data),
    ];
    for (part, found, expected) in &parts {
        if found != *expected {
            return Err(Violation::Mixed(format!("data {data}, title {authored}, {part} {found}")));
        }
    }
    let is_refreshed = state.provenance.generated_by == GeneratedBy::RefreshRunner;
    if is_refreshed == (data == authored) {
        let who = state.provenance.generated_by;
        return Err(Violation::Mixed(format!("data {data}, title {authored}, made by {who}")));
    }
    Ok(data)
}

/// Checks that after a recovery every refresh has exactly one last record.
fn every_refresh_ended_once(app: &App, id: &ArtifactId) -> Result<(), Violation> {
    let history = world::wait(app.ports.refresh_log.history(&world::project(), id))
        .map_err(|err| Violation::Torn(format!("no history: {err}")))?;
    let mut endings: BTreeMap<&RefreshId, usize> = BTreeMap::new();
    for record in history.records.iter() {
        *endings.entry(&record.refresh_id).or_default() += usize::from(record.step.is_last());
    }
    match endings.iter().find(|(_, count)| **count != 1) {
        Some((refresh, count)) => Err(Violation::Torn(format!("{refresh} ended {count} times"))),
        None => Ok(()),
    }
}

fn between(text: &str, before: &str, after: &str) -> String {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(found, _)| found).to_owned()
}

/// Checks every digest of an artifact.
fn verify(app: &App, name: &str) -> Result<(), Violation> {
    let id = world::find(app, name).ok_or_else(|| Violation::Lost(format!("{name} is gone")))?;
    let address = Address { project: Some(world::project()), artifact: id };
    let report = world::wait(artifacts::verify(app, &Caller::Person, address))
        .map_err(|err| Violation::Torn(format!("verify fails: {err}")))?;
    if report.ok { Ok(()) } else { Err(Violation::Torn(format!("{name}: {:?}", report.findings))) }
}

/// Checks that the next operation works.
fn check_next_operation(app: &App, expected: Expectation) -> Result<(), Violation> {
    let torn = |what: &str, err: &dyn std::fmt::Display| Violation::Torn(format!("{what}: {err}"));
    match expected.effect {
        Effect::Creates => {
            // The same attempt again makes no second artifact.
            world::wait(world::create(app, "created", "new", Some(ATTEMPT)))
                .map_err(|failure| torn("the create cannot be repeated", &failure.message))?;
            let list = world::wait(app.ports.artifacts.list(&world::project()))
                .map_err(|err| torn("no list", &err))?;
            if list.len() != 3 {
                return Err(Violation::Torn(format!("{} artifacts instead of 3", list.len())));
            }
        }
        Effect::Deletes | Effect::Restores => {
            if world::find(app, SUBJECT).is_none() {
                let trash = world::wait(app.ports.trash.list(&world::project()))
                    .map_err(|err| torn("no trash", &err))?;
                let id = trash.first().map(|trashed| trashed.artifact_id.clone());
                let id = id.ok_or_else(|| Violation::Lost("nothing to restore".to_owned()))?;
                world::wait(artifacts::restore(app, &Caller::Person, world::address(&id)))
                    .map_err(|err| torn("it cannot be restored", &err))?;
            }
        }
        Effect::Changes => {}
    }
    let Some(subject) = world::find(app, SUBJECT) else {
        return Err(Violation::Lost("the subject is gone".to_owned()));
    };
    world::wait(world::update(app, &subject, SUBJECT, "next"))
        .map_err(|failure| torn("the next update fails", &failure.message))?;
    refresh_again(app, &subject)?;
    let seen = generation(app, &subject)?;
    if seen == "last" { Ok(()) } else { Err(Violation::Lost(format!("the last refresh: {seen}"))) }
}

/// Checks that a refresh gets an id of its own and commits.
fn refresh_again(app: &App, id: &ArtifactId) -> Result<(), Violation> {
    let history = world::wait(app.ports.refresh_log.history(&world::project(), id))
        .map_err(|err| Violation::Torn(format!("no history: {err}")))?;
    let newest = history.records.iter().map(|record| record.refresh_id.number()).max();
    let refresh = world::wait(driver::refresh(app, id)).map_err(|failure| {
        Violation::Torn(format!("the next refresh fails: {}", failure.message))
    })?;
    if newest.is_some_and(|newest| refresh.number() <= newest) {
        return Err(Violation::Torn(format!("{refresh} was used before")));
    }
    every_refresh_ended_once(app, id)
}

/// Checks that nothing was left lying about.
fn check_nothing_pending(data_dir: &Path) -> Result<(), Violation> {
    let app = open(data_dir)?;
    for name in [SUBJECT, BYSTANDER] {
        verify(&app, name)?;
        let id =
            world::find(&app, name).ok_or_else(|| Violation::Lost(format!("{name} is gone")))?;
        let dir = world::artifact_dir(data_dir, &id);
        let left = std::fs::read_dir(dir.join("pending")).map_or(0, Iterator::count);
        if left > 0 || dir.join("first").exists() {
            return Err(Violation::Torn(format!("{left} frames, or the first, stay with {name}")));
        }
    }
    Ok(())
}
