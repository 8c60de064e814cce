//! Exit codes.

/// The exit code of the program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Exit {
    /// 0: done.
    Ok,
    /// 1: it ran and found problems.
    Found,
    /// 2: a command line that cannot be understood, or a fault nobody expected.
    Usage,
    /// 3: locked, or at another revision.
    Conflict,
    /// 4: the token was refused.
    Token,
    /// 5: there is no such thing.
    NotFound,
    /// 6: a person has to confirm.
    Confirm,
    /// 7: the artifact or the store is not healthy.
    Unhealthy,
    /// 8: not allowed.
    Denied,
    /// 9: timed out, or not available now.
    Unavailable,
    /// The exit code of the command of `od run`.
    Child(u8),
}

impl Exit {
    /// Every code of ours, for help and docs.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Ok, "done"),
        (Self::Found, "it ran and found problems (an invalid input, a failed check)"),
        (Self::Usage, "the command line cannot be understood, or an unexpected fault"),
        (Self::Conflict, "conflict: locked, or at another revision"),
        (Self::Token, "the token was refused"),
        (Self::NotFound, "there is no such project, artifact, connector, file"),
        (Self::Confirm, "a person has to confirm (--yes)"),
        (Self::Unhealthy, "the artifact is damaged; `od artifacts repair` says what it would do"),
        (Self::Denied, "policy does not allow it"),
        (Self::Unavailable, "timed out, or not available now; try again"),
    ];

    /// Returns the number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Found => 1,
            Self::Usage => 2,
            Self::Conflict => 3,
            Self::Token => 4,
            Self::NotFound => 5,
            Self::Confirm => 6,
            Self::Unhealthy => 7,
            Self::Denied => 8,
            Self::Unavailable => 9,
            Self::Child(code) => code,
        }
    }

    /// Returns the exit for a number of the error catalogue.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        Self::ALL
            .iter()
            .map(|(exit, _)| *exit)
            .find(|exit| exit.code() == code)
            .unwrap_or(Self::Usage)
    }
}
