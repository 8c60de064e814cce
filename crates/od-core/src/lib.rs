//! The rules of live artifacts as pure code.
//!
//! Ids, bounded JSON, artifacts and their validation, the template compiler, refresh, connector
//! safety, tokens, errors. A caller hands in bytes, values and times, and gets back checked values,
//! decisions and faults with the place, the rule and the fix.
//!
//! Must not know: files, sockets, the clock, the environment, randomness, async, HTTP words.
//!
//! # Features
//!
//! - `artifacts` (default): everything.
//! - `template`: the template compiler and renderer with formats and charts, and what finds
//!   credentials; needs `url` and `jiff`, no cryptography.
//! - without features: bounded JSON, schemas, limits and errors, without `url`, `jiff` and `ring`.

#![cfg_attr(
    not(feature = "artifacts"),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "parts serve each other; alone they need fewer"
    )
)]

/// Sessions with a person's own agent: their life, their stream of entries, and what is asked first.
///
/// ```
/// use od_core::agent::ToolServer;
///
/// // Only od's own tools, on this session's server, are allowed unasked.
/// let server = ToolServer::generate([1, 2, 3, 4]);
/// assert!(!server.owns("Bash"));
/// ```
#[cfg(feature = "artifacts")]
pub mod agent {
    mod entry;
    mod machine;
    mod permission;
    mod session;
    mod transcript;

    pub use entry::{
        Answer, Answerer, Choice, ChoiceKind, Content, Entry, Permission, Plan, PlanStep, Problem,
        Speaker, StepStatus, Text, ToolCall, ToolStatus, TurnEnd, TurnOutcome,
    };
    pub use machine::{Effect, End, Rejected, SessionState, Signal, step};
    pub use permission::{OWN_TOOLS, Reply, ToolServer, choose, decide};
    pub use session::{AgentListing, AgentSession, MadeArtifact, SessionStatus, Usage, title_of};
    pub use transcript::{
        AnswerError, Change, TooManyQuestions, ToolUpdate, Transcript, Update, cut_bytes,
    };
}
#[cfg(feature = "artifacts")]
pub mod artifact;
/// Charts: values drawn as inline SVG, the same bytes on every machine.
///
/// Everything is a function of the points and the chart's attributes; the template's compiler reads
/// the attributes, its renderer collects the points.
///
/// ```
/// use od_core::chart::ChartKind;
///
/// assert_eq!(ChartKind::from_word("donut").map(ChartKind::as_str), Some("donut"));
/// assert_eq!(ChartKind::from_word("pie"), None);
/// ```
#[cfg(feature = "template")]
pub mod chart {
    mod donut;
    pub(crate) mod draw;
    mod label;
    mod marks;
    pub(crate) mod pen;
    pub(crate) mod points;
    mod rows;
    mod scale;
    pub(crate) mod spec;
    mod style;
    mod table;

    pub use spec::ChartKind;
    pub use table::ChartTable;
}
#[cfg(feature = "artifacts")]
pub mod checks;
/// Connectors: what the catalog says of them, what is trusted of it, and what of their output.
///
/// ```
/// use od_core::connector::{ToolFacts, classify};
///
/// let facts = |name| ToolFacts { name, title: "", description: "", scopes: &[] };
/// assert!(classify(&facts("list_releases")).runs());
/// assert!(!classify(&facts("delete_release")).runs());
/// ```
#[cfg(feature = "artifacts")]
pub mod connector {
    mod catalog;
    mod classify;
    mod contract;
    mod database;
    mod error_as_data;
    mod execute_request;
    mod local_tool;
    mod protect;
    mod registered;

