// @ts-check
// Generated from the types of od-core and od-wire by `cargo xtask codegen`. Never sent to a browser:
// the console's modules only name these types in comments.

/** @typedef {{kind: "person"} | {kind: "agent", runId: string, agent?: string | null} | {kind: "schedule"}} Actor */

/**
 * @typedef {object} AddService
 * @property {string} name The name that sources will use.
 * @property {"http" | "postgres" | null=} kind The kind of service; over HTTP if absent.
 * @property {string | null=} url The address below which they may read, of a service over HTTP.
 * @property {string | null=} header The header of its secret; it takes none if absent.
 * @property {string | null=} secret The secret of that header, or the connection string of a database; kept in the vault, given back to nobody.
 */

/**
 * @typedef {object} AddWebhook
 * @property {string} name Its name.
 * @property {string} url Where notifications are sent.
 * @property {boolean=} private Whether its host may be in a private network; not if absent.
 * @property {string} secret The secret that signs what is sent; kept in the vault, given back to nobody.
 */

/** @typedef {{kind: "session", session: AgentSession} | {kind: "words", number: number, speaker: "person" | "agent" | "thought", text: string} | {kind: "entry", entry: Entry} | {kind: "usage", usage: Usage}} AgentChange */

/**
 * @typedef {object} AgentEvent
 * @property {string} projectId Where.
 * @property {string} sessionId In which session.
 * @property {number} change The number of the change
 * @property {AgentChange} what What changed.
 */

/**
 * @typedef {object} AgentListing
 * @property {string} id The name that a session is opened with.
 * @property {string} name The name that people know.
 * @property {string | null=} program Where its program is, if it is installed.
 * @property {string | null=} version The installed version, if its package says it.
 * @property {string | null=} testedVersion The version that od was tried with; absent if it was not tried.
 * @property {string} install The line that installs it.
 * @property {string} login The line that signs a person in.
 */

/**
 * @typedef {object} AgentSession
 * @property {string} id The session's id.
 * @property {string} projectId The project it works in.
 * @property {string} agent The agent.
 * @property {string} title A title: the agent's, or the beginning of the first prompt.
 * @property {"starting" | "idle" | "working" | "stopping" | "stopped" | "interrupted" | "closed" | "failed"} status Its state.
 * @property {string | null=} agentSession The agent's own id of the conversation, by which it is resumed.
 * @property {boolean} resumable Whether the agent can go on with it in a new process.
 * @property {string | null=} runId The run whose token the agent has now.
 * @property {Array<MadeArtifact>} made The artifacts that were made in it, oldest first.
 * @property {Usage | null=} usage What it has used, as far as the agent says.
 * @property {number} changes The number of changes that listeners were told of.
 * @property {string} createdAt When it was opened.
 * @property {string} updatedAt When something was last asked or answered in it.
 */

/**
 * @typedef {object} AgentSessionsAnswer
 * @property {Array<AgentSession>} sessions The sessions, newest first.
 */

/**
 * @typedef {object} AgentTranscriptAnswer
 * @property {AgentSession} session The session as it is now.
 * @property {Array<Entry>} entries Its stream, oldest first.
 */

/**
 * @typedef {object} AgentsAnswer
 * @property {Array<AgentListing>} agents The agents that od knows, installed or not.
 */

/**
 * @typedef {object} Answer
 * @property {"person" | "policy" | "nobody"} by Who gave it.
 * @property {Choice | null=} choice What was chosen; nothing if nobody answered.
 */

/**
 * @typedef {object} Artifact
 * @property {number} schemaVersion The version of this shape.
 * @property {string} id The artifact.
 * @property {string} projectId Its project.
 * @property {string | null=} sessionId The chat it came from, if the agent said so.
 * @property {string | null=} createdByRunId The run that created it.
 * @property {string} title What a person calls it.
 * @property {string | null=} description What it shows, in a sentence or two.
 * @property {string} slug The title as part of names.
 * @property {"active" | "archived" | "error"} status Whether it is in use.
 * @property {boolean} pinned Whether the console keeps it at the top of its lists.
 * @property {Preview} preview How it is shown.
 * @property {"never" | "idle" | "running" | "succeeded" | "failed"} refreshStatus How its last refresh went, as of this commit.
 * @property {string} createdAt When it was created.
 * @property {string} updatedAt When it was last committed.
 * @property {string | null=} lastRefreshedAt When a refresh last succeeded, as of this commit.
 * @property {Document | null=} document Its document.
 * @property {number} revision How many commits it has had.
 * @property {Digests} digests The digests of its files at this revision.
 * @property {SourcePin | null=} sourcePin What the source was when it was set.
 * @property {Record<string, any>=} sourcePins What each of several sources was when it was set.
 * @property {Array<StaleSource>=} stale The sources that failed in the last refresh and kept their values.
 * @property {"agent" | "person" | null=} permissionSetBy Who last decided whether it may be refreshed.
 * @property {ScheduleSwitch | null=} scheduleGrant The permission to refresh on schedule, if somebody switched that on.
 * @property {Array<CheckResult>=} checkResults What its checks came to at this commit.
 * @property {Attempt | null=} createdByAttempt The attempt that created it, so that the same attempt finds it again.
 * @property {Restored | null=} restored The earlier state that it shows again, until it changes.
 */

/**
 * @typedef {object} ArtifactAnswer
 * @property {ArtifactView} artifact The artifact and its data.
 * @property {Provenance} provenance Where the data came from.
 * @property {Array<PathOrigin>} origins Where each value of the data came from, and who writes it; the whole data first.
 * @property {Health} health Whether its files are sound.
 * @property {Array<DriftView>=} drift Files edited by hand since the last commit.
 * @property {boolean} refreshable Whether a refresh may be started.
 * @property {boolean=} grantedElsewhere Whether it was allowed to be refreshed elsewhere, and waits for a person to allow it here.
 * @property {"static" | "never" | "fresh" | "stale" | "failed"} freshness How current its page is.
 * @property {ScheduleSummary | null=} schedule Its schedule, if it has one.
 * @property {string | null=} nextDue When the next scheduled run is due; in the past if it is overdue.
 * @property {string | null=} staleSince Since when the page is older than its `maxAge`.
 * @property {"refresh_failed" | "schedule_off" | "not_scheduled" | "overdue" | "seldom_scheduled" | null=} staleReason Why nothing newer is there.
 * @property {Array<Issue>=} warnings What will not work as written, if this was a create or an update.
 * @property {string} consoleUrl Where a person sees it.
 */

