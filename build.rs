//! The unwinder of gcc becomes a part of the program on Linux with glibc, where the compiler has it as an archive: a shared
//! library less is 8 page faults and 0.1 ms less at each start (docs/performance.md). Where it is missing, `libgcc_s` is used.
#![allow(clippy::disallowed_methods, reason = "a build script is told by variables what it builds for")]

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux")
        || std::env::var("CARGO_CFG_TARGET_ENV").as_deref() != Ok("gnu")
    {
        return;
    }
    let Ok(compiler) = cc::Build::new().try_get_compiler() else { return };
    let Ok(asked) = compiler.to_command().arg("-print-file-name=libgcc_eh.a").output() else { return };
    let said = String::from_utf8_lossy(&asked.stdout);
    // A compiler that does not have it says the bare name.
    let archive = Path::new(said.trim());
    if let Some(dir) = archive.parent().filter(|_| archive.is_absolute() && archive.exists()) {
        println!("cargo::rustc-link-search=native={}", dir.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}
