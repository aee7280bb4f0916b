//! The trees of scripts become commits of a real repository (`git fast-import`), and the facts of each commit are
//! derived from them by the program under test: code fingerprint, diff hash, hunks, paths, nature. So the streams
//! hold what hooks would have recorded, and no fact is made up here.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use andon_core::change::hash::HashOptions;
use andon_core::change::normalize::Normalizer;
use andon_core::change::rewrites::ChangedLines;
use andon_core::domain::{CodeId, CommitId, CommitRecord, Nature, PathRules, Timestamp, TreeId};
use andon_git::{Repo, RepoEnv};
use andon_store::{Fingerprinter, SummedChanges, UnknownKeys, diff, wire::v1::encode_commit};
use serde_json::{Value, json};

use crate::script::{Script, ScriptCommit};
use crate::world::Tree;

/// git in `dir`, without anybody's configuration.
pub fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    let scrubbed = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"];
    scrubbed.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(dir);
    command
}

/// Writes the trees of `scripts` into a new repository in `dir`; the tree of each, by script.
pub fn import(dir: &Path, scripts: &[Script]) -> (Repo, Vec<Vec<TreeId>>) {
    assert!(git(dir).args(["init", "--quiet", "--bare", "."]).status().unwrap().success());
    let marks = dir.join("marks");
    let mut child = git(dir)
        .args(["fast-import", "--quiet", "--force"])
        .arg(format!("--export-marks={}", marks.display()))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufWriter::new(child.stdin.take().unwrap());
    let mut mark = 0;
    for (number, script) in scripts.iter().enumerate() {
        writeln!(out, "reset refs/heads/r{number}").unwrap();
        let mut before = Tree::new();
        for tree in &script.trees {
            mark += 1;
            write!(out, "\ncommit refs/heads/r{number}\nmark :{mark}\ncommitter S <s@x> 1 +0000\ndata 0\n")
                .unwrap();
            changes(&mut out, &before, tree);
            before.clone_from(tree);
        }
    }
    out.flush().unwrap();
    drop(out);
    assert!(child.wait().unwrap().success());
    let mut ids = vec![String::new(); mark + 1];
    for line in std::fs::read_to_string(marks).unwrap().lines() {
        let (mark, id) = line[1..].split_once(' ').unwrap();
        ids[mark.parse::<usize>().unwrap()] = id.to_owned();
    }
    let repo = Repo::open(dir, &RepoEnv::default()).unwrap();
    let mut rest = ids[1..].iter();
    let trees = scripts.iter().map(|script| {
        let own = rest.by_ref().take(script.trees.len());
        own.map(|id| repo.tree_of(CommitId(id.parse().unwrap())).unwrap()).collect()
    });
    let trees = trees.collect();
    (repo, trees)
}

fn changes(out: &mut impl Write, before: &Tree, tree: &Tree) {
    for path in before.keys().filter(|path| !tree.contains_key(*path)) {
        writeln!(out, "D {path}").unwrap();
    }
    for (path, file) in tree {
        if before.get(path).is_some_and(|old| Arc::ptr_eq(old, file) || old == file) {
            continue;
        }
        let mode = if file.executable { "100755" } else { "100644" };
        let mut text = file.lines.join("\n");
        text.push('\n');
        write!(out, "M {mode} inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
    }
}

/// The lines of `script` as an event stream.
pub fn stream(repo: &Repo, rules: &PathRules, script: &Script, trees: &[TreeId]) -> Vec<u8> {
    let normalizer = Normalizer::new(&[]).unwrap();
    let mut fingerprints = Fingerprinter::new(repo, rules);
    let mut codes: BTreeMap<usize, String> = BTreeMap::new();
    let (mut out, mut written) = (Vec::new(), Vec::new());
    for line in &script.lines {
        let mut event = line.event.clone();
        if let Some(tree) = line.code {
            let code =
                codes.entry(tree).or_insert_with(|| fingerprints.of_tree(trees[tree]).unwrap().to_string());
            event["code"] = json!(code);
        }
        if let Some(made) = line.made {
            let lines = describe((repo, rules, &normalizer), trees, (made, &written), &mut event);
            written.insert(0, lines);
            written.truncate(10);
        }
        let text = match &line.raw_args {
            Some(args) => event.to_string().replacen("\"args\":null", &format!("\"args\":{args}"), 1),
            None => event.to_string(),
        };
        out.extend(text.bytes());
        out.push(b'\n');
    }
    out
}

/// What the program says of the change from the one tree to the other.
fn describe(
    (repo, rules, normalizer): (&Repo, &PathRules, &Normalizer),
    trees: &[TreeId],
    (made, before): (ScriptCommit, &[ChangedLines]),
    event: &mut Value,
) -> ChangedLines {
    let reading = HashOptions { rules, normalizer };
    let (old, new) = (Some(trees[made.parent]), trees[made.tree]);
    let changes = diff::changes(repo, reading.rules, old, new).unwrap();
    let SummedChanges { diff: summary, facts: mut change, lines, .. } =
        diff::summarize_changes(repo, &reading, &changes).unwrap();
    change.rewrites = lines.rewrites(before);
    // As the hooks see a commit of ignored paths alone. One that is empty after normalization changed a file.
    if change.nature == Nature::Nothing && summary.files == 0 && trees[made.parent] != new {
        change.nature = Nature::Ignored;
    }
    let record = CommitRecord {
        change: Some(change),
        ..CommitRecord::new(Timestamp(0), trees[made.tree], CodeId([0; 32]), summary)
    };
    let record: Value = serde_json::from_str(&encode_commit(&record, &UnknownKeys::default())).unwrap();
    event["diff"] = record["diff"]["hash"].clone();
    for key in ["empty", "files", "added", "removed", "hunks"] {
        event[key] = record["diff"][key].clone();
    }
    event["change"] = record["change"].clone();
    lines
}
