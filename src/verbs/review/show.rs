//! A round in the order in which a witness reads it: the question, the claim, the critique, the verdict, then what is known
//! about it. For a halt: the halted change, its tests, the evidence, and earlier decisions on similar questions, bounded and
//! followed by the commands that show all of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rounds::{self, ShownFlag, ShownVote, choice};
use andon_core::domain::{
    CommitId, EntryId, Halt, HaltEvidence, Hint, HumanDecision, Oid, Timestamp, TreeId, plural::count,
};
use andon_core::escape;
use andon_engine::asking::{self, EntryStatement, SignedLedger};
use andon_engine::text::{Style, shown_change};
use andon_engine::{Result, Workspace, halts};
use andon_git::GitError;
use andon_review::{
    Code, NamedEvidence, PrecedentQuery, RoundEvidence, RoundPayload, RoundState, RoundStatus, Time, Trigger,
    Whole, payload::fields::names,
};
use andon_store::NotesStore;

/// Texts beside an entry that are read, and the largest of them in bytes.
const MAX_TEXTS: usize = 16;
const MAX_TEXT: usize = 1 << 20;
/// Lines of a judge's prose that are shown.
const PROSE: usize = 60;
/// Most precedents that are shown.
const PRECEDENTS: usize = 8;

/// A round with what is known about it: `andon/review-show@1`.
#[derive(Debug, Serialize)]
pub struct ShownRound {
    id: EntryId,
    status: Option<RoundStatus>,
    /// The reasons for which a person is needed.
    triggers: BTreeSet<Trigger>,
    /// The name of what was decided.
    decision: Option<String>,
    /// The instruction that was decided, word for word.
    words: Option<String>,
    /// The votes on it, oldest first.
    votes: Vec<ShownVote>,
    flags: Vec<ShownFlag>,
    /// The texts that are kept with its entry, by name; `None` for one that is too large.
    evidence: BTreeMap<String, Option<String>>,
    /// The witnesses who may take it now.
    may_answer: Vec<String>,
    /// The body of its entry.
    said: EntryStatement,
    #[serde(skip)]
    ledger: SignedLedger,
    /// The index of its entry.
    #[serde(skip)]
    at: usize,
    /// For a halt: what was halted.
    #[serde(skip)]
    halted: Option<HaltedWork>,
    /// For a round of agents: the commits that they looked at.
    #[serde(skip)]
    commits: Vec<NamedCommit>,
}

/// Finds a round.
///
/// # Errors
/// There is none of that name.
pub fn show(ws: &Workspace, named: &str) -> Result<ShownRound> {
    let mut ledger = asking::load(ws)?;
    let at = rounds::find(ws, &ledger, named)?;
    let may_answer = ledger.may_accept(ws.opened, &[at]).pop().unwrap_or_default();
    let state = ledger.folded.round(at);
    let is_halt = state.is_some_and(|round| round.is_halt);
    Ok(ShownRound {
        id: ledger.entries[at].id,
        status: state.map(RoundState::status),
        triggers: state.map(|round| round.triggers.clone()).unwrap_or_default(),
        decision: state.and_then(RoundState::decision).map(|decided| choice(&decided.key).to_owned()),
        words: state.and_then(|round| ledger.decided_words(round)),
        votes: rounds::votes(&ledger, at),
        flags: rounds::flags(&ledger, at),
        evidence: evidence(ws, &ledger, at)?,
        may_answer,
        said: (*ledger.entries[at].body).clone(),
        halted: is_halt.then(|| halted(ws, &ledger, at)),
        commits: if is_halt { Vec::new() } else { looked_at_commits(ws, &ledger, at) },
        at,
        ledger,
    })
}

