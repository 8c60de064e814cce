//! The proof that a daemon gives before it is shown a credential.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use od_core::console::{Meeting, Nonce};
use od_core::error::{ErrorCode, Failure};
use od_wire::route::Operation;
use od_wire::session::{Challenge, ChallengeRequest};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::client::Client;
use crate::error::CallError;

impl Client {
    /// Has the program at the other end of a connection prove that it is the daemon whose key has this
    /// fingerprint.
    ///
    /// What it signs holds our nonce and the address that we reached it at: it cannot have it from an
    /// earlier meeting, nor from the daemon itself, which signs for its own address only.
    pub(crate) async fn have_proven(
        &self,
        sender: &mut SendRequest<Full<Bytes>>,
        fingerprint: &str,
    ) -> Result<(), CallError> {
        let nonce = nonce()?;
        let asked = ChallengeRequest { nonce: nonce.clone() };
        let body = serde_json::to_vec(&asked).map_err(|source| CallError::Encode { source })?;
        let route = Operation::ChallengeSession.route();
        let request = self.bare_request(route, route.path, Some(body))?;
        let broken = |source| CallError::Broken { url: self.url().to_owned(), source };
        let response = sender.send_request(request).await.map_err(broken)?;
        let answer = self.read_whole(response).await;
        let impostor = || CallError::Impostor { url: self.url().to_owned() };
        // Whatever else it answers, a refusal too: this run's daemon would have proven itself.
        let answer = answer.map_err(|_| impostor())?;
        let proof: Challenge = serde_json::from_slice(&answer.body).map_err(|_| impostor())?;
        let meeting = Meeting {
            address: self.address(),
            daemon: &proof.daemon_key,
            page_nonce: &nonce,
            daemon_nonce: &proof.challenge,
        };
        let is_known = proof.daemon_key.fingerprint() == fingerprint;
        if !is_known || !proof.daemon_key.signed(&meeting.daemon_text(), &proof.signature) {
            return Err(impostor());
        }
        sender.ready().await.map_err(broken)
    }

    /// Returns the daemon's address as it signs it: `host:port`.
    fn address(&self) -> &str {
        self.url().strip_prefix("http://").unwrap_or_default()
    }
}

fn nonce() -> Result<Nonce, CallError> {
    let mut entropy = [0; 16];
    SystemRandom::new().fill(&mut entropy).map_err(|_| {
        Failure::new(ErrorCode::Internal, "the system gave no random bytes")
            .suggest("run the command again")
    })?;
    Ok(Nonce::generate(entropy))
}
