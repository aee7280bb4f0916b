//! The `andon` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    keep_freed_memory();
    andon::cli::main()
}

/// glibc gives freed memory back to the kernel above a bound that grows with the largest block ever freed. Without one
/// large block, every object that a hook writes costs a handful of system calls and the same pages over again.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(4 << 20)));
}
