//! The server of the crate for this machine; packaging/make-crate writes a row for each.
pub(crate) static EMBEDDED: &[u8] = &[];
