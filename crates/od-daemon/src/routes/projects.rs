//! Projects and their files.

use hyper::body::Incoming;
use od_app::Caller;
use od_app::projects::{self, CreateProject, ReadFile};
use od_core::error::Failure;
use od_core::ids::RelPath;
use od_wire::Empty;
use od_wire::project::{
    self as wire, ProjectAnswer, ProjectFile, ProjectFilesAnswer, ProjectsAnswer,
};
use od_wire::route::QueryName;

use crate::exchange::Exchange;
use crate::http::reply::Reply;
use crate::views;

/// Lists projects.
pub(crate) async fn all(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let found = projects::counted(&exchange.daemon.app, &Caller::Person).await?;
    let line = |(project, tally): &(_, _)| views::project_line(project, *tally);
    Ok(Reply::json(&ProjectsAnswer { projects: found.iter().map(line).collect() }))
}

/// Creates a project, without a directory: only the command line binds one.
pub(crate) async fn create(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let wire::CreateProject { name } = exchange.body(body).await?;
    let request = CreateProject { id: None, name, root: None };
    let project = projects::create(&exchange.daemon.app, &Caller::Person, request).await?;
    Ok(Reply::json(&ProjectAnswer { project: views::project(&project) }))
}

/// Shows one project.
pub(crate) async fn show(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let project = projects::get(&exchange.daemon.app, &Caller::Person, exchange.project()?).await?;
    Ok(Reply::json(&ProjectAnswer { project: views::project(&project) }))
}

/// Renames a project.
pub(crate) async fn update(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let project = exchange.project()?;
    let wire::UpdateProject { name } = exchange.body(body).await?;
    let app = &exchange.daemon.app;
    let project = projects::rename(app, &Caller::Person, &project, &name).await?;
    Ok(Reply::json(&ProjectAnswer { project: views::project(&project) }))
}

/// Removes a project; its artifacts go to the trash.
pub(crate) async fn remove(exchange: &Exchange<'_>, body: Incoming) -> Result<Reply, Failure> {
    let project = exchange.project()?;
    exchange.body::<Empty>(body).await?;
    let removed = projects::remove(&exchange.daemon.app, &Caller::Person, &project).await?;
    Ok(Reply::json(&views::removed(removed)))
}

/// Lists a project's files; or one of them, with what is in it.
pub(crate) async fn files(exchange: &Exchange<'_>) -> Result<Reply, Failure> {
    let path: Option<RelPath> = exchange.query.get(QueryName::Path)?;
    let (app, project) = (&exchange.daemon.app, exchange.project()?);
    let file = match path {
        Some(path) => projects::read(app, &Caller::Person, project, &path).await?,
        None => {
            let listing = projects::files(app, &Caller::Person, project).await?;
            ReadFile { listing, content: None, tables: Vec::new() }
        }
    };
    let ReadFile { listing, content, tables } = file;
    let files = listing
        .files
        .into_iter()
        .map(|file| ProjectFile {
            path: file.path,
            size: file.bytes,
            modified_at: file.modified_at,
        })
        .collect();
    Ok(Reply::json(&ProjectFilesAnswer { files, truncated: listing.truncated, content, tables }))
}
