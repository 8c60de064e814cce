//! Sessions of agents as files: `<project>/.agent-sessions/<session>/session.json`, replaced whole, and
//! `transcript.jsonl` beside it, one entry a line, of which the last of a number counts.

use std::collections::BTreeMap;
use std::io::Write as _;

use async_trait::async_trait;
use od_core::agent::{AgentSession, Entry};
use od_core::ids::{AgentSessionId, ProjectId};
use od_core::limits::{
    AGENT_ENTRIES, AGENT_SESSIONS_KEPT, AGENT_TRANSCRIPT, AGENT_TRANSCRIPT_FILE, RUN_FILE,
};
use od_ports::agents::agent_sessions::{AgentSessionStore, AgentSessionsError};
use serde::{Deserialize, Serialize};

use crate::data_dir::{AGENT_SESSIONS, DataDir};
use crate::disk::{Dir, DiskError};
use crate::system::Lane;

const SCHEMA_VERSION: u64 = 1;
const SESSION: &str = "session.json";
const TRANSCRIPT: &str = "transcript.jsonl";

/// Keeps sessions in a data directory. One daemon writes them: the one that has claimed it.
#[derive(Debug)]
pub struct FileAgentSessions {
    data_dir: DataDir,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionFile {
    schema_version: u64,
    session: AgentSession,
}

impl FileAgentSessions {
    /// Opens the sessions of a data directory.
    pub fn new(data_dir: DataDir) -> Self {
        Self { data_dir }
    }

    async fn with<T: Send + 'static>(
        &self,
        project: &ProjectId,
        work: impl FnOnce(&Sessions) -> Result<T, DiskError> + Send + 'static,
    ) -> Result<T, AgentSessionsError> {
        let sessions = Sessions { data_dir: self.data_dir.clone(), project: project.clone() };
        Ok(Lane::Pool.run(move || work(&sessions)).await??)
    }
}

#[async_trait]
impl AgentSessionStore for FileAgentSessions {
    async fn put(&self, session: &AgentSession) -> Result<(), AgentSessionsError> {
        let session = session.clone();
        self.with(&session.project_id.clone(), move |sessions| sessions.put(session)).await
    }

