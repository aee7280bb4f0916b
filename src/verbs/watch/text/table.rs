//! The table of what is watched: cells by importance, so that a narrow terminal loses the least of them.

use super::{NAME, short, why};
use andon_core::domain::time::Timestamp;
use andon_core::escape::{clip, terminal_clip, width};
use andon_engine::view::watch::{
    BranchView, LoopView, Need, WatchLine, WatchView, WorktreeState, WorktreeView,
};
use andon_engine::{text::halt, text::phrase, text::spark, text::spark::Glyphs, view::status::LoopState};

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
        row.cells = cells
            .map(|(at, cell)| Cell { text: clip(&cell.text, widths[at]).into_owned(), tone: cell.tone })
            .collect();
    }
    WatchTable { widths: kept.iter().map(|at| widths[*at]).collect(), rows }
}

/// Which columns are shown, in their order. The name gives way first, then the least important columns go.
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

fn row(one: &WatchLine<'_>, now: Timestamp, glyphs: Glyphs) -> TableRow {
    let cell = |text: String, tone: Tone| Cell { text, tone };
    let none = || cell(String::new(), Tone::Plain);
    let age = |at: Option<Timestamp>| cell(at.map_or_else(String::new, |at| age(now, at)), Tone::Dim);
    let cells = match one {
        WatchLine::Worktree(worktree) => {
            let name = cell(terminal_clip(&worktree.name, WIDE_NAME), Tone::Plain);
            match &worktree.seen {
                WorktreeState::Loop(found) => {
                    of_loop(name, (found, now), age(one.since().or(found.last_at)), glyphs)
                }
                WorktreeState::Away => {
                    vec![name, cell("away".to_owned(), Tone::Dim), none(), none(), none(), none(), none()]
                }
                WorktreeState::Unreadable(_) => {
                    vec![
                        name,
                        cell("not readable".to_owned(), Tone::Bad),
                        none(),
                        none(),
                        none(),
                        none(),
                        none(),
                    ]
                }
            }
        }
        WatchLine::Elsewhere(standing) => {
            let place = standing.halt.branch.as_deref().unwrap_or(&standing.halt.worktree);
            let name = cell(terminal_clip(&format!("elsewhere: {place}"), WIDE_NAME), Tone::Plain);
            let badge = cell(format!("Loop {}", standing.halt.iteration), Tone::Plain);
            let trend = &standing.halt.evidence.trend;
            let trend = cell(marks(trend, glyphs), Tone::Plain);
            vec![name, cell("halted".to_owned(), Tone::Bad), badge, none(), trend, none(), age(one.since())]
        }
        WatchLine::Branch(BranchView { name, found }) => {
            let name = cell(terminal_clip(&format!("elsewhere: {name}"), WIDE_NAME), Tone::Plain);
            of_loop(name, (found, now), age(found.last_at), glyphs)
        }
        WatchLine::Round(round) => {
            let name = cell(format!("round {}", short(&round.id)), Tone::Plain);
            let status = cell(terminal_clip(&round.status, NAME), Tone::Odd);
            vec![name, status, none(), none(), none(), none(), age(one.since())]
        }
    };
    let mut cells: Vec<Cell> = cells;
    let (maker, branch, cost) = place(one);
    cells.extend([maker, branch, cost].map(|text| cell(text, Tone::Dim)));
    cells.push(cell(why(one).unwrap_or_default(), Tone::Plain));
    TableRow { need: one.need(), key: one.key(), cells }
}

/// Who made the newest commit, branch and cost of a loop.
fn place(one: &WatchLine<'_>) -> (String, String, String) {
    let of = |found: &LoopView| {
        let branch = found.branch.as_deref().unwrap_or("detached");
        let [who, branch] =
            [found.by().last().map_or("", String::as_str), branch].map(|text| terminal_clip(text, WIDE_NAME));
        (who, branch, terminal_clip(&found.cost, WIDE_NAME))
    };
    match one {
        WatchLine::Worktree(WorktreeView { seen: WorktreeState::Loop(found), .. }) => of(found),
        WatchLine::Branch(branch) => of(&branch.found),
        WatchLine::Elsewhere(standing) => {
            let halt = &standing.halt;
            let who = halt.summary.who.last().map_or_else(String::new, |who| terminal_clip(who, WIDE_NAME));
            let branch =
                halt.branch.as_deref().map_or_else(String::new, |name| terminal_clip(name, WIDE_NAME));
            (who, branch, terminal_clip(&halt::cost(&halt.summary).join(", "), WIDE_NAME))
        }
        WatchLine::Worktree(_) | WatchLine::Round(_) => (String::new(), String::new(), String::new()),
    }
}

fn of_loop(name: Cell, (found, now): (&LoopView, Timestamp), age: Cell, glyphs: Glyphs) -> Vec<Cell> {
    let (state, tone) = if found.is_silent(now) { ("quiet", Tone::Odd) } else { state(found.state) };
    let mut cells = vec![name, Cell { text: state.to_owned(), tone }];
    cells.extend(figures(found, glyphs));
    cells.push(age);
    cells
}

/// Badge, tests, trend and context.
fn figures(found: &LoopView, glyphs: Glyphs) -> [Cell; 4] {
    let tests = found.tests.as_ref().map_or_else(
        || Cell { text: String::new(), tone: Tone::Plain },
        |run| Cell {
            text: phrase::tests_short(&run.evidence),
            tone: if run.evidence.is_green() { Tone::Good } else { Tone::Bad },
        },
    );
    let context =
        found.context.as_ref().map_or_else(String::new, |context| format!("ctx {}%", context.percent()));
    let pressed = found.context.as_ref().is_some_and(|context| context.percent() >= context.thresholds.warn);
    [
        Cell { text: found.count.to_string(), tone: Tone::Plain },
        tests,
        Cell { text: marks(&found.trend, glyphs), tone: Tone::Plain },
        Cell { text: context, tone: if pressed { Tone::Odd } else { Tone::Dim } },
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
