//! Scrubbing and redaction of an intake, in one pass over its text.

use std::collections::HashMap;

use super::cell::CellRef;
use super::slice::string_end;
use super::table::TableBuilder;
use super::{Intake, IntakeFault, JsonText, Table};
use crate::credential::{REDACTED, Scrubber, is_sensitive_key, redact_text};
use crate::json::is_denied_key;
use crate::json::scan::write_string;

/// An intake without secrets and credentials.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtectedIntake {
    /// The rest of the intake.
    pub intake: Intake,
    /// Values that were replaced, and members or columns that were left out.
    pub redactions: usize,
}

impl Intake {
    /// Takes out the secrets the daemon holds, leaves out keys that are never stored, and redacts
    /// texts that are credentials by their look or by their key.
    ///
    /// Numbers, booleans and null are never redacted, whatever their key: `total_tokens: 1540` is a
    /// count. Only a held secret that comes back as a number goes.
    ///
    /// # Errors
    ///
    /// Fails if the marks make a table larger than an intake may be.
    pub fn protect(self, secrets: &Scrubber) -> Result<ProtectedIntake, IntakeFault> {
        match self {
            Self::Json(text) => {
                let mut rewriter = Rewriter::new(text.as_str(), secrets);
                rewriter.run();
                let redactions = rewriter.redactions;
                let intake = match rewriter.finish() {
                    Some(rewritten) => Self::Json(JsonText::from_compact(rewritten)),
                    None => Self::Json(text),
                };
                Ok(ProtectedIntake { intake, redactions })
            }
            Self::Table(table) => {
                let (table, redactions) = protect_table(table, secrets)?;
                Ok(ProtectedIntake { intake: Self::Table(table), redactions })
            }
        }
    }
}

/// The treatment of a member, decided by its key.
#[derive(Clone, Debug, Eq, PartialEq)]
enum KeyRule {
    /// Its texts are redacted by their look.
    Keep,
    /// As `Keep`, under another name: the key itself held a secret.
    Rename(String),
    /// All its texts are replaced.
    Redact,
    /// It is left out.
    Drop,
}

fn rule_of(key: &str, secrets: &Scrubber) -> KeyRule {
    if is_denied_key(key) || redact_text(key) != key {
        return KeyRule::Drop;
    }
    if let Some(renamed) = secrets.scrub_text(key) {
        return KeyRule::Rename(renamed);
    }
    if is_sensitive_key(key) { KeyRule::Redact } else { KeyRule::Keep }
}

/// Returns what replaces a text, or nothing if it stays.
fn protect_text(text: &str, is_sensitive: bool, secrets: &Scrubber) -> Option<String> {
    if is_sensitive {
        return (!text.is_empty() && text != REDACTED).then(|| REDACTED.to_owned());
    }
    let scrubbed = secrets.scrub_text(text);
    let base = scrubbed.as_deref().unwrap_or(text);
    let redacted = redact_text(base);
    if redacted == base { scrubbed } else { Some(redacted.into_owned()) }
}

/// Copies a compact text with changes; a text without any is never copied.
struct Rewriter<'a> {
    text: &'a str,
    secrets: &'a Scrubber,
    /// Rows repeat their keys: each is judged once.
    rules: HashMap<&'a str, KeyRule>,
    out: String,
    /// The text up to here is in `out`, or was left out.
    copied: usize,
    redactions: usize,
    open: Vec<Container>,
}

#[derive(Clone, Copy)]
struct Container {
    is_object: bool,
    expects_key: bool,
    /// It stands below a key whose texts are all replaced.
    is_sensitive: bool,
}

