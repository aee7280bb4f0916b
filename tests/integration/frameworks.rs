//! The real pre-commit and the real prek. A script, since it needs `PyPI` and builds this package once more.

#![allow(clippy::disallowed_methods, reason = "tests start programs")]

use std::{path::Path, process::Command};

#[test]
#[ignore = "needs PyPI and builds this package with `cargo install`: run by .ci/run"]
fn pre_commit_and_prek_keep_records_right() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frameworks/run.sh");
    let status = Command::new(script).status().unwrap();
    assert!(status.success(), "{status}");
}