/// The texts of an entry; files in another form by a stranger do not count.
fn evidence(ws: &Workspace, ledger: &SignedLedger, round: usize) -> Result<BTreeMap<String, Option<String>>> {
    let tree = ws.repo.tree_of(ledger.entries[round].commit)?;
    let Some((_, inner)) = ws.repo.entry_at(tree, b"evidence")? else { return Ok(BTreeMap::new()) };
    let names = ws.repo.tree_entries(TreeId(inner)).unwrap_or_default().into_iter().take(MAX_TEXTS);
    let text = |id: Oid| {
        let bytes = ws.repo.read_blob(id, MAX_TEXT).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(names.map(|entry| (String::from_utf8_lossy(&entry.name).into_owned(), text(entry.id))).collect())
}

pub fn show_text(shown: &ShownRound, style: Style) -> String {
    let ledger = &shown.ledger;
    let Some(round) = ledger.folded.round(shown.at) else { return String::new() };
    let plain = |text: &str| escape::terminal(text).into_owned();
    let mut out = format!("{} {}: {}", style.bold("round"), ledger.short(shown.at), round.status());
    if !round.triggers.is_empty() {
        out.push_str(&format!(" ({})", names(&round.triggers)));
    }
    out.push('\n');
    let people: Vec<String> = shown.may_answer.iter().map(|who| plain(who)).collect();
    if !people.is_empty() {
        out.push_str(&format!("may answer: {}\n", people.join(", ")));
    }
    out.push_str(&terms(ledger, shown.at, style));
    let mut block = |title: &str, by: Option<&str>, text: &str| {
        let by = by.map_or_else(String::new, |by| format!(" by {}", plain(by)));
        out.push_str(&format!("\n{}{by}\n", style.bold(title)));
        for line in escape::terminal_block(text).lines() {
            out.push_str(&format!("  {line}\n"));
        }
    };
    if round.is_halt {
        halt(shown, &mut block);
    } else {
        block("Question", round.issuer.as_deref(), &ledger.question(shown.at));
        lineage(ledger, shown.at, round, &mut block);
        prose(shown, &mut block);
        looked_at(shown, &mut block);
    }
    if !shown.evidence.is_empty() {
        let commit = ledger.entries[shown.at].commit;
        let commands: Vec<String> =
            shown.evidence.keys().map(|name| Hint::ShowEvidence.with([&commit.to_string(), name])).collect();
        block("Evidence", None, &commands.join("\n"));
    }
    if let Some(panel) = round.open_panel() {
        out.push_str(&format!("\n{}\n", plain(&rounds::panel_members(panel))));
        out.push_str(&format!("  help: {}\n", rounds::panel_next(panel, &ledger.short(shown.at))));
    }
    out.push_str(&rounds::votes_text(&shown.votes, &shown.flags, style));
    out.push_str(&late(ledger, shown.at, style));
    out.push_str(&precedents(ledger, round, style));
    out.push_str(&checklist(ledger, shown.at, round, style));
    out
}

/// The terms on which a round of agents was put.
fn terms(ledger: &SignedLedger, entry: usize, style: Style) -> String {
    let said: RoundPayload = ledger.said(entry).unwrap_or_default();
    let amount = |of: Option<Whole>, least: i64| of.map(Whole::get).filter(|amount| *amount >= least);
    let parts = [
        amount(said.bounty, 1).map(|bounty| format!("bounty: {bounty} CC")),
        (!said.tags.is_empty()).then(|| format!("topics: {}", said.tags.join(", "))),
        amount(said.min_witnesses, 2).map(|least| format!("witnesses: at least {least}")),
        said.expires_at.map(|Time(at)| format!("expiry: {}", style.when(Timestamp(at)))),
    ];
    parts.into_iter().flatten().map(|part| format!("{}\n", escape::terminal(&part))).collect()
}

type Block<'a> = dyn FnMut(&str, Option<&str>, &str) + 'a;

fn halt(shown: &ShownRound, block: &mut Block<'_>) {
    let halt = shown.halted.as_ref().and_then(|work| work.halt.as_ref());
    let rule = halt.map(|halt| halt.rule.as_str());
    block("Halt", rule, halt.map_or("", |halt| &halt.message));
    let trend: Vec<String> =
        halt.iter().flat_map(|halt| &halt.evidence.trend).map(ToString::to_string).collect();
    if !trend.is_empty() {
        block("Failing tests, oldest first", None, &trend.join(", "));
    }
    let mut part = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            block(title, None, &lines.join("\n"));
        }
    };
    if let Some(work) = &shown.halted {
        part("The halted change", &work.change);
        part("Its tests", &work.tests);
        part("Evidence", &work.evidence);
        let decided = |found: &HumanDecision| {
            let question = found.question.lines().next().unwrap_or_default();
            let (by, what) = (found.by.join(", "), found.instruction().lines().next().unwrap_or_default());
            format!("{} {} by {by}: {question} -> {what}", found.round, found.decision)
        };
        part("Decided before", &work.precedents.iter().map(decided).collect::<Vec<_>>());
    }
    let mut commands = vec![String::from(Hint::Status)];
    if let Some(head) = halt.and_then(|halt| halt.head) {
        let head: String = head.to_string().chars().take(12).collect();
        commands.push(Hint::GitShow.with([&head]));
        commands.push(Hint::Show.with([&head]));
    }
    block("All of it", None, &commands.join("\n"));
    let actions: Vec<&str> =
        halt.iter().flat_map(|halt| &halt.suggested_actions).map(|action| action.text.as_str()).collect();
    if !actions.is_empty() {
        block("What Andon suggests", None, &actions.join("\n"));
    }
}

