//! Shapes of the index and of the working tree behind it.

use insta::assert_snapshot;

use super::Kind;

#[test]
fn sparse_checkouts_with_and_without_a_sparse_index() {
    for how in [&["--cone", "--no-sparse-index", "d1"][..], &["--cone", "--sparse-index", "d1"]] {
        let kind = Kind::init(&[]);
        kind.git(&[&["sparse-checkout", "set"], how].concat()).ok();
        assert!(!kind.dir.join("d2").exists());
        kind.job();
        // A new file inside the cone, and one that leaves it.
        kind.work(|| {
            kind.write("d1/new", "1\n");
            kind.git(&["add", "d1/new"]).ok();
            kind.git(&["rm", "-q", "--ignore-unmatch", "d1/f1"]).ok();
        });
        kind.git(&["sparse-checkout", "disable"]).ok();
        kind.andon(&["check", "HEAD~2..HEAD"]).ok();
    }
}

#[test]
fn sparse_checkouts_by_patterns() {
    let kind = Kind::init(&[]);
    kind.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/d2/"]).ok();
    assert!(!kind.dir.join("d2").exists());
    kind.job();
}

#[test]
fn a_split_index() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "core.splitIndex", "true"]).ok();
    kind.git(&["update-index", "--split-index"]).ok();
    kind.job();
    let shared = super::listing(&kind.dir.join(".git"));
    assert!(shared.iter().any(|path| path.to_string_lossy().contains("sharedindex.")));
    kind.work(|| kind.write("code.txt", "again\n"));
}

#[test]
fn an_untracked_cache_and_other_versions() {
    for settings in [
        &["core.untrackedCache=true", "core.untrackedCache=true"][..],
        &["index.version=4", "index.threads=2"],
        &["index.skipHash=true", "feature.manyFiles=true"],
    ] {
        let kind = Kind::init(&[]);
        for setting in settings {
            let (key, value) = setting.split_once('=').unwrap();
            kind.git(&["config", key, value]).ok();
        }
        kind.git(&["update-index", "--force-untracked-cache"]).ok();
        kind.git(&["status"]).ok();
        kind.job();
        kind.write("new file.txt", "1\n");
        kind.andon(&["status"]).ok().says("work tree: not run on this code");
    }
}

#[test]
fn a_file_system_monitor() {
    let kind = Kind::init(&[]);
    // What a monitor says that saw everything change.
    kind.write(".git/monitor", "#!/bin/sh\nprintf 'token\\0/\\0'\n");
    kind.sh("chmod +x .git/monitor").ok();
    kind.git(&["config", "core.fsmonitor", ".git/monitor"]).ok();
    kind.git(&["update-index", "--fsmonitor"]).ok();
    kind.git(&["status"]).ok();
    kind.job();
}

#[test]
fn files_that_are_only_meant_to_be_added() {
    let kind = Kind::init(&[]);
    kind.adopt();
    kind.work(|| {
        kind.write("new.txt", "1\n");
        kind.git(&["add", "-N", "new.txt"]).ok();
    });
    // As it is, without -a, an intended file is not committed, and no tree has it.
    kind.write("later.txt", "1\n");
    kind.git(&["add", "-N", "later.txt"]).ok();
    kind.write("code.txt", "2\n");
    kind.git(&["add", "code.txt"]).ok();
    kind.andon(&["test"]).ok();
    assert_snapshot!(kind.git(&["commit", "-qm", "Without it"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the tests ran with work that is not part of this commit: later.txt
      help: git add -- later.txt
      help: or test exactly what is committed: andon test --staged
    ");
}

#[test]
fn before_the_first_commit() {
    let kind = Kind::empty(&[]);
    kind.git(&["add", "."]).ok();
    kind.job();
}
