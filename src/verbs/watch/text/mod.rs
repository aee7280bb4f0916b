//! `andon watch`: all loops of a repository, for a terminal, for a pipe and for programs. Every medium shows these words.
//!
//! A line for each change, for a pipe or a screen reader: `andon watch --plain`.

pub mod table;

use std::collections::BTreeMap;

use self::table::{Cell, GAP, Tone};
use andon_core::domain::{Hint, Presence, StandingHalt};
use andon_core::escape::{shell_quote, terminal, terminal_clip, width};
use andon_engine::text::page::{unbroken, with_command};
use andon_engine::text::{Glyphs, Page, Style, halt as halted_text, message, phrase, spark};
use andon_engine::view::{
    AnswerBy, BranchView, LoopState, LoopView, WatchLine, WatchView, WorktreeState, WorktreeView, watch::Need,
};

/// Columns of a name.
const NAME: usize = 100;
/// Columns of a sentence.
const SENTENCE: usize = 300;

/// A summary in one line: `3 worktrees: 1 needs a person, 2 running`.
pub fn summary(view: &WatchView) -> String {
    let person = view.count(Need::Person);
    let needs = match person {
        0 => "nothing needs a person".to_owned(),
        1 => "1 needs a person".to_owned(),
        several => format!("{several} need a person"),
    };
    let running = view.count(Need::Nothing);
    format!("{}: {needs}, {running} running", phrase::count(view.worktrees.len(), "worktree"))
}

/// All words of a line that a filter looks at.
pub fn words(one: &WatchLine<'_>) -> String {
    let own = match one {
        WatchLine::Worktree(worktree) => match one.found() {
            Some(found) => of_a_loop(&worktree.name, found),
            None => worktree.name.clone(),
        },
        WatchLine::Elsewhere(standing) => {
            let halt = &standing.halt;
            format!("{} {} halted", halt.worktree, halt.branch.as_deref().unwrap_or_default())
        }
        WatchLine::Branch(branch) => of_a_loop(&branch.name, &branch.found),
        WatchLine::Round(round) => format!("round {}", round.id),
    };
    format!("{own} {}", why(one).unwrap_or_default())
}

fn of_a_loop(name: &str, found: &LoopView) -> String {
    let branch = found.branch.as_deref().unwrap_or_default();
    format!("{name} {} {branch} {}", found.by().join(" "), found.state.as_str())
}

/// The reason for the state, where there is anything to add to the table. For the terminal.
pub fn why(one: &WatchLine<'_>) -> Option<String> {
    match one {
        WatchLine::Worktree(worktree) => match &worktree.seen {
            WorktreeState::Unreadable(why) => Some(terminal_clip(why, SENTENCE)),
            WorktreeState::Away => {
                Some(format!("its directory is gone: {}", terminal_clip(&worktree.path, NAME)))
            }
            WorktreeState::Loop(found) => why_of_loop(found, &worktree.name),
        },
        WatchLine::Elsewhere(standing) => Some(halted(standing)),
        WatchLine::Branch(_) => None,
        WatchLine::Round(round) => Some(terminal_clip(&round.question, SENTENCE)),
    }
}

fn why_of_loop(found: &LoopView, name: &str) -> Option<String> {
    match (&found.halt, found.state) {
        (_, LoopState::HooksGone) => {
            found.hooks_gone.as_ref().map(|gone| terminal_clip(&gone.what, SENTENCE))
        }
        (Some(halt), _) if halt.halt.worktree == name => Some(halted(halt)),
        (Some(halt), _) => {
            let origin = terminal_clip(&halt.halt.worktree, NAME);
            Some(format!("held by a halt of worktree {origin}: {}", halted(halt)))
        }
        (None, LoopState::Stopped) => Some("stopped by a person (.andon/STOP)".to_owned()),
        (None, LoopState::Paused) => Some("paused by a person (.andon/PAUSE)".to_owned()),
        (None, LoopState::NotInstalled) => Some("not installed: nothing is guarded".to_owned()),
        (None, LoopState::Disabled) => Some("disabled (ANDON=0)".to_owned()),
        (None, LoopState::Idle | LoopState::Running | LoopState::Halted) => None,
    }
}

fn halted(standing: &StandingHalt) -> String {
    let halt = &standing.halt;
    let rule = terminal_clip(&halt.rule, NAME);
    let headline = terminal_clip(&halted_text::headline(halt), SENTENCE);
    format!("{headline} ({rule}): {}", terminal_clip(&halted_text::what(halt), SENTENCE))
}

/// Since when it is halted, and what that has cost.
pub fn since(one: &WatchLine<'_>, style: Style) -> Option<String> {
    Some(format!("since {}", halted_text::since(&one.halt()?.halt, style)))
}

