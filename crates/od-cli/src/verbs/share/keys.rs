//! `od keys …`: the keys that sign tokens, and those that sign bundles.

use std::path::Path;

use od_core::bundle::{KnownSigner, SignerKey, Standing};
use od_core::error::ErrorCode;
use od_fs::{FileSignerKeys, FileTokenAuthority, SystemClock, SystemEntropy, shell_quoted};
use od_ports::access::signer_keys::{SignerKeys as _, SignersError};
use od_ports::access::token_authority::KeyringError;
use od_ports::system::Clock as _;
use serde_json::json;

use crate::args::SignerArgs;
use crate::output::{Answer, CommandError, Exit, Style, Text, ask};
use crate::settings::Settings;

/// Shows whether there are keys, never the keys.
pub(crate) fn status(settings: &Settings) -> Result<Answer, CommandError> {
    let path = settings.home.join("keys/keyring.json");
    // Opening would make one, and looking must change nothing.
    if !path.exists() {
        let text = Text::new().line("No keyring yet; the first daemon or `od init` makes one.");
        return Ok(Answer::new(
            json!({ "path": path, "exists": false, "hasPrevious": false }),
            text,
        ));
    }
    let authority = open(settings)?;
    let has_previous = authority.has_previous().map_err(|error| refused(settings, &error))?;
    let previous = if has_previous {
        "a previous key is still accepted; the next rotation drops it"
    } else {
        "no previous key"
    };
    let text = Text::new()
        .pieces(&[(Style::Good, "ok "), (Style::Plain, &path.display().to_string())])
        .line("  one current key signs")
        .line(&format!("  {previous}"));
    Ok(Answer::new(json!({ "path": path, "exists": true, "hasPrevious": has_previous }), text))
}

/// Makes a new current key and keeps the one before for checking.
pub(crate) fn rotate(settings: &Settings, dry_run: bool) -> Result<Answer, CommandError> {
    if dry_run {
        let text = Text::new().line(
            "Would make a new signing key. Tokens of the present one stay valid until the next rotation.",
        );
        return Ok(Answer::new(json!({ "dryRun": true }), text));
    }
    let authority = open(settings)?;
    authority.rotate(&SystemEntropy::new()).map_err(|error| refused(settings, &error))?;
    let text = Text::new().line(
        "A new key signs from now on. Running agents go on with the one before; rotate again to shut it out.",
    );
    Ok(Answer::new(json!({ "rotated": true }), text))
}

fn open(settings: &Settings) -> Result<FileTokenAuthority, CommandError> {
    FileTokenAuthority::open(&settings.home, &SystemEntropy::new())
        .map_err(|error| refused(settings, &error))
}

fn refused(settings: &Settings, error: &KeyringError) -> CommandError {
    CommandError::new(ErrorCode::Internal, error.to_string()).suggest(fix(&settings.home, error))
}

/// Says what makes the keyring of a home usable.
pub(crate) fn fix(home: &Path, error: &KeyringError) -> String {
    let path = home.join("keys/keyring.json");
    match error {
        KeyringError::Untrusted { fix, .. } => fix.clone(),
        KeyringError::TooOpen => format!("chmod 600 {}", shell_quoted(&path)),
        KeyringError::Damaged => format!(
            "move {} away: a new one is made, and running agents have to be started again",
            path.display()
        ),
        KeyringError::NoEntropy | KeyringError::Io { .. } => {
            format!("check permissions and free space of {}", path.display())
        }
    }
}

/// Shows the public key that the person's bundles are signed with, making it on first use.
pub(crate) fn export_public(settings: &Settings) -> Result<Answer, CommandError> {
    let keys = FileSignerKeys::in_home(&settings.home);
    let own = match keys.own().map_err(|err| signers_error(&err))? {
        Some(own) => own,
        // The key is made by its first signature; that of nothing is of no use to anybody.
        None => keys.sign(b"").map_err(|err| signers_error(&err))?.0,
    };
    Ok(Answer::new(json!({ "publicKey": own }), Text::new().line(own.as_str())))
}

/// Lists the signers that were met.
pub(crate) fn signers(settings: &Settings) -> Result<Answer, CommandError> {
    let keys = FileSignerKeys::in_home(&settings.home);
    let known = keys.known().map_err(|err| signers_error(&err))?;
    let own = keys.own().map_err(|err| signers_error(&err))?;
    let mut text = Text::new();
    if let Some(own) = &own {
        text = text.line(&format!("{own}  your own"));
    }
    for signer in &known {
        let name = signer.name.as_deref().unwrap_or("unnamed");
        let state = match signer.revoked_at {
            Some(at) => format!("revoked {at}"),
            None => format!("trusted since {}", signer.since),
        };
        text = text.line(&format!("{}  {name}, {state}", signer.key));
    }
    if own.is_none() && known.is_empty() {
        text = text.line("No signer of bundles is known here yet.");
    }
    Ok(Answer::new(json!({ "own": own, "signers": known }), text))
}

