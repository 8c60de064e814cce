//! One side of a conversation in lines of JSON: requests of ours with their answers, what the agent tells
//! and asks in its order, every queue bounded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use od_core::agent::{Choice, TurnOutcome};
use od_core::limits::{AGENT_LINE, AGENT_QUEUE, AGENT_REPLAY};
use od_ports::agents::{AgentError, AgentGone, AgentSignal, QuestionKey, Turn};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::message::{Answer, ErrorPart, Incoming, MessageId, Params, read};
use super::outgoing;
use crate::catalogue::KnownAgent;

const UNKNOWN_METHOD: i64 = -32601;
const BAD_PARAMS: i64 = -32602;
/// The code by which agents say that nobody is signed in.
const AUTH_REQUIRED: i64 = -32000;
/// What is written before the input is closed may still go out.
const LAST_LINES: Duration = Duration::from_millis(200);

/// Our side.
#[derive(Debug)]
pub(crate) struct Peer {
    shared: Arc<Shared>,
    lines: Mutex<Option<mpsc::Sender<String>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    signals: AsyncMutex<mpsc::Receiver<AgentSignal>>,
}

#[derive(Debug)]
struct Shared {
    agent: &'static KnownAgent,
    waiting: Mutex<HashMap<i64, Waiter>>,
    questions: Mutex<HashMap<QuestionKey, MessageId>>,
    next_request: AtomicI64,
    next_question: AtomicU64,
    /// Whether what is told is an old conversation, which the session has already.
    replaying: AtomicBool,
    /// How many messages have come.
    heard: AtomicU64,
}

