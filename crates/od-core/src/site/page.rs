//! The pages of a site that are not an artifact's own: the index, the list of changes, the feed.

use std::fmt::Write as _;

use super::line::{SiteChange, SiteLine};
use crate::export::escape;
use crate::ids::Timestamp;
use crate::limits::{SITE_CHANGES, SITE_INDEX};

/// The colours and widths of both pages; small, since it is part of the one request of the index.
const STYLE: &str = "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}\
h1{font-size:1.5rem;margin:0 0 .25rem}p{margin:.25rem 0 1rem}ul{list-style:none;margin:0;padding:0}\
li{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.5rem 0;border-top:1px solid color-mix(in srgb,currentColor 20%,transparent)}\
li a{flex:1 1 16rem;font-weight:600}li i{flex:1 0 100%;font-style:normal}li span,time{color:color-mix(in srgb,currentColor 72%,transparent);font-variant-numeric:tabular-nums}\
b{color:light-dark(#a40000,#ff9a90)}input{font:inherit;box-sizing:border-box;width:100%;padding:.5rem .75rem;margin:0 0 1rem}\
[hidden]{display:none!important}</style>";

/// Filters the list by what is typed. Without scripts the field is not shown, and the list is whole.
const SCRIPT: &str = "var q=document.querySelector('input'),l=[].slice.call(document.querySelectorAll('li'));q.hidden=false;q.addEventListener('input',function(){var w=q.value.toLowerCase().split(' ');var n=0;l.forEach(function(e){var t=e.textContent.toLowerCase();e.hidden=!w.every(function(x){return t.indexOf(x)>=0});if(!e.hidden)n++});document.querySelector('p[role]').textContent=n?'':'No page matches.'});";

/// Returns the index: every artifact with its date and what is wrong with it.
///
/// Where descriptions would make it larger than one request should be, each gets the same room: they
/// stand on their pages, too.
pub(super) fn index(name: &str, lines: &[SiteLine]) -> String {
    let whole = index_with(name, lines, usize::MAX);
    if SITE_INDEX.allows(whole.len()) {
        return whole;
    }
    let bare = index_with(name, lines, 0).len();
    let room = SITE_INDEX.max().saturating_sub(bare) / lines.len().max(1);
    index_with(name, lines, room.saturating_sub(DESCRIPTION_MARKUP))
}

/// The bytes around a description in the index, and the mark of one that was cut.
const DESCRIPTION_MARKUP: usize = "<i>…</i>".len();
/// A shorter piece of a description says nothing.
const DESCRIPTION_MIN: usize = 16;

/// Returns a description as far as there is room for it, escaped; nothing if that is too little.
fn described(description: &str, room: usize) -> Option<String> {
    let whole = escape(description);
    if whole.len() <= room {
        return Some(whole);
    }
    if room < DESCRIPTION_MIN {
        return None;
    }
    // The text is cut, not its escaped form, of which half a reference would be left.
    let mut kept = String::new();
    for character in description.chars() {
        let part = escape(character.encode_utf8(&mut [0; 4]));
        if kept.len() + part.len() > room {
            break;
        }
        kept.push_str(&part);
    }
    Some(format!("{}…", kept.trim_end()))
}

fn index_with(name: &str, lines: &[SiteLine], room: usize) -> String {
    let mut page = head(name, Some(SCRIPT));
    let count = lines.len();
    let noun = if count == 1 { "page" } else { "pages" };
    let _ = writeln!(
        page,
        "<h1>{}</h1>\n<p>{count} {noun} · <a href=\"changes.html\">Changes</a> · <a href=\"feed.xml\">Feed</a></p>\n\
         <input type=\"search\" aria-label=\"Search pages\" placeholder=\"Search\" hidden>\n<ul>",
        escape(name)
    );
    for line in lines {
        let SiteLine { file, title, description, as_of, stale_after, faults, .. } = line;
        let _ = write!(page, "<li><a href=\"{file}.html\">{}</a>", escape(title));
        let _ = write!(page, "<time>{}</time>", minute(*as_of));
        if let Some(until) = stale_after {
            let _ = write!(page, "<span>good until {}</span>", minute(*until));
        }
        for fault in faults {
            let _ = write!(page, "<b>{}</b>", escape(fault));
        }
        if let Some(description) = description.as_ref().and_then(|text| described(text, room)) {
            let _ = write!(page, "<i>{description}</i>");
        }
        page.push('\n');
    }
    // Said by the script, and read out by a screen reader, when a search leaves nothing.
    page.push_str("</ul>\n<p role=\"status\"></p>\n<script>");
    page.push_str(SCRIPT);
    page.push_str("</script>\n");
    page
}

/// Returns the newest changes as a page.
pub(super) fn changes(name: &str, changes: &[SiteChange]) -> String {
    let mut page = head(&format!("Changes of {name}"), None);
    let _ = writeln!(
        page,
        "<h1>Changes</h1>\n<p><a href=\"index.html\">{}</a> · <a href=\"feed.xml\">Feed</a></p>\n<ul>",
        escape(name)
    );
    for change in changes {
        let _ = writeln!(
            page,
            "<li><a href=\"{}.html\">{}</a><time>{}</time><i>{}</i>",
            change.file,
            escape(&change.title),
            minute(change.at),
            escape(&change.told)
        );
    }
    page.push_str("</ul>\n");
    page
}

/// Returns the newest changes as an Atom feed (RFC 4287). Its links are relative to where it lies.
pub(super) fn feed(name: &str, project: &str, changes: &[SiteChange]) -> String {
    // A feed has to have a date, and an empty one has none of its own.
    let updated = changes.first().map_or(Timestamp::from_unix_ms(0), |change| change.at);
    let mut feed = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n<title>{}</title>\n\
         <id>urn:od:project:{}</id>\n<updated>{updated}</updated>\n<link rel=\"self\" href=\"feed.xml\"/>\n<link href=\"index.html\"/>\n\
         <author><name>od</name></author>\n",
        escape(name),
        escape(project)
    );
    for change in changes {
        let SiteChange { file, artifact, title, revision, at, told } = change;
        let _ = writeln!(
            feed,
            "<entry><title>{}</title><id>urn:od:artifact:{artifact}:{revision}</id><updated>{at}</updated>\
             <link href=\"{file}.html\"/><summary>{}</summary></entry>",
            escape(title),
            escape(told)
        );
    }
    feed.push_str("</feed>\n");
    feed
}

/// Returns the newest changes of all, newest first.
pub(super) fn newest(mut changes: Vec<SiteChange>) -> Vec<SiteChange> {
    changes.sort_by(|one, other| {
        other
            .at
            .cmp(&one.at)
            .then_with(|| one.artifact.cmp(&other.artifact))
            .then_with(|| other.revision.cmp(&one.revision))
    });
    changes.truncate(SITE_CHANGES.max());
    changes
}

fn head(title: &str, script: Option<&str>) -> String {
    let script = script.map_or_else(|| "'none'".to_owned(), |script| format!("'{}'", hash(script)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {script}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n{STYLE}\n",
        escape(title)
    )
}

/// Returns the hash by which a policy knows a script.
fn hash(script: &str) -> String {
    use base64::Engine as _;
    let hash = ring::digest::digest(&ring::digest::SHA256, script.as_bytes());
    format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(hash))
}

/// Returns a time to the minute, as people read it.
fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {} UTC", text.get(..10).unwrap_or_default(), text.get(11..16).unwrap_or_default())
}
