//! The fold: updates of an agent to entries, each kept once under its number, all of it bounded.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::{
    Answer, Answerer, Choice, Content, Entry, Permission, Plan, PlanStep, Problem, Speaker, Text,
    ToolCall, ToolStatus, TurnEnd, TurnOutcome, Usage,
};
use crate::limits::{
    AGENT_ENTRIES, AGENT_PENDING, AGENT_TEXT, AGENT_TITLE, AGENT_TOOL_TEXT, AGENT_TRANSCRIPT, cut,
};

/// One update of an agent, whatever protocol it came by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Update {
    /// More words of one message.
    Words {
        /// Whose.
        speaker: Speaker,
        /// The agent's id of the message, if it has one; another id begins another message.
        message: Option<String>,
        /// The words.
        text: String,
    },
    /// A call of a tool, new or changed.
    Tool(ToolUpdate),
    /// The whole plan as it is now.
    Plan(Vec<PlanStep>),
    /// What was used so far.
    Usage(Usage),
    /// A title for the session.
    Title(String),
}

/// A call of a tool as an update tells it: what is absent stays as it was.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToolUpdate {
    /// The agent's name for the call.
    pub call_id: String,
    /// The agent's words for it.
    pub title: Option<String>,
    /// The name of the tool.
    pub tool: Option<String>,
    /// The kind of call.
    pub call_kind: Option<String>,
    /// How far it is.
    pub status: Option<ToolStatus>,
    /// The input.
    pub input: Option<String>,
    /// The text of the result.
    pub result: Option<String>,
}

/// A change of a stream that listeners hear of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// So many bytes were added to the text of this entry.
    Grew {
        /// The entry.
        number: u32,
        /// The length of the text before.
        from: usize,
    },
    /// This entry is new, or another than before.
    Entry(u32),
}

/// The entries of a session in memory.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: VecDeque<Entry>,
    next: u32,
    bytes: usize,
    /// Entries of the calls of this turn, by the agent's name for them.
    calls: HashMap<String, u32>,
    /// The message that goes on, if the next words are of the same speaker and message.
    open: Option<(u32, Speaker, Option<String>)>,
    plan: Option<u32>,
    /// Questions that nobody has answered.
    pending: BTreeSet<u32>,
    /// Entries that changed since they were last written down.
    unsaved: BTreeSet<u32>,
}

impl Transcript {
    /// Makes one of entries that were kept. Questions left open in them are answered by nobody.
    #[must_use]
    pub fn of(kept: Vec<Entry>) -> Self {
        let mut transcript = Self::default();
        for entry in kept {
            transcript.next = transcript.next.max(entry.number);
            transcript.bytes += entry.content.len();
            if let Content::Permission(Permission { answer: None, .. }) = &entry.content {
                transcript.pending.insert(entry.number);
            }
            transcript.entries.push_back(entry);
        }
        transcript.cancel_pending();
        transcript.trim();
        transcript
    }

    /// Returns the entries, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Returns one entry, if it is still kept.
    #[must_use]
    pub fn entry(&self, number: u32) -> Option<&Entry> {
        self.at(number).map(|index| &self.entries[index])
    }

    /// Returns the number of bytes of all texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the questions that nobody has answered.
    pub fn pending(&self) -> impl Iterator<Item = u32> {
        self.pending.iter().copied()
    }

    /// Returns the entries that changed since this was last asked.
    pub fn take_unsaved(&mut self) -> Vec<Entry> {
        let unsaved = std::mem::take(&mut self.unsaved);
        unsaved.into_iter().filter_map(|number| self.entry(number).cloned()).collect()
    }

