//! Webhooks: addresses that a person registered, and how what is sent there is signed.

use ring::hmac;
use url::{Host, Url};

use crate::connector::ServiceName;
use crate::credential;
use crate::ids::Timestamp;
use crate::limits::{REGISTERED_URL, SHORT_TEXT, WEBHOOK_PAUSE, WEBHOOK_TRIES};
use crate::words::words;

/// A webhook as a person registered it. The secret that signs is in the vault.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Webhook {
    /// Its name.
    pub name: ServiceName,
    /// Where notifications are sent.
    pub url: WebhookUrl,
    /// The addresses that its host may be at.
    pub reach: Reach,
    /// When it was registered, or its registration changed.
    pub registered_at: Timestamp,
    /// How its deliveries went.
    #[serde(default)]
    pub deliveries: Deliveries,
}

words! {
    /// The addresses that the host of a webhook may be at; checked at every connection.
    Reach {
        /// Those of the internet.
        Public = "public",
        /// This machine.
        Loopback = "loopback",
        /// Any, private networks included: a person said so.
        Private = "private",
    }
}

/// How the deliveries of a webhook went.
#[derive(
    Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Deliveries {
    /// When one last arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    /// When one was last given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_at: Option<Timestamp>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = SHORT_TEXT.allowed))]
    pub lost_because: Option<String>,
    /// How many were given up since one last arrived.
    #[serde(default)]
    pub lost: u64,
}

/// What became of some deliveries.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DeliveryOutcome {
    /// One arrived.
    Delivered,
    /// Some were given up.
    Lost {
        /// How many.
        count: u64,
        /// Why.
        because: String,
    },
}

impl Deliveries {
    /// Takes in what became of some.
    pub fn take_in(&mut self, outcome: DeliveryOutcome, at: Timestamp) {
        match outcome {
            DeliveryOutcome::Delivered => {
                self.delivered_at = Some(at);
                self.lost = 0;
            }
            DeliveryOutcome::Lost { count, because } => {
                self.lost_at = Some(at);
                self.lost_because = Some(crate::limits::cut(because, SHORT_TEXT));
                self.lost = self.lost.saturating_add(count);
            }
        }
    }

    /// Returns why the last one did not arrive, if none has arrived since.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        (self.lost > 0).then(|| self.lost_because.as_deref().unwrap_or("it did not arrive"))
    }
}

/// An `https` address, or an `http` one of this machine, without user, query or fragment.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct WebhookUrl(Url);

/// Why a text is no address that a webhook can have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WebhookUrlError {
    /// It is no absolute address.
    #[error("not an address: write it whole, such as https://hooks.example.com/od")]
    NotAbsolute,
    /// Its scheme is another.
    #[error(
        "a webhook is https; http is taken for this machine alone, such as http://127.0.0.1:9000/od"
    )]
    Scheme,
    /// It holds a user name or password.
    #[error("the address holds a user name or password; the receiver checks the signature instead")]
    UserInfo,
    /// It has a query or a fragment.
    #[error("the address has a query or fragment, which would be shown in lists")]
    Query,
    /// It is a secret itself.
    #[error(
        "the address looks like a secret itself, and would be shown in lists; put a receiver of yours before it"
    )]
    Secret,
    /// It is too long.
    #[error("the address is longer than {}", REGISTERED_URL.want())]
    TooLong,
}

