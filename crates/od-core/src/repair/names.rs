//! Names by their meaning: where a field belongs, and which word was meant.

/// The kind of request that is repaired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// Makes an artifact.
    Create,
    /// Changes one.
    Update,
    /// Executes a tool.
    Execute,
}

const DOCUMENT: &str = "/input/document";
const SOURCE: &str = "/input/document/sourceJson";

/// Returns the place where a field belongs, by its name and by the object it was found in.
#[expect(clippy::too_many_lines, reason = "a table of names")]
pub(super) fn place(operation: Operation, parent: &str, key: &str) -> Option<String> {
    let name = fold(key);
    let name = name.as_str();
    if operation == Operation::Execute {
        return execute_place(name).map(str::to_owned);
    }
    if let Some(source) = named_source(parent) {
        return several_place(source, parent, name);
    }
    if parent.starts_with(QUERIES) {
        let field = match name {
            "query" | "statement" | "select" | "sqltext" | "text" => "sql",
            "target" | "dest" | "destination" | "as" | "into" | "path" | "name" | "key" | "id"
            | "output" | "outputpath" | "datapath" | "datakey" | "field" => "to",
            "form" | "type" | "result" | "returns" | "kind" => "shape",
            "jsoncolumns" | "parse" => "json",
            _ => return None,
        };
        return Some(format!("{parent}/{field}"));
    }
    if let Some(entry) = parent.strip_prefix(&format!("{SOURCE}/outputMapping/dataPaths/")) {
        let field = match name {
            "source" | "path" | "src" | "field" | "sourcepath" | "frompath" | "output"
            | "select" | "get" | "jsonpath" | "expression" => "from",
            "target" | "dest" | "destination" | "as" | "into" | "datapath" | "topath" | "key"
            | "targetpath" | "destpath" | "destinationpath" | "targetfield" => "to",
            _ => end_of_mapping(name)?,
        };
        return Some(format!("{SOURCE}/outputMapping/dataPaths/{entry}/{field}"));
    }
    if parent.starts_with("/provenanceJson/sources/") {
        let field = match name {
            "name" | "title" => "label",
            "kind" => "type",
            "url" | "path" | "reference" | "href" | "file" | "tool" => "ref",
            "account" => "accountLabel",
            _ => return None,
        };
        return Some(format!("{parent}/{field}"));
    }
    if parent.starts_with("/provenanceJson") {
        let field = match name {
            "note" | "description" | "comment" | "summary" | "method" => "notes",
            "source" | "origins" | "references" => "sources",
            "createdat" | "date" | "time" | "fetchedat" | "timestamp" => "generatedAt",
            "author" | "by" | "createdby" => "generatedBy",
            _ => return None,
        };
        return Some(format!("/provenanceJson/{field}"));
    }
    if parent.starts_with(SOURCE) {
        return source_place(parent, name).map(|field| format!("{SOURCE}{field}"));
    }
    Some(match name {
        "title" | "name" | "heading" | "artifacttitle" | "displayname" => "/input/title".to_owned(),
        "description" | "summary" | "subtitle" | "about" => "/input/description".to_owned(),
        "slug" => "/input/slug".to_owned(),
        "status" => "/input/status".to_owned(),
        "pinned" | "pin" | "favorite" => "/input/pinned".to_owned(),
        "preview" => "/input/preview".to_owned(),
        "sessionid" | "session" if operation == Operation::Create => "/input/sessionId".to_owned(),
        "document" | "documents" | "doc" => DOCUMENT.to_owned(),
        "data" | "datajson" | "json" | "values" | "dataset" | "context" | "state" | "props"
        | "sampledata" | "initialdata" | "viewmodel" | "datasets" | "model" => {
            format!("{DOCUMENT}/dataJson")
        }
        "schema" | "dataschema" | "jsonschema" | "dataschemajson" => {
            format!("{DOCUMENT}/dataSchemaJson")
        }
        "source" | "sourcejson" | "datasource" | "sourceconfig" | "refreshsource" => {
            SOURCE.to_owned()
        }
        "html" | "template" | "templatehtml" | "markup" | "page" | "htmltemplate" | "view"
        | "body" | "content" | "templatehtmlv1" | "templatehtmlv2" | "htmltemplatev1"
        | "htmltemplatev2" => "/templateHtml".to_owned(),
        "provenance" | "provenancejson" => "/provenanceJson".to_owned(),
        "attemptid" | "idempotencykey" | "attempt" if operation == Operation::Create => {
            "/attemptId".to_owned()
        }
        "ifrevision" | "expectedrevision" | "baserevision" | "revision" | "version"
            if operation == Operation::Update =>
        {
            "/ifRevision".to_owned()
        }
        "artifactid" | "id" | "artifact" if operation == Operation::Update => {
            "/artifactId".to_owned()
        }
        "format" | "templateformat" => format!("{DOCUMENT}/format"),
        "locale" | "lang" | "language" => format!("{DOCUMENT}/locale"),
        "timezone" | "tz" => format!("{DOCUMENT}/timeZone"),
        "outputmapping" | "mapping" | "mappings" => format!("{SOURCE}/outputMapping"),
        "datapaths" => format!("{SOURCE}/outputMapping/dataPaths"),
        "transform" => format!("{SOURCE}/outputMapping/transform"),
        "refreshpermission" | "refresh" | "refreshable" | "permission" => {
            format!("{SOURCE}/refreshPermission")
        }
        "toolname" | "tool" => format!("{SOURCE}/toolName"),
        "connector" => format!("{SOURCE}/connector"),
        "notes" => "/provenanceJson/notes".to_owned(),
        "sources" if parent == "/input" => format!("{DOCUMENT}/sources"),
        "sources" => "/provenanceJson/sources".to_owned(),
        "query" | "queries" | "sql" | "sqlqueries" | "statements" => format!("{DOCUMENT}/queries"),
        "generatedby" => "/provenanceJson/generatedBy".to_owned(),
        "generatedat" => "/provenanceJson/generatedAt".to_owned(),
        // `newTitle`, `updatedTemplate`.
        _ => {
            let bare = name.strip_prefix("new").or_else(|| name.strip_prefix("updated"))?;
            let is_word = !bare.is_empty() && !bare.starts_with("new");
            return is_word.then(|| place(operation, parent, bare)).flatten();
        }
    })
}

