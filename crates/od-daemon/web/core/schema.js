// @ts-check
// Generated from the types of od-core and od-wire by `cargo xtask codegen`. Never sent to a browser:
// the console's modules only name these types in comments.

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
 * @property {"agent" | "person" | null=} permissionSetBy Who last decided whether it may be refreshed.
 * @property {Attempt | null=} createdByAttempt The attempt that created it, so that the same attempt finds it again.
 */

/**
 * @typedef {object} ArtifactAnswer
 * @property {ArtifactView} artifact The artifact and its data.
 * @property {Provenance} provenance Where the data came from.
 * @property {Health} health Whether its files are sound.
 * @property {Array<DriftView>=} drift Files edited by hand since the last commit.
 * @property {boolean} refreshable Whether a refresh may be started.
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
 */

/**
 * @typedef {object} ArtifactSummary
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
 * @property {string | null=} accountLabel The account that its source reads as.
 * @property {string | null=} edited The digest of the edits by hand since the last commit, if there are any.
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
 * @property {{format: "html_template_v1", templatePath: "template.html", generatedPreviewPath: "index.html", dataPath: "data.json", dataSchemaJson?: Record<string, any> | null, sourceJson?: {type: "local_file" | "daemon_tool" | "connector_tool", toolName?: string | null, input: Record<string, any>, connector?: {connectorId: string, accountLabel?: string | null, toolName: string, approvalPolicy?: "read_only_auto" | "manual_refresh_granted_for_read_only" | null} | null, outputMapping?: {dataPaths?: Array<{from: string, to: string}> | null, transform?: "identity" | "compact_table" | "metric_summary" | null} | null, refreshPermission: "none" | "manual_refresh_granted_for_read_only"} | null, dataJson?: Record<string, any>} | null=} document Its document.
 * @property {number} revision How many commits it has had.
 * @property {{template: {content: string, file: string}, data: {content: string, file: string}, provenance: {content: string, file: string}, index: {content: string, file: string}}} digests The digests of its files at this revision.
 * @property {{connectorId: string, toolName: string, contractDigest: string, contractParts?: {inputSchema: string, safety: string} | null, accountLabel?: string | null} | null=} sourcePin What the source was when it was set.
 * @property {"agent" | "person" | null=} permissionSetBy Who last decided whether it may be refreshed.
 * @property {{id: string, digest: string} | null=} createdByAttempt The attempt that created it, so that the same attempt finds it again.
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
 * @typedef {object} CompactError
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED"} code Which failure.
 * @property {string} message What went wrong, in one sentence.
 * @property {string | null=} suggestion The next step that helps, as the refusal said it.
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
 * @typedef {object} Digests
 * @property {FileDigests} template Of `template.html`.
 * @property {FileDigests} data Of `data.json`.
 * @property {FileDigests} provenance Of `provenance.json`.
 * @property {FileDigests} index Of `index.html`.
 */

/**
 * @typedef {object} Document
 * @property {"html_template_v1"} format The format of the template.
 * @property {"template.html"} templatePath The template's file.
 * @property {"index.html"} generatedPreviewPath The rendered page's file.
 * @property {"data.json"} dataPath The data's file.
 * @property {Record<string, any> | null=} dataSchemaJson What the data must look like, in the documented subset of JSON Schema.
 * @property {Source | null=} sourceJson Where refreshed data comes from.
 */

/**
 * @typedef {object} DriftView
 * @property {string} file Its name.
 * @property {string} committed The digest of the last commit.
 * @property {string} found The digest of what is there now.
 */

/**
 * @typedef {object} ErrorAnswer
 * @property {ErrorView} error The failure.
 */

/**
 * @typedef {object} ErrorView
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED"} code Which failure.
 * @property {string} message What went wrong, in one sentence.
 * @property {Retry} retry What the client may do.
 * @property {string} suggestion The next step that helps, derived from the rule that refused.
 * @property {Record<string, any> | null=} details Facts for programs.
 * @property {string=} requestId The id to quote, and to find in the log; absent from a failure that never reached a daemon.
 */

/**
 * @typedef {object} Failure
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED"} code Which failure.
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
 * @property {"pointer_unreadable" | "pointer_invalid" | "schema_version_unknown" | "file_missing" | "file_unreadable" | "pending_unreadable" | "template_invalid" | "data_invalid" | "provenance_invalid" | "audit_chain_broken" | "audit_unreadable" | "audit_contradicts_pointer" | "snapshot_unreadable" | null=} reason Why it is not healthy.
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
 * @typedef {object} OutputMapping
 * @property {Array<DataPath> | null=} dataPaths Which parts of the output go where; without it the output's top-level keys replace those of the data.
 * @property {"identity" | "compact_table" | "metric_summary" | null=} transform What is done to each value on the way; `identity` if absent.
 */

