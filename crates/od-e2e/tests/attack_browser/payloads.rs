//! Strings that have broken pages, by class. `HIT` is an address of the attacker's.

/// What each tries to do is the same: run `window.ran = 1`, open a dialog, or ask for `HIT`.
pub(crate) const PAYLOADS: &[&str] = &[
    // Elements out of nothing.
    "<script>window.ran=1;alert(1)</script>",
    "<img src=HIT onerror=\"window.ran=1;alert(1)\">",
    "<svg onload=window.ran=1;alert(1)>",
    "<svg><script>window.ran=1</script></svg>",
    "<iframe src=HIT></iframe>",
    "<iframe srcdoc=\"<script>parent.ran=1</script>\"></iframe>",
    "<iframe src=javascript:parent.ran=1></iframe>",
    "<object data=HIT></object><embed src=HIT>",
    "<link rel=stylesheet href=HIT><style>@import url(HIT)</style>",
    "<link rel=preconnect href=HIT><link rel=dns-prefetch href=HIT>",
    "<meta http-equiv=refresh content=\"0;url=HIT\">",
    "<base href=HIT>",
    "<video src=HIT onerror=window.ran=1 autoplay></video><audio src=HIT autoplay>",
    "<details open ontoggle=window.ran=1><summary>x</summary></details>",
    "<input autofocus onfocus=window.ran=1>",
    "<form action=HIT><button autofocus>x</button></form>",
    "<body onload=window.ran=1>",
    "<marquee onstart=window.ran=1>x</marquee>",
    "<a href=javascript:window.ran=1>x</a>",
    // Out of an attribute.
    "\" onmouseover=\"window.ran=1\" x=\"",
    "' onmouseover='window.ran=1' x='",
    "\"><script>window.ran=1</script>",
    "'><img src=HIT onerror=window.ran=1>",
    "` onmouseover=`window.ran=1",
    " onfocus=window.ran=1 autofocus tabindex=1 x=",
    "\" style=\"background:url(HIT)",
    "\"autofocus onfocus=window.ran=1//",
    // Out of text that ends with its own tag.
    "</title><script>window.ran=1</script>",
    "</textarea><script>window.ran=1</script>",
    "</style><script>window.ran=1</script>",
    "</option></select><img src=HIT onerror=window.ran=1>",
    "</p></div></td></tr></table></ul></body></html><script>window.ran=1</script>",
    // Out of comments, declarations and sections; into them.
    "--><script>window.ran=1</script><!--",
    "--!><img src=HIT onerror=window.ran=1>",
    "<!-- ",
    "<![CDATA[<script>window.ran=1</script>]]>",
    "]]><script>window.ran=1</script>",
    "<?x <script>window.ran=1</script>",
    "<plaintext>",
    "<noscript><p title=\"</noscript><img src=HIT onerror=window.ran=1>\">",
    // Markup that changes when it is parsed again.
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=HIT onerror=window.ran=1&gt;\">",
    "<svg></p><style><a id=\"</style><img src=HIT onerror=window.ran=1>\">",
    "<form><math><mtext></form><form><mglyph><svg><mtext><textarea><path id=\"</textarea><img onerror=window.ran=1 src=HIT>\">",
    // References, once and twice.
    "&lt;script&gt;window.ran=1&lt;/script&gt;",
    "&amp;lt;img src=HIT onerror=window.ran=1&amp;gt;",
    "&#60;script&#62;window.ran=1&#60;/script&#62;",
    "&#x3c;svg onload=window.ran=1&#x3e;",
    "amp; &ampersand &notin; &",
    // Bindings in the data, and other languages' templates.
    "{{data.title}} {{ row }} {{{data.title}}}",
    "${window.ran=1} <%= 1 %> #{1} {% raw %}",
    "data-od-repeat=\"row in data.rows\"",
    // Schemes as plain text.
    "javascript:window.ran=1",
    "data:text/html,<script>window.ran=1</script>",
    "vbscript:x JaVa\tScRiPt:window.ran=1",
    "//evil.test/HIT",
    // White space, direction, and what is no character of its own.
    "\r",
    "a\r\nb\rc\n",
    "\n\nfirst lines",
    " \t\u{c} ",
    "\u{202e}gnp.exe \u{200b}\u{feff}\u{2028}\u{2029}",
    "\u{1}\u{7f}\u{85}",
    "日本語 العربية 🦀 e\u{301}",
    "\u{ff1c}script\u{ff1e}window.ran=1\u{ff1c}/script\u{ff1e}",
    "+ADw-script+AD4-window.ran=1+ADw-/script+AD4-",
];

/// URLs that may stand in a link, and would leave it if they were not escaped.
pub(crate) const URLS: &[&str] = &[
    "https://ex.test/\" onmouseover=\"window.ran=1",
    "https://ex.test/'><script>window.ran=1</script>",
    "/local?a=1&amp;b=<img src=x onerror=window.ran=1>",
    "#\"><svg onload=window.ran=1>",
];
