//! `andon resume`, `andon stop`, `andon pause`.

use std::io::{BufRead as _, Read as _};

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Exit, FormatArg, Shell, output};
use andon_core::detect::{self, Stops};
use andon_core::domain::{AckHow, Halt, HaltAssessment, Hint, Stage, StandingHalt};
use andon_core::escape;
use andon_engine::gate::{GateContext, guard};
use andon_engine::halts::{self, Answer, PAUSE_FILE, ResumeReport, STOP_FILE, stops};
use andon_engine::{Context, OpsError, Result, VerbError, Workspace, asking, effect, recording::timeline};

/// Acknowledges a halt.
pub fn resume(shell: &Shell, args: &ResumeArgs) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if halts::standing(&ws)?.is_none() {
        // One that a ledger lost and the records still give would come back at the next commit.
        guard::settle_owed(&shell.ctx, &ws)?;
    }
    let how = if args.yes.is_some() { AckHow::Unattended } else { AckHow::Resume };
    let named = if args.yes.is_none() { attended(shell, &ws)? } else { Vec::new() };
    if let Some(counter) = &args.counter {
        let reset = reset_counter(&shell.ctx, &ws, counter, reason(args).as_deref(), how)?;
        shell.show(args.format.format, "resume", &answer(args, &reset), |_| reset_text(counter, &reset));
        return Ok(Exit::Allowed);
    }
    let before: Vec<(&str, String)> =
        halts::stop_files(&ws).files().into_iter().map(|file| (file, stops::put_up(&ws, file))).collect();
    let halt_was = if args.mistaken { HaltAssessment::Mistaken } else { HaltAssessment::Unsaid };
    let resumed = match answer_halt(&shell.ctx, &ws, reason(args).as_deref(), halt_was, how, &named) {
        Err(OpsError::Verb { kind: VerbError::ReasonMissing, .. }) if output::has_terminal() => {
            let reason = ask(shell, &ws)?;
            answer_halt(&shell.ctx, &ws, reason.as_deref(), halt_was, how, &named)?
        }
        done => done?,
    };
    let there = halts::stop_files(&ws).files();
    let lifted: Vec<&str> =
        before.iter().map(|(file, _)| *file).filter(|file| !there.contains(file)).collect();
    let mut told = answer(args, &resumed);
    told["lifted"] = json!(lifted);
    shell.show(args.format.format, "resume", &told, |_| {
        text(shell, args, &resumed) + &moved(&ws, &before, &resumed)
    });
    Ok(Exit::Allowed)
}

