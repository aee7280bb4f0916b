//! Bad input, end to end: whatever is broken, every command says what and how to mend it, and none panics, hangs or
//! lets a rule go without a word.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::support::{Out, Stage, andon_path};

/// Seconds after which a command counts as hung.
const HUNG: &str = "20";

/// Runs andon in `dir` with a time limit.
fn attempt(stage: &Stage, dir: &Path, args: &[&str], stdin: Option<&[u8]>) -> Out {
    let program = andon_path();
    let mut words = vec!["-k", "1", HUNG, program.to_str().unwrap()];
    words.extend(args);
    let out = stage.run_in(dir, "timeout", &words, stdin);
    if std::env::var_os("HOSTILE_SHOW").is_some() {
        let cut = |text: &str| text.chars().take(1500).collect::<String>();
        println!(
            "$ andon {} -> {}\n{}{}",
            cut(&args.join(" ")),
            out.code,
            cut(&out.stdout),
            cut(&out.stderr)
        );
    }
    out
}

/// Runs andon in `dir` and fails when it panicked, hung, died or let a terminal escape through.
#[track_caller]
fn run(stage: &Stage, dir: &Path, args: &[&str], stdin: Option<&[u8]>) -> Out {
    let out = attempt(stage, dir, args, stdin);
    assert_eq!(fault(&out), None, "{out}");
    out
}

/// What no command may do, whatever it is given.
fn fault(out: &Out) -> Option<&'static str> {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match out {
        _ if out.stderr.contains("panicked at") || out.code == 101 => Some("panicked"),
        Out { code: 124 | 137, .. } => Some("hung"),
        Out { code: 128..=139, .. } => Some("was killed"),
        _ if out.all().contains(obeyed) => Some("let a control character through"),
        _ if out.all().len() > 200_000 => Some("said far too much"),
        _ => None,
    }
}

/// A repository under the hooks, three tested commits, nothing wrong with it.
struct Ground {
    stage: Stage,
}

impl Ground {
    fn new() -> Self {
        let stage = Stage::new();
        let shim = include_str!("../../hooks/shim.sh");
        let quoted = format!("'{}'", andon_path().display());
        for hook in [
            "pre-commit",
            "prepare-commit-msg",
            "post-commit",
            "post-merge",
            "pre-merge-commit",
            "post-rewrite",
        ] {
            let path = format!(".git/hooks/{hook}");
            stage.write(&path, shim.replace("@PROGRAM@", &quoted).replace("@HOOK@", hook));
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(stage.path(&path), mode).unwrap();
        }
        stage.write("check.sh", "cat report.txt 2>/dev/null || { echo 1..1; cat tests.txt; }\n");
        stage.write("andon.toml", "[test]\ncommand = \"sh check.sh\"\n");
        stage.write("tests.txt", "ok 1 - a\n");
        stage.write("code.txt", "start\n");
        stage.git(&["add", "."]).ok();
        let ground = Self { stage };
        for text in ["one\n", "two\n", "three\n"] {
            ground.commit(text).ok();
        }
        ground
    }

    fn commit(&self, text: &str) -> Out {
        self.stage.write("code.txt", text);
        self.stage.andon(&["test"]);
        self.stage.git(&["commit", "-qam", text.trim()])
    }

    /// As [`Self::new`], halted.
    fn halted() -> Self {
        let ground = Self::new();
        ground.stage.write("tests.txt", "not ok 1 - a\n");
        for text in ["four\n", "five\n", "six\n"] {
            ground.commit(text).ok();
        }
        assert!(ground.stage.exists(".andon/CHECKPOINT.md"));
        ground
    }

    /// A copy beside it.
    fn copy(&self, name: &str) -> PathBuf {
        let to = self.stage.root().join(name);
        let (from, to_text) = (self.stage.dir().to_str().unwrap(), to.to_str().unwrap());
        self.stage.run_in(self.stage.root(), "cp", &["-a", from, to_text], None).ok();
        to
    }
}

/// Every command, those that change something last.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["status", "--format", "json"],
    &["log"],
    &["log", "--format", "json"],
    &["show"],
    &["show", "--format", "json", "HEAD~1"],
    &["check", "HEAD~2..HEAD"],
    &["check", "HEAD~2..HEAD", "--format", "json"],
    &["replay"],
    &["replay", "--format", "json"],
    &["complete"],
    &["complete", "--format", "json"],
    &["config", "show"],
    &["config", "check"],
    &["config", "schema"],
    &["hook", "pre-push", "origin", "/nowhere"],
    &["hook", "prepare-commit-msg", ".git/COMMIT_EDITMSG"],
    &["hook", "pre-merge-commit"],
    &["hook", "pre-commit"],
    &["hook", "post-commit"],
    &["hook", "post-merge", "0"],
    &["hook", "post-rewrite", "amend"],
    &["hook", "post-rewrite", "rebase"],
    &["test"],
    &["stop", "--reason", "enough"],
    &["resume", "--reason", "looked at it"],
    &["pause"],
    &["resume"],
];