    /// Adds words; words of the same message go on in its entry.
    pub fn words(
        &mut self,
        speaker: Speaker,
        message: Option<String>,
        text: &str,
    ) -> Option<Change> {
        if text.is_empty() {
            return None;
        }
        let goes_on = self.open.as_ref().filter(|(_, open, id)| {
            *open == speaker && (*id == message || id.is_none() || message.is_none())
        });
        if let Some((number, _, _)) = goes_on.cloned()
            && let Some(index) = self.at(number)
            && let Content::Text(words) = &mut self.entries[index].content
            && AGENT_TEXT.allows(words.text.len() + text.len())
        {
            let from = words.text.len();
            words.text.push_str(text);
            self.bytes += text.len();
            self.unsaved.insert(number);
            self.trim();
            return Some(Change::Grew { number, from });
        }
        let text = cut_bytes(text, AGENT_TEXT.max()).0;
        let number = self.add(Content::Text(Text { speaker, text }));
        self.open = Some((number, speaker, message));
        Some(Change::Entry(number))
    }

    /// Adds a call, or changes the one of the same name.
    pub fn tool(&mut self, update: ToolUpdate) -> Change {
        self.open = None;
        let known = self.calls.get(&update.call_id).copied();
        if let Some(number) = known.filter(|number| self.at(*number).is_some()) {
            self.change(number, |content| {
                if let Content::Tool(call) = content {
                    merge(call, update);
                }
            });
            return Change::Entry(number);
        }
        let name = update.call_id.clone();
        let number = self.add(Content::Tool(call_of(update)));
        self.calls.insert(name, number);
        Change::Entry(number)
    }

    /// Shows the plan as it is now; there is one for each turn.
    pub fn plan(&mut self, mut steps: Vec<PlanStep>) -> Change {
        self.open = None;
        for step in &mut steps {
            step.text = cut(std::mem::take(&mut step.text), AGENT_TITLE);
        }
        if let Some(number) = self.plan.filter(|number| self.at(*number).is_some()) {
            self.change(number, |content| *content = Content::Plan(Plan { steps }));
            return Change::Entry(number);
        }
        let number = self.add(Content::Plan(Plan { steps }));
        self.plan = Some(number);
        Change::Entry(number)
    }

    /// Asks a question. Fails if too many wait for an answer already.
    ///
    /// # Errors
    ///
    /// Fails with [`TooManyQuestions`], and asks nothing.
    pub fn ask(&mut self, call: ToolUpdate, choices: Vec<Choice>) -> Result<u32, TooManyQuestions> {
        if !AGENT_PENDING.allows(self.pending.len() + 1) {
            return Err(TooManyQuestions);
        }
        self.open = None;
        let mut shown = call;
        // A question often repeats less than the call said before it: what is known is shown.
        if let Some(Content::Tool(known)) = self
            .calls
            .get(&shown.call_id)
            .and_then(|number| self.entry(*number))
            .map(|entry| &entry.content)
        {
            shown.input = shown.input.or_else(|| known.input.clone());
            shown.title = shown.title.or_else(|| Some(known.title.clone()));
            shown.tool = shown.tool.or_else(|| known.tool.clone());
        }
        let input_cut =
            shown.input.as_ref().is_some_and(|text| !AGENT_TOOL_TEXT.allows(text.len()));
        let permission = Permission { call: call_of(shown), input_cut, choices, answer: None };
        let number = self.add(Content::Permission(permission));
        self.pending.insert(number);
        Ok(number)
    }

    /// Answers a question, once.
    ///
    /// # Errors
    ///
    /// Fails if there is no such question, if it has an answer, or if that answer is none of its choices.
    pub fn answer(&mut self, number: u32, by: Answerer, choice: Choice) -> Result<(), AnswerError> {
        let Some(Content::Permission(asked)) = self.entry(number).map(|entry| &entry.content)
        else {
            return Err(AnswerError::Unknown);
        };
        if asked.answer.is_some() || !self.pending.contains(&number) {
            return Err(AnswerError::Answered);
        }
        if !asked.choices.contains(&choice) {
            return Err(AnswerError::NoSuchChoice);
        }
        self.keep_answer(number, Answer { by, choice: Some(choice) });
        Ok(())
    }

