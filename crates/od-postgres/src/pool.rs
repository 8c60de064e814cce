//! Connections: a few for reading, a few for writing, and a pause after a try that failed.
//!
//! Written here and not taken from deadpool-postgres: its way to open a connection reports nothing but
//! the client's own errors, and ours checks the address before it connects. What would be left of it is a
//! semaphore and a list.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use od_core::limits::{COMMIT_WAIT, POSTGRES_CONNECT, STORE_CONNECTIONS, STORE_READ, STORE_RETRY};
use od_pgconn::{Tls, dial};
use od_ports::store::{Outcome, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row};

use crate::address::{PasswordSources, StoreAddress};
use crate::fault::{Fault, unavailable};

/// A value of a statement, and its type: nothing is prepared under a name, so that a pooler may hand the
/// next transaction to another session.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// The connections of one process to its store.
#[derive(Debug)]
pub(crate) struct Pool {
    address: StoreAddress,
    passwords: PasswordSources,
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
    idle: Mutex<Vec<Client>>,
    breaker: Mutex<Breaker>,
}

/// Keeps tries apart while the server cannot be reached.
#[derive(Debug, Default)]
struct Breaker {
    pause: Option<Duration>,
    not_before: Option<Instant>,
}

impl Pool {
    pub(crate) fn new(address: StoreAddress, passwords: PasswordSources) -> Arc<Self> {
        let places = || Arc::new(Semaphore::new(STORE_CONNECTIONS.max()));
        let (idle, breaker) = (Mutex::default(), Mutex::default());
        Arc::new(Self { address, passwords, reading: places(), writing: places(), idle, breaker })
    }

    pub(crate) const fn address(&self) -> &StoreAddress {
        &self.address
    }

    /// Returns whether the last try failed.
    pub(crate) fn is_down(&self) -> bool {
        self.breaker().pause.is_some()
    }

    /// Runs one statement that reads. A connection that broke while nobody used it is replaced once.
    pub(crate) async fn rows(
        self: &Arc<Self>,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        for _ in 0..2 {
            let (conn, is_new) = self.connect(&self.reading).await?;
            match conn.rows(sql, params).await {
                Err(Fault::Lost) if !is_new => self.forget_idle(),
                Err(Fault::Lost) => break,
                other => return other.map_err(StoreError::from),
            }
        }
        Err(unavailable("the connection broke off", Outcome::NotDone))
    }

    /// Returns a connection for a transaction that writes.
    pub(crate) async fn writer(self: &Arc<Self>) -> Result<Conn, StoreError> {
        Ok(self.connect(&self.writing).await?.0)
    }

    /// Closes the connections that nobody uses: what broke one has broken all.
    pub(crate) fn forget_idle(&self) {
        self.idle().clear();
    }

    async fn connect(
        self: &Arc<Self>,
        places: &Arc<Semaphore>,
    ) -> Result<(Conn, bool), StoreError> {
        self.admit()?;
        let place = timeout(COMMIT_WAIT.duration(), Arc::clone(places).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Err(unavailable("every connection is in use", Outcome::NotDone));
        };
        let known = {
            let mut idle = self.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let is_new = known.is_none();
        let client = match known {
            Some(client) => client,
            None => self.open().await?,
        };
        let state = AtomicBool::new(true);
        let conn =
            Conn { client: Some(client), pool: Arc::clone(self), is_clean: state, _place: place };
        Ok((conn, is_new))
    }

    async fn open(&self) -> Result<Client, StoreError> {
        let opened = timeout(POSTGRES_CONNECT.duration(), self.open_now()).await;
        let opened = opened.unwrap_or_else(|_| {
            Err(unavailable("the server did not accept the connection in time", Outcome::NotDone))
        });
        match opened {
            Ok(client) => {
                *self.breaker() = Breaker::default();
                Ok(client)
            }
            Err(error) => {
                self.trip();
                Err(error)
            }
        }
    }

    async fn open_now(&self) -> Result<Client, StoreError> {
        let connection = self.address.connection();
        let address = connection.address();
        let refused = |reason: String| unavailable(reason, Outcome::NotDone);
        let stream = dial(address).await.map_err(|err| refused(err.to_string()))?;
        let tls = Tls::new(address).map_err(|err| refused(err.to_string()))?;
        let mut config = Config::new();
        config.user(connection.user()).dbname(address.database()).application_name("od");
        config.ssl_mode(tls.mode());
        let password = self.passwords.find(&self.address);
        if let Some(password) = password.map_err(|err| refused(err.to_string()))? {
            config.password(password);
        }
        let (client, driver) = config
            .connect_raw(stream, tls)
            .await
            .map_err(|err| refused(Fault::of_login(&err, address)))?;
        tokio::spawn(async move {
            // How it ended is told to whoever waits for an answer.
            let _ = driver.await;
        });
        Ok(client)
    }

    fn admit(&self) -> Result<(), StoreError> {
        match self.breaker().not_before {
            Some(until) if Instant::now() < until => {
                Err(unavailable("it did not answer a moment ago", Outcome::NotDone))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Notes a failure: the next try waits, each time twice as long.
    pub(crate) fn trip(&self) {
        let mut breaker = self.breaker();
        let longest = STORE_RETRY.duration();
        let pause = breaker.pause.map_or(longest / 50, |pause| (pause * 2).min(longest));
        *breaker = Breaker { pause: Some(pause), not_before: Some(Instant::now() + pause) };
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in use. It goes back when it is dropped, unless a transaction is open on it or it broke:
/// then it is closed, and the server rolls back.
#[derive(Debug)]
pub(crate) struct Conn {
    client: Option<Client>,
    pool: Arc<Pool>,
    is_clean: AtomicBool,
    _place: OwnedSemaphorePermit,
}

impl Conn {
    /// Runs one statement and returns its rows.
    pub(crate) async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        self.within(STORE_READ.duration(), self.client()?.query_typed(sql, params)).await
    }

    /// Runs one statement of a transaction, which may wait for a lock as long as the server lets it.
    pub(crate) async fn locked_rows(
        &self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Fault> {
        let longest = COMMIT_WAIT.duration() + STORE_READ.duration();
        self.within(longest, self.client()?.query_typed(sql, params)).await
    }

    /// Runs statements that give nothing back, in one message.
    pub(crate) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        let longest = COMMIT_WAIT.duration() + STORE_READ.duration();
        self.within(longest, self.client()?.batch_execute(sql)).await
    }

    /// Says whether a transaction is open, so that the connection is not handed on with it.
    pub(crate) fn set_clean(&self, is_clean: bool) {
        self.is_clean.store(is_clean, Ordering::Relaxed);
    }

    async fn within<T>(
        &self,
        longest: Duration,
        work: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        match timeout(longest, work).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(err)) => {
                let fault = Fault::of(&err);
                if matches!(fault, Fault::Lost) {
                    self.set_clean(false);
                }
                Err(fault)
            }
            Err(_) => {
                // The answer may come later, for nobody: such a connection serves no second question.
                self.set_clean(false);
                self.pool.trip();
                Err(Fault::Lost)
            }
        }
    }

    fn client(&self) -> Result<&Client, Fault> {
        self.client.as_ref().ok_or(Fault::Lost)
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        let is_clean = self.is_clean.load(Ordering::Relaxed);
        if let Some(client) = self.client.take().filter(|client| is_clean && !client.is_closed()) {
            self.pool.idle().push(client);
        }
    }
}
