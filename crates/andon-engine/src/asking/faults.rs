//! The faults of a ledger, in the words of `docs/review.md`: entries that do not count, with the reason.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{SignedLedger, read_all, said, short};
use crate::{Result, Workspace};
use andon_core::domain::{AckHow, CommitId, EntryId, Hint, LedgerEvent, Level, plural::count};
use andon_git::Repo;
use andon_review::{Code, Payload, ReviewEntry, fold, payload::fields::names};
use andon_signing::PublicKey;
use andon_store::{EntryFault, Ledger, SignatureState, TamperedHow, WholeEntry};

/// A fault of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerFault {
    /// The entry, where it has an id.
    pub entry: Option<EntryId>,
    /// The reason, as a word for programs.
    pub code: String,
    /// `Block` where a person did wrong. Entries that two clones make at once are no one's fault: one of both does not count,
    /// and that is all.
    pub level: Level,
    /// The fault, in one sentence.
    pub message: String,
    /// The next step.
    pub help: String,
}

impl LedgerFault {
    /// A fault that a person made.
    pub fn new(entry: Option<EntryId>, code: &impl ToString, message: String, help: String) -> Self {
        Self { entry, code: code.to_string(), level: Level::Block, message, help }
    }
}

/// Everything that is wrong: first what could not be read, then entries in the order of the ledger.
pub fn faults(repo: &Repo, ledger: &SignedLedger) -> Vec<LedgerFault> {
    let mut found: Vec<LedgerFault> = ledger.faulty.iter().map(|faulty| unreadable(repo, faulty)).collect();
    found.extend(ledger.foreign.iter().map(|entry| of_another(ledger, entry)));
    let codes = &ledger.folded.state.codes;
    let mut faulty: Vec<(usize, Code)> = codes.iter().map(|(at, code)| (*at, *code)).collect();
    faulty.sort_by_key(|(at, _)| ledger.folded.graph.place[*at]);
    found.extend(faulty.into_iter().map(|(at, code)| {
        let (message, help) = reason(ledger, &ledger.review[at], code);
        let message = answered_twice(ledger, at, code).unwrap_or(message);
        let level = if RACES.contains(&code) { Level::Warn } else { Level::Block };
        LedgerFault { level, ..LedgerFault::new(Some(ledger.entries[at].id), &code, message, help) }
    }));
    // An invalid signature counts for nothing, also where none is needed.
    for (at, entry) in ledger.entries.iter().enumerate() {
        if matches!(entry.signature, SignatureState::Bad(_)) && !codes.contains_key(&at) {
            let message = format!("entry {}: content changed after signing", short(entry.id));
            let help = format!("see it: {}", Hint::ReviewShow.with([&short(entry.id)]));
            found.push(LedgerFault::new(Some(entry.id), &Code::Unsigned, message, help));
        }
    }
    found
}

/// Faults that come about where people do not know of each other yet.
const RACES: [Code; 5] =
    [Code::AlreadyResolved, Code::Withdrawn, Code::PanelFull, Code::DuplicateBallot, Code::PolicyConflict];

/// A second resolution, named with the ones before it.
fn answered_twice(ledger: &SignedLedger, second: usize, code: Code) -> Option<String> {
    let resolved = |at: usize| {
        let Some(Payload::Resolution(resolution)) = said(&ledger.review[at]) else { return None };
        Some(resolution.round.as_str())
    };
    let named = resolved(second).filter(|_| code == Code::AlreadyResolved)?;
    let noun = match ledger.review.iter().find(|entry| entry.id == named)?.kind.as_str() {
        "loop.halted" => "halt",
        _ => "round",
    };
    // In the order of the ledger.
    let all = (0..ledger.review.len()).filter(|at| resolved(*at) == Some(named));
    let all: Vec<String> = all.map(|at| ledger.short(at)).collect();
    let named: String = named.chars().take(8).collect();
    Some(format!("{noun} {named} is answered twice: {}", all.join(", ")))
}

fn unreadable(repo: &Repo, faulty: &andon_store::FaultyEntry) -> LedgerFault {
    let name = faulty.id.map_or_else(|| faulty.commit.short(), short);
    let (code, what) = match &faulty.fault {
        EntryFault::Missing => ("missing", format!("entry {name} is referred to but missing")),
        EntryFault::Form(header) => ("form", format!("entry {name}: not in canonical form ({header})")),
        EntryFault::Unreadable(why) => ("unreadable", format!("entry {name} cannot be read: {why}")),
        EntryFault::Twice => ("twice", format!("entry {name} appears twice")),
    };
    let help = match &faulty.fault {
        EntryFault::Missing => Hint::FetchLedger.into(),
        EntryFault::Form(_) | EntryFault::Unreadable(_) | EntryFault::Twice => {
            let see = || Hint::CatFile.with([&faulty.commit.to_string()]);
            Ledger::open(repo).way_out(faulty.commit).unwrap_or_else(see)
        }
    };
    LedgerFault::new(faulty.id, &code, what, help)
}

