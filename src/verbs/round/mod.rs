//! `andon round`, and `andon observe round`: agents put a question, say what they have to say, and a judge decides or defers. A
//! question that needs a person becomes one entry of the ledger.
//!
//! Until a round ends its material waits in `<common dir>/andon/rounds/`, a file a round. There is no daemon: every
//! command checks whether a round has expired.
//!
//! The messages of agents: their members, the evidence that a statement names, and the trailer of a verdict. Evidence is a commit, a
//! run of the tests, or a file and its lines; it is read when a statement comes, so that what is in the ledger was there to be
//! looked at.

mod pending;

use std::{collections::BTreeSet, path::Path};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::pending::{MAX_SIGNED, PendingRound};
use crate::cli::{Exit, JsonArg, Shell, args::read_bytes};
use andon_core::domain::{Hint, Timestamp};
use andon_core::format::members_of;
use andon_engine::adapter::events::{self, Line, Lines};
use andon_engine::asking::{self, Draft, EntryStatement, SignedLedger};
use andon_engine::json::{self, RoundPrecedentJson};
use andon_engine::{Context, OpsError, Result, Workspace};
use andon_git::Repo;
use andon_review::payload::member::{self, UNKNOWN, malformed, read_known};
use andon_review::{
    Malformed, NamedEvidence, PrecedentQuery, RoundPayload, RoundRequest, RoundState, RoundStatus, Time,
    Trigger,
};

/// `andon round`
#[derive(Debug, Args)]
pub struct RoundCommandArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: RoundCommand,
}

