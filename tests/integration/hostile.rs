//! Bad input, end to end: whatever is broken, every command says what and how to mend it, and none panics, hangs or
//! lets a rule go without a word.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Out, Stage, andon_path};

/// Seconds after which a command counts as hung.
const HUNG: &str = "6";

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

    fn andon(&self, args: &[&str]) -> Out {
        run(&self.stage, self.stage.dir(), args, None)
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
    ("receipt-directory", |_, dir| directory(&dir.join(".git/andon/receipt")), &["receipt"]),
    ("receipt-fifo", |stage, dir| fifo(stage, &dir.join(".git/andon/receipt")), &[]),
    (
        "caches-garbage",
        |_, dir| {
            for name in ["standing", "fingerprints"] {
                fs::create_dir_all(dir.join(".git/andon/cache")).unwrap();
                fs::write(dir.join(".git/andon/cache").join(name), b"\xff\0garbage").unwrap();
            }
        },
        &[],
    ),
    (
        "caches-fifo",
        |stage, dir| {
            for name in ["standing", "fingerprints"] {
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
        &["andon/ledger@9"],
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

#[test]
fn no_broken_state_makes_a_command_panic_hang_or_keep_silent() {
    let grounds = [("running", Ground::new()), ("halted", Ground::halted())];
    let only = std::env::var("HOSTILE_ONLY").unwrap_or_default();
    let mut wrong = Vec::new();
    for (ground_name, ground) in &grounds {
        for (name, break_it, words) in BROKEN.iter().filter(|(name, ..)| name.contains(&only)) {
            println!("=== {ground_name}: {name}");
            let dir = ground.copy(&format!("{ground_name}-{name}"));
            break_it(&ground.stage, &dir);
            let answers = sweep(&ground.stage, &dir);
            for (command, out) in &answers {
                wrong.extend(
                    fault(out).map(|fault| format!("{ground_name}, {name}: andon {command} {fault}")),
                );
            }
            let said: String = answers.iter().map(|(_, out)| out.all()).collect();
            for words in words.iter().filter(|words| !said.contains(**words)) {
                wrong.push(format!("{ground_name}, {name}: nobody says {words:?}"));
            }
            fs::remove_dir_all(&dir).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
    note(stage, stage.dir(), b"garbage\n");
    ground.commit("four\n").ok().says("unreadable record");
    assert_eq!(stage.record("HEAD")["iteration"], 3);
    stage.write("tests.txt", "not ok 1 - a\n");
    ground.commit("five\n").ok();
    note(stage, stage.dir(), b"garbage\n");
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
    stage.git(&["rebase", "-q", "side"]).ok().says("git notes --ref=andon show");
    assert_eq!(stage.record("HEAD")["kind"], "rebase");
    assert_eq!(stage.record("HEAD")["tests"]["status"], "passed");
}
