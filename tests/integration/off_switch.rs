//! `ANDON=0` (docs/configuration.md): whatever observes or judges the loop reads nothing and writes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Stage, andon_path};

/// Everything below `dir`: content, mode and times of files, names and times of directories.
fn listing(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(path) = open.pop() {
        let facts = path.symlink_metadata().unwrap();
        let content = if facts.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let changed = facts.ctime() * 1_000_000_000 + facts.ctime_nsec();
        let modified = facts.mtime() * 1_000_000_000 + facts.mtime_nsec();
        if facts.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (content, facts.mode(), modified, changed));
    }
    found
}

/// Every verb that observes or judges, with what it is given.
const VERBS: [(&[&str], &str); 26] = [
    (&["observe", "turn_start"], "{\"node\":\"coder\"}\n"),
    (&["observe", "tool_call"], "{\"tool\":\"Edit\",\"args\":{\"file\":\"a\"},\"result\":\"ok\"}\n"),
    (&["observe", "output"], "{\"text\":\"the same words once more, and once more again\"}\n"),
    (&["observe", "test_run", "--exit-code", "1"], "1 failed\n"),
    (&["observe", "usage"], "{\"context_tokens\":190000}\n"),
    (&["observe", "compaction"], ""),
    (&["observe", "session_start"], ""),
    (&["observe", "verdict"], "{\"approve\":1,\"reject\":2}\n"),
    (&["observe", "turn_end"], "{}\n"),
    (&["observe", "round"], "{}\n"),
    (&["observe", "event"], "no line of JSON\n"),
    (&["tick"], ""),
    (&["tick", "--format", "json"], ""),
    (&["context"], ""),
    (&["context", "--brief"], ""),
    (&["context", "--gate"], ""),
    (&["complete"], ""),
    (&["complete", "--format", "json"], ""),
    (&["round", "open"], "{}\n"),
    (&["hook", "pre-commit"], ""),
    (&["hook", "prepare-commit-msg", "message"], ""),
    (&["hook", "post-commit"], ""),
    (&["--color", "never", "hook", "post-commit"], ""),
    (
        &["agent", "hook", "claude", "PreToolUse"],
        "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Edit\"}",
    ),
    (&["agent", "hook", "claude", "Stop"], "{\"hook_event_name\":\"Stop\"}"),
    (&["--color", "never", "agent", "hook", "claude", "Stop"], "{}"),
];

fn each_verb_leaves(stage: &Stage) {
    let before = listing(stage.dir());
    let quiet = |args: &[&str], input: &str| {
        let out = stage.run_in(stage.dir(), andon_path(), args, Some(input.as_bytes()));
        assert_eq!((out.code, out.all().as_str()), (0, ""), "{args:?}");
        assert_eq!(listing(stage.dir()), before, "{args:?}");
    };
    for (args, input) in VERBS {
        quiet(args, input);
    }
    let out = stage.andon(&["test"]).ok();
    assert_eq!(out.stdout, "");
    out.says("note: ANDON=0 switches andon off: no tests were run").says("run the test command itself");
    assert_eq!(listing(stage.dir()), before);
}

#[test]
fn nothing_is_written_by_any_verb() {
    let stage = Stage::installed();
    stage.write("code.txt", "changed and not tested\n");
    stage.set("ANDON", "0");
    each_verb_leaves(&stage);
}

#[test]
fn nothing_is_read_either() {
    let stage = Stage::installed();
    stage.write(".andon/STOP", "stop\n");
    stage.write("andon.toml", "[this is no configuration\n");
    stage.steps("echo no journal > .git/andon/journal.jsonl; echo no ref > .git/refs/notes/andon");
    stage.set("ANDON", "0");
    each_verb_leaves(&stage);
}
