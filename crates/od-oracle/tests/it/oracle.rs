//! What a page should look like, by html5ever and by putting values into its tree.

use std::fmt::Write as _;

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
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
    let context = Context { data, item: None };
    print(&context.fill_all(&nodes)).replace("\\u{e07b}", "{")
}

/// The tree of the page, as text.
pub(crate) fn actual(page: &str) -> String {
    print(&parse(page))
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
                "data-od-path" | "data-od-source" | "data-od-time" | "tabindex"
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

#[derive(Clone, Copy)]
struct Context<'d> {
    data: &'d Value,
    item: Option<(&'d str, &'d Value)>,
}

impl Context<'_> {
    fn fill_all(self, nodes: &[Node]) -> Vec<Node> {
        nodes.iter().flat_map(|node| self.fill(node)).collect()
    }

    fn fill(self, node: &Node) -> Vec<Node> {
        match node {
            Node::Text(text) => vec![Node::Text(self.fill_text(text))],
            Node::Comment(_) | Node::Doctype(_) => vec![node.clone()],
            Node::Element { name, attributes, children } => {
                let repeat = attributes.iter().find(|(name, _)| name == "data-od-repeat");
                let Some((_, repeat)) = repeat else {
                    return self.element(name, attributes, children);
                };
                let mut words = repeat.split_ascii_whitespace();
                let (alias, path) = (words.next().unwrap(), words.nth(1).unwrap());
                let rows = self.value(path).and_then(Value::as_array).unwrap();
                rows.iter()
                    .flat_map(|row| {
                        Context { data: self.data, item: Some((alias, row)) }
                            .element(name, attributes, children)
                    })
                    .collect()
            }
        }
    }

    fn element(self, name: &str, attributes: &[(String, String)], children: &[Node]) -> Vec<Node> {
        let hints = ["preconnect", "dns-prefetch", "prefetch", "preload"];
        let is_hint =
            |(name, value): &(String, String)| name == "rel" && hints.contains(&value.as_str());
        if name == "link" && attributes.iter().any(is_hint) {
            return Vec::new();
        }
        let mut filled: Vec<(String, String)> = Vec::new();
        for (name, value) in attributes.iter().filter(|(name, _)| name != "data-od-repeat") {
            filled.push((name.clone(), self.fill_text(value)));
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
        vec![Node::Element {
            name: name.to_owned(),
            attributes: filled,
            children: self.fill_all(children),
        }]
    }

    fn fill_text(self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            filled.push_str(before);
            let Some((path, behind)) = behind.split_once("}}") else { panic!("{text:?}") };
            filled.push_str(&print_value(self.value(path.trim())));
            rest = behind;
        }
        filled.push_str(rest);
        filled
    }

    fn value(&self, path: &str) -> Option<&Value> {
        let mut words = path.split('.');
        let first = words.next().unwrap();
        let mut value = match self.item {
            Some((alias, item)) if first == alias => item,
            _ => self.data,
        };
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