/**
 * @typedef {object} Preview
 * @property {"html"} type The type of the preview.
 * @property {"index.html"} entry The file that is shown.
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
 * @property {any=} content What a refresh from the file asked for with `path` would read.
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
 */

/**
 * @typedef {object} ProvenanceSource
 * @property {string} label What a reader should call it.
 * @property {"connector" | "local_file" | "user_input" | "derived"} type What kind of origin it is.
 * @property {string | null=} ref Which one: a tool, a file, an address without credentials.
 * @property {string | null=} accountLabel The account it was read with.
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
 * @property {"BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "INTERNAL" | "PROJECT_NOT_FOUND" | "TOOL_TOKEN_MISSING" | "TOOL_TOKEN_INVALID" | "TOOL_TOKEN_EXPIRED" | "TOOL_ENDPOINT_DENIED" | "TOOL_OPERATION_DENIED" | "LIVE_ARTIFACT_NOT_FOUND" | "LIVE_ARTIFACT_INVALID" | "LIVE_ARTIFACT_NOT_HEALTHY" | "LIVE_ARTIFACT_STORAGE_FAILED" | "LIVE_ARTIFACT_REFRESH_UNAVAILABLE" | "REVISION_CONFLICT" | "REFRESH_LOCKED" | "REFRESH_TIMED_OUT" | "REFRESH_CANCELLED" | "REFRESH_ABANDONED" | "OUTPUT_TOO_LARGE" | "OUTPUT_MAPPING_UNRESOLVED" | "TEMPLATE_BINDING_INVALID" | "REDACTION_REQUIRED" | "CONNECTOR_NOT_FOUND" | "CONNECTOR_NOT_CONNECTED" | "CONNECTOR_DISABLED" | "CONNECTOR_TOOL_NOT_FOUND" | "CONNECTOR_SAFETY_DENIED" | "CONNECTOR_INPUT_SCHEMA_MISMATCH" | "CONNECTOR_RATE_LIMITED" | "CONNECTOR_OUTPUT_TOO_LARGE" | "CONNECTOR_EXECUTION_FAILED" | null=} errorCode The code of a failed one.
 * @property {string | null=} errorMessage What went wrong, without any payload.
 */

/**
 * @typedef {object} RefreshRecord
 * @property {string} refreshId Which refresh.
 * @property {"refresh:start" | "document" | "refresh:commit" | "refresh:failed"} step Which step of it.
 * @property {"running" | "succeeded" | "failed" | "cancelled" | "timed_out" | "abandoned"} status How the step went.
 * @property {string} at When the record was made.
 * @property {number | null=} durationMs How long the step took.
 * @property {RecordConnector | null=} connector What ran.
 * @property {CompactError | null=} error Why it failed.
 * @property {ChangeReport | null=} changes What it changed.
 * @property {number | null=} revision The revision it committed.
 * @property {string | null=} prev The digest of the record before this one; absent in the first.
 */

/**
 * @typedef {object} RefreshView
 * @property {string} id Which refresh.
 * @property {string} status Always `succeeded`; a failed one is an error.
 * @property {number} refreshedSourceCount How many sources were read.
 * @property {boolean} changed Whether the data is different now.
 * @property {ChangeReport} changes Where it is different.
 */

/**
 * @typedef {object} RefreshedAnswer
 * @property {ArtifactView} artifact The artifact and its data.
 * @property {RefreshView} refresh The refresh.
 * @property {string} consoleUrl Where a person sees it.
 */

/** @typedef {Record<string, any>} Resync */

/** @typedef {{kind: "not_retryable"} | {kind: "retryable_immediate"} | {kind: "retryable_after_ms", afterMs: number}} Retry */

/**
 * @typedef {object} RollbackView
 * @property {string} refreshId The refresh whose state is the current one now.
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
 * @typedef {object} ToolSafety
 * @property {"read" | "write" | "destructive" | "unknown"} sideEffect What it may do to the world.
 * @property {"auto" | "confirm" | "disabled"} approval What it needs before it runs.
 * @property {string} reason Why, in one sentence.
 */

/** @typedef {{event: "ready", data: Ready} | {event: "resync", data: Resync} | {event: "live_artifact", data: ArtifactEvent} | {event: "live_artifact_refresh", data: RefreshEvent}} StreamEvent */

export {};
