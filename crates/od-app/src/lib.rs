//! The use cases, one function each. Every door calls this crate and nothing else decides anything.
//!
//! Must not know: HTTP, argv, files.

pub mod agent_sessions;
mod app;
pub mod artifacts;
pub mod connectors;
pub mod cpu;
mod failure;
pub mod health;
/// Bundles: artifacts with their history in one signed file.
pub mod bundles {
    mod export;
    mod import;

    pub use export::{BundleScope, ExportBundleError, ExportedBundle, export};
    pub use import::{ImportBundle, ImportError, ImportedArtifact, ImportedBundle, import};
}
/// Notifications of changed checks: to the desktop, and to webhooks that a person registers.
pub mod notifications {
    mod delivery;
    mod outbox;
    mod webhooks;

    pub(crate) use outbox::Outbox;
    pub use webhooks::{
        AddWebhook, AddWebhookError, FindWebhookError, ListWebhooksError, TestWebhookError,
        TestedWebhook, add, find, list, remove, test,
    };
}
/// The page of an artifact, from memory where nothing changed.
pub mod preview {
    mod cache;
    mod page;

    pub use cache::PageCache;
    pub use page::{Media, Page, PageError, PageRequest, page};
}
/// Projects.
pub mod projects {
    mod change;
    mod create;
    mod files;
    mod read;

    pub use change::{
        ChangeProjectError, RemoveProjectError, RemovedProject, allow_schedules, rebind, remove,
        rename,
    };
    pub use create::{CreateProject, CreateProjectError, create};
    pub use files::{ProjectFilesError, ReadFile, ReadFileError, files, read};
    pub use read::{ReadProjectError, counted, get, list};
}
pub mod refresh;
/// The runs of agents.
pub mod runs {
    mod authorize;
    mod lease;
    mod start;

    pub use authorize::{Authorize, AuthorizeError, authorize};
    pub use lease::{MoveRunError, end, renew};
    pub use start::{StartRun, StartRunError, StartedRun, start};
}
pub mod schedule;
pub mod services;
pub mod sessions;
pub mod site;
pub mod store_copy;

pub use app::{App, Caller, PersonOnly};
pub use artifacts::Mode;
