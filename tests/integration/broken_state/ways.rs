//! Ways to break a repository.

use std::{fs, path::Path};

use self::Break::{Cut, Directory, Fifo, File, Instead, More, Note, Other};
use crate::support::Stage;

pub(crate) fn note(stage: &Stage, dir: &Path, text: &[u8]) {
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

/// More than anything that is broken here may hold: 16 MiB, for a journal.
pub(crate) fn huge() -> Vec<u8> {
    vec![b'x'; 17 << 20]
}

/// What is done to a repository.
pub(crate) enum Break {
    /// A file has these bytes.
    File(&'static str, &'static [u8]),
    /// The same in the place of whatever is there.
    Instead(&'static str, &'static [u8]),
    /// A file has these bytes at its end.
    More(&'static str, &'static [u8]),
    Directory(&'static str),
    Fifo(&'static str),
    /// Half of an object is gone.
    Cut(&'static str),
    /// The note of HEAD has these bytes.
    Note(&'static [u8]),
    Other(fn(&Stage, &Path)),
}

impl Break {
    pub(crate) fn apply(&self, stage: &Stage, dir: &Path) {
        match self {
            File(path, bytes) => fs::write(dir.join(path), bytes).unwrap(),
            Instead(path, bytes) => {
                let path = dir.join(path);
                let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                fs::write(path, bytes).unwrap();
            }
            More(path, bytes) => append(&dir.join(path), bytes),
            Directory(path) => directory(&dir.join(path)),
            Fifo(path) => fifo(stage, &dir.join(path)),
            Cut(object) => cut_short(stage, dir, object),
            Note(bytes) => note(stage, dir, bytes),
            Other(run) => run(stage, dir),
        }
    }
}

/// Ways to break a repository, each with words that some command must say about it.
pub(crate) const BROKEN: &[(&str, Break, &[&str])] = &[
    ("note-garbage", Note(b"garbage \x1b]0;owned\x07 \xff\n"), &["git notes --ref=andon"]),
    ("note-two-lines-of-others", Note(b"{\"a\":1}\n{\"b\":2}\n"), &["git notes --ref=andon"]),
    ("note-version-2", Note(b"{\"schema\":\"andon/commit@2\"}\n"), &["andon/commit@2"]),
    ("note-deep", Other(|stage, dir| note(stage, dir, deep(200_000).as_bytes())), &["git notes --ref=andon"]),
    ("note-huge", Other(|stage, dir| blob_note(stage, dir, &huge())), &["17825792 bytes"]),
    (
        "note-cut-short",
        Other(|stage, dir| {
            let head = stage.git_in(dir, &["rev-parse", "HEAD"]).ok().stdout;
            cut_short(
                stage,
                dir,
                stage.git_in(dir, &["notes", "--ref=andon", "list", head.trim()]).ok().stdout.trim(),
            );
        }),
        &["git notes --ref=andon"],
    ),
    ("notes-tree-cut-short", Cut("refs/notes/andon^{tree}"), &["git fsck"]),
    ("notes-commit-cut-short", Cut("refs/notes/andon"), &["git fsck"]),
    ("tree-cut-short", Cut("HEAD^{tree}"), &["git fsck"]),
    ("commit-cut-short", Cut("HEAD"), &["git fsck"]),
    (
        "notes-ref-blob",
        Other(|stage, dir| {
            let blob = stage.run_in(dir, "git", &["hash-object", "-w", "--stdin"], Some(b"x")).ok().stdout;
            stage.git_in(dir, &["update-ref", "refs/notes/andon", blob.trim()]).ok();
        }),
        &["refs/notes/andon"],
    ),
    (
        "journal-half-a-line",
        Other(|_, dir| {
            let path = dir.join(".git/andon/journal.jsonl");
            let text = fs::read(&path).unwrap();
            fs::write(path, &text[..text.len() - 20]).unwrap();
        }),
        &["journal.jsonl"],
    ),
    ("journal-binary", More(".git/andon/journal.jsonl", b"\xff\xfe\0\x1b[2J\n"), &["journal.jsonl"]),
    (
        "journal-unknown-type",
        More(".git/andon/journal.jsonl", b"{\"type\":\"weather\"}\n[]\n7\n"),
        &["journal.jsonl"],
    ),
    (
        "journal-deep",
        Other(|_, dir| append(&dir.join(".git/andon/journal.jsonl"), deep(100_000).as_bytes())),
        &["journal.jsonl"],
    ),
    (
        "journal-huge-line",
        Other(|_, dir| append(&dir.join(".git/andon/journal.jsonl"), &huge())),
        &["journal.jsonl"],
    ),
    ("journal-fifo", Fifo(".git/andon/journal.jsonl"), &["journal.jsonl"]),
    ("journal-directory", Directory(".git/andon/journal.jsonl"), &["journal.jsonl"]),
    ("state-is-a-file", Instead(".git/andon", b"x"), &[".git/andon"]),
    ("receipt-garbage", File(".git/andon/receipt", b"\xff{"), &[]),
    ("receipt-directory", Directory(".git/andon/receipt"), &[]),
    ("receipt-fifo", Fifo(".git/andon/receipt"), &[]),
    (
        "caches-garbage",
        Other(|_, dir| {
            for name in ["halts", "fingerprints", "window"] {
                fs::create_dir_all(dir.join(".git/andon/cache")).unwrap();
                fs::write(dir.join(".git/andon/cache").join(name), b"\xff\0garbage").unwrap();
            }
        }),
        &[],
    ),
    (
        "caches-fifo",
        Other(|stage, dir| {
            for name in ["halts", "fingerprints", "window"] {
                fs::create_dir_all(dir.join(".git/andon/cache")).unwrap();
                fifo(stage, &dir.join(".git/andon/cache").join(name));
            }
        }),
        &[],
    ),
    ("cache-is-a-file", Instead(".git/andon/cache", b"x"), &[]),
    ("writer-garbage", File(".git/andon/writer", b"\xff../../x\n"), &["andon/writer"]),
    (
        "writer-lost",
        Other(|_, dir| {
            // A clone that never wrote has lost nothing.
            let _ = fs::remove_file(dir.join(".git/andon/writer"));
        }),
        &[],
    ),
    (
        "writer-huge",
        Other(|_, dir| fs::write(dir.join(".git/andon/writer"), huge()).unwrap()),
        &["andon/writer"],
    ),
    ("writer-fifo", Fifo(".git/andon/writer"), &["andon/writer"]),
    (
        "ledger-ref-blob",
        Other(|stage, dir| {
            let blob = stage.run_in(dir, "git", &["hash-object", "-w", "--stdin"], Some(b"x")).ok().stdout;
            stage.git_in(dir, &["update-ref", &ledger_ref(stage, dir), blob.trim()]).ok();
        }),
        &["refs/andon/ledger"],
    ),
    (
        "ledger-ref-tag",
        Other(|stage, dir| {
            stage.git_in(dir, &["tag", "-am", "x", "x", "HEAD"]).ok();
            stage.git_in(dir, &["update-ref", &ledger_ref(stage, dir), "refs/tags/x"]).ok();
        }),
        &["ledger"],
    ),
    ("ledger-entry-garbage", Other(|stage, dir| entry(stage, dir, b"garbage")), &["ledger"]),
    ("ledger-entry-huge", Other(|stage, dir| entry(stage, dir, &huge())), &["ledger"]),
    ("ledger-entry-deep", Other(|stage, dir| entry(stage, dir, deep(100_000).as_bytes())), &["ledger"]),
    (
        "ledger-entry-version",
        Other(|stage, dir| entry(stage, dir, b"{\"schema\":\"andon/ledger@9\"}")),
        &["ledger entry"],
    ),
    ("config-directory", Directory("andon.toml"), &["andon.toml"]),
    ("config-loop", Other(|_, dir| link("andon.toml", &dir.join("andon.toml"))), &["andon.toml"]),
    ("config-fifo", Fifo("andon.toml"), &["andon.toml"]),
    ("config-huge", Other(|_, dir| fs::write(dir.join("andon.toml"), huge()).unwrap()), &["andon.toml"]),
    ("config-binary", File("andon.toml", b"[test]\nx = \"\xff\"\n"), &["andon.toml:2"]),
    (
        "config-deep",
        Other(|_, dir| {
            fs::write(dir.join("andon.toml"), format!("[test]\ncommand = {}\n", deep(100_000))).unwrap();
        }),
        &["andon.toml:2"],
    ),
    ("config-truncated", File("andon.toml", b"[test]\ncommand = \"sh"), &["andon.toml:2"]),
    ("config-escapes", File("andon.toml", b"[test]\n\"\\u001b]0;x\\u0007\" = 1\n"), &["andon.toml:2"]),
    ("andon-dir-is-a-file", Instead(".andon", b"x"), &[".andon"]),
    (
        "andon-dir-dangles",
        Other(|_, dir| {
            let _ = fs::remove_dir_all(dir.join(".andon"));
            link("/nonexistent/x", &dir.join(".andon"));
        }),
        &[".andon"],
    ),
    ("report-file-is-a-directory", Directory(".andon/CHECKPOINT.md"), &[]),
    ("stop-is-a-directory", Directory(".andon/STOP"), &[".andon/STOP"]),
    ("head-garbage", File(".git/HEAD", b"\xff\n"), &["HEAD"]),
    ("orig-head-garbage", File(".git/ORIG_HEAD", b"\xff\n"), &[]),
    ("reflog-garbage", File(".git/logs/HEAD", b"\xff\0 \n\n \t"), &[]),
    ("index-garbage", File(".git/index", b"DIRC\0\0\0\x02\xff\xff"), &["index"]),
    ("git-config-garbage", File(".git/config", b"[core\n"), &["config"]),
];

fn append(path: &Path, bytes: &[u8]) {
    use std::io::Write as _;
    fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

pub(crate) fn directory(path: &Path) {
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

pub(crate) fn link(target: &str, path: &Path) {
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
