//! A database with the tables, and stores on it as the machines of a team have them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use od_core::ids::ProjectId;
use od_pgconn::cluster::{Cluster, PASSWORD};
use od_ports::contract::sample;
use od_ports::fakes::StillClock;
use od_postgres::{PasswordSources, PgStore, StoreAddress};

/// A server of the test's own, with the tables of od in it.
pub(crate) struct Team {
    pub(crate) cluster: Cluster,
    machines: AtomicU8,
}

impl Team {
    pub(crate) async fn start() -> Self {
        Self::on(Cluster::start(env!("CARGO_TARGET_TMPDIR"))).await
    }

    pub(crate) async fn on(cluster: Cluster) -> Self {
        let team = Self::bare(cluster);
        team.machine().migrate().await.unwrap();
        team
    }

    /// Takes a server as it is.
    pub(crate) const fn bare(cluster: Cluster) -> Self {
        Self { cluster, machines: AtomicU8::new(0) }
    }

    /// Runs SQL that a role may not run; returns what the server said.
    pub(crate) fn refused_as(&self, role: &str, sql: &str) -> String {
        let mut psql = self.cluster.program("psql");
        psql.env("PGPASSWORD", PASSWORD).args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", role]);
        psql.args([
            "-h",
            "127.0.0.1",
            "-p",
            &self.cluster.port().to_string(),
            "-d",
            "shop",
            "-c",
            sql,
        ]);
        let output = psql.output().unwrap();
        assert!(!output.status.success(), "{sql} went through as {role}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Returns the store as another machine has it.
    pub(crate) fn machine(&self) -> PgStore {
        self.machine_at(self.cluster.port(), "postgres")
    }

    pub(crate) fn machine_at(&self, port: u16, role: &str) -> PgStore {
        let address = format!("postgres://{role}@127.0.0.1:{port}/shop");
        let address: StoreAddress = address.parse().unwrap();
        let passwords = PasswordSources { password: Some(PASSWORD.to_owned()), file: None };
        let number = self.machines.fetch_add(1, Ordering::Relaxed);
        PgStore::new(address, passwords, Arc::new(StillClock::at(sample::now())), [number; 16])
    }

    /// Adds a project.
    pub(crate) fn project(&self, id: &str) -> ProjectId {
        self.cluster.execute(&format!(
            "INSERT INTO od.project(id, name, created_at) VALUES ('{id}', '{id}', 0)"
        ));
        id.parse().unwrap()
    }
}
