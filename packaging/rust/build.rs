//! Finds the server in this crate: bin/dynalith-linux-x86_64 and others, where the crate was packed with them.
fn main() {
    let name = format!("dynalith-{}-{}", std::env::var("CARGO_CFG_TARGET_OS").unwrap(), std::env::var("CARGO_CFG_TARGET_ARCH").unwrap());
    let path = std::path::Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("bin").join(name);
    println!("cargo:rustc-check-cfg=cfg(dynalith_embedded)");
    println!("cargo:rerun-if-changed=build.rs");
    if path.exists() {
        println!("cargo:rustc-cfg=dynalith_embedded");
        println!("cargo:rustc-env=DYNALITH_EMBEDDED={}", path.display());
    }
}
