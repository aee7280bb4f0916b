//! `andon agent hook CLIENT EVENT`: what agents' clients call. Nothing that breaks here blocks a tool while the loop runs, and
//! nothing lets one pass while it is halted, but for a repository that cannot be opened: it names no halt, and git commits nothing
//! there.

mod guard_changes;
mod origin_by_git;
mod place;
mod text;
mod tool;
mod turn;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io::Read as _, path::PathBuf};

use self::place::{LiveSession, Place, of_agent};
use self::tool::{EventOutcome, after_tool};
use crate::cli::{ColorChoice, Exit, Shell};
use crate::verbs::{agent_hook::text as words, hook as git_hooks, hook::chain::HookCall, round};
use andon_agents::{self as agent, HookPayload, Instruction, MAX_PAYLOAD, Reply, reply};
use andon_core::detect::Stops;
use andon_core::domain::{AgentAction, Client, Diagnostic, GitHook, Halt, Hint, HookMoment, ShortHash};
use andon_engine::{
    Context, OpsError, Result, Workspace, adapter::events, effect::best_effort, halts, text::message,
};
use andon_git::GitError;

/// Runs the hook.
pub fn main(mut ctx: Context, client: &str, event: &str) -> Exit {
    let bytes = read_stdin();
    let Some(client) = Client::from_name(client) else {
        let known = Client::ALL.map(|(_, name)| name).join(", ");
        let what = format!("no such client: {client}; known are {known}");
        return unknown(ctx, &what);
    };
    let report =
        events::mark(&["report", event, &String::from_utf8_lossy(bytes.as_deref().unwrap_or_default())]);
    // The bytes go with it: a payload may be large, and what is made of it is.
    let read = guarded(move || match bytes {
        Some(bytes) => agent::read(client, event, &bytes).map_err(|error| format!("the payload: {error}")),
        None => Err(format!("the payload has more than the {MAX_PAYLOAD} bytes that are read")),
    });
    let ws = match open(&mut ctx, read.as_ref().ok()) {
        Ok(Some(ws)) => ws,
        Ok(None) => return Exit::Allowed,
        Err(what) => return say(&ctx, &Reply::aside(&words::broken(&what)), &[]),
    };
    let _left = guarded(|| round::expire(&ctx, &ws).map_err(|err| err.to_string()));
    let halted = guarded(|| Ok(halted(&ctx, &ws))).unwrap_or_else(HaltState::Unknown);
    ClientHook { ctx, ws, client, event, report, halted }.answer(read)
}

/// A call of an unknown client, or one that is not understood, is refused in the way that most understand, while the loop is
/// halted. Otherwise it passes.
pub fn unknown(mut ctx: Context, what: &str) -> Exit {
    let ws = open(&mut ctx, None).ok().flatten();
    let refusal =
        ws.and_then(|ws| guarded(|| Ok(halted(&ctx, &ws))).unwrap_or_else(HaltState::Unknown).refusal());
    let said = match refusal {
        Some(why) => {
            reply(Client::Claude, "PreToolUse", HookMoment::BeforeTool, &[], &Instruction::Refuse(why))
        }
        None => Reply::aside(&words::broken(what)),
    };
    say(&ctx, &said, &[])
}

/// A hook of a known client in a repository.
struct ClientHook<'a> {
    ctx: Context,
    ws: Workspace,
    client: Client,
    event: &'a str,
    report: ShortHash,
    halted: HaltState,
}

