//! URL policy: the destinations that a template and its data may lead to.

use std::sync::LazyLock;

use url::Url;

use crate::template::program::Guard;

/// Stands for the preview's own address; `.invalid` never resolves.
static BASE: LazyLock<Option<Url>> =
    LazyLock::new(|| Url::parse("http://preview.invalid/artifact/").ok());

/// The kinds of destinations of allowed URLs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Destination {
    /// To the page itself: empty or a fragment.
    Page,
    /// To the same origin.
    Local,
    /// To another host.
    External,
}

/// The reasons for refusing a URL.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UrlFault {
    /// Control characters, which browsers drop.
    #[error("control characters")]
    Control,
    /// A backslash, which browsers read as a slash.
    #[error("a backslash")]
    Backslash,
    /// A host without a scheme.
    #[error("a host without a scheme")]
    SchemeRelative,
    /// A scheme other than http or https.
    #[error("a scheme other than http and https")]
    Scheme,
    /// A user name or password.
    #[error("a user name or password")]
    UserInfo,
    /// A text that cannot be parsed as a URL.
    #[error("no valid URL")]
    Malformed,
}

/// Checks the whole value of a URL attribute; of several URLs the farthest destination counts.
pub(crate) fn check(guard: Guard, value: &str) -> Result<Destination, UrlFault> {
    match guard {
        Guard::Url | Guard::Css => check_url(value),
        // Brackets hide commas in image candidates; no real one has them.
        Guard::SrcSet if value.contains('(') => Err(UrlFault::Malformed),
        Guard::SrcSet => farthest(candidates(value)),
        Guard::UrlList => farthest(value.split_ascii_whitespace()),
    }
}

/// Returns whether a URL is an image by its own bytes: `data:image/…`.
pub(crate) fn is_inline_image(value: &str) -> bool {
    let head = value.trim_matches(' ').get(..11);
    head.is_some_and(|head| head.eq_ignore_ascii_case("data:image/"))
}

fn farthest<'v>(urls: impl Iterator<Item = &'v str>) -> Result<Destination, UrlFault> {
    let mut farthest = Destination::Page;
    for url in urls {
        match check_url(url)? {
            Destination::External => farthest = Destination::External,
            Destination::Local if farthest == Destination::Page => farthest = Destination::Local,
            Destination::Local | Destination::Page => {}
        }
    }
    Ok(farthest)
}

/// Splits image candidates: a URL runs to white space, a trailing comma ends the candidate, and
/// without one the descriptors run to the next comma.
fn candidates(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|mark: char| mark.is_ascii_whitespace() || mark == ',');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|mark: char| mark.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, behind) = rest.split_at(end);
        let trimmed = url.trim_end_matches(',');
        rest = if trimmed.len() < url.len() {
            behind
        } else {
            behind.find(',').map_or("", |comma| &behind[comma + 1..])
        };
        Some(trimmed)
    })
}

fn check_url(value: &str) -> Result<Destination, UrlFault> {
    if let Some(destination) = plainly_allowed(value) {
        return Ok(destination);
    }
    if value.chars().any(|mark| mark.is_control()) {
        return Err(UrlFault::Control);
    }
    // `/\host` leads to another host in every browser, and no parser here has to agree with them on how.
    if value.contains('\\') {
        return Err(UrlFault::Backslash);
    }
    let value = value.trim_matches(' ');
    if value.starts_with("//") {
        return Err(UrlFault::SchemeRelative);
    }
    let absolute = has_scheme(value);
    // `http:x` is relative on an http page and absolute elsewhere.
    if absolute && !value.split_once(':').is_some_and(|(_, rest)| rest.starts_with("//")) {
        let is_web = value.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("http:"))
            || value.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("https:"));
        return Err(if is_web { UrlFault::Malformed } else { UrlFault::Scheme });
    }
    let base = BASE.as_ref();
    let url = Url::options().base_url(base).parse(value).map_err(|_| UrlFault::Malformed)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlFault::Scheme);
    }
    // `https://bank.test@evil.test` shows one host and leads to another.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlFault::UserInfo);
    }
    match (absolute, url.host_str() == base.and_then(Url::host_str)) {
        (true, _) => Ok(Destination::External),
        (false, true) => Ok(Destination::Local),
        (false, false) => Err(UrlFault::SchemeRelative),
    }
}

