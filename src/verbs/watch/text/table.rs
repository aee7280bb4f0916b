//! The table of what is watched: cells by importance, so that a narrow terminal loses the least of them.

use super::{NAME, short, why};
use andon_core::domain::{StandingHalt, Timestamp};
use andon_core::escape::{clip, terminal_clip, width};
use andon_engine::text::{Glyphs, halt, phrase, spark};
use andon_engine::view::{BranchView, LoopState, LoopView, WatchLine, WatchView, WorktreeState, watch::Need};

/// The tone of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// In order.
    Good,
    /// Worth a look.
    Odd,
    /// Waits for a person, or fails.
    Bad,
    /// Secondary.
    Dim,
    /// Text.
    Plain,
}

/// A cell. Its text is escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// At most as wide as its column.
    pub text: String,
    /// Its tone; a colour where there are colours.
    pub tone: Tone,
}

impl Cell {
    fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// The heading that it is under.
    pub need: Need,
    /// Its identity.
    pub key: String,
    /// A cell for each column.
    pub cells: Vec<Cell>,
}

/// The lines, and how wide each column is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchTable {
    /// Columns of the terminal that each column takes.
    pub widths: Vec<usize>,
    /// The lines, those that need a person first.
    pub rows: Vec<TableRow>,
}

/// The columns in their order: name, state, badge, tests, trend, context, age, node, branch, cost, reason.
const COLUMNS: usize = 11;
/// Those that are shown without a terminal: the rest follows below each line, or in JSON.
const PLAIN: usize = 7;
/// The columns by importance: name, state, tests, age, badge, trend, context, then what a wide terminal has room for.
const BY_IMPORTANCE: [usize; COLUMNS] = [0, 1, 3, 6, 2, 4, 5, 10, 7, 8, 9];
/// The last column takes what is left, where that is enough for a sentence.
const REASON: usize = 10;
const NARROW_REASON: usize = 40;
/// Widest name, and narrowest that is worth another column.
const WIDE_NAME: usize = 28;
const NARROW_NAME: usize = 10;
/// Marks of a trend.
const MARKS: usize = 16;
/// Blanks between columns.
pub const GAP: usize = 2;

/// The heading of what has this need.
pub fn heading(need: Need) -> &'static str {
    match need {
        Need::Person => "Needs a person",
        Need::Nothing => "Running",
        Need::Quiet => "Quiet",
    }
}

/// The table at most `columns` wide; as wide as it gets where there is no terminal.
pub fn table(view: &WatchView, columns: Option<usize>, glyphs: Glyphs) -> WatchTable {
    let mut rows: Vec<TableRow> = view.ordered().iter().map(|one| row(one, view.at, glyphs)).collect();
    let mut widths = [0; COLUMNS];
    for row in &rows {
        for (wide, cell) in widths.iter_mut().zip(&row.cells) {
            *wide = width(&cell.text).max(*wide);
        }
    }
    let kept = kept(&mut widths, columns);
    for row in &mut rows {
        let cells = std::mem::take(&mut row.cells).into_iter().enumerate();
        let cells = cells.filter(|(at, _)| kept.contains(at));
        row.cells = cells.map(|(at, cell)| Cell::new(clip(&cell.text, widths[at]), cell.tone)).collect();
    }
    WatchTable { widths: kept.iter().map(|at| widths[*at]).collect(), rows }
}

/// Returns the columns that are shown, in their order. The name gives way first, then the least important columns go.
fn kept(widths: &mut [usize; COLUMNS], columns: Option<usize>) -> Vec<usize> {
    let Some(columns) = columns else { return (0..PLAIN).filter(|at| widths[*at] > 0).collect() };
    let reason = widths[REASON];
    widths[REASON] = reason.min(NARROW_REASON);
    let mut kept: Vec<usize> = BY_IMPORTANCE.into_iter().filter(|at| widths[*at] > 0).collect();
    let others = |kept: &[usize], widths: &[usize; COLUMNS]| -> usize {
        kept.iter().filter(|at| **at != 0).map(|at| widths[*at] + GAP).sum()
    };
    let narrow = widths[0].min(NARROW_NAME);
    while kept.len() > 1 && narrow + others(&kept, widths) > columns {
        kept.pop();
    }
    widths[0] = widths[0].min(columns.saturating_sub(others(&kept, widths))).max(1);
    if kept.contains(&REASON) {
        let free = columns.saturating_sub(widths[0] + others(&kept, widths));
        widths[REASON] = widths[REASON].saturating_add(free).min(reason);
    }
    kept.sort_unstable();
    kept
}