/// The command of a person who acts on it.
pub fn help(one: &WatchLine<'_>) -> Option<String> {
    match one {
        WatchLine::Worktree(worktree) => help_of_worktree(worktree),
        WatchLine::Elsewhere(standing) => {
            let id = short(&standing.id.to_string());
            Some(Hint::Sync.led(&format!("answer halt {id} where it was made, then run here")))
        }
        WatchLine::Branch(_) => None,
        WatchLine::Round(round) => Some(Hint::ReviewShow.with([&short(&round.id)])),
    }
}

fn help_of_worktree(worktree: &WorktreeView) -> Option<String> {
    let there = |command: &str| format!("cd {} && {command}", shell_quote(&worktree.path));
    match &worktree.seen {
        WorktreeState::Away => Some(Hint::PruneWorktrees.into()),
        WorktreeState::Unreadable(_) => Some(there(Hint::Doctor.text())),
        WorktreeState::Loop(found) => match (&found.halt, found.state) {
            (_, LoopState::HooksGone) => {
                found.hooks_gone.as_ref().map(|gone| there(&terminal_clip(&gone.help, SENTENCE)))
            }
            (Some(_), _) if found.answer == Some(AnswerBy::Signature) => {
                Some(there(&Hint::ReviewShow.with(["halt"])))
            }
            (Some(_), _) | (None, LoopState::Stopped | LoopState::Paused | LoopState::Halted) => {
                Some(there(Hint::Status.text()))
            }
            (None, LoopState::NotInstalled) => Some(there(Hint::Install.text())),
            (None, LoopState::Idle | LoopState::Running | LoopState::Disabled) => None,
        },
    }
}

/// A halt of another clone in full: its records may be elsewhere, so that this is all that is known of it here.
pub fn halt_of_another_clone(standing: &StandingHalt, style: Style) -> String {
    let halt = &standing.halt;
    let mut page = Page::new(style);
    page.line(&halted(standing));
    page.field("halted", &format!("{}, iteration {}", style.when(halt.at), halt.iteration));
    halted_text::push(&mut page, halt, Presence::Absent);
    page.field("worktree", &terminal_clip(&halt.worktree, NAME));
    page.fields("branch", halt.branch.as_ref().map(|branch| terminal_clip(branch, NAME)));
    page.fields("HEAD", halt.head.map(|head| head.short()));
    page.fields("trend", trend(&halt.evidence.trend));
    for action in &halt.suggested_actions {
        page.field("do", &terminal_clip(&action.text, SENTENCE));
    }
    page.field("entry", &standing.id.to_string());
    page.finish()
}

/// A loop of another clone in full: what its branch and its records tell.
pub fn loop_of_another_clone(branch: &BranchView, style: Style) -> String {
    let found = &branch.found;
    let mut page = Page::new(style);
    page.line(&format!("{}, as far as it was fetched", found.count));
    page.field("branch", &terminal_clip(&branch.name, NAME));
    page.field("by", &terminal_clip(&found.by().join(", "), NAME));
    page.fields("HEAD", found.head.map(|head| head.short()));
    page.fields("recorded", found.last_at.map(|at| style.when(at)));
    page.fields("tests", found.tests.as_ref().map(|run| phrase::tests(&run.evidence)));
    page.fields("trend", trend(&found.trend));
    let name = shell_quote(&branch.name);
    page.field("more", &unbroken(&Hint::FetchBranch.with([&name])));
    page.finish()
}

fn trend(failing: &[u64]) -> Option<String> {
    (!failing.is_empty()).then(|| format!("{} failing", spark::trend(failing)))
}

/// The digits of an id that people type.
fn short(id: &str) -> String {
    terminal_clip(&id.chars().take(12).collect::<String>(), NAME)
}

/// Blanks before a line of the table.
const INDENT: usize = 2;

/// A table under a heading for each need, with the reason and the command of whatever needs a person.
pub fn text(view: &WatchView, style: Style, glyphs: Glyphs) -> String {
    let columns = style.columns().map(|columns| columns.saturating_sub(INDENT));
    let table = table::table(view, columns, glyphs);
    let mut page = Page::new(style);
    page.line(&style.bold(&summary(view)));
    let mut under: Option<Need> = None;
    for (one, row) in view.ordered().iter().zip(&table.rows) {
        if under != Some(row.need) {
            page.heading(table::heading(row.need));
            under = Some(row.need);
        }
        let cells: Vec<String> =
            row.cells.iter().zip(&table.widths).map(|(cell, wide)| painted(cell, *wide, style)).collect();
        page.line(&format!("{:INDENT$}{}", "", cells.join(&" ".repeat(GAP)).trim_end()));
        told(&mut page, one);
    }
    message::push_all(&mut page, &view.warnings);
    page.finish()
}

