//! The `andon` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    andon::program::main()
}