/**
 * @typedef {object} ArtifactEvent
 * @property {"created" | "updated" | "deleted"} action What happened.
 * @property {string} projectId Where.
 * @property {string} artifactId To which artifact.
 * @property {string} title Its title.
 * @property {"never" | "idle" | "running" | "succeeded" | "failed"} refreshStatus Its refresh status.
 * @property {string | null=} runId The run of the agent that did it; absent if a person or a schedule did.
 */

/**
 * @typedef {object} ArtifactLine
 * @property {string} id The artifact.
 * @property {string} projectId Its project.
 * @property {string} title What a person calls it.
 * @property {string | null=} description What it shows, in a sentence or two.
 * @property {string} slug The title as part of names.
 * @property {"active" | "archived" | "error"} status Whether it is in use.
 * @property {boolean} pinned Whether the console keeps it at the top of its lists.
 * @property {Preview} preview How it is shown.
 * @property {"never" | "idle" | "running" | "succeeded" | "failed"} refreshStatus How its last refresh went.
 * @property {string} createdAt When it was created.
 * @property {string} updatedAt When it was last committed.
 * @property {string | null=} lastRefreshedAt When a refresh last succeeded.
 * @property {number} revision How many commits it has had.
 * @property {boolean} hasDocument Whether it has a document.
 * @property {boolean} refreshable Whether a refresh may be started.
 * @property {Health} health Whether its files are sound.
 * @property {string | null=} createdByRunId Which run made it, if an agent did.
 * @property {string | null=} sourceLabel Where its data comes from, in a few words: a file or a tool.
 * @property {Array<StaleSource>=} stale The sources that failed in the last refresh and kept their values.
 * @property {string | null=} accountLabel The account that its source reads as.
 * @property {string | null=} edited The digest of the edits by hand since the last commit, if there are any.
 * @property {Restored | null=} restored The earlier state that it shows again, until it changes.
 * @property {ScheduleSummary | null=} schedule Its schedule, if it has one.
 * @property {boolean=} grantedElsewhere Whether it was allowed to be refreshed in a copy of this data directory or on another machine, and waits for a person to allow it here.
 * @property {CheckSummary | null=} checks Its checks, counted; absent if it has none.
 * @property {"static" | "never" | "fresh" | "stale" | "failed"} freshness How current its page is.
 * @property {string | null=} nextDue When the next scheduled run is due; in the past if it is overdue.
 * @property {string | null=} staleSince Since when the page is older than its `maxAge`.
 * @property {"refresh_failed" | "schedule_off" | "not_scheduled" | "overdue" | "seldom_scheduled" | null=} staleReason Why nothing newer is there.
 */

/**
 * @typedef {object} ArtifactView
 * @property {number} schemaVersion The version of this shape.
 * @property {string} id The artifact.
 * @property {string} projectId Its project.
 * @property {string | null=} sessionId The chat it came from, if the agent said so.
 * @property {string | null=} createdByRunId The run that created it.
 * @property {string} title What a person calls it.
 * @property {string | null=} description What it shows, in a sentence or two.
 * @property {string} slug The title as part of names.
 * @property {"active" | "archived" | "error"} status Whether it is in use.
 * @property {boolean} pinned Whether the console keeps it at the top of its lists.
 * @property {{type: "html", entry: "index.html"}} preview How it is shown.
 * @property {"never" | "idle" | "running" | "succeeded" | "failed"} refreshStatus How its last refresh went, as of this commit.
 * @property {string} createdAt When it was created.
 * @property {string} updatedAt When it was last committed.
 * @property {string | null=} lastRefreshedAt When a refresh last succeeded, as of this commit.
 * @property {{format: "html_template_v1" | "html_template_v2", templatePath: "template.html", generatedPreviewPath: "index.html", dataPath: "data.json", locale?: "en" | "en-GB" | "de" | "fr" | "es" | "pt-BR" | "it" | "nl" | "ja" | "zh-CN" | "zh-TW" | "ko" | null, timeZone?: string | null, dataSchemaJson?: Record<string, any> | null, sourceJson?: {type: "local_file" | "daemon_tool" | "connector_tool", toolName?: string | null, input: Record<string, any>, connector?: {connectorId: string, accountLabel?: string | null, toolName: string, approvalPolicy?: "read_only_auto" | "manual_refresh_granted_for_read_only" | null} | null, outputMapping?: {dataPaths?: Array<{from: string, to: string}> | null, transform?: "identity" | "compact_table" | "metric_summary" | null} | null, refreshPermission: "none" | "manual_refresh_granted_for_read_only"} | null, sources?: Array<{id: string, type: "local_file" | "daemon_tool" | "connector_tool", toolName?: string | null, input: Record<string, any>, connector?: {connectorId: string, accountLabel?: string | null, toolName: string, approvalPolicy?: "read_only_auto" | "manual_refresh_granted_for_read_only" | null} | null, outputMapping?: {dataPaths?: Array<{from: string, to: string}> | null, transform?: "identity" | "compact_table" | "metric_summary" | null} | null, rows?: string | null, onFailure?: "fail" | "keep"}>, queries?: Array<{to: string, sql: string, shape: "rows" | "row" | "value" | "column", json?: Array<string>}>, refreshPermission?: "none" | "manual_refresh_granted_for_read_only" | null, refresh?: {every?: string | null, cron?: string | null, timeZone?: string | null, onChange?: boolean, maxAge?: string | null, missed: "once" | "skip"} | null, checks?: Array<{id: string, path: string, op: "eq" | "ne" | "lt" | "lte" | "gt" | "gte", value: number | string | boolean, severity: "info" | "warning" | "critical", message?: string | null}>, dataJson?: Record<string, any>} | null=} document Its document.
 * @property {number} revision How many commits it has had.
 * @property {{template: {content: string, file: string}, data: {content: string, file: string}, provenance: {content: string, file: string}, index: {content: string, file: string}}} digests The digests of its files at this revision.
 * @property {{connectorId: string, toolName: string, contractDigest: string, contractParts?: {inputSchema: string, safety: string} | null, accountLabel?: string | null} | null=} sourcePin What the source was when it was set.
 * @property {Record<string, any>=} sourcePins What each of several sources was when it was set.
 * @property {Array<{source: string, since: string, code: string}>=} stale The sources that failed in the last refresh and kept their values.
 * @property {"agent" | "person" | null=} permissionSetBy Who last decided whether it may be refreshed.
 * @property {{permission: "none" | "scheduled_read_only", since: string, by: "agent" | "person", covers: string} | null=} scheduleGrant The permission to refresh on schedule, if somebody switched that on.
 * @property {Array<{id: string, state: "passing" | "unknown" | "failing", severity: "info" | "warning" | "critical", found?: string | null, message: string, since: string}>=} checkResults What its checks came to at this commit.
 * @property {{id: string, digest: string} | null=} createdByAttempt The attempt that created it, so that the same attempt finds it again.
 * @property {{revision?: number | null, at: string, stateOf: string} | null=} restored The earlier state that it shows again, until it changes.
 */

