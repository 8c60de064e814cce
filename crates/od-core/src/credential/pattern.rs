//! Finding the forms that credentials have.
//!
//! One linear pass by hand: the texts are hostile, and each place is looked at only as far as the
//! longest form needs.

use std::ops::Range;

use super::form::{FORMS, Form, Run, Tail};
use super::form_len::{rest_len, separator_len};
use crate::words::words;

words! {
    /// What a text looks like.
    CredentialKind {
        /// A key with a provider's form.
        ProviderKey = "provider_key",
        /// A JSON Web Token.
        Jwt = "jwt",
        /// An authorization header's value.
        Bearer = "bearer",
        /// A user and password, encoded for an authorization header.
        BasicAuth = "basic_auth",
        /// A private key as a block of text.
        Pem = "pem",
        /// A URL with a password, or a token in place of a user.
        UrlUserinfo = "url_userinfo",
        /// An address that anyone who knows it may post to.
        WebhookUrl = "webhook_url",
        /// A signature or key among the parameters of a URL or connection string.
        SignedUrl = "signed_url",
        /// A connection string with a password.
        ConnectionString = "connection_string",
    }
}

/// Returns the names of the forms that are looked for, each once, for people.
#[must_use]
pub fn known_forms() -> Vec<&'static str> {
    let mut names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
    names.sort_unstable_by_key(|name| name.to_lowercase());
    names.dedup();
    names
}

/// Returns the first thing in a text that looks like a credential, and where it stands.
#[must_use]
pub fn find(text: &str) -> Option<(CredentialKind, Range<usize>)> {
    find_from(text, 0)
}

/// As [`find`], from an offset on; what stands before it still counts as context.
pub(super) fn find_from(text: &str, start: usize) -> Option<(CredentialKind, Range<usize>)> {
    let (form, range) = find_form(text, start, NO_FORM)?;
    Some((FORMS[form].kind, range))
}

/// Skips none of the forms.
const NO_FORM: usize = usize::MAX;

/// Returns the first form in a text from an offset on. A test leaves one form out with `skipped`.
fn find_form(text: &str, start: usize, skipped: usize) -> Option<(usize, Range<usize>)> {
    let bytes = text.as_bytes();
    let before = start.checked_sub(1).and_then(|before| bytes.get(before));
    let mut wanted = before.map_or(OUTSIDE_WORD, |before| PLACES[usize::from(*before)] >> BEHIND);
    // Pairs of slices, because an index that is checked costs as much as the rest of the loop.
    let here = bytes.get(start..).unwrap_or_default();
    let next = here.get(1..).unwrap_or_default();
    for (at, (byte, second)) in here.iter().zip(next).enumerate() {
        // Almost every byte is passed here, at a table's cost.
        let places = PLACES[usize::from(*byte)];
        let may_begin = places & wanted != 0;
        wanted = places >> BEHIND;
        if may_begin
            && has_pair(&PAIRS, *byte, *second)
            && let Some(found) = form_at(bytes, start, start + at, skipped)
        {
            return Some(found);
        }
    }
    None
}

/// Reads the form whose anchor begins at `at`; nothing before `from` belongs to it. Inlined, it
/// would take the registers of the loop around it, and triple its cost.
#[inline(never)]
fn form_at(bytes: &[u8], from: usize, at: usize, skipped: usize) -> Option<(usize, Range<usize>)> {
    if !may_be_anchor(&bytes[at..]) {
        return None;
    }
    let (start, end) = BY_FIRST[usize::from(bytes[at])];
    let forms = usize::from(start)..usize::from(end);
    let word = first_bytes(&bytes[at..]);
    let begins = |head: &(u32, u32)| (word ^ head.0) & head.1 == 0;
    // Four bytes decide almost always, and stand side by side; a comparison of the whole is a call.
    let heads = HEADS[forms.clone()].iter().zip(forms);
    heads.filter(|(head, form)| begins(head) && *form != skipped).find_map(|(_, index)| {
        let form = &FORMS[index];
        let rest = bytes[at..].strip_prefix(form.anchor.as_bytes())?;
        let start = begin(bytes, at, form)?;
        let body = at + form.anchor.len();
        let end = body + rest_len(form, bytes, body, rest)?;
        let start = name_end(form, body, rest).unwrap_or(start);
        Some((index, start.clamp(from, end)..end))
    })
}

