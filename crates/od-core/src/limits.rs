//! The limits of the contract: one table, printed in every refusal and in `docs/limits.md`.

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
    ($($(#[$doc:meta])* $id:ident = $name:literal, $allowed:expr, $unit:literal, $how:literal;)*) => {
        $($(#[$doc])* pub const $id: Limit =
            Limit { name: $name, allowed: $allowed, unit: $unit, how_measured: $how };)*

        /// Every limit, in the order of the documentation.
        pub const ALL: &[Limit] = &[$($id),*];
    };
}

limits! {
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
    /// The most mapping paths that one source may have.
    MAPPING_PATHS = "mapping_paths", 100, "entries", "of outputMapping.dataPaths";
    /// The most sources that provenance may list.
    PROVENANCE_SOURCES = "provenance_sources", 50, "entries", "of provenanceJson.sources";
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
    /// The depth of JSON in a source's output.
    INTAKE_DEPTH = "intake_depth", 32, "levels", "of a source's output, its root object or array being level 1";
    /// The bytes of a YAML or TOML file.
    DATA_FILE = "data_file", 4_194_304, "bytes", "of a YAML or TOML file";
    /// The bytes of a SQLite database that has to be copied to be read.
    SQLITE_COPY = "sqlite_copy", 268_435_456, "bytes", "of a SQLite database with its write-ahead log or journal; one without is read in place";
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
    CONNECTOR_CALLS_PER_MINUTE = "connector_calls_per_minute", 10, "calls", "in any 60 seconds, per run";
    /// The most connector calls that a run may make in all.
    CONNECTOR_CALLS_PER_RUN = "connector_calls_per_run", 60, "calls", "per run";
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
    /// The most snapshots that an artifact keeps.
    SNAPSHOTS = "snapshots", 100, "snapshots", "of one artifact; the oldest are removed, the newest never, and none of an artifact that is not healthy";
    /// The size at which an artifact\'s log of refreshes goes on in a new file.
    AUDIT_LOG = "audit_log", 1_048_576, "bytes", "of `refreshes.jsonl`; the file before it is kept, the one before that is not";
    /// The most files that are kept aside for one artifact.
    ASIDE_FILES = "aside_files", 50, "files", "in `aside/` of one artifact; the oldest are removed";
    /// The longest time that a writer waits for another one.
    COMMIT_WAIT = "commit_wait", 10_000, "milliseconds", "for the commit lock of an artifact, then the write is refused as busy";
    /// The part of whole artifacts that a store keeps in memory.
    ARTIFACT_CACHE = "artifact_cache", 268_435_456, "bytes", "of templates, data and provenance in one process; the least recently used go first";
    /// The longest life of a tool token.
    TOOL_TOKEN_LIFETIME = "tool_token_lifetime", 86_400_000, "milliseconds", "from issuedAt to expiresAt";
    /// The time for which a run\'s lease lasts without renewal.
    RUN_LEASE = "run_lease", 900_000, "milliseconds", "since the run was started or renewed";
    /// The life of a command-line token.
    CLI_TOKEN_LIFETIME = "cli_token_lifetime", 60_000, "milliseconds", "from issuedAt to expiresAt";
    /// The life of a console bearer.
    CONSOLE_TOKEN_LIFETIME = "console_token_lifetime", 43_200_000, "milliseconds", "from issuedAt to expiresAt";
    /// The life of a preview ticket.
    PREVIEW_TICKET_LIFETIME = "preview_ticket_lifetime", 300_000, "milliseconds", "from issuedAt to expiresAt";
}

/// Renders `docs/limits.md` from the table.
#[must_use]
pub fn limits_markdown() -> String {
    let mut page = String::from(
        "# Limits\n\n\
         Generated by `cargo xtask codegen` from `od_core::limits`; do not edit.\n\n\
         A refusal names the limit, what was measured, and how.\n\n\
         | limit | allowed | how it is measured |\n|---|---|---|\n",
    );
    for limit in ALL {
        let allowed = format!("{} {}", limit.allowed, limit.unit);
        page.push_str(&format!(
            "| `{}` | {} | {} |\n",
            limit.name,
            allowed.trim_end(),
            limit.how_measured
        ));
    }
    page
}

// Lengths are compared as `usize`: every length limit must fit.
const _: () = {
    let mut i = 0;
    while i < ALL.len() {
        assert!(ALL[i].allowed <= usize::MAX as u64);
        i += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().map(|limit| limit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
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