/// Shows the judge's prose beside the trailer, and the verdicts that could not be read.
fn prose(shown: &ShownRound, block: &mut Block<'_>) {
    let verdicts = shown.evidence.iter().filter(|(name, _)| name.starts_with("verdict"));
    for (name, text) in verdicts {
        let Some(text) = text else { continue };
        // The trailer is shown as the verdict.
        let text = text.rsplit_once("```json").map_or(text.as_str(), |(before, _)| before).trim();
        let lines: Vec<&str> = text.lines().take(PROSE).collect();
        if text.is_empty() || text.starts_with('{') && name == "verdict" {
            continue;
        }
        let title =
            if name == "verdict" { "The judge's own words" } else { "A verdict that could not be read" };
        block(title, None, &lines.join("\n"));
    }
}

/// Shows what the agents named as their evidence.
fn looked_at(shown: &ShownRound, block: &mut Block<'_>) {
    let line = |(statement, item): (&str, _)| Some(format!("{statement}: {}", item_line(item)?));
    let lines: Vec<String> = named(&shown.ledger, shown.at).filter_map(line).collect();
    if !lines.is_empty() {
        block("Looked at", None, &lines.join("\n"));
    }
    for commit in &shown.commits {
        let title = format!("Commit {}", commit.id);
        block(&title, None, &[&commit.change[..], &commit.tests].concat().join("\n"));
    }
}

fn lineage(ledger: &SignedLedger, entry: usize, round: &RoundState, block: &mut Block<'_>) {
    let said: RoundPayload = ledger.said(entry).unwrap_or_default();
    let missing = "(it did not come)";
    block("Claim", round.cast.proposer.as_deref(), said.claim.as_deref().unwrap_or(missing));
    block("Critique", round.cast.opposer.as_deref(), said.critique.as_deref().unwrap_or(missing));
    let verdict =
        said.verdict.map_or(missing.to_owned(), |said| match (said.deferred, said.recommendation) {
            (true, None) => "deferred".to_owned(),
            (true, Some(text)) => format!("deferred; {text}"),
            (false, text) => text.unwrap_or_else(|| "no recommendation".to_owned()),
        });
    block("Verdict", round.cast.synthesizer.as_deref(), &verdict);
    if let Some(alike) = round.similarity {
        let what = if alike.agreement { "they agree" } else { "they disagree" };
        let is_one = round.cast.proposer.is_some() && round.cast.proposer == round.cast.opposer;
        let who = if is_one { "; one agent spoke for both sides" } else { "" };
        block("Claim and critique", None, &format!("cosine {:.2}: {what}{who}", alike.cosine));
    }
}

