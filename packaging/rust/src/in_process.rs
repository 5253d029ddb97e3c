//! The server in this process, by libdynalith: no port and no second process. Clients of the AWS SDK get an HTTP client that sends nothing.
//!
//! ```ignore
//! let tables = dynalith::in_process::tables(); // this test's own, in the instance that all tests of the binary share
//! let config = Config::builder().http_client(tables.http_client()); // and all else as for a server
//! ```
use crate::fail;
use std::fmt::{Debug, Formatter};
use std::io::Result;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

mod http_client;
mod library;
mod threads;
pub use http_client::HttpClient;

struct Shared {
    library: library::Library,
    threads: Arc<threads::Threads>,
    is_signed: bool, // signatures are checked
    may_wait: AtomicBool, // a call may wait: for a disk, for a delay of a fault rule, for another request
    brief_calls: AtomicU64,
}

/// Options with which the data is in memory and no call waits.
const OPTIONS_BRIEF: [&str; 6] = ["--in-memory", "--auth", "--throughput", "--ttl-delay", "--ttl-period", "--insight"];
/// The endpoints under /_dynalith/ that make no later call wait.
const ENDPOINTS_BRIEF: [&str; 5] = ["reset", "clock", "checkpoints", "tables", "throughput"];

impl Shared {
    /// Before an endpoint is called that changes something.
    fn note_change(&self, path: &str) {
        let name = path.trim_start_matches("/_dynalith/").split(['/', '?']).next().unwrap_or_default();
        if !ENDPOINTS_BRIEF.contains(&name) {
            self.may_wait.store(true, Ordering::SeqCst);
        }
    }
}

/// An instance, which no other one sees. It ends with the last of its values, namespaces and clients, or by `close()`.
#[derive(Clone)]
pub struct InProcess(Arc<Shared>);

impl Debug for InProcess {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        write!(to, "dynalith::in_process::InProcess")
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A command line as the options of libdynalith: {"--ttl-delay": "60"}. One without a value is a switch.
fn options_of(arguments: &[&str]) -> Result<Vec<(String, Option<String>)>> {
    let mut options = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        if !argument.starts_with("--") {
            return fail(format!("{argument:?} is not an option"));
        }
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (*argument, rest.next_if(|next| !next.starts_with("--")).copied()),
        };
        options.push((name.to_string(), value.map(str::to_string)));
    }
    Ok(options)
}

impl InProcess {
    /// In memory, unless the options say otherwise: the server's, as on its command line.
    pub fn open(options: &[&str]) -> Result<InProcess> {
        let options = options_of(options)?;
        let is_signed = options.iter().any(|(name, value)| name == "--auth" && value.as_deref() != Some("off"));
        let members: Vec<String> = options.iter().map(|(name, value)| format!("{}: {}", quoted(name), value.as_deref().map_or("true".to_string(), quoted))).collect();
        let library = library::Library::open(&format!("{{{}}}", members.join(", ")))?;
        let may_wait = AtomicBool::new(!options.iter().all(|(name, _)| OPTIONS_BRIEF.contains(&name.as_str())));
        Ok(InProcess(Arc::new(Shared { library, threads: Arc::default(), is_signed, may_wait, brief_calls: AtomicU64::new(0) })))
    }

    /// Credentials and region of the SDK's client say whose its tables are.
    pub fn http_client(&self) -> HttpClient {
        HttpClient { shared: self.0.clone(), who: None }
    }

    /// Tables of its own; `account` has 12 digits.
    pub fn namespace(&self, account: &str) -> Namespace {
        let place = crate::Place::Here(self.clone());
        Namespace { tables: crate::Namespace { place, account: account.to_string(), region: "us-east-1".to_string() }, instance: self.clone() }
    }

    /// What it has logged, from that byte on: lines of JSON.
    pub fn log(&self, start: u64) -> String {
        self.0.library.log(start)
    }

    /// Waits for the calls under way. Later ones fail.
    pub fn close(&self) {
        self.0.library.close();
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Result<String> {
        if method != "GET" {
            self.0.note_change(path);
        }
        let answer = self.0.library.send(&library::Request { method, path, headers: Vec::new(), body: body.as_bytes(), access_key: None, region: None })?;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        match answer.status {
            200 => Ok(text),
            _ => fail(format!("{method} {path}: {text}")),
        }
    }
}

/// The tables of an account in a region. Namespaces of one instance do not see each other.
#[derive(Clone, Debug)]
pub struct Namespace {
    tables: crate::Namespace,
    instance: InProcess,
}

impl std::ops::Deref for Namespace {
    type Target = crate::Namespace;

    fn deref(&self) -> &crate::Namespace {
        &self.tables
    }
}

impl Namespace {
    /// For `http_client()` of the SDK's configuration. Its requests mean these tables, signed or not, unless the option --auth asks for signatures.
    pub fn http_client(&self) -> HttpClient {
        let who = (!self.instance.0.is_signed).then(|| Arc::new((self.account().to_string(), self.region().to_string())));
        HttpClient { who, ..self.instance.http_client() }
    }

    /// Makes the tables and items of a file or a folder, as `dynalith apply`.
    pub fn apply(&self, path: impl AsRef<Path>) -> Result<()> {
        self.instance.0.library.apply(path.as_ref(), self.account(), self.region())
    }
}

/// Tables of a test, taken away when it ends. Where it panics, what was logged meanwhile is printed.
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
            crate::print_log(&self.namespace.instance.log(self.log_start));
        }
        let _ = self.namespace.reset();
    }
}

/// Tables of its own for a test, in the one instance of the test binary.
pub fn tables() -> Tables {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static INSTANCE: OnceLock<InProcess> = OnceLock::new();
    let instance = INSTANCE.get_or_init(|| InProcess::open(&[]).unwrap_or_else(|error| panic!("{error}")));
    let log_start = instance.0.library.log_size();
    Tables { namespace: instance.namespace(&crate::account(COUNT.fetch_add(1, Ordering::Relaxed) + 1)), log_start }
}