/**
 * @typedef {object} ArtifactsAnswer
 * @property {Array<ArtifactLine>} artifacts The summaries, the last updated first; of one time, by id.
 * @property {number} total How many there are, on all pages.
 * @property {string | null=} nextCursor Gives the next page; absent on the last one.
 */

/**
 * @typedef {object} Attempt
 * @property {string} id The id the client gave it.
 * @property {string} digest The digest of the request's canonical form.
 */

/**
 * @typedef {object} ChangeReport
 * @property {number} count How many places changed.
 * @property {Array<string>} paths The first 20 of them, as JSON pointers in document order.
 */

/**
 * @typedef {object} Check
 * @property {string} id Its name, unique in the artifact.
 * @property {string} path The place in the data.
 * @property {"eq" | "ne" | "lt" | "lte" | "gt" | "gte"} op The comparison.
 * @property {number | string | boolean} value What is compared with.
 * @property {"info" | "warning" | "critical"} severity How much it weighs if it does not hold.
 * @property {string | null=} message What people are told if it does not hold.
 */

/**
 * @typedef {object} CheckChange
 * @property {string} id The check.
 * @property {"passing" | "unknown" | "failing" | null=} from What it came to before; absent if it is new.
 * @property {"passing" | "unknown" | "failing"} to What it comes to now.
 * @property {string | null=} found What was compared.
 */

/**
 * @typedef {object} CheckEvent
 * @property {string} projectId Where.
 * @property {string} artifactId Of which artifact.
 * @property {string} title Its title.
 * @property {"passing" | "unknown" | "failing" | null=} from The state before; absent if the check is new.
 * @property {CheckResult} check What it comes to now.
 */

/**
 * @typedef {object} CheckResult
 * @property {string} id The check.
 * @property {"passing" | "unknown" | "failing"} state What it came to.
 * @property {"info" | "warning" | "critical"} severity How much it weighs if it does not hold.
 * @property {string | null=} found What was compared, in a few words: a value, a count, an age.
 * @property {string} message What people are told.
 * @property {string} since Since when it is in this state.
 */

/**
 * @typedef {object} CheckSummary
 * @property {number} passing Those that hold.
 * @property {number} failing Those that do not.
 * @property {number} unknown Those that could not be worked out.
 * @property {CheckResult | null=} worst The worst of those that do not hold, as people are told of it.
 */

/**
 * @typedef {object} Choice
 * @property {string} id The agent's id of it.
 * @property {string} name The agent's words for it.
 * @property {"allow_once" | "allow_always" | "reject_once" | "reject_always"} kind What it means.
 */

/**
 * @typedef {object} CommitRecord
 * @property {number} revision The revision it made.
 * @property {"create" | "update" | "refresh" | "restore" | "edit" | "permission" | "schedule" | "repair"} kind What made it.
 * @property {string} at When it was decided.
 * @property {Actor} actor Who made it.
 * @property {"console" | "command_line" | "http" | "mcp" | "tool_shell" | "clock" | "files"} door Through which door.
 * @property {Array<"template" | "data" | "source" | "permission" | "schedule" | "provenance" | "details">=} changed The parts that are other than in the revision before.
 * @property {ChangeReport | null=} changes The places of the data that are other than in the revision before.
 * @property {number | null=} restoredFrom The revision whose state was brought back.
 * @property {string | null=} refreshId The refresh that brought the data.
 * @property {Array<CheckChange>=} checks The checks whose state is another than in the revision before.
 * @property {RevisionDigests} digests The contents of the revision.
 * @property {string | null=} prev The digest of the record before this one; absent in the first.
 */

/**
 * @typedef {object} CompactError
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "DAEMON_UNAVAILABLE" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED" | "CONNECTOR_TIMED_OUT" | "QUERY_FAILED" | "SOURCE_UNREADABLE" | "BUNDLE_INVALID" | "PROGRAM_UNAVAILABLE" | "STORE_UNAVAILABLE"} code Which failure.
 * @property {string} message What went wrong, in one sentence.
 * @property {string | null=} suggestion The next step that helps, as the refusal said it.
 */

/**
 * @typedef {object} CompareAnswer
 * @property {ComparisonView} comparison The two revisions and their difference.
 */

/**
 * @typedef {object} ComparisonView
 * @property {CommitRecord} from The commit before.
 * @property {CommitRecord} to The commit afterwards.
 * @property {boolean} equal Whether there is none.
 * @property {ValueDiff} data Of the data.
 * @property {LineDiff} template Of the template.
 * @property {ValueDiff} source Of the source, its schema, its permission and what it is pinned to.
 */

/**
 * @typedef {object} Connector
 * @property {string} id The connector.
 * @property {string} name What a person calls it.
 * @property {string} provider Who provides it.
 * @property {"code" | "docs" | "files" | "analytics" | "custom"} category What it is about.
 * @property {string | null=} description What it is for, in one sentence.
 * @property {"available" | "connected" | "error" | "disabled"} status Whether it can be used.
 * @property {string | null=} accountLabel The account it is connected to.
 * @property {string | null=} lastError Why it fails, without credentials.
 * @property {Array<Tool>} tools Its tools.
 * @property {Array<string>} allowedToolNames The tools that may run.
 * @property {Array<string>} featuredToolNames The tools shown first.
 * @property {"read_only_auto" | "confirm_write" | "disabled"} minimumApproval The least approval any of its tools needs.
 * @property {ConnectorAuth} auth How it is connected.
 * @property {Array<RegisteredService>=} services The registered services that its tools may read.
 */

