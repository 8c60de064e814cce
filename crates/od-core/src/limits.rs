//! Every bound of the program, printed in refusals and in `docs/limits.md`: the limits of the contract,
//! and those inside the daemon, the store, the connectors and the clients.
//!
//! ```
//! use od_core::limits::{JSON_DEPTH, TITLE, cut};
//!
//! assert_eq!(JSON_DEPTH.want(), "at most 8 levels (the root object or array is level 1)");
//! assert_eq!(cut("x".repeat(300), TITLE).len(), TITLE.max());
//! ```

use std::time::Duration;

/// One limit: what it bounds, how much is allowed, and how that is measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit {
    /// The name clients see in refusals.
    pub name: &'static str,
    /// The largest value that is still accepted.
    pub allowed: u64,
    /// The unit that is counted.
    pub unit: &'static str,
    /// The way the value is measured.
    pub how_measured: &'static str,
}

impl Limit {
    /// Returns the limit as a length.
    #[must_use]
    pub const fn max(&self) -> usize {
        // The table is checked at compile time below; a 32-bit target would fail there.
        self.allowed as usize
    }

    /// Returns a limit in milliseconds as a duration.
    #[must_use]
    pub const fn duration(&self) -> Duration {
        Duration::from_millis(self.allowed)
    }

    /// Returns whether `measured` is within the limit.
    #[must_use]
    pub const fn allows(&self, measured: usize) -> bool {
        measured as u64 <= self.allowed
    }

    /// Describes the limit for the `want` of a refusal.
    #[must_use]
    pub fn want(&self) -> String {
        format!("at most {} {} ({})", self.allowed, self.unit, self.how_measured)
    }
}

/// Counts the UTF-16 code units of a text, the measure of every text limit.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Cuts a text to what a limit in UTF-16 code units allows.
#[must_use]
pub fn cut(mut text: String, limit: Limit) -> String {
    let mut units = 0;
    let end = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        !limit.allows(units)
    });
    if let Some((end, _)) = end {
        text.truncate(end);
    }
    text
}

