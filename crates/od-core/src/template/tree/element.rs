//! Element names: their role in HTML's parsing algorithm, and the ones that templates may not have.

/// A set of the properties below that an element has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Traits(u32);

impl Traits {
    /// No content, no end tag.
    pub(crate) const VOID: Self = Self(1);
    /// In the specification's "special" category.
    pub(crate) const SPECIAL: Self = Self(1 << 1);
    /// Kept in the list of active formatting elements.
    pub(crate) const FORMATTING: Self = Self(1 << 2);
    /// The start tag closes an open `<p>`.
    pub(crate) const CLOSES_P: Self = Self(1 << 3);
    /// The end tag may be implied by another end tag.
    pub(crate) const IMPLIED_END: Self = Self(1 << 4);
    /// Bounds every scope.
    pub(crate) const SCOPE: Self = Self(1 << 5);
    /// Puts a marker on the list of active formatting elements.
    pub(crate) const MARKER: Self = Self(1 << 6);
    /// The end tag generates implied end tags and closes everything in scope.
    pub(crate) const BLOCK_END: Self = Self(1 << 7);
    /// Belongs into the head, before the body begins.
    pub(crate) const HEAD: Self = Self(1 << 8);
    /// Part of a table: caption, colgroup, col, sections, rows, cells.
    pub(crate) const TABLE_PART: Self = Self(1 << 9);
    /// Ends `<svg>` and `<math>` when it stands inside them.
    pub(crate) const BREAKOUT: Self = Self(1 << 10);
    /// Refused; the fix removes it with its content.
    pub(crate) const REFUSED: Self = Self(1 << 11);
    /// Refused; the fix removes its tags and keeps the content.
    pub(crate) const UNWRAPPED: Self = Self(1 << 12);
    /// h1 to h6.
    pub(crate) const HEADING: Self = Self(1 << 13);
    /// HTML drops a newline right behind its start tag.
    pub(crate) const EATS_NEWLINE: Self = Self(1 << 14);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

const NONE: Traits = Traits(0);
const BLOCK: Traits = Traits::SPECIAL.with(Traits::CLOSES_P).with(Traits::BLOCK_END);
const BLOCK_OUT: Traits = BLOCK.with(Traits::BREAKOUT);
const FORMAT: Traits = Traits::FORMATTING;
const FORMAT_OUT: Traits = Traits::FORMATTING.with(Traits::BREAKOUT);
const VOID: Traits = Traits::VOID.with(Traits::SPECIAL);
const VOID_OUT: Traits = VOID.with(Traits::BREAKOUT);
const VOID_HEAD: Traits = VOID.with(Traits::HEAD);
const REFUSED: Traits = Traits::REFUSED.with(Traits::SPECIAL);
const PART: Traits = Traits::TABLE_PART.with(Traits::SPECIAL);
const CELL: Traits = PART.with(Traits::SCOPE).with(Traits::MARKER);
const HEADING: Traits = BLOCK_OUT.with(Traits::HEADING);

/// Returns the properties of the HTML element with this lower-case name.
#[rustfmt::skip]
pub(crate) fn html_traits(name: &str) -> Traits {
    match name {
        "a" | "font" => FORMAT,
        "b" | "big" | "code" | "em" | "i" | "nobr" | "s" | "small" | "strike" | "strong" | "tt" | "u" => FORMAT_OUT,
        "address" | "article" | "aside" | "details" | "dir" | "fieldset" | "figcaption"
        | "figure" | "footer" | "header" | "hgroup" | "main" | "nav" | "search" | "section" | "summary" => BLOCK,
        "blockquote" | "center" | "div" | "dl" | "menu" | "ol" | "ul" => BLOCK_OUT,
        "dialog" => Traits::CLOSES_P.with(Traits::BLOCK_END),
        "pre" | "listing" => BLOCK_OUT.with(Traits::EATS_NEWLINE),
        "form" => Traits::SPECIAL.with(Traits::CLOSES_P),
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => HEADING,
        "p" => Traits::SPECIAL.with(Traits::CLOSES_P).with(Traits::IMPLIED_END).with(Traits::BREAKOUT),
        "li" | "dd" | "dt" => Traits::SPECIAL.with(Traits::CLOSES_P).with(Traits::IMPLIED_END).with(Traits::BREAKOUT),
        "option" | "optgroup" | "rb" | "rp" | "rt" | "rtc" => Traits::IMPLIED_END,
        "button" => Traits::SPECIAL.with(Traits::BLOCK_END),
        "marquee" => Traits::SPECIAL.with(Traits::BLOCK_END).with(Traits::SCOPE).with(Traits::MARKER),
        "table" => Traits::SPECIAL.with(Traits::SCOPE).with(Traits::BREAKOUT),
        "caption" | "td" | "th" => CELL,
        "colgroup" | "tbody" | "thead" | "tfoot" | "tr" => PART,
        "col" => PART.with(Traits::VOID),
        "select" => Traits::SPECIAL,
        "textarea" => Traits::SPECIAL.with(Traits::EATS_NEWLINE),
        "title" | "style" => Traits::SPECIAL.with(Traits::HEAD),
        "meta" => VOID_HEAD.with(Traits::BREAKOUT),
        "link" | "basefont" | "bgsound" => VOID_HEAD,
        "br" | "img" => VOID_OUT,
        "hr" => VOID_OUT.with(Traits::CLOSES_P),
        "area" | "input" | "keygen" | "param" | "source" | "track" | "wbr" => VOID,
        "ruby" | "span" | "sub" | "sup" | "var" => Traits::BREAKOUT,
        "html" | "head" | "body" => Traits::SPECIAL,
        "base" | "frame" => REFUSED.with(Traits::VOID),
        "embed" => REFUSED.with(Traits::VOID).with(Traits::BREAKOUT),
        "script" | "iframe" | "noscript" | "plaintext" | "xmp" | "noembed" | "noframes" => REFUSED,
        "frameset" | "object" | "applet" | "template" | "portal" | "fencedframe" => Traits::UNWRAPPED,
        _ => NONE,
    }
}

/// The content that an element of `<svg>` or `<math>` may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ForeignContent {
    /// Elements of the same kind, and text.
    Elements,
    /// Text; HTML parsers would read elements in it as HTML.
    Text,
    /// CSS, which HTML parsers read as ordinary text here.
    Style,
    /// Nothing: the element is refused.
    Refused,
}

/// Returns what an element of `<svg>` or `<math>` may hold, by its lower-case name.
pub(crate) fn foreign_content(space: Space, name: &str) -> ForeignContent {
    match (space, name) {
        (Space::Svg, "title" | "desc") | (Space::Math, "mi" | "mo" | "mn" | "ms" | "mtext") => {
            ForeignContent::Text
        }
        (Space::Svg, "style") => ForeignContent::Style,
        (
            Space::Svg,
            "foreignobject" | "script" | "handler" | "listener" | "iframe" | "embed" | "object",
        )
        | (Space::Math, "annotation-xml" | "script" | "style" | "maction") => {
            ForeignContent::Refused
        }
        (Space::Html | Space::Svg | Space::Math, _) => ForeignContent::Elements,
    }
}

/// The three kinds of content of an HTML document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Space {
    Html,
    Svg,
    Math,
}
