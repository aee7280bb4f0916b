use std::path::{Path, PathBuf};
use std::{collections::HashMap, process::Command};

use serde_json::{Map, Value, json};

use super::*;
use crate::ledger::Ledger;
use andon_core::domain::Oid;
use andon_git::{Repo, RepoEnv, Update};
use andon_signing::{Signer, SigningSetup};

const AT: Timestamp = Timestamp(1_800_000_000);

fn run(dir: &Path, program: &str, args: &[&str]) -> String {
    #[allow(clippy::disallowed_methods, reason = "a test runs git and makes keys")]
    let output = Command::new(program).args(args).current_dir(dir).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{program} {args:?}: {said}");
    format!("{}{said}", String::from_utf8_lossy(&output.stdout))
}

fn stage() -> (tempfile::TempDir, Repo, Signer) {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "git", &["init", "-q"]);
    run(dir.path(), "ssh-keygen", &["-q", "-N", "", "-t", "ed25519", "-f", "key"]);
    let key = PathBuf::from("key").to_string_lossy().into_owned();
    let setup = SigningSetup {
        format: Some("ssh".into()),
        key: Some(key),
        home: None,
        dir: dir.path().to_path_buf(),
    };
    let repo = Repo::open(dir.path(), &RepoEnv::default()).unwrap();
    (dir, repo, Signer::find(&setup).unwrap())
}

fn body(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn append(repo: &Repo, kind: &str, said: &Value, signer: Option<&Signer>) -> EntryId {
    let body = body(said);
    let new = NewEntry { kind, ledger: None, body: &body, evidence: &[], at: AT };
    Ledger::open(repo).append_open(&new, signer).unwrap()
}

#[test]
fn signed_entries_are_read_back_and_git_verifies_them() {
    let (dir, repo, signer) = stage();
    let evidence = [EvidenceText { name: "claim".into(), bytes: b"all of it".to_vec() }];
    let said = body(&json!({"question": "why?"}));
    let new = NewEntry { kind: "round", ledger: None, body: &said, evidence: &evidence, at: AT };
    Ledger::open(&repo).append_open(&new, None).unwrap();
    let flag = append(&repo, "flag", &json!({"round": "x", "reason": "ü"}), Some(&signer));
    let read = Ledger::open(&repo).read_whole(&HashMap::new()).unwrap();
    assert_eq!(read.faults, []);
    assert_eq!(read.entries.len(), 2);
    assert_eq!(read.entries[0].signature, SignatureState::Unsigned);
    let found = &read.entries[1];
    assert_eq!((found.id, found.lamport, &found.kind), (flag, 2, &"flag".to_owned()));
    let key = signer.public().to_string();
    assert_eq!(found.signature, SignatureState::Good { key: key.clone(), touch: Touch::Unknown });
    // Plain git says the same, by an allowed-signers file.
    std::fs::write(dir.path().join("allowed"), format!("human:ann namespaces=\"git\" {key}\n")).unwrap();
    let allowed = format!("gpg.ssh.allowedSignersFile={}", dir.path().join("allowed").display());
    let said = run(dir.path(), "git", &["-c", &allowed, "verify-commit", &found.commit.to_string()]);
    assert!(said.contains("Good \"git\" signature for human:ann"), "{said}");
    // The id does not know of the signature, and the other readers skip what they do not know.
    let (known, warnings) = Ledger::open(&repo).read_all().unwrap();
    assert_eq!((known.len(), warnings), (2, Vec::new()));
}

/// Rewrites the tip of the ledger: its raw commit goes through `change`.
fn forge(dir: &Path, repo: &Repo, change: impl Fn(String) -> String) {
    let own = Ledger::open(repo).own_ref().unwrap().unwrap();
    let raw = run(dir, "git", &["cat-file", "commit", &own]);
    let path = dir.join("forged");
    std::fs::write(&path, change(raw)).unwrap();
    let made = run(dir, "git", &["hash-object", "-t", "commit", "-w", "--literally", "forged"]);
    let made = CommitId(made.trim().parse::<Oid>().unwrap());
    repo.update_ref(&own, "forge", |_| Ok(Update::Set(made, ()))).unwrap();
}

#[test]
fn what_was_changed_after_signing_is_found() {
    let (dir, repo, signer) = stage();
    append(&repo, "flag", &json!({"round": "x", "reason": "one"}), Some(&signer));
    let other = append(&repo, "flag", &json!({"round": "x", "reason": "two"}), Some(&signer));
    forge(dir.path(), &repo, |raw| raw.replace("\n\nflag", "\n\nflog"));
    let read = Ledger::open(&repo).read_whole(&HashMap::new()).unwrap();
    let bad = read.entries.iter().filter(|entry| matches!(entry.signature, SignatureState::Bad(_)));
    assert_eq!(bad.count(), 1);
    assert!(read.entries.iter().all(|entry| entry.id != other));
    // A header that git would leave out of what is signed.
    forge(dir.path(), &repo, |raw| raw.replace("\n\nfl", "\ngpgsig-sha256 x\n\nfl"));
    let read = Ledger::open(&repo).read_whole(&HashMap::new()).unwrap();
    assert_eq!(read.faults[0].fault, EntryFault::Form("gpgsig-sha256".into()));
    assert_eq!(read.entries.len(), 1);
}

#[test]
fn the_same_payload_under_two_signatures_is_one_entry() {
    let (dir, repo, signer) = stage();
    append(&repo, "flag", &json!({"round": "x", "reason": "one"}), None);
    let own = Ledger::open(&repo).own_ref().unwrap().unwrap();
    let tip = repo.ref_commit(&own).unwrap().unwrap();
    let payload = andon_git::unsigned(&repo.commit_object(tip).unwrap());
    let armour = signer.sign(andon_signing::NAMESPACE, &payload).unwrap();
    let copy = repo.write_commit_object(&form::signed(&payload, &armour)).unwrap();
    let beside = format!("{}{}", crate::ledger::REF_PREFIX, "0".repeat(32));
    repo.update_ref(&beside, "copy", |_| Ok(Update::Set(copy, ()))).unwrap();
    let read = Ledger::open(&repo).read_whole(&HashMap::new()).unwrap();
    assert_eq!(read.entries.len(), 1);
    assert_eq!(read.faults[0].fault, EntryFault::Twice);
    drop(dir);
}

#[test]
fn what_follows_no_entry_follows_what_stood_before_it() {
    let (dir, repo, _) = stage();
    let first = append(&repo, "flag", &json!({"round": "x", "reason": "one"}), None);
    append(&repo, "flag", &json!({"round": "x", "reason": "two"}), None);
    forge(dir.path(), &repo, |raw| raw.replace("\n\nfl", "\ngpgsig-sha256 x\n\nfl"));
    append(&repo, "flag", &json!({"round": "x", "reason": "three"}), None);
    let read = Ledger::open(&repo).read_whole(&HashMap::new()).unwrap();
    assert_eq!((read.entries.len(), read.faults.len()), (2, 1));
    assert_eq!(read.entries[0].id, first);
    assert_eq!(read.entries[1].parents, [read.entries[0].commit]);
}