/// Runs every command and gives what each said, under its own words.
fn sweep(stage: &Stage, dir: &Path) -> Vec<(String, Out)> {
    let head = stage.git_in(dir, &["rev-parse", "HEAD"]).stdout.trim().to_owned();
    let push = format!("refs/heads/main {head} refs/heads/main {}\n", "0".repeat(40));
    let answers = COMMANDS.iter().map(|args| {
        let stdin = (args.get(1) == Some(&"pre-push")).then_some(push.as_bytes());
        (args.join(" "), attempt(stage, dir, args, stdin))
    });
    answers.collect()
}

fn note(stage: &Stage, dir: &Path, text: &[u8]) {
    fs::write(dir.join(".git/note"), text).unwrap();
    stage.git_in(dir, &["notes", "--ref=andon", "add", "-f", "-F", ".git/note", "HEAD"]).ok();
}

fn blob_note(stage: &Stage, dir: &Path, text: &[u8]) {
    let blob = stage.run_in(dir, "git", &["hash-object", "-w", "--stdin"], Some(text)).ok().stdout;
    stage.git_in(dir, &["notes", "--ref=andon", "add", "-f", "-C", blob.trim(), "HEAD"]).ok();
}

fn fifo(stage: &Stage, path: &Path) {
    let _ = fs::remove_file(path);
    stage.run_in(stage.root(), "mkfifo", &[path.to_str().unwrap()], None).ok();
}

