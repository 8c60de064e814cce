//! Messages of agents, as far as a session needs it. Unknown fields and kinds are passed over: a newer
//! agent says more, and that is no fault.

use std::fmt;

use od_core::agent::{
    Choice, ChoiceKind, PlanStep, Speaker, StepStatus, ToolStatus, ToolUpdate, Update, Usage,
    cut_bytes,
};
use od_core::limits::{AGENT_CHOICES, AGENT_PLAN, AGENT_TEXT, AGENT_TOOL_TEXT};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::bounded::{First, JsonText};

/// One line of an agent.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// It asks, and waits for an answer.
    Request { id: MessageId, method: String, params: Box<Params> },
    /// It tells.
    Notification { method: String, params: Box<Params> },
    /// It answers.
    Response { id: MessageId, outcome: Result<Box<Answer>, ErrorPart> },
}

/// The id of a request.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum MessageId {
    Number(i64),
    Text(String),
}

impl MessageId {
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
        }
    }
}

impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;
        impl Visitor<'_> for Id {
            type Value = MessageId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id of 256 bytes at most")
            }
            fn visit_i64<E>(self, value: i64) -> Result<MessageId, E> {
                Ok(MessageId::Number(value))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<MessageId, E> {
                i64::try_from(value).map(MessageId::Number).map_err(E::custom)
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<MessageId, E> {
                let fits = value.len() <= 256;
                fits.then(|| MessageId::Text(value.to_owned()))
                    .ok_or_else(|| E::custom("an id that is too long"))
            }
        }
        deserializer.deserialize_any(Id)
    }
}

#[derive(Deserialize)]
struct Line {
    id: Option<MessageId>,
    method: Option<String>,
    params: Option<Params>,
    result: Option<Answer>,
    error: Option<ErrorPart>,
}