fn of_another(ledger: &SignedLedger, entry: &WholeEntry) -> LedgerFault {
    let named = entry.ledger.clone().unwrap_or_else(|| entry.id.to_string());
    let named: String = named.chars().take(8).collect();
    let this = ledger.id.map_or_else(String::new, short);
    let message = format!("entry {} belongs to ledger {named}, this is {this}", short(entry.id));
    let help = Hint::LogLedger.with([entry.writer.as_ref()]);
    LedgerFault::new(Some(entry.id), &"foreign", message, help)
}

/// Answers without the signature for which their halts ask.
///
/// # Errors
/// The ledgers cannot be read.
pub fn unsigned_answers(ws: &Workspace) -> Result<Vec<LedgerFault>> {
    let (entries, _) = read_all(&ws.repo, ws.opened)?;
    let faults = entries.iter().filter_map(|entry| {
        let Some(LedgerEvent::Acknowledged(ack)) = entry.event.known() else { return None };
        let halt = ack.halt.filter(|_| ack.how == AckHow::Unsigned)?;
        let message =
            format!("the answer {} to halt {} is unsigned: it ends nothing", short(entry.id), short(halt));
        let help = Hint::ResolveHalt.into();
        Some(LedgerFault::new(Some(entry.id), &"unsigned", message, help))
    });
    Ok(faults.collect())
}

/// Refs that lack what other writers saw of them.
///
/// # Errors
/// The refs cannot be read.
pub fn rewound(repo: &Repo) -> Result<Vec<LedgerFault>> {
    let (entries, _) = Ledger::open(repo).read_all()?;
    let ids: BTreeMap<CommitId, EntryId> = entries.iter().map(|entry| (entry.commit, entry.id)).collect();
    let found = Ledger::open(repo).tampered()?;
    let faults = found.into_iter().map(|tampered| {
        let writer = &tampered.writer;
        let message = match tampered.how {
            TamperedHow::Rewound(gone) | TamperedHow::Gone(gone) => {
                let entries = count(tampered.lost, "entry");
                let gone = ids.get(&gone).map_or_else(|| gone.short(), |id| short(*id));
                format!("ledger of {writer} was rewound: {gone} is no longer there ({entries})")
            }
            TamperedHow::Forked(one, other) => {
                format!(
                    "ledger of {writer} was rewritten: {} and {} exclude each other",
                    one.short(),
                    other.short()
                )
            }
        };
        let help = Hint::Sync.led("find out who forced it; get it back from another clone");
        LedgerFault::new(None, &"rewound", message, help)
    });
    Ok(faults.collect())
}

/// The reason for which an entry does not count, and the help; `None` where it does.
pub fn why_not(ledger: &SignedLedger, at: usize) -> Option<(String, String)> {
    let code = ledger.folded.state.codes.get(&at)?;
    Some(reason(ledger, &ledger.review[at], *code))
}

/// The message about an `entry` that `code` makes invalid, and the help.
pub(super) fn reason(ledger: &SignedLedger, entry: &ReviewEntry, code: Code) -> (String, String) {
    let what = filled(ledger, entry, texts_of(code).0);
    let is_of_any = [Code::ClockSetBack, Code::FromTheFuture, Code::Unsigned].contains(&code)
        || (code == Code::RevokedKey && is_backdated(ledger, entry));
    let what = if code == Code::PolicyRollback && what.starts_with("policy") {
        what
    } else if is_of_any {
        format!("{}{what}", subject(entry).replacen("resolution", "entry", 1))
    } else {
        format!("{}{what}", subject(entry))
    };
    (what, filled(ledger, entry, texts_of(code).1))
}

/// The name of an entry in messages: one that is still to be written has no id.
pub fn subject(entry: &ReviewEntry) -> String {
    let noun = match entry.kind.as_str() {
        "resolution" => "resolution",
        "ballot-commit" | "ballot-reveal" => "ballot",
        "policy" => "policy",
        _ => "entry",
    };
    let id: String = entry.id.chars().take(8).collect();
    if entry.id == "this entry" { format!("this {}", entry.kind) } else { format!("{noun} {id}") }
}

/// The reasons: a code, what it says of an entry, and what helps. A name in braces is replaced by a fact of that entry.
const REASONS: &str = include_str!("faults.txt");

/// The sentence and the hint of a code.
pub(super) fn texts_of(code: Code) -> (&'static str, &'static str) {
    let code = code.to_string();
    let rows =
        REASONS.lines().filter_map(|row| row.split_once(" | ")?.1.split_once(" | ").zip(row.split_once(' ')));
    rows.filter(|(_, (named, _))| *named == code).map(|(texts, _)| texts).next().unwrap_or_default()
}