    pub use catalog::{
        Category, Connector, ConnectorAuth, ConnectorStatus, MinimumApproval, Purpose, Tool,
    };
    pub use classify::{Approval, SideEffect, ToolFacts, ToolSafety, classify, stricter};
    pub use contract::{ContractParts, check_input, contract_digest, is_contract_of, only_widens};
    pub use database::{
        ConnectionString, ConnectionStringError, DatabaseAddress, DatabaseColumn, DatabaseTable,
        Encryption,
    };
    pub use execute_request::ExecuteRequest;
    pub use local_tool::LocalTool;
    pub use protect::{
        Clip, Origin, ProtectError, Protected, protect_output, protect_text, protect_value,
    };
    pub use registered::{
        BaseUrl, BaseUrlError, PathOutside, RegisteredService, SecretHeader, ServiceKind,
        ServiceName, ServiceRequest, ServiceUrl, ServiceUrlError,
    };
}
#[cfg(feature = "template")]
pub mod credential;
/// Decisions: the next state of an artifact, worked out from values before anything is written.
///
/// Create, update, roll back and refresh each have a function here that takes what there is and what
/// is asked for, and returns a [`decide::Decision`] or everything that is wrong. A use case commits the
/// decision, or for a dry run shows it: both say the same, because nothing is decided after it.
///
/// ```
/// use od_core::artifact::{Author, CreateRequest, Pins};
/// use od_core::decide::{CreateContext, create};
/// use od_core::ids::{ArtifactId, Timestamp};
/// use od_core::json::parse_message;
///
/// let body = br#"{ "input": { "title": "Builds", "document": { "dataJson": { "n": 3 } } } }"#;
/// let request = CreateRequest::parse(&parse_message(body).unwrap()).unwrap();
/// let context = CreateContext {
///     id: ArtifactId::generate(&request.input.heading.slug, [0; 6]),
///     project_id: "demo".parse().unwrap(),
///     run_id: None,
///     author: Author::Agent,
///     at: Timestamp::from_unix_ms(0),
///     pins: Pins::new(),
///     attempt: None,
/// };
/// let decision = create(request, context).unwrap();
/// assert!(String::from_utf8_lossy(&decision.page).contains("Builds"));
/// ```
#[cfg(feature = "artifacts")]
pub mod decide {
    mod create;
    mod decision;
    mod grant;
    mod refresh;
    mod refreshable;
    mod roll_back;
    mod shown_redactions;
    mod update;

    #[cfg(test)]
    pub(crate) use create::created;
    pub use create::{CreateContext, create};
    pub use decision::Decision;
    pub use grant::{ScheduleChange, ScheduleChangeRefused, schedule, trust};
    #[cfg(test)]
    pub(crate) use refresh::refreshed_with;
    pub use refresh::{FailedSource, Gathered, QueryOutput, RefreshRefused, SourceOutput, refresh};
    pub use refreshable::{RefreshUnavailable, refreshable, refreshable_when_opened};
    pub use roll_back::{Design, EarlierState, roll_back};
    pub use update::{NextDesign, UpdateRefused, next_design, update};
}
#[cfg(feature = "artifacts")]
pub mod diff;
/// Every refusal of the product: code, advice, details, and the catalogue they come from.
///
/// ```
/// use od_core::error::{ErrorCode, Issue, nearest_name};
///
/// assert_eq!(ErrorCode::RevisionConflict.http_status(), 409);
/// assert_eq!(nearest_name("titel", ["title", "slug"]), Some("title"));
/// let issue = Issue::new("/titel", "unknown_field", "unknown field `titel`").fix("rename it to `title`");
/// assert_eq!(issue.under("/input").path, "/input/titel");
/// ```
pub mod error {
    mod code;
    mod failure;
    mod issue;

    pub use code::{ErrorCode, Retry, catalogue_markdown};
    pub use failure::{Details, Failure};
    pub use issue::{Issue, nearest_name};
}
#[cfg(feature = "artifacts")]
pub mod event;
/// Bundles: artifacts with their history in one signed file, checked without the program that made it.
///
/// ```
/// use od_core::bundle::Bundle;
///
/// assert!(Bundle::read(b"not a bundle").is_err());
/// ```
#[cfg(feature = "artifacts")]
pub mod bundle {
    mod manifest;
    mod pack;
    mod read;
    mod signer;
    mod tar;

    pub use manifest::{
        BundleFault, BundleKind, BundledArtifact, BundledProject, Manifest, ManifestArtifact,
        ManifestEntry,
    };
    pub use pack::{PackRefused, Packed, PackedRevision, UnsignedBundle};
    pub use read::{Bundle, BundleFinding};
    pub use signer::{BundleSignature, KnownSigner, SignerKey, Standing};
    pub use tar::TarFault;
}
/// Exports: an artifact as one file that needs nothing else, and what each form contains.
///
/// ```
/// use od_core::export::ExportFormat;
///
/// assert_eq!(ExportFormat::from_word("md"), Some(ExportFormat::Markdown));
/// assert!(ExportFormat::Json.contains().starts_with("all of the data"));
/// ```
#[cfg(feature = "artifacts")]
pub mod export {
    pub(crate) mod csv;
    mod file;
    mod html;
    mod markdown;

