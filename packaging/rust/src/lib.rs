//! A DynamoDB-compatible server for tests. It needs no other crate but the one with this machine's server: requests to its control endpoints are plain HTTP over TCP.
//!
//! ```no_run
//! let tables = dynalith::tables(); // this test's own, in the server that all tests of the binary share
//! println!("{} {}", tables.url(), tables.account());
//! ```
use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::OnceLock;

mod embedded;
#[cfg(feature = "in-process")]
pub mod in_process;
#[cfg(feature = "in-process")]
mod native;
use embedded::EMBEDDED;

/// A server in memory, on a free port of 127.0.0.1. It ends with this value, and with this process, also where that is killed.
pub struct Server {
    child: Child,
    url: String,
    log: File,
}

fn fail<T>(text: String) -> Result<T> {
    Err(Error::new(ErrorKind::Other, format!("dynalith: {text}")))
}

/// The server: DYNALITH_BINARY, the one in this crate, or the first on PATH; and the folder to remove when it has been started.
fn binary() -> Result<(PathBuf, Option<PathBuf>)> {
    if let Some(path) = std::env::var_os("DYNALITH_BINARY") {
        return Ok((path.into(), None));
    }
    if EMBEDDED.is_empty() {
        return Ok(("dynalith".into(), None));
    }
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("dynalith-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder)?;
    let path = folder.join("dynalith");
    std::fs::write(&path, EMBEDDED)?;
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok((path, Some(folder)))
}

/// A file that nobody else sees: it is there as long as it is open.
fn log_file() -> Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("dynalith-{}-{}.log", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let file = File::options().read(true).append(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

fn read_from(log: &File, start: u64) -> Result<String> {
    let mut text = Vec::new();
    let mut part = [0; 65536];
    loop {
        // By position: the server writes at the end, and other tests read.
        match std::os::unix::fs::FileExt::read_at(log, &mut part, start + text.len() as u64)? {
            0 => break,
            n => text.extend_from_slice(&part[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

impl Server {
    pub fn start() -> Result<Server> {
        Server::with_options(&[])
    }

    /// With options of the server, as on its command line.
    pub fn with_options(options: &[&str]) -> Result<Server> {
        let (path, folder) = binary()?;
        let log = log_file()?;
        let started = Command::new(&path)
            .args(["--in-memory", "--port", "0", "--exit-with-parent"])
            .args(options)
            .stdin(Stdio::piped()) // its end is the server's
            .stdout(Stdio::piped())
            .stderr(log.try_clone()?)
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => return fail(format!("{}: {error}", path.display())),
        };
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line)?;
        if let Some(folder) = folder {
            std::fs::remove_dir_all(folder)?;
        }
        if line.is_empty() {
            let status = child.wait()?;
            return fail(format!("the server ended with {status}: {}", read_from(&log, 0)?.trim()));
        }
        let server = Server { child, url: line.trim().to_string(), log };
        request(&server.url, "GET", "/_dynalith/health", "")?;
        Ok(server)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What the server has written to its log, from that byte on.
    pub fn log(&self, start: u64) -> Result<String> {
        read_from(&self.log, start)
    }

    /// Tables of its own; `account` has 12 digits, and is the access key of those who use it.
    pub fn namespace(&self, account: &str) -> Namespace {
        Namespace { place: Place::Server(self.url.clone()), account: account.to_string(), region: "us-east-1".to_string() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Where a namespace is.
#[derive(Clone, Debug)]
enum Place {
    Server(String), // its URL
    #[cfg(feature = "in-process")]
    Here(in_process::InProcess),
}

/// The tables of an account in a region. Namespaces of one server do not see each other.
#[derive(Clone, Debug)]
pub struct Namespace {
    place: Place,
    account: String,
    region: String,
}

impl Namespace {
    /// For `endpoint_url` of the SDK's configuration.
    pub fn url(&self) -> &str {
        match &self.place {
            Place::Server(url) => url,
            #[cfg(feature = "in-process")]
            Place::Here(_) => "http://localhost", // which nobody asks
        }
    }

    /// The access key to sign with; any secret will do.
    pub fn account(&self) -> &str {
        &self.account
    }

    pub fn region(&self) -> &str {
        &self.region
    }

    /// Calls an endpoint under /_dynalith/ with a body of JSON, or none, and returns the answer.
    pub fn control(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let path = format!("/_dynalith/{path}?account={}&region={}", self.account, self.region);
        match &self.place {
            Place::Server(url) => request(url, method, &path, body),
            #[cfg(feature = "in-process")]
            Place::Here(instance) => instance.request(method, &path, body),
        }
    }

    pub fn reset(&self) -> Result<()> {
        self.control("POST", "reset", "").map(|_| ())
    }

    pub fn checkpoint(&self, name: &str) -> Result<()> {
        self.control("POST", "checkpoints", &format!("{{\"name\": \"{name}\"}}")).map(|_| ())
    }

    pub fn rollback(&self, name: &str) -> Result<()> {
        self.control("POST", &format!("checkpoints/{name}/rollback"), "").map(|_| ())
    }

    /// Rules by which requests fail: an array of JSON.
    pub fn faults(&self, rules: &str) -> Result<()> {
        self.control("PUT", "faults", &format!("{{\"rules\": {rules}}}")).map(|_| ())
    }

    /// Turns the clock: {"advance": "90m"}.
    pub fn clock(&self, turn: &str) -> Result<()> {
        self.control("POST", "clock", turn).map(|_| ())
    }
}

/// Tables of a test, taken away when it ends. Where it panics, what the server logged meanwhile is printed.
pub struct Tables {
    namespace: Namespace,
    log_start: u64,
}

impl std::ops::Deref for Tables {
    type Target = Namespace;

    fn deref(&self) -> &Namespace {
        &self.namespace
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if std::thread::panicking() {
            print_log(&shared().log(self.log_start).unwrap_or_default());
        }
        let _ = self.namespace.reset();
    }
}

fn print_log(text: &str) {
    if !text.is_empty() {
        eprintln!("log of dynalith:\n{text}");
    }
}

/// The account of the test of that number.
fn account(number: u64) -> String {
    format!("{number:012}")
}

// Statics are not dropped: the server ends when the process has, since its standard input does.
fn shared() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start().unwrap_or_else(|error| panic!("{error}")))
}

/// Tables of its own for a test, in the one server of the test binary.
pub fn tables() -> Tables {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let server = shared();
    let log_start = server.log(0).map_or(0, |text| text.len() as u64);
    Tables { namespace: server.namespace(&account(COUNT.fetch_add(1, Ordering::Relaxed) + 1)), log_start }
}

fn request(url: &str, method: &str, path: &str, body: &str) -> Result<String> {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host)?;
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    if head.split(' ').nth(1) != Some("200") {
        return fail(format!("{method} {path}: {body}"));
    }
    Ok(body.to_string())
}
