//! Scrubbing and redaction of an intake, in one pass over its text.

use std::collections::HashMap;

use super::cell::CellRef;
use super::slice::string_end;
use super::table::TableBuilder;
use super::{Intake, IntakeFault, JsonText, Table};
use crate::credential::{
    MemberRule, PlacePath, REDACTED, RedactionAction, RedactionLog, RedactionReason, Redactions,
    Scrubber, protect_member_text, redact_text,
};
use crate::json::scan::write_string;

/// An intake without secrets and credentials.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtectedIntake {
    /// The rest of the intake.
    pub intake: Intake,
    /// Values that were replaced, and members or columns that were left out.
    pub redactions: Redactions,
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
                let (rewritten, redactions) = rewriter.finish();
                let intake = match rewritten {
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

/// Copies a compact text with changes; a text without any is never copied.
struct Rewriter<'a> {
    text: &'a str,
    secrets: &'a Scrubber,
    /// Rows repeat their keys: each is judged once. Beside the rule, the key as it may be shown.
    rules: HashMap<&'a str, (MemberRule, String)>,
    out: String,
    /// The text up to here is in `out`, or was left out.
    copied: usize,
    log: RedactionLog,
    /// The way to the value that is read.
    path: PlacePath,
    open: Vec<Container>,
}

#[derive(Clone, Copy)]
struct Container {
    is_object: bool,
    expects_key: bool,
    /// It is an array below the name of a credential.
    is_credential: bool,
    /// What the path goes back to at its end.
    outside: usize,
    /// What the path goes back to before each of its members.
    inside: usize,
}

impl<'a> Rewriter<'a> {
    fn new(text: &'a str, secrets: &'a Scrubber) -> Self {
        Self {
            text,
            secrets,
            rules: HashMap::new(),
            out: String::new(),
            copied: 0,
            log: RedactionLog::default(),
            path: PlacePath::default(),
            open: Vec::new(),
        }
    }

    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        // Of the value that follows a key.
        let mut is_credential = false;
        while let Some(&byte) = bytes.get(at) {
            // The text is compact and was checked when it was taken in: braces, commas and quotes outside
            // of strings are all there is to follow, and no depth can surprise it.
            match byte {
                b'{' | b'[' => {
                    self.enter(byte == b'{', is_credential || self.is_credential());
                    is_credential = false;
                    at += 1;
                }
                b'}' | b']' => {
                    if let Some(container) = self.open.pop() {
                        self.path.leave(container.outside);
                    }
                    at += 1;
                }
                b',' => {
                    if let Some(container) = self.open.last_mut() {
                        container.expects_key = container.is_object;
                    }
                    is_credential = false;
                    at += 1;
                }
                b'"' if self.open.last().is_some_and(|container| container.expects_key) => {
                    (at, is_credential) = self.key(at);
                }
                b'"' => {
                    let end = string_end(bytes, at);
                    let text = super::json_text::unescape(&self.text[at..end]);
                    let is_credential = is_credential || self.is_credential();
                    if let Some((replacement, reason)) =
                        protect_member_text(&text, is_credential, self.secrets)
                    {
                        self.note(RedactionAction::Replaced, reason);
                        self.replace(at, end, &replacement);
                    }
                    at = end;
                }
                b'-' | b'0'..=b'9' => at = self.number(at),
                _ => at += 1,
            }
        }
    }

    fn enter(&mut self, is_object: bool, is_credential: bool) {
        let outside = self.path.len();
        if !is_object {
            self.path.enter_items();
        }
        self.open.push(Container {
            is_object,
            expects_key: is_object,
            // The members of an object have names of their own.
            is_credential: is_credential && !is_object,
            outside,
            inside: self.path.len(),
        });
    }

    fn is_credential(&self) -> bool {
        self.open.last().is_some_and(|container| container.is_credential)
    }

    /// Handles a key; returns where to go on, and whether it is the name of a credential.
    fn key(&mut self, start: usize) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        let end = string_end(bytes, start);
        let literal = &self.text[start..end];
        let secrets = self.secrets;
        let (rule, shown) = self
            .rules
            .entry(literal)
            .or_insert_with(|| judge_key(&super::json_text::unescape(literal), secrets));
        if let Some(container) = self.open.last_mut() {
            container.expects_key = false;
            self.path.leave(container.inside);
        }
        self.path.enter_key(shown);
        match rule.clone() {
            MemberRule::Keep => (end + 1, false),
            MemberRule::Credential => (end + 1, true),
            MemberRule::Rename(renamed) => {
                self.note(RedactionAction::Replaced, RedactionReason::HeldSecret);
                self.replace(start, end, &renamed);
                (end + 1, false)
            }
            MemberRule::LeaveOut(reason) => {
                self.note(RedactionAction::LeftOut, reason);
                let value = end + 1;
                let end = value + super::slice::value_end(&bytes[value.min(bytes.len())..]);
                (self.cut_member(start, end), false)
            }
        }
    }

    fn number(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        // A number has a secret's digits only as a whole: what a service gives as a PIN is replaced, a
        // price that holds the same digits is not.
        let digits = bytes[start..].iter().take_while(|b| !matches!(b, b',' | b'}' | b']')).count();
        let end = start + digits;
        if self.secrets.is_secret_number(&self.text[start..end]) {
            self.note(RedactionAction::Replaced, RedactionReason::HeldSecret);
            self.replace(start, end, REDACTED);
        }
        end
    }

    fn note(&mut self, action: RedactionAction, reason: RedactionReason) {
        self.log.note(self.path.as_str(), action, reason);
    }

    /// Writes a string in place of what stands between two offsets.
    fn replace(&mut self, start: usize, end: usize, text: &str) {
        self.out.push_str(&self.text[self.copied..start]);
        let mut literal = Vec::with_capacity(text.len() + 2);
        write_string(&mut literal, text);
        self.out.push_str(&String::from_utf8(literal).unwrap_or_default());
        self.copied = end;
    }

    /// Leaves a member out with one of the commas beside it; returns where to go on.
    fn cut_member(&mut self, start: usize, end: usize) -> usize {
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

    /// Returns the new text, or nothing if there were no changes, and what was taken out.
    fn finish(mut self) -> (Option<String>, Redactions) {
        let redactions = self.log.finish();
        if redactions.is_empty() {
            return (None, redactions);
        }
        self.out.push_str(&self.text[self.copied..]);
        (Some(self.out), redactions)
    }
}

