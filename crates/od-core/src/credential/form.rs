//! The table of the forms that credentials have.
//!
//! `fixtures/credentials` holds what the table is checked against: forms that must be found and
//! look-alikes that must not. Every row has a form there that only it finds.

use super::pattern::CredentialKind;

/// One form: how it is found, and what has to follow.
#[derive(Debug)]
pub(super) struct Form {
    /// The provider and the credential, for people.
    pub(super) name: &'static str,
    pub(super) kind: CredentialKind,
    /// Bytes before the anchor that belong to the form; none if it begins with its anchor.
    pub(super) lead: Option<Run>,
    /// The literal text that a search meets first.
    pub(super) anchor: &'static str,
    pub(super) rest: Tail,
    pub(super) run_test: RunTest,
}

/// The bytes after an anchor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tail {
    /// One part after the other.
    Parts(&'static [Part]),
    /// A JSON Web Token: parts of base64url, the first two of them JSON objects.
    Jwt,
    /// Blanks and the value of an authorization header.
    Bearer,
    /// A colon or the like, perhaps a scheme, and the value of a header.
    Header,
    /// Blanks and the base64 of `user:password`.
    Basic,
    /// The label and the body of a PEM block that is a private key.
    PrivateKey,
    /// The lines of a PuTTY key file, up to its code.
    PuttyKey,
    /// `user:password@`, or a token in place of the user.
    Userinfo,
    /// The value of a password in a connection string: a user or a host is named before it.
    Password,
}

/// One part of a form.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// This text.
    Text(&'static str),
    /// Bytes of an alphabet.
    Run(Run),
    /// A UUID, in either case.
    Uuid,
}

/// Bytes of an alphabet, as many as there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) alphabet: Alphabet,
    pub(super) min: u16,
    /// A longer run is something else.
    pub(super) max: u16,
}

/// A test of the bytes in a form's runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RunTest {
    /// Anything but one character again and again: the form itself says enough.
    Any,
    /// A digit among them: the alphabet alone also spells words.
    Digit,
    /// No words and numbers: `sk-learn-pipeline-2024` is a name.
    Random,
    /// As `Random`, with a digit and letters of both cases among them: dotted names of code have
    /// the same parts.
    Mixed,
}

/// Sets of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alphabet {
    /// `0-9`.
    Digit,
    /// `0-9a-fA-F`.
    Hex,
    /// `0-9a-z`.
    LowerAlnum,
    /// `0-9A-Z`.
    UpperAlnum,
    /// `0-9A-Za-z`.
    Alnum,
    /// `0-9A-Za-z_-`.
    Base64Url,
    /// `0-9A-Za-z+/`.
    Base64,
    /// `0-9A-Za-z_-.=`.
    Token,
    /// `0-9A-Za-z_-.~`.
    Unreserved,
    /// `0-9A-Za-z%+/_-.~=`.
    Encoded,
    /// What may stand between a name and its value: quotes, blanks, `:` and `=`.
    Assignment,
    /// Everything visible except what ends a user name in a URL.
    Name,
}

impl Alphabet {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::LowerAlnum => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::UpperAlnum => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Base64Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Self::Token => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=')
            }
            Self::Unreserved => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~')
            }
            Self::Encoded => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'%' | b'+' | b'/' | b'_' | b'-' | b'.' | b'~' | b'=')
            }
            Self::Assignment => {
                matches!(byte, b'=' | b':' | b'"' | b'\'' | b'`' | b' ' | b'\t' | b'>' | b'\\')
            }
            Self::Name => byte.is_ascii_graphic() && !matches!(byte, b'/' | b'@' | b':' | b'"'),
        }
    }
}

use Alphabet::{
    Alnum, Assignment, Base64, Base64Url, Digit, Encoded, Hex, LowerAlnum, Name, Token, Unreserved,
    UpperAlnum,
};
use Part::{Text, Uuid};

/// No bound on the length of a run.
const ANY: u16 = u16::MAX;

const fn run(alphabet: Alphabet, min: u16, max: u16) -> Part {
    Part::Run(Run { alphabet, min, max })
}

const fn exactly(alphabet: Alphabet, len: u16) -> Part {
    run(alphabet, len, len)
}

const fn from(alphabet: Alphabet, min: u16) -> Part {
    run(alphabet, min, ANY)
}

const fn form(
    name: &'static str,
    kind: CredentialKind,
    anchor: &'static str,
    rest: Tail,
    run_test: RunTest,
) -> Form {
    Form { name, kind, lead: None, anchor, rest, run_test }
}

