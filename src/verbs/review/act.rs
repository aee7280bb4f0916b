//! The acts of people on rounds: they take one, answer it, ask for a panel, flag a decision, and are shown what follows from it.
//! Votes on a panel are first committed to and, when all have committed, revealed: no member sees the draft of another.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::AnswerArgs;
use super::rounds::{self, choice};
use super::template::{self, TemplateOf, VoteDraft};
use crate::cli::args::read_text;
use andon_core::domain::{Digest, EntryId, Hint, StandingHalt};
use andon_core::{escape, format::members_of};
use andon_engine::asking::{self, Draft, EntryStatement, SignedLedger, short};
use andon_engine::effect::{self, consult};
use andon_engine::{Context, OpsError, Result, Workspace, halts};
use andon_git::read_plain;
use andon_review::{
    BallotCommit, ResolutionSubject, RevealPayload, RoundAccept, RoundObjection, RoundState, RoundStatus,
    SignedText, Trigger, VoteChoice, VotePayload, Whole, payload::commitment,
};
use andon_signing::{PublicKey, Signer};

/// The file in which a draft that was not accepted is kept, below the git directory.
const KEPT: &str = "RESOLUTION_EDITMSG";
/// Largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 20;
/// Largest ballot that is read, in bytes.
const MAX_BALLOT: u64 = 1 << 20;

/// An appended entry, and what the ledger is with it: `andon/review-act@1`.
#[derive(Debug, Serialize)]
pub struct ActReport {
    entry: EntryId,
    round: EntryId,
    status: RoundStatus,
    /// The name of what is decided.
    decision: Option<String>,
    /// The instruction that is decided, word for word.
    words: Option<String>,
    /// The entry answered the halt that stood here.
    resumed: bool,
    /// The index of the round's entry.
    #[serde(skip)]
    at: usize,
    #[serde(skip)]
    ledger: SignedLedger,
}

impl ActReport {
    fn new(ws: &Workspace, entry: EntryId, round: EntryId) -> Result<Self> {
        let ledger = asking::load(ws)?;
        let at = ledger.find(&round.to_string())?;
        let state = ledger.folded.round(at);
        Ok(Self {
            entry,
            round,
            status: state.map_or(RoundStatus::Closed, RoundState::status),
            decision: state.and_then(RoundState::decision).map(|decided| choice(&decided.key).to_owned()),
            words: state.and_then(|state| ledger.decided_words(state)),
            resumed: false,
            at,
            ledger,
        })
    }
}

/// Something short that a person says about a round, with the reason.
#[derive(Debug, Clone, Copy)]
pub enum Act<'a> {
    Accept,
    Panel(&'a str),
    Flag(&'a str),
}

/// Appends a short entry.
///
/// # Errors
/// The rule that forbids it.
pub fn act(ctx: &Context, ws: &Workspace, named: &str, act: Act<'_>) -> Result<ActReport> {
    // Agents may flag as well, with a key of that role.
    let (kind, of_people) = match act {
        Act::Accept => ("accept", Some("review accept")),
        Act::Panel(_) => ("panel", Some("review panel")),
        Act::Flag(_) => ("flag", None),
    };
    if let Some(verb) = of_people {
        asking::not_an_agent(ctx, verb)?;
    }
    let Round { ledger, id, .. } = Round::open(ws, named)?;
    let round = id.to_string();
    let signer = asking::signer(ctx, ws)?;
    let said = match act {
        Act::Accept => {
            ledger.below_cap(&signer)?;
            members_of(&RoundAccept { round })
        }
        Act::Panel(reason) | Act::Flag(reason) => {
            members_of(&RoundObjection { round, reason: SignedText(reason.to_owned()) })
        }
    };
    let entry = ledger.append(ctx, ws, &Draft { kind, said: &said, evidence: &[], signer: Some(&signer) })?;
    // A flag or a panel makes others necessary.
    asking::call_people(ctx, ws);
    ActReport::new(ws, entry, id)
}

/// The round that an entry is about.
struct Round<'a> {
    ws: &'a Workspace,
    ledger: SignedLedger,
    /// The index of the round's entry in the ledger.
    at: usize,
    id: EntryId,
}

impl<'a> Round<'a> {
    fn open(ws: &'a Workspace, named: &str) -> Result<Self> {
        let ledger = asking::load(ws)?.with_policy()?;
        let at = rounds::find(ws, &ledger, named)?;
        Ok(Self { ws, id: ledger.entries[at].id, ledger, at })
    }

    fn state(&self) -> Option<&RoundState> {
        self.ledger.folded.round(self.at)
    }

    fn is_halt(&self) -> bool {
        self.state().is_some_and(|round| round.is_halt)
    }

