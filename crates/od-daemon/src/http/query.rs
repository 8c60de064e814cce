//! Query strings, read strictly: the names of the route's row, each at most once.

use od_core::error::{ErrorCode, Failure, Issue, nearest_name};
use od_wire::route::{QueryName, QueryParameter};

/// The parameters of one request's query.
#[derive(Debug)]
pub(crate) struct Query {
    known: &'static [QueryParameter],
    given: Vec<(QueryName, String)>,
}

impl Query {
    /// Reads a query that may hold the parameters of a route and no others.
    pub(crate) fn parse(
        query: Option<&str>,
        known: &'static [QueryParameter],
    ) -> Result<Self, Failure> {
        let mut given: Vec<(QueryName, String)> = Vec::new();
        for part in query.unwrap_or_default().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                return Err(Failure::new(ErrorCode::BadRequest, "the query is not valid UTF-8")
                    .suggest("send the percent-encoded bytes of UTF-8"));
            };
            let Some(parameter) = known.iter().find(|known| known.name.as_str() == name) else {
                return Err(unknown(&name, known));
            };
            if given.iter().any(|(seen, _)| *seen == parameter.name) {
                let message = format!("query parameter `{name}` is given twice");
                return Err(Failure::new(ErrorCode::BadRequest, message)
                    .suggest(format!("give `{name}` once")));
            }
            given.push((parameter.name, value));
        }
        Ok(Self { known, given })
    }

    /// Returns a parameter as it was given.
    pub(crate) fn text(&self, name: QueryName) -> Option<&str> {
        // Anything else would be refused when given and absent when asked for.
        debug_assert!(self.known.iter().any(|known| known.name == name), "{name:?} is in no row");
        self.given.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a parameter as a core type.
    pub(crate) fn get<T>(&self, name: QueryName) -> Result<Option<T>, Failure>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error| {
            let name = name.as_str();
            Failure::new(ErrorCode::BadRequest, format!("query parameter `{name}`: {error}"))
                .suggest(format!("correct `{name}` or leave it out"))
        })
    }

    /// Returns a parameter that the route's row requires.
    pub(crate) fn required<T>(&self, name: QueryName) -> Result<T, Failure>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
    {
        self.get(name)?.ok_or_else(|| {
            let name = name.as_str();
            let kind = name.strip_suffix("Id").unwrap_or(name);
            let message = format!("`{name}` is missing from the query");
            let issue = Issue::new(format!("/{name}"), "required", message)
                .fix(format!("add `?{name}=<{kind}>`"));
            Failure::validation(ErrorCode::BadRequest, &[issue])
        })
    }
}

fn unknown(name: &str, known: &[QueryParameter]) -> Failure {
    let known: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
    let shown: String = name.chars().take(64).filter(|c| !c.is_control()).collect();
    let suggestion = match (nearest_name(name, known.iter().copied()), known.as_slice()) {
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
    use od_core::ids::ProjectId;
    use od_wire::route::Operation;

    use super::*;

    fn parse(operation: Operation, query: &str) -> Result<Query, Failure> {
        Query::parse(Some(query), operation.route().query)
    }

    #[test]
    fn names_are_the_rows_and_given_once() {
        let query = parse(Operation::PreviewArtifact, "variant=in%73pect&snapshot=").unwrap();
        assert_eq!(query.text(QueryName::Variant), Some("inspect"));
        assert_eq!(query.text(QueryName::Snapshot), Some(""));
        assert_eq!(query.text(QueryName::ProjectId), None);
        let failed = |text| parse(Operation::PreviewArtifact, text).unwrap_err();
        assert_eq!(failed("varient=x").suggestion, "did you mean `variant`?");
        assert_eq!(failed("variant=a&variant=b").suggestion, "give `variant` once");
        assert_eq!(failed("variant=%f").code, ErrorCode::BadRequest);
        assert_eq!(failed("variant=%ff").code, ErrorCode::BadRequest);
    }

    #[test]
    fn what_the_row_requires_is_asked_for() {
        let query = parse(Operation::CreateArtifact, "").unwrap();
        let failure = query.required::<ProjectId>(QueryName::ProjectId).unwrap_err();
        assert_eq!(failure.suggestion, "add `?projectId=<project>`");
    }
}
