//! The arguments of `andon status`.

pub mod run;
pub mod text;
mod tip;

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};

use self::text::StatusDepth;
use crate::cli::{error::Exit, format_arg::FormatArg};
use crate::situation::{self, HookSituation, LoopSituation};
use crate::{cli::Shell, setup::place, verbs::round};
use andon_core::domain::decision::{Halt, Stage};
use andon_core::domain::diagnostic::Diagnostic;
use andon_core::domain::findings::{Finding, Level};
use andon_core::{detect, escape::terminal_clip};
use andon_engine::error::{OpsError, or_warn};
use andon_engine::halts;
use andon_engine::halts::decisions::{self, HaltFate, PastHalt};
use andon_engine::text::{page::Page, phrase, style::Style};
use andon_engine::view::status::{LoopCount, LoopState, RuleCount};
use andon_engine::{asking, context::Context, gate::guard, workspace::Workspace};
use andon_git::GitError;

/// `andon status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// End with 1 while the loop is halted, stopped or paused, with 5 while only a round waits for a person: `until andon status --exit-code; do sleep 60; done`
    #[arg(long)]
    pub exit_code: bool,
    /// Show the rules instead: how often each halted, and how often people called that mistaken
    #[arg(long, conflicts_with = "exit_code")]
    pub rules: bool,
    /// Show the hashes behind the loop as well: diffs, code states, failures, outputs
    #[arg(long, conflicts_with = "rules")]
    pub evidence: bool,
    /// Show the state that counts on one line, for the status line of a client; nothing outside of a repository
    #[arg(long, conflicts_with_all = ["exit_code", "rules", "evidence"])]
    pub line: bool,
    /// Output format
    #[command(flatten)]
    pub format: FormatArg,
}

/// Shows the state of the loop. Ends with 0, and with `--exit-code` with 1 while the loop waits for a person, and with 5 while
/// only a round does.
/// A configuration that cannot be read hides no halt; then it ends with 2.
pub fn run(shell: &Shell, args: &StatusArgs) -> Result<Exit, OpsError> {
    if args.line {
        return line(shell, args);
    }
    shell.take_in_fetched();
    let ws = Workspace::open_lenient(&shell.ctx)?;
    if args.rules {
        return rules(shell, &ws, args);
    }
    // Loops continue by the exit code.
    if !args.exit_code {
        asking::only_look(&ws.repo);
    }
    let mut view = run::run(&shell.ctx, &ws)?;
    // There is no daemon: the next command finds a round whose time is up.
    if !shell.ctx.is_switched_off() {
        or_warn(round::expire(&shell.ctx, &ws), &mut view.warnings);
        or_warn(halts::resolve::keep_shown(&shell.ctx, &ws), &mut view.warnings);
    }
    view.waiting = or_warn(asking::waiting(&ws).map(|found| found.rounds), &mut view.warnings);
    let depth = if args.evidence { StatusDepth::Evidence } else { StatusDepth::Short };
    shell.show(args.format.format, "status", &view, |style| text::text(&view, depth, style, shell.glyphs()));
    let blocked = args.exit_code && view.state.waits_for_a_person();
    if blocked {
        let failed = run::remind(&shell.ctx, &ws).unwrap_or_else(|err| vec![err.as_warning()]);
        shell.tell(&failed);
    }
    let waits = args.exit_code && !view.waiting.is_empty();
    Ok(match (blocked, &ws.config_errors) {
        (true, _) => Exit::Refused,
        (false, Some(_)) => Exit::Usage,
        (false, None) if waits => Exit::Waiting,
        (false, None) => Exit::Allowed,
    })
}

/// Shows the line for the status line of a client.
fn line(shell: &Shell, args: &StatusArgs) -> Result<Exit, OpsError> {
    let Some(found) = status_line(&shell.ctx)? else { return Ok(Exit::Allowed) };
    let document = found.json(shell.out.out);
    shell.show(args.format.format, "status-line", &document, |style| found.text(style) + "\n");
    Ok(Exit::Allowed)
}

/// Shows the rules with their halts.
fn rules(shell: &Shell, ws: &Workspace, args: &StatusArgs) -> Result<Exit, OpsError> {
    let (counts, warnings) = rule_counts(ws)?;
    shell.show(args.format.format, "rules", &json!({ "rules": counts }), |style| rules_text(&counts, style));
    shell.tell(&warnings);
    Ok(Exit::Allowed)
}

