//! Services that a person has registered by name, so that sources may read them.

use url::Url;

use super::{ConnectionStringError, DatabaseAddress};
use crate::ids::{ParseIdError, ProjectId, Timestamp, string_newtype};
use crate::limits::{REGISTERED_HEADER, REGISTERED_URL};
use crate::words::words;

/// The name of a registered service, which sources use in the place of its address.
#[derive(
    Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct ServiceName(String);

string_newtype!(
    ServiceName,
    "^[a-z][a-z0-9_-]{0,31}$",
    32,
    "the name that a person gave the service: lower-case letters, digits, _ and -"
);

impl std::str::FromStr for ServiceName {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let is_name = text.len() <= 32
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            let want = "1 to 32 of a-z 0-9 _ -, starting with a letter";
            Err(ParseIdError { what: "service name", want })
        }
    }
}

/// A service as a person registered it. Its secret, if it has one, is in the vault.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredService {
    /// The name.
    pub name: ServiceName,
    /// Where it is; its scheme says of what kind it is.
    pub url: ServiceUrl,
    /// The header that carries its secret; it takes none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<SecretHeader>,
    /// When it was registered, or its registration changed.
    pub registered_at: Timestamp,
}

/// A service that an agent has named and that no person has registered. It is a question, not a grant.
#[derive(
    Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ServiceRequest {
    /// The name that the agent used.
    pub name: ServiceName,
    /// The kind of service that its tool reads.
    pub kind: ServiceKind,
    /// The project that the agent works in.
    pub project_id: ProjectId,
    /// When it was last asked for.
    pub asked_at: Timestamp,
}

words! {
    /// The kinds of services that can be registered.
    ServiceKind {
        /// Resources over HTTP.
        Http = "http",
        /// A PostgreSQL database.
        Postgres = "postgres",
    }
}

/// The place of a registered service, which holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum ServiceUrl {
    /// The address below which everything is that sources may read.
    Http(BaseUrl),
    /// The database that they may read.
    Postgres(DatabaseAddress),
}

impl ServiceUrl {
    /// Returns the kind of service.
    #[must_use]
    pub const fn kind(&self) -> ServiceKind {
        match self {
            Self::Http(_) => ServiceKind::Http,
            Self::Postgres(_) => ServiceKind::Postgres,
        }
    }
}

/// Why a text is the place of no service.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ServiceUrlError {
    /// It is none over HTTP.
    #[error(transparent)]
    Http(#[from] BaseUrlError),
    /// It is no database.
    #[error(transparent)]
    Postgres(#[from] ConnectionStringError),
}

impl std::str::FromStr for ServiceUrl {
    type Err = ServiceUrlError;
    fn from_str(text: &str) -> Result<Self, ServiceUrlError> {
        if text.starts_with("postgresql:") {
            Ok(Self::Postgres(text.parse()?))
        } else {
            Ok(Self::Http(text.parse()?))
        }
    }
}

impl TryFrom<String> for ServiceUrl {
    type Error = ServiceUrlError;
    fn try_from(text: String) -> Result<Self, ServiceUrlError> {
        text.parse()
    }
}

impl From<ServiceUrl> for String {
    fn from(url: ServiceUrl) -> Self {
        url.to_string()
    }
}

impl std::fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Http(url) => url.fmt(f),
            Self::Postgres(address) => address.fmt(f),
        }
    }
}

impl schemars::JsonSchema for ServiceUrl {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ServiceUrl".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": REGISTERED_URL.allowed,
            "description": "an http or https address, or postgresql://host:port/database; no user, no password",
        })
    }
}

/// An `http` or `https` address without user, query or fragment, whose path ends with `/`.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Returns the address.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.0
    }

    /// Returns the address of a resource below this one.
    ///
    /// The path is appended, never resolved: `/x` and `x` are the same resource, and none leads to
    /// another host or above the base, in whatever way the dots or slashes are written.
    ///
    /// # Errors
    ///
    /// Fails for a path that would leave the base.
    pub fn resource(&self, path: &str, query: &[(String, String)]) -> Result<Url, PathOutside> {
        let mut url = self.0.clone();
        let path = path.strip_prefix('/').unwrap_or(path);
        let leaves = path.contains(['\\', '?', '#']) || path.chars().any(char::is_control);
        if leaves || hides_a_way_up(path) {
            return Err(PathOutside);
        }
        url.set_path(&format!("{}{path}", self.0.path()));
        // The parser has its own idea of dots and slashes; what it made of the path is what counts.
        if !self.covers(&url) {
            return Err(PathOutside);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    /// Returns whether an address, that of a redirect say, is this one or below it.
    #[must_use]
    pub fn covers(&self, url: &Url) -> bool {
        url.origin() == self.0.origin()
            && url.path().starts_with(self.0.path())
            && !hides_a_way_up(url.path())
    }
}

/// Returns whether a server that decodes a path first may take it for one that leads up.
fn hides_a_way_up(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.contains("%2f") || lower.contains("%5c") || path.split('/').any(is_dots)
}

/// Returns whether a segment is `.` or `..`, plain or percent-encoded, as URL parsers read it.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".").replace("%3b", ";");
    let name = plain.split(';').next().unwrap_or_default();
    name == "." || name == ".."
}

