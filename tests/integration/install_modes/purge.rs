//! What uninstalling leaves, who may delete that too; and what is no answer to a halt.

use std::fs;

use insta::assert_snapshot;

use crate::support::{Stage, image::built};

fn stopped() -> Stage {
    built!({
        let stage = Stage::installed();
        stage.andon(&["stop", "--reason", "look at it"]).ok();
        stage
    })
}

#[test]
fn uninstall_says_what_stays_and_purge_deletes_it() {
    let stage = Stage::installed();
    let linked = stage.root().join("linked");
    stage.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]).ok();
    assert_snapshot!(stage.andon_in(&linked, &["uninstall"]).shown());
    stage.andon_in(&linked, &["install"]).ok().says("note: this holds for all worktrees of the repository: ");

    stage.andon(&["stop", "--reason", "look at it"]).ok();
    let said = stage.andon(&["uninstall", "--purge"]).shown();
    assert_snapshot!(said, @r"
    exit 1
    --- stderr
    error[purge]: nothing was purged: a halt waits for an answer, and its evidence must stay until then
      help: answer it first: andon resume --reason '<decision>'
    ");
    assert_eq!(stage.andon_in(&linked, &["uninstall", "--purge"]).shown(), said);
    stage.andon(&["resume", "--reason", "seen"]).ok();
    stage.set("CLAUDECODE", "1");
    assert_snapshot!(stage.andon(&["uninstall", "--purge"]).shown(), @"
    exit 1
    --- stderr
    error[purge]: nothing was purged: this is the shell of an agent (CLAUDECODE is set), and only a person deletes evidence
      help: a person runs in a shell of their own: andon uninstall --purge
    ");
    stage.unset("CLAUDECODE");
    assert!(stage.exists(".git/hooks/pre-commit"), "nothing is done by halves");

    assert_snapshot!(stage.andon(&["uninstall", "--purge"]).shown());
    stage.git(&["for-each-ref", "refs/notes", "refs/andon"]).ok().lacks("andon");
    assert!(!stage.exists(".andon") && !stage.exists(".git/andon") && stage.exists("andon.toml"));
    assert_snapshot!(stage.andon(&["uninstall", "--purge"]).shown(), @"
    exit 0
    --- stdout
    no hooks of Andon were there
    note: this holds for all worktrees of the repository: they share its hooks and its configuration
    note: andon.toml stays, it is yours: rm ROOT/repo/andon.toml
    purged: nothing was left
    ");
}

#[test]
fn purge_names_what_the_remotes_have_still() {
    let stage = Stage::installed();
    let hub = stage.root().join("hub.git");
    stage.git(&["init", "-q", "--bare", hub.to_str().unwrap()]).ok();
    stage.git(&["remote", "add", "origin", hub.to_str().unwrap()]).ok();
    stage.git(&["push", "-q", "origin", "main"]).ok();
    let there =
        stage.git_in(&hub, &["for-each-ref", "--format=%(refname)", "refs/andon", "refs/notes"]).ok().stdout;
    let out = stage.andon(&["uninstall", "--purge"]).ok().says("note: origin has refs/andon/records/");
    assert!(!there.is_empty() && there.lines().all(|name| out.stdout.contains(name)), "{there}{out}");
    let command =
        out.stdout.lines().find_map(|line| line.split("for everybody: ").nth(1)).unwrap().to_owned();
    stage.run_in(stage.dir(), "sh", &["-c", &command], None).ok();
    assert_eq!(stage.git_in(&hub, &["for-each-ref", "refs/andon", "refs/notes"]).ok().stdout, "");
}

#[test]
fn sweeping_the_folder_away_answers_nothing() {
    for agent in [true, false] {
        let stage = stopped();
        if agent {
            stage.set("CLAUDECODE", "1");
        }
        stage.git(&["clean", "-q", "-fdx"]).ok();
        assert!(!stage.exists(".andon"));
        stage.steps("echo 1 > new.c; git add -A");
        let said = stage
            .git(&["commit", "-q", "-m", "on"])
            .refused()
            .says("deleting .andon/ does not answer the halt");
        assert_eq!(said.all().contains("CLAUDECODE"), agent, "{said}");
        assert!(stage.exists(".andon/CHECKPOINT.md"));
        stage.git(&["commit", "-q", "-m", "on"]).refused().lacks("deleting .andon/");
        stage.git(&["commit", "-q", "--no-verify", "-m", "on"]).refused();
        stage.unset("CLAUDECODE");
        stage.steps("andon resume --reason seen; git commit -q --no-verify -m on");
    }
}

#[test]
fn the_file_alone_is_still_an_answer() {
    let stage = stopped();
    fs::remove_dir_all(stage.path(".andon")).unwrap();
    stage.andon(&["status"]).ok().says("stop");
    stage.git(&["commit", "-q", "--allow-empty", "-m", "on"]).refused();
    fs::remove_file(stage.path(".andon/STOP")).unwrap();
    stage.git(&["commit", "-q", "--allow-empty", "-m", "on"]).ok();
}
