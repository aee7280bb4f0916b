//! `andon backfill` of a long history: what it leaves in the store, and what happens to it meanwhile.

use std::{collections::BTreeSet, path::Path, process::Stdio};

use insta::assert_snapshot;

use super::bulk::{import, start, step, text};
use crate::support::{Out, Stage};

/// Commits below `old`, beside an empty `main`.
fn old_stage(commits: usize) -> Stage {
    let stage = Stage::new();
    long(&stage, commits);
    stage
}

/// The same, of which the first batch of records is `batch`: it is still packed, and a short history has several.
fn short_stage(commits: usize, batch: usize) -> Stage {
    let stage = old_stage(commits);
    stage.set("ANDON_TEST_BATCH", &batch.to_string());
    stage
}

fn long(stage: &Stage, commits: usize) {
    let work = |number: usize| step("Old", 60, "old.rs", text(number, 9));
    import(stage, "old", None, &(0..commits).map(work).collect::<Vec<_>>());
}

fn notes(stage: &Stage) -> BTreeSet<String> {
    stage.git(&["notes", "--ref=andon", "list"]).ok().stdout.lines().map(str::to_owned).collect()
}

/// Of `git count-objects -v`.
fn count(stage: &Stage, dir: &Path, what: &str) -> u64 {
    let counted = stage.git_in(dir, &["count-objects", "-v"]).ok().stdout;
    let line = counted.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim_start_matches(": ").parse().unwrap()
}

/// Files beside the packs that are none.
fn leftovers(git_dir: &Path) -> Vec<String> {
    let listed = std::fs::read_dir(git_dir.join("objects/pack")).unwrap();
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| !["pack", "idx", "rev"].iter().any(|end| name.ends_with(&format!(".{end}"))))
        .collect()
}

fn sound(stage: &Stage, dir: &Path) {
    let said = stage.git_in(dir, &["fsck", "--strict"]).ok();
    let known =
        |line: &str| line.starts_with("dangling ") || line.starts_with("notice: HEAD points to an unborn");
    assert!(said.all().lines().all(known), "{said}");
}

#[test]
fn a_long_one_leaves_few_packs_and_a_short_one_few_objects() {
    let stage = old_stage(1_600);
    let (loose, packs) = (count(&stage, stage.dir(), "count"), count(&stage, stage.dir(), "packs"));
    stage.andon(&["backfill", "old~1560"]).ok();
    let few = count(&stage, stage.dir(), "count");
    assert!((loose + 40..loose + 40 * 3).contains(&few), "{few}");
    assert_eq!(count(&stage, stage.dir(), "packs"), packs);
    stage.andon(&["backfill", "old"]).ok();
    // Batches of 500, 1,000 and the rest, which is small.
    assert!(count(&stage, stage.dir(), "count") < few + 3 * 100);
    assert_eq!(count(&stage, stage.dir(), "packs"), packs + 2);
    assert_eq!((notes(&stage).len(), leftovers(&stage.path(".git"))), (1_600, vec![]));
    sound(&stage, stage.dir());
    assert_snapshot!(stage.andon(&["check", "old~1599..old"]).lacks("broken-chain").shown());
    stage.git(&["gc", "-q", "--prune=now"]).ok();
    assert_eq!((notes(&stage).len(), count(&stage, stage.dir(), "packs")), (1_600, 1));
}

