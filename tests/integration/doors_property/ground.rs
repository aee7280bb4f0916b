//! Where stories begin: a repository with hooks, and nothing recorded yet.

use std::{collections::BTreeMap, sync::Mutex};

use super::story::rules;
use crate::support::{Stage, image::Built};

const CHECK: &str = r#"#!/bin/sh
failing=$(cat ../failing.txt)
case "$failing" in *!*) echo "error: it does not build" >&2; exit 2 ;; esac
echo 1..4
code=0 n=0
for name in a b c d; do
  n=$((n + 1))
  case "$failing" in *$name*) echo "not ok $n - $name"; code=1 ;; *) echo "ok $n - $name" ;; esac
done
exit $code
"#;

/// A repository from before the story, with hooks and an unrecorded commit.
pub fn ground(rules_name: &str) -> Stage {
    static GROUNDS: Mutex<BTreeMap<String, Built>> = Mutex::new(BTreeMap::new());
    let mut grounds = GROUNDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ready = grounds.entry(rules_name.to_owned()).or_insert_with(|| {
        let stage = Stage::new();
        let config = format!(
            "[test]\ncommand = \"sh ../check.sh\"\nhanded_in = \"count\"\n[rules]\nuntested-edit = \"off\"\n{}",
            rules(rules_name)
        );
        stage.write("andon.toml", config);
        for file in ["a.rs", "b.rs"] {
            stage.write(file, text(99));
        }
        stage.steps("echo notes > notes.md; git add .; git commit -qm Before; andon install");
        stage.write("../check.sh", CHECK);
        stage.write("../failing.txt", "");
        Built::of(&stage)
    });
    ready.stage()
}

/// The contents of a file of the code in a state.
pub fn text(state: u32) -> String {
    let body = (0..4).map(|line| format!("    let v{line} = {};\n", state * 7 + line)).collect::<String>();
    format!("fn first() {{}}\n\nfn work() {{\n{body}}}\n\nfn last() {{}}\n")
}
