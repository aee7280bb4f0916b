//! A round in the order in which a witness reads it: the question, the claim, the critique, the verdict, then what is known
//! about it.

use super::evidence::{self, NamedCommit};
use super::halted_work::{HaltedWork, halted};
use super::panel;
use super::rounds::{self, state};
use super::votes;
use andon_core::domain::briefing::HumanDecision;
use andon_core::domain::ids::{Oid, TreeId};
use andon_core::escape;
use andon_engine::asking::{self, SignedLedger};
use andon_engine::error::OpsError;
use andon_engine::text::style::Style;
use andon_engine::workspace::Workspace;
use andon_git::Blob;
use andon_review::code::Code;
use andon_review::payload::fields::names;
use andon_review::payload::questions::RoundPayload;
use andon_review::precedents::PrecedentQuery;
use andon_review::round::RoundState;

/// Texts beside an entry that are read, and the largest of them in bytes.
const MAX_TEXTS: usize = 16;
const MAX_TEXT: usize = 1 << 20;
/// Lines of a judge's prose that are shown.
const PROSE: usize = 60;
/// Precedents that are shown.
const PRECEDENTS: usize = 8;

/// A round with the ledger that it is in.
#[derive(Debug)]
pub struct ShownRound {
    /// The ledger that holds the round.
    pub ledger: SignedLedger,
    /// The round's entry.
    pub round: usize,
    /// Who may take it now.
    pub may_answer: Vec<String>,
    /// The texts that are kept with its entry, by name; `None` for one that is too large.
    pub evidence: Vec<(String, Option<String>)>,
    /// For a halt: what was halted.
    pub(super) halted: Option<HaltedWork>,
    /// For a round of agents: the commits that they looked at.
    pub(super) commits: Vec<NamedCommit>,
}

/// Finds a round.
///
/// # Errors
/// There is none of that name.
pub fn show(ws: &Workspace, named: &str) -> Result<ShownRound, OpsError> {
    let mut ledger = asking::load(ws)?;
    let round = rounds::find(ws, &ledger, named)?;
    let may_answer = ledger.may_accept(ws.opened, &[round]).pop().unwrap_or_default();
    let evidence = evidence(ws, &ledger, round)?;
    let is_halt = state(&ledger, round).is_some_and(|round| round.is_halt);
    let halted = is_halt.then(|| halted(ws, &ledger, round));
    let commits = if is_halt { Vec::new() } else { evidence::commits(ws, &ledger, round) };
    Ok(ShownRound { ledger, round, may_answer, evidence, halted, commits })
}

