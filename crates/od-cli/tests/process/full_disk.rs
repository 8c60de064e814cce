//! A disk that is really full costs the refresh and nothing else.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::daemon::{Daemon, Place, file_source};

/// A small filesystem of its own, taken away at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one, or says why it cannot.
    fn mount(at: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(at).unwrap();
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs"])
            .arg(at)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self(at.to_owned()))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    /// Fills it up but for a few pages.
    fn fill(&self, left: u64) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len() / 4096 * 4096;
        File::options().write(true).open(&path).unwrap().set_len(length - left).unwrap();
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a daemon that a failed test left behind may still have it open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_is_full_leaves_everything_as_it_was() {
    let place = Place::new();
    let disk = match SmallDisk::mount(&place.data()) {
        Ok(disk) => disk,
        Err(reason) => {
            println!("skipped: no small filesystem can be mounted here: {reason}");
            return;
        }
    };
    place.init();
    let daemon = Daemon::start(&place, "http://127.0.0.1:9");
    let artifact = daemon.create(&file_source("in.json"));
    daemon.stop();
    let daemon = Daemon::start(&place, "http://127.0.0.1:9");
    let (files, served) = (place.generation(&artifact), daemon.served(&artifact));
    let rows: Vec<String> = (0..100).map(|row| format!("{row}{}", "x".repeat(1_000))).collect();
    place.write("in.json", &json!({ "title": "after", "rows": rows }).to_string());

    // Room for records, none for the commit.
    let filler = disk.fill(6 * 4096);
    let refused = daemon.refresh(&artifact);
    assert_eq!(refused.code(), "LIVE_ARTIFACT_STORAGE_FAILED", "{}", refused.text());
    let suggestion = refused.json()["error"]["suggestion"].as_str().unwrap().to_owned();
    assert!(suggestion.contains("free space"), "{suggestion}");
    assert_eq!(daemon.served(&artifact), served);
    assert_eq!(place.generation(&artifact), files, "byte for byte");
    assert_eq!(daemon.endings(&artifact), [(1, "failed".to_owned())]);

    // Room for nothing: then not even a record is begun, or it is closed later.
    let _ = disk.fill(0);
    let refused = daemon.refresh(&artifact);
    assert_eq!(refused.code(), "LIVE_ARTIFACT_STORAGE_FAILED", "{}", refused.text());
    assert_eq!(daemon.served(&artifact), served);

    std::fs::remove_file(filler).unwrap();
    let refreshed = daemon.refresh(&artifact);
    assert_eq!(refreshed.status, 200, "{}", refreshed.text());
    let endings = daemon.endings(&artifact);
    let ids: Vec<u64> = endings.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, (1..=ids.len() as u64).collect::<Vec<_>>(), "one ending each: {endings:?}");
    assert_eq!(endings.last().map(|(_, status)| status.as_str()), Some("succeeded"));
    println!("a full tmpfs of 2 MiB: {endings:?}");
    daemon.stop();
}
