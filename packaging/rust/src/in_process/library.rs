//! An instance of libdynalith: see its header, dynalith.h.
use crate::{fail, native};
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::io::Result;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, RwLock};

#[repr(C)]
struct Header {
    name: *const c_char,
    value: *const c_char,
}

#[repr(C)]
struct RawRequest {
    size: usize,
    method: *const c_char,
    path: *const c_char,
    target: *const c_char,
    access_key: *const c_char,
    region: *const c_char,
    body: *const u8,
    body_size: usize,
    headers: *const Header,
    header_count: usize,
}

#[repr(C)]
struct RawAnswer {
    status: c_int,
    crc32: u32,
    request_id: *const c_char,
    content_type: *const c_char,
    body: *const u8,
    body_size: usize,
    headers: *const Header,
    header_count: usize,
}

/// Without an access key and a region a signature among the headers says whose tables are meant.
pub(super) struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub headers: Vec<(&'a str, &'a str)>,
    pub body: &'a [u8],
    pub access_key: Option<&'a str>,
    pub region: Option<&'a str>,
}

/// A status of 0: a fault rule closes the connection in place of an answer.
pub(super) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

type Log = Mutex<Vec<u8>>;

/// Any thread may call any function at any time.
pub(super) struct Library {
    instance: RwLock<Instance>, // written by close() alone
    log: Box<Log>,              // libdynalith has its address until the instance is closed
}

struct Instance(*mut c_void);

// SAFETY: libdynalith's functions may be called from any thread at any time.
unsafe impl Send for Instance {}
unsafe impl Sync for Instance {}

extern "C" fn write_log(context: *mut c_void, _level: c_int, line: *const c_char, size: usize) {
    // SAFETY: the context is the Log of a Library whose instance is open, the line has that size.
    let (log, line) = unsafe { (&*(context as *const Log), std::slice::from_raw_parts(line as *const u8, size)) };
    let mut text = log.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    text.extend_from_slice(line);
    text.push(b'\n');
}

/// Null for null.
unsafe fn text_at(at: *const c_char) -> Option<String> {
    (!at.is_null()).then(|| CStr::from_ptr(at).to_string_lossy().into_owned())
}

fn refusal<T>() -> Result<T> {
    // SAFETY: a string that stays until the next call of this thread.
    fail(unsafe { text_at(native::dynalith_error()) }.unwrap_or_default())
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).or_else(|_| fail(format!("{text:?} has a NUL in it")))
}

/// Strings of C, one behind the other.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    starts: Vec<Option<usize>>,
}

impl Texts {
    fn push(&mut self, text: Option<&str>) -> Result<()> {
        if let Some(text) = text.filter(|text| text.as_bytes().contains(&0)) {
            return fail(format!("{text:?} has a NUL in it"));
        }
        self.starts.push(text.map(|_| self.bytes.len()));
        if let Some(text) = text {
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.push(0);
        }
        Ok(())
    }

    /// Valid until the next push().
    fn at(&self, number: usize) -> *const c_char {
        self.starts[number].map_or(null(), |start| self.bytes[start..].as_ptr() as *const c_char)
    }
}

impl Library {
    /// `options` is an object of JSON.
    pub fn open(options: &str) -> Result<Library> {
        let (options, log) = (c_text(options)?, Box::<Log>::default());
        let context = &*log as *const Log as *mut c_void;
        // SAFETY: the log outlives the instance: see close() and drop().
        let instance = unsafe { native::dynalith_open(options.as_ptr(), Some(write_log), context) };
        if instance.is_null() {
            return refusal();
        }
        Ok(Library { instance: RwLock::new(Instance(instance)), log })
    }

    /// What the instance has logged, from that byte on.
    pub fn log(&self, start: u64) -> String {
        let text = self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        String::from_utf8_lossy(text.get(start as usize..).unwrap_or_default()).into_owned()
    }

    pub fn log_size(&self) -> u64 {
        self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).len() as u64
    }

    fn call<T>(&self, run: impl FnOnce(*mut c_void) -> Result<T>) -> Result<T> {
        let instance = self.instance.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        if instance.0.is_null() {
            return fail("the instance is closed".to_string());
        }
        run(instance.0)
    }

    /// Blocks the thread, also for the delay of a fault rule.
    pub fn send(&self, request: &Request) -> Result<Answer> {
        let mut texts = Texts::default();
        for text in [Some(request.method), Some(request.path), request.access_key, request.region] {
            texts.push(text)?;
        }
        let first = texts.starts.len();
        for (name, value) in &request.headers {
            texts.push(Some(name))?;
            texts.push(Some(value))?;
        }
        let header = |i: usize| Header { name: texts.at(first + 2 * i), value: texts.at(first + 2 * i + 1) };
        let headers: Vec<Header> = (0..request.headers.len()).map(header).collect();
        let raw = RawRequest {
            size: std::mem::size_of::<RawRequest>(),
            method: texts.at(0),
            path: texts.at(1),
            target: null(),
            access_key: texts.at(2),
            region: texts.at(3),
            body: request.body.as_ptr(),
            body_size: request.body.len(),
            headers: headers.as_ptr(),
            header_count: headers.len(),
        };
        self.call(|instance| {
            // SAFETY: all that the request refers to lives until the call returns.
            let answer = unsafe { native::dynalith_send(instance, &raw as *const RawRequest as *const c_void) };
            if answer.is_null() {
                return refusal();
            }
            // SAFETY: an answer stays until it is freed.
            unsafe {
                let read = read_answer(&*(answer as *const RawAnswer));
                native::dynalith_free(answer);
                Ok(read)
            }
        })
    }

    pub fn apply(&self, path: &Path, access_key: &str, region: &str) -> Result<()> {
        let path = match path.to_str() {
            Some(text) => c_text(text)?,
            None => return fail(format!("{} is not UTF-8", path.display())),
        };
        let (access_key, region) = (c_text(access_key)?, c_text(region)?);
        // SAFETY: strings that live until the call returns.
        self.call(|instance| match unsafe { native::dynalith_apply(instance, path.as_ptr(), access_key.as_ptr(), region.as_ptr()) } {
            0 => Ok(()),
            _ => refusal(),
        })
    }

    /// Waits for the calls under way; later ones fail.
    pub fn close(&self) {
        let mut instance = self.instance.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        let open = std::mem::replace(&mut instance.0, null_mut());
        // SAFETY: nobody else has the instance any more. NULL is fine.
        unsafe { native::dynalith_close(open) };
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.close();
    }
}

unsafe fn read_answer(answer: &RawAnswer) -> Answer {
    let mut headers = Vec::with_capacity(answer.header_count + 4);
    let mut put = |name: String, value: Option<String>| headers.extend(value.map(|value| (name, value)));
    for i in 0..answer.header_count {
        let header = &*answer.headers.add(i);
        put(text_at(header.name).unwrap_or_default(), text_at(header.value));
    }
    put("x-amzn-requestid".to_string(), text_at(answer.request_id));
    put("x-amz-crc32".to_string(), Some(answer.crc32.to_string()));
    put("content-type".to_string(), text_at(answer.content_type));
    put("content-length".to_string(), Some(answer.body_size.to_string()));
    let body = match answer.body_size {
        0 => Vec::new(),
        size => std::slice::from_raw_parts(answer.body, size).to_vec(),
    };
    Answer { status: answer.status as u16, headers, body }
}