/// A key whose anchor words also begin with.
const fn key(name: &'static str, anchor: &'static str, parts: &'static [Part]) -> Form {
    form(name, CredentialKind::ProviderKey, anchor, Tail::Parts(parts), RunTest::Random)
}

/// A key of dotted parts, as names of code are.
const fn mixed(name: &'static str, anchor: &'static str, parts: &'static [Part]) -> Form {
    form(name, CredentialKind::ProviderKey, anchor, Tail::Parts(parts), RunTest::Mixed)
}

/// A key whose shape says enough.
const fn fixed(name: &'static str, anchor: &'static str, parts: &'static [Part]) -> Form {
    form(name, CredentialKind::ProviderKey, anchor, Tail::Parts(parts), RunTest::Any)
}

/// A key that has its anchor in the middle.
const fn inside(
    name: &'static str,
    alphabet: Alphabet,
    min: u16,
    max: u16,
    anchor: &'static str,
    parts: &'static [Part],
) -> Form {
    let lead = Some(Run { alphabet, min, max });
    Form {
        lead,
        ..form(name, CredentialKind::ProviderKey, anchor, Tail::Parts(parts), RunTest::Any)
    }
}

/// An address that anyone who knows it may post to.
const fn hook(name: &'static str, anchor: &'static str, parts: &'static [Part]) -> Form {
    form(name, CredentialKind::WebhookUrl, anchor, Tail::Parts(parts), RunTest::Random)
}

/// As [`hook`], with too few characters to tell more.
const fn open_hook(name: &'static str, anchor: &'static str, parts: &'static [Part]) -> Form {
    Form { run_test: RunTest::Any, ..hook(name, anchor, parts) }
}

/// As [`hook`], where the host begins with a name of the account.
const fn hook_of(
    name: &'static str,
    alphabet: Alphabet,
    anchor: &'static str,
    parts: &'static [Part],
) -> Form {
    let lead = Some(Run { alphabet, min: 1, max: 64 });
    Form { lead, ..hook(name, anchor, parts) }
}

/// A signature in a URL or a key in a connection string.
const fn signature(name: &'static str, anchor: &'static str, parts: &'static [Part]) -> Form {
    form(name, CredentialKind::SignedUrl, anchor, Tail::Parts(parts), RunTest::Random)
}

const fn password(anchor: &'static str) -> Form {
    let kind = CredentialKind::ConnectionString;
    form("a password in a connection string", kind, anchor, Tail::Password, RunTest::Any)
}