    /// The halt that is this round.
    fn halt(&self) -> Result<StandingHalt> {
        let standing = halts::binding(self.ws)?.filter(|halt| halt.id == self.id);
        standing.map_or_else(|| halts::of_entry(self.ws, self.id), Ok)
    }

    /// The policy's name for the holder of a key.
    fn name_of(&self, signer: &Signer) -> Option<String> {
        self.ledger.who(&signer.public().to_string()).map(str::to_owned)
    }

    /// Seconds since the witness accepted the round; 0 where they have not.
    fn seconds(&self, signer: &Signer) -> i64 {
        let accepted = self.name_of(signer).and_then(|who| self.state()?.accepted(&who));
        accepted.map_or(0, |since| self.ws.opened.0.saturating_sub(since).max(0))
    }

    /// A halt that needs no signature is no round: signing would not end it.
    fn asks_signature(&self) -> Result<()> {
        if !self.is_halt() || asking::asks_signature(self.ws, &self.halt()?).is_some() {
            return Ok(());
        }
        let what = "this halt is not answered by a signature: guard.ack is not \"signed\" here";
        Err(OpsError::usage(what, Hint::AnswerUnsigned))
    }

    /// The members that follow from the round: the trigger, the witness, and for a halt the code that was halted.
    fn subject(&self, signer: &Signer, trigger: Option<Trigger>) -> Result<ResolutionSubject> {
        let witness = self.name_of(signer);
        if self.is_halt() {
            let subject = asking::halt_subject(self.ws, &self.halt()?)?;
            return Ok(ResolutionSubject { witness, ..subject });
        }
        let last = || self.state().and_then(|round| round.triggers.iter().next_back()).copied();
        Ok(ResolutionSubject {
            trigger: trigger.or_else(last).unwrap_or(Trigger::Flag),
            round: self.id.to_string(),
            witness,
            halt: None,
            code: None,
            tree: None,
        })
    }

    fn template(&self, signer: &Signer) -> TemplateOf {
        let question = self.ledger.question(self.at);
        let question: String = question.lines().next().unwrap_or_default().chars().take(200).collect();
        let names = self.state().filter(|round| !round.is_halt).map(|round| round.cast.names());
        TemplateOf {
            title: format!("round {}: {question}", self.ledger.short(self.at)),
            seconds: self.seconds(signer),
            critique: self.state().is_some_and(|round| round.came.critique),
            halt: self.is_halt(),
            agents: names.into_iter().flatten().map(str::to_owned).collect(),
        }
    }
}

/// An answer, with the clock and the ledger by which it is judged: where a person has written it, those of after that.
struct Answer {
    vote: VotePayload,
    trigger: Option<Trigger>,
    /// The text that it was read from.
    text: Option<String>,
    ctx: Context,
    /// The ledger as it is after a person has written.
    newer: Option<SignedLedger>,
}

impl Answer {
    /// Takes the answer from the command line, a file, or the person's editor.
    fn take(
        ctx: &Context,
        args: &AnswerArgs,
        verb: &str,
        round: &Round<'_>,
        signer: &Signer,
    ) -> Result<Self> {
        let ws = round.ws;
        let command = Hint::SignRound.with([verb, &round.ledger.short(round.at)]);
        let (draft, text) = if let Some(file) = &args.from {
            let text = read_text(ctx, file, MAX_ANSWER)?;
            let draft = template::read(&command, &file.to_string_lossy(), &text);
            if draft.is_err() && file == Path::new("-") {
                keep(ws, Some(&text));
            }
            (draft?, Some(text))
        } else if args.decision.is_some() {
            let wrong = |err: template::Malformed| OpsError::usage(err.to_string(), Hint::AnswerByFlags);
            let mut vote = template::flags(args).map_err(wrong)?;
            if args.time_spent_seconds.is_none() {
                vote.time_spent_seconds = Whole::new(round.seconds(signer));
            }
            (template::check(&members_of(&vote)).map_err(wrong)?, None)
        } else {
            let of = round.template(signer);
            let text = edited(ctx, ws, &template::template(&of))?;
            let mut draft = template::read(&command, &kept(ws).to_string_lossy(), &text)?;
            // Left as it was: the time in the editor counts as well.
            if draft.vote.time_spent_seconds == Whole::new(of.seconds) {
                let written = ctx.later().0.saturating_sub(ctx.now.0).max(0);
                draft.vote.time_spent_seconds = Whole::new(of.seconds.saturating_add(written));
            }
            (draft, Some(text))
        };
        let VoteDraft { vote, trigger } = draft;
        let vote = VotePayload { given: Some(asking::given(ctx)), ..vote };
        let mut answer = Self { vote, trigger, text, ctx: ctx.clone(), newer: None };
        if args.from.is_none() && args.decision.is_none() {
            answer.ctx.now = ctx.later();
            let ledger = asking::open(&ws.repo, ws.config.guard.ledger, answer.ctx.now);
            answer.newer = Some(answer.or_keep(ws, ledger.and_then(SignedLedger::with_policy))?);
        }
        Ok(answer)
    }

