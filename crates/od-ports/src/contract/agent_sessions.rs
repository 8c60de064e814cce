//! The contract suite of every store of agent sessions.

use od_core::agent::{AgentSession, Content, Entry, SessionStatus, Speaker, Text};
use od_core::ids::{AgentSessionId, ProjectId};
use od_core::limits;

use super::sample;
use crate::agents::agent_sessions::AgentSessionStore;

fn session(project: &ProjectId, number: u8) -> AgentSession {
    let at = sample::now().plus_ms(u64::from(number));
    AgentSession {
        id: AgentSessionId::generate([number; 6]),
        project_id: project.clone(),
        agent: "claude".parse().expect("a name"),
        title: format!("Session {number}"),
        status: SessionStatus::Idle,
        agent_session: Some("own".to_owned()),
        resumable: true,
        run_id: None,
        made: Vec::new(),
        usage: None,
        changes: 3,
        created_at: at,
        updated_at: at,
    }
}

fn entry(number: u32, text: &str) -> Entry {
    let text = Text { speaker: Speaker::Agent, text: text.to_owned() };
    Entry { number, content: Content::Text(text) }
}

/// Puts an empty store through the contract of [`AgentSessionStore`]. The project has to exist.
///
/// # Panics
///
/// When the store breaks the contract.
pub async fn check_agent_sessions(store: &dyn AgentSessionStore, project: &ProjectId) {
    let one = session(project, 1);
    assert_eq!(
        store.get(project, &one.id).await.expect("it is read"),
        None,
        "a new store is empty"
    );
    assert_eq!(store.entries(project, &one.id).await.expect("they are read"), []);
    store.put(&one).await.expect("it is kept");
    assert_eq!(store.get(project, &one.id).await.expect("it is read"), Some(one.clone()));
    let closed = AgentSession { status: SessionStatus::Closed, ..one.clone() };
    store.put(&closed).await.expect("it is kept");
    assert_eq!(store.get(project, &one.id).await.expect("it is read"), Some(closed.clone()));
    let other: ProjectId = "another".parse().expect("an id");
    assert_eq!(store.get(&other, &one.id).await.expect("it is read"), None, "of its project only");

    let add = |entries: Vec<Entry>| async move {
        store.append(project, &session(project, 1).id, &entries).await.expect("they are kept");
    };
    add(vec![entry(1, "a"), entry(2, "lines\n\u{2028}\"")]).await;
    add(vec![entry(2, "the last counts"), entry(3, "c")]).await;
    let read = store.entries(project, &one.id).await.expect("they are read");
    assert_eq!(read, [entry(1, "a"), entry(2, "the last counts"), entry(3, "c")]);

    let two = session(project, 2);
    store.put(&two).await.expect("it is kept");
    let listed = store.list(project).await.expect("they are listed");
    assert_eq!(listed, [two.clone(), closed], "newest first");
    store.forget(project, &two.id).await.expect("it is forgotten");
    store.forget(project, &two.id).await.expect("again");
    assert_eq!(store.get(project, &two.id).await.expect("it is read"), None);

    let kept = u8::try_from(limits::AGENT_SESSIONS_KEPT.max()).expect("a small number");
    for number in 2..kept + 5 {
        store.put(&session(project, number)).await.expect("it is kept");
    }
    let listed = store.list(project).await.expect("they are listed");
    assert_eq!(listed.len(), usize::from(kept), "the oldest give way");
    assert_eq!(store.get(project, &one.id).await.expect("it is read"), None);
    assert_eq!(store.entries(project, &one.id).await.expect("they are read"), []);
}