/// A path that leads out of the registered address.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "the path must stay below the registered address: no `..`, `\\`, `?` or `#` (the query has a field of its own)"
)]
pub struct PathOutside;

/// Why a text is no address that can be registered.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BaseUrlError {
    /// It is no absolute address.
    #[error("not an address: write it whole, such as https://api.example.com/v1")]
    NotAbsolute,
    /// Its scheme is another.
    #[error("`{0}` is not http or https")]
    Scheme(String),
    /// It holds a user name or password.
    #[error("the address holds a user name or password; give the secret as a header instead")]
    UserInfo,
    /// It has a query or a fragment.
    #[error("the address has a query or fragment; sources give the query")]
    Query,
    /// It is too long.
    #[error("the address is longer than {}", REGISTERED_URL.want())]
    TooLong,
}

impl std::str::FromStr for BaseUrl {
    type Err = BaseUrlError;
    fn from_str(text: &str) -> Result<Self, BaseUrlError> {
        if !REGISTERED_URL.allows(text.len()) {
            return Err(BaseUrlError::TooLong);
        }
        let mut url = Url::parse(text).map_err(|_| BaseUrlError::NotAbsolute)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(BaseUrlError::Scheme(url.scheme().to_owned()));
        }
        if url.host_str().is_none() {
            return Err(BaseUrlError::NotAbsolute);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BaseUrlError::UserInfo);
        }
        // A key in a query would be shown wherever the address is, in lists, records and provenance.
        if url.query().is_some() || url.fragment().is_some() {
            return Err(BaseUrlError::Query);
        }
        // So that what lies below it is told by a prefix: `/v1` would also be the beginning of `/v10`.
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for BaseUrl {
    type Error = BaseUrlError;
    fn try_from(text: String) -> Result<Self, BaseUrlError> {
        text.parse()
    }
}

impl From<BaseUrl> for String {
    fn from(url: BaseUrl) -> Self {
        url.0.into()
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl schemars::JsonSchema for BaseUrl {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BaseUrl".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": REGISTERED_URL.allowed,
            "description": "an http or https address without user, query or fragment",
        })
    }
}

/// A header that carries a secret: its name, or its name and the scheme before the secret, as in
/// `Authorization: Basic`. `Authorization` alone means the scheme `Bearer`.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct SecretHeader {
    name: String,
    scheme: Option<String>,
}

impl SecretHeader {
    /// Returns the header's name, in lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the header's value for a secret.
    #[must_use]
    pub fn value(&self, secret: &str) -> String {
        match &self.scheme {
            Some(scheme) => format!("{scheme} {secret}"),
            None => secret.to_owned(),
        }
    }
}

impl TryFrom<String> for SecretHeader {
    type Error = ParseIdError;
    fn try_from(text: String) -> Result<Self, ParseIdError> {
        text.parse()
    }
}

impl From<SecretHeader> for String {
    fn from(header: SecretHeader) -> Self {
        header.to_string()
    }
}

impl std::fmt::Display for SecretHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        self.scheme.as_ref().map_or(Ok(()), |scheme| write!(f, ": {scheme}"))
    }
}

impl schemars::JsonSchema for SecretHeader {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SecretHeader".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": REGISTERED_HEADER.allowed,
            "description": "the request header of the secret, such as X-Api-Key or Authorization: Basic",
        })
    }
}

