//! What uninstalling leaves, who may delete that too; and what is no answer to a halt.

use std::fs;

use crate::support::Stage;

fn stopped() -> Stage {
    let stage = Stage::installed();
    stage.andon(&["stop", "--reason", "look at it"]).ok();
    stage
}

#[test]
fn uninstall_says_what_stays_and_purge_deletes_it() {
    let stage = Stage::installed();
    let linked = stage.root().join("linked");
    stage.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]).ok();
    stage
        .andon_in(&linked, &["uninstall"])
        .ok()
        .says("this holds for all worktrees")
        .says("the records of 1 commits in refs/notes/andon")
        .says("andon uninstall --purge");
    stage.andon_in(&linked, &["install"]).ok().says("this holds for all worktrees");

    stage.andon(&["stop", "--reason", "look at it"]).ok();
    stage
        .andon(&["uninstall", "--purge"])
        .exits(1)
        .says("error[purge]")
        .says("a halt stands")
        .says("andon resume");
    stage.andon_in(&linked, &["uninstall", "--purge"]).exits(1).says("a halt stands");
    stage.andon(&["resume", "--reason", "seen"]).ok();
    stage.set("CLAUDECODE", "1");
    stage.andon(&["uninstall", "--purge"]).exits(1).says("CLAUDECODE").says("only a person");
    stage.unset("CLAUDECODE");
    assert!(stage.exists(".git/hooks/pre-commit"), "nothing is done by halves");

    stage.andon(&["uninstall", "--purge"]).ok().says("purged: 1 record, 2 ledger entries");
    stage.git(&["for-each-ref", "refs/notes", "refs/andon"]).ok().lacks("andon");
    assert!(!stage.exists(".andon") && !stage.exists(".git/andon") && stage.exists("andon.toml"));
    stage.andon(&["uninstall", "--purge"]).ok().says("purged: 0 records, 0 ledger entries");
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
        stage.write("new.c", "1\n");
        stage.git(&["add", "-A"]).ok();
        let said = stage.git(&["commit", "-q", "-m", "on"]).refused().says(".andon/ was deleted as a whole");
        assert_eq!(said.all().contains("CLAUDECODE"), agent, "{said}");
        assert!(stage.exists(".andon/CHECKPOINT.md"));
        stage.git(&["commit", "-q", "-m", "on"]).refused().lacks("deleted as a whole");
        stage.git(&["commit", "-q", "--no-verify", "-m", "on"]).refused();
        stage.unset("CLAUDECODE");
        stage.andon(&["resume", "--reason", "seen"]).ok();
        stage.git(&["commit", "-q", "--no-verify", "-m", "on"]).ok();
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
