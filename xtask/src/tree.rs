//! Where the repository is.

use std::path::{Path, PathBuf};

/// Returns the root of the repository: the folder above this crate.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
