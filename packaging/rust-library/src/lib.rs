//! libdynalith for the crate dynalith, which knows what these functions take.
use std::ffi::{c_char, c_int, c_void};

pub type Log = extern "C" fn(context: *mut c_void, level: c_int, line: *const c_char, size: usize);

extern "C" {
    pub fn dynalith_open(options: *const c_char, log: Option<Log>, context: *mut c_void) -> *mut c_void;
    pub fn dynalith_send(instance: *mut c_void, request: *const c_void) -> *mut c_void;
    pub fn dynalith_apply(instance: *mut c_void, path: *const c_char, access_key: *const c_char, region: *const c_char) -> c_int;
    pub fn dynalith_free(answer: *mut c_void);
    pub fn dynalith_close(instance: *mut c_void);
    pub fn dynalith_error() -> *const c_char;
}