/// Counts the halts of the ledger, rule by rule: those of this version in their order, then others.
fn rule_counts(ws: &Workspace) -> Result<(Vec<RuleCount>, Vec<Diagnostic>), OpsError> {
    let (halts, warnings) = decisions::past_halts(ws)?;
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for PastHalt { halt, fate } in halts {
        let count = counts.entry(halt.rule).or_default();
        count.0 += 1;
        count.1 += u64::from(fate == HaltFate::Mistaken);
    }
    let known = detect::REGISTRY.iter().map(|rule| {
        let (halts, mistaken) = counts.remove(rule.id).unwrap_or_default();
        RuleCount { rule: rule.id.to_owned(), level: Some(rule.level_in(&ws.config.rules)), halts, mistaken }
    });
    let mut found: Vec<RuleCount> = known.collect();
    found.extend(counts.into_iter().map(|(rule, (halts, mistaken))| RuleCount {
        rule,
        level: None,
        halts,
        mistaken,
    }));
    Ok((found, warnings))
}

/// Columns of a name.
const NAME: usize = 40;

/// The counts for a person.
fn rules_text(counts: &[RuleCount], style: Style) -> String {
    let mut page = Page::new(style);
    page.line(&style.dim(&format!("{:<24} {:<6} {:>6} {:>9}", "rule", "level", "halts", "mistaken")));
    for count in counts {
        let level = count.level.map_or("?", Level::as_str);
        let (rule, halts, mistaken) = (terminal_clip(&count.rule, NAME), count.halts, count.mistaken);
        page.line(&format!("{rule:<24} {level:<6} {halts:>6} {mistaken:>9}"));
    }
    page.finish()
}

/// Longest message of a finding, in columns.
const MESSAGE: usize = 60;

/// The content of the line.
struct StatusLine {
    state: LoopState,
    count: LoopCount,
    halt: Option<Halt>,
    /// The gravest of what the rules say, where the loop goes on.
    finding: Option<Finding>,
}

/// Looks at the loop; `None` outside of a repository, where there is nothing to say.
///
/// # Errors
/// The records cannot be read.
fn status_line(ctx: &Context) -> Result<Option<StatusLine>, OpsError> {
    let ws = match Workspace::open_lenient(ctx) {
        Err(OpsError::Git(GitError::NotARepository { .. })) => return Ok(None),
        opened => opened?,
    };
    let hooks = HookSituation::at(&ws.repo, &place::configured(&ws.repo));
    let LoopSituation { loaded, standing, state, .. } = situation::look(ctx, &ws, &hooks)?;
    let mut findings = guard::decide(&ws, &loaded, Stage::PostCommit, None, standing.clone()).findings;
    findings.retain(|finding| finding.level >= Level::Warn);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    Ok(Some(StatusLine {
        state,
        count: situation::count(&ws, &loaded.timeline),
        halt: standing.map(|standing| standing.halt),
        finding: findings.into_iter().next().filter(|_| !state.waits_for_a_person()),
    }))
}

impl StatusLine {
    /// The state in one word.
    fn word(&self) -> &'static str {
        match self.state {
            LoopState::Halted | LoopState::Stopped | LoopState::Paused => "halted",
            LoopState::HooksGone | LoopState::NotInstalled | LoopState::Disabled => "unguarded",
            LoopState::Running | LoopState::Idle if self.finding.is_some() => "warning",
            LoopState::Running | LoopState::Idle => "ok",
        }
    }

    /// The line, without its end.
    fn text(&self, style: Style) -> String {
        let word = match self.word() {
            "ok" => style.green("ok"),
            "halted" => style.red("HALTED"),
            word => style.yellow(word),
        };
        let turns = self.count.turns();
        match (&self.halt, &self.finding) {
            (Some(halt), _) => {
                format!("andon {word} {}: {}", style.age(halt.at), terminal_clip(&halt.rule, MESSAGE))
            }
            (None, Some(finding)) => {
                let message = terminal_clip(&phrase::message(&finding.message()), MESSAGE);
                format!("andon {word} {turns}: {} ({message})", finding.rule)
            }
            (None, None) => match self.state {
                LoopState::Stopped => format!("andon {word}: .andon/STOP"),
                LoopState::Paused => format!("andon {word}: .andon/PAUSE"),
                LoopState::HooksGone => format!("andon {word}: the hooks are gone"),
                LoopState::NotInstalled => format!("andon {word}: not installed"),
                LoopState::Disabled => format!("andon {word}: ANDON=0"),
                LoopState::Running | LoopState::Idle | LoopState::Halted => format!("andon {word} {turns}"),
            },
        }
    }

    /// The same for a program.
    fn json(&self, style: Style) -> Value {
        json!({
            "word": self.word(),
            "state": self.state.as_str(),
            "iteration": self.count.iteration,
            "cap": self.count.cap,
            "rule": self.halt.as_ref().map(|halt| halt.rule.as_str()).or(self.finding.as_ref().map(|one| one.rule)),
            "since": self.halt.as_ref().map(|halt| halt.at.to_string()),
            "line": self.text(style),
        })
    }
}
