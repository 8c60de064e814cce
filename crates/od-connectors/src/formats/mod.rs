//! Formats that hold rows or documents: read under the limits of an intake, whatever the bytes.

mod delimited;
mod documents;

use od_core::intake::{Intake, IntakeFault, JsonText};
use od_core::limits::Limit;
use od_ports::connector_provider::ProviderError;

use delimited::read_delimited;
pub(crate) use delimited::{Delimited, delimiter_of};
use documents::{read_toml, read_yaml};

/// A format of rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TableFormat {
    /// Cells between commas, semicolons, tabs or bars; which of them is found from the first line.
    Csv,
    /// Cells between tabs.
    Tsv,
    /// One JSON document.
    Json,
    /// One JSON value a line.
    JsonLines,
}

/// A format of documents.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DataFormat {
    Json,
    Yaml,
    Toml,
}

/// Bytes that are not what their format prescribes.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum FormatFault {
    /// A limit of the intake, or JSON that is none.
    #[error(transparent)]
    Intake(#[from] IntakeFault),
    /// Another format's syntax.
    #[error("{message}")]
    Malformed {
        /// The rule that was broken and the line, never the content.
        message: String,
    },
    /// The file is too long for its format.
    #[error("{}: {measured}, allowed is {}", limit.name, limit.want())]
    TooLong {
        /// The limit.
        limit: Limit,
        /// Its length.
        measured: usize,
    },
}

impl FormatFault {
    /// Says it of a file or resource.
    pub(crate) fn of(&self, name: &str) -> ProviderError {
        let message = format!("`{name}`: {self}");
        match self {
            Self::Intake(fault) => match fault.size_limit() {
                Some(limit) => ProviderError::OutOfBounds { message, limit: limit.want() },
                None => ProviderError::Malformed { message },
            },
            Self::TooLong { limit, .. } => {
                ProviderError::OutOfBounds { message, limit: limit.want() }
            }
            Self::Malformed { .. } => ProviderError::Malformed { message },
        }
    }
}

pub(crate) fn malformed(message: impl Into<String>) -> FormatFault {
    FormatFault::Malformed { message: message.into() }
}

impl TableFormat {
    /// Tells the format from a file's extension, else from its first bytes.
    pub(crate) fn of(path: &str, bytes: &[u8]) -> Self {
        match extension(path).as_deref() {
            Some("csv") => Self::Csv,
            Some("tsv" | "tab") => Self::Tsv,
            Some("json") => Self::Json,
            Some("jsonl" | "ndjson") => Self::JsonLines,
            Some(_) | None => Self::sniff(bytes),
        }
    }

    /// A text that begins like JSON is one document if its first line ends inside it.
    fn sniff(bytes: &[u8]) -> Self {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        if !matches!(text.first(), Some(b'{' | b'[')) {
            return Self::Csv;
        }
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_whole = line.len() < text.trim_ascii_end().len() && JsonText::parse(line).is_ok();
        if is_whole { Self::JsonLines } else { Self::Json }
    }

    /// Reads the rows.
    pub(crate) fn read(self, bytes: &[u8], options: &Delimited) -> Result<Intake, FormatFault> {
        match self {
            Self::Csv => read_delimited(bytes, options).map(Intake::Table),
            Self::Tsv => {
                let options =
                    Delimited { delimiter: options.delimiter.or(Some(b'\t')), ..*options };
                read_delimited(bytes, &options).map(Intake::Table)
            }
            Self::Json => Ok(Intake::Json(JsonText::parse(bytes)?)),
            Self::JsonLines => Ok(Intake::Json(JsonText::parse_lines(bytes)?)),
        }
    }
}

impl DataFormat {
    /// Tells the format from a file's extension.
    pub(crate) fn of(path: &str) -> Option<Self> {
        match extension(path).as_deref() {
            Some("json") => Some(Self::Json),
            Some("yaml" | "yml") => Some(Self::Yaml),
            Some("toml") => Some(Self::Toml),
            Some(_) | None => None,
        }
    }

    /// Reads the document.
    pub(crate) fn read(self, bytes: &[u8]) -> Result<Intake, FormatFault> {
        match self {
            Self::Json => Ok(Intake::Json(JsonText::parse(bytes)?)),
            Self::Yaml => read_yaml(bytes),
            Self::Toml => read_toml(bytes),
        }
    }
}

fn extension(path: &str) -> Option<String> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    Some(extension.to_ascii_lowercase())
}

/// Returns the bytes as text, or the line that is none.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, FormatFault> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(malformed("the text is UTF-16; save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        malformed(format!("line {line} is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_extension_then_by_content() {
        let of = |path: &str, text: &str| TableFormat::of(path, text.as_bytes());
        assert_eq!(of("a.csv", "[1]"), TableFormat::Csv);
        assert_eq!(of("b/A.TSV", ""), TableFormat::Tsv);
        assert_eq!(of("a.jsonl", ""), TableFormat::JsonLines);
        assert_eq!(of("a.csv/b", "\u{feff} {\"a\":1}\n{\"a\":2}\n"), TableFormat::JsonLines);
        assert_eq!(of("data", "{\n\"a\": 1\n}"), TableFormat::Json);
        assert_eq!(of("data", "[{\"a\":1}]"), TableFormat::Json);
        assert_eq!(of("access.log", "a,b\n1,2\n"), TableFormat::Csv);
        assert_eq!(DataFormat::of("x/okr.yml"), Some(DataFormat::Yaml));
        assert_eq!(DataFormat::of("x.yml/okr"), None);
    }

    #[test]
    fn what_is_not_utf8_is_told_by_line() {
        assert!(utf8(b"a\nb\xff").unwrap_err().to_string().contains("line 2"));
        assert!(utf8(b"\xff\xfea\0").unwrap_err().to_string().contains("UTF-16"));
        assert_eq!(utf8(b"\xef\xbb\xbfa"), Ok("a"));
    }
}