/// A line with its cells: name, state, badge, tests, trend, context and age, then the rest.
fn row(one: &WatchLine<'_>, now: Timestamp, glyphs: Glyphs) -> TableRow {
    let clipped = |text: &str| terminal_clip(text, WIDE_NAME);
    let none = || Cell::new("", Tone::Plain);
    let (name, (state, tone)) = match one {
        WatchLine::Worktree(worktree) => (
            clipped(&worktree.name),
            match &worktree.seen {
                WorktreeState::Loop(found) => state_of(found, now),
                WorktreeState::Away => ("away", Tone::Dim),
                WorktreeState::Unreadable(_) => ("not readable", Tone::Bad),
            },
        ),
        WatchLine::Elsewhere(StandingHalt { halt, .. }) => {
            let place = halt.branch.as_deref().unwrap_or(&halt.worktree);
            (clipped(&format!("elsewhere: {place}")), ("halted", Tone::Bad))
        }
        WatchLine::Branch(BranchView { name, found }) => {
            (clipped(&format!("elsewhere: {name}")), state_of(found, now))
        }
        WatchLine::Round(round) => {
            (format!("round {}", short(&round.id)), (round.status.as_str(), Tone::Odd))
        }
    };
    let figures = match (one.found(), one) {
        (Some(found), _) => figures(found, glyphs),
        (None, WatchLine::Elsewhere(StandingHalt { halt, .. })) => {
            let trend = marks(&halt.evidence.trend, glyphs);
            let badge = format!("Loop {}", halt.iteration);
            [Cell::new(badge, Tone::Plain), none(), Cell::new(trend, Tone::Plain), none()]
        }
        (None, _) => [none(), none(), none(), none()],
    };
    let last = one.since().or(one.found().and_then(|found| found.last_at));
    let age = last.map_or_else(String::new, |at| age(now, at));
    let mut cells = vec![Cell::new(name, Tone::Plain), Cell::new(terminal_clip(state, NAME), tone)];
    cells.extend(figures);
    cells.push(Cell::new(age, Tone::Dim));
    cells.extend(place(one).map(|text| Cell::new(text, Tone::Dim)));
    cells.push(Cell::new(why(one).unwrap_or_default(), Tone::Plain));
    TableRow { need: one.need(), key: one.key(), cells }
}

fn state_of(found: &LoopView, now: Timestamp) -> (&'static str, Tone) {
    if found.is_silent(now) { ("quiet", Tone::Odd) } else { state(found.state) }
}

/// Who made the newest commit, branch and cost of a loop.
fn place(one: &WatchLine<'_>) -> [String; 3] {
    let cells = match (one.found(), one) {
        (Some(found), _) => {
            let who = found.by().last().map_or("", String::as_str);
            [who, found.branch.as_deref().unwrap_or("detached"), &found.cost].map(str::to_owned)
        }
        (None, WatchLine::Elsewhere(StandingHalt { halt, .. })) => [
            halt.summary.who.last().cloned().unwrap_or_default(),
            halt.branch.clone().unwrap_or_default(),
            halt::cost(&halt.summary).join(", "),
        ],
        (None, _) => [const { String::new() }; 3],
    };
    cells.map(|text| terminal_clip(&text, WIDE_NAME))
}

/// Badge, tests, trend and context.
fn figures(found: &LoopView, glyphs: Glyphs) -> [Cell; 4] {
    let tests = found.tests.as_ref().map(|run| {
        let tone = if run.evidence.is_green() { Tone::Good } else { Tone::Bad };
        Cell::new(phrase::tests_short(&run.evidence), tone)
    });
    let context =
        found.context.as_ref().map_or_else(String::new, |context| format!("ctx {}%", context.percent()));
    let pressed = found.context.as_ref().is_some_and(|context| context.percent() >= context.thresholds.warn);
    [
        Cell::new(found.count.to_string(), Tone::Plain),
        tests.unwrap_or_else(|| Cell::new("", Tone::Plain)),
        Cell::new(marks(&found.trend, glyphs), Tone::Plain),
        Cell::new(context, if pressed { Tone::Odd } else { Tone::Dim }),
    ]
}

/// The newest counts as marks; nothing where none of them failed.
fn marks(trend: &[u64], glyphs: Glyphs) -> String {
    if trend.iter().all(|failing| *failing == 0) {
        return String::new();
    }
    spark::line(&trend[trend.len().saturating_sub(MARKS)..], glyphs)
}

fn state(state: LoopState) -> (&'static str, Tone) {
    match state {
        LoopState::Idle => ("idle", Tone::Dim),
        LoopState::Running => ("running", Tone::Good),
        LoopState::Halted => ("halted", Tone::Bad),
        LoopState::Stopped => ("stopped", Tone::Bad),
        LoopState::Paused => ("paused", Tone::Odd),
        LoopState::NotInstalled => ("unguarded", Tone::Odd),
        LoopState::HooksGone => ("hooks gone", Tone::Bad),
        LoopState::Disabled => ("disabled", Tone::Odd),
    }
}

/// The age in a few columns: `now`, `5m`, `3h`, `2d`.
fn age(now: Timestamp, at: Timestamp) -> String {
    let seconds = now.since(at).0;
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