impl WebhookUrl {
    /// Returns the address.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the addresses that its host may be at, given whether a person allows private networks.
    #[must_use]
    pub fn reach(&self, private: bool) -> Reach {
        if is_this_machine(&self.0) {
            Reach::Loopback
        } else if private {
            Reach::Private
        } else {
            Reach::Public
        }
    }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl std::str::FromStr for WebhookUrl {
    type Err = WebhookUrlError;
    fn from_str(text: &str) -> Result<Self, WebhookUrlError> {
        if !REGISTERED_URL.allows(text.len()) {
            return Err(WebhookUrlError::TooLong);
        }
        let url = Url::parse(text).map_err(|_| WebhookUrlError::NotAbsolute)?;
        if url.host_str().is_none_or(str::is_empty) {
            return Err(WebhookUrlError::NotAbsolute);
        }
        match url.scheme() {
            "https" => {}
            "http" if is_this_machine(&url) => {}
            _ => return Err(WebhookUrlError::Scheme),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(WebhookUrlError::UserInfo);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(WebhookUrlError::Query);
        }
        // Chat services hand out addresses that let anybody write; those are credentials.
        if credential::find(url.as_str()).is_some() {
            return Err(WebhookUrlError::Secret);
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for WebhookUrl {
    type Error = WebhookUrlError;
    fn try_from(text: String) -> Result<Self, WebhookUrlError> {
        text.parse()
    }
}

impl From<WebhookUrl> for String {
    fn from(url: WebhookUrl) -> Self {
        url.0.into()
    }
}

impl std::fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl schemars::JsonSchema for WebhookUrl {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WebhookUrl".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": REGISTERED_URL.allowed,
            "description": "an https address, or an http one of this machine, without user, query or fragment",
        })
    }
}

/// Returns the value of the header that proves who sent a body, and when: `t=SECONDS,v1=HEX`, an
/// HMAC-SHA256 over `SECONDS.BODY`.
///
/// The time is signed with the body, so that whoever overheard a delivery cannot send it again tomorrow.
#[must_use]
pub fn signature(secret: &str, at: Timestamp, body: &[u8]) -> String {
    let seconds = at.unix_ms().div_euclid(1_000);
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let message = [format!("{seconds}.").as_bytes(), body].concat();
    let tag = hmac::sign(&key, &message);
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={seconds},v1={hex}")
}

/// Returns the pause before a try, the first being 1; none if there is no such try.
#[must_use]
pub fn pause_before(attempt: u32) -> Option<std::time::Duration> {
    match attempt {
        0 => None,
        1 => Some(std::time::Duration::ZERO),
        // 2 s, then 10 s: a restart of the receiver lies between the first and the last.
        _ if u64::from(attempt) <= WEBHOOK_TRIES.allowed => {
            Some(WEBHOOK_PAUSE.duration().saturating_mul(5_u32.saturating_pow(attempt - 2)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, error: WebhookUrlError) {
        assert_eq!(text.parse::<WebhookUrl>(), Err(error), "{text}");
    }

    #[test]
    fn only_https_and_this_machine_are_addresses_of_a_webhook() {
        for text in [
            "https://hooks.example.com/od",
            "https://10.0.0.7/x",
            "http://127.0.0.1:9000/",
            "http://localhost:9000/hook",
            "http://[::1]:9000/",
        ] {
            assert!(text.parse::<WebhookUrl>().is_ok(), "{text}");
        }
        refused("http://hooks.example.com/od", WebhookUrlError::Scheme);
        refused("http://localhost.example.com/", WebhookUrlError::Scheme);
        refused("http://0.0.0.0:9000/", WebhookUrlError::Scheme);
        refused("ftp://example.com/", WebhookUrlError::Scheme);
        refused("file:///etc/passwd", WebhookUrlError::NotAbsolute);
        refused("hooks.example.com", WebhookUrlError::NotAbsolute);
        refused("https://me:pw@example.com/", WebhookUrlError::UserInfo);
        refused("https://example.com/?key=1", WebhookUrlError::Query);
        refused("https://example.com/#a", WebhookUrlError::Query);
        refused(&format!("https://example.com/{}", "a".repeat(3_000)), WebhookUrlError::TooLong);
        let slack =
            ["https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/", "a1B2c3D4e5F6g7H8i9J0k1L2"];
        refused(&slack.concat(), WebhookUrlError::Secret);
    }

    #[test]
    fn a_private_network_is_reached_where_a_person_said_so() {
        let reach = |text: &str, private| text.parse::<WebhookUrl>().unwrap().reach(private);
        assert_eq!(reach("https://hooks.example.com/", false), Reach::Public);
        assert_eq!(reach("https://hooks.example.com/", true), Reach::Private);
        assert_eq!(reach("https://10.0.0.7/", false), Reach::Public, "an address is no word");
        assert_eq!(reach("http://localhost:9000/", true), Reach::Loopback);
    }

    #[test]
    fn a_signature_is_what_others_compute() {
        // python3 -c 'import hmac;print(hmac.new(b"key-of-eight",b"1777507200.{}","sha256").hexdigest())'
        let at = Timestamp::from_unix_ms(1_777_507_200_999);
        assert_eq!(
            signature("key-of-eight", at, b"{}"),
            "t=1777507200,v1=4be1e0ba8d0a8b238c3e6721c56bfec811920048fab70f6e07fa6c0855651d57"
        );
    }

    #[test]
    fn there_are_three_tries_and_their_pauses_grow() {
        let pauses: Vec<_> = (0..6).map(pause_before).map(|p| p.map(|p| p.as_secs())).collect();
        assert_eq!(pauses, [None, Some(0), Some(2), Some(10), None, None]);
    }

    #[test]
    fn what_was_lost_is_counted_until_one_arrives() {
        let mut deliveries = Deliveries::default();
        assert_eq!(deliveries.fault(), None);
        let lost = |count| DeliveryOutcome::Lost { count, because: "it answers 500".to_owned() };
        deliveries.take_in(lost(1), Timestamp::from_unix_ms(1));
        deliveries.take_in(lost(3), Timestamp::from_unix_ms(2));
        assert_eq!((deliveries.lost, deliveries.fault()), (4, Some("it answers 500")));
        deliveries.take_in(DeliveryOutcome::Delivered, Timestamp::from_unix_ms(3));
        assert_eq!((deliveries.lost, deliveries.fault()), (0, None));
        assert_eq!(
            deliveries.lost_at,
            Some(Timestamp::from_unix_ms(2)),
            "when it last was so stays"
        );
    }
}
