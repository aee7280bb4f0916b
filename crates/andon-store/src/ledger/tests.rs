use std::{ffi::OsStr, path::Path};

use super::*;
use crate::wire::v1::ledger as wire;
use andon_core::domain::{
    Ack, AckHow, AdvisedStep, DiffHash, Digest, Figures, Halt, HaltEvidence, HaltReason, NamedCall, Oid,
    ReportFile, ShortHash, Signature, Suggestion,
};
use andon_git::RepoEnv;

pub(super) const AT: Timestamp = Timestamp(1_800_000_000);
const GOLDEN_CALLS: &str = include_str!("../../../../tests/format/v1/ledger-halted-calls.json");
const GOLDEN_HALT: &str = include_str!("../../../../tests/format/v1/ledger-halted.json");
const GOLDEN_ACK: &str = include_str!("../../../../tests/format/v1/ledger-acknowledged.json");

pub(super) fn git(dir: &Path, args: &[&str]) -> String {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"];
    let all: Vec<&OsStr> = fixed.iter().chain(args).map(OsStr::new).collect();
    String::from_utf8(andon_git::git(dir, &all, b"").unwrap().stdout).unwrap().trim_end().to_owned()
}

pub(super) fn fresh() -> (tempfile::TempDir, Repo) {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    let repo = open(dir.path());
    (dir, repo)
}

pub(super) fn open(dir: &Path) -> Repo {
    Repo::open(dir, &RepoEnv::default()).unwrap()
}

fn halt(worktree: &str) -> Halt {
    Halt {
        cycle_id: "agent".into(),
        reason: HaltReason::Oscillating,
        rule: "oscillation".into(),
        message: "A/B/A/B \u{1b}[31m ünd \u{2028} \"so\" on".into(),
        figures: Figures::Unreported,
        summary: Box::default(),
        report_file: ReportFile::BlockerReport,
        evidence: HaltEvidence {
            diffs: vec![DiffHash([1; 32])],
            tests: vec![Signature([2; 32])],
            outputs: vec![Digest([3; 32])],
            calls: Vec::new(),
            trend: vec![7, 4, 2],
        },
        suggested_actions: vec![Suggestion { step: None, text: "git log".into() }],
        iteration: 12,
        head: Some(CommitId(Oid::from_bytes(&[4; 20]).unwrap())),
        branch: Some("main".into()),
        worktree: worktree.into(),
        base: None,
        beside: vec!["*".into()],
        binds: andon_core::domain::HaltReach::Line,
        at: AT,
    }
}

fn ack(worktree: &str, halt: Option<EntryId>) -> Ack {
    Ack {
        halt,
        how: AckHow::FileDeleted,
        agent: Some("CLAUDECODE".into()),
        worktree: worktree.into(),
        ..Ack::new("A <a@example.org>", AT)
    }
}

pub(super) fn halted(worktree: &str) -> LedgerEvent {
    LedgerEvent::Halted(Box::new(halt(worktree)))
}

pub(super) fn acknowledged(worktree: &str, halt: Option<EntryId>) -> LedgerEvent {
    LedgerEvent::Acknowledged(Box::new(ack(worktree, halt)))
}

#[test]
fn golden_entries_are_written_and_read_byte_for_byte() {
    let answered = acknowledged("main", Some(EntryId([5; 32])));
    let mut of_calls = halt("main");
    let call = |byte, shown: Option<&str>| NamedCall {
        exact: ShortHash([byte; 8]),
        shown: shown.map(str::to_owned),
    };
    of_calls.evidence.calls = vec![call(9, Some("Bash: echo ü \\u{1b}[31m \"so\"")), call(10, None)];
    let of_calls = LedgerEvent::Halted(Box::new(of_calls));
    let goldens = [(halted("main"), GOLDEN_HALT), (of_calls, GOLDEN_CALLS), (answered, GOLDEN_ACK)];
    for (event, golden) in goldens {
        let writer = "0123456789abcdef0123456789abcdef";
        let written = wire::encode(&event, &wire::PlaceWire { writer, lamport: 3, at: AT }).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), golden.trim_end());
        let read = wire::decode(golden.as_bytes()).unwrap();
        assert_eq!((read.event, read.lamport, read.at), (Ok(event), 3, Some(AT)));
        assert_eq!(read.writer, writer);
    }
}

#[test]
fn what_is_written_is_bounded() {
    let mut large = halt("main");
    large.message = "ü".repeat(1 << 20);
    large.iteration = u64::MAX;
    large.evidence.trend = (0..1000).collect();
    let shown = Some("\u{1}".repeat(1 << 20));
    large.evidence.calls = vec![NamedCall { exact: ShortHash([1; 8]), shown }; 1000];
    large.suggested_actions = vec![Suggestion::new(AdvisedStep::HandOver, "\u{1}".repeat(10_000)); 1000];
    let event = LedgerEvent::Halted(Box::new(large));
    let bytes = wire::encode(&event, &wire::PlaceWire { writer: "w", lamport: u64::MAX, at: AT }).unwrap();
    assert!(bytes.len() < 2 << 20);
    let mut padded = bytes.clone();
    padded.resize(wire::MAX_ENTRY, b' ');
    assert!(wire::decode(&padded).is_ok());
    padded.push(b' ');
    assert!(wire::decode(&padded).unwrap_err().to_string().contains("2097152"));
    let read = wire::decode(&bytes).unwrap();
    let Ok(LedgerEvent::Halted(read_halt)) = read.event else { unreachable!() };
    assert_eq!((read.lamport, read_halt.iteration), (wire::MAX_NUMBER, wire::MAX_NUMBER));
    assert_eq!((read_halt.evidence.trend.len(), read_halt.evidence.trend[63]), (64, 999));
}