impl ClientHook<'_> {
    fn answer(&self, read: Result<HookPayload, String>) -> Exit {
        let Some(moment) = agent::moment(self.client, self.event) else {
            let what = format!("{} has no event {:?} that is known", self.client.title(), self.event);
            return self.broken(read.ok().as_ref(), HookMoment::BeforeTool, &what);
        };
        let mut payload = match read {
            Ok(payload) => payload,
            Err(what) => return self.broken(None, moment, &what),
        };
        payload.transcript = payload.transcript.take().or_else(|| self.transcript(&payload));
        let at = payload.moment.unwrap_or(moment);
        let mut notes = self.config_notes(&payload);
        let judged = guarded(|| {
            if self.client.spec().habits.shell_without_hooks && moment == HookMoment::AfterTool {
                notes.extend(self.catch_up());
            }
            self.judge(at, &payload).map_err(|error| error.to_string())
        });
        match judged {
            Ok(said) => {
                notes.extend(said.warnings);
                let said = reply(self.client, self.event, at, &payload.calls, &said.say);
                say(&self.ctx, &said, &notes)
            }
            Err(what) => self.broken(Some(&payload), moment, &what),
        }
    }

    /// Judges what the client reports at this moment.
    fn judge(&self, moment: HookMoment, payload: &HookPayload) -> Result<EventOutcome> {
        let ctx = of_agent(&self.ctx, self.client);
        let place =
            || Place { ctx: &ctx, ws: &self.ws, client: self.client, session: payload.session.clone() };
        if let Some(transcript) = &payload.transcript {
            best_effort::remember_transcript(self.ws.repo.git_dir(), transcript);
        }
        let halted = &self.halted;
        // A report of something that has happened is taken in once.
        let take_in = |act: &dyn Fn(&mut LiveSession<'_>) -> Result<EventOutcome>| {
            let live = place().fold_for(self.event, moment, payload, self.report)?;
            live.map_or_else(|| Ok(EventOutcome::nothing()), |mut live| act(&mut live))
        };
        match moment {
            HookMoment::Permission if *halted == HaltState::No => Ok(EventOutcome::nothing()),
            HookMoment::BeforeTool | HookMoment::Permission => {
                tool::before(place(), self.event, payload, halted)
            }
            HookMoment::SettingsChanged => turn::settings(&place(), payload),
            HookMoment::Aside => Ok(EventOutcome::nothing()),
            HookMoment::AfterTool => take_in(&|live| after_tool(live, self.event, payload)),
            HookMoment::TurnEnd => take_in(&|live| {
                let notes = guard_changes::close(live)?;
                let heard = turn::end(live, payload, halted)?;
                Ok(EventOutcome { warnings: notes.into_iter().chain(heard.warnings).collect(), ..heard })
            }),
            HookMoment::SessionStart => take_in(&|live| turn::session_start(live, payload, halted)),
            HookMoment::Prompt => take_in(&|live| {
                // A person may change the guard between two turns: the agent is not blamed for it.
                guard_changes::forget(live)?;
                turn::prompt(live, payload, halted)
            }),
            HookMoment::Compacting => take_in(&|live| turn::compacting(live, payload, halted)),
            HookMoment::Compacted => take_in(&|live| live.compacted().map(|()| EventOutcome::nothing())),
            HookMoment::Answered => take_in(&|live| turn::answered(live, payload)),
        }
    }

    /// The transcript of a client that does not name it with every event, where it is there.
    fn transcript(&self, payload: &HookPayload) -> Option<String> {
        let below = self.client.spec().transcript?.of_session(payload.session.as_deref()?)?;
        let path = PathBuf::from(self.ctx.var("HOME")?).join(below);
        path.is_file().then(|| path.to_string_lossy().into_owned())
    }

    /// A commit that the client's shell made without hooks is recorded, and a halt that is due is written.
    fn catch_up(&self) -> Vec<Diagnostic> {
        let call = HookCall { name: GitHook::PostCommit, args: Vec::new(), stdin: Vec::new(), before: None };
        match git_hooks::work(&self.ctx, &call, &mut |_, _| Ok(())) {
            Ok(outcome) => outcome.warnings,
            Err(error) => vec![error.as_warning()],
        }
    }

    /// The defaults replace a configuration that cannot be read, with a message.
    fn config_notes(&self, payload: &HookPayload) -> Vec<Diagnostic> {
        let Some(errors) = &self.ws.config_errors else { return Vec::new() };
        let errors = errors.to_string();
        let first = errors.lines().next().unwrap_or_default();
        let what = format!("the defaults are used instead of a configuration that cannot be read: {first}");
        remember_broken(&self.ctx, &self.ws, self.client, Some(payload), &what);
        vec![Diagnostic::warning(what).help(Hint::CheckConfig)]
    }

    /// The hook could not do its work.
    fn broken(&self, payload: Option<&HookPayload>, moment: HookMoment, what: &str) -> Exit {
        let told = guarded(|| {
            remember_broken(&self.ctx, &self.ws, self.client, payload, what);
            Ok(())
        });
        let note = Diagnostic::warning(format!("this hook did not work: {what}")).help(Hint::Doctor);
        let notes: Vec<Diagnostic> = told.err().map(Diagnostic::warning).into_iter().chain([note]).collect();
        let refusal = self.halted.refusal().filter(|_| moment == HookMoment::BeforeTool);
        match refusal {
            Some(why) => {
                let calls = payload.map_or(&[][..], |payload| &payload.calls);
                let said =
                    reply(self.client, self.event, HookMoment::BeforeTool, calls, &Instruction::Refuse(why));
                say(&self.ctx, &said, &[])
            }
            None => say(&self.ctx, &Reply::default(), &notes),
        }
    }
}