/// Returns where the value begins behind an anchor that is only its name, and may be shown.
fn name_end(form: &Form, body: usize, rest: &[u8]) -> Option<usize> {
    match (form.rest, form.kind) {
        (Tail::Header, _) | (Tail::Parts(_), CredentialKind::SignedUrl) => {
            Some(body + separator_len(rest))
        }
        (Tail::Userinfo | Tail::Password, _) => Some(body),
        (
            Tail::Parts(_)
            | Tail::Jwt
            | Tail::Bearer
            | Tail::Basic
            | Tail::PrivateKey
            | Tail::PuttyKey,
            _,
        ) => None,
    }
}

/// Returns where the form begins: at its anchor, outside a word, or with what leads to it.
fn begin(bytes: &[u8], anchor: usize, form: &Form) -> Option<usize> {
    let before = &bytes[..anchor];
    let Some(Run { alphabet, min, max }) = form.lead else {
        let in_word = before.last().is_some_and(u8::is_ascii_alphanumeric);
        return Place::of(form).allows(in_word).then_some(anchor);
    };
    let most = usize::from(max) + 1;
    let len = before.iter().rev().take(most).take_while(|byte| alphabet.has(**byte)).count();
    (usize::from(min)..most).contains(&len).then(|| anchor - len)
}

/// Where an anchor may stand.
#[derive(Clone, Copy)]
enum Place {
    /// Behind a word: the colon of a URL stands behind its scheme.
    BehindWord,
    /// Anywhere: what leads to it is checked, or it is no word itself.
    Anywhere,
    /// Not in the middle of a word.
    OutsideWord,
}

impl Place {
    const fn of(form: &Form) -> Self {
        let is_word = form.anchor.as_bytes()[0].is_ascii_alphanumeric();
        if matches!(form.rest, Tail::Userinfo) {
            Self::BehindWord
        } else if form.lead.is_some() || !is_word {
            Self::Anywhere
        } else {
            Self::OutsideWord
        }
    }

    const fn allows(self, in_word: bool) -> bool {
        match self {
            Self::BehindWord => in_word,
            Self::Anywhere => true,
            Self::OutsideWord => !in_word,
        }
    }

    const fn bits(self) -> u8 {
        match self {
            Self::BehindWord => INSIDE_WORD,
            Self::Anywhere => INSIDE_WORD | OUTSIDE_WORD,
            Self::OutsideWord => OUTSIDE_WORD,
        }
    }
}

/// A form may begin with the byte where no word stands before it.
const OUTSIDE_WORD: u8 = 1;
/// A form may begin with the byte inside a word.
const INSIDE_WORD: u8 = 2;
/// The bits from here on say which of the two the byte behind this one has to allow.
const BEHIND: u8 = 4;

/// The places in a credential where each byte may stand.
static PLACES: [u8; 256] = {
    let mut places = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = (byte as u8).is_ascii_alphanumeric();
        places[byte] = if is_word { INSIDE_WORD } else { OUTSIDE_WORD } << BEHIND;
        byte += 1;
    }
    let mut i = 0;
    while i < FORMS.len() {
        let form = &FORMS[i];
        places[form.anchor.as_bytes()[0] as usize] |= Place::of(form).bits();
        i += 1;
    }
    places
};

/// A bit for every pair of bytes.
type Pairs = [u64; 1024];

/// The pairs that an anchor begins with.
static PAIRS: Pairs = pairs_of_anchors(usize::MAX);

/// The pairs that an anchor of one or two bytes begins with.
static SHORT_PAIRS: Pairs = pairs_of_anchors(2);