/**
 * @typedef {object} ConnectorAuth
 * @property {string} provider What kind of secret it takes, such as `none` or `token`.
 * @property {boolean} configured Whether it has what it needs.
 */

/**
 * @typedef {object} ConnectorRef
 * @property {string} connectorId The connector.
 * @property {string | null=} accountLabel The account the connector must be connected to.
 * @property {string} toolName The tool, qualified.
 * @property {"read_only_auto" | "manual_refresh_granted_for_read_only" | null=} approvalPolicy How the call was approved.
 */

/** @typedef {(Text & {kind: "text"}) | (ToolCall & {kind: "tool"}) | (Plan & {kind: "plan"}) | (Permission & {kind: "permission"}) | (Problem & {kind: "problem"}) | (TurnEnd & {kind: "turn_end"})} Content */

/**
 * @typedef {object} ContractParts
 * @property {string} inputSchema Of its input schema.
 * @property {string} safety Of its safety: what it does, and what it needs before it runs.
 */

/**
 * @typedef {object} DataPath
 * @property {string} from Where the value stands in the output.
 * @property {string} to Where it replaces what stands in the data.
 */

/**
 * @typedef {object} DatabaseColumn
 * @property {string} name The name.
 * @property {string} type The type, in the database's own words.
 */

/**
 * @typedef {object} DatabaseTable
 * @property {string} schema The schema that it is in; empty where a database has none.
 * @property {string} name The name.
 * @property {string} kind Whether it is a table, a view or something else of that sort.
 * @property {Array<DatabaseColumn>} columns The columns, in order.
 */

/**
 * @typedef {object} Deliveries
 * @property {string | null=} deliveredAt When one last arrived.
 * @property {string | null=} lostAt When one was last given up.
 * @property {string | null=} lostBecause Why.
 * @property {number} lost How many were given up since one last arrived.
 */

/**
 * @typedef {object} Digests
 * @property {FileDigests} template Of `template.html`.
 * @property {FileDigests} data Of `data.json`.
 * @property {FileDigests} provenance Of `provenance.json`.
 * @property {FileDigests} index Of `index.html`.
 */

/**
 * @typedef {object} Document
 * @property {"html_template_v1" | "html_template_v2"} format The format of the template.
 * @property {"template.html"} templatePath The template's file.
 * @property {"index.html"} generatedPreviewPath The rendered page's file.
 * @property {"data.json"} dataPath The data's file.
 * @property {"en" | "en-GB" | "de" | "fr" | "es" | "pt-BR" | "it" | "nl" | "ja" | "zh-CN" | "zh-TW" | "ko" | null=} locale The language that formats write; English if there is none.
 * @property {string | null=} timeZone The zone that times are shown in; UTC if there is none.
 * @property {Record<string, any> | null=} dataSchemaJson What the data must look like, in the documented subset of JSON Schema.
 * @property {Source | null=} sourceJson Where refreshed data comes from.
 * @property {Array<NamedSource>=} sources Several sources, in the place of `sourceJson`.
 * @property {Array<Query>=} queries What is worked out of the sources' rows.
 * @property {"none" | "manual_refresh_granted_for_read_only" | null=} refreshPermission Whether a refresh may run `sources`.
 * @property {RefreshSchedule | null=} refresh When it is refreshed by itself: a proposal until somebody switches it on.
 * @property {Array<Check>=} checks Conditions on the data.
 */

/**
 * @typedef {object} DriftView
 * @property {string} file Its name.
 * @property {string} committed The digest of the last commit.
 * @property {string} found The digest of what is there now.
 */

/**
 * @typedef {object} Entry
 * @property {number} number Its place in the stream; the first is 1.
 * @property {Content} content What it holds.
 */

/**
 * @typedef {object} ErrorAnswer
 * @property {ErrorView} error The failure.
 */

/**
 * @typedef {object} ErrorView
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "DAEMON_UNAVAILABLE" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED" | "CONNECTOR_TIMED_OUT" | "QUERY_FAILED" | "SOURCE_UNREADABLE" | "BUNDLE_INVALID" | "PROGRAM_UNAVAILABLE" | "STORE_UNAVAILABLE"} code Which failure.
 * @property {string} message What went wrong, in one sentence.
 * @property {Retry} retry What the client may do.
 * @property {string} suggestion The next step that helps, derived from the rule that refused.
 * @property {Record<string, any> | null=} details Facts for programs.
 * @property {string=} requestId The id to quote, and to find in the log; absent from a failure that never reached a daemon.
 */

/**
 * @typedef {object} ExportAnswer
 * @property {ExportView} export The file.
 */

/**
 * @typedef {object} ExportView
 * @property {string} name A name for the file.
 * @property {"html" | "csv" | "json" | "md"} format Its form.
 * @property {string} mediaType Its media type.
 * @property {string} contains What it contains, in a sentence.
 * @property {string} text Its contents.
 */

/**
 * @typedef {object} Failure
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "DAEMON_UNAVAILABLE" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED" | "CONNECTOR_TIMED_OUT" | "QUERY_FAILED" | "SOURCE_UNREADABLE" | "BUNDLE_INVALID" | "PROGRAM_UNAVAILABLE" | "STORE_UNAVAILABLE"} code Which failure.
 * @property {string} message What went wrong, in one sentence.
 * @property {Retry} retry What the client may do.
 * @property {string} suggestion The next step that helps, derived from the rule that refused.
 * @property {Record<string, any> | null=} details Facts for programs.
 */

/**
 * @typedef {object} FileDigests
 * @property {string} content Of the content: the canonical form of JSON, the bytes of HTML.
 * @property {string} file Of the bytes on disk.
 */

/**
 * @typedef {object} Health
 * @property {"healthy" | "corrupt_tail" | "corrupt_head" | "unknown_version"} state How sound it is.
 * @property {"pointer_unreadable" | "pointer_invalid" | "schema_version_unknown" | "file_missing" | "file_unreadable" | "pending_unreadable" | "template_invalid" | "data_invalid" | "provenance_invalid" | "audit_chain_broken" | "audit_unreadable" | "audit_contradicts_pointer" | "snapshot_unreadable" | "obstructed" | "recovery_failed" | null=} reason Why it is not healthy.
 */

