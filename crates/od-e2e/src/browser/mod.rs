//! A real Chromium, and tabs that notice everything that goes wrong in them.

mod chromium;
mod keys;
mod tab;
mod watch;

pub use chromium::Chromium;
pub use tab::Tab;
pub use watch::Problem;