/// The decision, with why it was given without a terminal. A line of a hint that was pasted decides nothing, neither part of it.
fn reason(args: &ResumeArgs) -> Option<String> {
    let why = args.yes.as_deref().filter(|why| !why.trim().is_empty());
    match (args.reason.as_deref(), why) {
        (Some(reason), Some(why)) => Some(format!("{} (unattended: {})", said(reason)?, said(why)?)),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

/// Makes sure that a person sits here who has read the halt: they type its rule. A program that no list of agents names has no terminal.
/// The files among STOP and PAUSE of which they were told.
fn attended(shell: &Shell, ws: &Workspace) -> Result<Vec<&'static str>> {
    let Some(word) = typed_word(&shell.ctx, ws)? else { return Ok(Vec::new()) };
    if !output::has_terminal() {
        let what = "there is no terminal, so no person has read the halt";
        return Err(OpsError::verb(VerbError::Unattended, what, Hint::AnswerAtTerminal));
    }
    let named = halts::stop_files(ws).files();
    for file in &named {
        shell.out.message(&format!("this also lifts {}\n", stops::put_up(ws, file)));
    }
    let shown = escape::terminal(&word).into_owned();
    shell.out.message(&format!("To answer the halt, type the rule that halted the loop ({shown}): "));
    let typed = typed_line()?;
    if typed == word {
        return Ok(named);
    }
    let what = format!("{:?} is not {shown}: the halt was not answered", escape::terminal(&typed));
    Err(OpsError::verb(VerbError::Unattended, what, Hint::Status.led("read it first")))
}

fn answer(args: &ResumeArgs, resumed: &ResumeReport) -> Value {
    json!({ "by": resumed.by, "counter": args.counter, "halt": resumed.halt, "mistaken": args.mistaken })
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

/// The fate of each switch that was there before, and of those that the halt names in another worktree.
fn moved(ws: &Workspace, before: &[(&str, String)], resumed: &ResumeReport) -> String {
    let there = halts::stop_files(ws).files();
    let told = before.iter().map(|(file, shown)| {
        if there.contains(file) {
            format!("  not lifted, it is answered by itself: {shown}; then: {}\n", Hint::Answer)
        } else {
            format!("  lifted: {shown}\n")
        }
    });
    let stopped = resumed.halt.as_ref().map(|standing| &standing.halt);
    let away =
        stopped.filter(|halt| halt.rule == detect::USER_STOP.id && halt.worktree != ws.repo.worktree_name());
    let there = |halt: &Halt| {
        format!(
            "  what stops the worktree {} is lifted there: {}\n",
            escape::terminal(&halt.worktree),
            Hint::Answer
        )
    };
    told.chain(away.map(there)).collect()
}

/// Longest line that is read, in bytes: no terminal hands on a longer one.
const MAX_LINE: u64 = 4096;

/// Asks the person at the terminal why the loop may continue.
fn ask(shell: &Shell, ws: &Workspace) -> Result<Option<String>> {
    let Some(halt) = halts::binding(ws)? else { return Ok(None) };
    let message = escape::terminal(&halt.halt.message).into_owned();
    shell.out.message(&format!(
        "halted: {message}\nWhy may the loop go on? One line for the ledger; empty: it stays halted\n> "
    ));
    typed_line().map(Some)
}

fn typed_line() -> Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().take(MAX_LINE).read_line(&mut line).map_err(OpsError::Input)?;
    Ok(line.trim().to_owned())
}

/// Stops the loop.
pub fn stop(shell: &Shell, args: &ReasonArg) -> Result<Exit> {
    pull(shell, STOP_FILE, args)
}

/// Pauses the loop.
pub fn pause(shell: &Shell, args: &ReasonArg) -> Result<Exit> {
    pull(shell, PAUSE_FILE, args)
}

fn pull(shell: &Shell, name: &str, args: &ReasonArg) -> Result<Exit> {
    let ws = Workspace::open_lenient(&shell.ctx)?;
    write_stop_file(&shell.ctx, &ws, name, args.reason.as_deref())?;
    let is_cleared = name == PAUSE_FILE && halts::stops::pause_is_cleared(&ws);
    let (verb, done) = if name == PAUSE_FILE { ("pause", "paused") } else { ("stop", "stopped") };
    let file = format!(".andon/{name}");
    let (effect, help) = if is_cleared {
        let effect = "not paused, guard.perpetual is set: the next commit or turn clears";
        (format!("{effect} {file} and says so"), Hint::Stop)
    } else {
        (format!("{done}: commits are refused while {file} is there"), Hint::Answer)
    };
    let mut shown = json!({ "file": file, "reason": args.reason, "help": [help.text()] });
    if is_cleared {
        shown["not_held"] = effect.as_str().into();
    }
    shell.show(args.format.format, verb, &shown, |_| format!("{effect}\n  help: {help}\n"));
    Ok(Exit::Allowed)
}

/// `andon resume`
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// Decision that was made; kept in the ledger
    #[arg(short, long, value_name = "TEXT", value_parser = crate::cli::args::reason)]
    pub reason: Option<String>,
    /// The halt was wrong, the loop was not stuck: kept, counted by rule (andon status --rules), known to calibrate
    #[arg(long, conflicts_with = "counter")]
    pub mistaken: bool,
    /// Answer without a terminal, as a script or CI does, and say why no person reads the halt; recorded, and shown by check as unattended
    #[arg(long, value_name = "WHY", num_args = 0..=1, default_missing_value = "", value_parser = crate::cli::args::reason)]
    pub yes: Option<String>,
    /// Reset one counter only, such as consecutive-failures; the window goes on
    #[arg(long, value_name = "RULE")]
    pub counter: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// `andon stop`, `andon pause`
#[derive(Debug, Args)]
pub struct ReasonArg {
    /// Why; kept in the ledger
    #[arg(short, long, value_name = "TEXT", value_parser = crate::cli::args::reason)]
    pub reason: Option<String>,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Acknowledges the standing halt and removes STOP and PAUSE where the halt names them, or the person was told of them: `named`.
/// Refuses in the shell of an agent.
pub fn answer_halt(
    ctx: &Context,
    ws: &Workspace,
    reason: Option<&str>,
    halt_was: HaltAssessment,
    how: AckHow,
    named: &[&str],
) -> Result<ResumeReport> {
    not_an_agent(ctx, ws)?;
    halts::resolve::check_directory(ws)?;
    let halt = halts::binding(ws)?;
    let mut lifts = halts::stop_files(ws).files();
    if halt.is_none() && lifts.is_empty() {
        return if halts::answer::leftover(ctx, ws)? {
            Ok(ResumeReport { halt, by: ctx.committer(&ws.repo) })
        } else {
            Err(OpsError::nothing_to_resume())
        };
    }
    let reason = reason.and_then(said);
    if halt.is_some() && reason.is_none() {
        return Err(reason_missing());
    }
    if halt_was == HaltAssessment::Mistaken && halt.is_none() {
        let what = "no halt waits that could have been mistaken: a person stopped this loop";
        return Err(OpsError::verb(VerbError::Unanswerable, what, Hint::Answer));
    }
    if let Some(standing) = halt.as_ref().filter(|halt| asking::asks_signature(ws, halt).is_some()) {
        return signed(ctx, ws, standing, halt_was, reason.unwrap_or_default());
    }
    if let Some(standing) = &halt {
        let own = stops::named_by(ws, standing)?;
        lifts.retain(|file| own.contains(file) || named.contains(file));
    }
    let answer = Answer { halt: halt.as_ref(), halt_was, lifts: &lifts, ..Answer::default() };
    halts::acknowledge(ctx, ws, answer, how, reason.unwrap_or_default())?;
    Ok(ResumeReport { halt, by: ctx.committer(&ws.repo) })
}

fn not_an_agent(ctx: &Context, ws: &Workspace) -> Result<()> {
    ctx.agent_above(&ws.repo).map_or(Ok(()), |mark| Err(OpsError::in_agent_shell("resume", &mark)))
}

fn reason_missing() -> OpsError {
    let what = "a reason is required: say what was decided";
    OpsError::verb(VerbError::ReasonMissing, what, Hint::Answer)
}

/// The word that a person types at a terminal before a halt is answered: its rule, which they have read then; `None` where nothing
/// waits, or a signature is asked for anyway.
///
/// # Errors
/// An agent asks, or the ledger cannot be read.
fn typed_word(ctx: &Context, ws: &Workspace) -> Result<Option<String>> {
    not_an_agent(ctx, ws)?;
    halts::resolve::check_directory(ws)?;
    let halt = halts::binding(ws)?;
    if halt.as_ref().is_some_and(|halt| asking::asks_signature(ws, halt).is_some()) {
        return Ok(None);
    }
    let stopped = halts::stop_files(ws) != Stops::NONE;
    Ok(halt.map(|standing| standing.halt.rule).or(stopped.then(|| detect::USER_STOP.id.to_owned())))
}

/// Placeholders that hints print for a reason. A pasted hint is no decision.
const PLACEHOLDERS: [&str; 7] =
    ["decision", "text", "reason", "why", "what was decided", "what you decided", "todo"];

/// A reason in words; `None` for one without a letter, and for the placeholder of a hint.
fn said(reason: &str) -> Option<&str> {
    let reason = Some(reason.trim()).filter(|text| text.chars().any(char::is_alphabetic))?;
    let bare = reason.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    (!PLACEHOLDERS.contains(&bare.as_str())).then_some(reason)
}

/// The short form of a resolution: the reason, signed.
fn signed(
    ctx: &Context,
    ws: &Workspace,
    halt: &StandingHalt,
    halt_was: HaltAssessment,
    reason: &str,
) -> Result<ResumeReport> {
    asking::resolve_halt(ctx, ws, halt, halt_was, reason)?;
    let found = halts::resolve(ctx, ws)?;
    if let Some(failed) = found.failed {
        return Err(failed);
    }
    let key = asking::signer(ctx, ws)?.public().to_string();
    let by = asking::load(ws)?.who(&key).unwrap_or("a witness").to_owned();
    Ok(ResumeReport { halt: Some(halt.clone()), by })
}

/// Resets one counter, and answers the halt that it made. Everything else stays as it was.
fn reset_counter(
    ctx: &Context,
    ws: &Workspace,
    counter: &str,
    reason: Option<&str>,
    how: AckHow,
) -> Result<ResumeReport> {
    not_an_agent(ctx, ws)?;
    let counters = || detect::REGISTRY.iter().filter(|rule| rule.about.resets_alone).map(|rule| rule.id);
    let Some(counter) = counters().find(|known| *known == counter) else {
        return Err(OpsError::usage(
            format!("no counter of that name can be reset alone: {counter:?}"),
            format!("one of: {}", counters().collect::<Vec<_>>().join(", ")),
        ));
    };
    let reason = reason.and_then(said).ok_or_else(reason_missing)?;
    let halt = halts::binding(ws)?.filter(|standing| standing.halt.rule == counter);
    let answer = Answer { halt: halt.as_ref(), counter: Some(counter), ..Answer::default() };
    halts::acknowledge(ctx, ws, answer, how, reason)?;
    Ok(ResumeReport { halt, by: ctx.committer(&ws.repo) })
}

/// Writes the file `name`, which stops or pauses the loop, and records the halt.
fn write_stop_file(ctx: &Context, ws: &Workspace, name: &str, reason: Option<&str>) -> Result<()> {
    ws.top()?;
    let (why, by) = (reason.unwrap_or("no reason given"), ctx.committer(&ws.repo));
    let text = format!("{why}\nby: {by}\nat: {}\n", ctx.now);
    effect::write_andon_file(&ws.site(ctx), name, &text)?;
    let standing = halts::binding(ws)?;
    let loaded = timeline::load(ws)?;
    let mut decision = guard::decide(ws, &loaded, Stage::Halts, None, standing);
    if let (Some(reason), Some(finding)) = (reason, decision.findings.first_mut()) {
        finding.detail = finding.detail.before(&format!(": {reason}"));
    }
    let gate = GateContext { ctx, ws, loaded: &loaded };
    gate.settle(&mut decision)?;
    gate.stop_switches(decision.standing.as_ref(), reason);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_placeholder_is_no_reason() {
        for none in [
            "",
            "  ",
            "...",
            "<decision>",
            "TEXT",
            "\u{2026}",
            "42",
            "what was decided",
            "'<decision>'",
            "<why>",
        ] {
            assert_eq!(said(none), None, "{none:?}");
        }
        for some in [" the fixture was wrong ", "ok", "decision: keep A", "\u{7b54}\u{3048}"] {
            assert_eq!(said(some), Some(some.trim()), "{some:?}");
        }
    }
}