/// A line whose insides are not as the protocol has them: enough to answer it.
#[derive(Deserialize)]
struct Head {
    id: Option<MessageId>,
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Params {
    update: Option<UpdatePart>,
    tool_call: Option<UpdatePart>,
    options: First<OptionPart, { AGENT_CHOICES.max() }>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UpdatePart {
    session_update: Option<String>,
    message_id: Option<String>,
    content: Content,
    tool_call_id: Option<String>,
    title: Option<String>,
    name: Option<String>,
    kind: Option<String>,
    status: Option<String>,
    raw_input: Option<JsonText>,
    raw_output: Option<JsonText>,
    entries: First<PlanPart, { AGENT_PLAN.max() }>,
    used: Option<u64>,
    size: Option<u64>,
    cost: Option<CostPart>,
    #[serde(rename = "_meta")]
    meta: Option<MetaPart>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PlanPart {
    content: String,
    status: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CostPart {
    amount: f64,
    currency: String,
}

impl CostPart {
    /// Returns the sum as people read it: agents send `0.0009800000000000002`.
    fn told(&self) -> String {
        let rounded = (self.amount * 10_000.0).round() / 10_000.0;
        format!("{rounded} {}", cut_bytes(&self.currency, 8).0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MetaPart {
    tool_name: Option<String>,
    claude_code: Option<ClaudePart>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaudePart {
    tool_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OptionPart {
    option_id: String,
    name: String,
    kind: String,
}

/// The text of content: of one block, or of a list of what a tool gave.
#[derive(Debug, Default)]
struct Content(String);

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Block {
    text: Option<String>,
    path: Option<String>,
    old_text: Option<String>,
    new_text: Option<String>,
    content: Option<InnerBlock>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InnerBlock {
    text: Option<String>,
}

impl Block {
    fn write(self, to: &mut String) {
        let mut push = |part: &str| {
            let room = AGENT_TEXT.max().saturating_sub(to.len());
            to.push_str(&part[..part.floor_char_boundary(room)]);
        };
        if let Some(path) = &self.path {
            push(path);
            push("\n");
        }
        for (mark, side) in [("- ", &self.old_text), ("+ ", &self.new_text)] {
            for line in side.iter().flat_map(|text| text.lines()) {
                push(mark);
                push(line);
                push("\n");
            }
        }
        for text in [self.text, self.content.and_then(|inner| inner.text)].into_iter().flatten() {
            push(&text);
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Blocks;
        impl<'de> Visitor<'de> for Blocks {
            type Value = Content;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("content")
            }
            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }
            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content(cut_bytes(text, AGENT_TEXT.max()).0))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                let block = Block::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let mut text = String::new();
                block.write(&mut text);
                Ok(Content(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                let mut text = String::new();
                while let Some(block) = seq.next_element::<Block>()? {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    block.write(&mut text);
                }
                Ok(Content(text))
            }
        }
        deserializer.deserialize_any(Blocks)
    }
}

/// The answer to a request of ours: the fields of all of them, none of which has to be there.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Answer {
    pub(crate) protocol_version: Option<u64>,
    pub(crate) agent_capabilities: Capabilities,
    pub(crate) session_id: Option<String>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) modes: Option<Modes>,
    pub(crate) config_options: First<ConfigOption, 50>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Capabilities {
    pub(crate) load_session: bool,
    pub(crate) mcp_capabilities: McpCapabilities,
    pub(crate) session_capabilities: SessionCapabilities,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct McpCapabilities {
    pub(crate) http: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SessionCapabilities {
    pub(crate) resume: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Modes {
    pub(crate) current_mode_id: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ConfigOption {
    pub(crate) id: String,
    pub(crate) current_value: JsonText,
}

/// The error of an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ErrorPart {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<JsonText>,
}

/// Reads one line; nothing for one that is no message.
pub(crate) fn read(line: &[u8]) -> Option<Incoming> {
    let Ok(line) = serde_json::from_slice::<Line>(line) else {
        let Head { id, method, result, error } = serde_json::from_slice(line).ok()?;
        let params = Box::default();
        return match (id, method) {
            (Some(id), Some(method)) => Some(Incoming::Request { id, method, params }),
            (None, Some(method)) => Some(Incoming::Notification { method, params }),
            (Some(id), None) if error.is_some() => {
                Some(Incoming::Response { id, outcome: Err(ErrorPart::default()) })
            }
            (Some(id), None) if result.is_some() => {
                Some(Incoming::Response { id, outcome: Ok(Box::default()) })
            }
            (Some(_) | None, None) => None,
        };
    };
    let params = Box::new(line.params.unwrap_or_default());
    match (line.id, line.method) {
        (Some(id), Some(method)) => Some(Incoming::Request { id, method, params }),
        (None, Some(method)) => Some(Incoming::Notification { method, params }),
        (Some(id), None) => {
            let outcome = match line.error {
                Some(error) => Err(error),
                None => Ok(Box::new(line.result.unwrap_or_default())),
            };
            Some(Incoming::Response { id, outcome })
        }
        (None, None) => None,
    }
}

impl Params {
    /// Returns the update of a notification, if a session shows it.
    pub(crate) fn into_update(self) -> Option<Update> {
        let part = self.update?;
        let words = |speaker, part: UpdatePart| {
            let text = part.content.0;
            let message = part.message_id.map(|id| cut_bytes(&id, 256).0);
            (!text.is_empty()).then_some(Update::Words { speaker, message, text })
        };
        match part.session_update.as_deref()? {
            "agent_message_chunk" => words(Speaker::Agent, part),
            "agent_thought_chunk" => words(Speaker::Thought, part),
            "tool_call" | "tool_call_update" => {
                part.into_tool().map(|(tool, _)| Update::Tool(tool))
            }
            "plan" => Some(Update::Plan(part.entries.0.iter().map(step_of).collect())),
            "usage_update" => {
                let cost = part.cost.map(|cost| cost.told());
                let (context_used, context_size) = (part.used, part.size);
                Some(Update::Usage(Usage { context_used, context_size, cost }))
            }
            "session_info_update" => part.title.map(Update::Title),
            // What the person said is ours to show; commands, modes and settings are not shown.
            _ => None,
        }
    }

    /// Returns the question of a request: the call, the name that stands in a field for it, the answers.
    pub(crate) fn into_question(self) -> Option<(ToolUpdate, Option<String>, Vec<Choice>)> {
        let (call, name) = self.tool_call?.into_tool()?;
        let choices = self.options.0.into_iter().filter_map(|option| {
            let kind = ChoiceKind::from_word(&option.kind)?;
            let fits = option.option_id.len() <= 1024;
            let name = cut_bytes(&option.name, 500).0;
            fits.then_some(Choice { id: option.option_id, name, kind })
        });
        Some((call, name, choices.collect()))
    }
}

impl UpdatePart {
    fn into_tool(self) -> Option<(ToolUpdate, Option<String>)> {
        let meta = self.meta.unwrap_or_default();
        let in_meta = meta.claude_code.and_then(|meta| meta.tool_name).or(meta.tool_name);
        let short = |text: String| cut_bytes(&text, 2048).0;
        let name = self.name.or(in_meta).map(short);
        let result = Some(self.content.0).filter(|text| !text.is_empty());
        let result = result.or(self.raw_output.map(|text| text.0));
        let update = ToolUpdate {
            call_id: short(self.tool_call_id?),
            title: self.title.map(short),
            tool: name.clone(),
            call_kind: self.kind.map(short),
            status: self.status.as_deref().and_then(ToolStatus::from_word),
            input: self.raw_input.map(|text| text.0).filter(|text| text != "{}"),
            result: result.map(|text| cut_bytes(&text, AGENT_TOOL_TEXT.max()).0),
        };
        Some((update, name))
    }
}

fn step_of(part: &PlanPart) -> PlanStep {
    let status = StepStatus::from_word(&part.status).unwrap_or(StepStatus::Pending);
    PlanStep { text: cut_bytes(&part.content, 2048).0, status }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(json: &str) -> Option<Update> {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{json}}}}}"#
        );
        match read(line.as_bytes()) {
            Some(Incoming::Notification { params, .. }) => params.into_update(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_real_agents_send_is_understood() {
        let words = update(
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"w"},"messageId":"m"}"#,
        );
        let (speaker, message) = (Speaker::Agent, Some("m".to_owned()));
        assert_eq!(words, Some(Update::Words { speaker, message, text: "w".to_owned() }));
        let Some(Update::Tool(tool)) = update(
            r#"{"_meta":{"claudeCode":{"toolName":"Bash"}},"toolCallId":"t","sessionUpdate":"tool_call_update",
            "status":"completed","rawOutput":"0","content":[{"type":"content","content":{"type":"text","text":"one"}},
            {"type":"diff","path":"a","oldText":"x","newText":"y"},{"type":"terminal","terminalId":"t"}]}"#,
        ) else {
            panic!("no tool")
        };
        assert_eq!(
            (tool.tool.as_deref(), tool.status),
            (Some("Bash"), Some(ToolStatus::Completed))
        );
        assert_eq!(tool.result.as_deref(), Some("one\na\n- x\n+ y\n"));
        let usage = update(
            r#"{"sessionUpdate":"usage_update","used":15,"size":100,"cost":{"amount":0.49996,"currency":"USD"}}"#,
        );
        let cost = Some("0.5 USD".to_owned());
        let (context_used, context_size) = (Some(15), Some(100));
        assert_eq!(usage, Some(Update::Usage(Usage { context_used, context_size, cost })));
        assert_eq!(update(r#"{"sessionUpdate":"available_commands_update"}"#), None);
        assert_eq!(update(r#"{"sessionUpdate":"something_new","title":"x"}"#), None);
    }

    #[test]
    fn a_question_names_the_tool_where_the_agent_does_and_only_known_kinds_of_answers() {
        let line = br#"{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s",
            "toolCall":{"toolCallId":"c","title":"t","rawInput":{"command":"ls"},"_meta":{"toolName":"mcp__od__x"}},
            "options":[{"optionId":"a","name":"Yes","kind":"allow_once"},{"optionId":"b","name":"?","kind":"new"}]}}"#;
        let Some(Incoming::Request { id, params, .. }) = read(line) else { panic!("no request") };
        assert_eq!(id, MessageId::Text("q".to_owned()));
        let (call, name, choices) = params.into_question().unwrap();
        assert_eq!(call.input.as_deref(), Some("{\n  \"command\": \"ls\"\n}"));
        assert_eq!(name.as_deref(), Some("mcp__od__x"));
        assert_eq!(choices.len(), 1);
    }

    #[test]
    fn what_is_no_message_is_passed_over_and_an_odd_one_can_be_answered() {
        for noise in ["", "hello", "[]", "7", "{}", "{\"id\":null}", "{\"jsonrpc\":\"2.0\"}"] {
            assert!(read(noise.as_bytes()).is_none(), "{noise}");
        }
        let odd = read(br#"{"id":3,"method":"fs/read","params":[1,2]}"#);
        assert!(matches!(odd, Some(Incoming::Request { id: MessageId::Number(3), .. })), "{odd:?}");
    }
}