const QUERIES: &str = "/input/document/queries/";
const SOURCES: &str = "/input/document/sources/";

/// Returns the one of several sources that a place lies in, such as `/input/document/sources/1`.
pub(super) fn named_source(place: &str) -> Option<&str> {
    let index = place.strip_prefix(SOURCES)?.split('/').next()?;
    place.get(..SOURCES.len() + index.len())
}

fn several_place(source: &str, parent: &str, name: &str) -> Option<String> {
    if parent.starts_with(&format!("{source}/outputMapping/dataPaths/")) {
        let field = match name {
            "source" | "path" | "src" | "field" | "output" | "select" | "get" | "jsonpath" => {
                "from"
            }
            "target" | "dest" | "destination" | "as" | "into" | "key" => "to",
            _ => end_of_mapping(name)?,
        };
        return Some(format!("{parent}/{field}"));
    }
    let field = match name {
        "name" | "table" | "tablename" | "alias" if parent == source => "/id",
        "rowspath" | "itemspath" | "items" => "/rows",
        "onerror" | "failure" | "iffails" | "optional" => "/onFailure",
        "refreshpermission" => return Some(format!("{DOCUMENT}/refreshPermission")),
        _ => match source_place(parent, name)? {
            "/refreshPermission" => return Some(format!("{DOCUMENT}/refreshPermission")),
            field => field,
        },
    };
    Some(format!("{source}{field}"))
}

/// Returns the end of a mapping that a name means by the word it begins with.
fn end_of_mapping(name: &str) -> Option<&'static str> {
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match name {
        _ if begins(&["source", "src", "origin", "input", "from", "json", "response", "read"]) => {
            Some("from")
        }
        _ if begins(&["target", "dest", "data", "output", "into", "to", "write", "result"]) => {
            Some("to")
        }
        _ => None,
    }
}

fn source_place(parent: &str, name: &str) -> Option<&'static str> {
    let in_connector = parent.ends_with("/connector");
    let in_mapping = parent.ends_with("/outputMapping");
    Some(match name {
        "mapping" | "mappings" | "map" | "paths" | "fields" | "rules" | "entries" if in_mapping => {
            "/outputMapping/dataPaths"
        }
        _ if in_mapping => return None,
        "id" | "name" | "connectorname" | "provider" if in_connector => "/connector/connectorId",
        "tool" | "toolid" | "action" | "method" if in_connector => "/connector/toolName",
        "account" | "accountid" => "/connector/accountLabel",
        "kind" | "sourcetype" => "/type",
        "connectorid" | "provider" => "/connector/connectorId",
        "tool" | "toolid" | "name" | "action" | "method" | "operation" => "/toolName",
        "path" | "file" | "filename" | "filepath" | "uri" => "/input/path",
        "args" | "arguments" | "params" | "parameters" | "config" | "query" | "toolinput" => {
            "/input"
        }
        "mapping" | "mappings" | "map" | "outputmap" | "datamapping" | "datamap"
        | "fieldmapping" | "fieldmap" | "outputmappings" | "resultmapping" => "/outputMapping",
        "datapaths" | "paths" | "fields" | "bindings" | "databindings" | "fieldmappings" => {
            "/outputMapping/dataPaths"
        }
        "transform" | "transformation" => "/outputMapping/transform",
        "permission" | "refresh" | "refreshable" | "refreshpolicy" | "canrefresh" | "approval"
        | "allowrefresh" | "isrefreshable" | "manualrefresh" | "allowmanualrefresh"
        | "refreshallowed" | "enablerefresh" => "/refreshPermission",
        _ => return None,
    })
}

