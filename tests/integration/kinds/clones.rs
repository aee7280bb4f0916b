//! Clones that do not have everything. Nothing is fetched from a hook: the remote is moved away meanwhile.

use insta::assert_snapshot;

use super::{Kind, listing};

/// Packs and loose objects in the store: a fetch would add to them.
fn packs(kind: &Kind) -> usize {
    listing(&kind.dir.join(".git/objects/pack")).len()
}

fn away(kind: &Kind) {
    std::fs::rename(kind.beside("repo"), kind.beside("away")).unwrap();
}

fn back(kind: &Kind) {
    std::fs::rename(kind.beside("away"), kind.beside("repo")).unwrap();
}

#[test]
fn a_shallow_clone() {
    let kind = Kind::clone(&["--depth", "1"]);
    kind.job();
    let cut = kind.git(&["rev-list", "--max-parents=0", "HEAD"]).ok().stdout;
    assert_snapshot!(kind.andon(&["check", cut.trim()]).shown(), @"
    exit 3
    --- stdout
    error[shallow-clone]: the history is cut off here: this clone is shallow
      --> HASH Before, 4
      help: git fetch --unshallow
    checked 1 commit in HASH: cannot decide: evidence is missing
    ");
    assert_snapshot!(kind.andon(&["check", "HEAD~3..HEAD"]).shown(), @r#"
    exit 3
    --- stdout
    error[shallow-clone]: unknown revision "HEAD~3" (this clone is shallow)
      help: git fetch --unshallow
    checked 0 commits in HEAD~3..HEAD: cannot decide: evidence is missing
    "#);
    kind.git(&["fetch", "-q", "--unshallow"]).ok();
    kind.andon(&["check", "HEAD~2..HEAD"]).ok();
}

#[test]
fn a_clone_without_old_blobs() {
    let kind = Kind::clone(&["--filter=blob:none"]);
    let (missing, packed) =
        (kind.git(&["rev-list", "--objects", "--missing=print", "HEAD"]).ok(), packs(&kind));
    assert!(missing.stdout.contains('?'), "nothing is missing: {missing}");
    away(&kind);
    kind.job();
    assert_eq!(packs(&kind), packed);
}

#[test]
fn a_blob_that_is_missing_is_named_and_nobody_is_accused() {
    let kind = Kind::clone(&["--filter=blob:none", "--sparse"]);
    kind.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "d1"]).ok();
    kind.adopt();
    away(&kind);
    kind.git(&["rm", "-q", "--sparse", "d2/f2"]).ok();
    kind.andon(&["test"]).ok();
    let out = kind.git(&["commit", "-qm", "Remove what was never fetched"]).ok();
    assert_snapshot!(out.shown(), @"
    exit 0
    --- stderr
    warning[partial-clone]: blob HASH is not in this partial clone; what changed there is recorded by id
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    ");
    let blob = out.stderr.split("blob ").nth(1).unwrap()[..40].to_owned();
    let record = kind.git(&["notes", "--ref=andon", "show"]).ok().says("\"truncated\":true");
    // Here the record is what this clone sees.
    kind.andon(&["check", "HEAD~1..HEAD"]).ok();
    back(&kind);
    // A clone that has everything does not take it for an edited one.
    kind.git(&["push", "-q", "origin", "HEAD:refs/heads/side", "refs/notes/andon"]).ok();
    let full = Kind { dir: kind.beside("repo"), ..kind };
    full.git(&["switch", "-q", "side"]).ok();
    assert_snapshot!(full.andon(&["check", "HEAD~1..HEAD"]).shown());
    // It is the diff alone that may be taken from the commit.
    let edited =
        record.stdout.replace("\"code\":\"", "\"code\":\"0").replacen("0\",\"diff\"", "\",\"diff\"", 1);
    full.git(&["notes", "--ref=andon", "add", "-f", "-m", &edited]).ok();
    full.andon(&["check", "HEAD~1..HEAD"]).exits(1);
    // The other way round: a whole record, looked at where the blob is missing.
    full.git(&["notes", "--ref=andon", "remove", "HEAD"]).ok();
    full.andon(&["install"]).ok();
    full.git(&["reset", "-q", "--hard", "HEAD~1"]).ok();
    full.git(&["rm", "-q", "d2/f2"]).ok();
    full.andon(&["test"]).ok();
    full.git(&["commit", "-qm", "Remove it with everything at hand"]).ok().lacks("partial");
    let partial = Kind { dir: full.beside("clone"), ..full };
    partial.git(&["fetch", "-q", "origin", "side"]).ok();
    let id = partial.git(&["rev-parse", "FETCH_HEAD"]).ok().stdout;
    let range = format!("{0}~1..{0}", id.trim());
    partial.andon(&["sync"]).ok();
    let told = partial.andon(&["check", &range]).says(&blob);
    assert_snapshot!(told.shown(), @"
    exit 3
    --- stdout
    error[partial-clone]: its diff cannot be compared: blob HASH is not in this partial clone
      --> HASH Remove it with everything at hand
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    checked 1 commit in HASH~1..HASH: cannot decide: evidence is missing
    ");
    // The command that it names brings it.
    let hint = told.all().split("help: ").nth(1).unwrap().split(" fetches").next().unwrap().to_owned();
    partial.sh(&hint).ok();
    partial.andon(&["check", &range]).ok().lacks("partial");
}

/// git's own fetch leaves the records themselves at the remote, as it does with all blobs.
#[test]
fn records_that_were_left_at_the_remote_are_missing_not_wrong() {
    let kind = Kind::init(&[]);
    kind.job();
    kind.git(&["config", "uploadpack.allowFilter", "true"]).ok();
    let url = format!("file://{}", kind.dir.display());
    kind.git(&["clone", "-q", "--filter=blob:none", &url, kind.beside("clone").to_str().unwrap()]).ok();
    let kind = Kind { dir: kind.beside("clone"), ..kind };
    kind.git(&["fetch", "-q", "origin", "+refs/notes/andon:refs/notes/andon"]).ok();
    let packed = packs(&kind);
    let out = kind.andon(&["check", "HEAD~1..HEAD"]);
    assert_snapshot!(out.shown(), @"
    exit 3
    --- stdout
    error[partial-clone]: its record is not here: blob HASH is missing in ROOT/clone/.git (this clone is partial)
      --> HASH Tested
      help: git fetch --refetch --no-filter origin refs/notes/andon
    checked 1 commit in HEAD~1..HEAD: cannot decide: evidence is missing
    ");
    kind.andon(&["install"]).ok();
    kind.write("code.txt", "in the partial clone\n");
    kind.andon(&["test"]).ok();
    assert_snapshot!(kind.git(&["commit", "-qam", "On top of what cannot be read"]).shown(), @"
    exit 0
    --- stderr
    warning: blob HASH is missing in ROOT/clone/.git (this clone is partial)
      --> refs/notes/andon, commit HASH, line 1
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    warning: blob HASH is missing in ROOT/clone/.git (this clone is partial)
      --> refs/notes/andon, commit HASH, line 1
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    warning: blob HASH is missing in ROOT/clone/.git (this clone is partial)
      --> refs/notes/andon, commit HASH, line 1
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    warning: blob HASH is missing in ROOT/clone/.git (this clone is partial)
      --> refs/notes/andon, commit HASH, line 1
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    ");
    assert_eq!(packs(&kind), packed);
    let hint = out.all().split("help: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    kind.sh(&hint).ok();
    let out = kind.andon(&["check", "HEAD~2..HEAD~1"]);
    assert_snapshot!(out.brief(), @"
    exit 3, stdout: error[partial-clone]: its diff cannot be compared: blob HASH is not in this partial clone --> HASH Tested
    checked 1 commit in HEAD~2..HEAD~1: cannot decide: evidence is missing
    ");
    let hint = out.all().split("everything: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    kind.sh(&hint).ok();
    kind.andon(&["check", "HEAD~2..HEAD~1"]).ok();
}

#[test]
fn a_clone_without_old_trees_says_which_and_how_to_get_them() {
    let kind = Kind::clone(&["--filter=tree:0"]);
    let packed = packs(&kind);
    away(&kind);
    kind.job_without_replay();
    let out = kind.andon(&["replay"]);
    assert_snapshot!(out.shown(), @"
    exit 3
    --- stderr
    error: tree HASH is missing in ROOT/clone/.git (this clone is partial)
      help: git cat-file -e HASH fetches it; everything: git fetch --refetch --no-filter
    ");
    assert_eq!(packs(&kind), packed);
    back(&kind);
    let hint = out.all().split("everything: ").nth(1).unwrap().trim().to_owned();
    kind.sh(&hint).ok();
    kind.andon(&["replay"]).ok();
}

impl Kind {
    fn job_without_replay(&self) {
        self.adopt();
        self.write("code.txt", "edited\n");
        self.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
        self.andon(&["test"]).ok();
        self.git(&["commit", "-qam", "Tested"]).ok().lacks("andon");
        self.andon(&["check", "HEAD~1..HEAD"]).ok();
    }
}
