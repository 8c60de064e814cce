//! The exported page as a picture or as PDF, drawn by a Chromium that is installed.
//!
//! The page is the one of `--html`: it has no script and its policy allows no request; the browser is
//! also told that no host exists, so that nothing leaves the machine whatever the page says. In the
//! console nobody needs this: a browser prints the page itself.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use od_core::error::ErrorCode;
use od_core::limits::{DRAWING_BYTES, DRAWING_MS, PICTURE_HEIGHT};
use tokio::process::Command;
use tokio::time::timeout;

use crate::output::CommandError;

/// Names of the browser on PATH, and its places on macOS, in the order they are tried.
const PROGRAMS: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
/// The width of a picture in pixels: a laptop's window.
const WIDTH: u32 = 1280;
/// Stands before the height in the measured document.
const HEIGHT_MARK: &str = "data-height=\"";

/// The form of a drawing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Drawing {
    /// One picture of the whole page.
    Png,
    /// Pages for a printer.
    Pdf,
}

impl Drawing {
    /// Returns what the file contains, in a sentence for whoever is about to make one.
    pub(super) const fn contains(self) -> &'static str {
        match self {
            Self::Png => "a picture of the page as it looks now, as high as the page is",
            Self::Pdf => "the page as it is printed now; texts can be selected and searched",
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

/// Draws an exported page.
pub(super) async fn draw(html: &str, drawing: Drawing) -> Result<Vec<u8>, CommandError> {
    let program = find(od_platform::search_path()).ok_or_else(missing)?;
    let scratch = tempfile::tempdir().map_err(|err| failed(&format!("no directory: {err}")))?;
    let browser = Browser { program, scratch: scratch.path() };
    let page = browser.keep("page.html", html)?;
    // By the ending the browser knows which form of picture is meant.
    let out = scratch.path().join(format!("drawing.{}", drawing.word()));
    let out_flag = |name: &str| {
        let mut flag = OsString::from(format!("--{name}="));
        flag.push(&out);
        flag
    };
    match drawing {
        Drawing::Pdf => {
            let flags = [OsString::from("--no-pdf-header-footer"), out_flag("print-to-pdf")];
            browser.run(&flags, &page).await?;
        }
        Drawing::Png => {
            let height = browser.measure(html).await?;
            let window = OsString::from(format!("--window-size={WIDTH},{height}"));
            let flags = [OsString::from("--hide-scrollbars"), window, out_flag("screenshot")];
            browser.run(&flags, &page).await?;
        }
    }
    read(&out)
}

/// One installed browser, and a directory for its profile and the files that it reads.
struct Browser<'a> {
    program: PathBuf,
    scratch: &'a Path,
}

impl Browser<'_> {
    fn keep(&self, name: &str, text: &str) -> Result<PathBuf, CommandError> {
        let path = self.scratch.join(name);
        std::fs::write(&path, text).map_err(|err| failed(&format!("{name}: {err}")))?;
        Ok(path)
    }

    /// Returns the height of a page. It has no script of its own, so a page around it looks: the frame
    /// may run none either, and shares the origin of the document that measures it. The frame is as low
    /// as can be, since a page is never less high than its window.
    async fn measure(&self, html: &str) -> Result<u64, CommandError> {
        let quoted = html.replace('&', "&amp;").replace('"', "&quot;");
        let around = format!(
            "<!doctype html><title>height</title>\
             <style>html,body{{margin:0}}iframe{{border:0;display:block;width:100%;height:1px}}</style>\
             <iframe sandbox=\"allow-same-origin\" srcdoc=\"{quoted}\"></iframe>\
             <script>addEventListener('load', () => {{ \
             const page = document.querySelector('iframe').contentDocument.documentElement; \
             document.documentElement.dataset.height = page.scrollHeight; }})</script>"
        );
        let around = self.keep("height.html", &around)?;
        let window = OsString::from(format!("--window-size={WIDTH},800"));
        // A scrollbar would make it narrower than the picture.
        let flags = [window, OsString::from("--hide-scrollbars"), OsString::from("--dump-dom")];
        let dumped = self.run(&flags, &around).await?;
        let text = String::from_utf8_lossy(&dumped);
        let height = text.split_once(HEIGHT_MARK).and_then(|(_, rest)| rest.split_once('"'));
        let height: u64 = height
            .and_then(|(height, _)| height.parse().ok())
            .ok_or_else(|| failed("it did not say how high the page is"))?;
        if height > PICTURE_HEIGHT.allowed {
            let message = format!(
                "the page is {height} pixels high; a picture has {}",
                PICTURE_HEIGHT.want()
            );
            return Err(CommandError::new(ErrorCode::OutputTooLarge, message)
                .suggest("use --pdf, which has pages"));
        }
        Ok(height.max(1))
    }

