//! One request on its way to its handler: looked up, authorized, its body not yet read.

use std::str::FromStr;

use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use od_app::Caller;
use od_app::artifacts::{self, Address};
use od_core::error::{ErrorCode, Failure};
use od_core::ids::{ArtifactId, ProjectId};
use od_core::json::Message;
use od_wire::route::{Access, QueryName, Route};
use serde::de::DeserializeOwned;

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
    pub(crate) query: Query,
    pub(crate) head: &'r Parts,
    pub(crate) identity: Identity,
}

impl Exchange<'_> {
    /// Reads the body as a type of the wire.
    pub(crate) async fn body<T: DeserializeOwned>(&self, body: Incoming) -> Result<T, Failure> {
        Fields::parse::<T>(&self.bytes(body).await?, &[])?.read()
    }

    /// Reads the whole body within its bounds, which are narrow where no token was asked for.
    pub(crate) async fn bytes(&self, body: Incoming) -> Result<Bytes, Failure> {
        let sender = match self.route.access {
            Access::Open => Sender::Anyone,
            Access::Person | Access::Terminal | Access::Tool(_) | Access::AnyTool => Sender::Known,
        };
        Ok(body::read(self.head, body, sender).await?)
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

    /// Returns the artifact that the path names, in the project that the query names, if it does.
    pub(crate) fn address(&self) -> Result<Address, Failure> {
        Ok(Address { project: self.query.get(QueryName::ProjectId)?, artifact: self.artifact()? })
    }

    /// Returns the project of an artifact that the person names.
    pub(crate) async fn locate(&self, address: &Address) -> Result<ProjectId, Failure> {
        let found = artifacts::get(&self.daemon.app, &Caller::Person, address.clone()).await;
        Ok(found?.project.clone())
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
