//! The stream of a session: what a person and an agent said, and what the agent did, entry by entry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::credential::{Scrubber, redact_text};
use crate::words::words;

/// One entry of a session's stream. A later entry of the same number replaces an earlier one.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its place in the stream; the first is 1.
    pub number: u32,
    /// What it holds.
    pub content: Content,
}

/// The content of an entry. Every text of it is text, whatever it looks like.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// A part of the conversation.
    Text(Text),
    /// A call of one of the agent's tools.
    Tool(ToolCall),
    /// The agent's plan for the turn.
    Plan(Plan),
    /// A question whether the agent may do something.
    Permission(Permission),
    /// Something went wrong.
    Problem(Problem),
    /// The end of a turn that did not end by itself.
    TurnEnd(TurnEnd),
}

words! {
    /// The one whose words they are.
    Speaker {
        /// The person.
        Person = "person",
        /// The agent, to the person.
        Agent = "agent",
        /// The agent, to itself.
        Thought = "thought",
    }
}

/// A part of the conversation.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Text {
    /// Whose words they are.
    pub speaker: Speaker,
    /// The words.
    pub text: String,
}

words! {
    /// How far a call of a tool is.
    ToolStatus {
        /// It has not begun.
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It failed, or was not allowed.
        Failed = "failed",
    }
}

/// A call of one of the agent's tools.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's name for the call.
    pub call_id: String,
    /// The agent's words for the call.
    pub title: String,
    /// The name of the tool, if the agent says it apart from the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The agent's word for the kind of call, such as `execute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_kind: Option<String>,
    /// How far it is.
    pub status: ToolStatus,
    /// The input as the agent sends it to the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The text of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// The agent's plan for the turn.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Plan {
    /// Its steps, in order.
    pub steps: Vec<PlanStep>,
}

words! {
    /// How far a step of a plan is.
    StepStatus {
        /// It has not begun.
        Pending = "pending",
        /// The agent is at it.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
    }
}

/// One step of a plan.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PlanStep {
    /// The agent's words for it.
    pub text: String,
    /// How far it is.
    pub status: StepStatus,
}

words! {
    /// What an answer to a question of permission means.
    ChoiceKind {
        /// Yes, to this call.
        AllowOnce = "allow_once",
        /// Yes, and the agent need not ask again for calls like it.
        AllowAlways = "allow_always",
        /// No, to this call.
        RejectOnce = "reject_once",
        /// No, and the agent need not ask again for calls like it.
        RejectAlways = "reject_always",
    }
}

/// One answer that an agent offers.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Choice {
    /// The agent's id of it.
    pub id: String,
    /// The agent's words for it.
    pub name: String,
    /// What it means.
    pub kind: ChoiceKind,
}

words! {
    /// The one who answered a question of permission, or why nobody did.
    Answerer {
        /// The person.
        Person = "person",
        /// The policy: one of od's own tools, whose token says what it may do.
        Policy = "policy",
        /// Nobody: the turn was stopped, or the agent went away.
        Nobody = "nobody",
    }
}

/// The answer that a question of permission got.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Answer {
    /// Who gave it.
    pub by: Answerer,
    /// What was chosen; nothing if nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
}

/// A question whether the agent may do something.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// The call it is about.
    pub call: ToolCall,
    /// Whether the input was longer than what is shown of it.
    pub input_cut: bool,
    /// The answers that the agent offers.
    pub choices: Vec<Choice>,
    /// The answer, once there is one. It does not change any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// Something that went wrong in a session, in a person's words.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Problem {
    /// What happened.
    pub message: String,
    /// What the person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

words! {
    /// How a turn ended that did not end by itself.
    TurnOutcome {
        /// The person stopped it, and every program of the agent is gone.
        Cancelled = "cancelled",
        /// The model refused.
        Refused = "refused",
        /// The agent reached a limit of its own.
        Limit = "limit",
        /// The agent or the daemon ended in the middle.
        Interrupted = "interrupted",
    }
}

/// The end of a turn that did not end by itself.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct TurnEnd {
    /// How it ended.
    pub outcome: TurnOutcome,
}

impl Content {
    /// Returns the number of bytes of its texts.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.each_text(|text| len += text.len());
        len
    }

    /// Returns whether it has no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes the daemon's own secrets and whatever looks like a credential out of its texts.
    #[must_use]
    pub fn redacted(mut self, held: &Scrubber) -> Self {
        self.each_text_mut(|text| {
            if let Some(scrubbed) = held.scrub_text(text) {
                *text = scrubbed;
            }
            if let std::borrow::Cow::Owned(redacted) = redact_text(text) {
                *text = redacted;
            }
        });
        self
    }

    fn each_text(&self, mut see: impl FnMut(&str)) {
        match self {
            Self::Text(text) => see(&text.text),
            Self::Tool(call) => call.each_text(&mut see),
            Self::Plan(plan) => plan.steps.iter().for_each(|step| see(&step.text)),
            Self::Permission(permission) => {
                permission.call.each_text(&mut see);
                permission.choices.iter().for_each(|choice| see(&choice.name));
            }
            Self::Problem(problem) => {
                see(&problem.message);
                problem.suggestion.iter().for_each(|text| see(text));
            }
            Self::TurnEnd(_) => {}
        }
    }

    fn each_text_mut(&mut self, mut see: impl FnMut(&mut String)) {
        match self {
            Self::Text(text) => see(&mut text.text),
            Self::Tool(call) => call.each_text_mut(&mut see),
            Self::Plan(plan) => plan.steps.iter_mut().for_each(|step| see(&mut step.text)),
            Self::Permission(permission) => {
                permission.call.each_text_mut(&mut see);
                permission.choices.iter_mut().for_each(|choice| see(&mut choice.name));
            }
            Self::Problem(problem) => {
                see(&mut problem.message);
                problem.suggestion.iter_mut().for_each(see);
            }
            Self::TurnEnd(_) => {}
        }
    }
}

impl ToolCall {
    fn each_text(&self, see: &mut impl FnMut(&str)) {
        see(&self.title);
        for text in [&self.tool, &self.call_kind, &self.input, &self.result].into_iter().flatten() {
            see(text);
        }
    }

    fn each_text_mut(&mut self, see: &mut impl FnMut(&mut String)) {
        see(&mut self.title);
        let texts = [&mut self.tool, &mut self.call_kind, &mut self.input, &mut self.result];
        for text in texts.into_iter().flatten() {
            see(text);
        }
    }
}
