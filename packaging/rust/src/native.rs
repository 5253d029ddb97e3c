//! libdynalith of the crate for this machine; packaging/make-crate writes a row for each.
compile_error!("this copy of the crate dynalith was made without libdynalith: leave out its feature in-process");
