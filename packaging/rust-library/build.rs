//! Links with the archive beside this file. libraries.txt names what is not in it.
fn main() {
    println!("cargo:rustc-link-search=native={}", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    println!("cargo:rustc-link-lib=static=dynalith");
    for name in include_str!("libraries.txt").split_whitespace() {
        println!("cargo:rustc-link-lib={name}");
    }
    for file in ["build.rs", "libdynalith.a", "libraries.txt"] {
        println!("cargo:rerun-if-changed={file}");
    }
}
