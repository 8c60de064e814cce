//! A PostgreSQL of the test's own: a cluster in a temporary directory, on a port of its own.

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
pub(crate) const PASSWORD: &str = "cluster-canary-0123456789";

/// A running server with one database, `shop`. It ends when this is dropped.
pub(crate) struct Cluster {
    directory: TempDir,
    programs: PathBuf,
    port: u16,
}

impl Cluster {
    /// Starts a server that speaks without TLS.
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// Starts a server that speaks TLS with a certificate that nobody signed, and nothing else.
    pub(crate) fn start_with_tls() -> Self {
        Self::start_with("ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\n")
    }

    fn start_with(settings: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.expect("a free port").port();
        let cluster = Self { directory, programs: programs(), port };
        if is_root() {
            chown(cluster.directory.path(), Some(NOBODY), Some(NOBODY)).expect("a new owner");
        }
        let data = cluster.data();
        cluster.copy_template();
        if !settings.is_empty() {
            cluster.sign_own_certificate();
            let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
            std::fs::write(data.join("pg_hba.conf"), rules).expect("rules");
        }
        let sockets = cluster.directory.path().display();
        let own = format!(
            "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{sockets}'\n\
             fsync = off\nmax_connections = 20\nshared_buffers = 16MB\n{settings}"
        );
        std::fs::write(data.join("postgresql.auto.conf"), own).expect("settings");
        let log = cluster.directory.path().join("log");
        let mut start = cluster.program("pg_ctl");
        start.args(["start", "-w", "-s", "-D"]).arg(&data).arg("-l").arg(log);
        cluster.run(start.stdout(Stdio::null()).stderr(Stdio::null()));
        cluster.execute_in("postgres", "CREATE DATABASE shop");
        cluster
    }

    /// Takes a copy of a cluster that is made once for all tests: making one takes seconds.
    fn copy_template(&self) {
        let version = self.programs.parent().and_then(Path::file_name).unwrap_or_default();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let template = folder.join(format!("postgres-{}", version.display()));
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
    pub(crate) fn execute(&self, sql: &str) -> String {
        self.execute_in("shop", sql)
    }

    fn execute_in(&self, database: &str, sql: &str) -> String {
        let mut command = self.program("psql");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"]);
        command.arg(self.directory.path()).args(["-p", &self.port.to_string(), "-d", database]);
        self.run(command.args(["-c", sql]))
    }

    /// Returns the connection string of a role.
    pub(crate) fn url(&self, role: &str) -> String {
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

    fn program(&self, name: &str) -> Command {
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
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
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