fn execute_place(name: &str) -> Option<&'static str> {
    Some(match name {
        "connector" | "connectorname" | "provider" | "source" | "id" | "server" | "servername"
        | "service" | "integration" => "/connectorId",
        "tool" | "name" | "toolid" | "method" | "action" | "function" | "operation" | "command" => {
            "/toolName"
        }
        "args" | "arguments" | "params" | "parameters" | "payload" | "toolinput" | "inputs" => {
            "/input"
        }
        "reason" => "/purpose",
        _ => return None,
    })
}

/// Returns the word of a closed set that a value means.
pub(super) fn word(field: &str, place: &str, given: &str) -> Option<&'static str> {
    let given = fold(given);
    let given = given.as_str();
    let has = |words: &[&str]| words.iter().any(|word| given.contains(word));
    match field {
        "status" if has(&["archiv", "inactive", "hidden", "disabled", "off", "deleted"]) => {
            Some("archived")
        }
        "status" => Some("active"),
        "transform" if has(&["table", "row", "list"]) => Some("compact_table"),
        "transform" if has(&["metric", "summary", "count", "sum", "number"]) => {
            Some("metric_summary")
        }
        "transform" => Some("identity"),
        "refreshPermission"
            if has(&["none", "deni", "off", "false", "never", "no"])
                && !has(&["manual", "grant"]) =>
        {
            Some("none")
        }
        "refreshPermission" => Some("manual_refresh_granted_for_read_only"),
        "approvalPolicy" => Some("read_only_auto"),
        "format" if has(&["v2"]) => Some("html_template_v2"),
        "format" => Some("html_template_v1"),
        "generatedBy" => Some("agent"),
        "purpose" => Some("agent_preview"),
        "onFailure" if has(&["keep", "stale", "ignor", "skip", "true", "continue"]) => Some("keep"),
        "onFailure" => Some("fail"),
        "shape" if has(&["value", "scalar", "single", "number", "count"]) => Some("value"),
        "shape" if has(&["column", "list"]) => Some("column"),
        "shape" if has(&["object", "one", "first"]) => Some("row"),
        "shape" => Some("rows"),
        "type" if place.starts_with(SOURCE) || named_source(place).is_some() => Some(match given {
            _ if has(&["file", "json", "local", "csv", "path"]) => "local_file",
            _ if has(&["connector", "api", "github", "http", "url", "rest", "remote", "mcp"]) => {
                "connector_tool"
            }
            _ => "daemon_tool",
        }),
        "type" if place.starts_with("/provenanceJson") => Some(match given {
            _ if has(&["file", "local", "csv"]) => "local_file",
            _ if has(&["user", "manual", "chat", "person", "prompt", "input"]) => "user_input",
            _ if has(&["deriv", "comput", "calc", "agent", "generat"]) => "derived",
            _ => "connector",
        }),
        _ => None,
    }
}

/// Returns a name for a key that is never stored, which says what such a value is on a page.
pub(super) fn allowed_key(key: &str) -> &'static str {
    match fold(key).as_str() {
        "body" => "notes",
        "headers" => "headerFields",
        "raw" => "original",
        "rawresponse" => "response",
        "payload" => "content",
        "cookie" | "cookies" | "setcookie" => "cookieInfo",
        "token" | "accesstoken" | "refreshtoken" | "idtoken" | "sessiontoken" => "tokenInfo",
        "secret" | "clientsecret" => "secretInfo",
        "authorization" => "accessInfo",
        "password" | "passwd" => "passwordInfo",
        "apikey" | "privatekey" => "keyInfo",
        _ => "credentialInfo",
    }
}

/// Returns whether a text is the name of a tool of ours, as a call carries it beside its arguments.
pub(super) fn is_tool_name(text: &str) -> bool {
    let folded = fold(text);
    folded.contains("liveartifact") || folded.starts_with("odconnectors")
}

pub(super) fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}
