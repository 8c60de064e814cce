//! Every verb and flag of `od`, as data: the parser, help, completions and docs/cli.md read it, and a
//! row makes the typed command of its verb. A new verb is a row here and a function in `verbs`.

use od_mcp::launch::Agent;

use super::artifacts::ArtifactsCommand;
use super::command::{Command, ConnectorsCommand, KeysCommand, McpCommand, Shell, SkillsCommand};
use super::tools::{Format, ToolCommand};
use super::verb::{Arity, Flag, Positional, Value, Verb};

/// Flags that every verb takes.
#[rustfmt::skip]
pub const GLOBAL_FLAGS: &[Flag] = &[
    Flag { long: "json", short: None, value: None, required: false, help: "Write one JSON document to stdout." },
    Flag { long: "data-dir", short: None, value: Some(("DIR", Value::Directory)), required: false, help: "Use this data directory (else OD_DATA_DIR, else the nearest .od/ upward, else the one in OD_HOME)." },
    Flag { long: "help", short: Some('h'), value: None, required: false, help: "Show the verb's help." },
];

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
const PORT: Flag = option(
    "port",
    "N",
    Value::Port,
    "Port of the API and the console on 127.0.0.1 (default 7456; 0 takes a free one). Previews get the next free one.",
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
    Agent::Codex.as_str(),
    Agent::Cursor.as_str(),
    Agent::Gemini.as_str(),
    Agent::Opencode.as_str(),
    Agent::Qwen.as_str(),
];

