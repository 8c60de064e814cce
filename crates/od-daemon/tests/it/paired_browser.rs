//! A browser as the daemon sees it: it has a key, proves itself, and checks the daemon's proof.

use od_core::console::{Meeting, Nonce, PublicKey, Signature};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::raw_client::Answer;
use crate::test_daemon::TestDaemon;

/// A browser with a key of its own.
pub(crate) struct PairedBrowser {
    key: EcdsaKeyPair,
    random: SystemRandom,
    pub(crate) session: String,
}

/// The challenge that a browser got, and the nonce it asked with.
pub(crate) struct Met {
    pub(crate) address: String,
    pub(crate) page: Nonce,
    pub(crate) challenge: Nonce,
    pub(crate) daemon: PublicKey,
}

impl Met {
    pub(crate) async fn at(daemon: &TestDaemon) -> Self {
        let page = Nonce::generate([7; 16]);
        let asked = json!({ "nonce": page });
        let answer = daemon.call(None, "POST", "/api/session/challenge", Some(&asked)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = answer.json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        let met = Self {
            address: daemon.api().to_string(),
            page,
            challenge: text("challenge").parse().unwrap(),
            daemon: text("daemonKey").parse().unwrap(),
        };
        let signature: Signature = text("signature").parse().unwrap();
        assert!(met.daemon.signed(&met.meeting().daemon_text(), &signature), "the daemon's proof");
        met
    }

    pub(crate) fn meeting(&self) -> Meeting<'_> {
        Meeting {
            address: &self.address,
            daemon: &self.daemon,
            page_nonce: &self.page,
            daemon_nonce: &self.challenge,
        }
    }
}

impl PairedBrowser {
    /// Makes a browser that has a key and no session.
    pub(crate) fn unknown() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { key, random, session: String::new() }
    }

    /// Exchanges a new code; returns the browser and its first bearer.
    pub(crate) async fn open(daemon: &TestDaemon) -> (Self, String) {
        let url = daemon.running.console_url_with_code().unwrap();
        let (_, code) = url.split_once("#code=").unwrap();
        let mut browser = Self::unknown();
        let body = browser.registration(&Met::at(daemon).await, &code[..32]);
        let answer = daemon.call(None, "POST", "/api/session", Some(&body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let session = answer.json();
        session["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        (browser, session["token"].as_str().unwrap().to_owned())
    }

    pub(crate) fn public_key(&self) -> PublicKey {
        PublicKey::from_bytes(self.key.public_key().as_ref()).unwrap()
    }

    pub(crate) fn sign(&self, text: &str) -> Signature {
        let made = self.key.sign(&self.random, text.as_bytes()).unwrap();
        Signature::from_bytes(made.as_ref()).unwrap()
    }

    /// The body that exchanges a code.
    pub(crate) fn registration(&self, met: &Met, code: &str) -> Value {
        let key = self.public_key();
        let signature = self.sign(&met.meeting().registration_text(code, &key));
        json!({
            "code": code, "nonce": met.page, "challenge": met.challenge,
            "publicKey": key, "signature": signature,
        })
    }

    /// The body that asks for a bearer.
    pub(crate) fn proof(&self, met: &Met) -> Value {
        let text = met.meeting().bearer_text(&self.session.parse().unwrap());
        json!({
            "sessionId": self.session, "nonce": met.page, "challenge": met.challenge,
            "signature": self.sign(&text),
        })
    }

    /// Asks for a bearer.
    pub(crate) async fn prove(&self, daemon: &TestDaemon) -> Answer {
        let body = self.proof(&Met::at(daemon).await);
        daemon.call(None, "POST", "/api/session/bearer", Some(&body)).await
    }
}