/**
 * @typedef {object} Hunk
 * @property {number} fromLine The number of the first line before that it is about, from 1.
 * @property {number} toLine The number of the first line afterwards that it is about, from 1.
 * @property {Array<string>} removed The lines taken out.
 * @property {Array<string>} added The lines put in.
 */

/**
 * @typedef {object} Issue
 * @property {string} path Where: a JSON pointer into the request (`/input/title`), or `template.html:LINE:COLUMN`.
 * @property {string} code Which rule: a short stable name in snake case, or an error code of the contract.
 * @property {string} message What is wrong, in one sentence.
 * @property {string | null=} got What was found.
 * @property {string | null=} want What is allowed.
 * @property {string | null=} fix A concrete change that repairs it.
 */

/**
 * @typedef {object} LineDiff
 * @property {number} removed How many lines were taken out.
 * @property {number} added How many lines were put in.
 * @property {Array<Hunk>} hunks The first of them, in order.
 */

/**
 * @typedef {object} MadeArtifact
 * @property {string} artifactId The artifact.
 * @property {string} title Its title then.
 */

/**
 * @typedef {object} NamedSource
 * @property {string} id Its name, and that of its table.
 * @property {"local_file" | "daemon_tool" | "connector_tool"} type What kind of source it is.
 * @property {string | null=} toolName The tool that runs, qualified (`github.list_releases`); absent for a local file.
 * @property {Record<string, any>} input The input of the tool, or the file to read.
 * @property {ConnectorRef | null=} connector The connector the tool belongs to.
 * @property {OutputMapping | null=} outputMapping How the output becomes data.
 * @property {string | null=} rows Where the rows stand in its output; found as `compact_table` finds them if absent.
 * @property {"fail" | "keep"=} onFailure What its failure does to a refresh.
 */

/**
 * @typedef {object} OutputMapping
 * @property {Array<DataPath> | null=} dataPaths Which parts of the output go where; without it the output's top-level keys replace those of the data.
 * @property {"identity" | "compact_table" | "metric_summary" | null=} transform What is done to each value on the way; `identity` if absent.
 */

/**
 * @typedef {object} PathOrigin
 * @property {string} path The place, as a JSON pointer into the data; the empty one is all that has no line of its own.
 * @property {"author" | "source" | "query"} writer Who writes it.
 * @property {"agent" | "person" | null=} by The author who wrote what stands there, if one did.
 * @property {string | null=} label What a reader should call the source that gave it, if one did.
 * @property {string | null=} call The call that was made for it, as far as it is kept.
 * @property {string | null=} from Where it stood in the source's output; `$` is all of it.
 * @property {number | null=} revision The revision that has it first; absent if it is older than od remembers.
 * @property {string | null=} at When it was written or, by a source, last read.
 * @property {string | null=} query The SQL of the query that worked it out, if one did, as far as it is kept.
 * @property {Array<string>=} sources The sources that it comes from, by their ids, where the artifact names its sources.
 * @property {string | null=} staleSince Since when a source of it has failed: it is from before.
 * @property {number=} redacted How many texts in it are redacted.
 * @property {string} says All that in one sentence.
 */

/**
 * @typedef {object} PathWrite
 * @property {string} path The place, as a JSON pointer into the data; the empty one is all of it.
 * @property {"agent" | "person" | {source: SourceRead} | {query: QueryRead}} by Who wrote it.
 * @property {number} revision The revision that has it first.
 * @property {string} at When.
 */

/**
 * @typedef {object} Permission
 * @property {ToolCall} call The call it is about.
 * @property {boolean} inputCut Whether the input was longer than what is shown of it.
 * @property {Array<Choice>} choices The answers that the agent offers.
 * @property {Answer | null=} answer The answer, once there is one
 */

/**
 * @typedef {object} Plan
 * @property {Array<PlanStep>} steps Its steps, in order.
 */

/**
 * @typedef {object} PlanStep
 * @property {string} text The agent's words for it.
 * @property {"pending" | "in_progress" | "completed"} status How far it is.
 */

/**
 * @typedef {object} Preview
 * @property {"html"} type The type of the preview.
 * @property {"index.html"} entry The file that is shown.
 */

/**
 * @typedef {object} Problem
 * @property {string} message What happened.
 * @property {string | null=} suggestion What the person can do about it.
 */

/**
 * @typedef {object} ProjectFile
 * @property {string} path Where it is, seen from the project's root.
 * @property {number} size Its bytes.
 * @property {string} modifiedAt When it was last written.
 */

/**
 * @typedef {object} ProjectFilesAnswer
 * @property {Array<ProjectFile>} files The files by path.
 * @property {boolean} truncated Whether there are more.
 * @property {any=} content What a source would read of the file asked for with `path`: the document; of rows their columns with types, the first ones and how many there are; nothing of a database.
 * @property {Array<DatabaseTable>=} tables The tables of a database asked for with `path`, or the rows of a file as one.
 */

/**
 * @typedef {object} ProjectLine
 * @property {string} id The project.
 * @property {string} name What people call it.
 * @property {string | null=} root The directory whose files its sources may read.
 * @property {string} createdAt When it was made.
 * @property {{total: number, archived: number, failed: number, damaged: number} | null=} artifacts Its artifacts, counted; absent if they cannot be read.
 */

/**
 * @typedef {object} ProjectView
 * @property {string} id The project.
 * @property {string} name What people call it.
 * @property {string | null=} root The directory whose files its sources may read.
 * @property {string} createdAt When it was made.
 */

/**
 * @typedef {object} Provenance
 * @property {string} generatedAt When the data was made.
 * @property {"agent" | "refresh_runner"} generatedBy Who made it.
 * @property {string | null=} notes What the agent wants a reader to know.
 * @property {Array<ProvenanceSource>} sources The origins.
 * @property {Array<PathWrite>=} paths Who wrote each place of the data last; none of an artifact of before that was remembered.
 * @property {Array<StaleSource>=} stale The sources that failed in the last refresh: what they wrote is from before it.
 */