    /// Keeps the text of an answer that was refused, so that none is lost.
    fn or_keep<T>(&self, ws: &Workspace, done: Result<T>) -> Result<T> {
        done.inspect_err(|_| keep(ws, self.text.as_deref()))
    }
}

/// Appends a resolution.
///
/// # Errors
/// The answer's faults, by line; the draft is kept.
pub fn resolve(ctx: &Context, ws: &Workspace, args: &AnswerArgs) -> Result<ActReport> {
    asking::not_an_agent(ctx, "review resolve")?;
    let round = Round::open(ws, &args.round)?;
    round.asks_signature()?;
    let signer = asking::signer(ctx, ws)?;
    round.ledger.below_cap(&signer)?;
    let answer = Answer::take(ctx, args, "resolve", &round, &signer)?;
    let said = answer.vote.resolving(&round.subject(&signer, answer.trigger)?);
    let draft = Draft { kind: "resolution", said: &said, evidence: &[], signer: Some(&signer) };
    let ledger = answer.newer.as_ref().unwrap_or(&round.ledger);
    let entry = answer.or_keep(ws, ledger.append(&answer.ctx, ws, &draft))?;
    let _gone = std::fs::remove_file(kept(ws));
    let mut acted = ActReport::new(ws, entry, round.id)?;
    if round.is_halt() {
        acted.resumed = halts::resolve(&answer.ctx, ws)?.halt.is_none();
    }
    asking::call_people(&answer.ctx, ws);
    Ok(acted)
}

/// Commits to a vote.
///
/// # Errors
/// The ballot's faults, or the rule that forbids it.
pub fn ballot(ctx: &Context, ws: &Workspace, args: &AnswerArgs) -> Result<ActReport> {
    asking::not_an_agent(ctx, "review ballot")?;
    let round = Round::open(ws, &args.round)?;
    let signer = asking::signer(ctx, ws)?;
    round.ledger.below_cap(&signer)?;
    let answer = Answer::take(ctx, args, "ballot", &round, &signer)?;
    let vote = members_of(&answer.vote);
    let mut nonce = Digest([0; 32]);
    getrandom::fill(&mut nonce.0).map_err(|err| OpsError::Input(std::io::Error::other(err.to_string())))?;
    let id = round.id.to_string();
    let commitment = commitment(nonce, &vote).ok_or_else(|| {
        OpsError::usage("the ballot has no canonical form", "numbers must be whole, and at most 2^53")
    })?;
    let said = members_of(&BallotCommit { round: id.clone(), commitment });
    let draft = Draft { kind: "ballot-commit", said: &said, evidence: &[], signer: Some(&signer) };
    let ledger = answer.newer.as_ref().unwrap_or(&round.ledger);
    answer.or_keep(ws, ledger.allow(&answer.ctx, &draft))?;
    let path = ballot_file(ws, &id, signer.public());
    let kept = members_of(&RevealPayload { round: id, nonce, ballot: vote });
    answer.or_keep(ws, ledger.allow_ballot(round.at, &kept))?;
    // Kept before it is committed to: without it the seat would be lost.
    effect::write_private(&path, &Value::Object(kept).to_string())?;
    let entry = ledger.append(&answer.ctx, ws, &draft)?;
    ActReport::new(ws, entry, round.id)
}

/// Opens the vote that was committed to here.
///
/// # Errors
/// None was, or it is too early.
pub fn reveal(ctx: &Context, ws: &Workspace, named: &str) -> Result<ActReport> {
    asking::not_an_agent(ctx, "review reveal")?;
    let Round { ledger, at, id, .. } = Round::open(ws, named)?;
    let signer = asking::signer(ctx, ws)?;
    let path = ballot_file(ws, &id.to_string(), signer.public());
    let missing = || {
        OpsError::usage(
            format!("no ballot of this key for round {} waits in this clone", ledger.short(at)),
            "reveal from the clone in which it was committed; without its nonce it cannot be revealed",
        )
    };
    let bytes = read_plain(&path, MAX_BALLOT).ok().flatten().ok_or_else(missing)?;
    let mut said: EntryStatement = serde_json::from_slice(&bytes).map_err(|_| missing())?;
    said.insert("round".to_owned(), Value::String(id.to_string()));
    let draft = Draft { kind: "ballot-reveal", said: &said, evidence: &[], signer: Some(&signer) };
    let entry = ledger.append(ctx, ws, &draft)?;
    let _gone = std::fs::remove_file(path);
    ActReport::new(ws, entry, id)
}