/// Answers that came when the round was decided: they do not count, and are not lost.
fn late(ledger: &SignedLedger, round: usize, style: Style) -> String {
    let id = ledger.entries[round].id.to_string();
    let codes = &ledger.folded.state.codes;
    let came_late = |at: &usize| {
        let review = &ledger.review[*at];
        codes.get(at) == Some(&Code::AlreadyResolved)
            && review.payload.as_ref().as_ref().is_ok_and(|said| said.round() == Some(&id))
            && ["resolution", "ballot-reveal"].contains(&review.kind.as_str())
    };
    let mut out = String::new();
    for at in (0..ledger.entries.len()).filter(came_late) {
        let Some(vote) = ledger.voted(at) else { continue };
        let decision = vote.decision;
        let who =
            ledger.review[at].signer.as_deref().and_then(|key| ledger.who(key)).unwrap_or("no one known");
        let words = ledger.words(round, &vote).map_or_else(String::new, |words| format!(" to do: {words};"));
        let line = format!("  {decision} by {who}:{words} why: {}", vote.rationale.0);
        out.push_str(&format!("{}\n", escape::terminal(&line)));
    }
    rounds::headed("Came too late to count", &out, style)
}

fn precedents(ledger: &SignedLedger, round: &RoundState, style: Style) -> String {
    let mut out = String::new();
    for tag in &round.tags {
        let query = PrecedentQuery { tag: Some(tag.clone()), text: None };
        let others = ledger.folded.precedents(&query).into_iter().filter(|found| found.round != round.entry);
        for found in others.take(PRECEDENTS) {
            let standing = found.standing;
            let decided = ledger.decided(found);
            let (HumanDecision { round, decision, by, .. }, what) = (&decided, decided.instruction());
            let line = format!("  {round} {decision} ({standing}) by {}: {what}", by.join(", "));
            if !out.contains(&line) {
                out.push_str(&format!("{}\n", escape::terminal(&line)));
            }
        }
    }
    rounds::headed("Precedents", &out, style)
}

/// The steps of H.2, as a list.
fn checklist(ledger: &SignedLedger, entry: usize, round: &RoundState, style: Style) -> String {
    if round.decision().is_some() || round.end.is_some() {
        return String::new();
    }
    let id = ledger.short(entry);
    let sign = if round.open_panel().is_some() { "ballot" } else { "resolve" };
    let taken = round.is_halt || round.status() == RoundStatus::Accepted;
    let take = if taken { String::new() } else { format!("\n  {}", Hint::Accept.with([&id])) };
    let steps = include_str!("steps.txt").replace("{sign}", &Hint::SignRound.with([sign, &id]));
    format!("\n{}{take}\n{steps}", style.bold("To do"))
}

/// Most things of one statement, and most commits, that are shown.
const MAX_ITEMS: usize = 8;
const COMMITS: usize = 3;
/// A commit that a participant looked at.
#[derive(Debug)]
struct NamedCommit {
    id: String,
    change: Vec<String>,
    /// The results of its tests.
    tests: Vec<String>,
}

/// The evidence that a round's statements name, with the statement.
fn named(ledger: &SignedLedger, round: usize) -> impl Iterator<Item = (&'static str, NamedEvidence)> {
    let said: Option<RoundPayload> = ledger.said(round);
    let RoundEvidence { question, claim, critique, verdict } =
        said.map(|said| said.evidence).unwrap_or_default();
    let all = [("question", question), ("claim", claim), ("critique", critique), ("verdict", verdict)];
    all.into_iter()
        .flat_map(|(statement, list)| list.into_iter().take(MAX_ITEMS).map(move |item| (statement, item)))
}