const ONE_ARTIFACT: Option<Positional> = takes(
    "ARTIFACT",
    Arity::One,
    Value::Text,
    "The artifact's id, or its slug if only one artifact of the project has it.",
);

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
            DRY_RUN,
        ],
        examples: &["od demo", "od demo --once"],
    },
    Verb {
        words: "init",
        build: |given| Command::Init(given.into()),
        summary: "Register a directory as a project.",
        detail: "Agents started with `od run` in this directory make their artifacts in the project, and sources read files below it. Only this command can bind a directory to a project. Running it again changes nothing.",
        positional: takes("DIR", Arity::Optional, Value::Directory, "The directory (default: the current one)."),
        flags: &[option("name", "TEXT", Value::Text, "What the console calls the project (default: the directory's name)."), DRY_RUN],
        examples: &["od init", "od init ~/work/site --name 'Site'"],
    },
    Verb {
        words: "run",
        build: |given| Command::Run(given.into()),
        summary: "Start any agent with the right to make live artifacts.",
        detail: "Starts the daemon if none runs, mints a token that is good for this project and this run only, puts OD_BIN, OD_DAEMON_URL, OD_DATA_DIR, OD_TOOL_TOKEN and OD_RUN_ID into the command's environment, renews the run's lease while the command lives, passes signals on, and ends the run when the command exits. Input, output and exit code are the command's; --json is only for what goes wrong before it starts.",
        positional: takes("CMD", Arity::Rest, Value::Text, "The command and its arguments."),
        flags: &[PROJECT, DRY_RUN],
        examples: &["od run -- claude", "od run --project site -- codex exec 'make a live release dashboard'"],
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
            DRY_RUN,
        ],
        examples: &["od serve", "od serve --port 0"],
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
        detail: "The last updated first. Works with and without a running daemon. Without --project and outside a project's directory it lists every project's.",
        positional: None, flags: &[PROJECT, switch("trash", "List what `od artifacts restore` can bring back instead.")], examples: &["od artifacts list", "od artifacts list --project site --json", "od artifacts list --trash"],
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
        words: "artifacts history",
        build: |given| Command::Artifacts(ArtifactsCommand::History(given.into())),
        summary: "Show an artifact's refreshes, newest first.",
        detail: "", positional: ONE_ARTIFACT, flags: &[PROJECT], examples: &["od artifacts history release-dashboard"],
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
        summary: "Make the state that a refresh left the current one again.",
        detail: "Data and provenance of that time become a new revision; nothing in the history changes, so that a rollback can be rolled back. Refused where the template or the data's schema of today does not fit the data of that time. `od artifacts history` shows the refreshes.",
        positional: ONE_ARTIFACT, flags: &[needed("to", "REFRESH_ID", Value::Text, "The refresh whose state is wanted."), option("if-revision", "N", Value::Number, "Refuse if the artifact is at another revision."), PROJECT, DRY_RUN],
        examples: &["od artifacts rollback release-dashboard --to refresh-000003"],
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
        words: "skills list",
        build: |mut given| Command::Skills(SkillsCommand::List { directory: given.directory() }),
        summary: "Show the skills that an agent here would see.",
        detail: "Looks in .agents/skills and .claude/skills of the directory, its parents and the home directory, as agents do. A skill that is shadowed by a nearer one of the same name is marked.",
        positional: takes("DIR", Arity::Optional, Value::Directory, "Where the agent would start (default: the current directory)."), flags: &[], examples: &["od skills list"],
    },
    Verb {
        words: "skills show",
        build: |mut given| Command::Skills(SkillsCommand::Show { name: given.required_argument() }),
        summary: "Print a skill: the built-in one, or one that `od skills list` names.",
        detail: "", positional: takes("NAME", Arity::One, Value::Text, "The skill's name."), flags: &[], examples: &["od skills show live-artifact"],
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
        detail: "Reads artifact.json and, beside it, template.html, data.json and provenance.json. data.json wins over document.dataJson, with a warning when they differ. The same --attempt-id twice returns the first result.",
        positional: None,
        flags: &[needed("input", "FILE", Value::File, "artifact.json."), option("attempt-id", "TEXT", Value::Text, "Makes a repeated call return the first result."), FORMAT, DRY_RUN],
        examples: &["od tools live-artifacts create --input artifact.json"],
    },
    Verb {
        words: "tools live-artifacts list",
        build: |mut given| Command::Tools(ToolCommand::List(given.format())),
        summary: "List the project's live artifacts (for agents).",
        detail: "", positional: None, flags: &[FORMAT], examples: &["od tools live-artifacts list --format compact"],
    },
    Verb {
        words: "tools live-artifacts update",
        build: |given| Command::Tools(ToolCommand::Update(given.into())),
        summary: "Change a live artifact (for agents).",
        detail: "Reads the input and, beside it, template.html, data.json and provenance.json if they are there. Fields that are left out keep their value.",
        positional: None,
        flags: &[ARTIFACT_ID, needed("input", "FILE", Value::File, "artifact.json."), option("if-revision", "N", Value::Number, "Refuse if the artifact is at another revision."), FORMAT, DRY_RUN],
        examples: &["od tools live-artifacts update --artifact-id la-x-1a2b3c4d5e6f --input artifact.json"],
    },
    Verb {
        words: "tools live-artifacts refresh",
        build: |given| Command::Tools(ToolCommand::Refresh(given.into())),
        summary: "Refresh a live artifact (for agents).",
        detail: "", positional: None, flags: &[ARTIFACT_ID, FORMAT, DRY_RUN], examples: &["od tools live-artifacts refresh --artifact-id la-x-1a2b3c4d5e6f"],
    },
    Verb {
        words: "tools live-artifacts validate",
        build: |given| Command::Tools(ToolCommand::Validate(given.into())),
        summary: "Check what create or update would be given, and change nothing (for agents).",
        detail: "Reads the same files as create and says everything that create would say. With --artifact-id it checks a change of that artifact instead, and says everything that update would say.",
        positional: None,
        flags: &[needed("input", "FILE", Value::File, "artifact.json."), option("artifact-id", "ID", Value::Text, "Check a change of this artifact."), option("if-revision", "N", Value::Number, "Refuse if that artifact is at another revision."), FORMAT],
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
        build: |_| Command::Mcp(McpCommand::Serve),
        summary: "Serve the agent's tools over MCP on stdio (inside `od run`).",
        detail: "A thin client of the same endpoints as `od tools`; the token comes from the environment that `od run` sets.",
        positional: None, flags: &[], examples: &["od run -- my-agent --mcp 'od mcp live-artifacts'"],
    },
    Verb {
        words: "mcp config",
        build: |mut given| Command::Mcp(McpCommand::Config { agent: given.choice("agent", Agent::from_name) }),
        summary: "Print an MCP server entry for an agent to use.",
        detail: "Prints; never edits an agent's configuration. The entry holds no token: the server takes it from the environment of `od run`.",
        positional: None, flags: &[needed("agent", "NAME", Value::Choice(AGENTS), "Which agent's format: claude, codex, cursor, gemini, opencode or qwen.")], examples: &["od mcp config --agent claude"],
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
        detail: "With --json the document also holds the verbs as data: words, flags, kinds of values, choices, examples.", positional: takes("VERB|errors", Arity::Many, Value::Text, "Words of a verb, or `errors`."), flags: &[], examples: &["od help run", "od help errors"],
    },
];
