//! What the log says about a request that failed inside.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use od_daemon::{ComposeOptions, ServeConfig, serve};
use od_fs::SystemEntropy;
use od_ports::Entropy;
use od_ports::system::EntropyError;
use serde_json::json;

use crate::paired_browser::{Met, PairedBrowser};
use crate::test_daemon::{TestDaemon, config};

/// Everything that was logged: there is one log a process.
static LOGGED: LazyLock<Arc<Mutex<Vec<u8>>>> = LazyLock::new(Arc::default);

struct Pen;

impl io::Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Randomness that can run out.
#[derive(Debug)]
struct Well {
    is_dry: AtomicBool,
    system: SystemEntropy,
}

impl Entropy for Well {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), EntropyError> {
        if self.is_dry.load(Ordering::Relaxed) {
            Err(EntropyError)
        } else {
            self.system.fill(buffer)
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cause_of_a_500_is_in_the_log_under_its_request_id_and_no_credential_is() {
    let _started = tracing_subscriber::fmt().with_ansi(false).with_writer(|| Pen).try_init();
    let dirs = Arc::new(tempfile::tempdir().unwrap());
    let well = Arc::new(Well { is_dry: AtomicBool::new(false), system: SystemEntropy::new() });
    let entropy: Arc<dyn Entropy> = Arc::<Well>::clone(&well);
    let options = ComposeOptions { entropy: Some(entropy), ..ComposeOptions::default() };
    let running = serve(ServeConfig { options, ..config(dirs.path()) }).await.unwrap();
    let daemon = TestDaemon { running, dirs };
    let person = daemon.person();
    well.is_dry.store(true, Ordering::Relaxed);

    let answer = daemon.call(Some(&person), "POST", "/api/session/codes", Some(&json!({}))).await;
    assert_eq!(answer.status, 500, "{}", answer.text());
    let refused = daemon.call(None, "POST", "/api/session/codes", Some(&json!({}))).await;
    assert_eq!(refused.status, 401);

    let logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let logged = String::from_utf8(logged).unwrap();
    let id = |answer: &crate::raw_client::Answer| {
        answer.json()["error"]["requestId"].as_str().unwrap().to_owned()
    };
    let lines: Vec<&str> = logged.lines().filter(|line| line.contains(&id(&answer))).collect();
    let [line] = lines[..] else { panic!("not one line: {logged}") };
    for part in ["ERROR", "/api/session/codes", "POST", "the system gave no random bytes"] {
        assert!(line.contains(part), "{part} is missing: {line}");
    }
    assert!(!logged.contains(&id(&refused)), "a refusal is not a fault: {logged}");
    assert!(!logged.contains(&person) && !logged.contains("odt.v1."), "a token is in the log");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sends_a_long_body_without_a_token() {
    let daemon = TestDaemon::start().await;
    let long = json!({ "code": "x".repeat(2_000) });
    let answer = daemon.call(None, "POST", "/api/session", Some(&long)).await;
    assert_eq!(answer.status, 413, "{}", answer.text());
    let met = Met::at(&daemon).await;
    let wrong = PairedBrowser::unknown().registration(&met, &"x".repeat(32));
    assert_eq!(daemon.call(None, "POST", "/api/session", Some(&wrong)).await.status, 401);
    daemon.stop().await;
}