#[derive(Debug)]
enum Waiter {
    /// Somebody waits for the answer.
    Call(oneshot::Sender<Result<Box<Answer>, ErrorPart>>),
    /// The answer ends a turn.
    Prompt,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Peer {
    /// Begins to read and write. What is returned beside it ends once the agent says nothing more.
    pub(crate) fn start(
        agent: &'static KnownAgent,
        from: impl AsyncRead + Send + Unpin + 'static,
        to: impl AsyncWrite + Send + Unpin + 'static,
    ) -> (Self, JoinHandle<()>) {
        let (lines, outgoing) = mpsc::channel(AGENT_QUEUE.max());
        let (heard, signals) = mpsc::channel(AGENT_QUEUE.max());
        let shared = Arc::new(Shared {
            agent,
            waiting: Mutex::default(),
            questions: Mutex::default(),
            next_request: AtomicI64::new(1),
            next_question: AtomicU64::new(1),
            replaying: AtomicBool::new(false),
            heard: AtomicU64::new(0),
        });
        let writer = tokio::spawn(write(outgoing, to));
        let reading = Reading { shared: Arc::clone(&shared), lines: lines.downgrade(), heard };
        let reader = tokio::spawn(reading.run(BufReader::with_capacity(65_536, from)));
        let peer = Self {
            shared,
            lines: Mutex::new(Some(lines)),
            writer: Mutex::new(Some(writer)),
            signals: AsyncMutex::new(signals),
        };
        (peer, reader)
    }

    fn send(&self, line: String) -> Result<(), AgentGone> {
        // An agent that reads nothing is as good as gone: nobody waits for it.
        let lines = lock(&self.lines);
        lines.as_ref().ok_or(AgentGone)?.try_send(line).map_err(|_| AgentGone)
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn call(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<Box<Answer>, AgentError> {
        let (answer, answered) = oneshot::channel();
        let id = self.shared.next_request.fetch_add(1, Ordering::Relaxed);
        lock(&self.shared.waiting).insert(id, Waiter::Call(answer));
        let ended = || AgentError::Ended {
            name: self.shared.agent.name.to_owned(),
            last_words: String::new(),
        };
        self.send(outgoing::request(id, method, params)).map_err(|_| ended())?;
        match answered.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(refused(self.shared.agent, error)),
            Err(_) => Err(ended()),
        }
    }

    /// Hands a prompt over; its answer is a signal.
    pub(crate) fn prompt(&self, params: &Value) -> Result<(), AgentGone> {
        let id = self.shared.next_request.fetch_add(1, Ordering::Relaxed);
        lock(&self.shared.waiting).insert(id, Waiter::Prompt);
        self.send(outgoing::request(id, "session/prompt", params))
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) -> Result<(), AgentGone> {
        self.send(outgoing::notification(method, params))
    }

    /// Answers a question, once; a second answer is not sent.
    pub(crate) fn answer(
        &self,
        key: QuestionKey,
        choice: Option<&Choice>,
    ) -> Result<(), AgentGone> {
        let id = lock(&self.shared.questions).remove(&key);
        id.map_or(Ok(()), |id| self.send(outgoing::permission(&id, choice)))
    }

    /// Says whether what is told from now on is known already.
    pub(crate) fn set_replaying(&self, replaying: bool) {
        self.shared.replaying.store(replaying, Ordering::Release);
    }

    /// Waits until the agent says nothing for a while.
    ///
    /// Gemini answers `session/load` first and tells the conversation again afterwards, with no mark at
    /// its end: a prompt that is sent at once comes into the middle of it.
    pub(crate) async fn quiet(&self) {
        let heard = || self.shared.heard.load(Ordering::Acquire);
        let mut before = heard();
        loop {
            tokio::time::sleep(AGENT_REPLAY.duration()).await;
            let now = heard();
            if now == before {
                return;
            }
            before = now;
        }
    }

    /// Waits for what the agent says next; nothing once it says nothing more.
    pub(crate) async fn next(&self) -> Option<AgentSignal> {
        self.signals.lock().await.recv().await
    }

    /// Closes the agent's input.
    pub(crate) async fn close(&self) {
        lock(&self.lines).take();
        let writer = lock(&self.writer).take();
        if let Some(mut writer) = writer
            && tokio::time::timeout(LAST_LINES, &mut writer).await.is_err()
        {
            // It reads nothing: the pipe is full, and is closed as it is.
            writer.abort();
            let _ = writer.await;
        }
    }
}

async fn write(mut lines: mpsc::Receiver<String>, mut to: impl AsyncWrite + Unpin) {
    while let Some(line) = lines.recv().await {
        if to.write_all(line.as_bytes()).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

/// The reading half.
struct Reading {
    shared: Arc<Shared>,
    /// Weak: the reader alone must not keep the agent's input open.
    lines: mpsc::WeakSender<String>,
    heard: mpsc::Sender<AgentSignal>,
}

impl Reading {
    async fn run(self, mut from: impl AsyncBufRead + Unpin) {
        let mut line = Vec::new();
        while let Some(is_whole) = next_line(&mut from, &mut line).await {
            if is_whole
                && let Some(message) = read(&line)
                && !self.take(message).await
            {
                break;
            }
            line.clear();
            // One long line must not keep its memory for the rest of the session.
            line.shrink_to(65_536);
        }
        // Whoever waits for an answer hears that there will be none.
        lock(&self.shared.waiting).clear();
    }

    /// Returns whether anybody still listens.
    async fn take(&self, message: Incoming) -> bool {
        self.shared.heard.fetch_add(1, Ordering::AcqRel);
        match message {
            Incoming::Request { id, method, params } => self.asked(id, &method, *params).await,
            Incoming::Notification { method, params } => {
                if method != "session/update" || self.shared.replaying.load(Ordering::Acquire) {
                    return true;
                }
                match params.into_update() {
                    Some(update) => self.heard.send(AgentSignal::Updated(update)).await.is_ok(),
                    None => true,
                }
            }
            Incoming::Response { id, outcome } => self.answered(&id, outcome).await,
        }
    }

    async fn asked(&self, id: MessageId, method: &str, params: Params) -> bool {
        if method != "session/request_permission" {
            self.refuse(&id, UNKNOWN_METHOD, "od offers no such method");
            return true;
        }
        let Some((call, field, choices)) = params.into_question() else {
            self.refuse(&id, BAD_PARAMS, "a question names its tool call");
            return true;
        };
        let key = QuestionKey(self.shared.next_question.fetch_add(1, Ordering::Relaxed));
        lock(&self.shared.questions).insert(key, id);
        let tool = self.shared.agent.tool_name(&call.call_id, field);
        self.heard.send(AgentSignal::Asked { key, call, tool, choices }).await.is_ok()
    }

    fn refuse(&self, id: &MessageId, code: i64, message: &str) {
        if let Some(lines) = self.lines.upgrade() {
            // An agent that asks without reading the answers gets none.
            let _ = lines.try_send(outgoing::refusal(id, code, message));
        }
    }

    async fn answered(&self, id: &MessageId, outcome: Result<Box<Answer>, ErrorPart>) -> bool {
        let MessageId::Number(number) = id else { return true };
        let waiter = lock(&self.shared.waiting).remove(number);
        match waiter {
            Some(Waiter::Call(answer)) => {
                let _ = answer.send(outcome);
                true
            }
            Some(Waiter::Prompt) => {
                let turn = match outcome {
                    Ok(answer) => turn_of(answer.stop_reason.as_deref()),
                    Err(error) => Turn::Failed(refused(self.shared.agent, error)),
                };
                self.heard.send(AgentSignal::TurnEnded(turn)).await.is_ok()
            }
            // Nobody asked, or it was answered before.
            None => true,
        }
    }
}

fn turn_of(reason: Option<&str>) -> Turn {
    match reason {
        Some("cancelled") => Turn::Ended(TurnOutcome::Cancelled),
        Some("refusal") => Turn::Ended(TurnOutcome::Refused),
        Some("max_tokens" | "max_turn_requests") => Turn::Ended(TurnOutcome::Limit),
        Some(_) | None => Turn::Finished,
    }
}

fn refused(agent: &KnownAgent, error: ErrorPart) -> AgentError {
    let (name, login) = (agent.name.to_owned(), agent.login.to_owned());
    if error.code == AUTH_REQUIRED {
        return AgentError::NotSignedIn { name, login };
    }
    let mut message = error.message;
    if let Some(data) = error.data.filter(|data| !data.0.is_empty() && data.0 != "null") {
        message = format!("{message}: {}", data.0);
    }
    AgentError::Refused { name, message: od_core::agent::cut_bytes(&message, 2048).0 }
}

/// Reads one line into `line`, without its end. Returns whether it is whole: of one that is too long
/// nothing but its end is looked for.
async fn next_line(from: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> Option<bool> {
    let mut is_whole = true;
    loop {
        let part = from.fill_buf().await.ok()?;
        if part.is_empty() {
            return (!line.is_empty()).then_some(is_whole);
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = &part[..end.unwrap_or(part.len())];
        if is_whole && AGENT_LINE.allows(line.len() + taken.len()) {
            line.extend_from_slice(taken);
        } else {
            is_whole = false;
            *line = Vec::new();
        }
        let len = end.map_or(part.len(), |end| end + 1);
        from.consume(len);
        if end.is_some() {
            return Some(is_whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use od_core::agent::{Speaker, Update};
    use serde_json::json;
    use tokio::io::{AsyncReadExt, DuplexStream, duplex};

    use super::*;
    use crate::catalogue::find;

    /// A peer, and the agent's ends of its pipes.
    fn pair() -> (Peer, DuplexStream, BufReader<DuplexStream>) {
        let (to_peer, from_agent) = duplex(1 << 16);
        let (to_agent, from_peer) = duplex(1 << 16);
        let (peer, _) = Peer::start(find("gemini").unwrap(), from_agent, to_agent);
        (peer, to_peer, BufReader::new(from_peer))
    }

    async fn heard(from: &mut BufReader<DuplexStream>) -> Value {
        let mut line = String::new();
        from.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn words(text: &str) -> String {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": text } });
        outgoing::notification("session/update", &json!({ "update": update }))
    }

    #[tokio::test]
    async fn what_is_no_message_and_a_line_without_end_are_passed_over() {
        let (peer, mut agent, _from) = pair();
        let feed = tokio::spawn(async move {
            agent.write_all(b"Loading...\n{\"half\n").await.unwrap();
            let part = vec![b'x'; 1 << 20];
            for _ in 0..20 {
                agent.write_all(&part).await.unwrap();
            }
            agent.write_all(b"\n").await.unwrap();
            agent.write_all(words("after").as_bytes()).await.unwrap();
            agent
        });
        let signal = peer.next().await.unwrap();
        let AgentSignal::Updated(Update::Words { text, speaker: Speaker::Agent, .. }) = signal
        else {
            panic!("{signal:?}")
        };
        assert_eq!(text, "after");
        drop(feed.await.unwrap());
        assert_eq!(peer.next().await, None);
    }

    #[tokio::test]
    async fn an_unknown_method_is_refused_and_a_question_answered_once() {
        let (peer, mut agent, mut from) = pair();
        agent
            .write_all(outgoing::request(7, "fs/read_text_file", &json!({})).as_bytes())
            .await
            .unwrap();
        assert_eq!(heard(&mut from).await["error"]["code"], UNKNOWN_METHOD);
        let option = json!({ "optionId": "y", "name": "Yes", "kind": "allow_once" });
        let params = json!({ "toolCall": { "toolCallId": "c" }, "options": [option] });
        // The same id twice: each is a question of its own.
        for _ in 0..2 {
            let line = outgoing::request(7, "session/request_permission", &params);
            agent.write_all(line.as_bytes()).await.unwrap();
        }
        for _ in 0..2 {
            let Some(AgentSignal::Asked { key, choices, .. }) = peer.next().await else { panic!() };
            peer.answer(key, choices.first()).unwrap();
            peer.answer(key, None).unwrap();
            let answer = heard(&mut from).await;
            assert_eq!(answer["result"]["outcome"]["optionId"], "y", "{answer}");
        }
        peer.close().await;
        let mut rest = String::new();
        from.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "", "a second answer was sent");
    }

    #[tokio::test]
    async fn the_last_words_of_a_turn_come_before_its_end_and_a_second_end_is_none() {
        let (peer, mut agent, mut from) = pair();
        peer.prompt(&json!({ "prompt": [] })).unwrap();
        let id = heard(&mut from).await["id"].clone();
        let end = format!("{}\n", json!({ "id": id, "result": { "stopReason": "refusal" } }));
        agent
            .write_all(format!("{}{end}{end}{}", words("a"), words("b")).as_bytes())
            .await
            .unwrap();
        assert!(matches!(peer.next().await, Some(AgentSignal::Updated(_))));
        let ended = AgentSignal::TurnEnded(Turn::Ended(TurnOutcome::Refused));
        assert_eq!(peer.next().await, Some(ended));
        assert!(matches!(peer.next().await, Some(AgentSignal::Updated(_))));
    }

    #[tokio::test]
    async fn an_agent_that_reads_nothing_stops_nobody() {
        let (peer, _agent, _from) = pair();
        let prompt = json!({ "prompt": "x".repeat(60_000) });
        let sent = (0..200).filter(|_| peer.prompt(&prompt).is_ok()).count();
        assert!(sent <= AGENT_QUEUE.max() + 2, "{sent}");
        peer.close().await;
        assert_eq!(peer.prompt(&prompt), Err(AgentGone));
    }

    #[tokio::test]
    async fn whoever_waits_for_an_answer_hears_that_the_agent_ended() {
        let (peer, agent, _from) = pair();
        drop(agent);
        let answer = peer.call("initialize", &json!({})).await;
        assert!(matches!(answer, Err(AgentError::Ended { .. })), "{answer:?}");
    }

    #[tokio::test]
    async fn an_agent_that_nobody_is_signed_in_to_names_its_login() {
        let (peer, mut agent, mut from) = pair();
        let answering = tokio::spawn(async move {
            let id = heard(&mut from).await["id"].clone();
            let error = json!({ "code": -32000, "message": "Authentication required" });
            agent
                .write_all(format!("{}\n", json!({ "id": id, "error": error })).as_bytes())
                .await
                .unwrap();
        });
        let answer = peer.call("session/new", &json!({})).await;
        assert!(matches!(answer, Err(AgentError::NotSignedIn { .. })), "{answer:?}");
        answering.await.unwrap();
    }
}