    /// Runs the browser on a file and returns what it printed.
    async fn run(&self, flags: &[OsString], page: &Path) -> Result<Vec<u8>, CommandError> {
        let mut command = Command::new(&self.program);
        let mut profile = OsString::from("--user-data-dir=");
        profile.push(self.scratch.join("profile"));
        command
            .args(["--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check"])
            .args(["--disable-extensions", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"])
            .arg(profile)
            .args(flags);
        if rustix::process::geteuid().is_root() {
            // It refuses to start as root otherwise; the page has no script to be kept in.
            command.arg("--no-sandbox");
        }
        command.arg(page).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let ended = timeout(DRAWING_MS.duration(), command.output()).await;
        let output = ended
            .map_err(|_| failed(&format!("not done after {} s", DRAWING_MS.duration().as_secs())))?
            .map_err(|err| failed(&err.to_string()))?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(failed(&format!("it ended with {}", output.status)))
        }
    }
}

/// Returns the first of the browsers that is there.
fn find(path: Option<OsString>) -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        path.map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    PROGRAMS.iter().find_map(|program| {
        let is_place = program.starts_with('/').then(|| PathBuf::from(program));
        let places = is_place.into_iter().chain(folders.iter().map(|folder| folder.join(program)));
        places.into_iter().find(|place| place.is_file())
    })
}

fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    let file = File::open(path).map_err(|_| failed("it wrote nothing"))?;
    let mut bytes = Vec::new();
    let read = file.take(DRAWING_BYTES.allowed + 1).read_to_end(&mut bytes);
    read.map_err(|err| failed(&err.to_string()))?;
    if DRAWING_BYTES.allows(bytes.len()) {
        Ok(bytes)
    } else {
        let message = format!("the drawing is larger than {}", DRAWING_BYTES.want());
        Err(CommandError::new(ErrorCode::OutputTooLarge, message).suggest("use --html"))
    }
}

fn missing() -> CommandError {
    let message = "no Chromium and no Chrome was found to draw the page with";
    CommandError::new(ErrorCode::ProgramUnavailable, message).suggest(
        "install one: `apt install chromium` (Debian, Ubuntu), `dnf install chromium` (Fedora), \
         `brew install --cask chromium` (macOS); or use --html and print it in any browser",
    )
}

fn failed(why: &str) -> CommandError {
    let message = format!("the browser did not draw the page: {why}");
    CommandError::new(ErrorCode::ProgramUnavailable, message)
        .suggest("use --html and print it in any browser")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_browser_is_told_the_package_of_three_systems() {
        // Absolute places are those of macOS, where a developer may have one.
        if PROGRAMS.iter().any(|program| Path::new(program).is_file()) {
            return;
        }
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(find(Some(empty.path().into())), None);
        assert_eq!(find(None), None);
        let told = missing().failure;
        assert_eq!(told.code, ErrorCode::ProgramUnavailable);
        for package in ["apt install chromium", "dnf install chromium", "brew install --cask"] {
            assert!(told.suggestion.contains(package), "{}", told.suggestion);
        }
    }

    #[test]
    fn the_first_browser_on_the_path_is_taken_and_a_folder_of_its_name_is_none() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(first.path().join("chromium")).unwrap();
        std::fs::write(second.path().join("chromium"), "").unwrap();
        std::fs::write(first.path().join("google-chrome"), "").unwrap();
        let path = std::env::join_paths([first.path(), second.path()]).unwrap();
        assert_eq!(find(Some(path)), Some(second.path().join("chromium")));
    }
}