fn deep(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

fn huge() -> Vec<u8> {
    vec![b'x'; 64 << 20]
}

type Break = fn(&Stage, &Path);

/// Ways to break a repository, each with words that some command must say about it.
const BROKEN: &[(&str, Break, &[&str])] = &[
    (
        "note-garbage",
        |stage, dir| note(stage, dir, b"garbage \x1b]0;owned\x07 \xff\n"),
        &["git notes --ref=andon"],
    ),
    (
        "note-two-lines-of-others",
        |stage, dir| note(stage, dir, b"{\"a\":1}\n{\"b\":2}\n"),
        &["git notes --ref=andon"],
    ),
    (
        "note-version-2",
        |stage, dir| note(stage, dir, b"{\"schema\":\"andon/commit@2\"}\n"),
        &["andon/commit@2"],
    ),
    ("note-deep", |stage, dir| note(stage, dir, deep(200_000).as_bytes()), &["git notes --ref=andon"]),
    ("note-huge", |stage, dir| blob_note(stage, dir, &huge()), &["67108864 bytes"]),
    (
        "note-cut-short",
        |stage, dir| {
            let head = stage.git_in(dir, &["rev-parse", "HEAD"]).ok().stdout;
            cut_short(
                stage,
                dir,
                stage.git_in(dir, &["notes", "--ref=andon", "list", head.trim()]).ok().stdout.trim(),
            );
        },
        &["git notes --ref=andon"],
    ),
    ("notes-tree-cut-short", |stage, dir| cut_short(stage, dir, "refs/notes/andon^{tree}"), &["git fsck"]),
    ("notes-commit-cut-short", |stage, dir| cut_short(stage, dir, "refs/notes/andon"), &["git fsck"]),
    ("tree-cut-short", |stage, dir| cut_short(stage, dir, "HEAD^{tree}"), &["git fsck"]),
    ("commit-cut-short", |stage, dir| cut_short(stage, dir, "HEAD"), &["git fsck"]),
    (
        "notes-ref-blob",
        |stage, dir| {
            let blob = stage.run_in(dir, "git", &["hash-object", "-w", "--stdin"], Some(b"x")).ok().stdout;
            stage.git_in(dir, &["update-ref", "refs/notes/andon", blob.trim()]).ok();
        },
        &["refs/notes/andon"],
    ),
    (
        "journal-half-a-line",
        |_, dir| {
            let path = dir.join(".git/andon/journal.jsonl");
            let text = fs::read(&path).unwrap();
            fs::write(path, &text[..text.len() - 20]).unwrap();
        },
        &["journal.jsonl"],
    ),
    (
        "journal-binary",
        |_, dir| append(&dir.join(".git/andon/journal.jsonl"), b"\xff\xfe\0\x1b[2J\n"),
        &["journal.jsonl"],
    ),
    (
        "journal-unknown-type",
        |_, dir| {
            append(&dir.join(".git/andon/journal.jsonl"), b"{\"type\":\"weather\"}\n[]\n7\n");
        },
        &["journal.jsonl"],
    ),
    (
        "journal-deep",
        |_, dir| append(&dir.join(".git/andon/journal.jsonl"), deep(100_000).as_bytes()),
        &["journal.jsonl"],
    ),
    (
        "journal-huge-line",
        |_, dir| append(&dir.join(".git/andon/journal.jsonl"), &huge()),
        &["journal.jsonl"],
    ),
    ("journal-fifo", |stage, dir| fifo(stage, &dir.join(".git/andon/journal.jsonl")), &["journal.jsonl"]),
    ("journal-directory", |_, dir| directory(&dir.join(".git/andon/journal.jsonl")), &["journal.jsonl"]),
    (
        "state-is-a-file",
        |_, dir| {
            fs::remove_dir_all(dir.join(".git/andon")).unwrap();
            fs::write(dir.join(".git/andon"), "x").unwrap();
        },
        &[".git/andon"],
    ),
    ("receipt-garbage", |_, dir| fs::write(dir.join(".git/andon/receipt"), b"\xff{").unwrap(), &[]),
    ("receipt-directory", |_, dir| directory(&dir.join(".git/andon/receipt")), &[]),
    ("receipt-fifo", |stage, dir| fifo(stage, &dir.join(".git/andon/receipt")), &[]),
    (
        "caches-garbage",
        |_, dir| {
            for name in ["standing.json", "fingerprints", "window"] {
                fs::create_dir_all(dir.join(".git/andon/cache")).unwrap();
                fs::write(dir.join(".git/andon/cache").join(name), b"\xff\0garbage").unwrap();
            }
        },
        &[],
    ),
    (
        "caches-fifo",
        |stage, dir| {
            for name in ["standing.json", "fingerprints", "window"] {
                fs::create_dir_all(dir.join(".git/andon/cache")).unwrap();
                fifo(stage, &dir.join(".git/andon/cache").join(name));
            }
        },
        &[],
    ),
    (
        "cache-is-a-file",
        |_, dir| {
            let _ = fs::remove_dir_all(dir.join(".git/andon/cache"));
            fs::write(dir.join(".git/andon/cache"), "x").unwrap();
        },
        &[],
    ),
    (
        "writer-garbage",
        |_, dir| fs::write(dir.join(".git/andon/writer"), b"\xff../../x\n").unwrap(),
        &["andon/writer"],
    ),
    (
        "writer-lost",
        |_, dir| {
            // A clone that never wrote has lost nothing.
            let _ = fs::remove_file(dir.join(".git/andon/writer"));
        },
        &[],
    ),
    ("writer-huge", |_, dir| fs::write(dir.join(".git/andon/writer"), huge()).unwrap(), &["andon/writer"]),
    ("writer-fifo", |stage, dir| fifo(stage, &dir.join(".git/andon/writer")), &["andon/writer"]),
    (
        "ledger-ref-blob",
        |stage, dir| {
            let blob = stage.run_in(dir, "git", &["hash-object", "-w", "--stdin"], Some(b"x")).ok().stdout;
            stage.git_in(dir, &["update-ref", &ledger_ref(stage, dir), blob.trim()]).ok();
        },
        &["refs/andon/ledger"],
    ),
    (
        "ledger-ref-tag",
        |stage, dir| {
            stage.git_in(dir, &["tag", "-am", "x", "x", "HEAD"]).ok();
            stage.git_in(dir, &["update-ref", &ledger_ref(stage, dir), "refs/tags/x"]).ok();
        },
        &["ledger"],
    ),
    ("ledger-entry-garbage", |stage, dir| entry(stage, dir, b"garbage"), &["ledger"]),
    ("ledger-entry-huge", |stage, dir| entry(stage, dir, &huge()), &["ledger"]),
    ("ledger-entry-deep", |stage, dir| entry(stage, dir, deep(100_000).as_bytes()), &["ledger"]),
    (
        "ledger-entry-version",
        |stage, dir| entry(stage, dir, b"{\"schema\":\"andon/ledger@9\"}"),
        &["ledger entry"],
    ),
    ("config-directory", |_, dir| directory(&dir.join("andon.toml")), &["andon.toml"]),
    ("config-loop", |_, dir| link("andon.toml", &dir.join("andon.toml")), &["andon.toml"]),
    ("config-fifo", |stage, dir| fifo(stage, &dir.join("andon.toml")), &["andon.toml"]),
    ("config-huge", |_, dir| fs::write(dir.join("andon.toml"), huge()).unwrap(), &["andon.toml"]),
    (
        "config-binary",
        |_, dir| fs::write(dir.join("andon.toml"), b"[test]\nx = \"\xff\"\n").unwrap(),
        &["andon.toml:2"],
    ),
    (
        "config-deep",
        |_, dir| {
            fs::write(dir.join("andon.toml"), format!("[test]\ncommand = {}\n", deep(100_000))).unwrap();
        },
        &["andon.toml:2"],
    ),
    (
        "config-truncated",
        |_, dir| fs::write(dir.join("andon.toml"), "[test]\ncommand = \"sh").unwrap(),
        &["andon.toml:2"],
    ),
    (
        "config-escapes",
        |_, dir| {
            fs::write(dir.join("andon.toml"), "[test]\n\"\\u001b]0;x\\u0007\" = 1\n").unwrap();
        },
        &["andon.toml:2"],
    ),
    (
        "andon-dir-is-a-file",
        |_, dir| {
            let _ = fs::remove_dir_all(dir.join(".andon"));
            fs::write(dir.join(".andon"), "x").unwrap();
        },
        &[".andon"],
    ),
    (
        "andon-dir-dangles",
        |_, dir| {
            let _ = fs::remove_dir_all(dir.join(".andon"));
            link("/nonexistent/x", &dir.join(".andon"));
        },
        &[".andon"],
    ),
    ("face-is-a-directory", |_, dir| directory(&dir.join(".andon/CHECKPOINT.md")), &[]),
    ("stop-is-a-directory", |_, dir| directory(&dir.join(".andon/STOP")), &[".andon/STOP"]),
    ("head-garbage", |_, dir| fs::write(dir.join(".git/HEAD"), b"\xff\n").unwrap(), &["HEAD"]),
    ("orig-head-garbage", |_, dir| fs::write(dir.join(".git/ORIG_HEAD"), b"\xff\n").unwrap(), &[]),
    ("reflog-garbage", |_, dir| fs::write(dir.join(".git/logs/HEAD"), b"\xff\0 \n\n \t").unwrap(), &[]),
    (
        "index-garbage",
        |_, dir| fs::write(dir.join(".git/index"), b"DIRC\0\0\0\x02\xff\xff").unwrap(),
        &["index"],
    ),
    ("git-config-garbage", |_, dir| fs::write(dir.join(".git/config"), b"[core\n").unwrap(), &["config"]),
];

fn append(path: &Path, bytes: &[u8]) {
    use std::io::Write as _;
    fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn directory(path: &Path) {
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.join("inside")).unwrap();
}

/// Leaves half of the file of a loose object, as a full disk or a dead machine may.
fn cut_short(stage: &Stage, dir: &Path, object: &str) {
    let id = stage.git_in(dir, &["rev-parse", object]).ok().stdout;
    let (first, rest) = id.trim().split_at(2);
    let path = dir.join(".git/objects").join(first).join(rest);
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

fn link(target: &str, path: &Path) {
    let _ = fs::remove_file(path);
    std::os::unix::fs::symlink(target, path).unwrap();
}

/// The ref of this clone's writer, made if there is none.
fn ledger_ref(stage: &Stage, dir: &Path) -> String {
    let path = dir.join(".git/andon/writer");
    if !path.exists() {
        fs::write(&path, format!("{}\n", "ab".repeat(16))).unwrap();
    }
    let _ = stage;
    format!("refs/andon/ledger/{}", fs::read_to_string(path).unwrap().trim())
}

/// Puts an entry with these bytes on top of this clone's ledger.
fn entry(stage: &Stage, dir: &Path, bytes: &[u8]) {
    let name = ledger_ref(stage, dir);
    let blob = stage.run_in(dir, "git", &["hash-object", "-w", "--stdin"], Some(bytes)).ok().stdout;
    let line = format!("100644 blob {}\tentry.json\n", blob.trim());
    let tree = stage.run_in(dir, "git", &["mktree"], Some(line.as_bytes())).ok().stdout;
    let mut args = vec!["commit-tree", tree.trim(), "-m", "x"];
    let old = stage.git_in(dir, &["rev-parse", "-q", "--verify", &name]).stdout;
    if !old.trim().is_empty() {
        args.extend(["-p", old.trim()]);
    }
    let commit = stage.git_in(dir, &args).ok().stdout;
    stage.git_in(dir, &["update-ref", &name, commit.trim()]).ok();
}

/// Breaks copies of `ground` in every way and collects what went wrong.
fn break_all(ground_name: &str, ground: &Ground) {
    let only = std::env::var("HOSTILE_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    for (name, break_it, words) in BROKEN.iter().filter(|(name, ..)| name.contains(&only)) {
        println!("=== {ground_name}: {name}");
        let dir = ground.copy(name);
        break_it(&ground.stage, &dir);
        let answers = sweep(&ground.stage, &dir);
        for (command, out) in &answers {
            wrong.extend(fault(out).map(|fault| format!("{name}: andon {command} {fault}")));
        }
        let said: String = answers.iter().map(|(_, out)| out.all()).collect();
        for words in words.iter().filter(|words| !said.contains(**words)) {
            wrong.push(format!("{name}: nobody says {words:?}"));
        }
        fs::remove_dir_all(&dir).unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_broken_state_makes_a_command_panic_hang_or_keep_silent() {
    break_all("running", &Ground::new());
}

#[test]
fn no_broken_state_of_a_halted_loop_makes_a_command_panic_hang_or_keep_silent() {
    break_all("halted", &Ground::halted());
}

/// What must not open the gate while a halt stands.
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
    "face-is-a-directory",
];

#[test]
fn broken_state_does_not_free_a_halted_loop() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    // The hooks have looked at the halt, so that the caches are there.
    run(stage, stage.dir(), &["hook", "pre-commit"], None).exits(1);
    for way in WAYS_AROUND {
        let dir = ground.copy(way);
        let (_, break_it, _) = BROKEN.iter().find(|(name, ..)| name == way).unwrap();
        break_it(stage, &dir);
        for hook in
            [&["hook", "pre-commit"][..], &["hook", "prepare-commit-msg", "x"], &["hook", "pre-merge-commit"]]
        {
            let out = run(stage, &dir, hook, None);
            assert_eq!(out.code, 1, "{way}, {hook:?}: {out}");
            assert!(out.stderr.contains("help: "), "{way}: {out}");
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
        let mend = out.stderr.split_once("are kept: ").unwrap().1.lines().next().unwrap().to_owned();
        stage.run_in(stage.dir(), "sh", &["-c", &mend], None).ok();
        run(stage, stage.dir(), &["hook", "pre-commit"], None).exits(1).says("repeated-failures");
    }
}

#[test]
fn an_answer_that_cannot_be_recorded_is_none() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    fs::remove_file(stage.path(".andon/CHECKPOINT.md")).unwrap();
    directory(&stage.path(".git/andon/journal.jsonl"));
    run(stage, stage.dir(), &["hook", "pre-commit"], None)
        .exits(1)
        .says("repeated-failures")
        .says("journal.jsonl");
    fs::remove_dir_all(stage.path(".git/andon/journal.jsonl")).unwrap();
    run(stage, stage.dir(), &["hook", "prepare-commit-msg", "x"], None).ok();
}

#[test]
fn a_face_that_cannot_come_back_frees_nobody() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    stage.write("andon.toml", "[guard]\nack = \"resume\"\n[test]\ncommand = \"sh check.sh\"\n");
    fs::remove_dir_all(stage.path(".andon")).unwrap();
    link("/nonexistent/x", &stage.path(".andon"));
    for hook in [&["hook", "pre-commit"][..], &["hook", "prepare-commit-msg", "x"]] {
        run(stage, stage.dir(), hook, None)
            .exits(1)
            .says("repeated-failures")
            .says(".andon must be a directory");
    }
}

#[test]
fn a_broken_notes_ref_leaves_the_tests_demanded() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let (_, break_it, _) = BROKEN.iter().find(|(name, ..)| *name == "notes-ref-blob").unwrap();
    break_it(stage, stage.dir());
    stage.write("code.txt", "untested\n");
    stage
        .git(&["commit", "-qam", "untested"])
        .refused()
        .says("untested-edit")
        .says("refs/notes/andon points to");
    stage.andon(&["test"]).ok();
    // Tested, it passes; that it could not be recorded is said.
    stage.git(&["commit", "-qam", "tested"]).ok().says("refs/notes/andon points to").says("git update-ref");
}

