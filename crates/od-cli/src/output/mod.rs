//! Output of the program: text, JSON, exit codes.

mod answer;
mod escape;
mod exit;
mod progress;
mod sink;
mod text;

pub use answer::{Answer, CommandError};
pub use escape::{escape, escape_json};
pub use exit::Exit;
pub use progress::with_progress;
pub use sink::Sink;
pub use text::{Style, Table, Text};
