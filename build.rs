//! Asks the linker for a smaller program that starts sooner. Hooks start it several times at each commit, and what
//! the start reads, relocates and maps is most of what they cost.
//!
//! Only for the release program on Linux with the GNU C library, where every common linker knows these options.
//! Without position independence there are no relocations of its own to apply (0.05 ms of 1 ms, 190 kB). Unwind
//! tables (half a megabyte) serve backtraces alone, and a stripped program that aborts on panic has none to show;
//! the compiler writes them all the same, and so does the C compiler, hence they are dropped at the link. Then `libgcc_s`
//! has nothing to do either, and `build/stand_ins.c` stands in for it, and for what else a start does in vain.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "how a build script and cargo speak")]

/// Drops the tables; everything else stays where the linker puts it by itself.
const SCRIPT: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) } } INSERT AFTER .text;\n";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/stand_ins.c");
    let is = |name: &str, wanted: &str| std::env::var_os(name).is_some_and(|value| value == wanted);
    let gnu_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let Some(out) = std::env::var_os("OUT_DIR").filter(|_| gnu_linux && is("PROFILE", "release")) else {
        return Ok(());
    };
    let script = std::path::Path::new(&out).join("without-unwind-tables.ld");
    std::fs::write(&script, SCRIPT)?;
    println!("cargo::rustc-link-arg-bins=-no-pie");
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr");
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());
    // As objects: a library would be asked before anything needs it.
    for object in cc::Build::new().file("build/stand_ins.c").cargo_metadata(false).compile_intermediates() {
        println!("cargo::rustc-link-arg-bins={}", object.display());
    }
    Ok(())
}
