//! The history of refreshes under texts that want to forge it: whatever a connector says, a record is
//! one line, and the chain holds.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use od_app::connectors::connect;
use od_app::connectors::connect::Connect;
use od_app::refresh::run::RunRefresh;
use od_app::{App, Caller, Mode, refresh};
use od_core::json::Map;
use od_core::ledger::LogRecord;
use od_core::refresh::RecordStep;
use od_ports::Ports;
use od_ports::access::credential_vault::Secret;
use od_ports::connector_provider::{
    CatalogEntry, ConnectorProvider, ProviderError, RawOutput, ToolCall,
};
use serde_json::json;

use crate::scripted::ScriptedConnector;
use crate::world::{World, by_person, project, script_source};

/// A connector that puts one text wherever it may say something.
#[derive(Debug, Default)]
struct Naughty {
    script: ScriptedConnector,
    said: Mutex<(String, bool)>,
}

#[async_trait]
impl ConnectorProvider for Naughty {
    fn catalog(&self) -> CatalogEntry {
        self.script.catalog()
    }

    async fn identify(&self, _: &Secret) -> Result<String, ProviderError> {
        Ok(self.said.lock().unwrap().0.clone())
    }

    async fn execute(&self, _: ToolCall) -> Result<RawOutput, ProviderError> {
        let (text, fails) = self.said.lock().unwrap().clone();
        if fails {
            return Err(ProviderError::Unavailable { message: text });
        }
        let mut metadata = Map::new();
        metadata.insert("said".to_owned(), text.replace('\0', "").into());
        metadata.insert(text.replace('\0', ""), 1.into());
        Ok(RawOutput {
            summary: Some(text.clone()),
            execution_id: Some(text),
            metadata,
            ..RawOutput::of(&json!({ "title": "after" }))?
        })
    }
}

fn texts() -> Vec<String> {
    let line = r#"{"refreshId":"refresh-000099","step":"refresh:commit","status":"succeeded"}"#;
    vec![
        format!("a\n{line}\nb"),
        format!("a\r\n{line}\r\n"),
        format!("\"}}\n{line}"),
        "\\\" \\n \\u000a \\".to_owned(),
        "\u{2028}\u{2029}\u{85}\u{b}\u{c}".to_owned(),
        "\u{0}\u{1}\u{8}\u{1b}[2J\u{7f}".to_owned(),
        "\u{202e}fdp.exe\u{2066}\u{200f}\u{feff}".to_owned(),
        "😀\u{10ffff}\u{fffe}e\u{301}".to_owned(),
        "very long ".repeat(10_000),
        "\n".repeat(16_000),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_record_is_one_line_whatever_a_connector_says() {
    let world = World::new().await;
    let artifact = world.create(1, script_source()).await;
    let naughty = Arc::new(Naughty::default());
    let connectors: Vec<Arc<dyn ConnectorProvider>> = vec![naughty.clone()];
    let app = App::new(Ports { connectors, ..world.app.ports.clone() });
    let (mut succeeded, mut failed) = (0, 0);
    for (number, text) in texts().into_iter().enumerate() {
        for fails in [false, true] {
            *naughty.said.lock().unwrap() = (text.clone(), fails);
            let secret = Some(Secret::parse("a-secret-of-this-test").unwrap());
            let connector = "script".parse().unwrap();
            // A label may be refused; then the one before it stays.
            let _ = connect(&app, &Caller::Person, Connect { connector, secret }).await;
            world.clock.advance_ms(60_000);
            let request = RunRefresh { accept_drift: true, ..by_person(&artifact) };
            match refresh::run(&app, request, Mode::Commit).await {
                Ok(_) => succeeded += 1,
                Err(_) => failed += 1,
            }
            let records = world.records(&artifact).await;
            let ended = records.iter().filter(|record| record.step.is_last()).count();
            assert_eq!(ended, succeeded + failed, "{number}: {text:.40}");
        }
    }
    assert!(succeeded >= 9 && failed >= 10, "{succeeded} {failed}");

    let history = app.ports.refresh_log.history(&project(), &artifact).await.unwrap();
    assert_eq!(history.broken, None, "the chain holds");
    let file = world.artifact_directory(&artifact).join("refreshes.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'));
    let lines: Vec<&str> = text.trim_end_matches('\n').split('\n').collect();
    let commits = app.ports.revisions.timeline(&project(), &artifact).await.unwrap().commits;
    assert_eq!(lines.len(), history.records.len() + commits.len(), "a line is a record");
    // No reader of lines sees another one: neither those who end them with more than `\n`.
    assert_eq!(text.lines().count(), lines.len());
    assert!(!text.contains(['\r', '\u{b}', '\u{c}', '\u{1b}', '\0']), "control characters");
    let starts = lines.iter().filter(|line| {
        let record = LogRecord::parse(line.as_bytes()).unwrap();
        assert!(line.len() < 16_384, "{} bytes", line.len());
        record.into_refresh().is_some_and(|record| record.step == RecordStep::Started)
    });
    assert_eq!(starts.count(), succeeded + failed, "a refresh is one that ran");
}
