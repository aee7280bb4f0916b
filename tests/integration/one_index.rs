//! "Was this code tested, and how did it end?": one answer at every door, wherever the tests ran and however long ago.

mod property;

use crate::support::{Out, Stage};

/// Commits that are tested on a branch of their own.
fn other_work(stage: &Stage, commits: usize) {
    stage.git(&["switch", "-qc", "other", "main"]).ok();
    for number in 0..commits {
        stage.add(&format!("other/{number}.txt"), "1\n");
        stage.tested_commit("-qm", &format!("Other {number}"));
    }
    stage.git(&["switch", "-q", "main"]).ok();
}

/// Every door calls what HEAD adds to `base` tested.
fn is_tested(stage: &Stage, base: &str, story: &str) {
    let at = |door: &str, out: Out| assert_eq!(out.code, 0, "{story}: {door}: {out}");
    at("check", stage.andon(&["check", &format!("{base}..HEAD")]).lacks("untested-code"));
    at("complete", stage.andon(&["complete"]));
    let status = stage.andon(&["status"]);
    assert!(!status.all().contains("andon test"), "{story}: status: {status}");
    let remote = stage.root().join("remote.git");
    let _ = std::fs::remove_dir_all(&remote);
    stage.git(&["init", "-q", "--bare", remote.to_str().unwrap()]).ok();
    at("push", stage.git(&["push", "-q", remote.to_str().unwrap(), "HEAD:refs/heads/main"]));
}

/// Every door says of HEAD, which is on top of `base`, that its tests pass, or that they fail.
fn all_say(stage: &Stage, passes: bool, story: &str) {
    let branch = format!("HEAD:refs/heads/{}", story.replace(' ', "-"));
    let doors = [
        ("check", stage.andon(&["check", "HEAD~1..HEAD"])),
        ("complete", stage.andon(&["complete"])),
        ("push", stage.git(&["push", "-qf", "../remote.git", &branch])),
    ];
    for (door, out) in doors {
        assert_eq!(out.code == 0, passes, "{story}: {door}: {out}");
        assert_eq!(out.all().contains("failing-tests"), !passes, "{story}: {door}: {out}");
    }
}

/// A record stands as it was made and never gets better; a run that fails later counts at once.
#[test]
fn a_commit_is_worth_the_worse_of_its_record_and_the_newest_run_at_every_door() {
    let stage = Stage::installed();
    let test = |verdict: &str| {
        std::fs::write(stage.root().join("verdict"), format!("{verdict} 1 - a\n")).unwrap();
        stage.andon(&["test"])
    };
    let amend = || stage.git(&["commit", "-q", "--amend", "--no-edit", "--allow-empty"]).ok();
    stage.git(&["init", "-q", "--bare", "../remote.git"]).ok();
    stage.git(&["remote", "add", "origin", "../remote.git"]).ok();
    stage.write("check.sh", "echo 1..1; cat ../verdict; ! grep -q not ../verdict\n");
    test("ok").ok();
    stage.commit_of(".", "Begin");
    stage.write("code.txt", "new\n");
    test("not ok");
    stage.git(&["commit", "-qam", "Red"]).ok();
    all_say(&stage, false, "as it was recorded");
    test("ok").ok();
    all_say(&stage, false, "a later run passed");
    stage.andon(&["status"]).ok().says(", by the record of the commit; a run that passed since");
    stage
        .git(&["push", "-q", "../remote.git", "HEAD:refs/heads/x"])
        .refused()
        .says("help: git commit --amend");
    amend();
    all_say(&stage, true, "recorded again");
    stage.andon(&["status"]).ok().lacks("by the record");
    test("not ok");
    all_say(&stage, false, "a later run failed");
    test("ok").ok();
    all_say(&stage, false, "and its record says so");
    stage.add("README.md", "text\n");
    stage.git(&["commit", "-qam", "Documents"]).ok();
    all_say(&stage, true, "a commit of the same code on top");
    stage.andon(&["sync"]).ok();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "Again"]).ok();
    test("not ok");
    stage.andon(&["sync"]).ok();
    test("ok").ok();
    all_say(&stage, false, "others have the record");
    amend();
    all_say(&stage, true, "and once more");
}

type Story = fn(&Stage) -> String;

