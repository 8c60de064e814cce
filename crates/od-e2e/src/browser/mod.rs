//! A real Chromium, and tabs that notice everything that goes wrong in them.

mod access;
mod chromium;
mod framed;
mod hand;
mod tab;
mod tasks;
mod watch;

pub use access::serious_findings;
pub use chromium::Chromium;
pub use framed::Framed;
pub use tab::Tab;
pub use tasks::Tasks;
pub use watch::{Problem, Request};
