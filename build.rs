//! Asks the linker for a smaller program that starts sooner. Hooks start it several times at each commit, and what
//! the start reads, relocates and maps is most of what they cost.
//!
//! Only for the release program on Linux with the GNU C library, where every common linker knows these options.
//! Without position independence there are no relocations of its own to apply (0.05 ms of 1 ms, 190 kB). Unwind
//! tables (half a megabyte) serve backtraces alone, and a stripped program that aborts on panic has none to show;
//! the compiler writes them all the same, and so does the C compiler, hence they are dropped at the link. Then `libgcc_s`
//! has nothing to do either, and `build/stand_ins.c` stands in for it, and for what else a start does in vain. Functions of
//! equal code become one where the linker can do that (lld, which rustc brings, mold and gold; 150 kB).

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
    if folds(std::path::Path::new(&out)) {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
    Ok(())
}

const FOLD: &str = "-Wl,--icf=all";

/// Whether the linker folds functions: the only way to know is to have it link something.
fn folds(out: &std::path::Path) -> bool {
    let source = out.join("nothing.rs");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let (Some(rustc), Some(target), Ok(())) =
        (std::env::var_os("RUSTC"), std::env::var_os("TARGET"), std::fs::write(&source, "fn main() {}\n"))
    else {
        return false;
    };
    let mut link = std::process::Command::new(rustc);
    link.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        let mut flag = std::ffi::OsString::from("-Clinker=");
        flag.push(linker);
        link.arg(flag);
    }
    link.arg("--target").arg(target).arg(format!("-Clink-arg={FOLD}"));
    let linked = link.arg("-o").arg(out.join("nothing")).arg(&source).output();
    linked.is_ok_and(|linked| linked.status.success())
}
