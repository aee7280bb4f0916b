//! Broken state, end to end: whatever is broken, every command says what, with a hint, and none panics, hangs or lets a
//! rule go without a word.

mod ways;

use std::fs;

use insta::assert_snapshot;

use self::ways::{BROKEN, directory, link, note};
use crate::support::Stage;
use crate::support::ground::{Ground, fault, run, sweep};
use crate::support::image::Image;

/// Breaks copies of `ground` in every way and collects what went wrong with the commands that are `wanted`.
fn break_all(ground_name: &str, ground: &Ground, wanted: impl Fn(&[&str]) -> bool) {
    let only = std::env::var("ANDON_TEST_ONLY").unwrap_or_default();
    let image = Image::of(ground.stage.dir());
    let mut wrong = Vec::new();
    for (name, break_it, words) in BROKEN.iter().filter(|(name, ..)| name.contains(&only)) {
        println!("=== {ground_name}: {name}");
        let dir = ground.stage.root().join(name);
        image.write(&dir);
        break_it.apply(&ground.stage, &dir);
        let answers = sweep(&ground.stage, &dir, &wanted);
        for (command, out) in &answers {
            wrong.extend(fault(out).map(|fault| format!("{name}: andon {command} {fault}")));
        }
        let said: String = answers.iter().map(|(_, out)| out.all()).collect();
        for words in words.iter().filter(|words| !said.contains(**words)) {
            wrong.push(format!("{name}: no output says {words:?}"));
        }
        fs::remove_dir_all(&dir).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_broken_state_makes_a_command_panic_hang_or_keep_silent() {
    break_all("running", &Ground::new(), |_| true);
}

#[test]
fn no_broken_state_of_a_halted_loop_makes_a_command_panic_hang_or_keep_silent() {
    // What has no use for a halt says the same as above; each form of a view reads the same value.
    let concerned = |args: &[&str]| args[0] != "config" && !args.contains(&"json");
    break_all("halted", &Ground::halted(), concerned);
}

/// What must not open the gate while the loop is halted.
const WAYS_AROUND: &[&str] = &[
    "writer-garbage",
    "writer-huge",
    "writer-fifo",
    "writer-lost",
    "ledger-ref-blob",
    "ledger-ref-tag",
    "state-is-a-file",
    "caches-garbage",
    "caches-fifo",
    "cache-is-a-file",
    "notes-ref-blob",
    "note-garbage",
    "journal-binary",
    "journal-huge-line",
    "journal-fifo",
    "andon-dir-is-a-file",
    "report-file-is-a-directory",
];

#[test]
fn broken_state_does_not_free_a_halted_loop() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    // The hooks have looked at the halt, so that the caches are there.
    run(stage, stage.dir(), &["hook", "pre-commit"], None).exits(1);
    let image = Image::of(stage.dir());
    for way in WAYS_AROUND {
        let dir = stage.root().join(way);
        image.write(&dir);
        let (_, break_it, _) = BROKEN.iter().find(|(name, ..)| name == way).unwrap();
        break_it.apply(stage, &dir);
        for hook in
            [&["hook", "pre-commit"][..], &["hook", "prepare-commit-msg", "x"], &["hook", "pre-merge-commit"]]
        {
            let out = run(stage, &dir, hook, None);
            assert_eq!(out.code, 1, "{way}, {hook:?}: {out}");
            assert!(out.stderr.contains("  answer ") || out.stderr.contains("help: "), "{way}: {out}");
        }
    }
}

#[test]
fn a_lost_writer_id_is_mended_by_the_command_that_is_named() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    run(stage, stage.dir(), &["hook", "pre-commit"], None).exits(1);
    for content in [None, Some("garbage")] {
        let path = stage.path(".git/andon/writer");
        match content {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        let out = run(stage, stage.dir(), &["hook", "pre-commit"], None).exits(1).says("andon/writer");
        let hint = out.stderr.split_once("are kept: ").unwrap().1.lines().next().unwrap().to_owned();
        stage.run_in(stage.dir(), "sh", &["-c", &hint], None).ok();
        run(stage, stage.dir(), &["hook", "pre-commit"], None).exits(1).says("repeated-failures");
    }
}

#[test]
fn an_answer_that_cannot_be_recorded_is_none() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    directory(&stage.path(".git/andon/journal.jsonl"));
    assert_snapshot!(run(stage, stage.dir(), &["hook", "pre-commit"], None).shown(), @r"
    exit 1
    --- stderr
    warning: cannot be read: not a plain file
      --> ROOT/repo/.git/andon/journal.jsonl at byte 0
      help: it is skipped; to set the file aside with all that it holds: mv 'ROOT/repo/.git/andon/journal.jsonl' 'ROOT/repo/.git/andon/journal.jsonl.bad'
    warning: cannot append to ROOT/repo/.git/andon/journal.jsonl: Is a directory (os error 21)
      help: check the permissions of ROOT/repo/.git/andon/journal.jsonl and the space on its disk
    warning: cannot append to ROOT/repo/.git/andon/journal.jsonl: Is a directory (os error 21)
      help: check the permissions of ROOT/repo/.git/andon/journal.jsonl and the space on its disk
    error[repeated-failures]: commit refused: halted AGE: the loop is stuck on 1 failing test
      what   the same test failed 3 times in a row although the code changed each time: a
      since  TIME, 3 commits; tests: 1 of 1 failing
      look   git diff HASH HASH, or .andon/CHECKPOINT.md
      answer a person decides, then runs: andon resume --reason '<decision>'
    ");
    fs::remove_dir_all(stage.path(".git/andon/journal.jsonl")).unwrap();
    run(stage, stage.dir(), &["hook", "prepare-commit-msg", "x"], None).ok();
}

#[test]
fn a_report_file_that_cannot_come_back_frees_nobody() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    stage.write("andon.toml", "[guard]\nack = \"resume\"\n[test]\ncommand = \"sh check.sh\"\n");
    fs::remove_dir_all(stage.path(".andon")).unwrap();
    link("/nonexistent/x", &stage.path(".andon"));
    for hook in [&["hook", "pre-commit"][..], &["hook", "prepare-commit-msg", "x"]] {
        let out = run(stage, stage.dir(), hook, None).exits(1).says("repeated-failures");
        out.says(".andon must be a directory");
    }
}

