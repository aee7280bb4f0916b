use super::*;
use crate::domain::decision::{Halt, HaltEvidence};
use crate::domain::facts::{Ack, AckHow};
use crate::domain::findings::{Face, HaltReason};
use crate::git::RepoEnv;

const AT: Timestamp = Timestamp(1_795_188_600);

fn repository() -> (tempfile::TempDir, Repo) {
    let dir = tempfile::tempdir().unwrap();
    git2::Repository::init(dir.path()).unwrap();
    let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
    (dir, repo)
}

fn halt(worktree: &str, message: &str) -> LedgerEvent {
    LedgerEvent::Halted(Box::new(Halt {
        cycle_id: "agent".to_owned(),
        reason: HaltReason::Stalled,
        rule: "repeated-failures".to_owned(),
        message: message.to_owned(),
        face: Face::Checkpoint,
        evidence: HaltEvidence { trend: vec![7, 4, 2], ..HaltEvidence::default() },
        suggested_actions: vec!["read the first failure".to_owned()],
        iteration: 3,
        head: Some("a".repeat(40).parse().unwrap()),
        branch: None,
        worktree: worktree.to_owned(),
        at: AT,
    }))
}

fn answer(halt: Option<EntryId>) -> LedgerEvent {
    LedgerEvent::Acknowledged(Box::new(Ack {
        halt,
        by: "A <a@example.org>".to_owned(),
        how: AckHow::Resume,
        agent: None,
        reason: "seen \u{1b}[31m <b>".to_owned(),
        head: None,
        worktree: "main".to_owned(),
        at: AT,
    }))
}

#[test]
fn what_is_appended_is_read_back_in_order() {
    let (_dir, repo) = repository();
    let ledger = Ledger::open(&repo);
    let events = [halt("main", "one"), answer(None), halt("side", "two")];
    let ids: Vec<EntryId> = events.iter().map(|event| ledger.append(event, AT).unwrap()).collect();
    let (entries, skipped) = ledger.read_all().unwrap();
    assert!(skipped.is_empty());
    assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), ids);
    assert_eq!(entries.iter().map(|entry| entry.lamport).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(entries.into_iter().map(|entry| entry.event.unwrap()).collect::<Vec<_>>(), events);
}

#[test]
fn a_halt_stands_until_it_is_answered() {
    let (dir, repo) = repository();
    let ledger = Ledger::open(&repo);
    assert_eq!(ledger.standing("main").unwrap(), None);
    let id = ledger.append(&halt("main", "one"), AT).unwrap();
    let other = ledger.append(&halt("side", "two"), AT).unwrap();
    for _ in 0..2 {
        assert_eq!(ledger.standing("main").unwrap().unwrap().id, id);
        assert_eq!(ledger.standing("side").unwrap().unwrap().id, other);
        assert_eq!(ledger.standing("third").unwrap(), None);
    }
    ledger.append(&answer(Some(id)), AT).unwrap();
    assert_eq!(ledger.standing("main").unwrap(), None);
    assert!(ledger.standing("side").unwrap().is_some());
    // The cache is only a cache.
    let cache = dir.path().join(".git/andon/cache/standing");
    for broken in ["", "andon/standing@1\nnonsense\n", "\u{0}\u{1}", "andon/standing@2\n"] {
        std::fs::write(&cache, broken).unwrap();
        assert!(ledger.standing("side").unwrap().is_some());
        assert_eq!(ledger.standing("main").unwrap(), None);
    }
    std::fs::remove_file(&cache).unwrap();
    assert!(ledger.standing("side").unwrap().is_some());
}

#[test]
fn entries_of_other_writers_are_united_and_ordered() {
    let (_dir, repo) = repository();
    let ledger = Ledger::open(&repo);
    let first = ledger.append(&halt("main", "one"), AT).unwrap();
    // Another clone's ref, as a fetch would bring it.
    let own = repo.refs_with_prefix(PREFIX).unwrap()[0].1;
    let foreign = format!("{PREFIX}{}", "f".repeat(32));
    repo.update_ref(&foreign, "test", |_| Ok(Update::Set(CommitId(own), ()))).unwrap();
    let second = ledger.append(&answer(Some(first)), AT).unwrap();
    let (entries, skipped) = ledger.read_all().unwrap();
    assert!(skipped.is_empty(), "{skipped:?}");
    assert_eq!(entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [first, second]);
}

#[test]
fn what_is_no_entry_is_skipped_and_named() {
    let (_dir, repo) = repository();
    let ledger = Ledger::open(&repo);
    ledger.append(&halt("main", "one"), AT).unwrap();
    let bodies: [&[u8]; 6] = [
        b"not json",
        b"[]",
        b"{\"schema\":\"andon/ledger@9\"}",
        b"\xff\xfe",
        b"{\"schema\":\"andon/ledger@1\",\"type\":\"loop.halted\",\"writer\":\"w\",\"lamport\":-1,\"payload\":{}}",
        b"{\"schema\":\"andon/ledger@1\",\"type\":\"loop.halted\",\"writer\":\"w\",\"lamport\":1,\"payload\":{}}",
    ];
    for (at, body) in bodies.iter().enumerate() {
        let id = repo.write_blob(body).unwrap();
        let file = TreeEntry { name: FILE.to_vec(), mode: crate::git::MODE_FILE, id };
        let tree = repo.write_tree_entries(&[file]).unwrap();
        let commit = repo.write_commit(&NewCommit { tree, parents: &[], message: "x\n", at: AT }).unwrap();
        repo.update_ref(&format!("{PREFIX}bad{at}"), "test", |_| Ok(Update::Set(commit, ()))).unwrap();
    }
    let (entries, skipped) = ledger.read_all().unwrap();
    assert_eq!((entries.len(), skipped.len()), (1, bodies.len()));
    assert!(skipped.iter().all(|skip| skip.commit.is_some()));
    assert!(ledger.standing("main").unwrap().is_some());
}

#[test]
fn an_unknown_type_is_kept_and_ignored() {
    let text = r#"{"schema":"andon/ledger@1","type":"loop.new","writer":"w","lamport":4,"payload":{"x":1}}"#;
    let decoded = wire::decode(text.as_bytes()).unwrap();
    assert_eq!((decoded.lamport, decoded.event), (4, None));
}

#[test]
fn the_writer_keeps_its_id_and_a_broken_file_is_named() {
    let (dir, repo) = repository();
    let ledger = Ledger::open(&repo);
    let id = ledger.writer_id().unwrap();
    assert_eq!((id.len(), ledger.writer_id().unwrap()), (32, id));
    std::fs::write(dir.path().join(".git/andon/writer"), "../../heads/main").unwrap();
    let err = ledger.writer_id().unwrap_err();
    assert!(err.help().unwrap().contains("rm "), "{err}");
}

proptest::proptest! {
    #[test]
    fn decoding_never_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = wire::decode(&bytes);
    }
}