/// `andon round ...`
#[derive(Debug, Clone, Copy, Subcommand, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundCommand {
    /// Put a question: `question`, `issuer`, `tags`, `precedent_tags`, `bounty`, `min_witnesses`, `expires_at`, `operators`, `authors`, `revises`
    Open(#[serde(skip)] JsonArg),
    /// Claim or criticise: `round`, `role` (`proposer` or `opposer`), `agent`, `text`
    Say(#[serde(skip)] JsonArg),
    /// Judge: `round`, `agent`, `text`, which ends with a trailer
    Verdict(#[serde(skip)] JsonArg),
    /// End the round: `round`, `paid_to`
    Close(#[serde(skip)] JsonArg),
}

/// Largest object that is read, in bytes: a statement of 1 MiB, escaped.
const MAX_INPUT: u64 = 8 << 20;

/// Takes one object from standard input.
pub fn run(shell: &Shell, args: &RoundCommandArgs) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let refused = |why| OpsError::usage(format!("standard input: {why}"), "give one JSON object");
    let bytes = read_bytes(&shell.ctx, Path::new("-"), MAX_INPUT).map_err(refused)?;
    take(shell, &ws, Some(args.command), &bytes)
}

/// Takes an object a line, each with its `action`; the last that is not 0 is the exit code.
pub fn observe(shell: &Shell) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let mut exit = Exit::Allowed;
    let mut lines = Lines::new(std::io::stdin().lock());
    while let Some(line) = lines.next_line().map_err(OpsError::Input)? {
        let one = match line {
            Line::Text(b"") => continue,
            Line::Text(text) => take(shell, &ws, None, text)?,
            Line::TooLong => {
                let what = format!("a line of standard input has more than {} bytes", events::MAX_LINE);
                return Err(OpsError::usage(what, "give one JSON object a line"));
            }
        };
        exit = if one == Exit::Allowed { exit } else { one };
    }
    Ok(exit)
}

fn take(shell: &Shell, ws: &Workspace, action: Option<RoundCommand>, bytes: &[u8]) -> Result<Exit> {
    let malformed = |err: serde_json::Error| {
        let what = format!("standard input holds no JSON object: {err}");
        OpsError::usage(what, Hint::RoundHelp)
    };
    let said: EntryStatement = serde_json::from_slice(bytes).map_err(malformed)?;
    let action = action.map_or_else(|| Ok(read::<ActionMember>(&said)?.action), Ok::<_, OpsError>)?;
    let answer = apply(&shell.ctx, ws, action, &said)?;
    shell.out.result(&json::document("round", &answer));
    Ok(if answer.again {
        Exit::Usage
    } else if answer.needs_person {
        Exit::Refused
    } else {
        Exit::Allowed
    })
}

/// The answer of `andon round`: `andon/round@1`.
#[derive(Debug, Default, Serialize)]
struct RoundAnswer {
    /// A name while the round is open, then the id of its entry.
    round: String,
    /// The time at which it ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// Earlier decisions on these topics, for the judge's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    precedents: Option<Vec<RoundPrecedentJson>>,
    /// The judge is to be asked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    again: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// The reasons for which a person is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    triggers: Option<BTreeSet<Trigger>>,
    /// The status after the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<RoundStatus>,
    #[serde(skip)]
    needs_person: bool,
}

/// Precedents that a judge is given.
const PRECEDENTS: usize = 8;

/// Takes what an agent says; the answer says whether a person is needed.
///
/// # Errors
/// The step's own error.
fn apply(ctx: &Context, ws: &Workspace, action: RoundCommand, said: &EntryStatement) -> Result<RoundAnswer> {
    expire(ctx, ws)?;
    // A round that is over answers every later message with its outcome.
    if !matches!(action, RoundCommand::Open(_))
        && let Some(answer) = over(ws, &read::<RoundName>(said)?.round)?
    {
        return Ok(answer);
    }
    refuse_unknown(action, said)?;
    match action {
        RoundCommand::Open(_) => open(ctx, ws, said),
        RoundCommand::Say(_) => say(ctx, ws, said),
        RoundCommand::Verdict(_) => verdict(ctx, ws, said),
        RoundCommand::Close(_) => close(ctx, ws, said),
    }
}

fn read<'a, T: Deserialize<'a>>(said: &'a Map<String, Value>) -> Result<T> {
    member::read(said).map_err(wrong)
}

/// The evidence that a statement names.
fn looked(ws: &Workspace, evidence: &[Map<String, Value>]) -> Result<Vec<NamedEvidence>> {
    named_evidence(ws, evidence).map_err(|err| wrong(err.below("evidence")))
}

fn wrong(what: impl std::fmt::Display) -> OpsError {
    OpsError::usage(what.to_string(), "docs/review.md has the members of open, say, verdict and close")
}

/// Refuses a member that a round does not have: what is misspelt would be ignored for ever.
fn refuse_unknown(action: RoundCommand, said: &Map<String, Value>) -> Result<()> {
    let shape = json!(RoundPayload::default());
    let own = shape.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let known: Vec<&str> = match action {
        RoundCommand::Open(_) => own.chain(["action", "precedent_tags"]).collect(),
        RoundCommand::Say(_) | RoundCommand::Verdict(_) => {
            vec!["action", "round", "role", "agent", "text", "evidence"]
        }
        RoundCommand::Close(_) => vec!["action", "round", "paid_to"],
    };
    let Some(odd) = said.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let near = andon_config::suggest(odd, known.iter().copied());
    Err(OpsError::usage(format!("{odd:?} is no member of a round"), near))
}

fn open(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswer> {
    let ledger = asking::load(ws)?;
    let timeout = ledger.folded.authority.at_end.rules.round_timeout;
    let question: RoundPayload = read(said)?;
    let OpenMessage { precedent_tags, evidence } = read(said)?;
    let expires = question.expires_at.map_or(ctx.now.0.saturating_add(timeout), |Time(at)| at);
    let mut round = PendingRound::open(question, ctx.now.0, expires);
    round.body.evidence.question = looked(ws, &evidence)?;
    // Reported now, and not at its end: the question must be a round.
    let asked = RoundRequest::try_from(round.body.clone()).map_err(wrong)?;
    let question = &round.body.question;
    if question.trim().is_empty() || question.len() > MAX_SIGNED {
        return Err(wrong("question: must not be empty, and have at most 4 KiB"));
    }
    let body = members_of(&round.body);
    ledger.allow(ctx, &Draft { kind: "round", said: &body, evidence: &[], signer: None })?;
    let name = pending::keep_new(ws, &round)?;
    let tags = if precedent_tags.is_empty() { asked.tags } else { precedent_tags };
    Ok(RoundAnswer {
        round: name,
        expires_at: Some(Timestamp(expires).to_string()),
        precedents: Some(precedents(&ledger, &tags)),
        ..RoundAnswer::default()
    })
}

/// The newest decisions of those topics.
fn precedents(ledger: &SignedLedger, tags: &BTreeSet<String>) -> Vec<RoundPrecedentJson> {
    let all = ledger.folded.precedents(&PrecedentQuery::default()).into_iter();
    let fitting = all.filter(|found| !found.tags.is_disjoint(tags)).take(PRECEDENTS);
    fitting.map(|found| ledger.precedent(found)).collect()
}

fn say(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswer> {
    let StatementMessage { round, agent, text, evidence } = read(said)?;
    let RoleMember { role } = read(said)?;
    let (name, mut round) = pending::find(ws, &round)?;
    let evidence = looked(ws, &evidence)?;
    round.take(role, agent.0, &text.0, ctx.now.0, evidence).map_err(wrong)?;
    pending::keep(ws, &name, &round)?;
    Ok(RoundAnswer { round: name, ..RoundAnswer::default() })
}

fn verdict(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswer> {
    let StatementMessage { round, agent, text: judged, evidence } = read(said)?;
    let (agent, judged) = (agent.0, judged.0);
    let (name, mut round) = pending::find(ws, &round)?;
    let evidence = looked(ws, &evidence)?;
    match trailer(&judged) {
        Ok(trailer) => round.judged(&agent, &judged, trailer, ctx.now.0).map_err(wrong)?,
        Err(why) => {
            let failures = round.unreadable(&agent, &judged, ctx.now.0);
            pending::keep(ws, &name, &round)?;
            if failures < 2 {
                let answer = RoundAnswer { round: name, again: true, ..RoundAnswer::default() };
                return Ok(RoundAnswer { why: Some(why), ..answer });
            }
        }
    }
    round.body.evidence.verdict = evidence;
    pending::keep(ws, &name, &round)?;
    if triggers(ctx, &round)?.is_empty() {
        let triggers = Some(BTreeSet::new());
        return Ok(RoundAnswer { round: name, triggers, ..RoundAnswer::default() });
    }
    let why = "one agent spoke for both sides: that is no debate, so people decide";
    let why = round.is_monologue().then(|| why.to_owned());
    Ok(RoundAnswer { why, ..end(ctx, ws, &name, &round)? })
}

fn close(ctx: &Context, ws: &Workspace, said: &Map<String, Value>) -> Result<RoundAnswer> {
    let CloseMessage { round, paid_to } = read(said)?;
    let (name, mut round) = pending::find(ws, &round)?;
    round.body.paid_to = paid_to.or(round.body.paid_to);
    end(ctx, ws, &name, &round)
}

/// The reasons for which a person is needed, from what came so far.
fn triggers(ctx: &Context, round: &PendingRound) -> Result<Vec<Trigger>> {
    let asked = RoundRequest::try_from(round.body.clone()).map_err(wrong)?;
    Ok(asked.triggers(ctx.now.0, 0).into_iter().collect())
}

/// Writes the one entry of a round.
fn end(ctx: &Context, ws: &Workspace, name: &str, round: &PendingRound) -> Result<RoundAnswer> {
    let ledger = asking::load(ws)?;
    let body = members_of(&round.body);
    let evidence = round.evidence();
    let draft = Draft { kind: "round", said: &body, evidence: &evidence, signer: None };
    let id = ledger.append(ctx, ws, &draft)?.to_string();
    pending::end(ws, name, round, id.clone())?;
    let answer = became(&asking::load(ws)?, &id)?;
    if answer.needs_person {
        asking::call_people(ctx, ws);
    }
    Ok(answer)
}

/// The outcome of a round that was closed, or has expired; `None` while it is open.
fn over(ws: &Workspace, name: &str) -> Result<Option<RoundAnswer>> {
    let (_, round) = pending::find(ws, name)?;
    let Some(entry) = &round.ended else { return Ok(None) };
    let answer = became(&asking::load(ws)?, entry)?;
    let why = "the round is over: what comes now is not part of it".to_owned();
    Ok(Some(RoundAnswer { why: Some(why), ..answer }))
}

/// The state of the round that is the entry `id`.
fn became(ledger: &SignedLedger, id: &str) -> Result<RoundAnswer> {
    let at = ledger.find(id)?;
    let found = ledger.folded.round(at);
    let status = found.map(RoundState::status);
    Ok(RoundAnswer {
        round: id.to_owned(),
        needs_person: status.is_some_and(|it| !matches!(it, RoundStatus::Closed | RoundStatus::Resolved)),
        triggers: found.map(|round| round.triggers.clone()),
        status,
        ..RoundAnswer::default()
    })
}

/// Ends the rounds whose time is up, with what came.
///
/// # Errors
/// One cannot be written.
pub fn expire(ctx: &Context, ws: &Workspace) -> Result<()> {
    let is_over = |(_, round): &(String, PendingRound)| round.expires_at < ctx.now.0;
    if !pending::all(ws).iter().any(is_over) {
        return Ok(());
    }
    // Two processes would write an entry each.
    let Some(_held) = pending::hold(ws)? else { return Ok(()) };
    for (name, round) in pending::all(ws).into_iter().filter(is_over) {
        end(ctx, ws, &name, &round)?;
    }
    Ok(())
}

/// The same before a command or a hook that takes facts in. What fails is left to the next one, and to those that show the state.
pub fn expire_first(ctx: &Context) {
    let rounds = |repo: Repo| repo.common_dir().join("andon").join("rounds").is_dir();
    if Repo::open(&ctx.cwd, &ctx.repo_env).is_ok_and(rounds)
        && let Ok(ws) = Workspace::open_lenient(ctx)
    {
        let _left = expire(ctx, &ws);
    }
}

/// Longest statement that is taken, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// A line that says itself what it does.
#[derive(Deserialize)]
pub(super) struct ActionMember {
    pub(super) action: RoundCommand,
}

/// The round that every message but the first is about.
#[derive(Deserialize)]
pub(super) struct RoundName {
    pub(super) round: String,
}

/// The members that open a round, beside the question itself.
#[derive(Deserialize)]
pub(super) struct OpenMessage {
    #[serde(default)]
    pub(super) precedent_tags: BTreeSet<String>,
    #[serde(default)]
    pub(super) evidence: Vec<Map<String, Value>>,
}

/// A statement of a participant, or of the judge.
#[derive(Deserialize)]
pub(super) struct StatementMessage {
    pub(super) round: String,
    pub(super) agent: StatementText,
    pub(super) text: StatementText,
    #[serde(default)]
    pub(super) evidence: Vec<Map<String, Value>>,
}

/// As what a participant speaks.
#[derive(Deserialize)]
pub(super) struct RoleMember {
    pub(super) role: Speaker,
}

/// A participant who is no judge.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    Proposer,
    Opposer,
}

/// The message that ends a round.
#[derive(Deserialize)]
pub(super) struct CloseMessage {
    pub(super) round: String,
    pub(super) paid_to: Option<String>,
}

/// A text of at most [`MAX_TEXT`] bytes.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct StatementText(pub(super) String);

impl TryFrom<String> for StatementText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.len() {
            0..=MAX_TEXT => Ok(Self(text)),
            bytes => Err(format!("has {bytes} bytes, at most 1 MiB are taken")),
        }
    }
}

/// Most things that one statement names.
const MAX_NAMED: usize = 8;
/// Longest name of a file or a run, in bytes.
const MAX_NAME: usize = 512;

/// The evidence that a statement names; commits by their whole ids.
fn named_evidence(ws: &Workspace, list: &[Map<String, Value>]) -> Result<Vec<NamedEvidence>, Malformed> {
    if list.len() > MAX_NAMED {
        return Err(malformed("", "must name at most 8 things"));
    }
    list.iter().map(|item| one(ws, item)).collect()
}

fn one(ws: &Workspace, item: &Map<String, Value>) -> Result<NamedEvidence, Malformed> {
    let mut found: NamedEvidence = read_known(item, &[]).map_err(|wrong| match &*wrong.wanted {
        UNKNOWN => malformed("", "may name commit, run, file and lines"),
        _ => wrong,
    })?;
    let NamedEvidence { commit, run, file, lines } = &found;
    let is_odd = |text: &Option<String>| {
        text.as_ref().is_some_and(|text| text.trim().is_empty() || text.len() > MAX_NAME)
    };
    let named = [("commit", commit), ("run", run), ("file", file), ("lines", lines)];
    if let Some((member, _)) = named.iter().find(|(_, text)| is_odd(text)) {
        return Err(malformed(member, "must have 1 to 512 bytes"));
    }
    if let Some(lines) = lines
        && (file.is_none() || !is_lines(lines))
    {
        return Err(malformed("lines", "must be of a file: one number, or two as in 12-40"));
    }
    if [commit, run, file].into_iter().all(Option::is_none) {
        return Err(malformed("", "must name a commit, a run or a file"));
    }
    if let Some(commit) = &mut found.commit {
        let missing = |_| malformed("commit", "must name a commit that is here");
        *commit = ws.repo.resolve(commit).map_err(missing)?.to_string();
    }
    Ok(found)
}

/// True for `12` and for `12-40`.
fn is_lines(text: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    match text.split_once('-') {
        None => number(text).is_some(),
        Some((first, last)) => number(first).zip(number(last)).is_some_and(|(first, last)| first <= last),
    }
}

/// The beginning of a trailer.
const FENCE: &str = "```json";

/// The decision of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) deferred: bool,
    pub(super) recommendation: Option<String>,
    /// The text before the trailer.
    pub(super) prose: Option<String>,
}