#[test]
fn a_broken_notes_ref_leaves_the_tests_demanded() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let (_, break_it, _) = BROKEN.iter().find(|(name, ..)| *name == "notes-ref-blob").unwrap();
    break_it.apply(stage, stage.dir());
    let status = stage.andon(&["status"]).ok().says("Loop ");
    assert_eq!(status.stdout.matches("which is no commit").count(), 1, "{status}");
    stage.write("code.txt", "untested\n");
    assert_snapshot!(stage.git(&["commit", "-qam", "untested"]).shown(), @"
    exit 1
    --- stderr
    warning: ref refs/notes/andon points to HASH, which is no commit
      help: keep what is there and free the name: git update-ref refs/andon-saved/notes/andon refs/notes/andon && git update-ref -d refs/notes/andon
    error[untested-edit]: commit refused: the code changed after the tests ran: code.txt
      help: andon test
    ");
    stage.andon(&["test"]).ok();
    // Tested, it passes; that it could not be recorded is said.
    assert_snapshot!(stage.git(&["commit", "-qam", "tested"]).shown(), @"
    exit 0
    --- stderr
    warning: ref refs/notes/andon points to HASH, which is no commit
      help: keep what is there and free the name: git update-ref refs/andon-saved/notes/andon refs/notes/andon && git update-ref -d refs/notes/andon
    error: ref refs/notes/andon points to HASH, which is no commit
      help: keep what is there and free the name: git update-ref refs/andon-saved/notes/andon refs/notes/andon && git update-ref -d refs/notes/andon
    warning: post-commit: Andon could not judge this; git goes on without it
      help: andon doctor
    ");
}

#[test]
fn what_is_no_ref_is_told_once_and_its_own_words_lead_out() {
    let stage = Stage::installed();
    std::fs::write(stage.path(".git/refs/notes/andon"), "garbage\n").unwrap();
    let out = stage.andon(&["status"]).ok();
    assert_eq!(out.all().matches("corrupted").count(), 1, "{out}");
    let page = stage.andon(&["report"]).ok().stdout;
    assert_eq!(page.matches("corrupted").count(), 1, "{page}");
    let said = out.all();
    let hint = said.lines().find_map(|line| line.split_once("no ref is in that file: "));
    let (_, hint) = hint.unwrap_or_else(|| panic!("no hint in {out}"));
    stage.run_in(stage.dir(), "sh", &["-c", hint], None).ok();
    stage.andon(&["status"]).ok().says("Loop 1/100").lacks("warning");
}

#[test]
fn a_broken_record_does_not_start_the_window_anew() {
    let ground = Ground::new();
    let stage = &ground.stage;
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    let lose_the_record = || {
        note(stage, stage.dir(), b"garbage\n");
        stage.forget();
    };
    lose_the_record();
    assert_snapshot!(ground.commit("four\n").brief(), @"
    exit 0, stderr: warning: unreadable record: not readable as JSON: expected value at line 1 column 1 --> refs/notes/andon, commit HASH, line 1
    warning: unreadable record: not readable as JSON: expected value at line 1 column 1 --> refs/notes/andon, commit HASH, line 1
    ");
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    stage.write("tests.txt", "not ok 1 - a\n");
    ground.commit("five\n").ok();
    lose_the_record();
    ground.commit("six\n").ok();
    ground.commit("seven\n").ok();
    assert_snapshot!(ground.commit("eight\n").shown());
}

#[test]
fn a_broken_record_does_not_cost_a_rebase_the_others() {
    let ground = Ground::new();
    let stage = &ground.stage;
    stage.git(&["switch", "-qc", "side", "HEAD~2"]).ok();
    stage.write("README.md", "side\n");
    stage.commit_of(".", "side");
    stage.git(&["switch", "-q", "main"]).ok();
    stage.write(".git/note", "garbage\n");
    stage.git(&["notes", "--ref=andon", "add", "-f", "-F", ".git/note", "HEAD~1"]).ok();
    fs::remove_dir_all(stage.path(".git/andon/written")).unwrap();
    assert_snapshot!(stage.git(&["rebase", "-q", "side"]).shown(), @"
    exit 0
    --- stderr
    warning: the andon record of commit HASH is unreadable: not readable as JSON: expected value at line 1 column 1
      help: git notes --ref=andon edit HASH
    ");
    assert_eq!(stage.record("HEAD")["kind"], "rebase");
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
}

#[test]
fn a_receipt_that_cannot_be_left_is_said() {
    let ground = Ground::new();
    directory(&ground.stage.path(".git/andon/receipt"));
    assert_snapshot!(ground.commit("four\n").shown(), @"
    exit 0
    --- stderr
    warning: cannot write ROOT/repo/.git/andon/receipt: Is a directory (os error 21)
      help: check the permissions of ROOT/repo/.git/andon/receipt and the space on its disk
    ");
    assert_eq!(ground.stage.record("HEAD")["gate"], "bypassed");
}

#[test]
fn a_broken_configuration_refuses_where_it_must_and_is_named_everywhere() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let head = stage.head();
    let push = format!("refs/heads/main {head} refs/heads/main {}\n", "0".repeat(40));
    let broken: &[(&[u8], &str)] = &[
        (b"[test]\ncommand = \"sh", "andon.toml:2:"),
        (b"[rules]\nuntested-edit = \"of\"\n", "andon.toml:2:"),
        (b"[ruels]\nuntested-edit = \"off\"\n", "andon.toml:1:"),
        (b"[test]\ncommand = \"\xff\"\n", "andon.toml:2:"),
        (b"\0", "andon.toml:1:"),
    ];
    for (text, place) in broken {
        stage.write("andon.toml", text);
        for (hook, code) in [
            (&["hook", "pre-commit"][..], 1),
            (&["hook", "pre-push", "origin", "x"], 1),
            (&["hook", "prepare-commit-msg", "x"], 0),
            (&["hook", "post-merge", "0"], 0),
            (&["test"], 2),
            (&["status"], 2),
            (&["config", "check"], 2),
            (&["config", "show"], 2),
            (&["log"], 0),
        ] {
            let out = run(stage, stage.dir(), hook, Some(push.as_bytes())).exits(code);
            // log and show have no use for the configuration.
            if hook != ["log"] {
                assert!(out.all().contains(place) && out.all().contains("help: "), "{hook:?}: {out}");
            }
        }
        let out = run(stage, stage.dir(), &["hook", "prepare-commit-msg", "x"], None).ok();
        assert!(out.stderr.contains("defaults are used instead"), "{out}");
    }
}
