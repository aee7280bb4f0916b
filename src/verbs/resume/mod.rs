//! `andon resume`, `andon stop`, `andon pause`.

pub mod args;
pub mod run;

use std::io::{BufRead as _, Read as _};

use self::args::{ReasonArg, ResumeArgs};
use crate::cli::Shell;
use crate::cli::error::Exit;
use crate::cli::output::{self, Format};
use crate::json::{ResumeJson, StopJson};
use crate::report::json;
use crate::verbs::resume::{run as resume, run::StopFile};
use andon_core::domain::facts::{AckHow, HaltAssessment};
use andon_core::escape;
use andon_engine::error::OpsError;
use andon_engine::halts::{self, ResumeReport};
use andon_engine::workspace::Workspace;

/// Acknowledges a halt.
pub fn resume(shell: &Shell, args: &ResumeArgs) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let how = if args.yes.is_some() { AckHow::Unattended } else { AckHow::Resume };
    if args.yes.is_none() {
        attended(shell, &ws)?;
    }
    if let Some(counter) = &args.counter {
        let reset = resume::reset(&shell.ctx, &ws, counter, (reason(args).as_deref(), how))?;
        shell.out.result(&match args.format.format {
            Format::Text => reset_text(counter, &reset),
            Format::Json => json::document("resume", &answer(args, &reset)),
        });
        return Ok(Exit::Allowed);
    }
    let halt_was = if args.mistaken { HaltAssessment::Mistaken } else { HaltAssessment::Unsaid };
    let resumed = match resume::resume(&shell.ctx, &ws, reason(args).as_deref(), (halt_was, how)) {
        Err(OpsError::ReasonMissing) if output::has_terminal() => {
            let reason = ask(shell, &ws)?;
            resume::resume(&shell.ctx, &ws, reason.as_deref(), (halt_was, how))?
        }
        done => done?,
    };
    shell.out.result(&match args.format.format {
        Format::Text => text(shell, args, &resumed),
        Format::Json => json::document("resume", &answer(args, &resumed)),
    });
    Ok(Exit::Allowed)
}

/// The decision, with why it was given without a terminal. A line of a hint that was pasted decides nothing, neither part of it.
fn reason(args: &ResumeArgs) -> Option<String> {
    let why = args.yes.as_deref().filter(|why| !why.trim().is_empty());
    match (args.reason.as_deref(), why) {
        (Some(reason), Some(why)) => {
            Some(format!("{} (unattended: {})", resume::said(reason)?, resume::said(why)?))
        }
        (one, other) => one.or(other).map(str::to_owned),
    }
}

/// That a person sits here who has read the halt: they type its rule. A program that no list of agents names has no terminal.
fn attended(shell: &Shell, ws: &Workspace) -> Result<(), OpsError> {
    let Some(word) = resume::typed_word(&shell.ctx, ws)? else { return Ok(()) };
    if !output::has_terminal() {
        return Err(OpsError::Unattended {
            what: "there is no terminal, so no person has read the halt".to_owned(),
            help: "answer from a terminal; a script says why no person reads it: andon resume --reason '<decision>' --yes '<why>'"
                .to_owned(),
        });
    }
    let shown = escape::terminal(&word).into_owned();
    shell.out.message(&format!("To answer the halt, type the rule that halted the loop ({shown}): "));
    let mut line = String::new();
    std::io::stdin().lock().take(MAX_REASON).read_line(&mut line).map_err(OpsError::Input)?;
    if line.trim() == word {
        return Ok(());
    }
    Err(OpsError::Unattended {
        what: format!("{:?} is not {shown}: the halt was not answered", escape::terminal(line.trim())),
        help: "read it first: andon status".to_owned(),
    })
}

fn answer<'a>(args: &'a ResumeArgs, resumed: &'a ResumeReport) -> ResumeJson<'a> {
    ResumeJson {
        by: &resumed.by,
        counter: args.counter.as_deref(),
        halt: resumed.halt.as_ref(),
        mistaken: args.mistaken,
    }
}

fn reset_text(counter: &str, reset: &ResumeReport) -> String {
    let by = escape::terminal(&reset.by);
    let answered = if reset.halt.is_some() { "; its halt is answered" } else { "" };
    format!("reset by {by}: {counter} starts over{answered}\n")
}

fn text(shell: &Shell, args: &ResumeArgs, resumed: &ResumeReport) -> String {
    let by = escape::terminal(&resumed.by);
    match &resumed.halt {
        Some(standing) => format!(
            "resumed: {by} answered the halt of {} ({}){}; counting starts over\n",
            shell.out.out.date(standing.halt.at),
            escape::terminal(&standing.halt.rule),
            if args.mistaken { " as mistaken" } else { "" },
        ),
        None => format!("resumed by {by}\n"),
    }
}

/// Longest reason that is read, in bytes.
const MAX_REASON: u64 = 4096;

/// Asks the person at the terminal why the loop may continue.
fn ask(shell: &Shell, ws: &Workspace) -> Result<Option<String>, OpsError> {
    let Some(halt) = halts::binding(ws)? else { return Ok(None) };
    let message = escape::terminal(&halt.halt.message).into_owned();
    shell.out.message(&format!(
        "halted: {message}\nWhy may the loop go on? One line for the ledger; empty: it stays halted\n> "
    ));
    let mut line = String::new();
    std::io::stdin().lock().take(MAX_REASON).read_line(&mut line).map_err(OpsError::Input)?;
    Ok(Some(line.trim().to_owned()))
}

/// Stops the loop.
pub fn stop(shell: &Shell, args: &ReasonArg) -> Result<Exit, OpsError> {
    pull(shell, StopFile::Stop, args)
}

/// Pauses the loop.
pub fn pause(shell: &Shell, args: &ReasonArg) -> Result<Exit, OpsError> {
    pull(shell, StopFile::Pause, args)
}

/// What ends a stop or a pause.
const WAY_ON: &str = "andon resume --reason '<decision>'";
/// What a pause does in perpetual mode.
const NOT_HELD: &str = "not paused, guard.perpetual is set";
/// What holds a loop in perpetual mode.
const HOLDS: &str = "andon stop";

fn pull(shell: &Shell, file: StopFile, args: &ReasonArg) -> Result<Exit, OpsError> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    let path = resume::pull(&shell.ctx, &ws, file, args.reason.as_deref())?;
    let is_cleared = file == StopFile::Pause && halts::stops::pause_is_cleared(&ws);
    let (verb, done) = match file {
        StopFile::Stop => ("stop", "stopped"),
        StopFile::Pause => ("pause", "paused"),
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let file = format!(".andon/{name}");
    let (effect, help) = if is_cleared {
        (format!("{NOT_HELD}: the next commit or turn clears {file} and says so"), HOLDS)
    } else {
        (format!("{done}: commits are refused while {file} is there"), WAY_ON)
    };
    shell.out.result(&match args.format.format {
        Format::Text => format!("{effect}\n  help: {help}\n"),
        Format::Json => {
            let reason = args.reason.as_deref();
            json::document(
                verb,
                &StopJson { file: &file, reason, not_held: is_cleared.then_some(&*effect), help: &[help] },
            )
        }
    });
    Ok(Exit::Allowed)
}