#[test]
fn entries_of_other_versions_are_unknown_and_broken_ones_errors() {
    let later = GOLDEN_HALT.replace("andon/ledger@1", "andon/ledger@2");
    let other = GOLDEN_HALT.replace("loop.halted", "verdict.given");
    for (text, kind) in [(later, "loop.halted"), (other, "verdict.given")] {
        assert_eq!(wire::decode(text.as_bytes()).unwrap().event, Err(kind.into()));
    }
    let minor = GOLDEN_HALT.replace("andon/ledger@1", "andon/ledger@1.7").replacen('{', "{\"new\":[1],", 1);
    assert!(wire::decode(minor.as_bytes()).unwrap().event.is_ok());
    for (from, to) in
        [("oscillating", "bored"), ("\"lamport\":3", "\"lamport\":-3"), ("0101", "zz01"), ("}", "")]
    {
        assert!(wire::decode(GOLDEN_HALT.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
    }
    for bytes in [&b""[..], b"[]", b"\xff", &b"[".repeat(100_000)] {
        assert!(wire::decode(bytes).is_err());
    }
}

#[test]
fn a_halt_stands_until_it_is_answered() {
    let (_dir, repo) = fresh();
    let ledger = Ledger::open(&repo);
    assert_eq!(ledger.standing("main").unwrap(), None);
    assert!(!repo.common_dir().join("andon").exists());
    let first = ledger.append(&halted("main"), AT).unwrap();
    let standing = ledger.standing("main").unwrap().unwrap();
    assert_eq!((standing.id, standing.halt), (first, halt("main")));
    assert_eq!(ledger.standing("other").unwrap(), None);
    let second = ledger.append(&halted("other"), AT).unwrap();
    ledger.append(&acknowledged("main", Some(first)), AT).unwrap();
    assert_eq!(ledger.standing("main").unwrap(), None);
    assert_eq!(ledger.standing("other").unwrap().map(|halt| halt.id), Some(second));
    // An answer to an older halt does not answer a newer one; one to no halt in particular does.
    ledger.append(&halted("main"), AT).unwrap();
    ledger.append(&acknowledged("main", Some(first)), AT).unwrap();
    assert!(ledger.standing("main").unwrap().is_some());
    ledger.append(&acknowledged("main", None), AT).unwrap();
    assert_eq!(ledger.standing("main").unwrap(), None);
    // From another worktree, by id.
    ledger.append(&acknowledged("main", Some(second)), AT).unwrap();
    assert_eq!(ledger.standing("other").unwrap(), None);
}

#[test]
fn the_id_of_an_entry_survives_signing() {
    let (dir, repo) = fresh();
    let ledger = Ledger::open(&repo);
    let id = ledger.append(&halted("main"), AT).unwrap();
    let name = ref_of(&ledger.writer_id().unwrap());
    let raw = git(dir.path(), &["cat-file", "commit", &name]);
    assert_eq!(git(dir.path(), &["ls-tree", "--name-only", &name]), "entry.json");
    let signed = raw.replacen(
        "\n\n",
        "\ngpgsig -----BEGIN SSH SIGNATURE-----\n abc\n -----END SSH SIGNATURE-----\n\n",
        1,
    );
    let args: Vec<&OsStr> = ["hash-object", "-t", "commit", "-w", "--stdin"].map(OsStr::new).to_vec();
    let written = andon_git::git(dir.path(), &args, format!("{signed}\n").as_bytes()).unwrap().stdout;
    let written = String::from_utf8(written).unwrap();
    git(dir.path(), &["update-ref", &name, written.trim()]);
    let (entries, warnings) = ledger.read_all().unwrap();
    assert_eq!((entries.len(), warnings), (1, vec![]));
    assert_eq!(entries[0].id, id);
    assert_eq!(entries[0].commit.to_string(), written.trim());
    assert_eq!(ledger.standing("main").unwrap().map(|halt| halt.id), Some(id));
}

/// Fetches the ledger of `from` into `to`.
fn fetch(from: &Path, to: &Path) {
    git(to, &["fetch", "-q", from.to_str().unwrap(), "refs/andon/*:refs/andon/*"]);
}

#[test]
fn clones_agree_on_the_union_and_its_order() {
    let ((a, repo_a), (b, repo_b)) = (fresh(), fresh());
    let (ledger_a, ledger_b) = (Ledger::open(&repo_a), Ledger::open(&repo_b));
    let mut ids = vec![ledger_a.append(&halted("main"), AT).unwrap()];
    fetch(a.path(), b.path());
    // An entry of b follows those that b saw, whatever its clock says.
    ids.push(ledger_b.append(&halted("main"), Timestamp(5)).unwrap());
    ids.push(ledger_b.append(&acknowledged("main", Some(ids[1])), Timestamp(5)).unwrap());
    fetch(b.path(), a.path());
    ids.push(ledger_a.append(&acknowledged("main", Some(ids[0])), Timestamp(1)).unwrap());
    fetch(a.path(), b.path());
    let (entries, warnings) = ledger_a.read_all().unwrap();
    assert_eq!(warnings, vec![]);
    assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), ids);
    assert_eq!(entries.iter().map(|entry| entry.lamport).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(ledger_b.read_all().unwrap(), (entries, vec![]));
    // A head that was seen is named once.
    let name = ref_of(&ledger_b.writer_id().unwrap());
    let parents = git(b.path(), &["log", "--format=%p", &name, "--first-parent"]);
    assert_eq!(parents.lines().map(|line| line.split(' ').count()).collect::<Vec<_>>(), [1, 1]);
    // A halt of another clone is not one of this clone.
    assert_eq!(ledger_b.standing("main").unwrap(), None);
    ledger_a.append(&halted("main"), AT).unwrap();
    fetch(a.path(), b.path());
    assert_eq!(ledger_b.standing("main").unwrap(), None);
}

#[test]
fn corrupt_and_foreign_entries_are_warned_of_and_the_rest_is_read() {
    let (dir, repo) = fresh();
    let ledger = Ledger::open(&repo);
    let id = ledger.append(&halted("main"), AT).unwrap();
    let name = ref_of(&ledger.writer_id().unwrap());
    let own = git(dir.path(), &["rev-parse", &name]);
    std::fs::write(dir.path().join("entry.json"), "{\"type\":").unwrap();
    git(dir.path(), &["add", "entry.json"]);
    let tree = git(dir.path(), &["write-tree"]);
    let corrupt = git(dir.path(), &["commit-tree", "-m", "x", "-p", &own, &tree]);
    git(dir.path(), &["update-ref", &name, &corrupt]);
    let after = ledger.append(&acknowledged("main", None), AT).unwrap();
    let blob = git(dir.path(), &["hash-object", "-w", "entry.json"]);
    git(dir.path(), &["update-ref", &format!("{REF_PREFIX}blob"), &blob]);
    git(dir.path(), &["update-ref", &format!("{REF_PREFIX}borrowed"), &own]);
    ledger.append(&halted("other"), AT).unwrap();
    let (entries, warnings) = ledger.read_all().unwrap();
    assert_eq!(entries.iter().map(|entry| entry.id).take(2).collect::<Vec<_>>(), [id, after]);
    assert_eq!(entries.len(), 3);
    let text: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(text.len(), 3, "{text:?}");
    for commit in [&corrupt, &blob, &own] {
        assert!(text.iter().any(|line| line.contains(commit.as_str())), "{text:?}");
    }
    assert_eq!(ledger.standing("main").unwrap(), None);
}

#[test]
fn writers_of_one_clone_at_once_lose_nothing() {
    let (dir, repo) = fresh();
    let path = dir.path();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let repo = open(path);
                let ledger = Ledger::open(&repo);
                for number in 0..10 {
                    let name = format!("{writer}-{number}");
                    ledger.append(&halted(&name), AT).unwrap();
                    assert!(ledger.standing(&name).unwrap().is_some());
                }
            });
        }
    });
    let (entries, warnings) = Ledger::open(&repo).read_all().unwrap();
    assert_eq!((entries.len(), warnings), (40, vec![]));
    assert!(entries.iter().zip(1..).all(|(entry, number)| entry.lamport == number));
}