    /// Closes every open question without an answer; returns them.
    pub fn cancel_pending(&mut self) -> Vec<u32> {
        let open: Vec<u32> = self.pending.iter().copied().collect();
        for number in &open {
            self.keep_answer(*number, Answer { by: Answerer::Nobody, choice: None });
        }
        open
    }

    /// Says what went wrong.
    pub fn problem(&mut self, message: &str, suggestion: Option<String>) -> Change {
        self.open = None;
        let message = cut_bytes(message, AGENT_TOOL_TEXT.max()).0;
        Change::Entry(self.add(Content::Problem(Problem { message, suggestion })))
    }

    /// Begins a turn: calls and plan of the one before are not changed any more.
    pub fn begin_turn(&mut self) {
        self.open = None;
        self.calls.clear();
        self.plan = None;
    }

    /// Ends a turn; a call that has not ended by then never will. Returns what changed.
    pub fn end_turn(&mut self, outcome: Option<TurnOutcome>) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut numbers: Vec<u32> = self.calls.drain().map(|(_, number)| number).collect();
        numbers.sort_unstable();
        for number in numbers {
            let is_open = matches!(
                self.entry(number).map(|entry| &entry.content),
                Some(Content::Tool(ToolCall {
                    status: ToolStatus::Pending | ToolStatus::InProgress,
                    ..
                }))
            );
            if is_open {
                self.change(number, |content| {
                    if let Content::Tool(call) = content {
                        call.status = ToolStatus::Failed;
                    }
                });
                changes.push(Change::Entry(number));
            }
        }
        self.begin_turn();
        if let Some(outcome) = outcome {
            let number = self.add(Content::TurnEnd(TurnEnd { outcome }));
            changes.push(Change::Entry(number));
        }
        changes
    }

    fn keep_answer(&mut self, number: u32, answer: Answer) {
        self.pending.remove(&number);
        self.change(number, |content| {
            if let Content::Permission(permission) = content {
                permission.answer = Some(answer);
            }
        });
    }

    fn add(&mut self, content: Content) -> u32 {
        self.next += 1;
        self.bytes += content.len();
        self.entries.push_back(Entry { number: self.next, content });
        self.unsaved.insert(self.next);
        self.trim();
        self.next
    }

    fn change(&mut self, number: u32, change: impl FnOnce(&mut Content)) {
        let Some(index) = self.at(number) else { return };
        let content = &mut self.entries[index].content;
        let before = content.len();
        change(content);
        self.bytes = self.bytes - before + content.len();
        self.unsaved.insert(number);
        self.trim();
    }

    fn at(&self, number: u32) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// Drops the oldest entries until the rest is within its bounds. An open question stays: whoever
    /// floods a session must not get one out of sight.
    fn trim(&mut self) {
        while self.entries.len() > 1
            && (!AGENT_ENTRIES.allows(self.entries.len()) || !AGENT_TRANSCRIPT.allows(self.bytes))
        {
            let oldest =
                self.entries.iter().position(|entry| !self.pending.contains(&entry.number));
            let Some(gone) = oldest.and_then(|index| self.entries.remove(index)) else { return };
            self.bytes -= gone.content.len();
            self.unsaved.remove(&gone.number);
        }
    }
}

/// More questions than a person is asked at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the agent asks more questions at once than a session holds")]
pub struct TooManyQuestions;

/// Why a question was not answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// There is no such question in this session.
    #[error("there is no such question in this session")]
    Unknown,
    /// It has an answer already.
    #[error("the question has been answered")]
    Answered,
    /// The agent does not offer that answer.
    #[error("the agent does not offer that answer")]
    NoSuchChoice,
}

fn call_of(update: ToolUpdate) -> ToolCall {
    let mut call = ToolCall {
        call_id: String::new(),
        title: String::new(),
        tool: None,
        call_kind: None,
        status: ToolStatus::Pending,
        input: None,
        result: None,
    };
    call.call_id = cut(update.call_id.clone(), AGENT_TITLE);
    merge(&mut call, update);
    call
}