fn filled(ledger: &SignedLedger, entry: &ReviewEntry, text: &str) -> String {
    let parts = text.split(['{', '}']).enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { fact(ledger, entry, part) }).collect()
}

/// The fact that replaces a name of [`REASONS`].
fn fact(ledger: &SignedLedger, entry: &ReviewEntry, name: &str) -> String {
    let key = entry.signer.as_deref().and_then(|key| PublicKey::parse(key).ok());
    let key = key.map_or_else(|| "the key".to_owned(), |key| format!("key {}", key.fingerprint()));
    let version = if let Some(Payload::Policy(policy)) = said(entry) { policy.version } else { 0 };
    let who = entry.signer.as_deref().and_then(|key| ledger.who(key)).unwrap_or("its witness");
    match name {
        "ahead" => span(entry.at - ledger.folded.now),
        "behind" => behind(ledger, entry),
        "misfit" => match Payload::read(&entry.kind, &entry.body) {
            Err(malformed) => malformed.to_string(),
            Ok(said) => misfit(ledger, &said).unwrap_or("it does not fit its round").to_owned(),
        },
        "rollback" => match ledger.policy() {
            Some((_, current)) => format!("policy {current} replaced by {version}"),
            None => format!(": the first policy has version {version}, 1 is asked for"),
        },
        "version" => version.to_string(),
        "signature" => signature(ledger, entry).to_owned(),
        "revoked" if is_backdated(ledger, entry) => "follows the revocation of its key".to_owned(),
        "revoked" => format!("{key} was revoked{}", revoked_by(ledger, entry)),
        "grant" => {
            let grant = entry.signer.as_deref().and_then(|key| unsigned_grant(ledger, key));
            grant.map_or_else(String::new, |grant| format!(": {grant}"))
        }
        "role" => wrong_role(ledger, entry, &key),
        "round" => {
            round_of(entry).map_or_else(|| "ROUND".to_owned(), |named| named.chars().take(8).collect())
        }
        "panel" => next_of_panel(ledger, entry, who),
        "stake" => stake(ledger, entry, who).to_owned(),
        "who" => who.to_owned(),
        "key" => key,
        hint => Hint::named(hint).map(|hint| filled(ledger, entry, hint.text())).unwrap_or_default(),
    }
}

/// The id of the round that `entry` is about.
fn round_of(entry: &ReviewEntry) -> Option<&str> {
    said(entry).and_then(Payload::round)
}

/// The step of `who` where a panel decides: to ask for it, to take a seat, or to vote.
fn next_of_panel(ledger: &SignedLedger, entry: &ReviewEntry, who: &str) -> String {
    let at = ledger.review.iter().position(|found| Some(found.id.as_str()) == round_of(entry));
    let panel = at.and_then(|at| ledger.folded.round(at)?.open_panel());
    let step = match panel.map(|panel| panel.has(who)) {
        None => "{ask-for-panel}",
        Some(false) => "{take-seat}",
        Some(true) => "{vote-on-panel}",
    };
    filled(ledger, entry, step)
}

/// The part of a vote that does not fit its round.
fn misfit(ledger: &SignedLedger, said: &Payload) -> Option<&'static str> {
    let (vote, trigger) = if let Payload::Resolution(said) = said {
        (&said.vote, Some(&said.trigger))
    } else if let Payload::BallotReveal(said) = said {
        (&said.vote, None)
    } else {
        return None;
    };
    let entry = ledger.review.iter().position(|entry| Some(entry.id.as_str()) == said.round())?;
    let found = ledger.folded.round(entry)?;
    let is_triggered = trigger.is_none_or(|trigger| found.triggers.contains(trigger));
    Some(fold::misfit(found, vote).unwrap_or(if is_triggered {
        "witness: the policy gives its key another name"
    } else {
        "trigger: is none of the round's"
    }))
}

fn signature(ledger: &SignedLedger, entry: &ReviewEntry) -> &'static str {
    let found = ledger.entries.iter().find(|found| found.id.to_string() == entry.id);
    match found.map(|found| &found.signature) {
        Some(SignatureState::Bad(_)) => "content changed after signing",
        Some(SignatureState::Good { .. } | SignatureState::Unsigned) | None => "no signature",
    }
}

fn wrong_role(ledger: &SignedLedger, entry: &ReviewEntry, key: &str) -> String {
    let policy = &ledger.folded.authority.at_end;
    let grant = entry.signer.as_ref().and_then(|signer| policy.keys.get(signer));
    let roles = grant.map(|grant| names(&grant.roles));
    let asked = match entry.kind.as_str() {
        "policy" | "policy-sign" | "key-add" | "key-revoke" => "an admin",
        _ => "a witness",
    };
    let is_fit = grant.is_some_and(|grant| grant.roles.iter().any(|role| asked.ends_with(&role.to_string())));
    if is_fit && policy.rules.require_touch && !entry.touched {
        return format!("{key} without touch");
    }
    format!("{key} is of role {}, {asked} is asked for", roles.unwrap_or_default())
}

