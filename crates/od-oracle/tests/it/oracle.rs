//! What a page should look like, by html5ever and by putting values into its tree.

use std::cmp::Ordering;
use std::fmt::Write as _;

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use od_core::format::Context as FormatContext;
use od_core::template::format_value;
use serde_json::Value;

/// A tree without parents, so that it is easy to copy and compare.
#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Comment(String),
    Doctype(String),
    Element { name: String, attributes: Vec<(String, String)>, children: Vec<Self> },
}

/// The tree of the template with the values put in, as text.
pub(crate) fn expected(html: &str, data: &Value) -> String {
    // Escaped braces are text: they must not look like bindings once they are decoded.
    let nodes = parse(&html.replace("&#123;", "\u{E07B}"));
    let context = Context { data, rows: Vec::new(), parent: String::new() };
    print(&context.fill_all(&nodes)).replace("\\u{e07b}", "{")
}

/// The tree of the page, as text; of every chart nothing but its table.
pub(crate) fn actual(page: &str) -> String {
    let mut nodes = parse(page);
    nodes.iter_mut().for_each(reduce_charts);
    print(&nodes)
}

/// The elements that a chart may be made of.
const CHART_ELEMENTS: [&str; 26] = [
    "div",
    "style",
    "ul",
    "li",
    "i",
    "b",
    "em",
    "span",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg:svg",
    "svg:title",
    "svg:desc",
    "svg:g",
    "svg:line",
    "svg:text",
    "svg:path",
    "svg:rect",
    "svg:circle",
    "svg:desc",
    "svg:svg",
];

/// Leaves of a chart its table: whose cells are the data, and whose picture is golden bytes elsewhere.
fn reduce_charts(node: &mut Node) {
    let Node::Element { name, attributes, children } = node else { return };
    if name == "div" && attribute(attributes, "class") == Some("od-c") {
        children.iter().for_each(assert_chart_element);
        let mut cells = Vec::new();
        let table = children.last().expect("a chart ends with its table");
        collect_cells(table, &mut cells);
        *node = chart_node(cells);
        return;
    }
    children.iter_mut().for_each(reduce_charts);
}

fn assert_chart_element(node: &Node) {
    let Node::Element { name, attributes, children } = node else { return };
    assert!(CHART_ELEMENTS.contains(&name.as_str()), "<{name}> in a chart");
    assert!(attributes.iter().all(|(name, _)| !name.starts_with("on")), "{attributes:?}");
    children.iter().for_each(assert_chart_element);
}

fn collect_cells(node: &Node, cells: &mut Vec<String>) {
    let Node::Element { name, children, .. } = node else { return };
    if matches!(name.as_str(), "caption" | "th" | "td") {
        let texts = children.iter().map(|child| match child {
            Node::Text(text) => text.as_str(),
            Node::Comment(_) | Node::Doctype(_) | Node::Element { .. } => {
                panic!("{child:?} in a cell")
            }
        });
        cells.push(texts.collect());
    }
    children.iter().for_each(|child| collect_cells(child, cells));
}

fn chart_node(cells: Vec<String>) -> Node {
    let cell = |cell: String| Node::Element {
        name: "cell".to_owned(),
        attributes: Vec::new(),
        children: vec![Node::Text(cell)],
    };
    let children = cells.into_iter().map(cell).collect();
    Node::Element { name: "chart".to_owned(), attributes: Vec::new(), children }
}

/// The tree of the page without what inspection adds.
pub(crate) fn without_marks(page: &str) -> String {
    let mut nodes = parse(page);
    nodes.iter_mut().for_each(remove_marks);
    print(&nodes)
}

fn remove_marks(node: &mut Node) {
    if let Node::Element { attributes, children, .. } = node {
        attributes.retain(|(name, _)| {
            !matches!(
                name.as_str(),
                "data-od-path" | "data-od-source" | "data-od-time" | "data-od-fixed" | "tabindex"
            )
        });
        children.iter_mut().for_each(remove_marks);
    }
}

fn parse(html: &str) -> Vec<Node> {
    let dom = parse_document(RcDom::default(), ParseOpts::default()).one(html);
    let children = dom.document.children.borrow();
    children.iter().filter_map(copy).collect()
}

