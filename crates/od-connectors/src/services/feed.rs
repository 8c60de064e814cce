//! RSS and Atom as rows.

use std::borrow::Cow;

use od_core::ids::Timestamp;
use od_core::intake::{CellRef, Table, TableBuilder};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::formats::{FormatFault, malformed};

/// The columns of a feed's rows, whatever its dialect.
const COLUMNS: [&str; 8] =
    ["title", "link", "published", "updated", "author", "summary", "id", "feed"];
/// Characters of a summary; a reader shows the beginning.
const SUMMARY_CHARS_MAX: usize = 500;
/// Elements inside each other. Feeds need five.
const DEPTH_MAX: usize = 64;

/// Reads the entries of a feed, newest or not, in the order they stand.
///
/// Entities of a document type are not expanded: there is no way to a file or to a billion laughs.
pub(super) fn read_feed(text: &str) -> Result<Table, FormatFault> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut feed = Feed::default();
    let mut builder = TableBuilder::new(COLUMNS.map(str::to_owned).to_vec())?;
    loop {
        let event = reader.read_event().map_err(|_| {
            malformed(format!("the text is not XML at byte {}", reader.error_position()))
        })?;
        match event {
            Event::Start(start) => feed.open(&start)?,
            Event::Empty(start) => {
                feed.open(&start)?;
                feed.close(&mut builder)?;
            }
            Event::End(_) => feed.close(&mut builder)?,
            Event::Text(text) => feed.text.push_str(&text.xml10_content()),
            Event::CData(text) => feed.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => feed.text.push_str(&resolved(&reference)),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if !feed.is_feed {
        return Err(malformed("the text is neither RSS nor Atom"));
    }
    Ok(builder.finish())
}

fn resolved(reference: &BytesRef<'_>) -> String {
    let name = reference.xml10_content();
    match (reference.resolve_char_ref(), quick_xml::escape::resolve_xml_entity(&name)) {
        (Ok(Some(c)), _) => c.to_string(),
        (_, Some(text)) => text.to_owned(),
        // Of another document type: shown as it stands.
        (_, None) => format!("&{name};"),
    }
}

#[derive(Debug, Default)]
struct Feed {
    /// The local names of the open elements.
    open: Vec<String>,
    /// The text of the innermost one so far.
    text: String,
    title: String,
    is_feed: bool,
    entry: Option<Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    depth: usize,
    cells: [Option<String>; COLUMNS.len()],
}

impl Feed {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), FormatFault> {
        let name = start.local_name().into_inner().to_owned();
        if self.open.len() >= DEPTH_MAX {
            return Err(malformed("the elements are nested too deep"));
        }
        self.is_feed |= self.open.is_empty() && matches!(name.as_str(), "rss" | "feed" | "RDF");
        self.text.clear();
        if self.entry.is_none() && matches!(name.as_str(), "item" | "entry") {
            self.entry = Some(Entry { depth: self.open.len(), ..Entry::default() });
        } else if name == "link"
            && let Some(entry) = &mut self.entry
        {
            // Atom has the address in an attribute, and other links beside the one to the page.
            let attribute = |name: &str| {
                let found = start.try_get_attribute(name).ok().flatten()?;
                found.normalized_value(XmlVersion::Implicit1_0).map(Cow::into_owned).ok()
            };
            let is_page = attribute("rel").is_none_or(|rel| rel == "alternate");
            if let (true, Some(href)) = (is_page, attribute("href")) {
                entry.put("link", href);
            }
        }
        self.open.push(name);
        Ok(())
    }

    fn close(&mut self, builder: &mut TableBuilder) -> Result<(), FormatFault> {
        let Some(name) = self.open.pop() else { return Ok(()) };
        let text = std::mem::take(&mut self.text);
        let parent = self.open.last().map(String::as_str);
        match &mut self.entry {
            None if name == "title" && matches!(parent, Some("channel" | "feed")) => {
                self.title = text.trim().to_owned();
            }
            None => {}
            Some(entry) if entry.depth == self.open.len() => {
                entry.put("feed", self.title.clone());
                for cell in &entry.cells {
                    let text = cell.as_deref().map(Cow::Borrowed);
                    builder.push(&text.map_or(CellRef::Null, CellRef::Text))?;
                }
                builder.end_row()?;
                self.entry = None;
            }
            Some(entry) => entry.take(&name, parent, &text),
        }
        Ok(())
    }
}

impl Entry {
    /// Keeps the first text of a column.
    fn put(&mut self, column: &str, text: String) {
        let at = COLUMNS.iter().position(|name| *name == column);
        if let (Some(at), false) = (at, text.is_empty()) {
            // The first: prefixes are left out here, so that an extension's element may have the same
            // name.
            self.cells[at].get_or_insert(text);
        }
    }

