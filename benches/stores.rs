//! What the stores cost beside a real repository: adding a record and reading a window, by how many notes there are.
//! Run with `cargo bench --bench stores`.

#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up must fail")]
#![allow(clippy::disallowed_methods, reason = "the repositories are built by git")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use andon_core::domain::{CommitId, CommitRecord, PrevRecord, Timestamp};
use andon_git::{Repo, RepoEnv};
use andon_store::{NotesStore, window::read_window, wire::v1::decode_commit};
use criterion::{Criterion, criterion_group, criterion_main};

const GOLDEN: &[u8] = include_bytes!("../tests/format/v1/commit-full.json");
/// Commits with a record of their own, the newest of the history.
const WINDOW: usize = 20;

fn git(dir: &Path, args: &[&str], stdin: &str) -> String {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A repository of [`WINDOW`] commits, and that many notes more of commits that are nowhere, fanned out as a store of
/// that size is; packed, as such a repository would be.
fn repository(dir: &Path, notes: usize) -> Vec<CommitId> {
    git(dir, &["init", "-q", "-b", "main"], "");
    let mut stream = String::new();
    for number in 0..WINDOW {
        let at = 1_700_000_000 + number * 60;
        write!(stream, "commit refs/heads/main\ncommitter A <a@b> {at} +0000\ndata 1\nx\n").unwrap();
        write!(stream, "M 100644 inline a\ndata 3\n{number:3}\n\n").unwrap();
    }
    stream.push_str("commit refs/notes/andon\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n");
    for number in 0..notes as u64 {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = format!("{mixed:016x}{:024x}", mixed.rotate_left(20));
        let fan = if notes > 50_000 {
            format!("{}/{}/{}", &id[..2], &id[2..4], &id[4..])
        } else {
            format!("{}/{}", &id[..2], &id[2..])
        };
        write!(stream, "M 100644 inline {fan}\ndata {}\n", GOLDEN.len()).unwrap();
        stream.push_str(std::str::from_utf8(GOLDEN).unwrap());
    }
    git(dir, &["fast-import", "--quiet"], &stream);
    let listed = git(dir, &["rev-list", "--reverse", "main"], "");
    listed.lines().map(|line| line.parse().unwrap()).collect()
}

fn record(repo: &Repo, commit: CommitId, iteration: u64) -> CommitRecord {
    let info = repo.commit(commit).unwrap();
    let golden = decode_commit(GOLDEN).unwrap().record;
    CommitRecord {
        tree: info.tree,
        parent: info.parents.first().copied(),
        prev: PrevRecord::Unsaid,
        iteration,
        ..golden
    }
}

fn stores(criterion: &mut Criterion) {
    // Removed at the end: ext4 without a journal takes no inode that was freed some seconds ago, and looks at each one
    // for each new file (a tenth of a millisecond and more after thousands were removed).
    let dirs = [1_000, 300_000].map(|notes| (notes, tempfile::tempdir().unwrap()));
    for (notes, dir) in &dirs {
        let notes = *notes;
        let commits = repository(dir.path(), notes);
        let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
        let mut store = NotesStore::open(&repo).unwrap();
        let records: Vec<(CommitId, CommitRecord)> =
            (2..).zip(&commits).map(|(iteration, id)| (*id, record(&repo, *id, iteration))).collect();
        store.put(&records, Timestamp(1_700_000_000)).unwrap();

        let mut number = 0;
        let (id, first) = &records[0];
        criterion.bench_function(&format!("add a record to {notes} notes"), |bencher| {
            bencher.iter(|| {
                // As a hook does: a handle of its own, nothing read before, one record.
                number += 1;
                let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
                let mut store = NotesStore::open(&repo).unwrap();
                let record = CommitRecord { session: Some(format!("{number}")), ..first.clone() };
                store.put(&[(*id, record)], Timestamp(1_700_000_000 + number)).unwrap();
            });
        });
        criterion.bench_function(
            &format!("read a window of {WINDOW} records among {notes} notes"),
            |bencher| {
                bencher.iter(|| {
                    let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
                    let store = NotesStore::open(&repo).unwrap();
                    // What was remembered of the last window would spare the reading.
                    let _ = std::fs::remove_file(dir.path().join(".git/andon/cache/window"));
                    let window = read_window(&repo, &store, commits.last().copied(), WINDOW);
                    assert_eq!(window.facts.len(), WINDOW);
                    black_box(window)
                });
            },
        );
        criterion.bench_function(&format!("read the same window as remembered, {notes} notes"), |bencher| {
            bencher.iter(|| {
                let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
                let store = NotesStore::open(&repo).unwrap();
                black_box(read_window(&repo, &store, commits.last().copied(), WINDOW))
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = stores
}
criterion_main!(benches);
