//! Others write notes beside our hooks: `git notes append` reads the notes, and later writes what it read with a line of
//! its own. Whatever it takes away of ours comes back, and nothing of theirs is taken away by us.
//!
//! `ANDON_NOTES_RACE=81 cargo test --test integration notes_race` writes more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{path::Path, process::Command, thread};

use crate::support::Stage;

fn rounds() -> usize {
    std::env::var("ANDON_NOTES_RACE").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

#[test]
fn records_and_remarks_survive_each_other() {
    let stage = Stage::installed();
    stage.write(
        "andon.toml",
        "[test]\ncommand = \"sh check.sh\"\n[rules]\nuntested-edit = \"off\"\niteration-cap = { max = 10000 }\n",
    );
    stage.git(&["commit", "-qam", "Allow untested code"]).ok();
    let first = stage.git(&["rev-parse", "HEAD"]).ok().stdout.trim().to_owned();
    // A second worktree, so that hooks of ours write beside each other too.
    stage.git(&["worktree", "add", "-q", "-b", "other", "../other"]).ok();
    let (dir, other) = (stage.dir().to_path_buf(), stage.root().join("other"));
    let command = stage.command(&dir, "git");
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    let git = |dir: &Path, args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(dir).args(args).env_clear().envs(environment.iter().cloned()).output().unwrap()
    };
    let over = AtomicBool::new(false);
    let commits = |dir: &Path| {
        for number in 0..rounds() {
            std::fs::write(dir.join("code.txt"), format!("state {number} of {}\n", dir.display())).unwrap();
            let out = git(dir, &["commit", "-qam", &format!("Step {number}")]);
            assert!(out.status.success(), "{out:?}");
        }
    };
    let remarks = thread::scope(|scope| {
        let remarks = scope.spawn(|| {
            let (mut kept, mut refused) = (Vec::new(), 0);
            while !over.load(Ordering::Relaxed) {
                let remark = format!("remark-{}-", kept.len());
                let out = git(&dir, &["notes", "--ref=andon", "append", "-m", &remark, &first]);
                // A lock that is held makes git say so: nothing is lost in silence.
                if out.status.success() { kept.push(remark) } else { refused += 1 }
            }
            println!("{} remarks, {refused} refused by git", kept.len());
            kept
        });
        let writers = [scope.spawn(|| commits(&dir)), scope.spawn(|| commits(&other))];
        for writer in writers {
            writer.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        remarks.join().unwrap()
    });
    // The next writer puts all of it back; a reader must see what was edited or dropped.
    stage.git(&["commit", "-q", "--allow-empty", "-m", "The next write"]).ok();
    let shown = stage.git(&["notes", "--ref=andon", "show", &first]).ok().stdout;
    let lost: Vec<&String> = remarks.iter().filter(|remark| !shown.contains(remark.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?} of {}", remarks.len());
    let all = stage.git(&["rev-list", "main", "other"]).ok().stdout;
    let recorded = |commit: &&str| {
        stage.git(&["notes", "--ref=andon", "show", commit]).stdout.contains("andon/commit@1")
    };
    let missing: Vec<&str> = all.lines().filter(|commit| !recorded(commit)).collect();
    assert!(missing.is_empty(), "{} of {} commits have no record", missing.len(), all.lines().count());
}