    pub use file::{
        ExportFormat, ExportRefused, ExportedFile, export, export_value, linked_page, tables,
        tables_of_many,
    };
    pub(crate) use html::escape;
}
/// Values as people read them: numbers, money, dates, lengths of time, in a locale and a zone.
///
/// Everything is a function of the value, the format and its `Context`; there is no clock here.
///
/// ```
/// use od_core::format::{Locale, Zone};
///
/// assert_eq!(Zone::utc().name(), "UTC");
/// assert_eq!("Europe/Berlin".parse::<Zone>().unwrap().name(), "Europe/Berlin");
/// assert!("Europe/Berlni".parse::<Zone>().is_err());
/// assert!(Locale::from_word("pt-BR").is_some());
/// ```
#[cfg(feature = "template")]
pub mod format {
    mod buffer;
    pub(crate) mod currency;
    pub(crate) mod date;
    pub(crate) mod decimal;
    pub(crate) mod elapsed;
    mod locale;
    pub(crate) mod number;
    pub(crate) mod value;
    mod zone;

    pub use buffer::TextBuffer;
    pub use locale::Locale;
    pub use value::{Context, FormatFault};
    pub use zone::{UnknownZone, Zone};
}
/// Sessions of the console: which browsers may open it, and how page and daemon prove themselves.
///
/// ```
/// use od_core::console::BrowserName;
///
/// let name = BrowserName::of_user_agent("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0");
/// assert_eq!(name.as_str(), "Firefox on Linux");
/// ```
#[cfg(feature = "artifacts")]
pub mod console {
    mod proof;
    mod session;

    pub use proof::{Meeting, Nonce, PublicKey, Signature};
    pub use session::{BrowserName, ConsoleSession, admit};
}
#[cfg(feature = "template")]
pub mod ids;
#[cfg(feature = "artifacts")]
pub mod input;
#[cfg(feature = "artifacts")]
pub mod intake;
pub mod json;
/// The rules of a store, whatever it keeps its bytes in: how revisions and refreshes are numbered, who
/// may still write, what an attempt made before, what is kept for how long, how the records of refreshes
/// come to a status, and the timeline of commits.
///
/// Files, a database and the fakes of tests all decide by these functions, so that none of them decides
/// on its own. They take what the store has read and return the decision; reading, locking and making
/// it durable stay with the store.
///
/// ```
/// use od_core::ids::Revision;
/// use od_core::ledger::{check_revision, next_revision};
///
/// let second = Revision::first().next();
/// assert_eq!(next_revision([second, Revision::first()]), second.next());
/// assert!(check_revision(Revision::first(), second).is_err());
/// ```
#[cfg(feature = "artifacts")]
pub mod ledger {
    mod attempt;
    mod commit;
    mod refreshes;
    mod retention;
    mod revision_conflict;
    mod timeline;

    pub use attempt::{EarlierAttempt, Maker, find_earlier};
    pub use commit::{
        Actor, CommitKind, CommitNote, CommitRecord, Door, LogRecord, Part, RevisionDigests,
        RevisionSource,
    };
    pub use refreshes::{
        IfNewest, RefreshClosed, RefreshLedger, RefreshOvertaken, RefreshStart, RunningLockState,
        is_synced_at_once,
    };
    pub use retention::{
        excess_aside_files, excess_snapshots, is_trash_expired, kept_fairly, needs_rotation,
        trash_expires_at,
    };
    pub use revision_conflict::{RevisionConflict, check_revision, next_revision};
    pub use timeline::{RevisionName, kept_commits, kept_objects};
}
#[cfg(feature = "artifacts")]
pub mod grant;
pub mod limits;
/// What people are told outside the console when a check changes, and the webhooks it is sent to.
///
/// ```
/// use od_core::notification::WebhookUrl;
///
/// assert!("https://hooks.example.com/od".parse::<WebhookUrl>().is_ok());
/// assert!("http://hooks.example.com/od".parse::<WebhookUrl>().is_err());
/// ```
#[cfg(feature = "artifacts")]
pub mod notification {
    mod message;
    mod webhook;