/// Runs `work`; a panic is an error like any other. Rust itself has said by then where it was.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("an internal error, a defect in Andon".to_owned()))
}

/// The whole of standard input; `None` where it is longer than a payload may be.
fn read_stdin() -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_PAYLOAD).unwrap_or(u64::MAX);
    let mut stdin = std::io::stdin().lock();
    // An unreadable rest is missing: the payload is then cut short, and reported as that.
    let _ = stdin.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes);
    let whole = bytes.len() <= MAX_PAYLOAD;
    if !whole {
        // A client that still writes must not find the pipe closed.
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
    }
    whole.then_some(bytes)
}

/// The repository in which the hook was started, else that in which the client is at work; `None` outside of any.
fn open(ctx: &mut Context, payload: Option<&HookPayload>) -> Result<Option<Workspace>, String> {
    let first = guarded(|| Ok(Workspace::open_lenient(ctx)))?;
    let told = payload.and_then(|payload| payload.cwd.as_deref()).map(PathBuf::from);
    let opened = match (first, told) {
        (Err(OpsError::Git(GitError::NotARepository { .. })), Some(cwd)) if cwd.is_dir() => {
            ctx.cwd = cwd;
            guarded(|| Ok(Workspace::open_lenient(ctx)))?
        }
        (opened, _) => opened,
    };
    match opened {
        Ok(ws) if ws.repo.workdir().is_some() => Ok(Some(ws)),
        Ok(_) | Err(OpsError::Git(GitError::NotARepository { .. })) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Answers the client. The notes are for people, and appear only where the client reads no reason from there.
fn say(ctx: &Context, reply: &Reply, notes: &[Diagnostic]) -> Exit {
    let out = crate::cli::printer(ctx, ColorChoice::Never);
    let shell = Shell { ctx: ctx.clone(), out };
    if reply.exit == 0 {
        shell.out.message(&message::diagnostics(notes, shell.out.err));
    }
    shell.out.message(&reply.stderr);
    shell.out.result(&reply.stdout);
    Exit::Passed(reply.exit)
}

/// The answer to the question that comes before all others: is the loop halted?
#[derive(Debug, Clone, PartialEq, Eq)]
enum HaltState {
    /// The loop is not halted, and goes on.
    No,
    /// By a halt, or by a file that a person put there.
    Yes(Option<Box<Halt>>),
    /// It could not be found out, and why.
    Unknown(String),
}

impl HaltState {
    /// The halt, where one is known.
    pub fn halt(&self) -> Option<&Halt> {
        if let Self::Yes(halt) = self { halt.as_deref() } else { None }
    }

    /// The refusal of a tool whose payload cannot be judged; `None` where the loop goes on.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::No => None,
            Self::Yes(halt) => Some(words::halted(halt.as_deref(), words::Telling::First)),
            Self::Unknown(why) => Some(words::unread(why)),
        }
    }
}

/// Finds out if the loop is halted, and records nothing on the way.
fn halted(ctx: &Context, ws: &Workspace) -> HaltState {
    let stopped = halts::stops(ws) != Stops::NONE;
    match halts::unanswered(ctx, ws) {
        Ok(Some(halt)) => HaltState::Yes(Some(Box::new(halt.halt))),
        Ok(_) | Err(_) if stopped => HaltState::Yes(None),
        Ok(_) => HaltState::No,
        Err(err) => HaltState::Unknown(err.to_string()),
    }
}

/// Keeps that a hook could not do its work, once for each reason and session.
fn remember_broken(ctx: &Context, ws: &Workspace, client: Client, payload: Option<&HookPayload>, what: &str) {
    let session = payload.and_then(|payload| payload.session.clone());
    let place = Place { ctx, ws, client, session };
    // An error that cannot even be kept was said on standard error.
    let _ = place.remember(AgentAction::Broken, what, Some(events::mark(&["broken", what])));
}