impl<'a> Rewriter<'a> {
    fn new(text: &'a str, secrets: &'a Scrubber) -> Self {
        Self {
            text,
            secrets,
            rules: HashMap::new(),
            out: String::new(),
            copied: 0,
            redactions: 0,
            open: Vec::new(),
        }
    }

    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        // Of the value that follows a key.
        let mut is_sensitive = false;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => {
                    let is_object = byte == b'{';
                    let is_sensitive = is_sensitive || self.is_sensitive();
                    self.open.push(Container { is_object, expects_key: is_object, is_sensitive });
                    at += 1;
                }
                b'}' | b']' => {
                    self.open.pop();
                    at += 1;
                }
                b',' => {
                    if let Some(container) = self.open.last_mut() {
                        container.expects_key = container.is_object;
                    }
                    is_sensitive = false;
                    at += 1;
                }
                b'"' if self.open.last().is_some_and(|container| container.expects_key) => {
                    (at, is_sensitive) = self.key(at);
                }
                b'"' => {
                    let end = string_end(bytes, at);
                    self.string(at, end, is_sensitive || self.is_sensitive());
                    at = end;
                }
                b'-' | b'0'..=b'9' => at = self.number(at),
                _ => at += 1,
            }
        }
    }

    fn is_sensitive(&self) -> bool {
        self.open.last().is_some_and(|container| container.is_sensitive)
    }

    /// Handles a key and returns where to go on, and whether its texts are all replaced.
    fn key(&mut self, start: usize) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        let end = string_end(bytes, start);
        let literal = &self.text[start..end];
        if !self.rules.contains_key(literal) {
            let rule = rule_of(&super::json_text::unescape(literal), self.secrets);
            self.rules.insert(literal, rule);
        }
        if let Some(container) = self.open.last_mut() {
            container.expects_key = false;
        }
        match self.rules.get(literal).cloned().unwrap_or(KeyRule::Keep) {
            KeyRule::Keep => (end + 1, false),
            KeyRule::Redact => (end + 1, true),
            KeyRule::Rename(renamed) => {
                self.replace(start, end, &renamed);
                (end + 1, false)
            }
            KeyRule::Drop => {
                let value = end + 1;
                let end = value + super::slice::value_end(&bytes[value.min(bytes.len())..]);
                (self.cut_member(start, end), false)
            }
        }
    }

    fn string(&mut self, start: usize, end: usize, is_sensitive: bool) {
        let text = super::json_text::unescape(&self.text[start..end]);
        if let Some(replacement) = protect_text(&text, is_sensitive, self.secrets) {
            self.replace(start, end, &replacement);
        }
    }

    fn number(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let digits = bytes[start..].iter().take_while(|b| !matches!(b, b',' | b'}' | b']')).count();
        let end = start + digits;
        if self.secrets.scrub_text(&self.text[start..end]).is_some() {
            self.replace(start, end, REDACTED);
        }
        end
    }

    /// Writes a string in place of what stands between two offsets.
    fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.redactions += 1;
        self.out.push_str(&self.text[self.copied..start]);
        let mut literal = Vec::with_capacity(text.len() + 2);
        write_string(&mut literal, text);
        self.out.push_str(&String::from_utf8(literal).unwrap_or_default());
        self.copied = end;
    }

    /// Leaves a member out with one of the commas beside it; returns where to go on.
    fn cut_member(&mut self, start: usize, end: usize) -> usize {
        self.redactions += 1;
        self.out.push_str(&self.text[self.copied..start]);
        let has_comma = self.text.as_bytes().get(end) == Some(&b',');
        if !has_comma && self.out.ends_with(',') {
            self.out.pop();
        }
        if has_comma && let Some(container) = self.open.last_mut() {
            container.expects_key = true;
        }
        self.copied = end + usize::from(has_comma);
        self.copied
    }

    /// Returns the new text, or nothing if there were no changes.
    fn finish(mut self) -> Option<String> {
        if self.redactions == 0 {
            return None;
        }
        self.out.push_str(&self.text[self.copied..]);
        Some(self.out)
    }
}

