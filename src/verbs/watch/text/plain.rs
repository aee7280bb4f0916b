//! A line for each change, for a pipe or a screen reader: `andon watch --plain`.

use std::collections::BTreeMap;

use super::{help, since, why};
use andon_core::escape::{terminal, terminal_clip};
use andon_engine::text::{phrase, spark, style::Style};
use andon_engine::view::status::LoopState;
use andon_engine::view::watch::{LoopView, Need, WatchLine, WatchView, WorktreeState};

/// Columns of a name.
const NAME: usize = 100;
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
        WatchLine::Round(round) => format!("round {}", super::short(&round.id)),
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