/// Returns the rule for a key, and the key as it may be shown.
fn judge_key(key: &str, secrets: &Scrubber) -> (MemberRule, String) {
    let rule = MemberRule::of(key, secrets);
    let shown = match &rule {
        MemberRule::Keep | MemberRule::Credential => key.to_owned(),
        MemberRule::Rename(renamed) => renamed.clone(),
        // A key may itself be the credential: the report must not repeat it.
        MemberRule::LeaveOut(_) => redact_text(key).into_owned(),
    };
    (rule, shown)
}

fn protect_table(table: Table, secrets: &Scrubber) -> Result<(Table, Redactions), IntakeFault> {
    let rules: Vec<(MemberRule, String)> =
        table.columns().iter().map(|column| judge_key(column, secrets)).collect();
    let change = |column: usize, cell: &CellRef<'_>| {
        let is_secret = |number: &str| {
            let held = (REDACTED.to_owned(), RedactionReason::HeldSecret);
            secrets.is_secret_number(number).then_some(held)
        };
        match cell {
            CellRef::Null | CellRef::Bool(_) => None,
            CellRef::Integer(integer) => is_secret(&integer.to_string()),
            CellRef::Real(real) => is_secret(&real.to_string()),
            CellRef::Text(text) => {
                protect_member_text(text, rules[column].0 == MemberRule::Credential, secrets)
            }
        }
    };
    let is_new_name = |(rule, _): &(MemberRule, String)| {
        matches!(rule, MemberRule::LeaveOut(_) | MemberRule::Rename(_))
    };
    // Looked for first: most tables hold nothing of the kind, and a second copy of 32 MiB would be made to
    // learn that.
    let is_changed = rules.iter().any(is_new_name)
        || (0..table.len()).any(|row| {
            table.row(row).enumerate().any(|(column, cell)| change(column, &cell).is_some())
        });
    if !is_changed {
        return Ok((table, Redactions::default()));
    }
    let mut log = RedactionLog::default();
    // As in the object that a table stands for.
    let path = |column: &str| {
        let mut path = PlacePath::default();
        path.enter_key("rows");
        path.enter_items();
        path.enter_key(column);
        path.as_str().to_owned()
    };
    let paths: Vec<String> = rules.iter().map(|(_, shown)| path(shown)).collect();
    let mut columns = Vec::new();
    for ((rule, shown), path) in rules.iter().zip(&paths) {
        match rule {
            MemberRule::Keep | MemberRule::Credential => columns.push(shown.clone()),
            MemberRule::Rename(renamed) => {
                log.note(path, RedactionAction::Replaced, RedactionReason::HeldSecret);
                columns.push(renamed.clone());
            }
            MemberRule::LeaveOut(reason) => log.note(path, RedactionAction::LeftOut, *reason),
        }
    }
    let mut builder = TableBuilder::new(columns)?;
    for row in 0..table.len() {
        for (column, cell) in table.row(row).enumerate() {
            if matches!(rules[column].0, MemberRule::LeaveOut(_)) {
                continue;
            }
            match change(column, &cell) {
                Some((text, reason)) => {
                    log.note(&paths[column], RedactionAction::Replaced, reason);
                    builder.push(&CellRef::Text(text.into()))?;
                }
                None => builder.push(&cell)?,
            }
        }
        builder.end_row()?;
    }
    Ok((builder.finish(), log.finish()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::connector::{Origin, protect_output};

    const SECRET: &str = "s3cr3t-value";

    fn protect(value: &Value) -> (Value, u64) {
        let intake = Intake::try_from(value).unwrap();
        let protected = intake.protect(&Scrubber::new([SECRET, "777777"])).unwrap();
        (protected.intake.to_value(), protected.redactions.count)
    }

    #[test]
    fn secrets_denied_keys_and_credentials_go_and_numbers_stay() {
        let link = ["https://u", ":p@host/x"].concat();
        let (value, redactions) = protect(&json!({
            "body": { "deep": [1, 2, "}"] },
            "items": [
                { "token": "t", "name": "a s3cr3t-value \"b\"", "auth_token": "abc" },
                { "n": 1, "raw": [] },
                { "headers": 1, "cookie": 2 },
                { "total_tokens": 1540, "recovery_codes": ["x1", 5, { "y": "z" }],
                  "pin": 777_777, "big": 17_777_770 },
            ],
            "link": link,
            "s3cr3t-value": 1,
        }));
        assert_eq!(
            value,
            json!({
                "items": [
                    { "name": "a [redacted] \"b\"", "auth_token": "[redacted]" },
                    { "n": 1 },
                    {},
                    { "total_tokens": 1540, "recovery_codes": ["[redacted]", 5, { "y": "z" }],
                      "pin": "[redacted]", "big": 17_777_770 },
                ],
                "link": "https://[redacted]host/x",
                "[redacted]": 1,
            })
        );
        assert_eq!(redactions, 11);
    }

    #[test]
    fn a_text_without_secrets_is_not_copied() {
        let text =
            JsonText::from_value(&json!({ "a": [1, "x", null, true, { "b": -1.5 }] })).unwrap();
        let before = text.as_str().as_ptr();
        let protected = Intake::Json(text).protect(&Scrubber::new([SECRET])).unwrap();
        let Intake::Json(after) = &protected.intake else { panic!("it was a document") };
        assert_eq!((after.as_str().as_ptr(), protected.redactions.count), (before, 0));
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
        let places: Vec<_> = protected.redactions.places.iter().map(|place| &place.path).collect();
        assert_eq!(places, ["/rows/*/password", "/rows/*/api_token", "/rows/*/note"]);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(s3cr3t-value|sk-a1|[a-z {}\\[\\],:\"\\\\]{0,8}){0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let key = "(to_ken|body|id_token|auth_token|secretary|s3cr3t-value|[a-z,\"{]{1,5})";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((key, inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn an_intake_and_a_value_are_protected_alike() {
        let key = ["gh", "p_", "abcdefghij0123456789KLMNOP"].concat();
        let value = json!({
            "items": [{ "body": 1, "auth_token": "x1" }, { "auth_token": ["y1", { "z": 1 }] }],
            "a": { key.clone(): 1, "b": [[key], 2], "s3cr3t-value": "see the s3cr3t-value" },
            "max_tokens": 5,
        });
        let secrets = Scrubber::new([SECRET]);
        let intake = Intake::try_from(&value).unwrap().protect(&secrets).unwrap();
        let output = protect_output(value, Origin::Local, &[], &secrets).unwrap();
        assert_eq!(&intake.intake.to_value(), output.output.value());
        assert_eq!(intake.redactions, output.redactions);
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
            prop_assert!(again.redactions.is_empty());
            prop_assert_eq!(again.intake, once.intake);
        }
    }
}
