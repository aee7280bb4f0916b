//! What people do with rounds: take one, answer it, ask for a panel, flag what was decided.

use std::path::Path;

use super::rounds::{self, own_name, state};
use super::template::{self, TemplateOf, VoteDraft};
use andon_core::domain::decision::StandingHalt;
use andon_core::domain::ids::EntryId;
use andon_core::format::members_of;
use andon_engine::asking::{self, Draft, SignedLedger};
use andon_engine::context::Context;
use andon_engine::effect::{self, consult};
use andon_engine::error::OpsError;
use andon_engine::halts;
use andon_engine::workspace::Workspace;
use andon_review::payload::acts::{RoundAccept, RoundObjection};
use andon_review::payload::fields::{SignedText, Whole};
use andon_review::payload::member::Malformed;
use andon_review::payload::questions::Trigger;
use andon_review::payload::vote::{ResolutionSubject, VotePayload};
use andon_review::round::RoundState;
use andon_signing::Signer;

/// Where a draft that was not accepted is kept, below the git directory.
const KEPT: &str = "RESOLUTION_EDITMSG";
/// Largest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 20;

/// What was appended, and what the ledger is with it.
#[derive(Debug)]
pub struct ActReport {
    /// The new entry.
    pub entry: EntryId,
    /// The round's entry.
    pub round: usize,
    /// The ledger with it.
    pub ledger: SignedLedger,
    /// Whether it answered the halt that stood here.
    pub resumed: bool,
}

/// Something short that a person says about a round.
#[derive(Debug, Clone, Copy)]
pub enum Act<'a> {
    /// They take it.
    Accept,
    /// They ask for a panel.
    Panel(&'a str),
    /// What was decided, or what agents closed among themselves, was wrong.
    Flag(&'a str),
}

impl Act<'_> {
    fn kind(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Panel(_) => "panel",
            Self::Flag(_) => "flag",
        }
    }
}

/// Appends a short entry.
///
/// # Errors
/// The rule that forbids it.
pub fn act(ctx: &Context, ws: &Workspace, round: &str, act: Act<'_>) -> Result<ActReport, OpsError> {
    match act {
        Act::Accept => asking::not_an_agent(ctx, "review accept")?,
        Act::Panel(_) => asking::not_an_agent(ctx, "review panel")?,
        // Agents may flag as well, with a key of that role.
        Act::Flag(_) => {}
    }
    let ledger = asking::load(ws)?.with_policy()?;
    let at = rounds::find(ws, &ledger, round)?;
    let id = ledger.entries[at].id.to_string();
    let body = match act {
        Act::Accept => members_of(&RoundAccept { round: id.clone() }),
        Act::Panel(reason) | Act::Flag(reason) => {
            members_of(&RoundObjection { round: id.clone(), reason: SignedText(reason.to_owned()) })
        }
    };
    let signer = asking::signer(ctx, ws)?;
    if matches!(act, Act::Accept) {
        ledger.below_cap(&signer)?;
    }
    let draft = Draft { kind: act.kind(), said: &body, evidence: &[], signer: Some(&signer) };
    let entry = ledger.append(ctx, ws, &draft)?;
    // A flag or a panel makes others necessary.
    asking::call_people(ctx, ws);
    acted(ws, entry, &id)
}

pub(super) fn acted(ws: &Workspace, entry: EntryId, round: &str) -> Result<ActReport, OpsError> {
    let ledger = asking::load(ws)?;
    let round = ledger.find(round)?;
    Ok(ActReport { entry, round, ledger, resumed: false })
}

/// Who answers which round.
#[derive(Clone, Copy)]
pub(super) struct Responder<'a> {
    /// The ledger that the entry goes into.
    pub(super) ledger: &'a SignedLedger,
    /// The round's entry.
    pub(super) at: usize,
    /// With which key.
    pub(super) signer: &'a Signer,
    /// The command.
    pub(super) verb: &'static str,
}

impl Responder<'_> {
    fn command(&self) -> String {
        format!("andon review {} {}", self.verb, self.ledger.short(self.at))
    }
}

/// Where an answer comes from.
#[derive(Debug)]
pub enum AnswerSource<'a> {
    /// The person writes it now.
    Editor,
    /// A file; `-` is standard input.
    File(&'a Path),
    /// The command line.
    Flags {
        /// What it says.
        vote: Box<VotePayload>,
        /// Whether it says how long that took; otherwise it is since the round was accepted.
        has_seconds: bool,
    },
}

