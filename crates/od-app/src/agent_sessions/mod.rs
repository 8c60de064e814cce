//! Sessions with a person's own agent: opened, prompted, answered, stopped, read.

mod change;
mod driver;
mod live;
mod read;
mod refusal;
mod start;

pub use change::{
    AnswerQuestion, OpenSession, PromptSession, Prompted, answer, cancel, close, close_all, open,
    prompt,
};
pub use driver::Driver;
pub(crate) use live::LiveSessions;
pub use read::{FindSessionError, OpenedSession, agents, get, list, recover};
pub use refusal::{ChangeSessionError, OpenSessionError};