/**
 * @typedef {object} ProvenanceSource
 * @property {string} label What a reader should call it.
 * @property {"connector" | "local_file" | "user_input" | "derived"} type What kind of origin it is.
 * @property {string | null=} ref Which one: a tool, a file, an address without credentials.
 * @property {string | null=} accountLabel The account it was read with.
 */

/**
 * @typedef {object} QueriedSource
 * @property {string} id The source's id.
 * @property {string} label What a reader should call the source.
 */

/**
 * @typedef {object} Query
 * @property {string} to The place in the data.
 * @property {string} sql One statement that only reads.
 * @property {"rows" | "row" | "value" | "column"} shape The form of the result.
 * @property {Array<string>=} json Columns whose text is JSON and enters the data as the value it stands for.
 */

/**
 * @typedef {object} QueryRead
 * @property {string} sql The SQL, as far as it fits.
 * @property {Array<QueriedSource>} sources The sources whose rows it read.
 */

/**
 * @typedef {object} Ready
 * @property {boolean} resumed Whether the stream goes on from the id that was sent; false on a first connection, and when something may have been missed.
 */

/**
 * @typedef {object} RecordConnector
 * @property {string} connectorId The connector.
 * @property {string} toolName The tool, qualified.
 * @property {string | null=} accountLabel The account it ran with.
 * @property {ToolSafety | null=} safety How safe the tool was found to be when it ran.
 * @property {string | null=} outputSummary What the output was, in words.
 * @property {string | null=} providerExecutionId What the provider calls the execution.
 * @property {Redactions=} redactions What was left out of the output or replaced in it.
 * @property {Record<string, any>=} metadata What else the connector said about the call.
 */

/**
 * @typedef {object} RedactedPlace
 * @property {string} path The place as a JSON pointer in which `*` stands for every item of an array: `/items/* /body`.
 * @property {number} count How many values that were.
 * @property {"left_out" | "replaced"} action What happened to them.
 * @property {"never_stored" | "credential_name" | "credential_value" | "held_secret"} reason Why.
 */

/**
 * @typedef {object} Redactions
 * @property {number} count How many values.
 * @property {Array<RedactedPlace>} places Where, in document order; answers and records name the first 20.
 */

/**
 * @typedef {object} RefreshEvent
 * @property {"started" | "progress" | "succeeded" | "failed"} phase How far it is.
 * @property {string} projectId Where.
 * @property {string} artifactId Of which artifact.
 * @property {string} refreshId Which refresh.
 * @property {"refresh:start" | "document" | "refresh:commit" | "refresh:failed" | null=} step The step that just ended, while it runs.
 * @property {boolean | null=} changed Whether the data changed, once it has succeeded.
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "DAEMON_UNAVAILABLE" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED" | "CONNECTOR_TIMED_OUT" | "QUERY_FAILED" | "SOURCE_UNREADABLE" | "BUNDLE_INVALID" | "PROGRAM_UNAVAILABLE" | "STORE_UNAVAILABLE" | null=} errorCode The code of a failed one.
 * @property {string | null=} errorMessage What went wrong, without any payload.
 */

/**
 * @typedef {object} RefreshRecord
 * @property {string} refreshId Which refresh.
 * @property {"refresh:start" | "document" | "refresh:commit" | "refresh:failed"} step Which step of it.
 * @property {"running" | "succeeded" | "succeeded_partially" | "failed" | "cancelled" | "timed_out" | "abandoned"} status How the step went.
 * @property {string} at When the record was made.
 * @property {"manual" | "schedule" | "change" | "open" | "command" | null=} trigger What started the refresh; in its first record.
 * @property {Actor | null=} actor Who asked for it; in its first record.
 * @property {string | null=} slot The slot of the schedule that it runs for; in its first record.
 * @property {number | null=} missed The slots before that one which nobody ran; in its first record.
 * @property {number | null=} durationMs How long the step took.
 * @property {string | null=} source The source that the step is of, where the artifact names its sources.
 * @property {RecordConnector | null=} connector What ran.
 * @property {number | null=} rows How many rows the source gave, where queries read them.
 * @property {Array<StaleSource>=} stale The sources that failed and kept their values.
 * @property {CompactError | null=} error Why it failed.
 * @property {ChangeReport | null=} changes What it changed.
 * @property {number | null=} revision The revision it committed.
 * @property {string | null=} prev The digest of the record before this one; absent in the first.
 */

/**
 * @typedef {object} RefreshSchedule
 * @property {string | null=} every The time between two refreshes.
 * @property {string | null=} cron The times of the clock at which it is refreshed.
 * @property {string | null=} timeZone The zone that `cron` is read in; UTC if there is none.
 * @property {boolean=} onChange Whether a change of a file that a source reads is followed by a refresh.
 * @property {string | null=} maxAge The age at which the page counts as stale.
 * @property {"once" | "skip"} missed What becomes of slots that nobody could run.
 */

/**
 * @typedef {object} RefreshView
 * @property {string} id Which refresh.
 * @property {string} status `succeeded`, or `succeeded_partially` if a source failed and kept its values; a failed one is an error.
 * @property {number} refreshedSourceCount How many sources were read.
 * @property {Array<StaleSource>=} stale The sources that failed and kept their values.
 * @property {boolean} changed Whether the data is different now.
 * @property {ChangeReport} changes Where it is different.
 * @property {Redactions=} redactions What was left out of the source's output or replaced in it.
 */

/**
 * @typedef {object} RefreshedAnswer
 * @property {ArtifactView} artifact The artifact and its data.
 * @property {RefreshView} refresh The refresh.
 * @property {string} consoleUrl Where a person sees it.
 */

/**
 * @typedef {object} RegisteredService
 * @property {string} name The name.
 * @property {string} url Where it is; its scheme says of what kind it is.
 * @property {string | null=} header The header that carries its secret; it takes none if absent.
 * @property {string} registeredAt When it was registered, or its registration changed.
 */

/**
 * @typedef {object} RemovedProjectAnswer
 * @property {boolean} removed Always true.
 * @property {ProjectView} project The project, as it was.
 * @property {Array<string>} trashed Its artifacts, which are in the trash now; bringing one back brings the project back.
 */

/**
 * @typedef {object} Restored
 * @property {number | null=} revision The revision whose state it is, if that is known.
 * @property {string} at When it was restored.
 * @property {string} stateOf When that state was made.
 */