/// Trusts a signer before its first bundle comes, or names one.
pub(crate) fn trust(settings: &Settings, args: &SignerArgs) -> Result<Answer, CommandError> {
    let keys = FileSignerKeys::in_home(&settings.home);
    let key = named_signer(&keys, &args.key)?;
    let standing = standing(&keys, &key)?;
    if let Standing::Revoked(_) = standing {
        let message = format!("{key} was revoked here");
        return Err(CommandError::new(ErrorCode::Forbidden, message)
            .suggest("ask its owner for another key: what was revoked stays so"));
    }
    if !args.dry_run {
        let since = SystemClock.now();
        let name = args.name.clone();
        let signer = KnownSigner { key: key.clone(), name, since, revoked_at: None };
        keys.remember(signer).map_err(|err| signers_error(&err))?;
    }
    let verb = if args.dry_run { "would trust" } else { "trusts" };
    let text = Text::new().line(&format!("{verb} bundles signed by {key}"));
    let answer = Answer::new(json!({ "trusted": key, "name": args.name }), text);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

/// Stops trusting a signer for good; one's own key is put away and the next bundle gets another.
pub(crate) fn revoke(settings: &Settings, args: &SignerArgs) -> Result<Answer, CommandError> {
    let keys = FileSignerKeys::in_home(&settings.home);
    let key = named_signer(&keys, &args.key)?;
    let own = keys.own().map_err(|err| signers_error(&err))?;
    let is_own = own.as_ref() == Some(&key);
    if !is_own && matches!(standing(&keys, &key)?, Standing::New) {
        // A typing error would otherwise look as if a signer had been shut out.
        let message = format!("no signer `{key}` was met here");
        return Err(
            CommandError::new(ErrorCode::NotFound, message).suggest("`od keys signers` lists them")
        );
    }
    let plan = Text::new()
        .line("This is your own key: bundles that you gave away are refused here from then on, and")
        .line("your next bundle is signed with a new key.");
    let is_confirmed = args.dry_run || args.yes || !is_own;
    if !is_confirmed && ask(&plan, "Revoke it?") != Some(true) {
        let message = "revoking your own key needs a person's word";
        return Err(CommandError::new(ErrorCode::BadRequest, message)
            .suggest(format!("od keys revoke {key} --yes"))
            .ending(Exit::Confirm));
    }
    if !args.dry_run {
        keys.revoke(&key, SystemClock.now()).map_err(|err| signers_error(&err))?;
    }
    let verb = if args.dry_run { "would refuse" } else { "refuses" };
    let text = Text::new().line(&format!("{verb} bundles signed by {key} from now on"));
    let answer = Answer::new(json!({ "revoked": key }), text);
    Ok(if args.dry_run { answer.dry() } else { answer })
}

fn standing(keys: &FileSignerKeys, key: &SignerKey) -> Result<Standing, CommandError> {
    let known = keys.known().map_err(|err| signers_error(&err))?;
    Ok(Standing::of(key, None, &known))
}

/// Reads a key, or finds the known one that begins with these digits.
fn named_signer(keys: &FileSignerKeys, named: &str) -> Result<SignerKey, CommandError> {
    if let Ok(key) = named.parse() {
        return Ok(key);
    }
    let known = keys.known().map_err(|err| signers_error(&err))?;
    let own = keys.own().map_err(|err| signers_error(&err))?;
    let digits = named.strip_prefix("ed25519:").unwrap_or(named);
    let all = known.into_iter().map(|signer| signer.key).chain(own);
    let mut same: Vec<SignerKey> =
        all.filter(|key| digits.len() >= 8 && key.as_str()[8..].starts_with(digits)).collect();
    same.sort_unstable();
    same.dedup();
    match <[SignerKey; 1]>::try_from(same) {
        Ok([only]) => Ok(only),
        Err(_) => Err(CommandError::new(ErrorCode::NotFound, format!("no signer `{named}`"))
            .suggest("give the whole key, ed25519: and 64 digits; `od keys signers` lists them")),
    }
}

/// Explains why the signers cannot be used.
pub(crate) fn signers_error(error: &SignersError) -> CommandError {
    CommandError::new(ErrorCode::Internal, error.to_string()).suggest(
        "check `keys/bundle.key` and `keys/signers.json` in OD_HOME: only you may read them",
    )
}