fn copy(handle: &Handle) -> Option<Node> {
    Some(match &handle.data {
        NodeData::Text { contents } => Node::Text(contents.borrow().to_string()),
        NodeData::Comment { contents } => Node::Comment(contents.to_string()),
        NodeData::Doctype { name, public_id, system_id } => {
            Node::Doctype(format!("{name}|{public_id}|{system_id}"))
        }
        NodeData::Element { name, attrs, .. } => {
            let prefix = match &*name.ns {
                "http://www.w3.org/2000/svg" => "svg:",
                "http://www.w3.org/1998/Math/MathML" => "math:",
                _ => "",
            };
            let attrs = attrs.borrow();
            let attributes = attrs.iter().map(|attribute| {
                let prefix = attribute
                    .name
                    .prefix
                    .as_ref()
                    .map_or(String::new(), |prefix| format!("{prefix}:"));
                (format!("{prefix}{}", attribute.name.local), attribute.value.to_string())
            });
            Node::Element {
                name: format!("{prefix}{}", name.local),
                attributes: attributes.collect(),
                children: handle.children.borrow().iter().filter_map(copy).collect(),
            }
        }
        NodeData::Document | NodeData::ProcessingInstruction { .. } => return None,
    })
}

/// The data and the rows of the repeats around a node, outermost first.
#[derive(Clone)]
struct Context<'d> {
    data: &'d Value,
    rows: Vec<Row<'d>>,
    /// The element around a node.
    parent: String,
}

#[derive(Clone)]
struct Row<'d> {
    alias: String,
    item: &'d Value,
    position: usize,
    count: usize,
}

/// What an element with an `else` directive looks at: whether something before it was shown.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Before {
    Nothing,
    Shown,
    NotShown,
}

const DIRECTIVES: [&str; 13] = [
    "data-od-repeat",
    "data-od-if",
    "data-od-else-if",
    "data-od-else",
    "data-od-chart",
    "data-od-x",
    "data-od-y",
    "data-od-labels",
    "data-od-title",
    "data-od-format",
    "data-od-min",
    "data-od-max",
    "data-od-height",
];

impl<'d> Context<'d> {
    fn fill_all(&self, nodes: &[Node]) -> Vec<Node> {
        let mut filled = Vec::new();
        let mut before = Before::Nothing;
        for (at, node) in nodes.iter().enumerate() {
            if let Node::Element { attributes, .. } = node {
                before = self.fill_element(node, attributes, before, &mut filled);
                continue;
            }
            // White space and comments before an `else` belong to it.
            let is_space = |node: &Node| match node {
                Node::Text(text) => text.trim_ascii().is_empty(),
                Node::Comment(_) => true,
                Node::Doctype(_) | Node::Element { .. } => false,
            };
            let next = nodes[at..].iter().find(|node| !is_space(node));
            let before_else = is_space(node) && next.is_some_and(has_else);
            if !before_else || before != Before::Shown {
                filled.extend(self.fill_plain(node));
            }
            if !is_space(node) {
                before = Before::Nothing;
            }
        }
        filled
    }

    fn fill_plain(&self, node: &Node) -> Vec<Node> {
        match node {
            Node::Text(text) => self.fill_parts(text),
            Node::Comment(_) | Node::Doctype(_) | Node::Element { .. } => vec![node.clone()],
        }
    }

    /// Adds what an element becomes; returns what an `else` behind it looks at.
    fn fill_element(
        &self,
        node: &Node,
        attributes: &[(String, String)],
        before: Before,
        filled: &mut Vec<Node>,
    ) -> Before {
        let Node::Element { name, children, .. } = node else { return Before::Nothing };
        let is_chart = attribute(attributes, "data-od-chart").is_some();
        if let Some(repeat) = attribute(attributes, "data-od-repeat").filter(|_| !is_chart) {
            let mut words = repeat.split_ascii_whitespace();
            let (alias, path) = (words.next().unwrap(), words.nth(1).unwrap());
            let rows = self.value(path).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            for (position, item) in rows.iter().enumerate() {
                let mut inner = self.clone();
                let alias = alias.to_owned();
                inner.rows.push(Row { alias, item, position, count: rows.len() });
                filled.extend(inner.element(name, attributes, children));
            }
            return if rows.is_empty() { Before::NotShown } else { Before::Shown };
        }
        let condition =
            attribute(attributes, "data-od-if").or(attribute(attributes, "data-od-else-if"));
        let is_else = has_else(node);
        let skipped = is_else && before == Before::Shown;
        if !skipped && condition.is_none_or(|condition| self.holds(condition)) {
            filled.extend(self.element(name, attributes, children));
            return if condition.is_some() { Before::Shown } else { Before::Nothing };
        }
        match condition {
            Some(_) if skipped => Before::Shown,
            Some(_) => Before::NotShown,
            None => Before::Nothing,
        }
    }

