//! From checked parts to a page that may be stored: what create, update and validate share.

use std::sync::Arc;

use od_core::artifact::{compile, render_checked};
use od_core::error::Issue;
use od_core::json::Value;

/// A template that compiles and fits its data, with the page it makes.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) page: Arc<[u8]>,
    pub(super) warnings: Vec<Issue>,
}

/// Compiles a template, checks it against data and renders the page; what is wrong as issues.
pub(super) fn draw_page(html: &str, data: &Value) -> Result<Drawn, Vec<Issue>> {
    let (template, mut warnings) = compile(html)?;
    let mut page = Vec::new();
    warnings.extend(render_checked(&template, data, &mut page)?);
    Ok(Drawn { page: page.into(), warnings })
}

/// Returns what is wrong with a template whose data may not be known.
pub(super) fn template_faults(html: &str, data: Option<&Value>) -> Vec<Issue> {
    match (compile(html), data) {
        (Err(faults), _) => faults,
        (Ok((template, _)), Some(data)) => {
            render_checked(&template, data, &mut std::io::sink()).err().unwrap_or_default()
        }
        (Ok(_), None) => Vec::new(),
    }
}
