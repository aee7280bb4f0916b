//! Programs that a test starts.

use std::{path::Path, process::Command};

/// Writes a program by way of a shell: a file that this process itself holds open for writing while another test forks
/// cannot be started (`ETXTBSY`).
#[allow(clippy::disallowed_methods, reason = "a test that starts a shell")]
pub fn write_program(path: &Path, text: &str, mode: u32) {
    let script = r#"rm -f "$2" && printf %s "$1" > "$2" && chmod "$3" "$2""#;
    let mode = format!("{mode:o}");
    let mut shell = Command::new("/bin/sh");
    let ended = shell.args(["-c", script, "sh", text]).arg(path).arg(mode).status().unwrap();
    assert!(ended.success(), "{}: {ended}", path.display());
}