#[derive(Deserialize)]
struct TrailerMembers {
    deferred: bool,
    recommendation: Option<Value>,
}

/// Reads the trailer of a verdict: the last fenced JSON block, or the whole text.
///
/// # Errors
/// Why it cannot be read, for the judge's second try.
fn trailer(text: &str) -> Result<Trailer, String> {
    let wire: TrailerMembers = serde_json::from_str(block(text)).map_err(|err| {
        format!("the last ```json block is no trailer ({err}): end with ```json {{\"deferred\": false, \"recommendation\": \"...\"}} ```")
    })?;
    let recommendation = match wire.recommendation {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text).filter(|text| !text.trim().is_empty()),
        Some(_) => return Err("recommendation must be a text".to_owned()),
    };
    if !wire.deferred && recommendation.is_none() {
        return Err("deferred is false, so a recommendation is asked for".to_owned());
    }
    let prose = text.rfind(FENCE).map(|at| text[..at].trim().to_owned()).filter(|text| !text.is_empty());
    Ok(Trailer { deferred: wire.deferred, recommendation, prose })
}

fn block(text: &str) -> &str {
    let Some(begin) = text.rfind(FENCE) else { return text.trim() };
    let inner = &text[begin + FENCE.len()..];
    inner.split("```").next().unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_one_number_or_two() {
        let table = [
            ("12", true),
            ("12-40", true),
            ("7-7", true),
            ("0", false),
            ("40-12", false),
            ("12-", false),
            ("-3", false),
            ("12-40-50", false),
            ("a", false),
            ("", false),
        ];
        for (text, want) in table {
            assert_eq!(is_lines(text), want, "{text}");
        }
    }

    #[test]
    fn the_last_block_or_the_whole_text_is_the_trailer() {
        let yes = |text: &str| trailer(text).unwrap();
        assert_eq!(
            yes("{\"deferred\": true}"),
            Trailer { deferred: true, recommendation: None, prose: None }
        );
        let two = "```json\n{\"deferred\": true}\n```\nno:\n```json\n{\"deferred\": false, \"recommendation\": \"Do it.\", \"x\": 1}\n```\n";
        assert_eq!(
            yes(two),
            Trailer {
                deferred: false,
                recommendation: Some("Do it.".into()),
                prose: Some("```json\n{\"deferred\": true}\n```\nno:".into()),
            }
        );
        for bad in [
            "I would say yes.",
            "{\"deferred\": \"no\"}",
            "{\"deferred\": false}",
            "{\"deferred\": false, \"recommendation\": \" \"}",
            "{\"deferred\": false, \"recommendation\": 3}",
            "```json\n{\"deferred\": tru",
            "[]",
            "",
        ] {
            assert!(trailer(bad).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in ".{0,100}(```json)?.{0,100}") {
            let _ = trailer(&text);
        }
    }
}
