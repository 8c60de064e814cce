//! A PostgreSQL of the test's own: a cluster in a temporary directory, on a port of its own.

#![expect(clippy::panic, reason = "a test that has no server has nothing to say")]

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// `nobody` on every Linux: PostgreSQL does not run as root.
const NOBODY: u32 = 65_534;
const MISSING: &str =
    "PostgreSQL's programs are missing: install `postgresql`, or pass --without-postgres";

/// The password of every role of a cluster.
pub const PASSWORD: &str = "cluster-canary-0123456789";

/// A running server with one database, `shop`. It ends when this is dropped.
#[derive(Debug)]
pub struct Cluster {
    directory: TempDir,
    programs: PathBuf,
    templates: PathBuf,
    port: u16,
}

impl Cluster {
    /// Starts a server that speaks without TLS. `templates` is a directory that outlives the test.
    ///
    /// # Panics
    ///
    /// When PostgreSQL's programs are missing or do not work, like everything here.
    #[must_use]
    pub fn start(templates: impl Into<PathBuf>) -> Self {
        Self::start_with(templates.into(), "fsync = off\n", false)
    }

    /// Starts a server that keeps what it acknowledged whatever happens to it.
    #[must_use]
    pub fn start_durable(templates: impl Into<PathBuf>) -> Self {
        Self::start_with(templates.into(), "fsync = on\n", false)
    }

    /// Starts a server that speaks TLS with a certificate that nobody signed, and nothing else.
    #[must_use]
    pub fn start_with_tls(templates: impl Into<PathBuf>) -> Self {
        let tls = "ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\n";
        Self::start_with(templates.into(), &format!("fsync = off\n{tls}"), true)
    }

    fn start_with(templates: PathBuf, settings: &str, is_encrypted: bool) -> Self {
        let directory = TempDir::new().expect("a directory");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a free port").port();
        let cluster = Self { directory, programs: programs(), templates, port };
        if is_root() {
            chown(cluster.directory.path(), Some(NOBODY), Some(NOBODY)).expect("a new owner");
        }
        let data = cluster.data();
        cluster.copy_template();
        if is_encrypted {
            cluster.sign_own_certificate();
            let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
            std::fs::write(data.join("pg_hba.conf"), rules).expect("rules");
        }
        let sockets = cluster.directory.path().display();
        let own = format!(
            "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{sockets}'\n\
             max_connections = 40\nshared_buffers = 16MB\n{settings}"
        );
        std::fs::write(data.join("postgresql.auto.conf"), own).expect("settings");
        cluster.resume();
        cluster.execute_in("postgres", "CREATE DATABASE shop");
        cluster
    }

    /// Starts the server again after [`Self::crash`].
    pub fn resume(&self) {
        let log = self.directory.path().join("log");
        let mut start = self.program("pg_ctl");
        start.args(["start", "-w", "-s", "-D"]).arg(self.data()).arg("-l").arg(log);
        self.run(start.stdout(Stdio::null()).stderr(Stdio::null()));
    }

    /// Ends the server as a crash would: nothing is finished, no connection is told.
    pub fn crash(&self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "-w", "-s", "-m", "immediate", "-D"]).arg(self.data());
        self.run(&mut stop);
    }

    /// Returns the port it listens at on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Takes a copy of a cluster that is made once for all tests: making one takes seconds.
    fn copy_template(&self) {
        let version = self.programs.parent().and_then(Path::file_name).unwrap_or_default();
        let template = self.templates.join(format!("postgres-{}", version.display()));
        let lock = File::create(template.with_extension("lock")).expect("a lock");
        lock.lock().expect("a lock");
        if !template.exists() {
            self.make(&self.data());
            let part = template.with_extension("part");
            let _ = std::fs::remove_dir_all(&part);
            self.run(Command::new("cp").arg("-a").arg(self.data()).arg(&part));
            std::fs::rename(part, template).expect("a template");
        } else {
            self.run(Command::new("cp").arg("-a").arg(template).arg(self.data()));
        }
    }

    fn make(&self, data: &Path) {
        let password = self.directory.path().join("password");
        std::fs::write(&password, PASSWORD).expect("a password");
        let mut command = self.program("initdb");
        command.args(["--no-sync", "-U", "postgres", "-E", "UTF8", "--locale=C"]);
        command.args(["--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile"]);
        self.run(command.arg(password).arg("-D").arg(data));
    }

    /// Runs SQL in the database `shop` as its superuser, and returns what it gives.
    pub fn execute(&self, sql: &str) -> String {
        self.execute_in("shop", sql)
    }

    fn execute_in(&self, database: &str, sql: &str) -> String {
        let mut command = self.program("psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"]);
        command.arg(self.directory.path()).args(["-p", &self.port.to_string(), "-d", database]);
        self.run(command.args(["-c", sql]))
    }

    /// Returns the connection string of a role.
    #[must_use]
    pub fn url(&self, role: &str) -> String {
        format!("postgresql://{role}:{PASSWORD}@127.0.0.1:{}/shop", self.port)
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn sign_own_certificate(&self) {
        let mut command = self.as_nobody("openssl");
        command.args(["req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=127.0.0.1"]);
        command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout"]);
        command.arg(self.data().join("server.key")).arg("-out").arg(self.data().join("server.crt"));
        self.run(&mut command);
    }

    /// Returns a program of this server's version, to be run as its owner, without arguments.
    #[must_use]
    pub fn program(&self, name: &str) -> Command {
        self.as_nobody(self.programs.join(name))
    }

    fn as_nobody(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.directory.path()).env("HOME", self.directory.path());
        command.env("LC_ALL", "C").stdin(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    #[track_caller]
    fn run(&self, command: &mut Command) -> String {
        let output = command.output().unwrap_or_else(|_| panic!("{MISSING}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let mut stop = self.program("pg_ctl");
        stop.args(["stop", "-w", "-s", "-m", "immediate", "-D"]).arg(self.data());
        let _ = stop.output();
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the directory of the newest server that is installed.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.path()).max_by_key(|path| number(path));
    let from_path = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).find(|folder| folder.join("initdb").is_file())
    };
    newest.map(|path| path.join("bin")).or_else(from_path).unwrap_or_else(|| panic!("{MISSING}"))
}