    fn holds(&self, condition: &str) -> bool {
        let condition = condition.trim();
        let signs = ["==", "!=", "<=", ">=", "<", ">"];
        let at = signs
            .iter()
            .filter_map(|sign| Some((condition.find(sign)?, *sign)))
            .min_by_key(|(at, sign)| (*at, 9 - sign.len()));
        let Some((at, sign)) = at else {
            return match condition.strip_prefix('!') {
                Some(path) => !truth(self.scalar(path.trim()).as_ref()),
                None => truth(self.scalar(condition).as_ref()),
            };
        };
        let value = self.scalar(condition[..at].trim()).unwrap_or(Value::Null);
        let literal = condition[at + sign.len()..].trim().replace('\'', "\"");
        let literal: Value = serde_json::from_str(&literal).unwrap();
        let order = match (&value, &literal) {
            (Value::String(one), Value::String(other)) => one.chars().partial_cmp(other.chars()),
            (Value::Number(one), Value::Number(other)) => one.as_f64().partial_cmp(&other.as_f64()),
            (one, other) if one == other => Some(Ordering::Equal),
            _ => None,
        };
        match sign {
            "==" => order == Some(Ordering::Equal),
            "!=" => order != Some(Ordering::Equal),
            "<" => order.unwrap().is_lt(),
            ">" => order.unwrap().is_gt(),
            "<=" => order.unwrap().is_le(),
            _ => order.unwrap().is_ge(),
        }
    }

    /// The value of a path or a row variable.
    fn scalar(&self, path: &str) -> Option<Value> {
        let Some(row) = self.rows.last().filter(|_| path.starts_with('@')) else {
            return self.value(path).cloned();
        };
        Some(match path {
            "@index" => Value::from(row.position),
            "@number" => Value::from(row.position + 1),
            "@first" => Value::from(row.position == 0),
            _ => Value::from(row.position == row.count - 1),
        })
    }

    fn element(&self, name: &str, attributes: &[(String, String)], children: &[Node]) -> Vec<Node> {
        let hints = ["preconnect", "dns-prefetch", "prefetch", "preload"];
        let is_hint =
            |(name, value): &(String, String)| name == "rel" && hints.contains(&value.as_str());
        if name == "link" && attributes.iter().any(is_hint) {
            return Vec::new();
        }
        let mut filled: Vec<(String, String)> = Vec::new();
        for (name, value) in
            attributes.iter().filter(|(name, _)| !DIRECTIVES.contains(&name.as_str()))
        {
            let text = self.fill_text(value);
            // In CSS, formats write numbers without groups.
            let plain = matches!(name.as_str(), "style" | "fill" | "stroke") && value.contains('|');
            filled.push((name.clone(), if plain { text.replace(',', "") } else { text }));
        }
        let leads_out = |(name, value): &(String, String)| {
            let value = value.trim().to_ascii_lowercase();
            matches!(name.as_str(), "href" | "xlink:href")
                && (value.starts_with("http:") || value.starts_with("https:"))
        };
        let is_link = matches!(name, "a" | "area" | "svg:a") || name.starts_with("math:");
        if is_link && filled.iter().any(leads_out) {
            filled.retain(|(name, _)| name != "target" && name != "rel");
            filled.push(("target".to_owned(), "_blank".to_owned()));
            filled.push(("rel".to_owned(), "noopener noreferrer".to_owned()));
        }
        let inner = Context { parent: name.to_owned(), ..self.clone() };
        let mut children = inner.fill_all(children);
        if attribute(attributes, "data-od-chart").is_some() {
            children.insert(0, chart_node(self.chart_cells(attributes)));
        }
        vec![Node::Element { name: name.to_owned(), attributes: filled, children }]
    }

