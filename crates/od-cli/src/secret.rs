//! A secret from the terminal without echo, or from stdin; never from the command line.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use od_core::error::ErrorCode;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::output::Refusal;

/// The longest secret that is read, in bytes.
const SECRET_BYTES_MAX: u64 = 4_096;

/// Reads a secret; `None` if the person gave an empty one.
pub(crate) fn read(prompt: &str) -> Result<Option<String>, Refusal> {
    let stdin = io::stdin();
    let mut text = String::new();
    let read = if stdin.is_terminal() {
        without_echo(prompt, &mut text)
    } else {
        stdin.lock().take(SECRET_BYTES_MAX).read_to_string(&mut text).map(|_| ())
    };
    read.map_err(|error| {
        Refusal::new(ErrorCode::BadRequest, format!("cannot read the secret: {error}"))
            .suggesting("type it at a terminal, or give it on stdin")
    })?;
    let secret = text.trim();
    Ok((!secret.is_empty()).then(|| secret.to_owned()))
}

/// Reads one line with echo switched off, and switches it on again whatever happens.
fn without_echo(prompt: &str, text: &mut String) -> io::Result<()> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &silent)?;
    let mut stderr = io::stderr();
    let read = write!(stderr, "{prompt}: ")
        .and_then(|()| stderr.flush())
        .and_then(|()| stdin.lock().read_line(text).map(|_| ()));
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    writeln!(stderr)?;
    read
}