fn has_scheme(value: &str) -> bool {
    let end = value
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
        .count();
    value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value.as_bytes().get(end) == Some(&b':')
}

/// Decides the everyday cases without parsing. What it allows, the parser would allow too.
fn plainly_allowed(value: &str) -> Option<Destination> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/?#&=+%,;:@!*()$".contains(byte);
    if !value.as_bytes().iter().all(plain) {
        return None;
    }
    if value.is_empty() || value.starts_with('#') {
        return Some(Destination::Page);
    }
    if value.starts_with('/') && !value.starts_with("//") {
        return Some(Destination::Local);
    }
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"))?;
    let host_end =
        rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    is_plain_host(&rest[..host_end]).then_some(Destination::External)
}

/// A host name that can be neither an address nor in need of decoding.
fn is_plain_host(host: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with("xn--")
            && label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let last_is_name = host
        .rsplit('.')
        .next()
        .is_some_and(|last| last.starts_with(|first: char| first.is_ascii_lowercase()));
    last_is_name && host.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn allowed(value: &str, destination: Destination) {
        assert_eq!(check_url(value), Ok(destination), "{value:?}");
    }

    #[track_caller]
    fn refused(value: &str, fault: UrlFault) {
        assert_eq!(check_url(value), Err(fault), "{value:?}");
    }

    #[test]
    fn only_web_and_local_destinations_are_allowed() {
        allowed("", Destination::Page);
        allowed("#top", Destination::Page);
        allowed("/a/b?c=d", Destination::Local);
        allowed("a/b.png", Destination::Local);
        allowed("?q=a:b", Destination::Local);
        allowed("https://example.com/x", Destination::External);
        allowed("HTTP://EXAMPLE.com", Destination::External);
        allowed("http://[::1]:80/", Destination::External);
        allowed(" https://example.com/ä ö", Destination::External);
        refused("javascript:alert(1)", UrlFault::Scheme);
        refused("JaVaScRiPt:alert(1)", UrlFault::Scheme);
        refused("java\tscript:alert(1)", UrlFault::Control);
        refused("\u{1}javascript:alert(1)", UrlFault::Control);
        refused("data:text/html,x", UrlFault::Scheme);
        refused("mailto:a@b.c", UrlFault::Scheme);
        refused("//evil.test", UrlFault::SchemeRelative);
        refused("/\\evil.test", UrlFault::Backslash);
        refused("https:evil.test", UrlFault::Malformed);
        refused("http:/evil.test", UrlFault::Malformed);
        refused("https://", UrlFault::Malformed);
        refused("https://[x", UrlFault::Malformed);
        refused("https://user@host.test/", UrlFault::UserInfo);
        refused("https://user:secret@host.test/", UrlFault::UserInfo);
    }

    #[test]
    fn what_is_plainly_allowed_the_parser_allows_too() {
        for value in ["", "#a:b", "/x//y", "https://a.b-c.de/?q=@#f", "http://localhost"] {
            let plain = plainly_allowed(value).unwrap();
            let url = Url::options().base_url(BASE.as_ref()).parse(value).unwrap();
            let external = url.host_str() != Some("preview.invalid");
            assert_eq!(plain == Destination::External, external, "{value}");
        }
        for value in
            ["https://1.2.3.400/", "https://xn--a/", "https://a..b/", "https://a:99999/", "//x"]
        {
            assert_eq!(plainly_allowed(value), None, "{value}");
        }
    }

    #[test]
    fn every_image_candidate_is_checked() {
        let urls = |value| candidates(value).collect::<Vec<_>>();
        assert_eq!(urls("a.png 1x, b.png 2x"), ["a.png", "b.png"]);
        assert_eq!(urls(" ,a.png, b.png,"), ["a.png", "b.png"]);
        assert_eq!(urls("a,b 1x"), ["a,b"]);
        assert_eq!(check(Guard::SrcSet, "a.png 1x, javascript:x 2x"), Err(UrlFault::Scheme));
        assert_eq!(check(Guard::UrlList, "/a https://b.test/"), Ok(Destination::External));
    }
}