/// Each leaves a commit that was made of code that was tested somewhere, and says from where on it is looked at.
const STORIES: [(&str, Story); 9] = [
    ("squash after 8", |stage| squash(stage, 8)),
    ("squash after 9", |stage| squash(stage, 9)),
    ("squash after 20", |stage| squash(stage, 20)),
    ("another worktree", |stage| {
        let base = stage.head();
        stage.git(&["worktree", "add", "-qb", "side", "../side"]).ok();
        let side = stage.root().join("side");
        std::fs::write(side.join("code.txt"), "side\n").unwrap();
        stage.andon_in(&side, &["test"]).ok();
        other_work(stage, 9);
        stage.write("code.txt", "side\n");
        stage.git(&["commit", "-qam", "Tested beside"]).ok();
        base
    }),
    ("a worktree that is gone", |stage| {
        let base = stage.head();
        stage.git(&["worktree", "add", "-q", "--detach", "../side"]).ok();
        std::fs::write(stage.root().join("side/code.txt"), "side\n").unwrap();
        stage.andon_in(&stage.root().join("side"), &["test"]).ok();
        stage.git(&["worktree", "remove", "--force", "../side"]).ok();
        stage.write("code.txt", "side\n");
        stage.git(&["commit", "-qam", "Tested beside"]).ok();
        base
    }),
    ("records that were fetched", |stage| {
        let base = stage.head();
        stage.git(&["clone", "-q", ".", "../two"]).ok();
        for (key, value) in [("user.name", "Two"), ("user.email", "two@example.org")] {
            stage.git(&["-C", "../two", "config", key, value]).ok();
        }
        let two = stage.root().join("two");
        stage.andon_in(&two, &["install", "--no-push"]).ok();
        std::fs::write(two.join("code.txt"), "theirs\n").unwrap();
        stage.steps_in(&two, "andon test; git commit -qam Theirs");
        let fetched = "+refs/notes/andon:refs/notes/remotes/two/andon";
        stage.git(&["fetch", "-q", "../two", fetched]).ok();
        stage.write("code.txt", "theirs\n");
        stage.git(&["commit", "-qam", "As theirs"]).ok();
        base
    }),
    ("stash", |stage| {
        let base = stage.head();
        stage.write("code.txt", "stashed\n");
        stage.andon(&["test"]).ok();
        stage.git(&["stash", "-q"]).ok();
        other_work(stage, 12);
        stage.git(&["stash", "pop", "-q"]).ok();
        stage.git(&["commit", "-qam", "Unstashed"]).ok();
        base
    }),
    ("a file that was added after its tests", |stage| {
        let base = stage.head();
        stage.write("data.bin", "new kind\n");
        stage.write("code.txt", "reads it\n");
        stage.andon(&["test"]).ok();
        stage.git(&["stash", "-qu"]).ok();
        other_work(stage, 12);
        stage.git(&["stash", "pop", "-q"]).ok();
        stage.git(&["add", "-A"]).ok();
        stage.git(&["commit", "-qam", "Added"]).ok();
        base
    }),
    ("back to what a branch had", |stage| {
        let base = stage.head();
        stage.git(&["switch", "-qc", "topic"]).ok();
        stage.iterate("then\n", &["ok a", "ok b"], "Then").ok();
        other_work(stage, 10);
        stage.git(&["checkout", "-q", "topic", "--", "."]).ok();
        stage.git(&["commit", "-qm", "As it was there"]).ok();
        base
    }),
];

fn squash(stage: &Stage, others: usize) -> String {
    let base = stage.head();
    stage.git(&["switch", "-qc", "topic"]).ok();
    stage.iterate("one\n", &["ok a", "ok b"], "One").ok();
    stage.iterate("two\n", &["ok a", "ok b"], "Two").ok();
    other_work(stage, others);
    stage.git(&["merge", "-q", "--squash", "topic"]).ok();
    stage.git(&["commit", "-qm", "Topic"]).ok();
    base
}

#[test]
fn code_that_was_tested_anywhere_is_tested_at_every_door() {
    for (story, play) in STORIES {
        let stage = Stage::installed();
        let base = play(&stage);
        is_tested(&stage, &base, story);
    }
}

/// A workspace in which each package is a scope, and each needs the one before it.
fn workspace(packages: usize) -> Stage {
    let stage = Stage::installed();
    let mut config = "[test]\ncommand = \"sh check.sh\"\n".to_owned();
    for number in 0..packages {
        let needs =
            number.checked_sub(1).map(|before| format!("needs = [\"p{before}\"]\n")).unwrap_or_default();
        config += &format!(
            "[test.scopes.p{number}]\npaths = [\"p{number}/**\"]\ncommand = \"sh check.sh\"\n{needs}"
        );
        stage.write(&format!("p{number}/a.py"), "1\n");
    }
    stage.write("andon.toml", config);
    stage.git(&["add", "-A"]).ok();
    stage.andon(&["test", "--all"]).ok();
    stage.git(&["commit", "-qm", "Packages"]).ok();
    stage
}

fn edit(stage: &Stage, package: usize, content: &str) {
    stage.write(&format!("p{package}/a.py"), content);
    stage.tested_commit("-qam", &format!("p{package}: {}", content.trim()));
}

