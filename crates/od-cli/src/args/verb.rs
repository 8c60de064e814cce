//! The shape of one row of the verb table.

/// Names every verb of the command line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VerbId {
    /// `od serve`
    Serve,
    /// `od demo`
    Demo,
    /// `od open`
    Open,
    /// `od init`
    Init,
    /// `od run`
    Run,
    /// `od tools …`
    Tool(ToolVerb),
    /// `od artifacts …`
    Artifacts(ArtifactsVerb),
    /// `od connectors list`
    ConnectorsList,
    /// `od connectors connect`
    ConnectorsConnect,
    /// `od connectors disconnect`
    ConnectorsDisconnect,
    /// `od skills list`
    SkillsList,
    /// `od skills show`
    SkillsShow,
    /// `od skills install`
    SkillsInstall,
    /// `od skills check`
    SkillsCheck,
    /// `od mcp live-artifacts`
    McpServe,
    /// `od mcp config`
    McpConfig,
    /// `od keys status`
    KeysStatus,
    /// `od keys rotate`
    KeysRotate,
    /// `od doctor`
    Doctor,
    /// `od version`
    Version,
    /// `od help`
    Help,
    /// `od completions`
    Completions,
}

/// The verbs that an agent calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ToolVerb {
    /// `od tools live-artifacts create`
    Create,
    /// `od tools live-artifacts list`
    List,
    /// `od tools live-artifacts update`
    Update,
    /// `od tools live-artifacts refresh`
    Refresh,
    /// `od tools live-artifacts validate`
    Validate,
    /// `od tools connectors list`
    Connectors,
    /// `od tools connectors execute`
    Execute,
}

/// The verbs about stored artifacts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ArtifactsVerb {
    /// `od artifacts list`
    List,
    /// `od artifacts show`
    Show,
    /// `od artifacts refresh`
    Refresh,
    /// `od artifacts history`
    History,
    /// `od artifacts verify`
    Verify,
    /// `od artifacts repair`
    Repair,
    /// `od artifacts rollback`
    Rollback,
    /// `od artifacts restore`
    Restore,
    /// `od artifacts open`
    Open,
}

/// What a flag or an argument takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Value {
    /// The path of a file, or `-` for standard input where the help says so.
    File,
    /// The path of a directory.
    Directory,
    /// Any text.
    Text,
    /// A whole number that fits in a `u64`.
    Number,
    /// A TCP port.
    Port,
    /// One of a closed list of words.
    Choice(&'static [&'static str]),
}

/// One flag of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// The long name, without its dashes.
    pub long: &'static str,
    /// The one-letter name, if it has one.
    pub short: Option<char>,
    /// What stands after it in a usage line, and what it takes; `None` for a switch.
    pub value: Option<(&'static str, Value)>,
    /// Whether the verb cannot run without it.
    pub required: bool,
    /// One sentence for help.
    pub help: &'static str,
}

/// How many positional arguments a verb takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Many,
    /// Everything that is left, flags included: a command to start.
    Rest,
}

/// The positional argument of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Positional {
    /// What stands in the usage line.
    pub name: &'static str,
    /// How many.
    pub arity: Arity,
    /// What each one is.
    pub value: Value,
    /// One sentence for help.
    pub help: &'static str,
}

/// One verb: everything that help, completions, docs and the parser know about it.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// Its name in code.
    pub id: VerbId,
    /// Its words on the command line, separated by single spaces.
    pub words: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Further paragraphs for the verb's own help.
    pub detail: &'static str,
    /// Its positional argument, if it takes one.
    pub positional: Option<Positional>,
    /// Its own flags; the global ones come on top.
    pub flags: &'static [Flag],
    /// Commands to copy.
    pub examples: &'static [&'static str],
}

impl Verb {
    /// Returns the usage line, without the word `usage`.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut line = format!("od {}", self.words);
        for flag in self.flags {
            let text = flag.spelled();
            if flag.required {
                line.push_str(&format!(" {text}"));
            } else {
                line.push_str(&format!(" [{text}]"));
            }
        }
        line.push_str(" [--json]");
        if let Some(positional) = self.positional {
            line.push_str(&match positional.arity {
                Arity::One => format!(" {}", positional.name),
                Arity::Optional => format!(" [{}]", positional.name),
                Arity::Many => format!(" [{}…]", positional.name),
                Arity::Rest => format!(" -- {}…", positional.name),
            });
        }
        line
    }

    /// Whether the verb can be asked to change nothing.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.flags.iter().any(|flag| flag.long == "dry-run")
    }
}

impl Flag {
    /// Returns the flag as a person types it, with the name of its value.
    #[must_use]
    pub fn spelled(&self) -> String {
        match self.value {
            Some((name, _)) => format!("--{} {name}", self.long),
            None => format!("--{}", self.long),
        }
    }
}