/// The lines below a line of the table.
fn told(page: &mut Page, one: &WatchLine<'_>) {
    if one.need() == Need::Person || one.is_away() {
        if let Some(why) = why(one) {
            page.wrap("    ", &why, "    ");
        }
        if let Some(since) = since(one, page.style) {
            page.wrap("    ", &since, "      ");
        }
        if let Some(help) = help(one) {
            page.wrap("    ", &with_command(&format!("help: {help}")), "      ");
        }
    }
    if let WatchLine::Worktree(worktree) = one
        && let Some(found) = one.found().filter(|found| !found.warnings.is_empty())
    {
        let warnings = phrase::count(found.warnings.len(), "warning");
        let help = format!("cd {} && {}", shell_quote(&worktree.path), Hint::Status);
        page.line(&page.style.yellow(&format!("{:width$}{warnings}: {help}", "", width = 2 * INDENT)));
    }
}

/// Padded before it is painted: codes take no columns.
fn painted(cell: &Cell, wide: usize, style: Style) -> String {
    let padded = format!("{}{:pad$}", cell.text, "", pad = wide.saturating_sub(width(&cell.text)));
    match cell.tone {
        _ if cell.text.is_empty() => padded,
        Tone::Good => style.green(&padded),
        Tone::Odd => style.yellow(&padded),
        Tone::Bad => style.red(&padded),
        Tone::Dim => style.dim(&padded),
        Tone::Plain => padded,
    }
}
/// Counts of failing tests that are read out, the newest.
const COUNTS: usize = 5;

/// The lines that were printed last, by their keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrintedLines {
    lines: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
}

/// The lines that say something else than before, what needs a person first, each with the time of the look.
pub fn lines(before: &PrintedLines, view: &WatchView) -> (Vec<String>, PrintedLines) {
    let mut now = PrintedLines::default();
    let mut changed = Vec::new();
    for one in view.ordered() {
        let (key, line) = (one.key(), line(&one));
        if before.lines.get(&key) != Some(&line) {
            changed.push(format!("{} {line}", view.at));
        }
        now.names.insert(key.clone(), name(&one));
        now.lines.insert(key, line);
    }
    for warning in &view.warnings {
        let line = format!("warning: {}", terminal(&warning.message));
        if before.lines.get(&line) != Some(&line) {
            changed.push(format!("{} {line}", view.at));
        }
        now.lines.insert(line.clone(), line);
    }
    let gone = before.names.iter().filter(|(key, _)| !now.names.contains_key(*key));
    changed.extend(gone.map(|(_, name)| format!("{} {name}: gone", view.at)));
    (changed, now)
}

fn name(one: &WatchLine<'_>) -> String {
    match one {
        WatchLine::Worktree(worktree) => terminal_clip(&worktree.name, NAME),
        WatchLine::Elsewhere(standing) => {
            format!("elsewhere, worktree {}", terminal_clip(&standing.halt.worktree, NAME))
        }
        WatchLine::Branch(branch) => format!("elsewhere, branch {}", terminal_clip(&branch.name, NAME)),
        WatchLine::Round(round) => format!("round {}", short(&round.id)),
    }
}

fn line(one: &WatchLine<'_>) -> String {
    let state = match one {
        WatchLine::Worktree(worktree) => match &worktree.seen {
            WorktreeState::Loop(found) => of_loop(found),
            WorktreeState::Away => "away".to_owned(),
            WorktreeState::Unreadable(_) => "not readable".to_owned(),
        },
        WatchLine::Elsewhere(_) => "halted".to_owned(),
        WatchLine::Branch(branch) => of_loop(&branch.found),
        WatchLine::Round(round) => terminal_clip(&round.status, NAME),
    };
    let mut parts = vec![format!("{}: {state}", name(one))];
    if one.need() == Need::Person {
        parts.extend(why(one));
        parts.extend(since(one, Style::Plain));
        parts.extend(help(one).map(|help| format!("help: {help}")));
    }
    parts.join("; ")
}

fn of_loop(found: &LoopView) -> String {
    let mut parts = vec![format!("{}, {}", state(found.state), found.count)];
    let newest = &found.trend[found.trend.len().saturating_sub(COUNTS)..];
    if newest.iter().any(|failing| *failing > 0) {
        parts.push(format!("failing {}", spark::trend(newest)));
    }
    if let Some(run) = &found.tests {
        parts.push(format!("last run {}", phrase::tests(&run.evidence)));
    }
    if let Some(context) = &found.context {
        parts.push(format!("context {} %", context.percent()));
    }
    parts.join(", ")
}

fn state(state: LoopState) -> String {
    state.as_str().replace('_', " ")
}

#[cfg(test)]
pub(crate) mod tests;