/// Every form, by the bytes of its anchor; where several share an anchor, the narrower first.
#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    form("a PEM block of a private key", CredentialKind::Pem, "-----BEGIN ", Tail::PrivateKey, RunTest::Any),
    inside("Mailchimp API key", Hex, 32, 32, "-us", &[run(Digit, 1, 2)]),
    inside("Terraform Cloud API token", Alnum, 14, 14, ".atlasv1.", &[run(Base64Url, 60, 70)]),
    hook_of("Make webhook", LowerAlnum, ".make.com/", &[run(LowerAlnum, 28, 36)]),
    hook_of("Microsoft Teams webhook", Base64Url, ".webhook.office.com/webhookb2/", &[Uuid, Text("@"), Uuid, Text("/IncomingWebhook/"), run(Hex, 32, 32), Text("/"), Uuid]),
    hook("Mattermost webhook", "/hooks/", &[exactly(LowerAlnum, 26)]),
    hook("Rocket.Chat webhook", "/hooks/", &[run(Alnum, 17, 24), Text("/"), run(Alnum, 43, 64)]),
    hook("IFTTT webhook", "/with/key/", &[run(Base64Url, 20, 64)]),
    fixed("Google OAuth refresh token", "1//0", &[run(Base64Url, 40, 120)]),
    fixed("Asana personal access token", "2/", &[run(Digit, 15, 17), Text("/"), run(Digit, 15, 17), Text(":"), exactly(Hex, 32)]),
    fixed("ClickHouse Cloud API secret", "4b1d", &[exactly(Alnum, 38)]),
    form("a URL with a user or password", CredentialKind::UrlUserinfo, "://", Tail::Userinfo, RunTest::Any),
    inside("Telegram bot token", Digit, 8, 10, ":AA", &[run(Base64Url, 33, 33)]),
    inside("Firebase Cloud Messaging server key", Base64Url, 11, 11, ":APA91b", &[from(Base64Url, 120)]),
    fixed("1Password secret key", "A3-", &[exactly(UpperAlnum, 6), Text("-"), exactly(UpperAlnum, 6), Text("-"), exactly(UpperAlnum, 5), Text("-"), exactly(UpperAlnum, 5), Text("-"), exactly(UpperAlnum, 5), Text("-"), exactly(UpperAlnum, 5)]),
    key("X (Twitter) app bearer token", "AAAAAAAAAAAAAAAAAAAA", &[from(Encoded, 40)]),
    form("AWS bearer token id", CredentialKind::ProviderKey, "ABIA", Tail::Parts(&[exactly(UpperAlnum, 16)]), RunTest::Digit),
    key("AWS Bedrock API key", "ABSK", &[from(Base64, 100)]),
    fixed("age secret key", "AGE-SECRET-KEY-1", &[from(UpperAlnum, 40)]),
    key("Google API key", "AIza", &[run(Base64Url, 30, 40)]),
    key("JFrog API key", "AKCp", &[exactly(Alnum, 69)]),
    form("AWS access key id", CredentialKind::ProviderKey, "AKIA", Tail::Parts(&[exactly(UpperAlnum, 16)]), RunTest::Digit),
    key("Tencent Cloud secret id", "AKID", &[run(Alnum, 32, 36)]),
    key("Adyen API key", "AQE", &[run(Base64, 60, 200), Text("-"), from(Encoded, 40)]),
    key("Yandex Cloud API key", "AQVN", &[run(Base64Url, 35, 38)]),
    fixed("Octopus Deploy API key", "API-", &[exactly(UpperAlnum, 26)]),
    form("AWS temporary access key id", CredentialKind::ProviderKey, "ASIA", Tail::Parts(&[exactly(UpperAlnum, 16)]), RunTest::Digit),
    key("Atlassian API token", "ATATT3", &[from(Token, 60)]),
    key("Bitbucket app password", "ATBB", &[exactly(Alnum, 32)]),
    key("Bitbucket repository access token", "ATCTT3", &[from(Token, 60)]),
    key("Trello token", "ATTA", &[run(Hex, 64, 80)]),
    key("Aiven service password", "AVNS_", &[run(Base64Url, 19, 24)]),
    signature("AWS secret access key in the environment", "AWS_SECRET_ACCESS_KEY", &[run(Assignment, 1, 8), exactly(Base64, 40)]),
    inside("Azure DevOps personal access token", Alnum, 76, 76, "AZDO", &[exactly(Alnum, 4)]),
    signature("Azure storage account key", "AccountKey=", &[run(Base64, 80, 90)]),
    form("the value of an authorization header", CredentialKind::Bearer, "Authorization", Tail::Header, RunTest::Random),
    inside("Azure function key", Base64Url, 40, 46, "AzFu", &[run(Token, 6, 16)]),
    form("the value of an authorization header", CredentialKind::Bearer, "BEARER", Tail::Bearer, RunTest::Random),
    form("basic authentication", CredentialKind::BasicAuth, "Basic", Tail::Basic, RunTest::Any),
    form("the value of an authorization header", CredentialKind::Bearer, "Bearer", Tail::Bearer, RunTest::Random),
    key("CircleCI personal token", "CCIPAT_", &[run(Alnum, 16, 32), Text("_"), exactly(Hex, 40)]),
    key("CircleCI project token", "CCIPRJ_", &[run(Alnum, 16, 32), Text("_"), exactly(Hex, 40)]),
    key("Contentful personal access token", "CFPAT-", &[exactly(Base64Url, 43)]),
    key("Clojars deploy token", "CLOJARS_", &[exactly(LowerAlnum, 60)]),
    key("Square access token", "EAAA", &[run(Base64Url, 56, 64)]),
    key("Facebook access token", "EAA", &[from(Alnum, 90)]),
    key("EasyPost API key", "EZAK", &[exactly(Alnum, 54)]),
    key("EasyPost test API key", "EZTK", &[exactly(Alnum, 54)]),
    fixed("Flutterwave secret key", "FLWSECK-", &[exactly(LowerAlnum, 32), Text("-")]),
    fixed("Flutterwave test secret key", "FLWSECK_TEST-", &[run(Alnum, 12, 32)]),
    key("Google OAuth client secret", "GOCSPX-", &[exactly(Base64Url, 28)]),
    fixed("GitLab runner registration token", "GR1348941", &[run(Base64Url, 20, 20)]),
    key("Heroku API key", "HRKU-AA", &[exactly(Base64Url, 58)]),
    fixed("Heroku API key of the older form", "HRKU-", &[Uuid]),
    key("Instagram access token", "IGQ", &[from(Base64Url, 100)]),
    inside("Azure AI services key", Alnum, 52, 52, "JQQJ99", &[exactly(Alnum, 26)]),
    fixed("Backblaze application key", "K00", &[exactly(Base64, 28)]),
    key("Alibaba Cloud access key id", "LTAI", &[run(Alnum, 17, 20)]),
    mixed("Discord bot token", "M", &[run(Base64Url, 22, 27), Text("."), exactly(Base64Url, 6), Text("."), run(Base64Url, 27, 38)]),
    mixed("Discord bot token", "N", &[run(Base64Url, 22, 27), Text("."), exactly(Base64Url, 6), Text("."), run(Base64Url, 27, 38)]),
    fixed("New Relic user API key", "NRAK-", &[exactly(UpperAlnum, 27)]),
    inside("New Relic license key", Hex, 32, 40, "NRAL", &[]),
    key("New Relic insights key", "NRII-", &[exactly(Base64Url, 32)]),
    mixed("Discord bot token", "O", &[run(Base64Url, 22, 27), Text("."), exactly(Base64Url, 6), Text("."), run(Base64Url, 27, 38)]),
    password("PASSWORD="),
    fixed("Postman API key", "PMAK-", &[exactly(Hex, 24), Text("-"), exactly(Hex, 34)]),
    password("PWD="),
    password("Password="),
    form("a PuTTY private key", CredentialKind::Pem, "PuTTY-User-Key-File-", Tail::PuttyKey, RunTest::Any),
    password("Pwd="),
    inside("Azure AD client secret", Unreserved, 4, 4, "Q~", &[run(Encoded, 31, 34)]),
    mixed("SendGrid API key", "SG.", &[run(Base64Url, 16, 32), Text("."), run(Base64Url, 16, 64)]),
    fixed("Twilio API key", "SK", &[exactly(Hex, 32)]),
    key("Okta API token", "SSWS 00", &[exactly(Base64Url, 40)]),
    signature("Azure Service Bus key", "SharedAccessKey=", &[exactly(Base64, 43)]),
    form("the value of an API key header", CredentialKind::Bearer, "X-API-Key", Tail::Header, RunTest::Random),
    signature("AWS session token in a URL", "X-Amz-Security-Token=", &[from(Encoded, 60)]),
    signature("AWS signed URL", "X-Amz-Signature=", &[exactly(Hex, 64)]),
    signature("Google signed URL", "X-Goog-Signature=", &[from(Hex, 128)]),
    fixed("Plaid access token", "access-", &[run(LowerAlnum, 7, 11), Text("-"), Uuid]),
    signature("DingTalk, and other access tokens in a URL", "access_token=", &[from(Encoded, 20)]),
    fixed("Braintree access token", "access_token$production$", &[exactly(LowerAlnum, 16), Text("$"), exactly(Hex, 32)]),
    fixed("Adafruit IO key", "aio_", &[exactly(Alnum, 28)]),
    fixed("LaunchDarkly API key", "api-", &[Uuid]),
    key("Hugging Face organisation token", "api_org_", &[exactly(Alnum, 34)]),
    form("the value of an authorization header", CredentialKind::Bearer, "authorization", Tail::Header, RunTest::Random),
    signature("AWS secret access key in a profile", "aws_secret_access_key", &[run(Assignment, 1, 8), exactly(Base64, 40)]),
    form("basic authentication", CredentialKind::BasicAuth, "basic", Tail::Basic, RunTest::Any),
    form("the value of an authorization header", CredentialKind::Bearer, "bearer", Tail::Bearer, RunTest::Random),
    fixed("AWS Bedrock short-lived API key", "bedrock-api-key-", &[from(Base64, 40)]),
    fixed("Buildkite agent token", "bkua_", &[exactly(Hex, 40)]),
    key("crates.io token", "cio", &[exactly(Alnum, 32)]),
    key("JFrog reference token", "cmVmd", &[exactly(Alnum, 59)]),
    fixed("WooCommerce consumer secret", "cs_", &[exactly(Hex, 40)]),
    key("Cerebras API key", "csk-", &[exactly(LowerAlnum, 48)]),
    fixed("Databricks access token", "dapi", &[exactly(Hex, 32)]),
    fixed("dbt Cloud service token", "dbtc_", &[run(Base64Url, 40, 70)]),
    fixed("dbt Cloud user token", "dbtu_", &[run(Base64Url, 40, 70)]),
    key("Docker organisation access token", "dckr_oat_", &[run(Base64Url, 27, 40)]),
    key("Docker personal access token", "dckr_pat_", &[run(Base64Url, 27, 40)]),
    key("Deno Deploy token", "ddp_", &[exactly(Alnum, 36)]),
    hook("Discord webhook", "discord.com/api/webhooks/", &[run(Digit, 16, 21), Text("/"), run(Base64Url, 60, 80)]),
    hook("Discord webhook", "discordapp.com/api/webhooks/", &[run(Digit, 16, 21), Text("/"), run(Base64Url, 60, 80)]),
    fixed("DigitalOcean OAuth token", "doo_v1_", &[from(Hex, 64)]),
    fixed("DigitalOcean personal access token", "dop_v1_", &[from(Hex, 40)]),
    fixed("DigitalOcean refresh token", "dor_v1_", &[from(Hex, 64)]),
    key("Doppler audit token", "dp.audit.", &[exactly(Alnum, 43)]),
    key("Doppler CLI token", "dp.ct.", &[exactly(Alnum, 43)]),
    key("Doppler personal token", "dp.pt.", &[exactly(Alnum, 43)]),
    key("Doppler service account token", "dp.sa.", &[exactly(Alnum, 43)]),
    key("Doppler SCIM token", "dp.scim.", &[exactly(Alnum, 43)]),
    key("Doppler service token", "dp.st.", &[run(Base64Url, 0, 35), Text("."), exactly(Alnum, 43)]),
    key("Dynatrace API token", "dt0c01.", &[exactly(UpperAlnum, 24), Text("."), exactly(UpperAlnum, 64)]),
    key("Dynatrace platform token", "dt0s16.", &[run(UpperAlnum, 8, 24), Text("."), exactly(UpperAlnum, 64)]),
    key("Duffel access token", "duffel_live_", &[exactly(Base64Url, 43)]),
    key("Duffel test access token", "duffel_test_", &[exactly(Base64Url, 43)]),
    key("Elastic service token", "essu_", &[from(Base64, 60)]),
    form("a JSON Web Token", CredentialKind::Jwt, "eyJ", Tail::Jwt, RunTest::Any),
    key("Grafana API key", "eyJrIjoi", &[run(Base64, 70, 400)]),
    fixed("Firecrawl API key", "fc-", &[exactly(Hex, 32)]),
    key("Figma personal access token", "figd_", &[run(Base64Url, 36, 60)]),
    key("Frame.io API token", "fio-u-", &[exactly(Base64Url, 64)]),
    key("Fly.io access token", "fm2_", &[from(Base64, 100)]),
    key("Fly.io access token of the older form", "fo1_", &[exactly(Base64Url, 43)]),
    key("Fireworks API key", "fw_", &[run(Alnum, 22, 24)]),
    key("GitHub OAuth token", "gho_", &[run(Alnum, 20, 255)]),
    key("GitHub personal access token", "ghp_", &[run(Alnum, 20, 255)]),
    key("GitHub refresh token", "ghr_", &[run(Alnum, 20, 255)]),
    key("GitHub server token", "ghs_", &[from(Token, 20)]),
    key("GitHub user token", "ghu_", &[run(Alnum, 20, 255)]),
    key("GitHub fine-grained token", "github_pat_", &[run(Base64Url, 20, 255)]),
    key("Gitpod personal access token", "gitpod_pat_", &[run(Token, 40, 80)]),
    fixed("GitLab agent token", "glagent-", &[exactly(Base64Url, 50)]),
    key("Grafana Cloud token", "glc_", &[run(Base64, 32, 400)]),
    fixed("GitLab CI job token", "glcbt-", &[run(Alnum, 1, 5), Text("_"), exactly(Base64Url, 20)]),
    fixed("GitLab deploy token", "gldt-", &[exactly(Base64Url, 20)]),
    fixed("GitLab feature flags token", "glffct-", &[exactly(Base64Url, 20)]),
    fixed("GitLab feed token", "glft-", &[run(Base64Url, 20, 90)]),
    fixed("GitLab incoming mail token", "glimt-", &[exactly(Base64Url, 25)]),
    fixed("GitLab OAuth application secret", "gloas-", &[exactly(Base64Url, 64)]),
    key("GitLab personal access token", "glpat-", &[run(Token, 16, 320)]),
    fixed("GitLab pipeline trigger token", "glptt-", &[exactly(Hex, 40)]),
    key("GitLab runner token", "glrt-", &[run(Token, 20, 320)]),
    key("Grafana service account token", "glsa_", &[exactly(Alnum, 32), Text("_"), exactly(Hex, 8)]),
    fixed("GitLab SCIM token", "glsoat-", &[exactly(Base64Url, 20)]),
    key("Groq API key", "gsk_", &[run(Alnum, 40, 60)]),
    key("Honeycomb ingest key", "hcaik_", &[run(LowerAlnum, 48, 64)]),
    key("Hugging Face token", "hf_", &[exactly(Alnum, 34)]),
    hook("Slack webhook", "hooks.slack.com/services/", &[run(UpperAlnum, 8, 14), Text("/"), run(UpperAlnum, 8, 14), Text("/"), run(Alnum, 18, 32)]),
    hook("Slack trigger", "hooks.slack.com/triggers/", &[run(UpperAlnum, 8, 14), Text("/"), run(Digit, 10, 16), Text("/"), run(Alnum, 24, 40)]),
    hook("Slack workflow", "hooks.slack.com/workflows/", &[run(UpperAlnum, 8, 14), Text("/"), run(UpperAlnum, 8, 14), Text("/"), run(Digit, 15, 20), Text("/"), run(Alnum, 18, 32)]),
    open_hook("Zapier webhook", "hooks.zapier.com/hooks/catch/", &[run(Digit, 4, 12), Text("/"), run(LowerAlnum, 6, 12)]),
    key("HashiCorp Vault batch token", "hvb.", &[run(Base64Url, 100, 320)]),
    key("HashiCorp Vault recovery token", "hvr.", &[run(Base64Url, 24, 320)]),
    key("HashiCorp Vault service token", "hvs.", &[run(Base64Url, 24, 320)]),
    mixed("Infracost API key", "ico-", &[exactly(Alnum, 32)]),
    form("an Oracle connection string", CredentialKind::ConnectionString, "jdbc:oracle:thin:", Tail::Parts(&[run(Name, 1, 64), Text("/"), run(Name, 1, 128), Text("@")]), RunTest::Any),
    key("Jina API key", "jina_", &[run(Base64Url, 48, 80)]),
    fixed("Mailgun API key", "key-", &[exactly(Hex, 32)]),
    key("Linear API key", "lin_api_", &[run(Alnum, 20, 64)]),
    fixed("Linear OAuth token", "lin_oauth_", &[run(Hex, 40, 64)]),
    key("Mollie API key", "live_", &[exactly(Alnum, 30)]),
    fixed("LangSmith personal token", "lsv2_pt_", &[exactly(Hex, 32), Text("_"), exactly(Hex, 10)]),
    fixed("LangSmith service key", "lsv2_sk_", &[exactly(Hex, 32), Text("_"), exactly(Hex, 10)]),
    key("MongoDB Atlas service account secret", "mdb_sa_sk_", &[run(Base64Url, 38, 48)]),
    key("Neon API key", "napi_", &[run(LowerAlnum, 40, 72)]),
    key("Netlify personal access token", "nfp_", &[exactly(Alnum, 36)]),
    key("npm token", "npm_", &[exactly(Alnum, 36)]),
    key("Notion integration token", "ntn_", &[exactly(Alnum, 46)]),
    key("NVIDIA API key", "nvapi-", &[run(Base64Url, 60, 70)]),
    key("Twitch token", "oauth:", &[exactly(LowerAlnum, 30)]),
    key("a tool token of od", "odt.v1.", &[from(Token, 20)]),
    open_hook("Feishu webhook", "open.feishu.cn/open-apis/bot/v2/hook/", &[Uuid]),
    open_hook("Lark webhook", "open.larksuite.com/open-apis/bot/v2/hook/", &[Uuid]),
    key("1Password service account token", "ops_eyJ", &[from(Base64, 100)]),
    key("NuGet API key", "oy2", &[exactly(LowerAlnum, 43)]),
    fixed("Adafruit device key", "p8e-", &[exactly(LowerAlnum, 32)]),
    key("Voyage AI API key", "pa-", &[exactly(Base64Url, 43)]),
    password("password="),
    fixed("HubSpot private app token", "pat-", &[exactly(LowerAlnum, 3), Text("-"), Uuid]),
    key("Harness personal access token", "pat.", &[exactly(Base64Url, 22), Text("."), exactly(Hex, 24), Text("."), exactly(Alnum, 20)]),
    fixed("Airtable personal access token", "pat", &[exactly(Alnum, 14), Text("."), exactly(Hex, 64)]),
    key("Pinecone API key", "pcsk_", &[run(Base64Url, 40, 80)]),
    key("YouTrack permanent token", "perm:", &[from(Token, 40)]),
    key("PostHog personal API key", "phx_", &[run(Alnum, 40, 60)]),
    fixed("ClickUp API token", "pk_", &[run(Digit, 6, 10), Text("_"), exactly(UpperAlnum, 32)]),
    key("Prefect API key", "pnu_", &[exactly(Alnum, 36)]),
    key("Perplexity API key", "pplx-", &[run(Alnum, 40, 64)]),
    key("PlanetScale OAuth token", "pscale_oauth_", &[run(Token, 32, 64)]),
    key("PlanetScale password", "pscale_pw_", &[run(Token, 32, 64)]),
    key("PlanetScale service token", "pscale_tkn_", &[run(Token, 32, 64)]),
    fixed("Pulumi access token", "pul-", &[exactly(Hex, 40)]),
    password("pwd="),
    key("PyPI token", "pypi-", &[from(Base64Url, 80)]),
    open_hook("WeCom webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", &[Uuid]),
    key("Replicate API token", "r8_", &[run(Alnum, 36, 40)]),
    key("ReadMe API key", "rdme_", &[exactly(LowerAlnum, 70)]),
    key("Resend API key", "re_", &[exactly(Alnum, 8), Text("_"), exactly(Alnum, 24)]),
    key("Stripe restricted key", "rk_live_", &[run(Alnum, 16, 255)]),
    key("Stripe restricted test key", "rk_test_", &[run(Alnum, 16, 255)]),
    key("Render API key", "rnd_", &[exactly(Alnum, 32)]),
    fixed("RubyGems API key", "rubygems_", &[exactly(Hex, 48)]),
    fixed("Intra 42 client secret", "s-s4t2af-", &[exactly(Hex, 64)]),
    fixed("Intra 42 client secret", "s-s4t2ud-", &[exactly(Hex, 64)]),
    mixed("HashiCorp Vault service token of the older form", "s.", &[exactly(Alnum, 24)]),
    key("Supabase secret key", "sb_secret_", &[run(Base64Url, 22, 48)]),
    fixed("Supabase access token", "sbp_", &[exactly(Hex, 40)]),
    fixed("LaunchDarkly SDK key", "sdk-", &[Uuid]),
    key("PubNub secret key", "sec-c-", &[exactly(Alnum, 48)]),
    key("Stytch secret", "secret-live-", &[exactly(Base64Url, 36)]),
    key("Stytch test secret", "secret-test-", &[exactly(Base64Url, 36)]),
    key("Notion integration secret", "secret_", &[exactly(Alnum, 43)]),
    key("OpenAI session key", "sess-", &[exactly(Alnum, 40)]),
    fixed("Sourcegraph access token", "sgp_", &[run(Alnum, 5, 16), Text("_"), exactly(Hex, 40)]),
    fixed("Sourcegraph access token of the older form", "sgp_", &[exactly(Hex, 40)]),
    key("OpenShift user token", "sha256~", &[exactly(Base64Url, 43)]),
    fixed("Shippo API token", "shippo_live_", &[exactly(Hex, 40)]),
    fixed("Shippo test API token", "shippo_test_", &[exactly(Hex, 40)]),
    fixed("Shopify access token", "shpat_", &[run(Hex, 30, 64)]),
    fixed("Shopify custom app token", "shpca_", &[run(Hex, 30, 64)]),
    fixed("Shopify private app token", "shppa_", &[run(Hex, 30, 64)]),
    fixed("Shopify shared secret", "shpss_", &[run(Hex, 30, 64)]),
    signature("a signature in a URL", "sig=", &[run(Encoded, 40, 120)]),
    key("OpenAI admin key", "sk-admin-", &[from(Base64Url, 40)]),
    key("Anthropic API key", "sk-ant-", &[from(Base64Url, 40)]),
    fixed("Langfuse secret key", "sk-lf-", &[Uuid]),
    fixed("OpenRouter API key", "sk-or-v1-", &[exactly(Hex, 64)]),
    key("OpenAI project key", "sk-proj-", &[from(Base64Url, 40)]),
    key("OpenAI service account key", "sk-svcacct-", &[from(Base64Url, 40)]),
    key("OpenAI, DeepSeek and other model providers' keys", "sk-", &[run(Alnum, 20, 255)]),
    key("Mapbox secret token", "sk.eyJ", &[from(Base64Url, 20), Text("."), run(Base64Url, 20, 24)]),
    key("Stripe, Clerk and Paystack secret key", "sk_live_", &[run(Alnum, 16, 255)]),
    key("Stripe, Clerk and Paystack test secret key", "sk_test_", &[run(Alnum, 16, 255)]),
    fixed("ElevenLabs API key", "sk_", &[exactly(Hex, 48)]),
    key("Dropbox short-lived token", "sl.", &[from(Token, 100)]),
    fixed("SettleMint application token", "sm_aat_", &[exactly(Alnum, 16)]),
    fixed("SettleMint personal token", "sm_pat_", &[exactly(Alnum, 16)]),
    key("Sentry organisation token", "sntrys_", &[from(Encoded, 60)]),
    fixed("Sentry user token", "sntryu_", &[exactly(Hex, 64)]),
    key("Snyk service account token", "snyk_sat.", &[from(Token, 40)]),
    key("Snyk user token", "snyk_uat.", &[from(Token, 40)]),
    key("Square production token", "sq0atp-", &[run(Base64Url, 22, 60)]),
    key("Square OAuth secret", "sq0csp-", &[run(Base64Url, 40, 60)]),
    fixed("SonarQube analysis token", "sqa_", &[exactly(Hex, 40)]),
    fixed("SonarQube project token", "sqp_", &[exactly(Hex, 40)]),
    fixed("SonarQube user token", "squ_", &[exactly(Hex, 40)]),
    key("Mollie test API key", "test_", &[exactly(Alnum, 30)]),
    key("Typeform personal access token", "tfp_", &[run(Alnum, 40, 48), Text("_"), run(Alnum, 12, 16)]),
    key("Together AI key", "tgp_v1_", &[exactly(Base64Url, 43)]),
    key("Scalingo API token", "tk-us-", &[exactly(Base64Url, 48)]),
    key("Tailscale API key", "tskey-api-", &[run(Base64Url, 30, 80)]),
    key("Tailscale auth key", "tskey-auth-", &[run(Base64Url, 30, 80)]),
    key("Tailscale OAuth client secret", "tskey-client-", &[run(Base64Url, 30, 80)]),
    key("Tavily API key", "tvly-", &[run(Base64Url, 32, 48)]),
    fixed("Cloudflare origin CA key", "v1.0-", &[exactly(Hex, 24), Text("-"), exactly(Hex, 146)]),
    key("Stripe webhook secret", "whsec_", &[run(Base64, 16, 64)]),
    form("the value of an API key header", CredentialKind::Bearer, "x-api-key", Tail::Header, RunTest::Random),
    fixed("Axiom API token", "xaat-", &[Uuid]),
    key("xAI API key", "xai-", &[run(Alnum, 70, 90)]),
    fixed("Axiom personal token", "xapt-", &[Uuid]),
    key("Slack app token", "xapp-", &[from(Base64Url, 20)]),
    fixed("Brevo API key", "xkeysib-", &[exactly(Hex, 64), Text("-"), exactly(Alnum, 16)]),
    key("Slack workspace token", "xoxa-", &[from(Base64Url, 20)]),
    key("Slack bot token", "xoxb-", &[from(Base64Url, 20)]),
    key("Slack client token", "xoxc-", &[from(Base64Url, 20)]),
    key("Slack cookie token", "xoxd-", &[from(Encoded, 20)]),
    key("Slack configuration refresh token", "xoxe-", &[from(Base64Url, 20)]),
    key("Slack legacy token", "xoxo-", &[from(Base64Url, 20)]),
    key("Slack user token", "xoxp-", &[from(Base64Url, 20)]),
    key("Slack refresh token", "xoxr-", &[from(Base64Url, 20)]),
    key("Slack session token", "xoxs-", &[from(Base64Url, 20)]),
    fixed("Brevo SMTP key", "xsmtpsib-", &[exactly(Hex, 64), Text("-"), exactly(Alnum, 16)]),
    key("Yandex OAuth token", "y0_", &[run(Base64Url, 50, 64)]),
    key("Google OAuth access token", "ya29.", &[from(Token, 20)]),
    Form { run_test: RunTest::Random, ..inside("Facebook app access token", Digit, 15, 16, "|", &[exactly(Base64Url, 27)]) },
];
