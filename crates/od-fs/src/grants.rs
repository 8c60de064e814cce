//! The seal of grants: a key in the home, and the place that a grant was given for.

use std::path::Path;

use od_core::artifact::Artifact;
use od_core::grant::{Claim, GrantKey, GrantSeal, withhold};
use od_ports::access::token_authority::KeyringError;

use crate::keyring;
use crate::private_dir::PrivateDir;
use crate::system::SystemEntropy;

const FILE: &str = "grants.key";
/// 64 digits and a line end.
const FILE_BYTES_MAX: u64 = 128;

/// Tells grants that were given here from those that came with a copy.
///
/// The key is not that of the tokens: those are good for hours and are rotated, a permission is good
/// until somebody takes it away.
#[derive(Clone, Debug)]
pub struct GrantGuard {
    key: GrantKey,
    place: String,
    unsealed: Unsealed,
}

/// The worth of a grant without any seal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Unsealed {
    /// It holds: the data directory lies in the person's home, where no clone puts anything. Earlier
    /// versions sealed nothing.
    Holds,
    /// Nobody can tell who gave it.
    Withheld,
}

impl GrantGuard {
    /// Opens the guard of a home for one of its data directories, making the key if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the key cannot be read, or others could.
    pub fn open(home: &Path, data_dir: &Path) -> Result<Self, KeyringError> {
        let keys = PrivateDir::make(&home.join("keys")).map_err(keyring::untrusted)?.into_dir();
        if keys.stat(FILE)?.is_none() {
            // The system's randomness always, as for the vault: no id is drawn from the same numbers.
            let key = keyring::to_hex(&keyring::random_key(&SystemEntropy::new())?);
            // Of two that make it at once one wins, and both read what is there.
            let draft = format!("{FILE}.{}", std::process::id());
            keys.replace_synced(&draft, format!("{key}\n").as_bytes())?;
            match keys.rename_new(&draft, &keys, FILE) {
                Err(err) if err.source.kind() == std::io::ErrorKind::AlreadyExists => {
                    keys.remove(&draft)?;
                }
                other => other?,
            }
            keys.sync()?;
        }
        let (file, _) = keys.open_regular(FILE)?;
        keyring::check_mode(&file)?;
        let bytes = keys.read(FILE, FILE_BYTES_MAX)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| KeyringError::Damaged)?;
        let key = GrantKey::new(&keyring::from_hex(text.trim_end())?);
        let (place, unsealed) = place(home, data_dir);
        Ok(Self { key, place, unsealed })
    }

    /// Returns the seal of what an artifact is allowed; none if that is nothing.
    pub(crate) fn seal(&self, artifact: &Artifact) -> Option<GrantSeal> {
        Claim::of_artifact(artifact).map(|claim| self.key.seal(&self.place, &claim))
    }

    /// Takes away what an artifact was allowed elsewhere.
    pub(crate) fn check(&self, artifact: &mut Artifact, seal: Option<&GrantSeal>) {
        let Some(claim) = Claim::of_artifact(artifact) else { return };
        if !self.holds(&claim, seal) {
            withhold(artifact);
        }
    }

    /// Seals one claim.
    pub(crate) fn seal_claim(&self, claim: &Claim) -> GrantSeal {
        self.key.seal(&self.place, claim)
    }

    /// Returns whether a claim was made here.
    pub(crate) fn holds(&self, claim: &Claim, seal: Option<&GrantSeal>) -> bool {
        match seal {
            Some(seal) => self.key.sealed(&self.place, claim, seal),
            None => self.unsealed == Unsealed::Holds,
        }
    }
}

/// Names the place of a data directory. One in the home is named from there, so that a home that is
/// moved as a whole, key and all, keeps what was allowed in it.
fn place(home: &Path, data_dir: &Path) -> (String, Unsealed) {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (home, data_dir) = (real(home), real(data_dir));
    let text = |path: &Path| path.as_os_str().as_encoded_bytes().escape_ascii().to_string();
    match data_dir.strip_prefix(&home) {
        Ok(inside) => (format!("home:{}", text(inside)), Unsealed::Holds),
        Err(_) => (text(&data_dir), Unsealed::Withheld),
    }
}