const fn pairs_of_anchors(longest: usize) -> Pairs {
    let mut pairs = [0; 1024];
    let mut i = 0;
    while i < FORMS.len() {
        let anchor = FORMS[i].anchor.as_bytes();
        let first = (anchor[0] as usize) << 8;
        let (mut second, last) =
            if anchor.len() > 1 { (anchor[1] as usize, anchor[1] as usize) } else { (0, 255) };
        while second <= last && anchor.len() <= longest {
            let pair = first | second;
            pairs[pair >> 6] |= 1 << (pair & 63);
            second += 1;
        }
        i += 1;
    }
    pairs
}

fn has_pair(pairs: &Pairs, first: u8, second: u8) -> bool {
    let pair = usize::from(first) << 8 | usize::from(second);
    pairs[pair >> 6] >> (pair & 63) & 1 == 1
}

/// The first four bytes of every anchor, and which of them count.
static HEADS: [(u32, u32); FORMS.len()] = {
    let mut heads = [(0, 0); FORMS.len()];
    let mut i = 0;
    while i < FORMS.len() {
        let anchor = FORMS[i].anchor.as_bytes();
        let mut at = 0;
        while at < 4 && at < anchor.len() {
            heads[i].0 |= (anchor[at] as u32) << (8 * at);
            heads[i].1 |= 0xFF << (8 * at);
            at += 1;
        }
        i += 1;
    }
    heads
};

/// Returns the first four bytes as [`HEADS`] has them; none of an anchor is zero.
fn first_bytes(bytes: &[u8]) -> u32 {
    match bytes.first_chunk() {
        Some(first) => u32::from_le_bytes(*first),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)),
    }
}

/// A bit for what becomes of the first four bytes of every anchor: every template has `data`, which
/// begins as `dapi` does, and most pages have `section`, which begins as `secret` does. To compare
/// each with every form would be a tenth of compiling.
static LIKELY: [u64; 1024] = {
    let mut likely = [0; 1024];
    let mut i = 0;
    while i < FORMS.len() {
        let (head, mask) = HEADS[i];
        // A short anchor may go on with any byte; shorter ones are looked for without this table.
        let last = if mask == u32::MAX || mask <= 0xFFFF { 0 } else { 0xFF };
        let mut fourth = 0;
        while fourth <= last {
            let bit = mixed(head | fourth << 24);
            likely[bit >> 6] |= 1 << (bit & 63);
            fourth += 1;
        }
        i += 1;
    }
    likely
};

