//! Rendering of attribute values that are checked as they are written: URLs and CSS.

use std::io::Write;

use serde_json::Value;

use super::error::{BindingPlace, RenderError};
use super::output::{Digits, Output};
use super::renderer::Renderer;
use crate::template::issue::shorten;
use crate::template::policy::css::{self, IdentifierTail};
use crate::template::policy::url::{self, Destination};
use crate::template::program::{Guarded, Part, Source};

impl<W: Write, const AUDIT: bool> Renderer<'_, '_, Output<'_, W>, AUDIT> {
    #[inline(never)]
    pub(crate) fn style(&mut self, guarded: &Guarded) -> Result<(), RenderError> {
        let mut tail = IdentifierTail::default();
        for part in &guarded.parts {
            match part {
                Part::Literal { raw, decoded } => {
                    tail = tail.literal(decoded);
                    self.literal(raw.start as u32, raw.end as u32)?;
                }
                Part::Variable(variable) => {
                    let checked = self.with_variable(*variable, |renderer, text| {
                        renderer.out.literal(text.as_bytes())?;
                        Ok::<_, RenderError>(css::check_value(text, tail))
                    })?;
                    // Digits, `true` and `false` are plain CSS wherever a value may stand.
                    tail = checked.unwrap_or_default();
                }
                Part::Piped(piped) => {
                    tail = self.with_piped(*piped, |renderer, text| {
                        match css::check_value(text, tail) {
                            Ok(tail) => {
                                renderer.out.literal(text.as_bytes())?;
                                Ok(tail)
                            }
                            Err(fault) => {
                                let at = renderer.piped_place(&renderer.program.piped[*piped]);
                                Err(RenderError::Css { at, value: shorten(text), fault })
                            }
                        }
                    })??;
                }
                Part::Binding(binding) => {
                    let binding = *binding;
                    tail = self.with_text(binding, |renderer, text| {
                        match css::check_value(text, tail) {
                            Ok(tail) => {
                                renderer.out.literal(text.as_bytes())?;
                                Ok(tail)
                            }
                            Err(fault) => {
                                let at = renderer.place(&renderer.program.bindings[binding]);
                                Err(RenderError::Css { at, value: shorten(text), fault })
                            }
                        }
                    })??;
                }
            }
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn url(&mut self, guarded: &Guarded) -> Result<(), RenderError> {
        if let [Part::Binding(binding)] = &*guarded.parts {
            return self.with_text(*binding, |renderer, text| {
                renderer.allow_url(guarded, text)?;
                Ok(renderer.out.escaped(text)?)
            })?;
        }
        let mut url = std::mem::take(&mut self.url);
        url.clear();
        for part in &guarded.parts {
            match part {
                Part::Literal { decoded, .. } => url.push_str(decoded),
                Part::Variable(variable) => {
                    self.with_variable(*variable, |_, text| url.push_str(text));
                }
                Part::Piped(piped) => {
                    self.with_piped(*piped, |_, text| url.push_str(text))?;
                }
                Part::Binding(binding) => {
                    self.with_text(*binding, |_, text| url.push_str(text))?;
                }
            }
        }
        self.allow_url(guarded, &url)?;
        self.out.escaped(&url)?;
        self.url = url;
        Ok(())
    }

    /// Calls `use_text` with the text of a value.
    fn with_text<T>(
        &mut self,
        binding: usize,
        use_text: impl FnOnce(&mut Self, &str) -> T,
    ) -> Result<T, RenderError> {
        Ok(match self.resolve(binding, self.program.lookups[binding]) {
            Some(Value::String(text)) => use_text(self, text),
            Some(Value::Number(number)) => use_text(self, Digits::new().format(number)),
            other => {
                let text = self.plain(binding, other)?;
                use_text(self, text)
            }
        })
    }

    fn allow_url(&mut self, guarded: &Guarded, url: &str) -> Result<(), RenderError> {
        match url::check(guarded.guard, url) {
            Ok(destination) => {
                self.external |= guarded.is_link && destination == Destination::External;
                Ok(())
            }
            Err(fault) => {
                let first = guarded.parts.iter().find_map(|part| match part {
                    Part::Binding(binding) => self.program.bindings.get(*binding),
                    Part::Piped(piped) => match self.program.piped.get(*piped)?.source {
                        Source::Binding(binding) => self.program.bindings.get(binding),
                        Source::Variable(_) => None,
                    },
                    Part::Literal { .. } | Part::Variable(_) => None,
                });
                let at = first.map_or_else(
                    || BindingPlace { path: String::new(), line: 0, column: 0 },
                    |first| self.place(first),
                );
                Err(RenderError::Url { at, url: shorten(url), fault })
            }
        }
    }
}