fn merge(call: &mut ToolCall, update: ToolUpdate) {
    let ToolUpdate { call_id: _, title, tool, call_kind, status, input, result } = update;
    if let Some(title) = title {
        call.title = cut(title, AGENT_TITLE);
    }
    if let Some(tool) = tool {
        call.tool = Some(cut(tool, AGENT_TITLE));
    }
    if let Some(kind) = call_kind {
        call.call_kind = Some(cut(kind, AGENT_TITLE));
    }
    call.status = status.unwrap_or(call.status);
    let text = |text: String| cut_bytes(&text, AGENT_TOOL_TEXT.max()).0;
    call.input = input.map(text).or_else(|| call.input.take());
    call.result = result.map(text).or_else(|| call.result.take());
}

/// Cuts a text to so many bytes at most, at the border of a character; says whether it was longer.
#[must_use]
pub fn cut_bytes(text: &str, most: usize) -> (String, bool) {
    if text.len() <= most {
        return (text.to_owned(), false);
    }
    (text[..text.floor_char_boundary(most)].to_owned(), true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::ChoiceKind;

    fn tool(id: &str, status: ToolStatus) -> ToolUpdate {
        ToolUpdate { call_id: id.to_owned(), status: Some(status), ..ToolUpdate::default() }
    }

    fn yes() -> Choice {
        Choice { id: "y".to_owned(), name: "Yes".to_owned(), kind: ChoiceKind::AllowOnce }
    }

    #[test]
    fn words_of_one_message_are_one_entry_and_of_another_are_another() {
        let mut transcript = Transcript::default();
        transcript.words(Speaker::Agent, Some("a".to_owned()), "one ");
        let grew = transcript.words(Speaker::Agent, Some("a".to_owned()), "two");
        assert_eq!(grew, Some(Change::Grew { number: 1, from: 4 }));
        transcript.words(Speaker::Agent, Some("b".to_owned()), "three");
        transcript.words(Speaker::Thought, None, "hm");
        let texts: Vec<_> = transcript
            .entries()
            .map(|entry| {
                let Content::Text(text) = &entry.content else { panic!("{entry:?}") };
                text.text.clone()
            })
            .collect();
        assert_eq!(texts, ["one two", "three", "hm"]);
    }

    #[test]
    fn a_call_told_twice_is_one_entry_that_keeps_what_the_second_leaves_out() {
        let mut transcript = Transcript::default();
        let input = Some("{}".to_owned());
        transcript.tool(ToolUpdate { input, ..tool("c", ToolStatus::Pending) });
        transcript.tool(tool("c", ToolStatus::Completed));
        let calls: Vec<_> = transcript.entries().collect();
        let [Entry { number: 1, content: Content::Tool(call) }] = calls.as_slice() else {
            panic!("{calls:?}")
        };
        assert_eq!((call.status, call.input.as_deref()), (ToolStatus::Completed, Some("{}")));
    }

    #[test]
    fn a_question_takes_one_answer_of_its_own() {
        let mut transcript = Transcript::default();
        let number = transcript.ask(tool("c", ToolStatus::Pending), vec![yes()]).unwrap();
        let other = Choice { id: "z".to_owned(), ..yes() };
        let answered = transcript.answer(number, Answerer::Person, other);
        assert_eq!(answered, Err(AnswerError::NoSuchChoice));
        assert_eq!(transcript.answer(number, Answerer::Person, yes()), Ok(()));
        let again = transcript.answer(number, Answerer::Person, yes());
        assert_eq!(again, Err(AnswerError::Answered));
        assert_eq!(transcript.answer(99, Answerer::Person, yes()), Err(AnswerError::Unknown));
    }

    #[test]
    fn a_question_that_the_turn_left_open_takes_no_answer_afterwards() {
        let mut transcript = Transcript::default();
        let number = transcript.ask(tool("c", ToolStatus::Pending), vec![yes()]).unwrap();
        assert_eq!(transcript.cancel_pending(), [number]);
        let late = transcript.answer(number, Answerer::Person, yes());
        assert_eq!(late, Err(AnswerError::Answered));
    }

    #[test]
    fn what_a_call_said_before_is_shown_with_its_question() {
        let mut transcript = Transcript::default();
        let input = Some("rm -rf x".to_owned());
        transcript.tool(ToolUpdate { input, ..tool("c", ToolStatus::Pending) });
        let number = transcript.ask(tool("c", ToolStatus::Pending), vec![yes()]).unwrap();
        let Some(Content::Permission(asked)) = transcript.entry(number).map(|e| &e.content) else {
            panic!("no question")
        };
        assert_eq!(asked.call.input.as_deref(), Some("rm -rf x"));
    }

    #[test]
    fn a_turn_that_ends_leaves_no_call_running() {
        let mut transcript = Transcript::default();
        transcript.tool(tool("c", ToolStatus::InProgress));
        let changes = transcript.end_turn(Some(TurnOutcome::Cancelled));
        assert_eq!(changes, [Change::Entry(1), Change::Entry(2)]);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Words(Speaker, Option<String>, String),
        Tool(String, usize),
        Plan(usize),
        Ask(String),
        Answer(u32),
        Cancel,
        EndTurn,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let speaker = proptest::sample::select(Speaker::ALL);
        let step = prop_oneof![
            (speaker, proptest::option::of("[ab]"), "[a-zé]{0,400}")
                .prop_map(|(speaker, id, text)| Step::Words(speaker, id, text.repeat(200))),
            ("[a-d]", 0_usize..100_000).prop_map(|(id, len)| Step::Tool(id, len)),
            (0_usize..30).prop_map(Step::Plan),
            "[a-d]".prop_map(Step::Ask),
            (0_u32..40).prop_map(Step::Answer),
            Just(Step::Cancel),
            Just(Step::EndTurn),
        ];
        proptest::collection::vec(step, 0..60)
    }

    fn apply(transcript: &mut Transcript, step: Step) {
        match step {
            Step::Words(speaker, id, text) => {
                transcript.words(speaker, id, &text);
            }
            Step::Tool(id, len) => {
                let result = Some("x".repeat(len));
                transcript.tool(ToolUpdate { result, ..tool(&id, ToolStatus::InProgress) });
            }
            Step::Plan(steps) => {
                let step =
                    PlanStep { text: "s".to_owned(), status: crate::agent::StepStatus::Pending };
                transcript.plan(vec![step; steps]);
            }
            Step::Ask(id) => {
                let _ = transcript.ask(tool(&id, ToolStatus::Pending), vec![yes()]);
            }
            Step::Answer(number) => {
                let _ = transcript.answer(number, Answerer::Person, yes());
            }
            Step::Cancel => {
                transcript.cancel_pending();
            }
            Step::EndTurn => {
                transcript.end_turn(None);
            }
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_stays_within_its_bounds_and_is_counted_right(steps in steps()) {
            let mut transcript = Transcript::default();
            for step in steps {
                apply(&mut transcript, step);
                let counted: usize = transcript.entries().map(|entry| entry.content.len()).sum();
                prop_assert_eq!(counted, transcript.bytes());
                prop_assert!(AGENT_PENDING.allows(transcript.pending().count()));
                let numbers: Vec<u32> = transcript.entries().map(|entry| entry.number).collect();
                prop_assert!(numbers.is_sorted_by(|a, b| a < b));
            }
        }

        #[test]
        fn what_was_written_down_entry_by_entry_reads_back_the_same(steps in steps()) {
            let mut transcript = Transcript::default();
            let mut kept = std::collections::BTreeMap::new();
            for step in steps {
                apply(&mut transcript, step);
                for entry in transcript.take_unsaved() {
                    kept.insert(entry.number, entry);
                }
            }
            transcript.cancel_pending();
            let read = Transcript::of(kept.into_values().collect());
            let (read, own): (Vec<_>, Vec<_>) =
                (read.entries().cloned().collect(), transcript.entries().cloned().collect());
            prop_assert_eq!(read, own);
        }
    }
}