/** @typedef {Record<string, any>} Resync */

/** @typedef {{kind: "not_retryable"} | {kind: "retryable_immediate"} | {kind: "retryable_after_ms", afterMs: number}} Retry */

/**
 * @typedef {object} RevisionAnswer
 * @property {RevisionView} revision The revision as it was committed.
 */

/**
 * @typedef {object} RevisionDigests
 * @property {string} template Of the bytes of `template.html`.
 * @property {string} data Of the bytes of `data.json`.
 * @property {string} provenance Of the bytes of `provenance.json`.
 * @property {string} source Of the bytes of the source with its schema and its pin.
 * @property {string} dataContent Of the canonical form of the data.
 */

/**
 * @typedef {object} RevisionLine
 * @property {number} revision The revision it made.
 * @property {"create" | "update" | "refresh" | "restore" | "edit" | "permission" | "schedule" | "repair"} kind What made it.
 * @property {string} at When it was decided.
 * @property {Actor} actor Who made it.
 * @property {"console" | "command_line" | "http" | "mcp" | "tool_shell" | "clock" | "files"} door Through which door.
 * @property {Array<"template" | "data" | "source" | "permission" | "schedule" | "provenance" | "details">=} changed The parts that are other than in the revision before.
 * @property {ChangeReport | null=} changes The places of the data that are other than in the revision before.
 * @property {number | null=} restoredFrom The revision whose state was brought back.
 * @property {string | null=} refreshId The refresh that brought the data.
 * @property {Array<CheckChange>=} checks The checks whose state is another than in the revision before.
 * @property {RevisionDigests} digests The contents of the revision.
 * @property {string | null=} prev The digest of the record before this one; absent in the first.
 * @property {boolean} kept Whether it can be shown, compared and restored: its contents are kept.
 */

/**
 * @typedef {object} RevisionView
 * @property {number} revision The revision it made.
 * @property {"create" | "update" | "refresh" | "restore" | "edit" | "permission" | "schedule" | "repair"} kind What made it.
 * @property {string} at When it was decided.
 * @property {Actor} actor Who made it.
 * @property {"console" | "command_line" | "http" | "mcp" | "tool_shell" | "clock" | "files"} door Through which door.
 * @property {Array<"template" | "data" | "source" | "permission" | "schedule" | "provenance" | "details">=} changed The parts that are other than in the revision before.
 * @property {ChangeReport | null=} changes The places of the data that are other than in the revision before.
 * @property {number | null=} restoredFrom The revision whose state was brought back.
 * @property {string | null=} refreshId The refresh that brought the data.
 * @property {Array<CheckChange>=} checks The checks whose state is another than in the revision before.
 * @property {RevisionDigests} digests The contents of the revision.
 * @property {string | null=} prev The digest of the record before this one; absent in the first.
 * @property {string} templateHtml Its template.
 * @property {Record<string, any>} dataJson Its data.
 * @property {Provenance} provenance Where the data came from.
 * @property {any} source Its source, schema and pin, as `artifact.json` had them.
 */

/**
 * @typedef {object} RevisionsAnswer
 * @property {Array<RevisionLine>} revisions The commits, newest first.
 * @property {string | null=} nextCursor Gives the next page; absent on the last one.
 */

/**
 * @typedef {object} RollbackView
 * @property {string | null=} refreshId The refresh whose state is the current one now, if that was asked for.
 * @property {number | null=} revision The revision whose state is the current one now, if that was asked for.
 * @property {boolean} changed Whether that made a revision; false if the artifact was in that state already.
 * @property {ChangeReport} changes Where the data is different from before.
 */

/**
 * @typedef {object} RolledBackAnswer
 * @property {ArtifactView} artifact The artifact and its data.
 * @property {RollbackView} rollback What was brought back.
 * @property {Array<Issue>=} warnings What will not work as written.
 * @property {string} consoleUrl Where a person sees it.
 */

/**
 * @typedef {object} RunsSoFar
 * @property {string | null=} newest The newest refresh.
 * @property {StartedRun | null=} lastStart The last refresh that began.
 * @property {number} failures The failures since the last refresh that succeeded.
 */

/**
 * @typedef {object} ScheduleAnswer
 * @property {ArtifactLine} artifact The artifact.
 * @property {Array<string>} nextRuns Its next runs, if none of them fails; none if it is switched off.
 * @property {string} consoleUrl Where a person sees it.
 */

/**
 * @typedef {object} ScheduleSummary
 * @property {RefreshSchedule} refresh What it says.
 * @property {"proposed" | "off" | "active" | "changed" | "elsewhere" | "blocked"} state Whether it runs.
 * @property {string | null=} since When it was switched on.
 * @property {RunsSoFar} runs The refreshes so far.
 * @property {string | null=} connector The connector whose calls its runs make; absent where they only read project files.
 * @property {Array<string>=} files The files of the project that its sources read, if their changes start a run.
 */

/**
 * @typedef {object} ScheduleSwitch
 * @property {"none" | "scheduled_read_only"} permission The permission.
 * @property {string} since When it was switched on: slots before it do not count.
 * @property {"agent" | "person"} by Who did.
 * @property {string} covers The digest of the schedule and the sources it is for.
 */

/**
 * @typedef {object} ServiceAnswer
 * @property {RegisteredService} service The service, without its secret.
 * @property {string | null=} answered What it answered, in a few words, when it was asked.
 * @property {Array<DatabaseTable>=} tables The tables of a database that its role may read, when it was asked.
 */

/**
 * @typedef {object} ServiceRequest
 * @property {string} name The name that the agent used.
 * @property {"http" | "postgres"} kind The kind of service that its tool reads.
 * @property {string} projectId The project that the agent works in.
 * @property {string} askedAt When it was last asked for.
 */

/**
 * @typedef {object} ServicesAnswer
 * @property {Array<RegisteredService>} services The services, by name.
 * @property {Array<ServiceRequest>=} requests The services that agents asked for and nobody has registered, newest first.
 */

/**
 * @typedef {object} SnapshotLine
 * @property {string} refreshId The refresh that made it.
 * @property {string} generatedAt When its data was fetched.
 * @property {string} dataDigest The digest of its data.
 * @property {number} bytes Bytes of its data.
 */

