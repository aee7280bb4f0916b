//! `git am` where the hooks of patches are not installed: by an older version, or under a framework that has none. What is said
//! is true, and accuses no one.

use std::fs::File;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

const GREEN: [&str; 2] = ["ok a", "ok b"];
const PATCH_HOOKS: [&str; 2] = ["pre-applypatch", "post-applypatch"];

/// A tested commit, as a patch by another person, that is not here any more.
fn with_a_patch() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.iterate("theirs\n", &GREEN, "Theirs").ok();
        stage.git(&["commit", "-q", "--amend", "--no-edit", "--author", "B. Other <other@example.org>"]).ok();
        stage.steps("git format-patch -q -1 --output ../one.patch; git reset -q --hard HEAD^");
        stage
    })
}

fn without_patch_hooks(stage: &Stage) {
    for hook in PATCH_HOOKS {
        std::fs::remove_file(stage.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
}

/// When the hook of patches was written.
fn hook_is_of(stage: &Stage, seconds: i64) {
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.unsigned_abs());
    let hook = File::options().append(true).open(stage.path(".git/hooks/post-applypatch")).unwrap();
    hook.set_modified(at).unwrap();
}

#[test]
fn what_git_am_made_without_hooks_of_patches_is_no_bypass() {
    let stage = with_a_patch();
    without_patch_hooks(&stage);
    let said = stage.andon(&["doctor"]).all();
    for hook in PATCH_HOOKS {
        assert!(said.contains(&format!("warn  hook-{hook}: missing\n      help: andon install\n")), "{said}");
    }
    stage.git(&["am", "-q", "../one.patch"]).ok();
    assert_snapshot!(stage.iterate("ours\n", &GREEN, "Ours").ok().brief(),
        @"exit 0, stderr: note: recorded 1 commit made by git am, for which post-applypatch was not installed");
    let record = stage.record("HEAD~1");
    assert_eq!((&record["caught_up"], &record["patch"]), (&true.into(), &true.into()), "{record}");
    assert_snapshot!(stage.andon(&["check", "HEAD~2..HEAD"]).ok().shown(), @r"
    exit 0
    --- stdout
    note[gate-not-run]: git am made the commit, which runs the applypatch hooks alone, and post-applypatch was not installed: recorded at a later commit
      --> HASH Theirs
      help: andon doctor
    checked 2 commits in HEAD~2..HEAD: ok
    ");
    for view in [&["log"][..], &["show", "HEAD~1"], &["status"], &["log", "--safety"]] {
        stage.andon(view).lacks("bypass").lacks("hooks were off").lacks("--no-verify");
    }
    stage.andon(&["report"]).ok().says("0 bypassed").lacks("hooks were off");
}

#[test]
fn code_of_a_patch_that_nobody_tested_is_unrecorded_and_no_more() {
    let stage = with_a_patch();
    without_patch_hooks(&stage);
    stage.iterate("ours\n", &GREEN, "Ours").ok();
    stage.git(&["reset", "-q", "--hard", "HEAD^"]).ok();
    let patch = std::fs::read_to_string(stage.root().join("one.patch")).unwrap();
    std::fs::write(stage.root().join("one.patch"), patch.replace("+theirs", "+never tested")).unwrap();
    stage.git(&["am", "-q", "../one.patch"]).ok();
    stage.iterate("more\n", &GREEN, "More").ok();
    let said = stage.andon(&["check", "HEAD~2..HEAD"]).exits(3).says("error[missing-record]");
    said.lacks("bypass").lacks("hooks were off");
    stage.andon(&["check", "--test", "HEAD~2..HEAD"]).ok();
}

#[test]
fn an_install_after_the_patch_accuses_no_one_and_hooks_that_are_off_are_named() {
    let stage = with_a_patch();
    without_patch_hooks(&stage);
    stage.steps("git am -q ../one.patch; andon install");
    let later = crate::support::START + 1_000_000;
    hook_is_of(&stage, later);
    stage.iterate("ours\n", &GREEN, "Ours").ok().says("made by git am").lacks("hooks were off");

    // The hook is there, and git is started so that it runs none.
    let stage = with_a_patch();
    hook_is_of(&stage, crate::support::START - 1_000_000);
    stage.git(&["-c", "core.hooksPath=/dev/null", "am", "-q", "../one.patch"]).ok();
    stage.iterate("ours\n", &GREEN, "Ours").ok().says("made while the hooks were off");
    stage.andon(&["check", "HEAD~2..HEAD"]).exits(1).says("error[bypassed]");
}
