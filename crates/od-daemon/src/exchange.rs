//! One request on its way to its handler: looked up, authorized, its body not yet read.

use std::str::FromStr;

use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use od_app::Caller;
use od_app::artifacts::{self, Address};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::json::Message;
use od_wire::route::Route;

use crate::auth::Identity;
use crate::daemon::Daemon;
use crate::http::body::{self, Sender};
use crate::http::json_body::{self, Fields};
use crate::http::lookup::PathParameters;
use crate::http::query::Query;

/// What a handler gets.
#[derive(Debug)]
pub(crate) struct Exchange<'r> {
    pub(crate) daemon: &'r Daemon,
    pub(crate) route: &'static Route,
    pub(crate) params: PathParameters<'r>,
    pub(crate) head: &'r Parts,
    pub(crate) identity: Identity,
}

impl Exchange<'_> {
    /// Reads the query strictly.
    pub(crate) fn query(&self, known: &[&str]) -> Result<Query, Failure> {
        Query::parse(self.head.uri.query(), known)
    }

    /// Reads the whole body within its bounds.
    pub(crate) async fn bytes(&self, body: Incoming) -> Result<Bytes, Failure> {
        Ok(body::read(self.head, body, Sender::Known).await?)
    }

    /// Reads a short body as an object with known fields: for routes that are open to anybody.
    pub(crate) async fn short_fields(
        &self,
        body: Incoming,
        known: &[&str],
    ) -> Result<Fields, Failure> {
        Fields::parse(&body::read(self.head, body, Sender::Anyone).await?, known)
    }

    /// Reads the body as an object with known fields.
    pub(crate) async fn fields(&self, body: Incoming, known: &[&str]) -> Result<Fields, Failure> {
        Fields::parse(&self.bytes(body).await?, known)
    }

    /// Reads the body as the document that a use case checks itself.
    pub(crate) async fn document(&self, body: Incoming) -> Result<Message, Failure> {
        self.message(body, ErrorCode::LiveArtifactInvalid).await
    }

    /// Reads the body as an object that is refused with `code` if it is none.
    pub(crate) async fn message(
        &self,
        body: Incoming,
        code: ErrorCode,
    ) -> Result<Message, Failure> {
        json_body::document(&self.bytes(body).await?, code)
    }

    /// Returns the artifact that the path names. What is no id names nothing.
    pub(crate) fn artifact(&self) -> Result<ArtifactId, Failure> {
        self.id(self.params.first(), ErrorCode::LiveArtifactNotFound, "artifact")
    }

    /// Returns the project that the path names.
    pub(crate) fn project(&self) -> Result<ProjectId, Failure> {
        self.id(self.params.first(), ErrorCode::ProjectNotFound, "project")
    }

    /// Returns the project of an artifact that the person names.
    pub(crate) async fn locate(&self, address: &Address) -> Result<ProjectId, Failure> {
        let found = artifacts::get(&self.daemon.app, &Caller::Person, address.clone()).await;
        let detail = found?;
        Ok(detail.stored.project.clone())
    }

    /// Reads a parameter of the path as an id.
    pub(crate) fn id<T: FromStr>(
        &self,
        text: &str,
        code: ErrorCode,
        what: &str,
    ) -> Result<T, Failure> {
        text.parse().map_err(|_| {
            Failure::new(code, format!("there is no such {what}"))
                .suggest(format!("copy the {what}'s id from where it is listed"))
        })
    }
}
