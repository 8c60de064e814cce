//! Processes of their own for what is measured, so that the load generator is not counted with it.

use std::convert::Infallible;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{self, Command, Stdio};

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use od_daemon::{ComposeOptions, LogSink, Port, ServeConfig, serve};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::subject::{Page, Subject};
use crate::areas::chat;

/// First arguments of a child process.
const DAEMON: &str = "--serve-daemon";
const BARE: &str = "--serve-bare";

/// A daemon in a process of its own; it ends when this is dropped.
pub(crate) struct Child {
    process: process::Child,
    pub(crate) api: SocketAddr,
    pub(crate) preview: SocketAddr,
}

impl Child {
    pub(crate) fn spawn(root: &Path) -> Result<Self, String> {
        let (process, lines) = start(DAEMON, &root.display().to_string(), 2)?;
        let [api, preview] = lines.as_slice() else { return Err("no addresses".to_owned()) };
        Ok(Self { process, api: *api, preview: *preview })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Writes a GET to the API.
    pub(crate) fn get(&self, target: &str, bearer: Option<&str>) -> Vec<u8> {
        let bearer = bearer.map(|token| format!("Authorization: Bearer {token}\r\n"));
        format!("GET {target} HTTP/1.1\r\nHost: {}\r\n{}\r\n", self.api, bearer.unwrap_or_default())
            .into_bytes()
    }

    /// Writes a GET of a page by ticket, as a frame of the console sends it.
    pub(super) fn ticketed(&self, subject: &Subject, page: &Page) -> Result<Vec<u8>, String> {
        let ticket = subject.ticket(page)?;
        Ok(format!(
            "GET /preview/{ticket} HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-site\r\n\
             Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n\r\n",
            self.preview
        )
        .into_bytes())
    }
}

/// Bare hyper in a process of its own.
pub(crate) struct Bare {
    process: process::Child,
    pub(crate) address: SocketAddr,
}

impl Bare {
    pub(super) fn spawn(length: usize) -> Result<Self, String> {
        let (process, lines) = start(BARE, &length.to_string(), 1)?;
        let [address] = lines.as_slice() else { return Err("no address".to_owned()) };
        Ok(Self { process, address: *address })
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

fn end(process: &mut process::Child) {
    // Closing its standard input asks it to stop.
    drop(process.stdin.take());
    let _ = process.wait();
}

fn start(
    mode: &str,
    argument: &str,
    lines: usize,
) -> Result<(process::Child, Vec<SocketAddr>), String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut process = Command::new(exe)
        .args([mode, argument])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let out = process.stdout.take().ok_or("no output")?;
    let addresses = BufReader::new(out)
        .lines()
        .take(lines)
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("http://").unwrap_or(&line).parse().ok())
        .collect();
    Ok((process, addresses))
}

/// Runs as a child if the arguments say so; returns whether they did.
pub(crate) fn serve_until_stdin_closes(arguments: &[String]) -> bool {
    let [mode, argument] = arguments else { return false };
    let Ok(runtime) = tokio::runtime::Runtime::new() else { return false };
    match mode.as_str() {
        DAEMON => runtime.block_on(serve_daemon(Path::new(argument))),
        BARE => runtime.block_on(serve_bare(argument.parse().unwrap_or_default())),
        _ => return false,
    }
    true
}

#[expect(clippy::print_stdout, reason = "the parent reads the addresses from here")]
async fn serve_daemon(root: &Path) {
    let config = ServeConfig {
        port: Port::Any,
        // Formatted and written like any other, only not kept.
        access_log: LogSink::Stderr,
        options: ComposeOptions { agents: chat::agents(root), ..ComposeOptions::default() },
        ..ServeConfig::new(root.join("home"), root.join("data"))
    };
    if let Ok(running) = serve(config).await {
        println!("{}\n{}", running.url(), running.preview_url());
        wait_for_parent().await;
        running.shutdown().await;
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads the address from here")]
async fn serve_bare(length: usize) {
    if let Ok((address, _serving)) = serve_bytes(Bytes::from(vec![b'x'; length])).await {
        println!("{address}");
        wait_for_parent().await;
    }
}

async fn wait_for_parent() {
    let waiting = tokio::task::spawn_blocking(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
    });
    let _ = waiting.await;
}

/// Starts the peer: hyper with nothing around it, answering every request with the same bytes.
async fn serve_bytes(body: Bytes) -> io::Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let body = body.clone();
            let service = service_fn(move |_| {
                let body = body.clone();
                async move { Ok::<_, Infallible>(Response::new(Full::new(body))) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok((address, serving))
}

/// Returns the resident memory of a process in bytes.
pub(crate) fn resident_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns how many file descriptors a process has open.
pub(crate) fn open_files(pid: u32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}