#[test]
fn killed_at_any_step_it_loses_nothing_and_the_next_one_clears_up() {
    let points = [
        "pack:placed",
        "pack:placed#2",
        "ref:locked#2",
        "ref:ready#2",
        "ref:moved#2",
        "backfill:batch",
        "backfill:batch#2",
    ];
    let stage = short_stage(230, 120);
    for (number, point) in points.into_iter().enumerate() {
        stage.git(&["update-ref", "-d", "refs/notes/andon"]).ok();
        // What is not remembered is not put back either.
        std::fs::remove_dir_all(stage.path(".git/andon/written")).ok();
        stage.set("ANDON_TEST_STOP", point);
        stage.andon(&["backfill", "old"]).exits(128 + 9);
        stage.unset("ANDON_TEST_STOP");
        sound(&stage, stage.dir());
        let there = notes(&stage);
        let first = match point {
            "pack:placed" => 0,
            "ref:moved#2" | "backfill:batch#2" => 230,
            _ => 120,
        };
        assert_eq!(there.len(), first, "{point}");
        // Its leftovers are not in the way.
        if number % 2 == 0 {
            stage.steps("git repack -adq; git prune --expire=now");
        }
        let had = match first {
            0 => "none had a record yet".to_owned(),
            first => format!("{first} commits already had a record"),
        };
        let rest = format!("backfilled {} records of old; {had}\n", 230 - first);
        assert_eq!(stage.andon(&["backfill", "old"]).ok().stdout, rest, "{point}");
        assert!(there.is_subset(&notes(&stage)), "{point}");
        assert_eq!(notes(&stage).len(), 230, "{point}");
        // One that has nothing to write clears nothing up.
        if first < 230 {
            assert_eq!(leftovers(&stage.path(".git")), Vec::<String>::new(), "{point}");
        }
        sound(&stage, stage.dir());
    }
}

#[test]
fn beside_a_gc_that_prunes_all_it_loses_nothing() {
    let stage = short_stage(720, 100);
    let script =
        "while [ ! -e .git/stop ]; do git gc -q --prune=now; git repack -adq; git prune-packed; done";
    let mut command = stage.command(stage.dir(), "sh");
    let mut busy = command.args(["-c", script]).stderr(Stdio::null()).spawn().unwrap();
    let done = stage.andon(&["backfill", "old"]);
    stage.write(".git/stop", "");
    busy.wait().unwrap();
    done.ok();
    assert_eq!(notes(&stage).len(), 720);
    sound(&stage, stage.dir());
}

#[test]
fn beside_each_other_two_lose_nothing() {
    let stage = short_stage(320, 100);
    let both = [start(&stage, &["backfill", "old"]), start(&stage, &["backfill", "old", "-j1"])];
    let said: Vec<Out> = both
        .map(|child| child.wait_with_output().unwrap())
        .map(|out| Out {
            code: out.status.code().unwrap(),
            stdout: String::from_utf8(out.stdout).unwrap(),
            stderr: String::from_utf8(out.stderr).unwrap(),
        })
        .into_iter()
        .map(Out::ok)
        .collect();
    assert_eq!(notes(&stage).len(), 320, "{said:?}");
    assert_eq!(leftovers(&stage.path(".git")), Vec::<String>::new());
    sound(&stage, stage.dir());
    stage.andon(&["check", "old~319..old"]).exits(3).lacks("broken-chain").lacks("missing-record");
}

#[test]
fn in_a_linked_worktree_of_a_clone_that_borrows_objects() {
    let stage = short_stage(220, 100);
    let packs = count(&stage, stage.dir(), "packs");
    let (clone, linked) = (stage.root().join("clone"), stage.root().join("linked"));
    let paths = [stage.dir(), &clone, &linked].map(|path| path.to_str().unwrap());
    stage.git(&["clone", "-q", "--shared", "--branch", "old", paths[0], paths[1]]).ok();
    stage.git_in(&clone, &["worktree", "add", "-q", "-b", "side", paths[2]]).ok();
    assert_snapshot!(stage.andon_in(&linked, &["backfill", "HEAD"]).brief(),
        @"exit 0, stdout: backfilled 220 records of HEAD; none had a record yet");
    assert_eq!((count(&stage, &clone, "packs"), count(&stage, &clone, "count")), (2, 0));
    assert_eq!((count(&stage, stage.dir(), "packs"), leftovers(&clone.join(".git"))), (packs, vec![]));
    for dir in [&clone, &linked] {
        let listed = stage.git_in(dir, &["notes", "--ref=andon", "list"]).ok().stdout;
        assert_eq!(listed.lines().count(), 220);
        sound(&stage, dir);
    }
}
