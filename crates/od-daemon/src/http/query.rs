//! Query strings, read strictly: known names, each at most once.

use od_core::error::{ErrorCode, Failure, nearest_name};

/// The parameters of one request's query.
#[derive(Debug)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads a query that may hold the `known` names and no others.
    pub(crate) fn parse(query: Option<&str>, known: &[&str]) -> Result<Self, Failure> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                return Err(Failure::new(ErrorCode::BadRequest, "the query is not valid UTF-8")
                    .suggest("send the percent-encoded bytes of UTF-8"));
            };
            if !known.contains(&name.as_str()) {
                return Err(unknown(&name, known));
            }
            if pairs.iter().any(|(seen, _)| *seen == name) {
                let message = format!("query parameter `{name}` is given twice");
                return Err(Failure::new(ErrorCode::BadRequest, message)
                    .suggest(format!("give `{name}` once")));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    /// Returns a parameter as it was given.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter as a core type.
    pub(crate) fn get<T>(&self, name: &str) -> Result<Option<T>, Failure>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error| {
            Failure::new(ErrorCode::BadRequest, format!("query parameter `{name}`: {error}"))
                .suggest(format!("correct `{name}` or leave it out"))
        })
    }
}

fn unknown(name: &str, known: &[&str]) -> Failure {
    let shown: String = name.chars().take(64).filter(|c| !c.is_control()).collect();
    let suggestion = match (nearest_name(name, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "this route takes no query".to_owned(),
        (None, known) => format!("this route takes: {}", known.join(", ")),
    };
    Failure::new(ErrorCode::BadRequest, format!("unknown query parameter `{shown}`"))
        .suggest(suggestion)
}

/// Decodes `%XX` and `+`; `None` if the result is not UTF-8 or an escape is incomplete.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_and_given_once() {
        let query = Query::parse(Some("variant=in%73pect&snapshot="), &["variant", "snapshot"]);
        let query = query.unwrap();
        assert_eq!(query.text("variant"), Some("inspect"));
        assert_eq!(query.text("snapshot"), Some(""));
        assert_eq!(query.text("other"), None);
        let failed = |text| Query::parse(Some(text), &["variant"]).unwrap_err();
        assert_eq!(failed("varient=x").suggestion, "did you mean `variant`?");
        assert_eq!(failed("variant=a&variant=b").suggestion, "give `variant` once");
        assert_eq!(failed("variant=%f").code, ErrorCode::BadRequest);
        assert_eq!(failed("variant=%ff").code, ErrorCode::BadRequest);
    }
}
