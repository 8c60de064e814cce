//! Connector adapters: project files, git, GitHub, registered services. Each gives data through read-only tools.
//! Beside them stands what carries notifications to the outside: the desktop, webhooks.
//!
//! Must not know: storage.

mod catalog;
mod formats;
/// The `git` connector: what state a project's repository is in.
mod git {
    mod catalog;
    mod directory;
    mod history;
    mod program;
    mod provider;
    mod summary;

    pub use provider::Git;
}
/// The `github` connector: public repositories, and private ones with a token.
mod github {
    mod activity;
    mod api;
    mod cache;
    mod catalog;
    mod provider;
    mod shape;

    pub use provider::{GitHub, GitHubConfig};
}
/// A bounded HTTP GET: checked addresses, redirects by hand, a byte cap while reading.
mod http {
    mod address;
    mod dial;
    mod fetch;

    pub(crate) use dial::{Dialer, HostOverride, Origin, refused_kind};
    pub(crate) use fetch::{Fetcher, Redirects, Reply, Request, secret_header};
}
/// Notifications on their way out: to the desktop, and to webhooks that a person registered.
mod outbound {
    mod desktop;
    mod webhook;

    pub use desktop::{DesktopNotifications, DesktopNotifier};
    pub use webhook::{DELIVERY_HEADER, HttpWebhookSender, SIGNATURE_HEADER};
}
/// The `project_files` connector: search in a project's files, and JSON read from one of them.
mod project_files {
    mod catalog;
    mod fence;
    mod ignore_rules;
    mod provider;
    mod read;
    mod redacted;
    mod search;
    mod walk;

    pub use fence::Fence;
    pub use provider::ProjectFilesConnector;
}
/// Services that a person has registered: JSON, CSV, feeds and metrics over HTTP.
mod services {
    mod client;
    mod feed;
    mod http;
    mod prometheus;

    pub use client::ServiceClient;
    pub use http::HttpConnector;
    pub use prometheus::PrometheusConnector;
}

pub use git::Git;
pub use github::{GitHub, GitHubConfig};
pub use outbound::{
    DELIVERY_HEADER, DesktopNotifications, DesktopNotifier, HttpWebhookSender, SIGNATURE_HEADER,
};
pub use project_files::{Fence, ProjectFilesConnector};
pub use services::{HttpConnector, PrometheusConnector, ServiceClient};