/// Appends a resolution.
///
/// # Errors
/// What is wrong with it, by line; the draft is kept.
pub fn resolve(
    ctx: &Context,
    ws: &Workspace,
    round: &str,
    given: AnswerSource<'_>,
) -> Result<ActReport, OpsError> {
    asking::not_an_agent(ctx, "review resolve")?;
    let ledger = asking::load(ws)?.with_policy()?;
    let at = rounds::find(ws, &ledger, round)?;
    asks_signature(ws, &ledger, at)?;
    let signer = asking::signer(ctx, ws)?;
    ledger.below_cap(&signer)?;
    let answering = Responder { ledger: &ledger, at, signer: &signer, verb: "resolve" };
    let took_time = matches!(given, AnswerSource::Editor);
    let (answer, text) = answer(ctx, ws, answering, given)?;
    let vote = VotePayload { given: Some(asking::given(ctx)), ..answer.vote };
    let body = vote.resolving(&subject(ws, answering, answer.trigger)?);
    let draft = Draft { kind: "resolution", said: &body, evidence: &[], signer: Some(&signer) };
    let id = ledger.entries[at].id.to_string();
    let is_halt = state(&ledger, at).is_some_and(|round| round.is_halt);
    let now = Now::new(ctx, ws, took_time).inspect_err(|_| keep(ws, text.as_deref()))?;
    let (ctx, ledger) = now.as_ref().map_or((ctx, &ledger), |now| (&now.ctx, &now.ledger));
    let entry = ledger.append(ctx, ws, &draft).inspect_err(|_| keep(ws, text.as_deref()))?;
    let _gone = std::fs::remove_file(kept(ws));
    let mut acted = acted(ws, entry, &id)?;
    if is_halt {
        acted.resumed = halts::resolve(ctx, ws)?.halt.is_none();
    }
    asking::call_people(ctx, ws);
    Ok(acted)
}

/// A halt that needs no signature is no round: signing would not end it.
fn asks_signature(ws: &Workspace, ledger: &SignedLedger, at: usize) -> Result<(), OpsError> {
    if !state(ledger, at).is_some_and(|round| round.is_halt) {
        return Ok(());
    }
    let halt = halt_of(ws, ledger, at)?;
    if asking::asks_signature(ws, &halt).is_some() {
        return Ok(());
    }
    Err(OpsError::Usage {
        what: "this halt is not answered by a signature: guard.ack is not \"signed\" here".to_owned(),
        help: "andon resume --mistaken --reason TEXT  (where the halt was right, without --mistaken)"
            .to_owned(),
    })
}

/// The halt that is the round at `at`.
fn halt_of(ws: &Workspace, ledger: &SignedLedger, at: usize) -> Result<StandingHalt, OpsError> {
    let id = ledger.entries[at].id;
    match halts::binding(ws)?.filter(|halt| halt.id == id) {
        Some(halt) => Ok(halt),
        None => halts::of_entry(ws, id),
    }
}

/// The clock and the ledger after a person has written: an answer is dated when it is signed, and judged by what came
/// meanwhile.
pub(super) struct Now {
    pub(super) ctx: Context,
    pub(super) ledger: SignedLedger,
}

impl Now {
    /// Nothing where no time was taken.
    pub(super) fn new(ctx: &Context, ws: &Workspace, took_time: bool) -> Result<Option<Self>, OpsError> {
        if !took_time {
            return Ok(None);
        }
        let ctx = Context { now: ctx.later(), ..ctx.clone() };
        let ledger = asking::open(&ws.repo, ws.config.guard.ledger, ctx.now)?.with_policy()?;
        Ok(Some(Self { ctx, ledger }))
    }
}

/// What follows from the round: which trigger, who, and for a halt the code that was halted.
fn subject(
    ws: &Workspace,
    answering: Responder<'_>,
    trigger: Option<Trigger>,
) -> Result<ResolutionSubject, OpsError> {
    let Responder { ledger, at, signer, .. } = answering;
    let witness = own_name(ledger, signer.public());
    let round = state(ledger, at);
    if round.is_some_and(|round| round.is_halt) {
        let subject = asking::halt_subject(ws, &halt_of(ws, ledger, at)?)?;
        return Ok(ResolutionSubject { witness, ..subject });
    }
    let last = || round.and_then(|round| round.triggers.iter().next_back()).copied();
    Ok(ResolutionSubject {
        trigger: trigger.or_else(last).unwrap_or(Trigger::Flag),
        round: ledger.entries[at].id.to_string(),
        witness,
        halt: None,
        code: None,
        tree: None,
    })
}

