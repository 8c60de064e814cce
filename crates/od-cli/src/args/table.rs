//! Every verb and flag of `od`, as data: the parser, help, completions and docs/cli.md read it, and a
//! row makes the typed command of its verb. A new verb is a row here and a function in `verbs`.

use od_mcp::launch::Agent;

use super::artifacts::ArtifactsCommand;
use super::command::{
    Command, ConfigCommand, ConnectorsCommand, KeysCommand, McpCommand, RunAgent, ServiceCommand,
    SessionsCommand, Shell, SkillsCommand, SourcesCommand, StoreCommand,
};
use super::projects::ProjectsCommand;
use super::tools::{Format, ToolCommand};
use super::verb::{Arity, Flag, Positional, Value, Verb};
use super::webhooks::WebhooksCommand;
use crate::config::Key;

/// Flags that every verb takes.
#[rustfmt::skip]
pub const GLOBAL_FLAGS: &[Flag] = &[
    Flag { long: "json", short: None, value: None, required: false, help: "Write one JSON document to stdout." },
    Flag { long: "data-dir", short: None, value: Some(("DIR", Value::Directory)), required: false, help: "Use this data directory (else OD_DATA_DIR, else the nearest .od/ upward, else the one in OD_HOME)." },
    Flag { long: "help", short: Some('h'), value: None, required: false, help: "Show the verb's help." },
];

const OFFLINE: Flag = switch("offline", "Read no source; mapping and queries are not tried.");
const DRY_RUN: Flag = switch("dry-run", "Check everything, say what would happen, change nothing.");
const YES: Flag = switch("yes", "Do not ask for confirmation.");
const PROJECT: Flag =
    option("project", "ID", Value::Text, "The project (else the one of the current directory).");
const FORMAT: Flag = option(
    "format",
    "compact|json",
    Value::Choice(Format::WORDS),
    "One line with the fields that matter (compact, the default) or the whole answer, indented (json).",
);
const ARTIFACT_ID: Flag = needed("artifact-id", "ID", Value::Text, "The artifact.");
const WITH_DATA: Flag =
    switch("with-data", "Send data.json beside the input too; an update leaves it out otherwise.");
const PORT: Flag = option(
    "port",
    "N",
    Value::Port,
    "Port of the API and the console on 127.0.0.1 (default 7456; 0 takes a free one). Previews get the next free one.",
);

const STORE: Flag = option(
    "store",
    "ADDRESS",
    Value::Text,
    "What keeps the artifacts: files, or the database of a team, postgres://ROLE@HOST:5432/DATABASE. Its password comes from PGPASSWORD or the file that PGPASSFILE names (~/.pgpass), never from here.",
);

const fn switch(long: &'static str, help: &'static str) -> Flag {
    Flag { long, short: None, value: None, required: false, help }
}

const fn option(long: &'static str, name: &'static str, value: Value, help: &'static str) -> Flag {
    Flag { long, short: None, value: Some((name, value)), required: false, help }
}

const fn needed(long: &'static str, name: &'static str, value: Value, help: &'static str) -> Flag {
    Flag { long, short: None, value: Some((name, value)), required: true, help }
}

const fn takes(
    name: &'static str,
    arity: Arity,
    value: Value,
    help: &'static str,
) -> Option<Positional> {
    Some(Positional { name, arity, value, help })
}

/// The agents whose configuration format is known.
const AGENTS: &[&str] = &[
    Agent::Claude.as_str(),
    Agent::ClaudeDesktop.as_str(),
    Agent::Codex.as_str(),
    Agent::Copilot.as_str(),
    Agent::Cursor.as_str(),
    Agent::Gemini.as_str(),
    Agent::Opencode.as_str(),
    Agent::Qwen.as_str(),
    Agent::Vscode.as_str(),
    Agent::Zed.as_str(),
];

const ONE_ARTIFACT: Option<Positional> = takes(
    "ARTIFACT",
    Arity::One,
    Value::Text,
    "The artifact's id, or its slug if only one artifact of the project has it.",
);

const ONE_PROJECT: Option<Positional> =
    takes("PROJECT", Arity::One, Value::Text, "The project's id, as `od projects list` shows it.");