    pub use message::Notification;
    pub use webhook::{
        Deliveries, DeliveryOutcome, Reach, Webhook, WebhookUrl, WebhookUrlError, pause_before,
        signature,
    };
}
#[cfg(feature = "artifacts")]
pub mod ownership;
/// Queries: SQL over the rows of an artifact's sources, run at every refresh.
///
/// This module holds what needs no engine: the query's shape, its bounds, the tables it may read, the
/// functions it may call, and the rules from result to JSON. The engine is a port.
///
/// ```
/// use od_core::query::SqlText;
///
/// let sql: SqlText = "SELECT count(*) FROM orders".parse().unwrap();
/// assert!(sql.mentions("orders"));
/// assert!("DELETE FROM orders".parse::<SqlText>().is_err());
/// ```
#[cfg(feature = "artifacts")]
pub mod query {
    mod dialect;
    mod fault;
    mod functions;
    mod plan;
    mod result;
    mod sql_text;

    pub use fault::{QueryFault, QueryFaultKind};
    pub use functions::{FunctionRule, function_rule};
    pub use plan::{Query, Shape, history_table};
    pub use result::{ResultSet, SqlValue};
    pub use sql_text::{Position, SqlText, SqlTextError};
}
#[cfg(feature = "artifacts")]
pub mod refresh;
#[cfg(feature = "artifacts")]
pub mod repair;
/// Refreshes that nobody starts by hand: when the next one is due, worked out from the schedule, the
/// time it was switched on, and the records of the refreshes before. Nothing of it is stored.
///
/// ```
/// use od_core::ids::Timestamp;
/// use od_core::schedule::{Cron, Slots};
///
/// let cron: Cron = "0 9 * * 1-5".parse().unwrap();
/// let next = Slots::Cron { cron: &cron, zone: None }.after(Timestamp::from_unix_ms(0)).unwrap();
/// assert_eq!(next.to_string(), "1970-01-01T09:00:00.000Z");
/// ```
#[cfg(feature = "artifacts")]
pub mod schedule {
    mod cron;
    mod due;
    mod interval;
    mod pace;
    mod refresh_schedule;
    mod request;
    mod slots;
    mod switch;

    pub use cron::{Cron, CronFault};
    pub use due::{Due, Hold, Outlook, RunsSoFar, SlotRun, StaleReason, StartedRun};
    pub use interval::{Interval, IntervalFault};
    pub use pace::{Burst, HourlyBudget};
    pub use refresh_schedule::{MissedSlots, RefreshSchedule, Trigger};
    pub use request::ScheduleRequest;
    pub use slots::Slots;
    pub(crate) use switch::digest_of;
    pub use switch::{
        LocalSchedules, ScheduleRefused, ScheduleState, ScheduleSummary, ScheduleSwitch,
        ScheduledPermission, adjust, check_pace, is_local, source_files, switch_off, switch_on,
        switch_on_for_agent,
    };
}
pub mod schema;
/// A static site of artifacts: pages that need no script, their data, an index and a feed.
///
/// ```
/// use od_core::site::site_pages;
///
/// let pages = site_pages("Reports", "demo", Vec::new(), Vec::new());
/// assert!(pages.iter().any(|page| page.path == "index.html"));
/// ```
#[cfg(feature = "artifacts")]
pub mod site {
    mod line;
    mod names;
    mod page;

    pub use line::{SiteChange, SiteFile, SiteLine, artifact_files, changes_of};
    pub use names::{SITE_LIST, page_names, site_list, site_pages};
}
#[cfg(feature = "template")]
pub mod template;
/// Tokens: what they grant, how they are signed, and what they cover.
///
/// ```
/// use od_core::ids::Timestamp;
/// use od_core::token::{Claims, CliClaims, Keyring, encode, verify};
///
/// let keyring = Keyring::new([7; 32], None);
/// let claims = Claims::Cli(CliClaims {
///     token_id: "t-1".parse().unwrap(),
///     audience: "a-1".parse().unwrap(),
///     issued_at: Timestamp::from_unix_ms(0),
///     expires_at: Timestamp::from_unix_ms(60_000),
/// });
/// let token = encode(&claims, &keyring);
/// assert!(verify(&token, &keyring, Timestamp::from_unix_ms(1_000)).is_ok());
/// assert!(verify(&token, &keyring, Timestamp::from_unix_ms(61_000)).is_err());
/// ```
#[cfg(feature = "artifacts")]
pub mod token {
    mod claims;
    mod keyring;
    mod payload;
    mod verify;

    pub use claims::{
        Claims, CliClaims, ConsoleClaims, Endpoint, Operation, PreviewClaims, TokenKind,
        ToolClaims, Variant,
    };
    pub use keyring::Keyring;
    pub use verify::{ScopeError, TOKEN_PREFIX, TokenError, VerifiedToken, encode, verify};
}
mod words;