#[test]
fn a_counter_that_is_reset_ends_no_halt_in_any_clone() {
    let (dir, repo) = fresh();
    git(dir.path(), &["commit", "-q", "--allow-empty", "-m", "halted"]);
    let head = repo.head().unwrap().commit();
    let ledger = Ledger::open(&repo);
    let halted = Halt { head, ..halt("main") };
    let id = ledger.append(&LedgerEvent::Halted(Box::new(halted)), AT).unwrap();
    let counter = Ack { counter: Some("tool-loop".into()), ..ack("main", None) };
    ledger.append(&LedgerEvent::Acknowledged(Box::new(counter)), AT).unwrap();
    assert_eq!(ledger.standing("main").unwrap().map(|found| found.id), Some(id));
    let (other, clone) = fresh();
    fetch(dir.path(), other.path());
    git(other.path(), &["fetch", "-q", &dir.path().to_string_lossy(), "HEAD:refs/heads/halted"]);
    let elsewhere = || Ledger::open(&clone).unanswered("main", head).unwrap().elsewhere;
    assert_eq!(elsewhere().map(|found| found.id), Some(id));
    ledger.append(&acknowledged("main", None), AT).unwrap();
    fetch(dir.path(), other.path());
    assert_eq!((ledger.standing("main").unwrap(), elsewhere()), (None, None));
}