#[test]
fn a_broken_record_does_not_start_the_window_anew() {
    let ground = Ground::new();
    let stage = &ground.stage;
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    let lose_the_record = || {
        note(stage, stage.dir(), b"garbage\n");
        // Else the next hook puts back what was there.
        fs::remove_dir_all(stage.path(".git/andon/written")).unwrap();
    };
    lose_the_record();
    ground.commit("four\n").ok().says("unreadable record");
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    stage.write("tests.txt", "not ok 1 - a\n");
    ground.commit("five\n").ok();
    lose_the_record();
    ground.commit("six\n").ok();
    ground.commit("seven\n").ok();
    ground.commit("eight\n").ok().says("repeated-failures");
}

#[test]
fn a_broken_record_does_not_cost_a_rebase_the_others() {
    let ground = Ground::new();
    let stage = &ground.stage;
    stage.git(&["switch", "-qc", "side", "HEAD~2"]).ok();
    stage.write("README.md", "side\n");
    stage.git(&["add", "."]).ok();
    stage.git(&["commit", "-qm", "side"]).ok();
    stage.git(&["switch", "-q", "main"]).ok();
    stage.write(".git/note", "garbage\n");
    stage.git(&["notes", "--ref=andon", "add", "-f", "-F", ".git/note", "HEAD~1"]).ok();
    fs::remove_dir_all(stage.path(".git/andon/written")).unwrap();
    stage.git(&["rebase", "-q", "side"]).ok().says("git notes --ref=andon show");
    assert_eq!(stage.record("HEAD")["kind"], "rebase");
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
}

