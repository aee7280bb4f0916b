//! Objects that git shows in place of others. Andon reads the real ones, and so does the git that it starts.

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
    kind.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
    kind.andon(&["test"]).ok();
    kind.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
    kind.andon(&["status"]).ok().says("HEAD: 2 passed");
    kind.andon(&["check", "HEAD~1..HEAD"]).ok().says("warning[replaced-object]");
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
    kind.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
    kind.andon(&["test"]).ok();
    kind.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
    kind.andon(&["check", "HEAD~1..HEAD"]).ok().says("warning[replaced-object]");
    // A range that holds what is replaced is refused.
    kind.andon(&["check", "HEAD~2..HEAD"]).exits(1).says("error[replaced-object]").says("git replace -d");
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
    kind.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
    kind.andon(&["test"]).ok();
    kind.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
    kind.andon(&["check", "HEAD~1..HEAD"]).ok().says("warning[grafted-history]").says("rm ");
    kind.andon(&["check", "HEAD~2..HEAD"]).refused().says("error[grafted-history]");
}