    async fn get(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<Option<AgentSession>, AgentSessionsError> {
        let id = session.clone();
        self.with(project, move |sessions| sessions.get(&id)).await
    }

    async fn list(&self, project: &ProjectId) -> Result<Vec<AgentSession>, AgentSessionsError> {
        self.with(project, Sessions::list).await
    }

    async fn append(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
        entries: &[Entry],
    ) -> Result<(), AgentSessionsError> {
        let (id, entries) = (session.clone(), entries.to_vec());
        self.with(project, move |sessions| sessions.append(&id, &entries)).await
    }

    async fn entries(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<Vec<Entry>, AgentSessionsError> {
        let id = session.clone();
        self.with(project, move |sessions| sessions.entries(&id)).await
    }

    async fn forget(
        &self,
        project: &ProjectId,
        session: &AgentSessionId,
    ) -> Result<(), AgentSessionsError> {
        let id = session.clone();
        self.with(project, move |sessions| sessions.forget(&id)).await
    }
}

/// The sessions of one project.
struct Sessions {
    data_dir: DataDir,
    project: ProjectId,
}

impl Sessions {
    /// Opens the directory of all sessions; nothing if there is none. Nothing is followed by a link.
    fn open(&self) -> Result<Option<Dir>, DiskError> {
        let project = present(self.data_dir.projects()?.child(self.project.as_str()))?;
        project.map_or(Ok(None), |project| present(project.child(AGENT_SESSIONS)))
    }

    fn session_dir(&self, id: &AgentSessionId) -> Result<Option<Dir>, DiskError> {
        self.open()?.map_or(Ok(None), |sessions| present(sessions.child(id.as_str())))
    }

    fn put(&self, session: AgentSession) -> Result<(), DiskError> {
        let project = self.data_dir.projects()?.child(self.project.as_str())?;
        let sessions = project.child_or_make(AGENT_SESSIONS)?;
        let id = session.id.clone();
        let is_new = sessions.stat(id.as_str())?.is_none();
        let dir = sessions.child_or_make(id.as_str())?;
        let file = SessionFile { schema_version: SCHEMA_VERSION, session };
        let mut bytes = serde_json::to_vec_pretty(&file).map_err(|error| {
            DiskError::new("write a session as JSON", std::io::Error::from(error))
        })?;
        bytes.push(b'\n');
        dir.replace_synced(SESSION, &bytes)?;
        dir.sync()?;
        if is_new {
            sessions.sync()?;
            self.trim(&sessions)?;
        }
        Ok(())
    }

    /// Removes the sessions that were unused for longest, beyond those that are kept.
    fn trim(&self, sessions: &Dir) -> Result<(), DiskError> {
        for surplus in self.list()?.into_iter().skip(AGENT_SESSIONS_KEPT.max()) {
            sessions.remove_tree(surplus.id.as_str())?;
        }
        Ok(())
    }

    fn get(&self, id: &AgentSessionId) -> Result<Option<AgentSession>, DiskError> {
        let Some(dir) = self.session_dir(id)? else { return Ok(None) };
        let Some(bytes) = dir.read_if_there(SESSION, RUN_FILE.allowed)? else { return Ok(None) };
        // What cannot be read is no session any more; its transcript stays for a person to look at.
        let file = serde_json::from_slice::<SessionFile>(&bytes).ok();
        Ok(file
            .filter(|file| file.schema_version == SCHEMA_VERSION)
            .map(|file| file.session)
            .filter(|session| session.id == *id && session.project_id == self.project))
    }

    fn list(&self) -> Result<Vec<AgentSession>, DiskError> {
        let Some(sessions) = self.open()? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (name, _) in sessions.entries()? {
            let Ok(id) = name.parse::<AgentSessionId>() else { continue };
            if let Ok(Some(session)) = self.get(&id) {
                found.push(session);
            }
        }
        found.sort_by_key(|session| std::cmp::Reverse(session.updated_at));
        Ok(found)
    }

    fn append(&self, id: &AgentSessionId, entries: &[Entry]) -> Result<(), DiskError> {
        // A session that was forgotten meanwhile stays so.
        let Some(dir) = self.session_dir(id)? else { return Ok(()) };
        let lines = lines(entries)?;
        let len = dir.stat(TRANSCRIPT)?.map_or(0, |stat| stat.bytes);
        if AGENT_TRANSCRIPT_FILE.allowed < len + lines.len() as u64 {
            let mut kept: BTreeMap<u32, Entry> =
                self.entries(id)?.into_iter().map(|entry| (entry.number, entry)).collect();
            kept.extend(entries.iter().map(|entry| (entry.number, entry.clone())));
            let kept: Vec<Entry> = newest(kept.into_values().collect());
            return dir.replace_synced(TRANSCRIPT, &self::lines(&kept)?);
        }
        let mut file = dir.append(TRANSCRIPT)?;
        file.write_all(&lines).map_err(|error| DiskError::new("write a transcript", error))
    }

    fn entries(&self, id: &AgentSessionId) -> Result<Vec<Entry>, DiskError> {
        let Some(dir) = self.session_dir(id)? else { return Ok(Vec::new()) };
        // Twice the bound: the last write before a file is written anew goes over it.
        let most = AGENT_TRANSCRIPT_FILE.allowed * 2;
        let Some(bytes) = dir.read_if_there(TRANSCRIPT, most)? else { return Ok(Vec::new()) };
        let mut kept = BTreeMap::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            // A line that a crash cut off is not one.
            if let Ok(entry) = serde_json::from_slice::<Entry>(line) {
                kept.insert(entry.number, entry);
            }
        }
        Ok(newest(kept.into_values().collect()))
    }

    fn forget(&self, id: &AgentSessionId) -> Result<(), DiskError> {
        let Some(sessions) = self.open()? else { return Ok(()) };
        if sessions.stat(id.as_str())?.is_none() {
            return Ok(());
        }
        sessions.remove_tree(id.as_str())
    }
}

fn lines(entries: &[Entry]) -> Result<Vec<u8>, DiskError> {
    let mut bytes = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut bytes, entry).map_err(|error| {
            DiskError::new("write an entry as JSON", std::io::Error::from(error))
        })?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Returns as many of the newest entries as a session has in memory.
fn newest(entries: Vec<Entry>) -> Vec<Entry> {
    let mut bytes = 0;
    let kept = entries.iter().rev().take(AGENT_ENTRIES.max()).take_while(|entry| {
        bytes += entry.content.len();
        AGENT_TRANSCRIPT.allows(bytes)
    });
    let surplus = entries.len() - kept.count();
    entries.into_iter().skip(surplus).collect()
}

/// Returns a directory, or nothing if it is missing.
fn present(opened: Result<Dir, DiskError>) -> Result<Option<Dir>, DiskError> {
    match opened {
        Ok(dir) => Ok(Some(dir)),
        Err(err) if err.is_missing() => Ok(None),
        Err(err) => Err(err),
    }
}

impl From<DiskError> for AgentSessionsError {
    fn from(err: DiskError) -> Self {
        Self { action: err.action, source: err.source }
    }
}
