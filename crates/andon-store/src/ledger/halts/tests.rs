use std::{fs, path::Path};

use proptest::prelude::*;
use serde_json::{Map, json};

use super::super::tests::{AT, acknowledged, fresh, git, halted, open};
use super::*;
use crate::{NewEntry, ledger::Ledger};
use andon_core::domain::Timestamp;

/// A step of a clone.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// A flag: neither halt nor answer.
    Flag,
    Halt(bool),
    AnswerNewest,
    /// Takes what the other one has.
    Fetch,
    /// Loses the newest entry of the other one's ledger.
    SetBack,
    /// Puts its own ledger in the place of the other one's.
    Replace,
}

fn acts() -> impl Strategy<Value = Vec<(bool, Act)>> {
    let act = prop_oneof![
        6 => Just(Act::Flag),
        2 => any::<bool>().prop_map(Act::Halt),
        1 => Just(Act::AnswerNewest),
        4 => Just(Act::Fetch),
        1 => Just(Act::SetBack),
        1 => Just(Act::Replace),
    ];
    prop::collection::vec((any::<bool>(), act), 1..24)
}

fn carry_out(act: Act, number: usize, here: &Path, there: &Path) {
    let repo = open(here);
    let ledger = Ledger::open(&repo);
    let theirs = ref_of(&Ledger::open(&open(there)).writer_id().unwrap());
    let at = Timestamp(1_800_000_000 + i64::try_from(number).unwrap());
    match act {
        Act::Flag => {
            let said = json!({"round": "x", "reason": number.to_string()});
            let said: Map<_, _> = said.as_object().unwrap().clone();
            ledger
                .append_open(&NewEntry { kind: "flag", ledger: None, body: &said, at, evidence: &[] }, None)
                .unwrap();
        }
        Act::Halt(main) => {
            ledger.append(&halted(if main { "main" } else { "side" }), at).unwrap();
        }
        Act::AnswerNewest => {
            let (entries, _) = ledger.read_all().unwrap();
            let is_halt = |entry: &&Entry| entry.event.halt().is_some();
            if let Some(halt) = entries.iter().rev().find(is_halt) {
                ledger.append(&acknowledged("main", Some(halt.id)), at).unwrap();
            }
        }
        Act::Fetch => {
            git(here, &["fetch", "-q", there.to_str().unwrap(), &format!("+{theirs}*:{theirs}*")]);
        }
        Act::Replace => {
            if let Some(own) = repo.ref_commit(&ref_of(&ledger.writer_id().unwrap())).unwrap() {
                git(here, &["update-ref", &theirs, own.to_string().as_str()]);
            }
        }
        Act::SetBack => {
            if let Some(before) = repo.ref_commit(&theirs).unwrap()
                && let [parent, ..] = repo.commit(before).unwrap().parents.as_slice()
            {
                git(here, &["update-ref", &theirs, parent.to_string().as_str()]);
            }
        }
    }
}

/// The halts known with the memory as it is, and those known without one.
fn both(dir: &Path) -> [(Meaning, BTreeMap<String, EntryId>); 2] {
    let look = || {
        let repo = open(dir);
        let own = Ledger::open(&repo).known_writer().unwrap();
        let known = load(&repo, own.as_ref()).unwrap();
        let heads = Ledger::open(&repo).heads().unwrap();
        (known.meaning, heads)
    };
    let remembered = look();
    let memory = Memory::new(&open(dir), Kind::HALTS).path().to_owned();
    let kept = fs::read(&memory).unwrap();
    fs::remove_file(&memory).unwrap();
    let read = look();
    fs::write(memory, kept).unwrap();
    [remembered, read]
}

#[test]
fn the_memory_is_a_saving_only() {
    let (dir, repo) = fresh();
    let ledger = Ledger::open(&repo);
    let id = ledger.append(&halted("main"), AT).unwrap();
    let unanswered = || Ledger::open(&open(dir.path())).standing("main").unwrap().map(|halt| halt.id);
    assert_eq!(unanswered(), Some(id));
    let memory = Memory::new(&repo, Kind::HALTS);
    let good = fs::read(memory.path()).unwrap();
    let known: Halts = memory.get(&()).unwrap();
    let with = |change: &dyn Fn(&mut Halts)| {
        let mut known = known.clone();
        change(&mut known);
        memory.put(&(), &known);
        fs::read(memory.path()).unwrap()
    };
    let tip = known.at.own.as_ref().unwrap().1;
    let other: CommitId = "1".repeat(40).parse().unwrap();
    let of_others = with(&|known| known.at.own = None);
    let before = with(&|known| {
        known.at.own.as_mut().unwrap().1 = other;
        known.tips[0].commit = other;
        known.meaning.own.clear();
    });
    let no_halt =
        with(&|known| known.meaning.own = BTreeMap::from([("main".to_owned(), (EntryId([2; 32]), tip))]));
    for bad in [&b""[..], b"{", &good[..40], &of_others, &before, &no_halt] {
        fs::write(memory.path(), bad).unwrap();
        assert_eq!(unanswered(), Some(id), "{}", bad.escape_ascii());
    }
    fs::remove_file(memory.path()).unwrap();
    assert_eq!(unanswered(), Some(id));
    // A ref that was set back goes forward to what is remembered; without a memory it takes its entries along.
    ledger.append(&acknowledged("main", Some(id)), AT).unwrap();
    assert_eq!(unanswered(), None);
    let set_back =
        || git(dir.path(), &["update-ref", &ref_of(&ledger.writer_id().unwrap()), &tip.to_string()]);
    set_back();
    assert_eq!(unanswered(), None);
    fs::remove_file(memory.path()).unwrap();
    set_back();
    assert_eq!(unanswered(), Some(id));
}

/// An entry in the ledger of another that names this clone as its writer says nothing about this clone's halts.
#[test]
fn only_the_ref_of_a_clone_speaks_for_it() {
    let ((a, repo_a), (b, repo_b)) = (fresh(), fresh());
    let (ledger_a, ledger_b) = (Ledger::open(&repo_a), Ledger::open(&repo_b));
    let id = ledger_a.append(&halted("main"), AT).unwrap();
    let own = ref_of(&ledger_a.writer_id().unwrap());
    let halted = git(a.path(), &["rev-parse", &own]);
    ledger_a.append(&acknowledged("main", None), AT).unwrap();
    let unanswered = || Ledger::open(&open(a.path())).standing("main").unwrap().map(|halt| halt.id);
    assert_eq!(unanswered(), None);
    let theirs = ref_of(&ledger_b.writer_id().unwrap());
    git(a.path(), &["update-ref", &theirs, &own]);
    git(a.path(), &["update-ref", &own, &halted]);
    fs::remove_file(Memory::new(&repo_a, Kind::HALTS).path()).unwrap();
    assert_eq!(unanswered(), Some(id), "{b:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Whatever two clones do, what is remembered and what is read are the same.
    #[test]
    fn the_memory_says_what_reading_says(acts in acts()) {
        let ((a, _), (b, _)) = (fresh(), fresh());
        for (number, (first, act)) in acts.into_iter().enumerate() {
            let (here, there) = if first { (a.path(), b.path()) } else { (b.path(), a.path()) };
            carry_out(act, number, here, there);
            for dir in [a.path(), b.path()] {
                let [remembered, read] = both(dir);
                prop_assert_eq!(remembered, read);
            }
        }
    }
}
