//! What every project registry has to do.

use od_core::ids::ProjectId;

use super::sample;
use crate::project_registry::{Project, ProjectError, ProjectRegistry};

/// Puts an empty registry through the contract of [`ProjectRegistry`].
///
/// # Panics
///
/// When the registry breaks the contract.
pub async fn check_project_registry(registry: &dyn ProjectRegistry) {
    assert_eq!(registry.list().await.expect("a list"), [], "a new registry is empty");
    let (web, app) = (project("web"), project("app"));
    registry.create(web.clone()).await.expect("a project is added");
    registry.create(app.clone()).await.expect("a project is added");
    let again = registry.create(Project { name: "Other".to_owned(), ..web.clone() }).await;
    assert!(matches!(again, Err(ProjectError::Exists { .. })), "one id, one project");
    assert_eq!(registry.list().await.expect("a list"), [app, web.clone()], "sorted by id");
    assert_eq!(registry.get(&web.id).await.expect("it can be read"), Some(web.clone()));
    assert_eq!(registry.get(&id("none")).await.expect("it can be read"), None);
    let rooted = Project { root: Some("/somewhere".into()), ..web };
    registry.update(rooted.clone()).await.expect("a project changes");
    assert_eq!(registry.get(&rooted.id).await.expect("it can be read"), Some(rooted));
    let gone = registry.update(project("none")).await;
    assert!(matches!(gone, Err(ProjectError::NotFound { .. })), "only what is there changes");
}

fn project(name: &str) -> Project {
    Project { id: id(name), name: name.to_owned(), root: None, created_at: sample::now() }
}

fn id(name: &str) -> ProjectId {
    name.parse().expect("the suite's ids are well formed")
}