#[test]
fn scopes_are_tested_wherever_their_results_are_recorded() {
    let stage = workspace(12);
    let base = stage.head();
    for (package, content) in [(0, "2\n"), (4, "2\n"), (8, "2\n"), (11, "2\n")] {
        edit(&stage, package, content);
    }
    stage.git(&["reset", "-q", "--soft", "HEAD~3"]).ok();
    stage.git(&["commit", "-qm", "All at once"]).ok();
    is_tested(&stage, &base, "soft reset");
    // Each scope needs the one before: what is rewritten has the results of what it was.
    for (package, content) in [(11, "3\n"), (3, "3\n"), (7, "3\n")] {
        edit(&stage, package, content);
    }
    stage.andon(&["check", &format!("{base}..HEAD")]).ok().lacks("untested-code");
    let exec = "git commit --amend --no-edit --signoff -q";
    stage.git(&["rebase", "-q", "--exec", exec, &base]).ok();
    assert!(stage.git(&["log", "-3", "--format=%b"]).ok().stdout.contains("Signed-off-by"));
    is_tested(&stage, &base, "exec");
    stage.andon(&["test"]).ok().says("13 scopes left out").lacks("[1/");
}

#[test]
fn a_damaged_index_is_made_again_with_one_line() {
    let stage = Stage::installed();
    stage.git(&["switch", "-qc", "topic"]).ok();
    stage.iterate("one\n", &["ok a", "ok b"], "One").ok();
    other_work(&stage, 9);
    // Where there is another worktree, its runs may be newer than those at hand.
    stage.git(&["worktree", "add", "-q", "--detach", "../side"]).ok();
    stage.andon_in(&stage.root().join("side"), &["test"]).ok();
    stage.andon(&["complete"]).ok();
    let index = stage.path(".git/andon/cache/results");
    let good = std::fs::read(&index).unwrap();
    for bad in [&b"nonsense"[..], &good[..good.len() / 2], b""] {
        std::fs::write(&index, bad).unwrap();
        stage.git(&["merge", "-q", "--squash", "topic"]).ok();
        let out = stage.git(&["commit", "-qm", "Topic"]).ok();
        assert_eq!(out.stderr.matches("made again").count(), 1, "{out}");
        stage.git(&["reset", "-q", "--hard", "HEAD~"]).ok();
    }
    std::fs::remove_file(&index).unwrap();
    stage.git(&["merge", "-q", "--squash", "topic"]).ok();
    stage.git(&["commit", "-qm", "Topic"]).ok().lacks("made again");
}

/// What cannot be read is skipped and named; what is forged makes no result.
#[test]
fn the_index_believes_what_is_at_its_places_alone() {
    let stage = Stage::installed();
    let journal = stage.path(".git/andon/journal.jsonl");
    stage.write("code.txt", "new\n");
    stage.andon(&["test"]).ok();
    let text = std::fs::read_to_string(&journal).unwrap();
    let run = text.lines().last().unwrap();
    std::fs::write(&journal, text.replace(run, &run.replace("\"valid\"", "\"filtered\""))).unwrap();
    stage.git(&["commit", "-qam", "Untested"]).refused();
    std::fs::write(&journal, format!("{text}{{\"type\":\"test_run\",\"code\":7}}\n")).unwrap();
    stage.git(&["commit", "-qam", "Tested"]).ok();
    stage.write("code.txt", "newer\n");
    stage.andon(&["test"]).ok().says("journal.jsonl");
}

/// A commit that git reads and libgit2 does not ends no judgement.
#[test]
fn a_commit_that_only_git_can_read_lets_nothing_pass_unjudged() {
    let stage = Stage::installed();
    let tree = stage.git(&["rev-parse", "HEAD^{tree}"]).ok().stdout.trim().to_owned();
    let raw = format!(
        "tree {tree}\nparent {}\nauthor nobody\ncommitter Some One 1795188600 +0000\n\nFrom an old importer\n",
        stage.head()
    );
    let args = ["hash-object", "-t", "commit", "-w", "--stdin", "--literally"];
    let made = stage.run_in(stage.dir(), "git", &args, Some(raw.as_bytes())).ok().stdout.trim().to_owned();
    stage.git(&["reset", "-q", "--hard", &made]).ok();
    stage.git(&["log", "-1", "--format=%s"]).ok().says("From an old importer");
    stage.write("code.txt", "new\n");
    stage.git(&["commit", "-qam", "Untested"]).refused().says("untested-edit");
    stage.andon(&["test"]).ok();
    stage.git(&["commit", "-qam", "Tested"]).ok().lacks("could not judge");
    assert_eq!(stage.record("HEAD")["gate"], "passed");
    stage.andon(&["status"]).ok();
}