/// Headers that say how a message is carried: whoever sets them changes the request itself.
const MESSAGE_HEADERS: [&str; 10] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl std::str::FromStr for SecretHeader {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let (name, scheme) = match text.split_once(':') {
            Some((name, scheme)) => (name, Some(scheme.trim())),
            None => (text, None),
        };
        let name = name.to_ascii_lowercase();
        let fits = REGISTERED_HEADER.allows(text.len())
            && is_token(&name)
            && scheme.is_none_or(is_token)
            && !MESSAGE_HEADERS.contains(&name.as_str());
        if !fits {
            let want =
                "a header that may carry a secret, such as X-Api-Key or Authorization: Basic";
            return Err(ParseIdError { what: "header", want });
        }
        let scheme = scheme.or_else(|| (name == "authorization").then_some("Bearer"));
        Ok(Self { name, scheme: scheme.map(str::to_owned) })
    }
}

fn is_token(text: &str) -> bool {
    let is_mark = |b: u8| b"!#$%&'*+.^_`|~-".contains(&b);
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || is_mark(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> BaseUrl {
        "https://api.example.com/v1".parse().unwrap()
    }

    #[test]
    fn an_address_is_whole_and_holds_no_secret() {
        assert_eq!(base().to_string(), "https://api.example.com/v1/");
        for (text, error) in [
            ("api.example.com", BaseUrlError::NotAbsolute),
            ("/v1", BaseUrlError::NotAbsolute),
            ("ftp://example.com/", BaseUrlError::Scheme("ftp".to_owned())),
            ("https://me:pw@example.com/", BaseUrlError::UserInfo),
            ("https://example.com/?key=1", BaseUrlError::Query),
            ("https://example.com/#x", BaseUrlError::Query),
        ] {
            assert_eq!(text.parse::<BaseUrl>(), Err(error), "{text}");
        }
    }

    #[test]
    fn a_resource_stays_below_its_base() {
        let resource = |path: &str| base().resource(path, &[]).map(|url| url.to_string());
        for path in ["quotes", "/quotes"] {
            assert_eq!(resource(path).unwrap(), "https://api.example.com/v1/quotes");
        }
        assert_eq!(resource("").unwrap(), "https://api.example.com/v1/");
        assert_eq!(resource("//evil.test/x").unwrap(), "https://api.example.com/v1//evil.test/x");
        for path in ["../admin", "a/../../x", "a/%2e%2E/x", "..", "a\\b", "x?y=1", "x#y", "a\nb"] {
            assert_eq!(resource(path), Err(PathOutside), "{path}");
        }
        // Ways up for a server that decodes first, or drops what follows a semicolon.
        for path in ["..%2fadmin", "a%5c..%5cadmin", "..;/admin", "%2e%2e%3b/admin", "a/..;x=1/b"] {
            assert_eq!(resource(path), Err(PathOutside), "{path}");
        }
    }

    #[test]
    fn a_redirect_is_followed_below_the_base_only() {
        let covers = |text: &str| base().covers(&text.parse().unwrap());
        assert!(covers("https://api.example.com/v1/quotes?page=2"));
        for text in [
            "https://api.example.com/admin",
            "https://api.example.com/v10/x",
            "https://api.example.com/v1/..%2fadmin",
            "https://api.example.com:8443/v1/x",
            "http://api.example.com/v1/x",
        ] {
            assert!(!covers(text), "{text}");
        }
    }

    #[test]
    fn a_query_is_written_into_the_address() {
        let query = [("symbol".to_owned(), "A&B=C".to_owned())];
        assert_eq!(
            base().resource("q", &query).unwrap().as_str(),
            "https://api.example.com/v1/q?symbol=A%26B%3DC"
        );
    }

    #[test]
    fn a_header_is_a_token_that_does_not_steer_the_message() {
        let value = |text: &str| text.parse::<SecretHeader>().map(|header| header.value("k"));
        assert_eq!("X-Api-Key".parse::<SecretHeader>().unwrap().name(), "x-api-key");
        assert_eq!(value("X-Api-Key").unwrap(), "k");
        assert_eq!(value("Authorization").unwrap(), "Bearer k");
        assert_eq!(value("Authorization: Basic").unwrap(), "Basic k");
        for name in ["", "Host", "content-length", "a b", "x:y z", "x:", "Transfer-Encoding"] {
            assert!(name.parse::<SecretHeader>().is_err(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_path_leaves_the_registered_address(path in "[ -~\\\\/.%2eE]{0,40}") {
            let base = base();
            if let Ok(url) = base.resource(&path, &[]) {
                prop_assert_eq!(url.origin(), base.url().origin());
                prop_assert!(url.path().starts_with("/v1/"), "{}", url);
                prop_assert!(!url.path().split('/').any(is_dots), "{}", url);
                prop_assert_eq!(url.query(), None);
            }
        }
    }
}
