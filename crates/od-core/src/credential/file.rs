//! Files that exist to hold secrets.

/// Files and directories that are nothing but secrets, in lower case.
const NAMES: &[&str] = &[
    ".aws",
    ".azure",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".vault-token",
    "_netrc",
];

/// The beginnings of such names: environments, and private keys as `ssh-keygen` names them.
const BEGINNINGS: &[&str] = &[".env", "id_dsa", "id_ecdsa", "id_ed25519", "id_rsa"];

/// The endings of such names: environments, keys and the stores of keys.
const ENDINGS: &[&str] =
    &[".env", ".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx", ".ppk"];

/// Returns whether a path names a file that holds secrets by what it is, or lies in a directory that
/// does. Such files are never listed, searched or read, whatever ignore rules or globs say.
#[must_use]
pub fn is_secret_path(path: &str) -> bool {
    path.split('/').any(|name| {
        let name = name.to_lowercase();
        NAMES.contains(&name.as_str())
            || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || ENDINGS.iter().any(|ending| name.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_secrets_is_known_by_its_name_anywhere_in_a_path() {
        for path in [
            ".env",
            "app/.env.local",
            ".ENVRC",
            "prod.env",
            ".ssh/config",
            "home/.aws/credentials",
            ".npmrc",
            "a/.netrc",
            "tls/server.PEM",
            "deploy.key",
            "id_rsa",
            "keys/id_ed25519_sk",
        ] {
            assert!(is_secret_path(path), "{path}");
        }
        for path in ["src/env.rs", "environment.json", "data/keys.json", "pem.md", "ids.json"] {
            assert!(!is_secret_path(path), "{path}");
        }
    }
}