macro_rules! limits {
    (
        $(#[$list_doc:meta])* $list:ident;
        $($(#[$doc:meta])* $id:ident = $name:literal, $allowed:expr, $unit:literal, $how:literal;)*
    ) => {
        $($(#[$doc])* pub const $id: Limit =
            Limit { name: $name, allowed: $allowed, unit: $unit, how_measured: $how };)*

        $(#[$list_doc])*
        pub const $list: &[Limit] = &[$($id),*];
    };
}

limits! {
    /// Every limit that a request or its answer is held to, in the order of the documentation.
    ALL;
    /// The greatest depth of JSON.
    JSON_DEPTH = "json_depth", 8, "levels", "the root object or array is level 1";
    /// The most keys that one object may hold.
    JSON_KEYS = "json_keys", 100, "keys", "in one object";
    /// The most items that one array may hold.
    JSON_ITEMS = "json_items", 500, "items", "in one array";
    /// The greatest length of one JSON string or key.
    JSON_STRING = "json_string", 16_384, "UTF-16 code units", "of one string, escapes decoded";
    /// The greatest size of one JSON document.
    JSON_DOCUMENT = "json_document", 262_144, "bytes", "of the document's canonical JSON (RFC 8785) in UTF-8";
    /// The largest magnitude of an integer.
    JSON_INTEGER = "json_integer", 9_007_199_254_740_991, "", "magnitude, exact in an IEEE 754 double (2^53 - 1)";
    /// The greatest depth of the JSON of a request.
    MESSAGE_DEPTH = "message_depth", 64, "levels", "of the whole request, its root object being level 1; the data inside has a limit of its own";
    /// The most keys that one object of a request may hold.
    MESSAGE_KEYS = "message_keys", 10_000, "keys", "in one object of a request; the data inside has a limit of its own";
    /// The most items that one array of a request may hold.
    MESSAGE_ITEMS = "message_items", 100_000, "items", "in one array of a request; the data inside has a limit of its own";
    /// The greatest length of one string of a request.
    MESSAGE_STRING = "message_string", 2_097_152, "UTF-16 code units", "of one string of a request, escapes decoded; the data inside has a limit of its own";
    /// The greatest size of the JSON of a request, written out.
    MESSAGE_DOCUMENT = "message_document", 8_388_608, "bytes", "of the request's canonical JSON (RFC 8785) in UTF-8";
    /// The greatest depth of a schema.
    SCHEMA_DEPTH = "schema_depth", 16, "levels", "of schemas inside each other, the outermost being level 1";
    /// The most faults of one document that are reported.
    JSON_FAULTS = "json_faults", 20, "faults", "in one report, in document order";
    /// The greatest size of a template.
    TEMPLATE = "template", 1_048_576, "bytes", "of UTF-8";
    /// The greatest size of a rendered preview.
    RENDERED_PREVIEW = "rendered_preview", 8_388_608, "bytes", "of UTF-8";
    /// The greatest depth of repeats.
    REPEAT_DEPTH = "repeat_depth", 3, "levels", "of data-od-repeat inside one another (html_template_v2; one in html_template_v1)";
    /// The most rows that one page may have.
    TEMPLATE_ROWS = "template_rows", 50_000, "rows", "of all repeats of one page, nested ones each time (html_template_v2)";
    /// The most points of one chart.
    CHART_POINTS = "chart_points", 500, "points", "of one chart (html_template_v2)";
    /// The most series of one chart.
    CHART_SERIES = "chart_series", 8, "series", "of one chart: paths in its data-od-y (html_template_v2)";
    /// The most ticks of an axis.
    CHART_TICKS = "chart_ticks", 6, "ticks", "of the axis of a chart";
    /// The greatest height of a chart.
    CHART_HEIGHT = "chart_height", 800, "pixels", "of a chart, as its data-od-height says";
    /// The greatest length of a chart's title or of the name of a series.
    CHART_LABEL = "chart_label", 200, "characters", "of a chart's data-od-title, and of each name in its data-od-labels";
    /// The greatest length of a title.
    TITLE = "title", 200, "UTF-16 code units", "of the title";
    /// The greatest length of a slug.
    SLUG = "slug", 128, "characters", "of the slug";
    /// The greatest length of an id.
    ID = "id", 128, "characters", "of the id";
    /// The greatest length of a relative path or mapping path.
    PATH = "path", 260, "UTF-16 code units", "of the path";
    /// The greatest length of a label or another short text.
    SHORT_TEXT = "short_text", 1_024, "UTF-16 code units", "of the text";
    /// The greatest length of notes.
    NOTES = "notes", 16_384, "UTF-16 code units", "of the notes";
    /// The greatest length of an interval or a cron expression.
    SCHEDULE_TEXT = "schedule_text", 64, "UTF-16 code units", "of `every`, `maxAge` or `cron` of a schedule";
    /// The longest interval.
    INTERVAL = "interval", 31_622_400_000, "ms", "of `every` or `maxAge`: 366 days";
    /// The shortest time between two scheduled refreshes of sources of this machine.
    EVERY_LOCAL = "every_local", 60_000, "ms", "at least, between two refreshes on schedule, if every source only reads this machine";
    /// The shortest time between two scheduled refreshes of a source beyond this machine.
    EVERY_NETWORK = "every_network", 300_000, "ms", "at least, between two refreshes on schedule, if a source is beyond this machine";
    /// The most mapping paths that one source may have.
    MAPPING_PATHS = "mapping_paths", 100, "entries", "of outputMapping.dataPaths";
    /// The most sources of one artifact.
    SOURCES = "sources", 8, "sources", "of document.sources";
    /// The most sources of one refresh that run at once.
    SOURCES_AT_ONCE = "sources_at_once", 4, "sources", "of one refresh; further ones wait";
    /// The most queries of one artifact.
    QUERIES = "queries", 20, "queries", "of document.queries";
    /// The most checks of one artifact.
    CHECKS = "checks", 20, "checks", "of document.checks";
    /// The rows of a large output that an agent is shown.
    OUTPUT_SAMPLE = "output_sample", 20, "rows", "of an output that is larger than an answer; the rest is counted";
    /// The paths of an output that a refusal of its mapping lists.
    OUTLINE_PATHS = "outline_paths", 40, "paths", "of an output whose mapping leads nowhere, listed with the refusal";
    /// The values that an answer to a create, an update or a validation shows of the page.
    FIRST_VALUES = "first_values", 8, "values", "of the page, by position; of a list its first row";
    /// The length of one of them.
    FIRST_VALUE_TEXT = "first_value_text", 80, "UTF-16 code units", "of one shown text; the rest is cut";
    /// The most sources that provenance may list.
    PROVENANCE_SOURCES = "provenance_sources", 50, "entries", "of provenanceJson.sources";
    /// The most places of the data whose last write by an author is remembered.
    PATH_WRITES = "path_writes", 200, "places", "of one artifact that authors wrote; more are remembered by the objects that hold them";
    /// The part of a call that provenance keeps.
    CALL_TEXT = "call_text", 240, "UTF-16 code units", "of a tool's name and input; the rest is cut";
    /// The most columns that `compact_table` keeps.
    TABLE_COLUMNS = "table_columns", 20, "columns", "scalar keys in first-seen order; the rest is dropped";
    /// The most rows that `compact_table` keeps.
    TABLE_ROWS = "table_rows", 100, "rows", "of the table; the rest is dropped and `truncated` is true";
    /// The greatest size of a request body.
    REQUEST_BODY = "request_body", 2_097_152, "bytes", "of the body as received";
    /// The greatest size of the body of a request that needs no token.
    OPEN_REQUEST_BODY = "open_request_body", 1_024, "bytes", "of the body as received, on a route that asks for no token";
    /// The longest time in which a request body may arrive.
    BODY_TIMEOUT = "body_timeout", 15_000, "milliseconds", "from the request's head to the end of its body";
    /// The longest time in which the body of a request that needs no token may arrive.
    OPEN_BODY_TIMEOUT = "open_body_timeout", 2_000, "milliseconds", "from the request's head to the end of its body, on a route that asks for no token";
    /// The longest time that one source may run.
    SOURCE_TIMEOUT = "source_timeout", 30_000, "milliseconds", "of one source execution";
    /// The longest time that a whole refresh may run.
    REFRESH_TIMEOUT = "refresh_timeout", 120_000, "milliseconds", "of the whole refresh";
    /// The greatest size of a connector's output.
    CONNECTOR_OUTPUT = "connector_output", 262_144, "bytes", "of canonical JSON, and of the body as read";
    /// The bytes of one source's output before anything is picked from it.
    INTAKE_SOURCE = "intake_source", 33_554_432, "bytes", "of one source's output as read";
    /// The bytes of all sources of one refresh.
    INTAKE_REFRESH = "intake_refresh", 67_108_864, "bytes", "of the outputs of one refresh as read";
    /// The rows of one source's output.
    INTAKE_ROWS = "intake_rows", 200_000, "rows", "of one table, or items of one array of a source's output";
    /// The columns of one table of a source's output.
    INTAKE_COLUMNS = "intake_columns", 100, "columns", "of one table, or different keys of its rows";
    /// The cells of one table of a source's output.
    INTAKE_CELLS = "intake_cells", 4_000_000, "cells", "rows times columns of one table";
    /// The services that a person may register.
    REGISTERED_SERVICES = "registered_services", 100, "services", "registered on one machine";
    /// The services that agents have asked for and nobody has registered.
    SERVICE_REQUESTS = "service_requests", 20, "requests", "for services that are not registered; the newest are kept";
    /// The webhooks that one machine may have.
    REGISTERED_WEBHOOKS = "registered_webhooks", 20, "webhooks", "registered on one machine";
    /// The tables of a database that are shown to a person.
    TABLES_SHOWN = "tables_shown", 200, "tables", "of a database that `od sources test` and the console show";
    /// The length of a registered service's address.
    REGISTERED_URL = "registered_url", 2_048, "bytes", "of the address as given";
    /// The length of the header that carries a service's secret.
    REGISTERED_HEADER = "registered_header", 64, "bytes", "of the header's name";
    /// The depth of JSON in a source's output.
    INTAKE_DEPTH = "intake_depth", 32, "levels", "of a source's output, its root object or array being level 1";
    /// The bytes of a YAML or TOML file.
    DATA_FILE = "data_file", 4_194_304, "bytes", "of a YAML or TOML file";
    /// The bytes of a SQLite database that has to be copied to be read.
    SQLITE_COPY = "sqlite_copy", 268_435_456, "bytes", "of a SQLite database with its write-ahead log or journal; one without is read in place";
    /// The time of one query of a SQLite database.
    SQLITE_TIMEOUT = "sqlite_timeout", 10_000, "milliseconds", "of one `sqlite.query`";
    /// The length of a value of a SQLite database.
    SQLITE_VALUE = "sqlite_value", 8_388_608, "bytes", "of one text, blob or row that `sqlite.query` reads or makes";
    /// The length of one query.
    QUERY_TEXT = "query_text", 8_192, "bytes", "of the SQL in UTF-8";
    /// The time one query may run.
    QUERY_TIMEOUT = "query_timeout", 2_000, "milliseconds", "of one query";
    /// The memory of the query engine.
    QUERY_HEAP = "query_heap", 134_217_728, "bytes", "allocated by the engine, the tables of the refresh included";
    /// The rows of one query's result.
    QUERY_ROWS = "query_rows", 500, "rows", "of one query's result";
    /// The length of one text in a query.
    QUERY_VALUE = "query_value", 262_144, "bytes", "of one text or row that a query makes";
    /// The revisions that `history(path)` reads.
    HISTORY_ROWS = "history_rows", 100, "revisions", "the newest that are kept";
    /// The part of one file that a search reads.
    SEARCH_FILE = "search_file", 33_554_432, "bytes", "of one file; what is behind them is not searched";
    /// The most searches that run at once.
    SEARCHES = "searches_at_once", 4, "searches", "in one daemon; further ones wait";
    /// The most connector calls that a run may make in a minute.
    CONNECTOR_CALLS_PER_MINUTE = "connector_calls_per_minute", 10, "calls", "in any 60 seconds, per run; reads of this machine are counted apart";
    /// The most connector calls that a run may make in all.
    CONNECTOR_CALLS_PER_RUN = "connector_calls_per_run", 60, "calls", "per run; reads of this machine are counted apart";
    /// The most reads of this machine that a run may make in a minute.
    LOCAL_READS_PER_MINUTE = "local_reads_per_minute", 600, "reads", "in any 60 seconds, per run, of tools that read this machine; they are not counted as connector calls";
    /// The most connector calls that the refreshes of an artifact may make in a minute without a run.
    ARTIFACT_CALLS_PER_MINUTE = "artifact_calls_per_minute", 10, "calls", "in any 60 seconds, per artifact, for refreshes without a run";
    /// The most reads of a project\'s files for a person in a minute.
    FILE_READS_PER_MINUTE = "file_reads_per_minute", 600, "reads", "in any 60 seconds, per project, for a person who looks at files";
    /// The part of a connector\'s own words about a call that a record keeps.
    RECORD_METADATA = "record_metadata", 4_096, "bytes", "of canonical JSON; entries that do not fit are left out";
    /// The most redacted places that an answer or a record names.
    REDACTED_PLACES = "redacted_places", 20, "places", "named in an answer or a record; all values are counted";
    /// The most redacted places of one output that are told apart.
    REDACTED_PLACES_KNOWN = "redacted_places_known", 500, "places", "of one output; what stands at further ones is only counted";
    /// The time for which a deleted artifact can be brought back.
    TRASH_RETENTION = "trash_retention", 604_800_000, "milliseconds", "since the artifact was deleted; after that it is removed for good";
    /// The time for which a page counts as fresh.
    FRESH_FOR = "fresh_for", 86_400_000, "milliseconds", "since the last refresh that succeeded; after that the page is called stale";
    /// The longest pause after failures of scheduled refreshes.
    BACK_OFF = "back_off", 86_400_000, "milliseconds", "after which a scheduled refresh that keeps failing is tried again; the pause doubles up to it";
    /// The most that a clock set back is waited for.
    CLOCK_STEP = "clock_step", 3_600_000, "milliseconds", "by which a record may lie in the future and still count; beyond that the clock was wrong when it was written";
    /// The longest time between two looks for refreshes that are due.
    SCHEDULE_TICK = "schedule_tick", 30_000, "milliseconds", "between two looks of the daemon for refreshes that are due";
    /// The most that a slot may be late where missed slots are skipped.
    PUNCTUAL = "punctual", 600_000, "milliseconds", "after a slot, half the pace if that is less; later the slot counts as missed";
    /// The most scheduled refreshes that run at once.
    SCHEDULED_RUNS = "scheduled_runs", 4, "refreshes", "on schedule, running at once in one daemon";
    /// The most calls of one connector that schedules make in an hour.
    SCHEDULED_CALLS = "scheduled_calls", 300, "refreshes", "on schedule in one hour, of the artifacts that call one connector; project files are not counted";
    /// The quiet after which changed files are read.
    CHANGE_QUIET = "change_quiet", 500, "milliseconds", "without a change of a watched file, before the refresh that follows a burst of them";
    /// The pause between two refreshes that follow changes.
    CHANGE_PAUSE = "change_pause", 5_000, "milliseconds", "at least, between two refreshes of one artifact that follow changes of its files";
    /// The pause after a scheduled refresh that was refused.
    REFUSED_PAUSE = "refused_pause", 300_000, "milliseconds", "after a scheduled refresh that could not begin, before the daemon tries its slot again";
    /// The most missed slots that are counted.
    MISSED_SLOTS = "missed_slots", 10_000, "slots", "that a record counts as missed; more are not told apart";
    /// The next runs that are shown of a schedule.
    NEXT_RUNS = "next_runs", 5, "runs", "that are shown of a schedule before it is switched on";
    /// The most snapshots that an artifact keeps.
    SNAPSHOTS = "snapshots", 100, "snapshots", "of one artifact; the oldest are removed, the newest never, and none of an artifact that is not healthy";
    /// The most revisions whose contents an artifact keeps.
    REVISIONS = "revisions", 100, "revisions", "of one artifact, the newest and the one it was restored from; whoever made most gives way first; none is removed from an artifact that is not healthy";
    /// The most commits that outlive the log that they stood in.
    COMMIT_RECORDS = "commit_records", 1_000, "records", "of commits of one artifact, the newest, beside those in `refreshes.jsonl` and the file before it; whoever made most gives way first";
    /// The most successful refreshes that outlive the log that they stood in.
    REFRESH_RECORDS = "refresh_records", 500, "refreshes", "of one artifact that succeeded, the newest, beside those in `refreshes.jsonl` and the file before it; whoever asked for most gives way first";
    /// The most other refreshes that outlive the log that they stood in.
    FAILED_REFRESH_RECORDS = "failed_refresh_records", 100, "refreshes", "of one artifact that did not succeed, kept in the same way";
    /// The most differences that a comparison names, of data and of source each.
    DIFF_CHANGES = "diff_changes", 500, "differences", "named, in document order; all are counted";
    /// The largest value that a comparison shows.
    DIFF_VALUE = "diff_value", 2_048, "bytes", "of the value's canonical JSON; a larger one is left out";
    /// The most lines of templates that a comparison shows.
    DIFF_LINES = "diff_lines", 1_000, "lines", "removed and added, in all; all are counted";
    /// The longest line of a template that a comparison shows whole.
    DIFF_LINE = "diff_line", 512, "UTF-16 code units", "of one line; the rest is left out";
    /// The size at which an artifact\'s log of refreshes goes on in a new file.
    AUDIT_LOG = "audit_log", 1_048_576, "bytes", "of `refreshes.jsonl`; the file before it is kept, the one before that is not";
    /// The most files that are kept aside for one artifact.
    ASIDE_FILES = "aside_files", 50, "files", "in `aside/` of one artifact; the oldest are removed";
    /// The longest time that a writer waits for another one.
    COMMIT_WAIT = "commit_wait", 10_000, "milliseconds", "for the commit lock of an artifact, then the write is refused as busy";
    /// The most connections of one daemon to a shared store, for reading and for writing each.
    STORE_CONNECTIONS = "store_connections", 4, "connections", "to PostgreSQL for reading, and as many for writing; further work waits";
    /// The longest time that a shared store may take to answer a read.
    STORE_READ = "store_read", 5_000, "milliseconds", "for one read of PostgreSQL; then what is in memory is served, and said to be";
    /// The longest time that a transaction of a shared store may stand still.
    STORE_IDLE = "store_idle", 15_000, "milliseconds", "in which PostgreSQL ends the transaction of a writer that stands still";
    /// The longest time for which the outcome of a commit is asked for.
    STORE_RESOLVE = "store_resolve", 20_000, "milliseconds", "in which a commit whose answer was lost is looked for in PostgreSQL";
    /// The time for which a refresh holds its lease.
    STORE_LEASE = "store_lease", 150_000, "milliseconds", "by the clock of PostgreSQL, since the refresh began";
    /// The pause between two looks for what others have changed in a shared store.
    STORE_LOOK = "store_look", 1_000, "milliseconds", "until what another machine changed is told to open consoles; whoever reads sees it at once";
    /// The longest pause between two tries to reach a shared store.
    STORE_RETRY = "store_retry", 5_000, "milliseconds", "after a try that failed; the first pause is a fiftieth of it";
    /// The part of whole artifacts that a store keeps in memory.
    ARTIFACT_CACHE = "artifact_cache", 33_554_432, "bytes", "of templates, and of data as it lies in memory, in one process; the least recently used go first";
    /// The most rows that one page of a list may have.
    LIST_ROWS = "list_rows", 100, "rows", "of one page of a list; half as many if an agent does not say";
    /// The size of the rows of one page of a list.
    LIST_PAGE = "list_page", 8_192, "bytes", "of the JSON of the rows of one page of a list for an agent; further rows are on the next page";
    /// The most lines of the outline of an artifact\'s data.
    OUTLINE_LINES = "outline_lines", 100, "lines", "of the outline of an artifact\'s data; the rest is counted";
    /// The largest part of an artifact\'s data that an agent reads whole.
    READ_VALUE = "read_value", 16_384, "bytes", "of canonical JSON of the value at a path; a larger one is outlined";
    /// The size of one message of the protocol MCP.
    MCP_MESSAGE = "mcp_message", 8_388_608, "bytes", "of one line as received";
    /// The most requests that one MCP server answers at once.
    MCP_REQUESTS = "mcp_requests", 32, "requests", "of one client at once; further ones wait";
    /// The longest prompt.
    AGENT_PROMPT = "agent_prompt", 65_536, "bytes", "of one prompt of a person to an agent";
    /// The longest life of a tool token.
    TOOL_TOKEN_LIFETIME = "tool_token_lifetime", 86_400_000, "milliseconds", "from issuedAt to expiresAt";
    /// The time for which a run\'s lease lasts without renewal.
    RUN_LEASE = "run_lease", 900_000, "milliseconds", "since the run was started or renewed";
    /// The time for which a run that is over is kept.
    RUN_RETENTION = "run_retention", 604_800_000, "milliseconds", "since the run ended, or since its lease lapsed";
    /// The life of a command-line token.
    CLI_TOKEN_LIFETIME = "cli_token_lifetime", 60_000, "milliseconds", "from issuedAt to expiresAt";
    /// The life of a console bearer.
    CONSOLE_TOKEN_LIFETIME = "console_token_lifetime", 900_000, "milliseconds", "from issuedAt to expiresAt";
    /// The life of a preview ticket.
    PREVIEW_TICKET_LIFETIME = "preview_ticket_lifetime", 300_000, "milliseconds", "from issuedAt to expiresAt";
}

// Apart from the table above because agents read that one whole, in the skill: what stands here no
// request can be written for.
limits! {
    /// Every bound of the daemon, the store, the connectors and the clients that no request chooses.
    INTERNAL;
    /// The most connections that a daemon holds.
    CONNECTIONS = "connections", 2_048, "connections", "open to one daemon at once, fewer where the system allows it fewer open files; the one that has been silent longest gives way";
    /// The greatest size of the head of a request.
    REQUEST_HEAD = "request_head", 16_384, "bytes", "of request line and headers";
    /// The most headers that a request may have.
    REQUEST_HEADERS = "request_headers", 64, "headers", "of one request";
    /// The longest time in which the head of a request may arrive.
    HEAD_TIMEOUT = "head_timeout", 10_000, "milliseconds", "from the connection, or the answer before, to the end of the request's head";
    /// The longest time for which an answer may stay unread.
    UNREAD_ANSWER = "unread_answer", 20_000, "milliseconds", "in which nothing of an answer is read; then the connection is closed";
    /// The memory that a connection may take.
    CONNECTION_BUFFER = "connection_buffer", 65_536, "bytes", "buffered for one connection";
    /// The most event streams that a daemon serves.
    EVENT_STREAMS = "event_streams", 256, "streams", "of events, open at once to one daemon";
    /// The most events that wait for one stream.
    EVENT_QUEUE = "event_queue", 256, "events", "waiting for one stream; one that is further behind is closed and resumes later";
    /// The most events that are kept for streams that resume.
    EVENT_REPLAY = "event_replay", 1_024, "events", "kept for streams that resume; one that is further behind is told to read everything again";
    /// The most notifications that wait for one receiver.
    NOTIFICATION_QUEUE = "notification_queue", 64, "notifications", "waiting for the desktop or one webhook; further ones are counted as lost";
    /// The most tries of one delivery.
    WEBHOOK_TRIES = "webhook_tries", 3, "tries", "of one delivery to a webhook";
    /// The longest time that one try takes.
    WEBHOOK_TIMEOUT = "webhook_timeout", 10_000, "milliseconds", "for one try of a delivery, from name to status";
    /// The pause before the second try.
    WEBHOOK_PAUSE = "webhook_pause", 2_000, "milliseconds", "before the second try of a delivery; five times that before the third";
    /// The longest time that the desktop's program takes.
    DESKTOP_TIMEOUT = "desktop_timeout", 5_000, "milliseconds", "for the program that shows a notification; then it is ended";
    /// The longest time that a command waits for its notifications.
    NOTIFICATION_LINGER = "notification_linger", 15_000, "milliseconds", "that a command without a daemon waits at its end for notifications; then they count as lost";
    /// The bytes of events that are kept for streams that resume.
    EVENT_REPLAY_BYTES = "event_replay_bytes", 8_388_608, "bytes", "of the events kept for streams that resume";
    /// The most sessions of agents that run.
    AGENT_SESSIONS_LIVE = "agent_sessions_live", 3, "sessions", "with a process of an agent, in one daemon";
    /// The most sessions of agents that are kept.
    AGENT_SESSIONS_KEPT = "agent_sessions_kept", 100, "sessions", "of agents in one project; the one unused for longest gives way";
    /// The longest line of an agent.
    AGENT_LINE = "agent_line", 8_388_608, "bytes", "of one message of an agent; a longer one is passed over";
    /// The most messages of an agent that wait.
    AGENT_QUEUE = "agent_queue", 64, "messages", "of one agent that wait to be read; then it has to wait";
    /// The part of an agent's standard error that is kept.
    AGENT_STDERR = "agent_stderr", 8_192, "bytes", "of what an agent wrote to its standard error, the last";
    /// The most entries of a session.
    AGENT_ENTRIES = "agent_entries", 20_000, "entries", "of one session; the oldest give way";
    /// The size of the entries of a session.
    AGENT_TRANSCRIPT = "agent_transcript", 6_291_456, "bytes", "of the texts of one session's entries; the oldest give way";
    /// The size of the file of a session's entries.
    AGENT_TRANSCRIPT_FILE = "agent_transcript_file", 33_554_432, "bytes", "of `transcript.jsonl`; then it is written anew, each entry once";
    /// The longest text of one entry.
    AGENT_TEXT = "agent_text", 131_072, "bytes", "of one entry; longer words go on in the next";
    /// The longest input and result of a call that are shown.
    AGENT_TOOL_TEXT = "agent_tool_text", 32_768, "bytes", "of the input, and of the result, of one call of an agent's tool";
    /// The longest title of a session, a call or a step.
    AGENT_TITLE = "agent_title", 500, "UTF-16 code units", "of the title of a session, of a call, of a step of a plan";
    /// The most steps of a plan.
    AGENT_PLAN = "agent_plan", 100, "steps", "of an agent's plan; the rest is left out";
    /// The most questions that wait for an answer.
    AGENT_PENDING = "agent_pending", 16, "questions", "of permission in one session; further ones are refused unasked";
    /// The most answers that a question offers.
    AGENT_CHOICES = "agent_choices", 16, "answers", "to one question of permission; the rest is left out";
    /// The longest time in which an agent may become ready.
    AGENT_OPEN = "agent_open", 120_000, "milliseconds", "from the start of an agent's program to its first prompt";
    /// The silence that ends the telling again of an old conversation.
    AGENT_REPLAY = "agent_replay", 250, "milliseconds", "without a message of an agent that tells a conversation again, until that counts as told";
    /// The longest time in which a stopped turn may end.
    AGENT_CANCEL = "agent_cancel", 10_000, "milliseconds", "for an agent to end a turn that was stopped";
    /// The longest time in which an agent may end by itself.
    AGENT_END = "agent_end", 2_000, "milliseconds", "for an agent to end once its input is closed, and again once it was told to";
    /// The pause between two messages about one session.
    AGENT_FLUSH = "agent_flush", 40, "milliseconds", "between two bundles of changes of a session that listeners are told of; the first is told at once";
    /// The most changes of one bundle.
    AGENT_BUNDLE = "agent_bundle", 32, "changes", "of a session that listeners are told of at once; after more they are told to read it again";
    /// The pause between two writes of a session's entries.
    AGENT_SAVE = "agent_save", 2_000, "milliseconds", "between two writes of the entries of a session that works";
    /// The longest time in which a login shell may answer.
    AGENT_SHELL = "agent_shell", 5_000, "milliseconds", "for the person's login shell to say its environment";
    /// The most lines of the access log that wait to be written.
    ACCESS_LOG_QUEUE = "access_log_queue", 8_192, "lines", "waiting to be written; further ones are counted and dropped";
    /// The size at which the daemon's log goes on in a new file.
    LOG_FILE = "log_file", 4_194_304, "bytes", "of the daemon's log; the file before it is kept, the one before that is not";
    /// The longest time that a stopping daemon waits for refreshes.
    REFRESH_GRACE = "refresh_grace", 2_000, "milliseconds", "for running refreshes once the daemon is asked to stop; then they are cancelled";
    /// The longest time that a stopping daemon waits for the rest.
    STOP_TIMEOUT = "stop_timeout", 5_000, "milliseconds", "for connections and changes to end after that";
    /// The life of a sign-in code.
    SIGN_IN_CODE_LIFETIME = "sign_in_code_lifetime", 60_000, "milliseconds", "in which a code of `od open` may be exchanged";
    /// The most sign-in codes that wait.
    SIGN_IN_CODES = "sign_in_codes", 64, "codes", "waiting to be exchanged; the oldest gives way";
    /// The life of the session of a browser.
    CONSOLE_SESSION_LIFETIME = "console_session_lifetime", 2_592_000_000, "milliseconds", "from the exchange of the code on: 30 days";
    /// The most sessions of browsers.
    CONSOLE_SESSIONS = "console_sessions", 64, "sessions", "of browsers; the one unused for longest gives way";
    /// The life of a challenge.
    CHALLENGE_LIFETIME = "challenge_lifetime", 60_000, "milliseconds", "in which a page may answer the daemon's challenge";
    /// The most challenges that wait.
    CHALLENGES = "challenges", 256, "challenges", "waiting for their page; the oldest gives way";
    /// The greatest size of the file of sessions.
    CONSOLE_SESSIONS_FILE = "console_sessions_file", 65_536, "bytes", "of the file of console sessions";
    /// The greatest length of a token.
    TOKEN_TEXT = "token_text", 4_096, "bytes", "of a token of any kind";
    /// The longest time that a token may come from the future.
    CLOCK_SKEW = "clock_skew", 300_000, "milliseconds", "that a token may have been made ahead of the clock";
    /// The longest command line that is suggested whole, with its faults mended.
    COMMAND_LINE_MENDED = "command_line_mended", 1_024, "bytes", "of a command line that a suggestion repeats";
    /// The greatest size of the file by which a daemon is found.
    ANNOUNCEMENT_FILE = "announcement_file", 16_384, "bytes", "of `daemon.json`";
    /// The greatest size of an artifact's pointer.
    POINTER_FILE = "pointer_file", 2_097_152, "bytes", "of `artifact.json`";
    /// The greatest size of a frame.
    FRAME_FILE = "frame_file", 41_943_040, "bytes", "of one revision with all its files";
    /// The greatest size of the file that describes a project.
    PROJECT_FILE = "project_file", 65_536, "bytes", "of `project.json`";
    /// The greatest size of the file of a run.
    RUN_FILE = "run_file", 65_536, "bytes", "of the file of one run";
    /// The greatest size of the file of signing keys.
    KEYRING_FILE = "keyring_file", 4_096, "bytes", "of the file of signing keys";
    /// The greatest size of the file of known signers.
    SIGNERS_FILE = "signers_file", 262_144, "bytes", "of the file of signers of bundles";
    /// The most signers of bundles that are remembered.
    KNOWN_SIGNERS = "known_signers", 500, "signers", "of bundles, revoked ones included";
    /// The most changes that a site lists.
    SITE_CHANGES = "site_changes", 100, "changes", "in the feed and the list of changes of a site, newest first";
    /// The size of a site's index to which descriptions are cut.
    SITE_INDEX = "site_index", 200_000, "bytes", "of the index of a site: descriptions are cut to fit; titles and dates never are";
    /// The greatest size of the list of files of a site that is read.
    SITE_LIST_FILE = "site_list_file", 16_777_216, "bytes", "of `site.json` of an earlier build";
    /// The longest that a browser may draw an exported page.
    DRAWING_MS = "drawing_ms", 60_000, "ms", "of one start of the browser that draws an export";
    /// The greatest size of a picture or PDF of an export.
    DRAWING_BYTES = "drawing_bytes", 67_108_864, "bytes", "of one picture or PDF";
    /// The greatest height of a picture: browsers draw no higher one.
    PICTURE_HEIGHT = "picture_height", 16_384, "pixels", "of a page that is exported as a picture";
    /// The greatest size of a bundle.
    BUNDLE_BYTES = "bundle_bytes", 134_217_728, "bytes", "of one `.odb` file; it is not compressed";
    /// The most entries of a bundle.
    BUNDLE_ENTRIES = "bundle_entries", 65_536, "entries", "of one `.odb` file";
    /// The greatest size of the vault of credentials.
    VAULT_FILE = "vault_file", 1_048_576, "bytes", "of the file of sealed credentials";
    /// The greatest length of a credential that is kept.
    CREDENTIAL = "credential", 4_096, "bytes", "of one credential of a connector";
    /// The greatest length of the name of an account.
    CONNECTION_LABEL = "connection_label", 200, "characters", "of the name of a connected account";
    /// The part of rendered pages that is kept in memory.
    PREVIEW_CACHE = "preview_cache", 33_554_432, "bytes", "of rendered pages in one process; the least recently used go first";
    /// The most pieces of large work that run at once.
    CPU_WORKERS = "cpu_workers", 8, "pieces of work", "that parse, check, map or draw much, running at once; one less than the machine has cores if that is fewer, at least one";
    /// The most pieces of large work that wait.
    CPU_QUEUE = "cpu_queue", 256, "pieces of work", "waiting to run; a further one does not wait for its turn";
    /// The largest piece of work that runs where it comes up.
    CPU_INLINE = "cpu_inline", 16_384, "bytes", "of JSON and template that a piece of work goes through; beyond it the work waits for its turn";
    /// The most files of a project that are shown to a person.
    FILES_LISTED = "files_listed", 2_000, "files", "of one project, shown to a person";
    /// The most entries of a project that a listing looks at.
    FILES_VISITED = "files_visited", 100_000, "entries", "of one project's folders; what is behind them is not listed";
    /// The greatest depth to which a project is listed.
    FOLDER_DEPTH = "folder_depth", 32, "levels", "of folders below the project's; what is deeper is not listed";
    /// The most files of one folder that are read.
    JSON_FOLDER_FILES = "json_folder_files", 100, "files", "of one folder that `project_files.read_json` reads; further ones are counted";
    /// The most files of a project among which a folder is looked for.
    JSON_FOLDER_LISTED = "json_folder_listed", 10_000, "files", "of the project, among which the folder is looked for";
    /// The most matches of one search.
    SEARCH_MATCHES = "search_matches", 200, "matches", "of one search";
    /// The memory of a compiled search pattern.
    SEARCH_PATTERN = "search_pattern", 1_048_576, "bytes", "of the compiled pattern";
    /// The longest line that a search reads.
    SEARCH_LINE = "search_line", 1_048_576, "bytes", "of one line; a file with a longer one is not searched";
    /// The greatest depth to which a project is searched.
    SEARCH_DEPTH = "search_depth", 128, "levels", "of folders below the project's; what is deeper is not searched";
    /// The part of an ignore file that is read.
    IGNORE_FILE = "ignore_file", 1_048_576, "bytes", "of one `.gitignore`; what is behind them is not read";
    /// The most commits of a summary.
    GIT_COMMITS = "git_commits", 50, "commits", "that `git.summary` lists";
    /// The most files of a summary.
    GIT_FILES = "git_files", 50, "files", "that `git.summary` lists";
    /// The most commits of a log.
    GIT_LOG = "git_log", 1_000, "commits", "that `git.log` and `git.file_history` list";
    /// The greatest output of git that is read.
    GIT_OUTPUT = "git_output", 1_048_576, "bytes", "that one run of git writes";
    /// The most entries of a git directory that are looked at.
    GIT_REFERENCES = "git_references", 100_000, "entries", "of the folders of a git directory";
    /// The most entries of one list of GitHub.
    GITHUB_ENTRIES = "github_entries", 500, "entries", "of one list";
    /// The most pages of one list of GitHub.
    GITHUB_PAGES = "github_pages", 5, "pages", "of one list";
    /// The greatest answer of GitHub that is read.
    GITHUB_ANSWER = "github_answer", 4_194_304, "bytes", "of one answer of GitHub";
    /// The part of GitHub's answers that is kept in memory.
    GITHUB_CACHE = "github_cache", 8_388_608, "bytes", "of answers of GitHub that are kept; the least recently used go first";
    /// The longest wait that GitHub may ask for.
    GITHUB_WAIT = "github_wait", 3_600_000, "milliseconds", "that GitHub may ask for";
    /// The greatest head of a provider's answer.
    PROVIDER_HEAD = "provider_head", 32_768, "bytes", "of the head of an answer of a provider";
    /// The most redirects that are followed.
    REDIRECTS = "redirects", 3, "redirects", "that are followed for one request to a provider";
    /// The most parameters of one query.
    SQLITE_PARAMETERS = "sqlite_parameters", 50, "parameters", "of one `sqlite.query`";
    /// The most runs of SQLite at once: its heap limit is one for the process.
    SQLITE_RUNS = "sqlite_runs", 1, "runs", "of SQLite at once in one daemon, queries of artifacts and of databases alike; further ones wait";
    /// The most PostgreSQL databases that are read at once.
    POSTGRES_READS = "postgres_reads", 4, "reads", "of PostgreSQL databases at once in one daemon; further ones wait";
    /// The longest time that a database server may take to accept a connection.
    POSTGRES_CONNECT = "postgres_connect", 10_000, "milliseconds", "in which a PostgreSQL server has to accept the connection and the login";
    /// The longest time that a statement of `postgres.query` may run.
    POSTGRES_STATEMENT = "postgres_statement", 25_000, "milliseconds", "of one statement, which the server ends then";
    /// The longest time that a transaction of `postgres.query` may be idle.
    POSTGRES_IDLE = "postgres_idle", 5_000, "milliseconds", "in which the server ends a transaction that od has abandoned";
    /// The longest time that a client waits for a connection.
    CLIENT_CONNECT = "client_connect", 2_000, "milliseconds", "in which the daemon has to take a connection";
    /// The longest time that a client waits for an answer.
    CLIENT_ANSWER_TIMEOUT = "client_answer_timeout", 130_000, "milliseconds", "in which the daemon has to answer: longer than the longest refresh";
    /// The greatest answer that a client reads.
    CLIENT_ANSWER = "client_answer", 16_777_216, "bytes", "of one answer of the daemon";
    /// The greatest event that a client reads.
    CLIENT_EVENT = "client_event", 262_144, "bytes", "of one event";
    /// The greatest depth of a template's elements.
    OPEN_ELEMENTS = "open_elements", 256, "elements", "open at one place of a template";
    /// The most attributes of one element.
    ATTRIBUTES = "attributes", 128, "attributes", "of one element of a template";
    /// The most issues of a template that are reported.
    TEMPLATE_ISSUES = "template_issues", 20, "issues", "of one template, by position";
    /// The most warnings of a template that are reported.
    TEMPLATE_WARNINGS = "template_warnings", 50, "warnings", "of one template";
    /// The most changed paths that a record names.
    CHANGED_PATHS = "changed_paths", 20, "paths", "named in the record of a refresh; all changes are counted";
}

/// Renders `docs/limits.md` from the table.
#[must_use]
pub fn limits_markdown() -> String {
    let mut page = String::from(
        "# Limits\n\n\
         Generated by `cargo xtask codegen` from `od_core::limits`; do not edit.\n\n\
         A refusal names the limit, what was measured, and how.\n\n",
    );
    page.push_str(&table(ALL));
    page.push_str(
        "\n## Inside the daemon, the store, the connectors and the clients\n\n\
         No request chooses these; they keep every buffer, file, list and wait bounded.\n\n",
    );
    page.push_str(&table(INTERNAL));
    page
}

fn table(limits: &[Limit]) -> String {
    let mut table = String::from("| limit | allowed | how it is measured |\n|---|---|---|\n");
    for Limit { name, allowed, unit, how_measured } in limits {
        let allowed = format!("{allowed} {unit}");
        table.push_str(&format!("| `{name}` | {} | {how_measured} |\n", allowed.trim_end()));
    }
    table
}

// Lengths are compared as `usize`: every length limit must fit.
const _: () = {
    let mut i = 0;
    while i < ALL.len() {
        assert!(ALL[i].allowed <= usize::MAX as u64);
        i += 1;
    }
    i = 0;
    while i < INTERNAL.len() {
        assert!(INTERNAL[i].allowed <= usize::MAX as u64);
        i += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().chain(INTERNAL).map(|limit| limit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len() + INTERNAL.len());
    }

    #[test]
    fn a_text_is_cut_to_as_much_as_fits_and_counted_once() {
        for (letter, fits) in [("a", 1024), ("é", 1024), ("😀", 512)] {
            let text = cut(letter.repeat(1_000_000), SHORT_TEXT);
            assert_eq!(text.chars().count(), fits, "{letter}");
            assert!(utf16_len(&text) <= SHORT_TEXT.max());
        }
        assert_eq!(cut("as it is".to_owned(), SHORT_TEXT), "as it is");
    }

    #[test]
    fn text_is_measured_in_utf16_units() {
        assert_eq!(utf16_len("abc"), 3);
        assert_eq!(utf16_len("é"), 1);
        assert_eq!(utf16_len("😀"), 2);
    }
}