/// The answer, and the text that it was read from where a person wrote one.
pub(super) fn answer(
    ctx: &Context,
    ws: &Workspace,
    answering: Responder<'_>,
    given: AnswerSource<'_>,
) -> Result<(VoteDraft, Option<String>), OpsError> {
    match given {
        AnswerSource::Flags { mut vote, has_seconds } => {
            if !has_seconds {
                vote.time_spent_seconds = Whole::new(seconds(ws, answering));
            }
            Ok((template::check(&members_of(&vote)).map_err(|err| wrong_flag(&err))?, None))
        }
        AnswerSource::File(file) => {
            let text = read(ctx, file)?;
            let said =
                template::read(&answering.command(), &file.to_string_lossy(), &text).inspect_err(|_| {
                    if file == Path::new("-") {
                        keep(ws, Some(&text));
                    }
                })?;
            Ok((said, Some(text)))
        }
        AnswerSource::Editor => {
            let of = template_of(ws, answering);
            let text = edited(ctx, ws, &template::template(&of))?;
            let name = kept(ws).to_string_lossy().into_owned();
            let mut said = template::read(&answering.command(), &name, &text)?;
            // Left as it was: the time in the editor counts as well.
            if said.vote.time_spent_seconds == Whole::new(of.seconds) {
                let written = ctx.later().0.saturating_sub(ctx.now.0).max(0);
                said.vote.time_spent_seconds = Whole::new(of.seconds.saturating_add(written));
            }
            Ok((said, Some(text)))
        }
    }
}

/// A flag that is not what it must be.
pub fn wrong_flag(err: &Malformed) -> OpsError {
    OpsError::Usage {
        what: err.to_string(),
        help: "see what each field is: andon review resolve --help".to_owned(),
    }
}

fn template_of(ws: &Workspace, answering: Responder<'_>) -> TemplateOf {
    let Responder { ledger, at, .. } = answering;
    let round = state(ledger, at);
    let question: String = ledger.question(at).lines().next().unwrap_or_default().chars().take(200).collect();
    TemplateOf {
        title: format!("round {}: {question}", ledger.short(at)),
        seconds: seconds(ws, answering),
        critique: round.is_some_and(|round| round.came.critique),
        halt: round.is_some_and(|round| round.is_halt),
        agents: round.map(agents).unwrap_or_default(),
    }
}

fn agents(round: &RoundState) -> Vec<String> {
    if round.is_halt { Vec::new() } else { round.cast.names().into_iter().map(str::to_owned).collect() }
}

/// Since the witness accepted the round; 0 where they have not.
fn seconds(ws: &Workspace, answering: Responder<'_>) -> i64 {
    let Responder { ledger, at, signer, .. } = answering;
    let who = own_name(ledger, signer.public());
    let accepted = who.and_then(|who| state(ledger, at)?.accepted(&who));
    accepted.map_or(0, |since| ws.opened.0.saturating_sub(since).max(0))
}

/// The template as the person leaves it.
fn edited(ctx: &Context, ws: &Workspace, template: &str) -> Result<String, OpsError> {
    let path = kept(ws);
    let failed = |what: String| OpsError::Usage {
        what,
        help: "set another editor: git config --global core.editor vi; or give a file: --from FILE"
            .to_owned(),
    };
    // `GIT_EDITOR` may be a script, which needs no person.
    if ctx.var("GIT_EDITOR").is_none() && !consult::has_person() {
        return Err(OpsError::Usage {
            what: "there is no terminal on standard input, and an editor needs one".to_owned(),
            help: "give the answer by --from FILE, or by flags: andon review resolve --help".to_owned(),
        });
    }
    std::fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(OpsError::Input)?;
    effect::replace_text(&path, template)?;
    let editor = asking::editor(ctx, ws)?;
    match consult::edit(&editor, &path) {
        Ok(true) => {}
        Ok(false) => {
            return Err(failed(format!("the editor {editor} ended with an error; nothing was appended")));
        }
        Err(err) => return Err(failed(format!("the editor {editor} could not be started: {err}"))),
    }
    let text = read(ctx, &path)?;
    let says = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    if says(&text).is_empty() || says(&text) == says(template) {
        let _gone = std::fs::remove_file(&path);
        return Err(OpsError::Refused {
            what: "the template was left as it is: nothing was appended".to_owned(),
            help: "fill in decision and rationale, and save the file".to_owned(),
        });
    }
    Ok(text)
}

fn kept(ws: &Workspace) -> std::path::PathBuf {
    ws.repo.git_dir().join("andon").join(KEPT)
}

/// Keeps a draft that was refused, so that no answer is lost.
pub(super) fn keep(ws: &Workspace, text: Option<&str>) {
    if let Some(text) = text {
        let path = kept(ws);
        let _made = std::fs::create_dir_all(path.parent().unwrap_or(&path));
        let _kept = effect::replace_text(&path, text);
    }
}

fn read(ctx: &Context, file: &Path) -> Result<String, OpsError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_ANSWER).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(ctx.cwd.join(file)).and_then(|file| file.take(MAX_ANSWER).read_to_end(&mut bytes))
    };
    let wrong = |why: String| OpsError::Usage {
        what: format!("{} cannot be read: {why}", file.to_string_lossy()),
        help: "give a file that can be read, or `-` for standard input".to_owned(),
    };
    read.map_err(|err| wrong(err.to_string()))?;
    String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))
}
