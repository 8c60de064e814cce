//! The attributes of a chart besides what it draws: bounds, names, format, height.

use super::bindings::PathAt;
use super::chart::part;
use super::compiler::Compiler;
use crate::chart::ChartKind;
use crate::format::value::Format;
use crate::limits::{CHART_HEIGHT, CHART_LABEL};
use crate::template::expression::path::Path;
use crate::template::expression::pipe::{self, Pipes};
use crate::template::issue::{delete, replace, shorten};
use crate::template::program::{ChartBound, Place};
use crate::template::tokenize::reference;
use crate::template::tokenize::scanner::{Attribute, Tag};

impl<'s> Compiler<'s> {
    pub(crate) fn chart_bound(&mut self, tag: &Tag<'s>, name: &str) -> Option<ChartBound> {
        let attribute = part(tag, name)?;
        let source = self.source;
        let value = &source[attribute.value.clone()];
        let text = value.trim_ascii();
        if let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite()) {
            return Some(ChartBound::Number(crate::chart::points::drawable(number)));
        }
        let start = attribute.value.start + value.len() - value.trim_ascii_start().len();
        if let Ok(path) = Path::parse(text, &self.aliases) {
            let path = PathAt { path, text, span: start..start + text.len() };
            let element = tag.name.as_ref().into();
            return Some(ChartBound::Binding(self.add_binding(path, Place::Chart, element)));
        }
        let fix =
            delete(attribute.span.clone(), format!("write {name}=\"100\" or {name}=\"data.most\""));
        let message = format!("`{}` is neither a number nor a path", shorten(text));
        self.refuse_chart(attribute.span.clone(), message, fix);
        None
    }

    pub(crate) fn refuse_crossed_bounds(
        &mut self,
        tag: &Tag<'s>,
        min: Option<ChartBound>,
        max: Option<ChartBound>,
    ) {
        if let (Some(ChartBound::Number(low)), Some(ChartBound::Number(high))) = (min, max)
            && low >= high
            && let Some(attribute) = part(tag, "data-od-max")
        {
            let fix = delete(attribute.span.clone(), "write a data-od-max above data-od-min");
            let message = "data-od-max is not above data-od-min";
            self.refuse_chart(attribute.span.clone(), message, fix);
        }
    }

    /// Reads a literal text; bindings in it are refused.
    pub(crate) fn chart_text(&mut self, attribute: &Attribute<'s>) -> Option<Box<str>> {
        let value = &self.source[attribute.value.clone()];
        let decoded = reference::decode(value).unwrap_or(value.into());
        let text = decoded.trim();
        let length = |name: &str| name.trim().chars().count();
        let longest = if attribute.name == "data-od-labels" {
            text.split(',').map(length).max().unwrap_or_default()
        } else {
            length(text)
        };
        let too_long = longest > CHART_LABEL.max();
        if text.contains("{{") || too_long {
            let name = &attribute.name;
            let fix = delete(
                attribute.span.clone(),
                format!(
                    "write {name} as literal text; a heading with the binding goes before the chart"
                ),
            );
            let message = if too_long {
                format!("{name} is longer than {} characters", CHART_LABEL.allowed)
            } else {
                format!("{name} is literal")
            };
            self.refuse_chart(attribute.span.clone(), message, fix);
            return None;
        }
        (!text.is_empty()).then(|| text.into())
    }

    pub(crate) fn chart_labels(&mut self, tag: &Tag<'s>, series: usize) -> Option<Box<[Box<str>]>> {
        let attribute = part(tag, "data-od-labels")?;
        let text = self.chart_text(attribute)?;
        let labels: Box<[Box<str>]> = text.split(',').map(|label| label.trim().into()).collect();
        if labels.len() != series && series > 0 {
            let fix = delete(
                attribute.span.clone(),
                format!(
                    "write one name for each path in data-od-y, with commas between them: {series}"
                ),
            );
            let message = format!("{} names for {series} series", labels.len());
            self.refuse_chart(attribute.span.clone(), message, fix);
            return None;
        }
        Some(labels)
    }

    pub(crate) fn chart_format(&mut self, tag: &Tag<'s>) -> Option<Format> {
        let attribute = part(tag, "data-od-format")?;
        let value = &self.source[attribute.value.clone()];
        let decoded = reference::decode(value).unwrap_or(value.into());
        let text = decoded.trim_ascii().trim_start_matches('|').trim_ascii();
        let (message, meant) = match pipe::parse(text) {
            Ok(Pipes { format: Some(format), or: None }) if format.takes_numbers() => {
                return Some(format);
            }
            Ok(_) => {
                (format!("`{}` does not write a number", shorten(text)), "number:0".to_owned())
            }
            Err(fault) => (fault.message, fault.instead.into_owned()),
        };
        let usable = |text: &str| {
            pipe::parse(text)
                .is_ok_and(|pipes| pipes.format.is_some_and(|format| format.takes_numbers()))
        };
        let meant = if usable(&meant) { meant } else { "number:0".to_owned() };
        let text = format!("data-od-format=\"{meant}\"");
        let fix = replace(attribute.span.clone(), text.clone(), format!("write {text}"));
        self.refuse_chart(attribute.span.clone(), message, fix);
        None
    }

    pub(crate) fn chart_height(&mut self, tag: &Tag<'s>, kind: ChartKind) -> u16 {
        let Some(attribute) = part(tag, "data-od-height") else { return kind.default_height() };
        let text = self.source[attribute.value.clone()].trim_ascii();
        let (least, most) = (kind.least_height(), CHART_HEIGHT.max() as u16);
        let height: Option<u16> = text.parse().ok();
        if let Some(height) = height.filter(|height| (least..=most).contains(height)) {
            return height;
        }
        let meant = text
            .trim_end_matches("px")
            .parse::<u16>()
            .map_or_else(|_| kind.default_height(), |height| height.clamp(least, most));
        let text = format!("data-od-height=\"{meant}\"");
        let fix = replace(attribute.span.clone(), text.clone(), format!("write {text}"));
        let message =
            format!("the height of a {} chart is {least} to {most} pixels", kind.as_str());
        self.refuse_chart(attribute.span.clone(), message, fix);
        meant
    }
}