/// The texts of an entry; files in another form by a stranger do not count.
fn evidence(
    ws: &Workspace,
    ledger: &SignedLedger,
    round: usize,
) -> Result<Vec<(String, Option<String>)>, OpsError> {
    let tree = ws.repo.tree_of(ledger.entries[round].commit)?;
    let Some((_, inner)) = ws.repo.entry_at(tree, b"evidence")? else { return Ok(Vec::new()) };
    let names = ws.repo.tree_entries(TreeId(inner)).unwrap_or_default().into_iter().take(MAX_TEXTS);
    let text = |id: Oid| match ws.repo.read_blob(id, MAX_TEXT) {
        Ok(Blob::Content(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Ok(Blob::TooLarge(_)) | Err(_) => None,
    };
    Ok(names.map(|entry| (String::from_utf8_lossy(&entry.name).into_owned(), text(entry.id))).collect())
}

/// The round for people.
pub fn show_text(shown: &ShownRound, style: Style) -> String {
    let ledger = &shown.ledger;
    let Some(round) = state(ledger, shown.round) else { return String::new() };
    let plain = |text: &str| escape::terminal(text).into_owned();
    let mut out = format!("{} {}: {}", style.bold("round"), ledger.short(shown.round), round.status().name());
    if !round.triggers.is_empty() {
        out.push_str(&format!(" ({})", names(&round.triggers)));
    }
    out.push('\n');
    let people: Vec<String> = shown.may_answer.iter().map(|who| plain(who)).collect();
    if !people.is_empty() {
        out.push_str(&format!("may answer: {}\n", people.join(", ")));
    }
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
        block("Question", round.issuer.as_deref(), &ledger.question(shown.round));
        lineage(ledger, shown.round, round, &mut block);
        prose(shown, &mut block);
        looked_at(shown, &mut block);
    }
    if !shown.evidence.is_empty() {
        let commit = ledger.entries[shown.round].commit;
        let commands: Vec<String> =
            shown.evidence.iter().map(|(name, _)| format!("git show {commit}:evidence/{name}")).collect();
        block("Evidence", None, &commands.join("\n"));
    }
    if let Some(panel) = round.open_panel() {
        out.push_str(&format!("\n{}\n", plain(&panel::members(panel))));
        out.push_str(&format!("  help: {}\n", panel::next(panel, &ledger.short(shown.round))));
    }
    out.push_str(&votes::text(&votes::votes(ledger, shown.round), &votes::flags(ledger, shown.round), style));
    out.push_str(&late(ledger, shown.round, style));
    out.push_str(&precedents(ledger, round, style));
    out.push_str(&checklist(ledger, shown.round, round, style));
    out
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
    let mut commands = vec!["andon status".to_owned()];
    if let Some(head) = halt.and_then(|halt| halt.head) {
        let head: String = head.to_string().chars().take(12).collect();
        commands.push(format!("git show {head}"));
        commands.push(format!("andon show {head}"));
    }
    block("All of it", None, &commands.join("\n"));
    let actions: Vec<&str> =
        halt.iter().flat_map(|halt| &halt.suggested_actions).map(|action| action.text.as_str()).collect();
    if !actions.is_empty() {
        block("What Andon suggests", None, &actions.join("\n"));
    }
}

/// What the judge wrote beside the trailer, and the verdicts that could not be read.
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

/// What the agents named as their evidence.
fn looked_at(shown: &ShownRound, block: &mut Block<'_>) {
    let lines = evidence::lines(&shown.ledger, shown.round);
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
        block("Claim and critique", None, &format!("cosine {:.2}: {what}", alike.cosine));
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
        out.push_str(&escape::terminal(&line));
        out.push('\n');
    }
    if out.is_empty() { out } else { format!("\n{}\n{out}", style.bold("Came too late to count")) }
}

fn precedents(ledger: &SignedLedger, round: &RoundState, style: Style) -> String {
    let mut out = String::new();
    for tag in &round.tags {
        let query = PrecedentQuery { tag: Some(tag.clone()), text: None };
        for found in ledger
            .folded
            .precedents(&query)
            .into_iter()
            .filter(|found| found.round != round.entry)
            .take(PRECEDENTS)
        {
            let by: Vec<&str> = found.by.iter().map(String::as_str).collect();
            let (standing, by) = (found.standing.name(), by.join(", "));
            let decided = ledger.decided(found.clone());
            let line = format!(
                "  {} {} ({standing}) by {by}: {}",
                decided.round,
                decided.decision,
                decided.instruction()
            );
            if !out.contains(&line) {
                out.push_str(&escape::terminal(&line));
                out.push('\n');
            }
        }
    }
    if out.is_empty() { out } else { format!("\n{}\n{out}", style.bold("Precedents")) }
}

/// The steps of H.2.
fn checklist(ledger: &SignedLedger, entry: usize, round: &RoundState, style: Style) -> String {
    if round.decision().is_some() || round.end.is_some() {
        return String::new();
    }
    let id = ledger.short(entry);
    let sign = if round.open_panel().is_some() { "ballot" } else { "resolve" };
    let take =
        if round.is_halt { String::new() } else { format!("\n  take it first: andon review accept {id}") };
    format!(
        "\n{}{take}\n  1. read the round before you ask anyone\n  2. name the strongest claim of either side; where you cannot in two minutes: \
         reject_round\n  3. check each claim that can be checked, and note the source\n  4. does the critique disagree for reasons of its own?\n  \
         5. decide: accept_proposer, accept_opposer, accept_synthesis, amend or reject_round\n  6. are the rules themselves wrong? flag it as \
         policy_concern\n  7. sign: andon review {sign} {id}\n",
        style.bold("To do")
    )
}