    /// The cells of a chart's table: caption, heads, and a name and the values for every row.
    fn chart_cells(&self, attributes: &[(String, String)]) -> Vec<String> {
        let part = |name: &str| attribute(attributes, name);
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let paths: Vec<&str> = part("data-od-y").unwrap().split_ascii_whitespace().collect();
        let repeat: Vec<&str> =
            part("data-od-repeat").unwrap_or_default().split_ascii_whitespace().collect();
        // A row that is its own value has the name of its list.
        let key = |path: &str| match repeat.first() {
            Some(alias) if *alias == path => last(repeat[2]),
            _ => last(path),
        };
        let labels: Vec<String> = match part("data-od-labels") {
            Some(labels) => labels.split(',').map(|label| label.trim().to_owned()).collect(),
            None => paths.iter().map(|path| key(path)).collect(),
        };
        let title = part("data-od-title").map(|title| title.trim().to_owned());
        let title = title.filter(|title| !title.is_empty());
        let x = part("data-od-x").map(|x| x.split_once('|').unwrap_or((x, "")));
        let mut cells = vec![title.clone().unwrap_or_else(|| labels.join(", "))];
        cells.push(x.map_or("#".to_owned(), |(path, _)| key(path.trim())));
        cells.extend(labels);
        let is_share = part("data-od-chart") == Some("progress") && part("data-od-max").is_none();
        let format =
            part("data-od-format").unwrap_or(if is_share { "percent:0" } else { "number" });
        let show = |row: &Self, cells: &mut Vec<String>| {
            for path in &paths {
                let value = row.value(path).unwrap_or(&Value::Null);
                cells.push(format_value(value, format, &FormatContext::default()).unwrap());
            }
        };
        let [alias, _, list] = repeat[..] else {
            cells.push(title.unwrap_or_default());
            show(self, &mut cells);
            return cells;
        };
        let rows = self.value(list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let named = |item: &'d Value| {
            let mut row = self.clone();
            row.rows.push(Row { alias: alias.to_owned(), item, position: 0, count: 0 });
            x.and_then(|(path, _)| row.value(path))
        };
        let times = name_format(&rows.iter().map(named).collect::<Vec<_>>());
        for (position, item) in rows.iter().enumerate() {
            let mut row = self.clone();
            row.rows.push(Row { alias: alias.to_owned(), item, position, count: rows.len() });
            cells.push(match x {
                None => (position + 1).to_string(),
                Some((path, "")) => print_name(row.value(path), times),
                Some((path, pipes)) => row.print(&format!("{path}|{pipes}")),
            });
            show(&row, &mut cells);
        }
        cells
    }

    /// The text of an attribute, or of an element that holds nothing else.
    fn fill_text(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            filled.push_str(before);
            let Some((binding, behind)) = behind.split_once("}}") else { panic!("{text:?}") };
            filled.push_str(&self.print(binding));
            rest = behind;
        }
        filled.push_str(rest);
        filled
    }

    /// Text, with an element around every time that has passed.
    fn fill_parts(&self, text: &str) -> Vec<Node> {
        if self.parent.contains(':') || matches!(&*self.parent, "title" | "textarea" | "option") {
            return vec![Node::Text(self.fill_text(text))];
        }
        let mut nodes = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            nodes.push(Node::Text(before.to_owned()));
            let Some((binding, behind)) = behind.split_once("}}") else { panic!("{text:?}") };
            let shown = Node::Text(self.print(binding));
            let (path, pipes) = binding.split_once('|').unwrap_or((binding, ""));
            let at = self.scalar(path.trim()).filter(|value| truth(Some(value)));
            nodes.push(match at {
                Some(at) if pipes.contains("since") => Node::Element {
                    name: "time".to_owned(),
                    attributes: vec![("title".to_owned(), print_span(&at))],
                    children: vec![shown],
                },
                _ => shown,
            });
            rest = behind;
        }
        nodes.push(Node::Text(rest.to_owned()));
        nodes
    }

    /// The text of a binding. Formats are compared with browsers elsewhere; what is compared here
    /// is which value gets which, and what becomes of its marks.
    fn print(&self, binding: &str) -> String {
        let Some((path, pipes)) = binding.split_once('|') else {
            return print_value(self.scalar(binding.trim()).as_ref());
        };
        let value = self.scalar(path.trim()).unwrap_or(Value::Null);
        let bare = pipes.trim_start().starts_with("or") && !pipes.contains('|');
        if bare && (value.is_boolean() || truth(Some(&value)) || value.is_number()) {
            return print_value(Some(&value));
        }
        format_value(&value, pipes, &FormatContext::default()).unwrap()
    }

    fn value(&self, path: &str) -> Option<&'d Value> {
        let mut words = path.split('.');
        let first = words.next().unwrap();
        let row = self.rows.iter().find(|row| row.alias == first);
        let mut value = row.map_or(self.data, |row| row.item);
        for word in words {
            value = match value {
                Value::Array(items) => items.get(word.parse::<usize>().ok()?)?,
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_) => value.get(word)?,
            };
        }
        Some(value)
    }
}

