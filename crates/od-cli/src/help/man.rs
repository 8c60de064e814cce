//! Manual pages, one for the program and one for each verb, from the verb table.

use crate::args::{Flag, GLOBAL_FLAGS, VERBS, Verb};
use crate::output::Exit;

/// The name of the manual: `od` is the page of octal dump on most systems.
const MANUAL: &str = "open-design";

/// One manual page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ManualPage {
    /// The file's name, such as `open-design-run.1`.
    pub file: String,
    /// The page in roff.
    pub text: String,
}

/// Returns every page.
#[must_use]
pub fn manual() -> Vec<ManualPage> {
    let mut pages = vec![ManualPage { file: format!("{MANUAL}.1"), text: overview() }];
    pages.extend(VERBS.iter().map(|verb| {
        let name = page_name(verb);
        let text = page(verb, &name);
        ManualPage { file: format!("{name}.1"), text }
    }));
    pages
}

fn page_name(verb: &Verb) -> String {
    format!("{MANUAL}-{}", verb.words.replace(' ', "-"))
}

fn overview() -> String {
    let mut out = heading(MANUAL);
    section(&mut out, "NAME");
    line(&mut out, &format!("{MANUAL} - live artifacts for every coding agent"));
    section(&mut out, "SYNOPSIS");
    line(&mut out, "od VERB … [--json]");
    section(&mut out, "DESCRIPTION");
    line(
        &mut out,
        "An agent makes a page once; you refresh it for good. Data goes to stdout, everything else to \
         stderr; with --json stdout is one JSON document. The program is called od; where that name is \
         octal dump's, call it as open-design.",
    );
    section(&mut out, "VERBS");
    for verb in VERBS {
        item(
            &mut out,
            &format!("od {}", verb.words),
            &format!("{} See {}(1).", verb.summary, page_name(verb)),
        );
    }
    section(&mut out, "OPTIONS");
    flags(&mut out, GLOBAL_FLAGS);
    section(&mut out, "EXIT STATUS");
    for (exit, meaning) in Exit::ALL {
        item(&mut out, &exit.code().to_string(), meaning);
    }
    section(&mut out, "ENVIRONMENT");
    item(&mut out, "OD_HOME", "Keys, credentials and config.toml; ~/.open-design unless set.");
    item(
        &mut out,
        "OD_DATA_DIR",
        "Artifacts; the nearest .od/ upward, else data in OD_HOME, unless set.",
    );
    out
}

fn page(verb: &Verb, name: &str) -> String {
    let mut out = heading(name);
    section(&mut out, "NAME");
    line(&mut out, &format!("{name} - {}", verb.summary.trim_end_matches('.')));
    section(&mut out, "SYNOPSIS");
    line(&mut out, &verb.usage());
    if !verb.detail.is_empty() {
        section(&mut out, "DESCRIPTION");
        line(&mut out, verb.detail);
    }
    if let Some(positional) = verb.positional {
        section(&mut out, "ARGUMENTS");
        item(&mut out, positional.name, positional.help);
    }
    section(&mut out, "OPTIONS");
    flags(&mut out, verb.flags);
    flags(&mut out, GLOBAL_FLAGS);
    section(&mut out, "EXAMPLES");
    for example in verb.examples {
        out.push_str(".nf\n");
        line(&mut out, example);
        out.push_str(".fi\n");
    }
    section(&mut out, "SEE ALSO");
    line(&mut out, &format!("{MANUAL}(1)"));
    out
}

fn heading(name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    // No date: the same tree makes the same bytes.
    format!(".TH {} 1 \"\" \"od {version}\" \"Open Design\"\n", escaped(&name.to_uppercase()))
}

fn section(out: &mut String, title: &str) {
    out.push_str(&format!(".SH {title}\n"));
}

fn line(out: &mut String, text: &str) {
    let text = escaped(text);
    // A line that begins with either is a request to the formatter.
    if text.starts_with(['.', '\'']) {
        out.push_str("\\&");
    }
    out.push_str(&text);
    out.push('\n');
}

fn item(out: &mut String, term: &str, text: &str) {
    out.push_str(&format!(".TP\n.B {}\n", escaped(term)));
    line(out, text);
}

fn flags(out: &mut String, flags: &[Flag]) {
    for flag in flags {
        let short = flag.short.map(|letter| format!("-{letter}, ")).unwrap_or_default();
        let value = flag.value.map(|(name, _)| format!(" {name}")).unwrap_or_default();
        item(out, &format!("{short}--{}{value}", flag.long), flag.help);
    }
}

/// Writes a text so that the formatter prints it as it is: no escapes, no requests, real hyphens.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '…' => out.push_str("..."),
            '\n' => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_that_names_its_flags() {
        let pages = manual();
        assert_eq!(pages.len(), VERBS.len() + 1);
        for (verb, page) in VERBS.iter().zip(&pages[1..]) {
            for flag in verb.flags {
                let wanted = format!("\\-\\-{}", flag.long.replace('-', "\\-"));
                assert!(page.text.contains(&wanted), "{}: {}", page.file, flag.long);
            }
            assert!(pages[0].text.contains(&escaped(verb.summary)), "{}", verb.words);
        }
    }

    #[test]
    fn no_text_of_ours_is_a_request_to_the_formatter() {
        for page in manual() {
            for line in page.text.lines().filter(|line| line.starts_with(['.', '\''])) {
                let request = line.split(' ').next().unwrap_or_default();
                assert!([".TH", ".SH", ".TP", ".B", ".nf", ".fi"].contains(&request), "{line}");
            }
            assert!(!page.text.contains('\0'), "{}", page.file);
        }
        let mut out = String::new();
        line(&mut out, ".so /etc/passwd \\n(yr");
        assert_eq!(out, "\\&.so /etc/passwd \\en(yr\n");
    }
}