/// The verbs, in the order of help.
#[rustfmt::skip]
pub const VERBS: &[Verb] = &[
    Verb {
        words: "demo",
        build: |given| Command::Demo(given.into()),
        summary: "See three working live artifacts in one command.",
        detail: "Makes a small project of its own, registers three live artifacts in it (the state of a git repository, a report over a folder of JSON files, a dashboard with a sparkline), starts the daemon and opens the console. Change a source file, press Refresh, and the page follows. With --once it creates them, changes a source, refreshes, prints what happened and exits: for machines without a browser.",
        positional: None,
        flags: &[
            switch("once", "Create, refresh, print what happened, exit."),
            option("dir", "DIR", Value::Directory, "Where the demo's files live (default: od-demo in XDG_DATA_HOME, else in ~/.local/share; a temporary one with --once)."),
            PORT,
            switch("no-open", "Do not start a browser; print the address."),
            switch("remove", "Take away what the demo brought: its project, artifacts and files. Asks at a terminal."),
            YES,
            DRY_RUN,
        ],
        examples: &["od demo", "od demo --once", "od demo --remove"],
    },
    Verb {
        words: "init",
        build: |given| Command::Init(given.into()),
        summary: "Register a directory as a project.",
        detail: "Agents started with `od run` in this directory make their artifacts in the project, and sources read files below it. Only this command can bind a directory to a project. Running it again changes nothing but what --allow-schedules or --no-schedules says.",
        positional: takes("DIR", Arity::Optional, Value::Directory, "The directory (default: the current one)."),
        flags: &[option("name", "TEXT", Value::Text, "What the console calls the project (default: the directory's name)."), switch("allow-schedules", "Let agents switch on schedules of sources that only read this machine."), switch("no-schedules", "No longer let them."), DRY_RUN],
        examples: &["od init", "od init ~/work/site --name 'Site'"],
    },
    Verb {
        words: "run",
        build: |given| Command::Run(given.into()),
        summary: "Start any agent with the right to make live artifacts.",
        detail: "Starts the daemon if none runs, mints a token that is good for this project and this run only, puts OD_BIN, OD_DAEMON_URL, OD_DAEMON_ID, OD_DATA_DIR, OD_TOOL_TOKEN and OD_RUN_ID into the command's environment, renews the run's lease while the command lives, passes signals on, and ends the run when the command exits. Input, output and exit code are the command's; --json is only for what goes wrong before it starts. With --agent the command also gets the flags with which that agent sees od's tools over MCP and may use them without a question each: then it needs no shell, and works in a sandbox without a network.",
        positional: takes("CMD", Arity::Rest, Value::Text, "The command and its arguments."),
        flags: &[option("agent", "NAME", Value::Choice(RunAgent::WORDS), "Add the flags of this agent: claude, codex, copilot, cursor, gemini, opencode or qwen."), PROJECT, switch("no-skill", "Do not install the skill where the project lacks it."), DRY_RUN],
        examples: &["od run --agent claude -- claude", "od run --agent codex --project site -- codex exec 'make a live release dashboard'", "od run -- my-agent"],
    },
    Verb {
        words: "chat",
        build: |given| Command::Chat(given.into()),
        summary: "Chat with your own agent in a project, as in the console.",
        detail: "Starts the agent in the project's folder over the Agent Client Protocol, hands it od's tools, and shows what it says as plain lines. Whatever it wants to run is shown and asked first; od's own tools are not. Ctrl-C stops the turn and ends the agent's programs; the next prompt goes on where it was. With a prompt and no terminal it answers once, and refuses what would have to be asked. The chat is the same in the console.",
        positional: takes("PROMPT", Arity::Optional, Value::Text, "What to ask first; - reads it from standard input."),
        flags: &[option("agent", "NAME", Value::Text, "The agent, as --list shows it (default: the first that is installed)."), option("resume", "CHAT", Value::Text, "Go on with this chat."), switch("list", "List agents, and the chats of the project."), PROJECT],
        examples: &["od chat", "od chat --agent claude 'Make a live page of metrics.json'", "od chat --list"],
    },
    Verb {
        words: "open",
        build: |given| Command::Open(given.into()),
        summary: "Open the console in a browser.",
        detail: "Starts the daemon if none runs. The address carries a one-time code in its fragment; the browser is started on a private redirect file, so that the code is in no process list.",
        positional: None,
        flags: &[switch("print", "Print the address with its one-time code instead of starting a browser."), DRY_RUN],
        examples: &["od open", "od open --print"],
    },
    Verb {
        words: "serve",
        build: |given| Command::Serve(given.into()),
        summary: "Run the daemon in the foreground.",
        detail: "Listens on 127.0.0.1 only and prints the console's address with a one-time code (good for 60 seconds; `od open` makes another). Ctrl-C or SIGTERM ends it in order. If a daemon of this version already serves the data directory, its address is printed and the exit code is 0; another version, a taken port, an unreadable keyring or a foreign lock end with code 2 and the cause. OD_LOG sets how much is logged (error, warn, info, debug; default warn).",
        positional: None,
        flags: &[
            PORT,
            switch("no-code", "Print no one-time code: for supervisors, whose logs are kept."),
            option("log", "FILE", Value::File, "Write the log here instead of to stderr; at 4 MiB it becomes FILE.1 and a new one begins."),
            STORE,
            DRY_RUN,
        ],
        examples: &["od serve", "od serve --port 0", "od serve --store postgres://ada@db.example/od"],
    },
    Verb {
        words: "stop",
        build: |given| Command::Stop { dry_run: given.dry_run() },
        summary: "End the daemon of this data directory.",
        detail: "Asks it to end in order and waits until it has: what was committed is on the disk then. Agents that still run lose their daemon; `od run` brings it back for its own. Where none runs, that is said and the exit code is 0.",
        positional: None, flags: &[DRY_RUN], examples: &["od stop"],
    },
    Verb {
        words: "artifacts list",
        build: |given| Command::Artifacts(ArtifactsCommand::List(given.into())),
        summary: "List live artifacts.",
        detail: "The last updated first, one page at a time. Works with and without a running daemon. Without --project and outside a project's directory it lists every project's. With --json, nextCursor, if it is there, is the --cursor of the next page.",
        positional: None,
        flags: &[PROJECT, switch("trash", "List what `od artifacts restore` can bring back instead."), option("query", "WORDS", Value::Text, "Only artifacts with these words in title, description, slug, id, project or source."), option("limit", "N", Value::Number, "The most lines (default and at most 100)."), option("cursor", "TEXT", Value::Text, "The nextCursor of the page before.")],
        examples: &["od artifacts list", "od artifacts list --query release --limit 5", "od artifacts list --project site --json", "od artifacts list --trash"],
    },
    Verb {
        words: "artifacts show",
        build: |given| Command::Artifacts(ArtifactsCommand::Show(given.into())),
        summary: "Show one artifact: state, source, provenance, data.",
        detail: "", positional: ONE_ARTIFACT, flags: &[PROJECT], examples: &["od artifacts show release-dashboard"],
    },
    Verb {
        words: "artifacts refresh",
        build: |given| Command::Artifacts(ArtifactsCommand::Refresh(given.into())),
        summary: "Run an artifact's source again and update its data.",
        detail: "All or nothing: if a check, the source or the template fails, the last good data and preview stay. With --dry-run the source is run and everything is checked up to the commit; nothing is stored or recorded.",
        positional: ONE_ARTIFACT, flags: &[PROJECT, DRY_RUN], examples: &["od artifacts refresh release-dashboard"],
    },
    Verb {
        words: "artifacts schedule",
        build: |given| Command::Artifacts(ArtifactsCommand::Schedule(given.into())),
        summary: "Refresh an artifact by itself: set when, switch it on, switch it off.",
        detail: "An agent proposes a schedule; this switches it on. --every or --cron sets one and switches it on; the other flags change only what they name, and leave it on or off. --on switches on what is there, which also allows refreshing from its source; --off switches it off. Without any of them it shows the schedule and its next five runs. Runs happen while `od serve` runs, or whenever `od refresh --due` does. Slots that passed meanwhile become one run, or none with --missed skip.",
        positional: ONE_ARTIFACT,
        flags: &[
            option("every", "TIME", Value::Text, "The time between two refreshes: 15m, 2h, 1d. At least 1m, 5m if a source is beyond this machine."),
            option("cron", "'M H D M W'", Value::Text, "The times of the clock instead: minute hour day month weekday."),
            option("time-zone", "ZONE", Value::Text, "The zone that --cron is read in, such as Europe/Berlin (default: UTC)."),
            option("max-age", "TIME", Value::Text, "Call the page stale when it is older; opening it in the console then refreshes it."),
            switch("on-change", "Also refresh when a project file that it reads changes."),
            option("missed", "once|skip", Value::Choice(&["once", "skip"]), "What slots that nobody could run become: one run (default), or none."),
            switch("on", "Switch on what is proposed."),
            switch("off", "Switch it off; what it says stays."),
            PROJECT,
            DRY_RUN,
        ],
        examples: &["od artifacts schedule release-dashboard --every 15m", "od artifacts schedule release-dashboard --cron '0 9 * * 1-5' --time-zone Europe/Berlin", "od artifacts schedule release-dashboard --off"],
    },
    Verb {
        words: "refresh",
        build: |given| Command::Refresh(given.into()),
        summary: "Run every scheduled refresh that is due, and end.",
        detail: "For cron, systemd timers and CI, with and without a daemon: a slot that somebody else runs is not run again. Exit code 0 if everything scheduled is fresh, 1 if a refresh failed or a scheduled artifact is stale.",
        positional: None,
        flags: &[switch("due", "Run what is due; required, so that nothing else is started by mistake."), PROJECT, switch("wait", "Wait for refreshes that others run at this moment, too."), DRY_RUN],
        examples: &["od refresh --due", "od refresh --due --project site --wait --json"],
    },
    Verb {
        words: "trust",
        build: |given| Command::Trust(given.into()),
        summary: "Allow here what artifacts were allowed in a copy or on another machine.",
        detail: "A permission to refresh and a switched-on schedule hold only on the machine and for the data directory that they were given for: what came with a clone, a copied or a moved data directory is shown and runs nothing. This lists it, and allows all of it once you agree.",
        positional: None, flags: &[PROJECT, YES, DRY_RUN], examples: &["od trust --dry-run", "od trust --yes"],
    },
    Verb {
        words: "service install",
        build: |given| Command::Service(ServiceCommand::Install { yes: given.has("yes"), dry_run: given.dry_run() }),
        summary: "Let the daemon run whenever you are logged in.",
        detail: "Writes a systemd user unit (Linux) or a launchd agent (macOS) for this data directory, shows it first, and asks. Never needs root.",
        positional: None, flags: &[YES, DRY_RUN], examples: &["od service install --dry-run", "od service install --yes"],
    },
    Verb {
        words: "service status",
        build: |_| Command::Service(ServiceCommand::Status),
        summary: "Say whether the service is installed, and whether a daemon runs.",
        detail: "Exit code 1 if it is not installed.", positional: None, flags: &[], examples: &["od service status"],
    },
    Verb {
        words: "service remove",
        build: |given| Command::Service(ServiceCommand::Remove { yes: given.has("yes"), dry_run: given.dry_run() }),
        summary: "Take the service away again.",
        detail: "Stops the unit and removes its file; a daemon that was started by hand is left alone.", positional: None, flags: &[YES, DRY_RUN], examples: &["od service remove --yes"],
    },
    Verb {
        words: "artifacts history",
        build: |given| Command::Artifacts(ArtifactsCommand::History(given.into())),
        summary: "Show an artifact's refreshes, newest first.",
        detail: "", positional: ONE_ARTIFACT, flags: &[PROJECT], examples: &["od artifacts history release-dashboard"],
    },
    Verb {
        words: "artifacts revisions",
        build: |given| Command::Artifacts(ArtifactsCommand::Revisions(given.into())),
        summary: "Show every commit of an artifact: what, who, when, through which door.",
        detail: "Newest first. The newest 100 revisions can be shown, compared and restored; older ones are only listed.",
        positional: ONE_ARTIFACT, flags: &[option("limit", "N", Value::Number, "Show at most so many (default: 100)."), PROJECT], examples: &["od artifacts revisions release-dashboard", "od artifacts revisions release-dashboard --limit 5 --json"],
    },
    Verb {
        words: "artifacts diff",
        build: |given| Command::Artifacts(ArtifactsCommand::Diff(given.into())),
        summary: "Compare two revisions of an artifact.",
        detail: "A and B are revisions: a number, `current`, `previous`, `first`, `yesterday` (the state of a day ago), `week-ago`, or a date such as 2026-04-30 (the state at the end of that day, UTC). Without them the last change is shown: `previous..current`. Data is compared value by value, the template line by line. Exit code 1 when they differ, 0 when they are equal.",
        positional: takes("ARTIFACT [A..B]", Arity::OneOrTwo, Value::Text, "The artifact's id or slug, and the revisions."), flags: &[PROJECT], examples: &["od artifacts diff release-dashboard", "od artifacts diff release-dashboard 3..7", "od artifacts diff release-dashboard yesterday..current --json"],
    },
    Verb {
        words: "artifacts export",
        build: |given| Command::Artifacts(ArtifactsCommand::Export(given.into())),
        summary: "Make files of an artifact, to take away.",
        detail: "--html is the page in one file that asks for nothing when opened, with title, date, sources and digest below it. --csv is one table of the data by its path, such as `rows`, or a chart by its place on the page, such as `chart:1`; texts that a spreadsheet would run as a formula get an apostrophe. --md is all of the data as lists and tables. --png and --pdf are the page, drawn without a network by a Chromium or Chrome that is installed. --bundle is the artifact with its template, data, kept revisions and audit log in one file that is signed with your key: `od verify` checks it on any machine, `od artifacts import` takes it in. Without any of them data and provenance are printed as JSON. A file that exists is replaced. No secret is in any of them.",
        positional: ONE_ARTIFACT, flags: &[option("html", "FILE", Value::File, "Write the page."), option("csv", "PATH[=FILE]", Value::Text, "Write a table; without FILE its name is made of the artifact's slug and the path."), option("md", "FILE", Value::File, "Write a Markdown document."), option("png", "FILE", Value::File, "Write a picture of the page."), option("pdf", "FILE", Value::File, "Write the page as it is printed."), option("bundle", "FILE.odb", Value::File, "Write a signed bundle."), PROJECT, DRY_RUN],
        examples: &["od artifacts export release-dashboard --html release.html", "od artifacts export release-dashboard --csv rows=rows.csv", "od artifacts export release-dashboard --pdf release.pdf", "od artifacts export release-dashboard --json"],
    },
    Verb {
        words: "artifacts import",
        build: |given| Command::Artifacts(ArtifactsCommand::Import(given.into())),
        summary: "Take in the artifacts of a bundle, as new ones.",
        detail: "The file is checked as `od verify` checks it and each artifact as a new one is: it gets a new id and revision 1. Its sources come without permission and its schedule is off until you allow them here; no approval and no secret comes along, and its history stays in the file. A signer that was not met before is trusted from the first import on; `od keys revoke` takes that back.",
        positional: takes("FILE.odb", Arity::One, Value::File, "The bundle."), flags: &[PROJECT, DRY_RUN], examples: &["od artifacts import report.odb --dry-run", "od artifacts import report.odb"],
    },
    Verb {
        words: "build",
        build: |given| Command::Build(given.into()),
        summary: "Build a static site of live artifacts, for CI and any web server.",
        detail: "An index with search and dates, a page for each artifact, its data, tables as CSV and provenance, and a feed of changes. All links are relative, so that it also works from a disk; no script is needed to read it. Two builds of the same state are the same bytes. Exit code 1 when something is stale, was not refreshed though --refresh asks for it, a check does not hold, an artifact is left out, or there is no page at all: the site is written all the same. Needs no daemon. Archived artifacts are left out.",
        positional: None, flags: &[needed("out", "DIR", Value::Directory, "The folder: new, empty, or of an earlier build."), PROJECT, switch("all", "Put every project of the data directory into one site."), switch("refresh", "Refresh first what may be refreshed."), option("max-age", "TIME", Value::Text, "Call data of sources stale at this age, such as 1d (else what each artifact says)."), DRY_RUN],
        examples: &["od build --out site", "od build --out site --refresh --max-age 1d"],
    },
    Verb {
        words: "verify",
        build: |mut given| Command::Verify(given.directory().unwrap_or_default()),
        summary: "Check a bundle: signature, digests, audit chain, and the pages drawn again.",
        detail: "Needs nothing but the file: no daemon, no network, no store. Says who signed it and whether that signer is known here. Exit code 1 when anything does not hold, or the signer was revoked.",
        positional: takes("FILE.odb", Arity::One, Value::File, "The bundle."), flags: &[], examples: &["od verify report.odb", "od verify report.odb --json"],
    },
    Verb {
        words: "artifacts check",
        build: |given| Command::Artifacts(ArtifactsCommand::Check(given.into())),
        summary: "Say which checks hold, on the data that is stored now.",
        detail: "Works out `document.checks` of one artifact, or of every artifact of the project. Exit code 1 if a check fails or cannot be worked out; nothing is changed, nothing is refreshed.",
        positional: takes("ARTIFACT", Arity::Optional, Value::Text, "The artifact's id or slug (default: all)."),
        flags: &[PROJECT], examples: &["od artifacts check", "od artifacts check release-dashboard --json"],
    },
    Verb {
        words: "artifacts verify",
        build: |given| Command::Artifacts(ArtifactsCommand::Verify(given.into())),
        summary: "Check stored files against their digests and the audit chain.",
        detail: "Checks one artifact, or every artifact of the project. Exit code 1 when anything is wrong; nothing is changed.",
        positional: takes("ARTIFACT", Arity::Optional, Value::Text, "The artifact's id or slug (default: all)."),
        flags: &[PROJECT], examples: &["od artifacts verify", "od artifacts verify release-dashboard"],
    },
    Verb {
        words: "artifacts repair",
        build: |given| Command::Artifacts(ArtifactsCommand::Repair(given.into())),
        summary: "Make a damaged artifact writable again.",
        detail: "Says what it will keep and what it will drop, and asks first; without a terminal and without --yes it changes nothing and exits with code 6.",
        positional: ONE_ARTIFACT, flags: &[PROJECT, YES, DRY_RUN], examples: &["od artifacts repair release-dashboard --dry-run", "od artifacts repair release-dashboard --yes"],
    },
    Verb {
        words: "artifacts rollback",
        build: |given| Command::Artifacts(ArtifactsCommand::Rollback(given.into())),
        summary: "Make an earlier state the current one again.",
        detail: "A revision comes back whole: template, data, source and provenance of that time become a new revision; whether it may be refreshed stays as it is, or becomes narrower. With the id of a refresh only its data and provenance come back, under the template of today; refused where that does not fit them. Nothing in the history changes, so that a rollback can be rolled back. `od artifacts revisions` shows the revisions.",
        positional: ONE_ARTIFACT, flags: &[needed("to", "REVISION|REFRESH_ID", Value::Text, "The revision, or the refresh, whose state is wanted."), option("if-revision", "N", Value::Number, "Refuse if the artifact is at another revision."), PROJECT, DRY_RUN],
        examples: &["od artifacts rollback release-dashboard --to 3", "od artifacts rollback release-dashboard --to refresh-000003"],
    },
    Verb {
        words: "artifacts delete",
        build: |given| Command::Artifacts(ArtifactsCommand::Delete(given.into())),
        summary: "Move an artifact to the trash.",
        detail: "The trash keeps it for 7 days with its whole history; `od artifacts restore` brings it back.",
        positional: ONE_ARTIFACT, flags: &[PROJECT, DRY_RUN], examples: &["od artifacts delete release-dashboard"],
    },
    Verb {
        words: "artifacts restore",
        build: |given| Command::Artifacts(ArtifactsCommand::Restore(given.into())),
        summary: "Bring a deleted artifact back from the trash.",
        detail: "The trash keeps an artifact for 7 days; `od artifacts list --trash` shows what is in it. For an earlier state of an artifact, see `od artifacts rollback`.",
        positional: takes("ARTIFACT", Arity::One, Value::Text, "The artifact's id."), flags: &[PROJECT, DRY_RUN], examples: &["od artifacts restore la-release-dashboard-1a2b3c4d5e6f"],
    },
    Verb {
        words: "artifacts open",
        build: |given| Command::Artifacts(ArtifactsCommand::Open(given.into())),
        summary: "Open one artifact in the console.",
        detail: "", positional: ONE_ARTIFACT,
        flags: &[PROJECT, switch("print", "Print the address with its one-time code instead of starting a browser."), DRY_RUN],
        examples: &["od artifacts open release-dashboard"],
    },
    Verb {
        words: "projects list",
        build: |_| Command::Projects(ProjectsCommand::List),
        summary: "List projects with their folders.",
        detail: "", positional: None, flags: &[], examples: &["od projects list"],
    },
    Verb {
        words: "projects rename",
        build: |given| Command::Projects(ProjectsCommand::Rename(given.into())),
        summary: "Give a project another name.",
        detail: "Its id stays, and with it every link.",
        positional: ONE_PROJECT, flags: &[needed("name", "TEXT", Value::Text, "The new name."), DRY_RUN], examples: &["od projects rename site-1a2b3c4d5e6f --name Site"],
    },
    Verb {
        words: "projects rebind",
        build: |given| Command::Projects(ProjectsCommand::Rebind(given.into())),
        summary: "Bind a project to another folder, after its own was moved.",
        detail: "Refreshes read their files from there from now on; what is stored stays as it is.",
        positional: ONE_PROJECT, flags: &[option("dir", "DIR", Value::Directory, "The folder (default: the current one)."), DRY_RUN], examples: &["od projects rebind site-1a2b3c4d5e6f --dir ~/work/new-site"],
    },
    Verb {
        words: "projects export",
        build: |given| Command::Projects(ProjectsCommand::Export(given.into())),
        summary: "Make one signed bundle of all live artifacts of a project.",
        detail: "As `od artifacts export --bundle`, for every artifact at once. Neither the project's folder nor any file in it is in the bundle.",
        positional: takes("PROJECT", Arity::Optional, Value::Text, "The project's id (else the one of the current directory)."), flags: &[needed("bundle", "FILE.odb", Value::File, "The file to write."), DRY_RUN], examples: &["od projects export --bundle site.odb"],
    },
    Verb {
        words: "projects remove",
        build: |given| Command::Projects(ProjectsCommand::Remove(given.into())),
        summary: "Remove a project; its live artifacts go to the trash.",
        detail: "The trash keeps them for 7 days: `od artifacts restore` brings one back, and the project with it. The files in the project's folder are not touched. Asks at a terminal; elsewhere it needs --yes.",
        positional: ONE_PROJECT, flags: &[YES, DRY_RUN], examples: &["od projects remove site-1a2b3c4d5e6f --dry-run"],
    },
    Verb {
        words: "connectors list",
        build: |_| Command::Connectors(ConnectorsCommand::List),
        summary: "List data sources, their state and their tools.",
        detail: "", positional: None, flags: &[], examples: &["od connectors list"],
    },
    Verb {
        words: "connectors connect",
        build: |given| Command::Connectors(ConnectorsCommand::Connect(given.into())),
        summary: "Connect a data source.",
        detail: "The secret, if one is needed, is read from the terminal without echo, or from stdin; never from the command line. It is kept encrypted in OD_HOME, outside every project.",
        positional: takes("CONNECTOR", Arity::One, Value::Text, "The connector's id."), flags: &[DRY_RUN], examples: &["od connectors connect github", "od connectors connect github < token.txt"],
    },
    Verb {
        words: "connectors disconnect",
        build: |given| Command::Connectors(ConnectorsCommand::Disconnect(given.into())),
        summary: "Disconnect a data source and forget its secret.",
        detail: "Artifacts that use it keep their last data and cannot be refreshed until it is connected again.",
        positional: takes("CONNECTOR", Arity::One, Value::Text, "The connector's id."), flags: &[DRY_RUN], examples: &["od connectors disconnect github"],
    },
    Verb {
        words: "sources add http",
        build: |given| Command::Sources(SourcesCommand::AddHttp(given.into())),
        summary: "Register a service that sources may read over HTTP.",
        detail: "Sources then name it and a path below its address: JSON, CSV, RSS and Atom by the connector `http`, metrics by `prometheus`. Only GET requests are made, to this address and no other; an agent can use what is registered and never register. With --header the secret is read from the terminal without echo, or from stdin, kept encrypted in OD_HOME, and sent to this address only; `Authorization` means a bearer token, `Authorization: Basic` another scheme. The same name again replaces the registration.",
        positional: takes("NAME URL", Arity::Two, Value::Text, "The name that sources use, and the address."),
        flags: &[option("header", "NAME", Value::Text, "The request header that carries the secret, such as X-Api-Key."), DRY_RUN],
        examples: &["od sources add http weather https://api.example.com/v1", "od sources add http metrics http://127.0.0.1:9090", "od sources add http board https://jira.example.com/rest/api/2 --header Authorization < token.txt"],
    },
    Verb {
        words: "sources add postgres",
        build: |given| Command::Sources(SourcesCommand::AddPostgres(given.into())),
        summary: "Register a PostgreSQL database that sources may read.",
        detail: "The connection string, postgresql://USER:PASSWORD@HOST:5432/DATABASE, is read from the terminal without echo, or from stdin, never from the command line, and kept encrypted in OD_HOME. Sources then name the database and one SELECT. Give a role that may only read: superusers and roles that may run programs or reach files on the server are refused. Another machine is read over TLS and its certificate is checked; `?sslmode=require` encrypts without checking. The same name again replaces the registration.",
        positional: takes("NAME", Arity::One, Value::Text, "The name that sources use."),
        flags: &[DRY_RUN],
        examples: &["od sources add postgres shop", "od sources add postgres shop < connection.txt"],
    },
    Verb {
        words: "sources list",
        build: |_| Command::Sources(SourcesCommand::List),
        summary: "List the registered services, never their secrets.",
        detail: "", positional: None, flags: &[], examples: &["od sources list"],
    },
    Verb {
        words: "sources test",
        build: |given| Command::Sources(SourcesCommand::Test(given.into())),
        summary: "Ask a registered service for one resource, or a database for its tables.",
        detail: "Makes the request that a refresh would make, secret included, and says what came.",
        positional: takes("NAME", Arity::One, Value::Text, "The service."),
        flags: &[option("path", "PATH", Value::Text, "A resource below its address (default: the address itself).")],
        examples: &["od sources test weather --path forecast", "od sources test shop"],
    },
    Verb {
        words: "sources remove",
        build: |given| Command::Sources(SourcesCommand::Remove(given.into())),
        summary: "Remove a registered service and forget its secret.",
        detail: "Artifacts that read it keep their last data and say at their next refresh that it is gone.",
        positional: takes("NAME", Arity::One, Value::Text, "The service."), flags: &[DRY_RUN], examples: &["od sources remove weather"],
    },
    Verb {
        words: "webhooks add",
        build: |given| Command::Webhooks(WebhooksCommand::Add(given.into())),
        summary: "Register an address that is told when a check changes.",
        detail: "It is sent title, check, state, value and the console's address of the artifact, and nothing else. The secret that signs it (HMAC-SHA256) is read from the terminal without echo, or from stdin, and kept encrypted in OD_HOME. The address is https, or http of this machine; its host may be in a private network only with --private, which is checked at every delivery. No redirect is followed. Three tries, then it counts as lost. The same name again replaces the registration. Only a person registers; no project, clone or bundle brings a webhook.",
        positional: takes("NAME URL", Arity::Two, Value::Text, "Its name, and the address."),
        flags: &[switch("private", "Its host may be in a private network."), DRY_RUN],
        examples: &["od webhooks add pager https://hooks.example.com/od < secret.txt", "od webhooks add local http://127.0.0.1:9000/od"],
    },
    Verb {
        words: "webhooks list",
        build: |_| Command::Webhooks(WebhooksCommand::List),
        summary: "List the webhooks, and how their deliveries went.",
        detail: "", positional: None, flags: &[], examples: &["od webhooks list"],
    },
    Verb {
        words: "webhooks test",
        build: |mut given| Command::Webhooks(WebhooksCommand::Test { name: given.required_argument() }),
        summary: "Send a webhook a notification that says it is a test.",
        detail: "One try, signed like every other.",
        positional: takes("NAME", Arity::One, Value::Text, "The webhook."), flags: &[], examples: &["od webhooks test pager"],
    },
    Verb {
        words: "webhooks remove",
        build: |given| Command::Webhooks(WebhooksCommand::Remove(given.into())),
        summary: "Remove a webhook and forget its secret.",
        detail: "What waits to be sent there is dropped.",
        positional: takes("NAME", Arity::One, Value::Text, "The webhook."), flags: &[DRY_RUN], examples: &["od webhooks remove pager"],
    },
    Verb {
        words: "skills list",
        build: |mut given| Command::Skills(SkillsCommand::List { directory: given.directory() }),
        summary: "Show the skills that an agent here would see.",
        detail: "Looks in .agents/skills and .claude/skills of the directory, its parents and the home directory, as agents do. A skill that is shadowed by a nearer one of the same name is marked.",
        positional: takes("DIR", Arity::Optional, Value::Directory, "Where the agent would start (default: the current directory)."), flags: &[], examples: &["od skills list"],
    },
    Verb {
        words: "skills show",
        build: |mut given| Command::Skills(SkillsCommand::Show {
            templates: given.has("templates"), template: given.text("template"), name: given.required_argument(),
        }),
        summary: "Print a skill: the built-in one, or one that `od skills list` names.",
        detail: "The built-in skill has templates of whole pages, each with sample data: `--templates` lists them, `--template` prints one.",
        positional: takes("NAME", Arity::One, Value::Text, "The skill's name."),
        flags: &[switch("templates", "List the built-in skill's templates."), option("template", "NAME", Value::Text, "Print one of them.")],
        examples: &["od skills show live-artifact", "od skills show live-artifact --templates", "od skills show live-artifact --template status"],
    },
    Verb {
        words: "skills install",
        build: |given| Command::Skills(SkillsCommand::Install(given.into())),
        summary: "Install the live-artifact skill where agents look.",
        detail: "Writes .agents/skills/live-artifact and .claude/skills/live-artifact below the directory. A file that is there and differs is not replaced without --force: then nothing is written at all.",
        positional: takes("DIR", Arity::Optional, Value::Directory, "The project directory (default: the current one)."),
        flags: &[option("agent", "agents|claude|all", Value::Choice(&["agents", "claude", "all"]), "Which of the two places (default: all)."), switch("force", "Overwrite files that were changed by hand."), DRY_RUN],
        examples: &["od skills install", "od skills install ~/work/site --agent claude"],
    },
    Verb {
        words: "skills check",
        build: |given| Command::Skills(SkillsCommand::Check { paths: given.paths() }),
        summary: "Check SKILL.md files against the Agent Skills format.",
        detail: "Reports every fault with line, column and fix. Both frontmatter forms are read: the six keys of the format, and the older form with `triggers` and `od` at the top, which is reported with what to move where. Exit code 1 when there are errors.",
        positional: takes("PATH", Arity::Many, Value::File, "SKILL.md files or skill directories (default: all that `od skills list` finds)."), flags: &[], examples: &["od skills check", "od skills check skills/live-artifact"],
    },
    Verb {
        words: "tools live-artifacts create",
        build: |given| Command::Tools(ToolCommand::Create(given.into())),
        summary: "Create a live artifact (for agents, inside `od run`).",
        detail: "Reads artifact.json and, beside it, template.html, data.json and provenance.json. data.json wins over document.dataJson, with a warning when they differ. Sources are read once, to try mapping and queries; firstValues says what the page shows first, refreshWouldFail that no refresh would succeed today. The same --attempt-id twice returns the first result.",
        positional: None,
        flags: &[needed("input", "FILE", Value::File, "artifact.json."), option("attempt-id", "TEXT", Value::Text, "Makes a repeated call return the first result."), FORMAT, OFFLINE, DRY_RUN],
        examples: &["od tools live-artifacts create --input artifact.json"],
    },
    Verb {
        words: "tools live-artifacts list",
        build: |given| Command::Tools(ToolCommand::List(given.into())),
        summary: "List the project's live artifacts, one page at a time (for agents).",
        detail: "A row has id, title, status, whether it can be refreshed, and its age; consoleBaseUrl and the id are the address of its page. nextCursor, if it is there, is the --cursor of the next page.",
        positional: None,
        flags: &[option("query", "WORDS", Value::Text, "Only artifacts with these words in title, description, slug or id."), option("limit", "N", Value::Number, "The most rows (default 50, at most 100)."), option("cursor", "TEXT", Value::Text, "The nextCursor of the page before."), FORMAT],
        examples: &["od tools live-artifacts list", "od tools live-artifacts list --query release --limit 5"],
    },
    Verb {
        words: "tools live-artifacts get",
        build: |given| Command::Tools(ToolCommand::Get(given.into())),
        summary: "Read a live artifact: an outline of its data, a part of it, its template (for agents).",
        detail: "The outline has a line for each place of the data, with its path. --path gives the value at one of them, --include template the template as it is stored: read both before an update.",
        positional: None,
        flags: &[ARTIFACT_ID, option("path", "PATH", Value::Text, "A part of the data, such as rows.0.name; $ is all of it."), option("include", "template|page", Value::Choice(&["template", "page"]), "Give the template as it is stored, or the page as a person sees it, too."), FORMAT],
        examples: &["od tools live-artifacts get --artifact-id la-x-1a2b3c4d5e6f", "od tools live-artifacts get --artifact-id la-x-1a2b3c4d5e6f --path rows.0 --include template"],
    },
    Verb {
        words: "tools live-artifacts update",
        build: |given| Command::Tools(ToolCommand::Update(given.into())),
        summary: "Change a live artifact (for agents).",
        detail: "Reads the input and, beside it, template.html and provenance.json if they are there; data.json only with --with-data. Fields that are left out keep their value. What a source writes is never changed by an update: its present values are kept, with a warning that names the paths.",
        positional: None,
        flags: &[ARTIFACT_ID, needed("input", "FILE", Value::File, "artifact.json."), WITH_DATA, option("if-revision", "N", Value::Number, "Refuse if the artifact is at another revision."), FORMAT, OFFLINE, DRY_RUN],
        examples: &["od tools live-artifacts update --artifact-id la-x-1a2b3c4d5e6f --input artifact.json", "od tools live-artifacts update --artifact-id la-x-1a2b3c4d5e6f --input artifact.json --with-data"],
    },
    Verb {
        words: "tools live-artifacts refresh",
        build: |given| Command::Tools(ToolCommand::Refresh(given.into())),
        summary: "Refresh a live artifact (for agents).",
        detail: "", positional: None, flags: &[ARTIFACT_ID, FORMAT, DRY_RUN], examples: &["od tools live-artifacts refresh --artifact-id la-x-1a2b3c4d5e6f"],
    },
    Verb {
        words: "tools live-artifacts delete",
        build: |given| Command::Tools(ToolCommand::Delete(given.into())),
        summary: "Move a live artifact that this run created to the trash (for agents).",
        detail: "The trash keeps it for 7 days; a person brings it back with `od artifacts restore`. What another run or a person created is refused: an update with \"status\": \"archived\" puts it away.",
        positional: None, flags: &[ARTIFACT_ID, option("if-revision", "N", Value::Number, "Refuse if the artifact is at another revision."), FORMAT, DRY_RUN],
        examples: &["od tools live-artifacts delete --artifact-id la-x-1a2b3c4d5e6f"],
    },
    Verb {
        words: "tools live-artifacts validate",
        build: |given| Command::Tools(ToolCommand::Validate(given.into())),
        summary: "Check what create or update would be given, and change nothing (for agents).",
        detail: "Reads the same files as create and says everything that create would say. With --artifact-id it checks a change of that artifact instead, and says everything that update would say.",
        positional: None,
        flags: &[needed("input", "FILE", Value::File, "artifact.json."), option("artifact-id", "ID", Value::Text, "Check a change of this artifact."), WITH_DATA, option("if-revision", "N", Value::Number, "Refuse if that artifact is at another revision."), FORMAT, OFFLINE],
        examples: &["od tools live-artifacts validate --input artifact.json", "od tools live-artifacts validate --artifact-id la-x-1a2b3c4d5e6f --input artifact.json"],
    },
    Verb {
        words: "tools connectors list",
        build: |mut given| Command::Tools(ToolCommand::Connectors(given.format())),
        summary: "List connected data sources and their read-only tools (for agents).",
        detail: "", positional: None, flags: &[FORMAT], examples: &["od tools connectors list --format compact"],
    },
    Verb {
        words: "tools connectors execute",
        build: |given| Command::Tools(ToolCommand::Execute(given.into())),
        summary: "Run one read-only tool of a data source (for agents).",
        detail: "The output is bounded and redacted; it is exactly what a refresh with the same source would get.",
        positional: None,
        flags: &[needed("connector", "ID", Value::Text, "The connector."), needed("tool", "NAME", Value::Text, "The tool, qualified or short."), needed("input", "FILE", Value::File, "The tool's input as a JSON object; `-` reads stdin."), FORMAT],
        examples: &["od tools connectors execute --connector git --tool git.summary --input input.json"],
    },
    Verb {
        words: "mcp live-artifacts",
        build: |mut given| Command::Mcp(McpCommand::Serve { project: given.text("project") }),
        summary: "Serve the agent's tools over MCP on stdio.",
        detail: "A thin client of the same endpoints as `od tools`. Inside `od run` it uses that run. Otherwise it starts or finds the daemon, works in the project that holds the client's directory or the current one, and takes a new run whenever the old one is over: after sleep, after a day, after the daemon was restarted. Without a project it serves all the same; each call says what to run.",
        positional: None, flags: &[PROJECT], examples: &["od mcp live-artifacts", "od mcp live-artifacts --project site"],
    },
    Verb {
        words: "mcp config",
        build: |mut given| Command::Mcp(McpCommand::Config { agent: given.choice("agent", Agent::from_name), project: given.text("project") }),
        summary: "Print an MCP server entry for an agent to use.",
        detail: "Prints; never edits an agent's configuration. The entry is added once, for good: the server finds daemon, project and run by itself, from any directory. It holds no token. With --project it always works in that project; without, in the one that holds the agent's directory.",
        positional: None, flags: &[needed("agent", "NAME", Value::Choice(AGENTS), "Which agent's format: claude, claude-desktop, codex, copilot, cursor, gemini, opencode, qwen, vscode or zed."), option("project", "ID", Value::Text, "Always work in this project.")], examples: &["od mcp config --agent claude", "od mcp config --agent claude-desktop --project site"],
    },
    Verb {
        words: "config list",
        build: |_| Command::Config(ConfigCommand::List),
        summary: "Show every setting of this machine and where its value comes from.",
        detail: "A flag wins over the environment, the environment over config.toml in OD_HOME, the file over the default. The data directory of a folder that has a .od/ of its own is that one, whatever the file says. A project has no such file: it cannot change what this machine allows.",
        positional: None, flags: &[], examples: &["od config list", "od config list --json"],
    },
    Verb {
        words: "config get",
        build: |mut given| Command::Config(ConfigCommand::Get { key: given.required_argument() }),
        summary: "Print the value of one setting.",
        detail: "", positional: takes("KEY", Arity::One, Value::Choice(Key::NAMES), "The setting."), flags: &[], examples: &["od config get port"],
    },
    Verb {
        words: "config set",
        build: |mut given| {
            let dry_run = given.dry_run();
            let (value, key) = (given.required_argument(), given.required_argument());
            Command::Config(ConfigCommand::Set { key, value, dry_run })
        },
        summary: "Write one setting to config.toml in OD_HOME.",
        detail: "Comments and other lines of the file stay. Unknown keys, values of the wrong kind and whatever looks like a credential are refused. A running daemon keeps what it started with; the answer and `od doctor` say so.",
        positional: takes("KEY VALUE", Arity::Two, Value::Text, "The setting and its value."), flags: &[DRY_RUN], examples: &["od config set port 8000", "od config set log-level info"],
    },
    Verb {
        words: "config unset",
        build: |mut given| Command::Config(ConfigCommand::Unset { dry_run: given.dry_run(), key: given.required_argument() }),
        summary: "Take one setting out of config.toml in OD_HOME.",
        detail: "Also a key that no version knows, or one with a wrong value, which stop every other verb.", positional: takes("KEY", Arity::One, Value::Text, "The setting."), flags: &[DRY_RUN], examples: &["od config unset port"],
    },
    Verb {
        words: "store status",
        build: |mut given| Command::Store(StoreCommand::Status { store: given.text("store") }),
        summary: "Show what keeps the artifacts, and whether it can be used.",
        detail: "Files of the data directory unless OD_STORE, `store` in config.toml or --store of the running daemon names the database of a team. Of a database it says whether it answers, and of which version its tables are.",
        positional: None, flags: &[STORE], examples: &["od store status", "od store status --store postgres://ada@db.example/od"],
    },
    Verb {
        words: "store migrate",
        build: |mut given| {
            let dry_run = given.dry_run();
            Command::Store(StoreCommand::Migrate { store: given.text("store"), dry_run })
        },
        summary: "Make the tables of a team's database, or bring them up to date.",
        detail: "Forward only, each step one transaction; while it runs others wait. Needs the role that owns the tables: those that members use may not change them. Everybody's `od` has to know the new version afterwards.",
        positional: None, flags: &[STORE, DRY_RUN], examples: &["od store migrate --store postgres://od_owner@db.example/od"],
    },
    Verb {
        words: "store copy",
        build: |mut given| {
            let dry_run = given.dry_run();
            let (from, to) = (given.text("from").unwrap_or_default(), given.text("to").unwrap_or_default());
            Command::Store(StoreCommand::Copy { from, to, dry_run })
        },
        summary: "Copy projects and artifacts with their history from one store to another.",
        detail: "From the files of a data directory to the database of a team, or back. Ids, revisions and records stay what they are; each artifact is read back and compared by its digests. What is there already is left alone, so an interrupted copy goes on where it was. Left out and named are artifacts that are damaged, edited by hand since their last commit, or there in another state. The trash, the folders of projects, chats, runs and credentials are not copied; permissions are not carried into files.",
        positional: None,
        flags: &[
            needed("from", "STORE", Value::Text, "The store to read: a data directory, or postgres://ROLE@HOST/DATABASE."),
            needed("to", "STORE", Value::Text, "The store to write, named in the same way."),
            DRY_RUN,
        ],
        examples: &["od store copy --from ~/.open-design/data --to postgres://ada@db.example/od"],
    },
    Verb {
        words: "keys status",
        build: |_| Command::Keys(KeysCommand::Status),
        summary: "Show the state of the signing keys, never the keys.",
        detail: "", positional: None, flags: &[], examples: &["od keys status"],
    },
    Verb {
        words: "keys rotate",
        build: |given| Command::Keys(KeysCommand::Rotate { dry_run: given.dry_run() }),
        summary: "Replace the signing key; the old one stays valid until the next rotation.",
        detail: "", positional: None, flags: &[DRY_RUN], examples: &["od keys rotate"],
    },
    Verb {
        words: "keys export-public",
        build: |_| Command::Keys(KeysCommand::ExportPublic),
        summary: "Show the public key that your bundles are signed with.",
        detail: "Give it to whoever gets bundles of yours: `od keys trust KEY --name YOU` on their machine. Makes the key if there is none yet; its private half stays in OD_HOME.",
        positional: None, flags: &[], examples: &["od keys export-public"],
    },
    Verb {
        words: "keys signers",
        build: |_| Command::Keys(KeysCommand::Signers),
        summary: "List the signers of bundles that are known here.",
        detail: "", positional: None, flags: &[], examples: &["od keys signers"],
    },
    Verb {
        words: "keys trust",
        build: |given| Command::Keys(KeysCommand::Trust(given.into())),
        summary: "Trust a signer of bundles, or give a known one a name.",
        detail: "Without it, a signer is trusted by the first import of a bundle of theirs.",
        positional: takes("KEY", Arity::One, Value::Text, "The public key, or the first digits of a known one."), flags: &[option("name", "TEXT", Value::Text, "What to call the signer."), DRY_RUN], examples: &["od keys trust ed25519:8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c --name Ada"],
    },
    Verb {
        words: "keys revoke",
        build: |given| Command::Keys(KeysCommand::Revoke(given.into())),
        summary: "Refuse bundles of a signer from now on.",
        detail: "For good: a revoked key is not trusted again. A key that was never met here is refused. Your own key needs --yes: it is put away, and your next bundle is signed with a new one. What was imported before stays.",
        positional: takes("KEY", Arity::One, Value::Text, "The public key, or the first digits of a known one."), flags: &[YES, DRY_RUN], examples: &["od keys revoke 8a88e3dd7409f195 --dry-run"],
    },
    Verb {
        words: "sessions list",
        build: |_| Command::Sessions(SessionsCommand::List),
        summary: "List the browsers that may open the console.",
        detail: "A browser is signed in by `od open` and stays so for 30 days. Its key cannot be copied out of it; the daemon keeps the public half in OD_HOME.",
        positional: None, flags: &[], examples: &["od sessions list"],
    },
    Verb {
        words: "sessions revoke",
        build: |given| Command::Sessions(SessionsCommand::Revoke(given.into())),
        summary: "Shut a browser out of the console, or all of them.",
        detail: "What it has open ends at once; `od open` signs it in again.",
        positional: takes("ID", Arity::Optional, Value::Text, "The session's id."), flags: &[switch("all", "End every session."), DRY_RUN], examples: &["od sessions revoke cs-0123456789ab", "od sessions revoke --all --dry-run"],
    },
    Verb {
        words: "doctor",
        build: |_| Command::Doctor,
        summary: "Check this installation; every finding names the command that fixes it.",
        detail: "Reads only. Exit code 1 when a check fails.",
        positional: None, flags: &[], examples: &["od doctor"],
    },
    Verb {
        words: "report",
        build: |_| Command::Report,
        summary: "Print what a bug report needs, without your data.",
        detail: "Version, system, the findings of `od doctor` and the last faults in the daemon's log. It holds no title, data, token, key or value of a variable, and your home directory is written `~`; other paths and the id of the project stay. Read it before you send it.",
        positional: None, flags: &[], examples: &["od report > report.txt"],
    },
    Verb {
        words: "version",
        build: |_| Command::Version,
        summary: "Print the version.",
        detail: "", positional: None, flags: &[], examples: &["od version"],
    },
    Verb {
        words: "completions",
        build: |mut given| Command::Completions(given.argument_choice(Shell::from_word)),
        summary: "Print shell completions.",
        detail: "", positional: takes("SHELL", Arity::One, Value::Choice(Shell::WORDS), "bash, fish or zsh."), flags: &[], examples: &["od completions bash > ~/.local/share/bash-completion/completions/od"],
    },
    Verb {
        words: "help",
        build: |given| Command::Help(given.words()),
        summary: "Show help for a verb, or the list of error codes.",
        detail: "With --json the document also holds the verbs as data: words, flags, kinds of values, choices, examples.", positional: takes("VERB|errors|CODE", Arity::Many, Value::Text, "Words of a verb, `errors`, or one error code."), flags: &[], examples: &["od help run", "od help errors", "od help REFRESH_LOCKED"],
    },
];