/// The format of names that are all times, by how far they are apart.
fn name_format(names: &[Option<&Value>]) -> Option<&'static str> {
    let context = FormatContext::default();
    let is_time = |name: &Option<&Value>| {
        name.is_some_and(|name| {
            name.is_string() && name != "" && format_value(name, "date:medium", &context).is_ok()
        })
    };
    let texts: Option<Vec<&str>> = names.iter().map(|name| name.and_then(Value::as_str)).collect();
    let texts = texts.filter(|_| names.iter().all(is_time))?;
    let (first, last) = (texts.first()?, texts.last()?);
    let within_day = first.len() > 10 && first[..10] == last[..10];
    Some(if within_day { "time" } else { "date:day" })
}

fn print_name(name: Option<&Value>, times: Option<&str>) -> String {
    match (name, times) {
        (Some(name), Some(format)) => {
            format_value(name, format, &FormatContext::default()).unwrap()
        }
        (name, _) => print_value(name),
    }
}

fn print_span(at: &Value) -> String {
    let context = FormatContext::default();
    let moment = format_value(at, "datetime:medium", &context)
        .or_else(|_| format_value(at, "date:medium", &context));
    format!("{} – Jan 1, 1970, 12:00 AM UTC", moment.unwrap())
}

fn attribute<'a>(attributes: &'a [(String, String)], wanted: &str) -> Option<&'a str> {
    attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
}

fn has_else(node: &Node) -> bool {
    let Node::Element { attributes, .. } = node else { return false };
    attribute(attributes, "data-od-else").is_some()
        || attribute(attributes, "data-od-else-if").is_some()
}

fn truth(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
    }
}

fn print_value(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.as_f64() == Some(1e21) => "1e+21".to_owned(),
        Some(Value::Number(number)) if number.is_f64() && number.to_string().ends_with(".0") => {
            number.to_string().trim_end_matches(".0").to_owned()
        }
        Some(other) => other.to_string(),
    }
}

fn print(nodes: &[Node]) -> String {
    let mut out = String::new();
    print_all(nodes, 0, &mut out);
    out
}

fn print_all(nodes: &[Node], depth: usize, out: &mut String) {
    let mut text = String::new();
    let pad = "  ".repeat(depth);
    for node in nodes {
        if let Node::Text(part) = node {
            text.push_str(part);
            continue;
        }
        print_text(&mut text, &pad, out);
        match node {
            Node::Text(_) => {}
            Node::Comment(text) => writeln!(out, "{pad}<!-- {text:?}").unwrap(),
            Node::Doctype(name) => writeln!(out, "{pad}<!doctype {name}").unwrap(),
            Node::Element { name, attributes, children } => {
                let mut attributes = attributes.clone();
                attributes.sort();
                writeln!(out, "{pad}<{name} {attributes:?}").unwrap();
                print_all(children, depth + 1, out);
            }
        }
    }
    print_text(&mut text, &pad, out);
}

fn print_text(text: &mut String, pad: &str, out: &mut String) {
    if !text.is_empty() {
        writeln!(out, "{pad}{text:?}").unwrap();
        text.clear();
    }
}
