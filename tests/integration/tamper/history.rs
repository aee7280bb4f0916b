//! The ledger, the history itself, and squashes.

use insta::assert_snapshot;

use super::{check, clean, halted, ledger};
use crate::support::Stage;

/// A halt that another writer has answered, and the ledger that has it.
fn answered_by_another() -> (Stage, String) {
    let stage = halted();
    let name = ledger(&stage);
    let writer = stage.read(".git/andon/writer");
    // Another clone is another directory.
    let homes = stage.path(".git/andon/writer-homes");
    std::fs::remove_file(&homes).unwrap();
    std::fs::write(stage.path(".git/andon/writer"), format!("{}\n", "a".repeat(32))).unwrap();
    stage.andon(&["resume", "--reason", "seen by another"]).ok();
    std::fs::remove_file(&homes).unwrap();
    std::fs::write(stage.path(".git/andon/writer"), &writer).unwrap();
    (stage, name)
}

#[test]
fn a_ledger_rewound_removed_or_forced() {
    let (stage, name) = answered_by_another();
    let tip = stage.git(&["rev-parse", &name]).ok().stdout;
    stage.andon(&["check", "HEAD"]).lacks("-ledger]");
    stage.git(&["update-ref", "-d", &name]).ok();
    stage.forget();
    assert_snapshot!(stage.andon(&["check", "HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[missing-ledger]: the ledger of HASH is gone: another ledger has seen its entry HASH
      help: git update-ref refs/andon/ledger/HASH HASH, or fetch it: andon sync
    error[failing-tests]: the tests of this code do not pass: failed, 1 of 2 failing, first: b
      --> HASH Try 3
      help: andon test
    note[answered-halt]: the repeated-failures halt was answered by A. Author <author@example.org> with andon resume --yes, without a terminal: seen by another
      --> HASH Try 3
      help: andon log --events
    checked 4 commits in HEAD: 2 errors
    ");
    // Rewritten from the start: the halt is not in it.
    let tree = stage.git(&["rev-parse", &format!("{}^{{tree}}", tip.trim())]).ok().stdout;
    let other = stage.git(&["commit-tree", tree.trim(), "-m", "loop.halted"]).ok().stdout;
    stage.git(&["update-ref", &name, other.trim()]).ok();
    assert_snapshot!(stage.andon(&["check", "HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[open-halt]: the loop on this branch is halted by repeated-failures: the loop is stuck on 1 failing test: the same test failed 3 times in a row although the code changed each time: b (since TIME, 3 commits; tests: 1 of 2 failing)
      --> HASH Try 3
      help: a person decides, then runs: andon resume --reason '<decision>'
      help: look at it: git diff HASH HASH
    error[rewound-ledger]: the ledger of HASH went back: another ledger has seen its entry HASH
      help: from a clone that has it: git push --force-with-lease=refs/andon/ledger/HASH:$(git rev-parse refs/andon/ledger/HASH) origin HASH:refs/andon/ledger/HASH
    error[failing-tests]: the tests of this code do not pass: failed, 1 of 2 failing, first: b
      --> HASH Try 3
      help: andon test
    note[answered-halt]: the repeated-failures halt was answered by A. Author <author@example.org> with andon resume --yes, without a terminal: seen by another
      --> HASH Try 3
      help: andon log --events
    checked 4 commits in HEAD: 3 errors
    ");
    // A remote that holds the true one.
    let tracking = name.replace("refs/andon/ledger/", "refs/andon/remote/origin/ledger/");
    stage.git(&["update-ref", &tracking, tip.trim()]).ok();
    assert_snapshot!(stage.andon(&["check", "HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[open-halt]: the loop on this branch is halted by repeated-failures: the loop is stuck on 1 failing test: the same test failed 3 times in a row although the code changed each time: b (since TIME, 3 commits; tests: 1 of 2 failing)
      --> HASH Try 3
      help: a person decides, then runs: andon resume --reason '<decision>'
      help: look at it: git diff HASH HASH
    error[forked-ledger]: there are two ledgers of HASH, HASH and HASH: one was rewritten
      help: look at both: git log --oneline --graph HASH HASH
    error[failing-tests]: the tests of this code do not pass: failed, 1 of 2 failing, first: b
      --> HASH Try 3
      help: andon test
    note[answered-halt]: the repeated-failures halt was answered by A. Author <author@example.org> with andon resume --yes, without a terminal: seen by another
      --> HASH Try 3
      help: andon log --events
    checked 4 commits in HEAD: 3 errors
    ");
}

#[test]
fn objects_shown_in_place_of_others() {
    let stage = clean();
    let other = stage.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD~2", "-m", "Shown instead"]).ok().stdout;
    stage.git(&["replace", "HEAD~1", other.trim()]).ok();
    let said = check(&stage).shown();
    assert_snapshot!(said, @"
    exit 1
    --- stdout
    error[replaced-object]: git shows another object in place of this commit (refs/replace)
      --> HASH Step 3
      help: git update-ref refs/andon-saved/replace/HASH refs/replace/HASH && git replace -d HASH
    checked 3 commits in HEAD~3..HEAD: 1 error
    ");
    stage.set("GIT_NO_REPLACE_OBJECTS", "1");
    assert_eq!(check(&stage).shown(), said);
    stage.unset("GIT_NO_REPLACE_OBJECTS");
    stage.git(&["replace", "-d", "HEAD~1"]).ok();
    let id = stage.git(&["rev-parse", "HEAD~1"]).ok().stdout;
    stage.git(&["replace", id.trim(), other.trim()]).ok();
    assert_snapshot!(stage.andon(&["check", "HEAD~1..HEAD"]).brief(), @"
    exit 0, stdout: warning[replaced-object]: git shows another object in place of HASH (refs/replace); it is not judged
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    ");
}

#[test]
fn a_clock_set_back() {
    let stage = clean();
    stage.pass(-7200);
    stage.iterate("earlier\n", &["ok a", "ok b"], "Earlier").ok();
    assert_snapshot!(check(&stage).brief(), @"
    exit 0, stdout: warning[clock-set-back]: the record is older than that of its parent: a clock was set back --> HASH Earlier
    checked 3 commits in HEAD~3..HEAD: ok, 1 warning
    ");
    stage.pass(7200);
    stage.set("GIT_COMMITTER_DATE", "2026-12-24T00:00:00Z");
    stage.iterate("later\n", &["ok a", "ok b"], "Later").ok();
    assert_snapshot!(check(&stage).shown(), @"
    exit 0
    --- stdout
    warning[clock-set-back]: the record is older than that of its parent: a clock was set back
      --> HASH Earlier
      help: git show --format=fuller HASH; andon show HASH
    warning[clock-set-back]: the record is older than its commit: a clock was set back
      --> HASH Later
      help: git show --format=fuller HASH; andon show HASH
    checked 3 commits in HEAD~3..HEAD: ok, 2 warnings
    ");
}

#[test]
fn a_name_that_is_not_the_committers() {
    let stage = clean();
    stage.steps("echo forged > code.txt; andon test");
    stage.git(&["commit", "-qam", "Forged", "--author", "The Boss <boss@example.org>"]).ok();
    assert_snapshot!(check(&stage).shown(), @"
    exit 0
    --- stdout
    note[other-author]: the author <boss@example.org> is not who committed it <author@example.org>
      --> HASH Forged
      help: git show --format=fuller HASH
    checked 3 commits in HEAD~3..HEAD: ok
    ");
}

#[test]
fn a_squash_is_proved_by_its_tree() {
    let stage = clean();
    stage.git(&["switch", "-qc", "topic"]).ok();
    for n in 0..3 {
        stage.write("topic.txt", format!("{n}\n"));
        stage.tested_commit_of(".", &format!("Topic {n}"));
    }
    stage.git(&["switch", "-q", "main"]).ok();
    let squash = |stage: &Stage| {
        stage.git(&["-c", "core.hooksPath=no-hooks", "merge", "-q", "--squash", "topic"]).ok();
        stage.git(&["-c", "core.hooksPath=no-hooks", "commit", "-qm", "Squashed"]).ok();
    };
    let base = stage.head();
    squash(&stage);
    let range = format!("{base}..topic");
    let out = stage.andon(&["check", "--squash-of", &range]).ok();
    assert_eq!(out.stdout, format!("checked 3 commits in {range}: ok\n"));
    // Something else slipped in.
    stage.write("code.txt", "slipped in\n");
    stage
        .git(&["-c", "core.hooksPath=no-hooks", "commit", "-qa", "--amend", "-m", "Squashed, and more"])
        .ok();
    assert_snapshot!(stage.andon(&["check", "HEAD", "--squash-of", &range]).shown(), @"
    exit 1
    --- stdout
    error[not-the-squash]: the commit is no squash of that range: 1 path(s) differ from what it leads to, first: code.txt
      --> HASH Squashed, and more
      help: git diff HASH HASH
    checked 3 commits in HASH..topic: 1 error
    ");
    // Onto a newer base.
    stage.git(&["reset", "-q", "--hard", &base]).ok();
    stage.iterate("newer\n", &["ok a", "ok b"], "Newer").ok();
    squash(&stage);
    assert_snapshot!(stage.andon(&["check", "--squash-of", &range]).shown(), @"
    exit 0
    --- stdout
    warning[untested-squash]: the branch was squashed onto a newer base: the tests never ran on exactly this tree
      --> HASH Squashed
      help: andon test
    checked 3 commits in HASH..topic: ok, 1 warning
    ");
    // A bypass on the branch is reported there.
    stage.steps("git switch -q topic; echo bypassed > topic.txt; git commit -qam Bypassed --no-verify");
    stage.steps("git switch -q main");
    stage.git(&["reset", "-q", "--hard", &base]).ok();
    squash(&stage);
    assert_snapshot!(stage.andon(&["check", "--squash-of", &range]).shown());
}