/// The file in which the ballot of a member waits to be revealed: readable by its owner alone. Several members may vote in one
/// clone, each with a key of their own.
fn ballot_file(ws: &Workspace, round: &str, key: &PublicKey) -> PathBuf {
    let key = Digest(Sha256::digest(key.to_string().as_bytes()).into()).to_string();
    ws.repo.git_dir().join("andon").join("ballots").join(format!("{round}-{}.json", &key[..16]))
}

/// The template as the person leaves it.
fn edited(ctx: &Context, ws: &Workspace, template: &str) -> Result<String> {
    let path = kept(ws);
    let failed = |what: String| Err(OpsError::usage(what, Hint::ChooseEditor));
    // `GIT_EDITOR` may be a script, which needs no person.
    if ctx.var("GIT_EDITOR").is_none() && !consult::has_person() {
        let what = "there is no terminal on standard input, and an editor needs one";
        return Err(OpsError::usage(what, Hint::AnswerByFlags));
    }
    effect::write_private(&path, template)?;
    let editor = asking::editor(ctx, ws)?;
    match consult::edit(&editor, &path) {
        Ok(true) => {}
        Ok(false) => return failed(format!("the editor {editor} ended with an error; nothing was appended")),
        Err(err) => return failed(format!("the editor {editor} could not be started: {err}")),
    }
    let text = read_text(ctx, &path, MAX_ANSWER)?;
    let says = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    if says(&text).is_empty() || says(&text) == says(template) {
        let _gone = std::fs::remove_file(&path);
        return Err(OpsError::refused(
            "the template was left as it is: nothing was appended",
            "fill in decision and rationale, and save the file",
        ));
    }
    Ok(text)
}

fn kept(ws: &Workspace) -> PathBuf {
    ws.repo.git_dir().join("andon").join(KEPT)
}

fn keep(ws: &Workspace, text: Option<&str>) {
    if let Some(text) = text {
        let _kept = effect::write_private(&kept(ws), text);
    }
}

/// The present status of the round, what was paid and earned, and what is next.
pub fn acted_text(acted: &ActReport) -> String {
    let ledger = &acted.ledger;
    let plain = |text: &str| escape::terminal(text).into_owned();
    let round = ledger.short(acted.at);
    let Some(found) = ledger.folded.round(acted.at) else { return String::new() };
    let decision = acted.decision.as_ref().map_or_else(String::new, |name| format!(": {}", plain(name)));
    let mut lines =
        vec![format!("entry {}: round {round} is {}{decision}", short(acted.entry), acted.status)];
    if acted.decision == Some(VoteChoice::Amend.to_string()) {
        let words = acted.words.iter().flat_map(|words| words.lines());
        lines.extend(words.map(|line| format!("  > {}", plain(line))));
    }
    let at = ledger.position(acted.entry);
    let books = &ledger.folded.state.accounts;
    for moved in books.transfers.iter().filter(|moved| Some(moved.entry) == at) {
        let (from, to) = (plain(&moved.from), plain(&moved.to));
        lines.push(format!("  {}: {} CC from {from} to {to}", moved.why, moved.amount));
    }
    for earned in books.earned.iter().filter(|earned| Some(earned.entry) == at) {
        let whole = format!("{}.{:03}", earned.milli / 1_000, earned.milli % 1_000);
        lines.push(format!("  attention: {whole} AU for {}", plain(&earned.witness)));
    }
    if found.decision().is_some_and(|decided| decided.self_reviewed) {
        lines.push("  self-reviewed: it counts, and earns neither reputation nor attention".to_owned());
    }
    let flag = found.flags.iter().find(|(entry, _)| Some(*entry) == at);
    lines.extend(flag.and_then(|(_, route)| rounds::without_effect(*route)).map(str::to_owned));
    if let Some(panel) = found.open_panel() {
        lines.push(format!("  {}", plain(&rounds::panel_members(panel))));
    }
    let next = if acted.resumed {
        Hint::Sync.led("the halt is answered, the loop may go on; send it to the others")
    } else if let Some(panel) = found.open_panel() {
        rounds::panel_next(panel, &round)
    } else if acted.status == RoundStatus::Accepted {
        Hint::ReadAndResolve.with([&round])
    } else if acted.status == RoundStatus::Resolved {
        Hint::Sync.led("it is a precedent now; send it to the others")
    } else {
        Hint::Sync.led("send it to the others")
    };
    lines.push(format!("  help: {next}"));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
