//! A browser, started on a private redirect file so that no code is in a process list.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::config::Key;
use crate::settings::Settings;

/// The time that a browser has to read the redirect file.
const READ_MAX: Duration = Duration::from_secs(5);

/// Programs that open an address, in the order they are tried; `BROWSER` comes first.
const OPENERS: &[&str] = &["xdg-open", "open", "wslview"];

/// Opens an address; `false` if there is no browser to be had.
pub(crate) async fn open_browser(url: &str, settings: &Settings) -> bool {
    let Some(page) = write_redirect(url, &settings.data_dir) else { return false };
    let chosen = settings.configured(Key::Browser).ok().and_then(|(program, _)| program);
    let mut started = false;
    for program in chosen.as_deref().into_iter().chain(OPENERS.iter().copied()) {
        started = start(program, &page).await;
        if started {
            break;
        }
    }
    // If it cannot be removed its code is used or expired by now.
    let _left = std::fs::remove_file(&page);
    started
}

/// Writes a page that only this user can read and that leads to the address.
fn write_redirect(url: &str, directory: &Path) -> Option<PathBuf> {
    let path = directory.join(format!("open-{}.html", std::process::id()));
    // Left over from a process of the same number.
    let _none = std::fs::remove_file(&path);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
    let page = format!(
        "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>\
         <title>od</title><meta http-equiv=refresh content=\"0;url={url}\">\
         <p><a href=\"{url}\">Open the console</a>\n"
    );
    file.write_all(page.as_bytes()).ok()?;
    Some(path)
}

/// Starts a program on the page and gives a browser the time to read it; false if it failed.
async fn start(program: &str, page: &Path) -> bool {
    let child = Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    let read = tokio::time::sleep(READ_MAX);
    tokio::pin!(read);
    tokio::select! {
        // A browser that stays in the foreground.
        () = &mut read => true,
        ended = child.wait() => {
            let opened = ended.is_ok_and(|status| status.success());
            // A program that only passes the page on is done before the browser is.
            if opened {
                read.await;
            }
            opened
        }
    }
}