const fn mixed(head: u32) -> usize {
    (head.wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// Returns whether a form may begin here; wrongly so for some texts.
fn may_be_anchor(bytes: &[u8]) -> bool {
    let Some(first @ [one, two, ..]) = bytes.first_chunk::<4>() else { return true };
    let bit = mixed(u32::from_le_bytes(*first));
    LIKELY[bit >> 6] >> (bit & 63) & 1 == 1 || has_pair(&SHORT_PAIRS, *one, *two)
}

/// Where the forms with a first byte begin and end among all.
static BY_FIRST: [(u16, u16); 256] = {
    let mut ranges = [(0, 0); 256];
    let mut i = 0;
    while i < FORMS.len() {
        let first = FORMS[i].anchor.as_bytes()[0] as usize;
        let (start, end) = ranges[first];
        assert!(start == end || end as usize == i, "the forms are not sorted");
        ranges[first] = (if start == end { i as u16 } else { start }, i as u16 + 1);
        i += 1;
    }
    ranges
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Forms that must be found, and some that cannot be: `name<tab>value`. The values are broken
    /// with `¦`, so that no scanner takes the file for a leak; `⏎` is a line feed.
    const REAL: &str = include_str!("../../../../fixtures/credentials/forms.txt");

    /// Texts in which nothing is to be found, one a line.
    const BENIGN: &str = include_str!("../../../../fixtures/credentials/benign.txt");

    fn lines(text: &str) -> impl Iterator<Item = &str> {
        text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
    }

    fn real() -> Vec<(&'static str, String)> {
        let value = |value: &str| value.replace('¦', "").replace('⏎', "\n");
        let read = |line: &'static str| line.split_once('\t').map(|(name, v)| (name, value(v)));
        lines(REAL).map(|line| read(line).expect("a name and a value")).collect()
    }

    /// Forms whose look tells nothing, by the name they have in the corpus.
    fn is_untold(name: &str) -> bool {
        name.starts_with("untold: ")
    }

    #[test]
    fn every_form_of_the_corpus_is_found_and_nothing_benign() {
        let (untold, told): (Vec<_>, Vec<_>) =
            real().into_iter().partition(|(name, _)| is_untold(name));
        assert!(told.len() >= 200, "the corpus has only {} forms", told.len());
        let missed: Vec<_> = told.iter().filter(|(_, text)| find(text).is_none()).collect();
        assert!(missed.is_empty(), "{} of {} missed: {missed:#?}", missed.len(), told.len());
        let found: Vec<_> = untold.iter().filter(|(_, text)| find(text).is_some()).collect();
        assert!(found.is_empty(), "told after all, so they are no longer `untold: `: {found:#?}");
        let benign: Vec<_> = lines(BENIGN).map(|line| line.replace('⏎', "\n")).collect();
        assert!(benign.len() >= 300, "the corpus has only {} look-alikes", benign.len());
        let refused: Vec<_> =
            benign.iter().filter_map(|text| find(text).map(|found| (found, text))).collect();
        assert!(refused.is_empty(), "{} refused: {refused:#?}", refused.len());
    }

    #[test]
    fn what_stands_before_a_form_decides_whether_it_is_one() {
        let tail = "abcdefghij0123456789KLMNOPQRSTUVWXYZ0123456789";
        let key = ["gh", "p_", tail].concat();
        let expected = Some((CredentialKind::ProviderKey, 1..1 + key.len()));
        assert_eq!(find(&format!("\"{key}")), expected);
        assert_eq!(find(&format!("x{key}")), None);
        assert_eq!(find_from(&format!("x{key}"), 1), None);
        let bearer = ["bea", "rer ", tail].concat();
        assert_eq!(find(&bearer), Some((CredentialKind::Bearer, 0..bearer.len())));
        assert_eq!(find(&format!("for{bearer}")), None);
        let userinfo = ["://us", "er:pw@host"].concat();
        assert_eq!(find(&format!("s{userinfo}")), Some((CredentialKind::UrlUserinfo, 4..12)));
        assert_eq!(find(&userinfo), None);
        assert_eq!(find(&format!(" {userinfo}")), None);
    }

    #[test]
    fn a_long_text_of_anchors_is_read_in_time_that_grows_with_its_length() {
        // Read to its end from each anchor, a text of this length would take minutes.
        const LENGTH: usize = 200_000;
        for anchor in ["xox", "sl.", "access_tok", "-----BEG", "PuTTY-User-Key-Fi", "://", "Pass"] {
            let form = FORMS.iter().find(|form| form.anchor.starts_with(anchor)).unwrap();
            assert_eq!(find(&form.anchor.repeat(LENGTH / form.anchor.len())), None, "{anchor}");
        }
        let opening = ["-----BEG", "IN PRIVATE KEY-----"].concat();
        assert_eq!(find(&opening.repeat(LENGTH / opening.len())), None);
    }

    #[test]
    fn no_form_can_be_dropped_from_the_table() {
        let corpus = real();
        let needed = |row: usize| {
            let is_missed = |text: &str| find_form(text, 0, row).is_none();
            corpus.iter().any(|(name, text)| !is_untold(name) && is_missed(text))
        };
        let idle: Vec<_> = FORMS
            .iter()
            .enumerate()
            .filter(|(row, _)| !needed(*row))
            .map(|(_, f)| f.name)
            .collect();
        assert!(idle.is_empty(), "the corpus has no form that only these find: {idle:#?}");
    }
}