/// The entry that revoked the key of `entry`.
fn revocation(ledger: &SignedLedger, entry: &ReviewEntry) -> Option<usize> {
    let signer = entry.signer.as_ref();
    let revokes = |found: &ReviewEntry| matches!(said(found), Some(Payload::KeyRevoke(revoke)) if Some(&revoke.key) == signer);
    ledger.review.iter().position(revokes)
}

/// `by <id8>`, where the revocation is known.
fn revoked_by(ledger: &SignedLedger, entry: &ReviewEntry) -> String {
    revocation(ledger, entry).map_or_else(String::new, |found| format!(" by {}", ledger.short(found)))
}

/// True for an entry by a revoked key that claims to be older than the revocation.
fn is_backdated(ledger: &SignedLedger, entry: &ReviewEntry) -> bool {
    revocation(ledger, entry).is_some_and(|found| entry.at < ledger.folded.graph.eff[found])
}

fn behind(ledger: &SignedLedger, entry: &ReviewEntry) -> String {
    let eff = |parent: &usize| ledger.folded.graph.eff.get(*parent).copied();
    let floor = entry.parents.iter().filter_map(eff).max().unwrap_or(entry.at);
    span(floor - entry.at)
}

pub(super) fn span(seconds: i64) -> String {
    match seconds {
        ..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => count(seconds / 86_400, "day"),
    }
}

/// The stake of `who` in the round of `entry` (R5).
fn stake(ledger: &SignedLedger, entry: &ReviewEntry, who: &str) -> &'static str {
    let unknown = "has a stake in the round";
    let named = round_of(entry).and_then(|id| ledger.review.iter().position(|entry| entry.id == id));
    let Some((at, round)) = named.and_then(|at| Some((at, ledger.folded.round(at)?))) else { return unknown };
    let is = |name: &Option<String>| name.as_deref() == Some(who);
    let asked = if let Some(Payload::Round(asked)) = said(&ledger.review[at]) { Some(asked) } else { None };
    let policy = &ledger.folded.authority.at_end.operators;
    let operates = |role: &str, agent: &Option<String>| {
        let by_round = asked.and_then(|asked| asked.operators.get(role)).into_iter().flatten();
        let by_policy = agent.as_ref().and_then(|agent| policy.get(agent)).into_iter().flatten();
        by_round.chain(by_policy).any(|person| person == who)
    };
    if is(&round.issuer) {
        "is its issuer"
    } else if is(&round.cast.proposer) {
        "is the proposer"
    } else if is(&round.cast.opposer) {
        "is the opposer"
    } else if operates("proposer", &round.cast.proposer) {
        "operates the proposer"
    } else if operates("opposer", &round.cast.opposer) {
        "operates the opposer"
    } else if asked.is_some_and(|asked| asked.authors.contains(who)) {
        "is among its authors"
    } else if round.barred.contains(who) {
        "voted in the round before"
    } else {
        unknown
    }
}

/// The change that would name the key, where too few have signed it.
fn unsigned_grant(ledger: &SignedLedger, key: &str) -> Option<String> {
    let grants = |entry: &ReviewEntry| {
        let said = said(entry)?;
        if let Payload::KeyAdd(grant) = said {
            return (grant.key() == key).then(|| "key-add".to_owned());
        }
        let Payload::Policy(policy) = said else { return None };
        let found = policy.keys.iter().any(|grant| grant.key() == key);
        found.then(|| format!("policy {}", policy.version))
    };
    (0..ledger.review.len()).rev().find_map(|at| {
        let what = grants(&ledger.review[at])?;
        let (has, needs) = ledger.folded.authority.signatures(at).filter(|(has, needs)| has < needs)?;
        let what = if what == "key-add" { format!("{what} {}", short(ledger.entries[at].id)) } else { what };
        Some(format!("{what} has {has} of {}", count(needs, "signature")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_sentence_and_a_hint_whose_names_are_known() {
        assert_eq!(Code::ALL.len(), REASONS.lines().count());
        let known = [
            "ahead",
            "behind",
            "misfit",
            "rollback",
            "version",
            "signature",
            "revoked",
            "grant",
            "role",
            "stake",
            "who",
            "key",
        ];
        for (code, _) in Code::ALL {
            let (sentence, hint) = texts_of(code);
            assert!(!sentence.is_empty() && !hint.is_empty(), "{code}");
            let names = sentence.split(['{', '}']).enumerate().filter(|(at, _)| at % 2 == 1);
            for (_, name) in names {
                assert!(known.contains(&name), "{code}: {name}");
            }
        }
    }
}
