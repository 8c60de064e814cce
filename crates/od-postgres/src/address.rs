//! The address of a shared store, and the password for it, which no address and no file of od holds.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use od_core::connector::{ConnectionString, ConnectionStringError};

/// More than any password file has.
const PASSWORD_FILE_BYTES_MAX: u64 = 1 << 20;

/// The address of a shared store, `postgres://ROLE@HOST:5432/DATABASE?sslmode=verify-full`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoreAddress {
    connection: ConnectionString,
    text: String,
}

/// Why a text is no address of a shared store. No message repeats any part of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum StoreAddressError {
    /// It is no connection string.
    #[error(transparent)]
    Connection(#[from] ConnectionStringError),
    /// It holds a password.
    #[error(
        "the address of a store holds no password: it would be seen in configuration files and lists of processes"
    )]
    Password,
}

impl std::str::FromStr for StoreAddress {
    type Err = StoreAddressError;
    fn from_str(text: &str) -> Result<Self, StoreAddressError> {
        let connection: ConnectionString = text.parse()?;
        if connection.expose_password().is_some() {
            return Err(StoreAddressError::Password);
        }
        Ok(Self { connection, text: text.to_owned() })
    }
}

impl StoreAddress {
    /// Returns the address as it was written; it has no password in it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the server and the database, `host:port/database`.
    #[must_use]
    pub fn place(&self) -> String {
        let address = self.connection.address();
        format!("{}:{}/{}", address.host(), address.port(), address.database())
    }

    pub(crate) const fn connection(&self) -> &ConnectionString {
        &self.connection
    }
}

/// The places where a password is looked for, as PostgreSQL's own programs do.
#[derive(Clone, Default)]
pub struct PasswordSources {
    /// The value of `PGPASSWORD`.
    pub password: Option<String>,
    /// The file that `PGPASSFILE` names, else `~/.pgpass`.
    pub file: Option<PathBuf>,
}

impl std::fmt::Debug for PasswordSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordSources").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Why a password file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PasswordError {
    /// Others may read it.
    #[error("the password file `{}` can be read by others: chmod 600 it", path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("the password file `{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl PasswordSources {
    /// Finds the password for an address; none if no source has one.
    ///
    /// # Errors
    ///
    /// Fails if the password file is there and cannot be used.
    pub(crate) fn find(&self, address: &StoreAddress) -> Result<Option<String>, PasswordError> {
        if self.password.is_some() {
            return Ok(self.password.clone());
        }
        let Some(path) = &self.file else { return Ok(None) };
        let Some(text) = read_private(path)? else { return Ok(None) };
        Ok(text.lines().find_map(|line| password_of(line, address)))
    }
}

fn read_private(path: &Path) -> Result<Option<String>, PasswordError> {
    let unreadable = |source| PasswordError::Unreadable { path: path.to_owned(), source };
    let file = match File::open(path) {
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(unreadable)?,
    };
    if file.metadata().map_err(unreadable)?.mode() & 0o077 != 0 {
        return Err(PasswordError::NotPrivate { path: path.to_owned() });
    }
    let mut text = String::new();
    file.take(PASSWORD_FILE_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
    Ok(Some(text))
}

/// Returns the password of a line `host:port:database:role:password`, if it is for this address. `*`
/// stands for anything; `\` takes its meaning from `:` and `\`.
fn password_of(line: &str, address: &StoreAddress) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields.last_mut()?.extend(letters.next()),
            // The fifth field is the rest of the line.
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields.last_mut()?.push(other),
        }
    }
    let connection = address.connection();
    let database = connection.address();
    let port = database.port().to_string();
    let wanted = [database.host(), port.as_str(), database.database(), connection.user()];
    let [host, at, name, role, password] = <[String; 5]>::try_from(fields).ok()?;
    let fits = [host, at, name, role].iter().zip(wanted).all(|(is, want)| is == "*" || is == want);
    fits.then_some(password)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn address() -> StoreAddress {
        "postgres://ada@db.example/od".parse().unwrap()
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_repeated() {
        let refused = "postgres://ada:canary-1@db.example/od".parse::<StoreAddress>().unwrap_err();
        assert_eq!(refused, StoreAddressError::Password);
        assert!(!refused.to_string().contains("canary"));
    }

    #[test]
    fn a_line_is_for_the_address_that_all_its_fields_name() {
        for (line, password) in [
            ("db.example:5432:od:ada:secret", Some("secret")),
            ("*:*:*:ada:a\\:b\\\\c:d", Some("a:b\\c:d")),
            ("db.example:5433:od:ada:secret", None),
            ("db.example:5432:od:bob:secret", None),
            ("#*:*:*:*:secret", None),
            ("*:*:*", None),
        ] {
            assert_eq!(password_of(line, &address()).as_deref(), password, "{line}");
        }
    }

    #[test]
    fn a_password_file_that_others_may_read_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pgpass");
        std::fs::write(&path, "# mine\n*:*:*:*:secret\n").unwrap();
        let sources = PasswordSources { password: None, file: Some(path.clone()) };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(sources.find(&address()), Err(PasswordError::NotPrivate { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(sources.find(&address()).unwrap().as_deref(), Some("secret"));
        let set = PasswordSources { password: Some("set".to_owned()), ..sources };
        assert_eq!(set.find(&address()).unwrap().as_deref(), Some("set"));
        let none = PasswordSources { password: None, file: Some(dir.path().join("none")) };
        assert_eq!(none.find(&address()).unwrap(), None);
    }
}