#[test]
fn a_receipt_that_cannot_be_left_is_said() {
    let ground = Ground::new();
    directory(&ground.stage.path(".git/andon/receipt"));
    ground.commit("four\n").ok().says("cannot write").says("andon/receipt");
    assert_eq!(ground.stage.record("HEAD")["gate"], "bypassed");
}

/// Everything that a terminal, a shell or a Markdown viewer obeys.
const NASTY: &str = "\u{1b}]0;owned\u{7} \u{1b}[2J `id` $(touch pwned) <script>alert(1)</script> [x](javascript:1) ![](http://e/) ../../etc \u{202e}gnp ; rm -rf / | x";

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
        assert!(out.stderr.contains("defaults stand in"), "{out}");
    }
}

#[test]
fn hostile_names_reach_people_only_escaped() {
    let ground = Ground::new();
    let stage = &ground.stage;
    stage.git(&["config", "user.name", "\u{1b}[31mEve `id`"]).ok();
    for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
        stage.unset(name);
    }
    stage.git(&["switch", "-qc", "x;$(touch${IFS}pwned)`id`<script>"]).ok();
    stage.set("ANDON_NODE", &NASTY.replace('\n', " "));
    stage.set("ANDON_SESSION", NASTY);
    stage.write("tests.txt", format!("not ok 1 - {NASTY}\n"));
    for text in ["4\n", "5\n", "6\n"] {
        stage.write(&format!("{}.txt", "\u{1b}]0;p\u{7}`$(touch pwned)` <b>"), text);
        stage.write("code.txt", text);
        stage.git(&["add", "."]).ok();
        stage.andon(&["test"]);
        let out = stage.git(&["commit", "-qm", &format!("{NASTY} {text}")]).ok();
        assert_eq!(fault(&out), None, "{out}");
    }
    let face = stage.read(".andon/CHECKPOINT.md");
    assert!(!face.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{face:?}");
    let bare: String = face.lines().filter(|line| !line.starts_with("    ")).map(outside_of_code).collect();
    let bare: String =
        bare.replace("\\\\", "").split('\\').map(|part| part.get(1..).unwrap_or_default()).collect();
    for raw in ["<script>", "](javascript:", "![]("] {
        assert!(!bare.contains(raw), "{raw} in\n{face}");
    }
    let mut wrong = Vec::new();
    // The output of the tests themselves goes through as it is.
    for (command, out) in sweep(stage, stage.dir()).into_iter().filter(|(command, _)| command != "test") {
        wrong.extend(fault(&out).map(|fault| format!("{command} {fault}: {out}")));
        if command.contains("json") {
            for line in out.stdout.lines().filter(|_| !command.contains("check")) {
                assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{command}: {line}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!stage.exists("pwned") && !stage.root().join("pwned").exists());
}

#[test]
fn hostile_test_reports_are_bounded_and_never_green() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let config = "[test]\ncommand = \"sh make.sh\"\nreports = [\"out/*.xml\"]\n";
    stage.write("andon.toml", config);
    stage.write(".gitignore", "out/\n");
    fs::create_dir(stage.path("out")).unwrap();
    let nested = format!(
        "{}<testcase name=\"a\"/>{}",
        "<testsuite name=\"s\">".repeat(20_000),
        "</testsuite>".repeat(20_000)
    );
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\">".to_owned()
        + &(b'b'..=b'j')
            .map(|c| {
                let (c, before) = (char::from(c), char::from(c - 1));
                format!("<!ENTITY {c} \"{}\">", format!("&{before};").repeat(10))
            })
            .collect::<String>()
        + "]><testsuite><testcase name=\"&j;\"/></testsuite>";
    let reports: &[(&str, Vec<u8>)] = &[
        ("truncated", b"<testsuite><testcase name=\"a\"/><testcase".to_vec()),
        ("bomb", bomb.into_bytes()),
        ("nested", nested.into_bytes()),
        ("binary", b"<\xff\xfe\0>".to_vec()),
        ("no xml", b"hello".to_vec()),
        ("huge", [b"<testsuite>".to_vec(), vec![b' '; (64 << 20) + 1], b"</testsuite>".to_vec()].concat()),
        ("empty", Vec::new()),
    ];
    for (name, bytes) in reports {
        fs::write(stage.root().join("given.xml"), bytes).unwrap();
        stage.write(
            "make.sh",
            format!("rm -f out/*; cat ../given.xml > out/{}.xml\n", name.replace(' ', "-")),
        );
        let out = run(stage, stage.dir(), &["test"], None).ok();
        assert!(
            *name == "bomb" || out.stderr.contains(".xml") || out.stderr.contains("not one test"),
            "{name}: {out}"
        );
        let last = stage.read(".git/andon/journal.jsonl").lines().last().unwrap().to_owned();
        assert!(last.len() < 10_000, "{name}: {last}");
        // An entity that is not expanded is a strange name for a test, and no more.
        assert!(*name == "bomb" || !last.contains("\"status\":\"passed\""), "{name}: {last}");
    }
    // A report of an earlier run says nothing about this one.
    fs::write(stage.path("out/old.xml"), "<testsuite><testcase name=\"a\"/></testsuite>").unwrap();
    stage.write("make.sh", "true\n");
    run(stage, stage.dir(), &["test"], None).ok().says("old.xml was not written by this run");
}

#[test]
fn hostile_test_output_goes_through_and_stays_out_of_what_is_kept() {
    let ground = Ground::new();
    let stage = &ground.stage;
    for (name, script) in [
        ("one line", "head -c 67108864 /dev/zero | tr '\\0' x; echo; echo 1..1; echo 'ok 1 - a'"),
        ("no newline", "echo 1..1; echo 'ok 1 - a'; head -c 67108864 /dev/zero | tr '\\0' x"),
        ("zeros", "head -c 1000000 /dev/zero; printf '\\n1..1\\nok 1 - a\\n'"),
        ("stderr", "head -c 67108864 /dev/zero >&2; echo 1..1; echo 'ok 1 - a'"),
    ] {
        stage.write("check.sh", format!("{script}\n"));
        let shell = format!("timeout 60 '{}' test > ../out 2> ../err", andon_path().display());
        let out = stage.run_in(stage.dir(), "sh", &["-c", &shell], None);
        assert_eq!(out.code, 0, "{name}: {out}");
        let last = stage.read(".git/andon/journal.jsonl").lines().last().unwrap().to_owned();
        assert!(last.contains("\"status\":\"passed\"") && last.len() < 10_000, "{name}: {last}");
    }
    // A plan of a billion tests, and a test name of a megabyte.
    stage.write(
        "check.sh",
        "echo 1..1000000000; printf 'not ok 1 - '; head -c 1000000 /dev/zero | tr '\\0' y; echo\n",
    );
    run(stage, stage.dir(), &["status"], None).ok();
    stage.run_in(
        stage.dir(),
        "sh",
        &["-c", &format!("'{}' test >/dev/null 2>&1", andon_path().display())],
        None,
    );
    run(stage, stage.dir(), &["complete"], None).exits(1);
    run(stage, stage.dir(), &["hook", "pre-commit"], None);
}

/// Revisions that mean nothing, or would mean something to another program.
const REVISIONS: &[&str] = &[
    "--upload-pack=touch pwned",
    "-x",
    "@{-99}",
    "..",
    "...",
    "",
    " ",
    "HEAD..",
    "..nope",
    "^",
    "^HEAD",
    "HEAD^{",
    "HEAD~99999999999999999999",
    ":/",
    ":/(((",
    "HEAD:andon.toml",
    "HEAD^{tree}",
    "refs/heads/../../etc/passwd",
    "\u{1b}]0;x\u{7}",
    "a\nb",
    "$(touch pwned)",
    "0000000000000000000000000000000000000000",
    "@{1 year ago}",
    "HEAD@{9999}",
    "main@{upstream}",
    "nope...nope",
    "HEAD....HEAD",
];

#[test]
fn hostile_revisions_are_refused_by_name() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let long = "x".repeat(10_240);
    for revision in REVISIONS.iter().copied().chain([long.as_str()]) {
        for command in ["show", "log", "replay", "check"] {
            let out = run(stage, stage.dir(), &[command, "--", revision], None);
            let fine =
                ["..", "...", "HEAD..", "@{1 year ago}", ":/", "HEAD....HEAD", " "].contains(&revision);
            assert!(out.code == 2 || fine, "{command} {revision:?}: {out}");
            assert!(out.stderr.len() < 2_000, "{command}: {out}");
            run(stage, stage.dir(), &[command, revision], None);
        }
    }
    run(stage, stage.dir(), &["check", "--from-ref", "-x", "--to-ref", "HEAD"], None).exits(2);
    // A variable of the CI that was not set must not judge nothing and pass.
    for args in [
        &["check", "--from-ref", "", "--to-ref", ""][..],
        &["check", "--from-ref", "", "--to-ref", "HEAD"],
        &["check", ".."],
        &["check", "..HEAD"],
    ] {
        run(stage, stage.dir(), args, None).exits(2).says("has no base");
    }
    run(stage, stage.dir(), &["log", "-n", "99999999999999999999999"], None).exits(2);
    run(stage, stage.dir(), &["log", "-n", "18446744073709551615"], None).ok();
    run(stage, stage.dir(), &["\u{1b}]0;owned\u{7}"], None).exits(2);
    run(stage, stage.dir(), &["hook", "\u{1b}]0;owned\u{7}"], None).exits(2);
    assert!(!stage.exists("pwned"));
    let mut command = stage.command(stage.dir(), andon_path());
    let output = command.args(["show".as_ref(), std::ffi::OsStr::from_bytes(b"\xff\xfe")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn hostile_input_of_hooks_is_counted_and_skipped() {
    let ground = Ground::new();
    let stage = &ground.stage;
    let head = stage.head();
    let zero = "0".repeat(40);
    let nowhere = "1".repeat(40);
    let inputs: Vec<(&str, Vec<u8>)> = vec![
        ("garbage", b"\xff\xfe\0\x1b]0;x\x07\nx\n".to_vec()),
        ("huge line", huge()),
        ("many lines", b"x\n".repeat(2_000_000)),
        ("half", head.as_bytes()[..20].to_vec()),
        (
            "missing objects",
            format!("{nowhere} {nowhere}\nrefs/heads/x {nowhere} refs/heads/x {zero}\n").into_bytes(),
        ),
        ("swapped", format!("{head} {nowhere}\n").into_bytes()),
    ];
    for (name, input) in &inputs {
        for hook in [
            &["hook", "post-rewrite", "amend"][..],
            &["hook", "post-rewrite", "x"],
            &["hook", "pre-push", "o", "u"],
        ] {
            let out = run(stage, stage.dir(), hook, Some(input));
            assert!(!out.stderr.is_empty(), "{name}, {hook:?}: nothing was said");
            assert!(out.code == 0 || hook[1] == "pre-push", "{name}, {hook:?}: {out}");
        }
    }
    // The good lines among the bad ones are not lost.
    stage.git(&["commit", "-q", "--amend", "-m", "Amended"]).ok();
    let (old, new) = (head, stage.head());
    stage.git(&["notes", "--ref=andon", "remove", &new]).ok();
    let lines = format!("\n{nowhere} {nowhere}\nnonsense\n{old} {new}\n");
    run(stage, stage.dir(), &["hook", "post-rewrite", "amend"], Some(lines.as_bytes())).ok();
    assert_eq!(stage.record(&new)["kind"], "amend");
}

#[test]
fn closed_streams_and_missing_surroundings_change_no_verdict() {
    let ground = Ground::halted();
    let stage = &ground.stage;
    let andon = format!("'{}'", andon_path().display());
    for (line, code) in [
        ("ANDON hook pre-commit >&- 2>&-", 1),
        ("ANDON hook pre-commit <&-", 1),
        ("ANDON hook pre-commit > /dev/full 2> /dev/full", 1),
        ("ANDON hook pre-push a b <&-", 0),
        ("ANDON status >&-", 0),
        ("ANDON status > /dev/full", 0),
        ("ANDON complete >&- 2>&-", 1),
        ("ANDON test >&- 2>&-", 0),
        ("ANDON log --format json | head -1 > /dev/null", 0),
        ("ANDON replay | true", 0),
        ("unset HOME; ANDON status", 0),
        ("HOME= XDG_CONFIG_HOME= ANDON status", 0),
        ("HOME=/dev/null ANDON status", 0),
        ("HOME=relative XDG_CONFIG_HOME=relative ANDON hook pre-commit", 1),
        ("env -i ANDON hook pre-commit", 1),
        ("GIT_DIR=/nowhere ANDON status", 2),
        ("GIT_DIR= ANDON status", 0),
        ("GIT_DIR=andon.toml ANDON status", 2),
        ("GIT_INDEX_FILE=/nowhere/index ANDON complete", 1),
        ("GIT_WORK_TREE=/nowhere ANDON status", 70),
        ("mkdir -p gone && cd gone && rmdir ../gone && ANDON status", 2),
        ("cd .git && ANDON status", 0),
        ("cd / && ANDON status", 2),
        ("PATH= ANDON hook pre-commit", 1),
        ("ANDON=00 ANDON hook pre-commit", 1),
        ("TERM='\u{1b}[31m' LC_ALL='\u{1b}' ANDON status", 0),
        ("ANDON_SESSION=\"$(head -c 100000 /dev/zero | tr '\\0' s)\" ANDON hook pre-commit", 1),
        ("ANDON_HOOK=/dev/null/pre-commit ANDON hook pre-commit", 1),
    ] {
        let line = line
            .replace("ANDON=00 ", "\u{0}")
            .replace("ANDON ", &format!("{andon} "))
            .replace('\u{0}', "ANDON=00 ");
        let out = stage.run_in(stage.dir(), "timeout", &["-k", "1", HUNG, "sh", "-c", &line], None);
        if std::env::var_os("HOSTILE_SHOW").is_some() {
            println!("$ {line}\n{out}");
        }
        assert_eq!(fault(&out), None, "{line}: {out}");
        assert_eq!(out.code, code, "{line}: {out}");
    }
}

/// A line of Markdown without its code spans.
fn outside_of_code(line: &str) -> String {
    let (mut left, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`').filter(|at| !rest[..*at].ends_with('\\')) {
        left.push_str(&rest[..at]);
        let ticks = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let inside = &rest[at + ticks..];
        let end = inside
            .match_indices(&"`".repeat(ticks))
            .map(|(end, _)| end)
            .find(|end| !inside[..*end].ends_with('`') && !inside[*end + ticks..].starts_with('`'));
        rest = end.map_or("", |end| &inside[end + ticks..]);
    }
    left + rest
}