    fn take(&mut self, name: &str, parent: Option<&str>, text: &str) {
        let trimmed = || text.trim().to_owned();
        match (name, parent) {
            ("title", Some("item" | "entry")) => self.put("title", plain(text)),
            ("link", _) => self.put("link", trimmed()),
            ("guid" | "id", _) => self.put("id", trimmed()),
            ("pubDate" | "published" | "date", _) => self.put("published", time(text)),
            ("updated" | "modified", _) => self.put("updated", time(text)),
            ("name", Some("author")) | ("creator" | "author", _) => self.put("author", trimmed()),
            ("description" | "summary" | "encoded" | "content", _) => {
                let text: String = plain(text).chars().take(SUMMARY_CHARS_MAX).collect();
                self.put("summary", text);
            }
            _ => {}
        }
    }
}

/// Writes a time of a feed as every other time is written; what is no time stays as it is.
fn time(text: &str) -> String {
    let text = text.trim();
    let parsed = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()
    });
    parsed.map_or_else(
        || text.to_owned(),
        |time| Timestamp::from_unix_ms(time.as_millisecond()).to_string(),
    )
}

/// Takes the markup out of a text that a feed wrote as HTML.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open);
        plain.push_str(before);
        // A lone `<` is text: tags begin with a letter, `/` or `!`.
        let is_tag =
            tag[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        match tag.find('>') {
            Some(close) if is_tag => {
                plain.push(' ');
                rest = &tag[close + 1..];
            }
            Some(_) | None => {
                plain.push('<');
                rest = &tag[1..];
            }
        }
    }
    plain.push_str(rest);
    // Feeds escape their HTML once more, so that its own references are still there.
    let plain = plain.replace("&nbsp;", " ");
    let plain = quick_xml::escape::unescape(&plain).map(Cow::into_owned).unwrap_or(plain);
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use od_core::intake::Intake;
    use serde_json::{Value, json};

    use super::*;

    fn rows(text: &str) -> Value {
        Intake::Table(read_feed(text).unwrap()).to_value()["rows"].clone()
    }

    #[test]
    fn rss_becomes_rows() {
        let text = r#"<?xml version="1.0"?><rss version="2.0" xmlns:dc="d"><channel><title>News &amp; more</title>
            <item><title>One &lt;b&gt;two&lt;/b&gt;</title><link>https://a.example/1</link>
            <pubDate>Tue, 17 Nov 2026 08:05:00 +0100</pubDate><dc:creator>Ada</dc:creator>
            <description><![CDATA[<p>First&nbsp;line<br>second &amp; last</p>]]></description><guid>g1</guid></item>
            <item><title>Bare</title></item></channel></rss>"#;
        assert_eq!(
            rows(text),
            json!([
                { "title": "One two", "link": "https://a.example/1", "published": "2026-11-17T07:05:00.000Z",
                  "updated": null, "author": "Ada", "summary": "First line second & last", "id": "g1", "feed": "News & more" },
                { "title": "Bare", "link": null, "published": null, "updated": null, "author": null,
                  "summary": null, "id": null, "feed": "News & more" },
            ])
        );
    }

    #[test]
    fn atom_becomes_rows() {
        let text = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title>Releases</title>
            <entry><id>x</id><title>v1.2</title><updated>2026-11-01T00:00:00Z</updated>
            <link rel="self" href="https://a.example/self"/><link href="https://a.example/v1.2?a=1&amp;b=2"/>
            <author><name>Grace</name></author><summary>3 &lt; 4 &amp;amp; more</summary></entry></feed>"#;
        let rows = rows(text);
        assert_eq!(rows[0]["link"], "https://a.example/v1.2?a=1&b=2");
        assert_eq!(rows[0]["updated"], "2026-11-01T00:00:00.000Z");
        assert_eq!(
            (&rows[0]["author"], &rows[0]["summary"]),
            (&json!("Grace"), &json!("3 < 4 & more"))
        );
    }

    #[test]
    fn other_and_hostile_texts_are_refused() {
        for text in ["", "<html><body/></html>", "{}", "<rss><channel></rss>"] {
            assert!(read_feed(text).is_err(), "{text}");
        }
        let deep = "<rss>".repeat(100_000);
        assert!(read_feed(&deep).unwrap_err().to_string().contains("deep"));
        let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><rss><channel><item><title>&b;</title></item></channel></rss>";
        assert_eq!(rows(bomb)[0]["title"], "&b;");
    }
}