/**
 * @typedef {object} SnapshotView
 * @property {string} refreshId The refresh that made it.
 * @property {Record<string, any>} dataJson Its data.
 * @property {Provenance} provenance Where the data came from.
 */

/**
 * @typedef {object} Source
 * @property {"local_file" | "daemon_tool" | "connector_tool"} type What kind of source it is.
 * @property {string | null=} toolName The tool that runs, qualified (`github.list_releases`); absent for a local file.
 * @property {Record<string, any>} input The input of the tool, or the file to read.
 * @property {ConnectorRef | null=} connector The connector the tool belongs to.
 * @property {OutputMapping | null=} outputMapping How the output becomes data.
 * @property {"none" | "manual_refresh_granted_for_read_only"} refreshPermission Whether the source may be refreshed.
 */

/**
 * @typedef {object} SourcePin
 * @property {string} connectorId The connector.
 * @property {string} toolName The tool, qualified.
 * @property {string} contractDigest The digest of the tool's contract.
 * @property {ContractParts | null=} contractParts The digests of the contract's parts, so that a drift can say what changed.
 * @property {string | null=} accountLabel The account the connector was connected to.
 */

/**
 * @typedef {object} SourceRead
 * @property {string} id The source's id.
 * @property {string} label What a reader should call the source.
 * @property {string} call The call that was made, as far as it fits.
 * @property {string} from Where the value stood in the output; `$` is all of it.
 */

/**
 * @typedef {object} StaleSource
 * @property {string} source The source's id.
 * @property {string} since The first refresh that it failed in; what stands in the data is from before.
 * @property {string} code The reason for its last failure.
 */

/**
 * @typedef {object} StartedRun
 * @property {string} at When it began.
 * @property {string | null=} slot The slot it ran for.
 */

/**
 * @typedef {object} Text
 * @property {"person" | "agent" | "thought"} speaker Whose words they are.
 * @property {string} text The words.
 */

/**
 * @typedef {object} TicketAnswer
 * @property {string} url Opens one page, in a frame of the console or in a tab.
 * @property {string} expiresAt When it stops.
 */

/**
 * @typedef {object} Tool
 * @property {string} name The tool, qualified.
 * @property {string} title What a person calls it.
 * @property {string | null=} description What it does, in one sentence.
 * @property {any} inputSchema What its input must look like, in the documented subset of JSON Schema.
 * @property {Array<string>=} scopes The permissions it needs where it needs any, in the provider's own words.
 * @property {ToolSafety} safety How safe it is.
 * @property {boolean} refreshEligible Whether it may be the source of a refresh.
 */

/**
 * @typedef {object} ToolCall
 * @property {string} callId The agent's name for the call.
 * @property {string} title The agent's words for the call.
 * @property {string | null=} tool The name of the tool, if the agent says it apart from the title.
 * @property {string | null=} callKind The agent's word for the kind of call, such as `execute`.
 * @property {"pending" | "in_progress" | "completed" | "failed"} status How far it is.
 * @property {string | null=} input The input as the agent sends it to the tool.
 * @property {string | null=} result The text of the result.
 */

/**
 * @typedef {object} ToolSafety
 * @property {"read" | "write" | "destructive" | "unknown"} sideEffect What it may do to the world.
 * @property {"auto" | "confirm" | "disabled"} approval What it needs before it runs.
 * @property {string} reason Why, in one sentence.
 */

/**
 * @typedef {object} TrashAnswer
 * @property {Array<TrashLine>} trash What can be brought back, the last deleted first.
 * @property {number} total How much there is, on all pages.
 * @property {string | null=} nextCursor Gives the next page; absent on the last one.
 */

/**
 * @typedef {object} TrashLine
 * @property {string} artifactId Which one.
 * @property {string} projectId Its project.
 * @property {string | null=} title What a person called it, if that can still be read.
 * @property {string} deletedAt When it was deleted.
 * @property {string} restorableUntil Until when it can be brought back.
 */

/**
 * @typedef {object} TurnEnd
 * @property {"cancelled" | "refused" | "limit" | "interrupted"} outcome How it ended.
 */

/**
 * @typedef {object} Usage
 * @property {number | null=} contextUsed Tokens of the model's context that are in use.
 * @property {number | null=} contextSize Tokens that the context holds.
 * @property {string | null=} cost What it cost so far, such as `0.0007 USD`.
 */

/**
 * @typedef {object} ValueChange
 * @property {string} path The place, as a JSON pointer: into the value afterwards, of a removed one into that before.
 * @property {string | null=} place The place for people, where a field of its row tells more than the row's number: `rows[id=a-2].state`.
 * @property {"added" | "removed" | "changed"} change What became of it.
 * @property {any=} before The value before; absent if there was none or it is too large to show.
 * @property {any=} after The value afterwards; absent if there is none or it is too large to show.
 * @property {boolean=} omitted Whether a value was too large to show.
 */

/**
 * @typedef {object} ValueDiff
 * @property {number} count How many places differ.
 * @property {Array<ValueChange>} changes The first of them, in document order.
 */

/**
 * @typedef {object} Webhook
 * @property {string} name Its name.
 * @property {string} url Where notifications are sent.
 * @property {"public" | "loopback" | "private"} reach The addresses that its host may be at.
 * @property {string} registeredAt When it was registered, or its registration changed.
 * @property {Deliveries} deliveries How its deliveries went.
 */

/**
 * @typedef {object} WebhookAnswer
 * @property {Webhook} webhook The webhook, without its secret.
 * @property {number | null=} answered The status that it answered, when it was tested.
 */

/**
 * @typedef {object} WebhooksAnswer
 * @property {Array<Webhook>} webhooks The webhooks, by name.
 */

/** @typedef {{event: "ready", data: Ready} | {event: "resync", data: Resync} | {event: "live_artifact", data: ArtifactEvent} | {event: "live_artifact_refresh", data: RefreshEvent} | {event: "live_artifact_check", data: CheckEvent} | {event: "agent_session", data: AgentEvent} | {event: "agent_message", data: AgentEvent} | {event: "agent_tool", data: AgentEvent} | {event: "agent_plan", data: AgentEvent} | {event: "agent_permission", data: AgentEvent} | {event: "agent_usage", data: AgentEvent} | {event: "agent_error", data: AgentEvent}} StreamEvent */

export {};
