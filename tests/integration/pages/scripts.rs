//! The `sh` and `bash` blocks of the pages are run, each in a repository of its own: a branch with tested commits ahead of a
//! remote. What cannot be run there is named with the reason. The blocks of docs/cli/ are lists of command lines: see
//! [`super::examples`].

use std::path::Path;

use super::{blocks, pages};
use crate::support::{Stage, andon_path, image::built};

/// Parts of blocks that are not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo install", "compiles Andon; the gate does"),
    ("cargo run -- demo", "compiles Andon; the gate does, and tests/integration runs the demo"),
    ("packaging/build.sh", "makes packages; packaging/test.sh does"),
    ("verify-commit refs/andon/ledger/WRITER", "needs a signing key; tests/integration/witness.rs has one"),
];

/// Parts of blocks that something must be there for, with the commands that put it there.
const BEFORE: &[(&str, &str)] = &[
    ("ANDON_SKIP=", "echo changed > code.txt && git add ."),
    ("events.jsonl", "echo '{\"type\":\"turn_start\",\"node\":\"coder\"}' > events.jsonl"),
    ("PROMPT.md", "echo 'Go on.' > PROMPT.md"),
];

/// Programs that the pages start and that are not Andon's: each in place of the real one.
const STAND_INS: &[(&str, &str)] = &[
    ("claude", "#!/bin/sh\nandon stop --reason 'enough for today'\n"),
    (
        "pytest",
        "#!/bin/sh\necho '<testsuite tests=\"2\"><testcase name=\"a\"/><testcase name=\"b\"/></testsuite>' > \"${1#*=}\"\n",
    ),
    ("curl", "#!/bin/sh\nexit 0\n"),
];

/// Three tested commits, the last two of them ahead of the remote and of `main`.
pub(super) fn ground() -> Stage {
    built!(build())
}

fn build() -> Stage {
    let stage = Stage::installed();
    for (name, text) in STAND_INS {
        stage.write(&format!("../bin/{name}"), text);
    }
    let (bin, program) = (stage.root().join("bin"), andon_path());
    let folders = [bin.to_str().unwrap(), program.parent().unwrap().to_str().unwrap()];
    stage.set("PATH", &format!("{}:{}", folders.join(":"), std::env::var("PATH").unwrap()));
    let run = |script: &str| stage.run_in(stage.dir(), "bash", &["-ec", script], None).ok();
    run("chmod +x ../bin/* && git init -q --bare -b main ../remote.git");
    run("git remote add origin ../remote.git && git push -q origin main && git switch -q -c topic");
    // The address of a fork on the pages leads to the same remote.
    run("git config url.../remote.git.insteadOf https://github.com/CONTRIBUTOR/PROJECT.git");
    for text in ["one\n", "two\n"] {
        stage.iterate(text, &["ok a", "ok b"], "Work").ok();
    }
    run("git push -q origin topic");
    stage
}

/// Why a block is not run.
fn reason(text: &str) -> Option<&'static str> {
    NOT_RUN.iter().find(|(part, _)| text.contains(part)).map(|(_, why)| *why)
}

fn run(page: &Path, text: &str) {
    let stage = ground();
    for (_, before) in BEFORE.iter().filter(|(part, _)| text.contains(part)) {
        stage.run_in(stage.dir(), "bash", &["-ec", before], None).ok();
    }
    let out = stage.run_in(stage.dir(), "bash", &["-e", "-o", "pipefail", "-c", text], None);
    assert_eq!(out.code, 0, "{}:\n{text}\n{out}", page.display());
}

#[test]
fn scripts_of_the_pages_end_well() {
    let (mut ran, mut left_out) = (0, Vec::new());
    for page in pages() {
        if page.components().any(|part| part.as_os_str() == "cli") {
            continue;
        }
        for block in blocks::read(&std::fs::read_to_string(&page).unwrap()) {
            // Files are written, and run by the walk of their page.
            if block.file.is_some() || !["sh", "bash"].contains(&block.language.as_str()) {
                continue;
            }
            if let Some(why) = reason(&block.text) {
                left_out.push((page.clone(), why));
            } else {
                run(&page, &block.text);
                ran += 1;
            }
        }
    }
    println!("run: {ran}; left out: {left_out:#?}");
    assert!(ran > 15 && left_out.len() < 10, "{ran}, {left_out:?}");
    for (part, why) in NOT_RUN {
        assert!(left_out.iter().any(|(_, left)| left == why), "no page has {part}");
    }
}