fn protect_table(table: Table, secrets: &Scrubber) -> Result<(Table, usize), IntakeFault> {
    let rules: Vec<KeyRule> =
        table.columns().iter().map(|column| rule_of(column, secrets)).collect();
    let change = |column: usize, cell: &CellRef<'_>| match cell {
        CellRef::Null | CellRef::Bool(_) => None,
        CellRef::Integer(integer) => {
            secrets.scrub_text(&integer.to_string()).map(|_| REDACTED.to_owned())
        }
        CellRef::Real(real) => secrets.scrub_text(&real.to_string()).map(|_| REDACTED.to_owned()),
        CellRef::Text(text) => protect_text(text, rules[column] == KeyRule::Redact, secrets),
    };
    let changes_names = rules.iter().any(|rule| matches!(rule, KeyRule::Drop | KeyRule::Rename(_)));
    let is_changed = changes_names
        || (0..table.len()).any(|row| {
            table.row(row).enumerate().any(|(column, cell)| change(column, &cell).is_some())
        });
    if !is_changed {
        return Ok((table, 0));
    }
    let mut redactions = 0;
    let mut columns = Vec::new();
    for (column, rule) in table.columns().iter().zip(&rules) {
        match rule {
            KeyRule::Keep | KeyRule::Redact => columns.push(column.clone()),
            KeyRule::Rename(renamed) => {
                redactions += 1;
                columns.push(renamed.clone());
            }
            KeyRule::Drop => redactions += 1,
        }
    }
    let mut builder = TableBuilder::new(columns)?;
    for row in 0..table.len() {
        for (column, cell) in table.row(row).enumerate() {
            if rules[column] == KeyRule::Drop {
                continue;
            }
            match change(column, &cell) {
                Some(text) => {
                    redactions += 1;
                    builder.push(&CellRef::Text(text.into()))?;
                }
                None => builder.push(&cell)?,
            }
        }
        builder.end_row()?;
    }
    Ok((builder.finish(), redactions))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const SECRET: &str = "s3cr3t-value";

    fn protect(value: &Value) -> (Value, usize) {
        let intake = Intake::try_from(value).unwrap();
        let protected = intake.protect(&Scrubber::new([SECRET, "777777"])).unwrap();
        (protected.intake.to_value(), protected.redactions)
    }

    #[test]
    fn secrets_denied_keys_and_credentials_go_and_numbers_stay() {
        let link = ["https://u", ":p@host/x"].concat();
        let (value, redactions) = protect(&json!({
            "body": { "deep": [1, 2, "}"] },
            "items": [
                { "token": "t", "name": "a s3cr3t-value \"b\"", "page_token": "abc" },
                { "n": 1, "raw": [] },
                { "headers": 1, "cookie": 2 },
                { "total_tokens": 1540, "secrets": ["x", 5, { "y": "z" }], "pin": 777_777 },
            ],
            "link": link,
            "s3cr3t-value": 1,
        }));
        assert_eq!(
            value,
            json!({
                "items": [
                    { "name": "a [redacted] \"b\"", "page_token": "[redacted]" },
                    { "n": 1 },
                    {},
                    { "total_tokens": 1540, "secrets": ["[redacted]", 5, { "y": "[redacted]" }],
                      "pin": "[redacted]" },
                ],
                "link": "https://[redacted]host/x",
                "[redacted]": 1,
            })
        );
        assert_eq!(redactions, 12);
    }

    #[test]
    fn a_text_without_secrets_is_not_copied() {
        let text =
            JsonText::from_value(&json!({ "a": [1, "x", null, true, { "b": -1.5 }] })).unwrap();
        let before = text.as_str().as_ptr();
        let protected = Intake::Json(text).protect(&Scrubber::new([SECRET])).unwrap();
        let Intake::Json(after) = &protected.intake else { panic!("it was a document") };
        assert_eq!((after.as_str().as_ptr(), protected.redactions), (before, 0));
    }

    #[test]
    fn a_table_loses_columns_that_are_never_stored() {
        let names = ["id", "password", "api_token", "note"].map(str::to_owned).to_vec();
        let mut builder = TableBuilder::new(names).unwrap();
        for cells in [["1", "p", "t", "s3cr3t-value"], ["2", "q", "", "fine"]] {
            for cell in cells {
                builder.push(&CellRef::Text(cell.into())).unwrap();
            }
            builder.end_row().unwrap();
        }
        let intake = Intake::Table(builder.with_numbers().finish());
        let protected = intake.protect(&Scrubber::new([SECRET])).unwrap();
        assert_eq!(
            protected.intake.to_value()["rows"],
            json!([
                { "id": 1, "api_token": "[redacted]", "note": "[redacted]" },
                { "id": 2, "api_token": null, "note": "fine" },
            ])
        );
        assert_eq!(protected.redactions, 3);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(s3cr3t-value|sk-a1|[a-z {}\\[\\],:\"\\\\]{0,8}){0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let key = "(to_ken|body|id_token|secretary|s3cr3t-value|[a-z,\"{]{1,5})";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_protected_intake_is_json_without_secrets_and_stays_as_it_is(value in any_json()) {
            let secrets = Scrubber::new([SECRET]);
            let once = Intake::try_from(&value).unwrap().protect(&secrets).unwrap();
            let Intake::Json(text) = &once.intake else { panic!("it was a document") };
            prop_assert_eq!(&JsonText::parse(text.as_str().as_bytes()).unwrap(), text);
            prop_assert!(!text.as_str().contains(SECRET));
            let again = once.intake.clone().protect(&secrets).unwrap();
            prop_assert_eq!(again.redactions, 0);
            prop_assert_eq!(again.intake, once.intake);
        }
    }
}