fn item_line(item: NamedEvidence) -> Option<String> {
    let NamedEvidence { commit, run, file, lines } = item;
    let place = file.map(|file| lines.map_or(file.clone(), |lines| format!("{file}:{lines}")));
    let commit = commit.map(|id| id.chars().take(DIGITS).collect::<String>());
    let place = match (place, commit) {
        (Some(place), Some(commit)) => Some(format!("{place} in {commit}")),
        (None, Some(commit)) => Some(format!("commit {commit}")),
        (place, None) => place,
    };
    let run = run.map(|run| format!("run {run}"));
    let parts: Vec<String> = place.into_iter().chain(run).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The commits among it, each once.
fn looked_at_commits(ws: &Workspace, ledger: &SignedLedger, round: usize) -> Vec<NamedCommit> {
    let mut found: Vec<CommitId> = Vec::new();
    for (_, item) in named(ledger, round) {
        let commit = item.commit.and_then(|id| id.parse().ok());
        found.extend(commit.filter(|commit| !found.contains(commit)));
    }
    let shown = found.into_iter().take(COMMITS);
    let of = |commit: CommitId| NamedCommit {
        id: commit.to_string().chars().take(DIGITS).collect(),
        change: change(ws, commit).unwrap_or_else(|_| vec![Hint::FetchCommit.into()]),
        tests: tests(ws, commit).unwrap_or_default(),
    };
    shown.map(of).collect()
}

/// Failing tests, and hashes of a kind, that are named.
const NAMED: usize = 12;
/// Digits of a hash or commit that are shown.
const DIGITS: usize = 12;

/// A halted commit, in the order in which it is read; each part is lines, and empty where nothing is known.
#[derive(Debug)]
struct HaltedWork {
    /// The halt of its entry; `None` where a stranger wrote something else.
    halt: Option<Halt>,
    change: Vec<String>,
    /// The results of its tests.
    tests: Vec<String>,
    /// The hashes that the halt names, the newest last.
    evidence: Vec<String>,
    precedents: Vec<HumanDecision>,
}

/// Gathers it for the halt of `entry`. What is not here, such as the commit of another clone, is left out.
fn halted(ws: &Workspace, ledger: &SignedLedger, entry: usize) -> HaltedWork {
    let id = ledger.entries[entry].id;
    let halt = halts::of_entry(ws, id).ok().map(|standing| standing.halt);
    let head = halt.as_ref().and_then(|halt| halt.head);
    let own = asking::short(id);
    let near = asking::nearest(ws, &ledger.question(entry)).into_iter();
    HaltedWork {
        change: head.and_then(|head| change(ws, head).ok()).unwrap_or_default(),
        tests: head.and_then(|head| tests(ws, head).ok()).unwrap_or_default(),
        evidence: halt.as_ref().map(|halt| hashes(&halt.evidence)).unwrap_or_default(),
        precedents: near.filter(|found| found.round != own).collect(),
        halt,
    }
}

/// The lines that a commit changed.
fn change(ws: &Workspace, commit: CommitId) -> Result<Vec<String>, GitError> {
    Ok(shown_change::of_commit(&ws.repo, commit)?.text(usize::MAX))
}

fn tests(ws: &Workspace, head: CommitId) -> Result<Vec<String>> {
    let stored = NotesStore::open(&ws.repo)?.get(head)?;
    let Some(tests) = stored.and_then(|stored| stored.record.tests) else {
        return Ok(vec!["no run of the tests is recorded on this code".to_owned()]);
    };
    let counts = tests.counts();
    let mut lines = vec![format!(
        "{} failed, {} passed of {}: {}",
        counts.failed + counts.errored,
        counts.passed,
        counts.total,
        tests.command
    )];
    lines.extend(tests.failing.iter().take(NAMED).map(|name| format!("  {name}")));
    lines.extend(more(tests.failing.len(), NAMED, "more failing test"));
    Ok(lines)
}

/// A line that says that something was left out.
fn more(all: usize, shown: usize, what: &str) -> Option<String> {
    all.checked_sub(shown).filter(|left| *left > 0).map(|left| format!("({})", count(left, what)))
}

fn hashes(found: &HaltEvidence) -> Vec<String> {
    fn line(title: &str, hashes: &[impl ToString]) -> Option<String> {
        let newest = &hashes[hashes.len().saturating_sub(NAMED)..];
        let short = newest.iter().map(|hash| hash.to_string().chars().take(DIGITS).collect::<String>());
        (!newest.is_empty()).then(|| format!("{title}: {}", short.collect::<Vec<_>>().join(" ")))
    }
    let lines =
        [line("changes", &found.diffs), line("test results", &found.tests), line("outputs", &found.outputs)];
    lines.into_iter().flatten().collect()
}
