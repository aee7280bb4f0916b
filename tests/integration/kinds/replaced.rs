//! Objects that git shows in place of others. Andon reads the real ones, and so does the git that it starts.

use insta::assert_snapshot;

use super::Kind;

/// A commit like HEAD, whose `code.txt` says something else.
fn double(kind: &Kind) -> String {
    let script = "blob=$(echo replaced | git hash-object -w --stdin) && export GIT_INDEX_FILE=.git/double && \
                  git read-tree HEAD && git update-index --cacheinfo 100644,$blob,d1/f1 && \
                  git commit-tree -m Double $(git write-tree)";
    kind.sh(script).ok().stdout.trim().to_owned()
}

#[test]
fn a_replaced_head_changes_nothing_about_what_was_tested() {
    let kind = Kind::init(&[]);
    kind.adopt();
    let other = double(&kind);
    kind.git(&["replace", "HEAD", &other]).ok();
    // git now shows the other tree, and the working tree is as git shows it.
    kind.git(&["reset", "-q", "--hard"]).ok();
    kind.git(&["status", "--porcelain"]).ok().lacks("f1");
    kind.write("code.txt", "edited\n");
    assert_snapshot!(kind.git(&["commit", "-qam", "Untested"]).shown(), @"
    exit 1
    --- stderr
    error[untested-edit]: commit refused: the code changed after the tests ran: code.txt, d1/f1
      help: andon test
    ");
    kind.andon(&["test"]).ok();
    kind.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
    kind.andon(&["status"]).ok().says("HEAD: 2 passed");
    assert_snapshot!(kind.andon(&["check", "HEAD~1..HEAD"]).brief(), @"
    exit 0, stdout: warning[replaced-object]: git shows another object in place of HASH (refs/replace); it is not judged
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    ");
    kind.stage.set("GIT_NO_REPLACE_OBJECTS", "1");
    kind.git(&["show", "--stat", "HEAD"]).ok().says("d1/f1");
}

#[test]
fn replaced_parents_and_blobs() {
    let kind = Kind::init(&[]);
    kind.adopt();
    for n in 1..4 {
        kind.work(|| kind.write("code.txt", &format!("{n}\n")));
    }
    kind.git(&["replace", "--graft", "HEAD", "HEAD~2"]).ok();
    let script = "git replace $(git rev-parse HEAD:d1/f1) $(echo other | git hash-object -w --stdin)";
    kind.sh(script).ok();
    kind.write("code.txt", "4\n");
    assert_snapshot!(kind.git(&["commit", "-qam", "Untested"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the code changed after the tests ran: code.txt");
    kind.andon(&["test"]).ok();
    kind.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
    assert_snapshot!(kind.andon(&["check", "HEAD~1..HEAD"]).brief(), @"
    exit 0, stdout: warning[replaced-object]: git shows another object in place of HASH (refs/replace); it is not judged
    warning[replaced-object]: git shows another object in place of HASH (refs/replace); it is not judged
    checked 1 commit in HEAD~1..HEAD: ok, 2 warnings
    ");
    // A range that holds what is replaced is refused.
    assert_snapshot!(kind.andon(&["check", "HEAD~2..HEAD"]).shown(), @"
    exit 1
    --- stdout
    error[replaced-object]: git shows another object in place of this commit (refs/replace)
      --> HASH Tested
      help: git update-ref refs/andon-saved/replace/HASH refs/replace/HASH && git replace -d HASH
    warning[replaced-object]: git shows another object in place of HASH (refs/replace); it is not judged
      help: git update-ref refs/andon-saved/replace/HASH refs/replace/HASH && git replace -d HASH
    checked 2 commits in HEAD~2..HEAD: 1 error, 1 warning
    ");
}

#[test]
fn grafts() {
    let kind = Kind::init(&[]);
    kind.git(&["config", "advice.graftFileDeprecated", "false"]).ok();
    kind.adopt();
    kind.work(|| kind.write("code.txt", "1\n"));
    kind.work(|| kind.write("code.txt", "2\n"));
    kind.sh("echo $(git rev-parse HEAD HEAD~2) > .git/info/grafts").ok();
    kind.write("code.txt", "3\n");
    assert_snapshot!(kind.git(&["commit", "-qam", "Untested"]).brief(),
        @"exit 1, stderr: error[untested-edit]: commit refused: the code changed after the tests ran: code.txt");
    kind.andon(&["test"]).ok();
    kind.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
    assert_snapshot!(kind.andon(&["check", "HEAD~1..HEAD"]).shown(), @r#"
    exit 0
    --- stdout
    warning[grafted-history]: a graft gives HASH other parents than it has: the range is not what it seems
      help: at=$(git rev-parse --git-path info/grafts) && mv "$at" "$at.old"
    checked 1 commit in HEAD~1..HEAD: ok, 1 warning
    "#);
    assert_snapshot!(kind.andon(&["check", "HEAD~2..HEAD"]).shown(), @r#"
    exit 1
    --- stdout
    error[grafted-history]: a graft gives HASH other parents than it has: the range is not what it seems
      --> HASH Tested
      help: at=$(git rev-parse --git-path info/grafts) && mv "$at" "$at.old"
    checked 3 commits in HEAD~2..HEAD: 1 error
    "#);
}
