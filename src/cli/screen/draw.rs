//! Draws the screen into the cells of a terminal. Every text is escaped, by the caller or here.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::state::{Content, LineInput, Page, Screen};
use crate::verbs::watch::text::table::{self, Cell, GAP, TableRow, Tone};
use crate::verbs::watch::text::{help, since, summary, why};
use andon_core::domain::Timestamp;
use andon_core::escape::{clip, terminal, terminal_clip, width};
use andon_engine::text::{Glyphs, Style as Dress};
use andon_engine::view::{WatchLine, WorktreeState, watch::Need};

/// The look of the screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    pub(super) glyphs: Glyphs,
    pub(super) colour: Colour,
    /// A time where the reader lives.
    pub(super) local: fn(Timestamp) -> String,
}

/// The use of colours. Words say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Yes,
    No,
}

/// Lines about the chosen one.
const DETAILS: u16 = 8;
/// In a terminal of fewer lines they take what the list leaves.
const ENOUGH: u16 = 16;
/// Fewer lines say nothing.
const FEWEST: u16 = 3;
/// Columns of a name.
const NAME: usize = 100;

const KEYS: &str = "? keys  q end  Enter evidence  d diff  o file  R answer  / filter";
const KEYS_OF_PAGE: &str = "up/down turn  Esc back";

pub(super) fn draw(frame: &mut Frame<'_>, screen: &mut Screen, look: Theme) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area);
    frame.render_widget(Paragraph::new(head_of(screen, look, usize::from(area.width))), head);
    screen.height = usize::from(body.height).max(1);
    let keys = match &screen.page {
        Some(page) => match page.lines.len().saturating_sub(page.top + screen.height) {
            0 => KEYS_OF_PAGE.to_owned(),
            below => format!("{KEYS_OF_PAGE}  {below} more"),
        },
        None => KEYS.to_owned(),
    };
    let foot_line = match &screen.typing {
        Some(typing) => Line::raw(typed(typing, usize::from(area.width))),
        None => Line::styled(clip(&keys, usize::from(area.width)).into_owned(), look.style(Tone::Dim)),
    };
    frame.render_widget(Paragraph::new(foot_line), foot);
    if let Some(page) = &screen.page {
        return draw_page(frame, page, body, look);
    }
    let mut headings: Vec<Need> = screen.view.ordered().iter().map(WatchLine::need).collect();
    let lines = headings.len();
    headings.dedup();
    let listed = u16::try_from(lines + headings.len()).unwrap_or(u16::MAX);
    let left = body.height.saturating_sub(listed).min(DETAILS);
    let details = if area.height >= ENOUGH { DETAILS } else { left };
    let details = if details < FEWEST { 0 } else { details };
    let [list, below] = Layout::vertical([Constraint::Min(1), Constraint::Length(details)]).areas(body);
    draw_list(frame, screen, list, look);
    if details > 0 {
        draw_details(frame, screen, below, look);
    }
}

fn head_of(screen: &Screen, look: Theme, columns: usize) -> Line<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let (text, style) = match (&screen.page, &screen.stale) {
        (Some(page), _) => (page.title.clone(), bold),
        (None, Some(why)) => (format!("not up to date: {why}"), look.style(Tone::Bad)),
        (None, None) if screen.filter.is_empty() => (summary(&screen.view), bold),
        (None, None) => {
            let filter = terminal_clip(&screen.filter, NAME);
            (format!("{}  (lines with \"{filter}\"; / and Esc: all)", summary(&screen.view)), bold)
        }
    };
    Line::styled(clip(&text, columns).into_owned(), style)
}

/// The typed line with its end in sight.
fn typed(typing: &LineInput, columns: usize) -> String {
    let (head, text, tail) = match typing {
        LineInput::Filter(text) => ("/", text, ""),
        LineInput::Reason(_, reason) => ("Answer the halt, Esc: not. Reason: ", reason, ""),
        LineInput::Confirm(_, reason) => ("Answer with \"", reason, "\"? y or n"),
    };
    let room = columns.saturating_sub(width(head) + width(tail) + 1);
    let skipped = text.chars().count().saturating_sub(room);
    let end: String = text.chars().skip(skipped).collect();
    format!("{head}{}{}", terminal(&end), if tail.is_empty() { "_" } else { tail })
}

fn draw_page(frame: &mut Frame<'_>, page: &Page, area: Rect, look: Theme) {
    let tone = |line: &str| match (page.content, line.as_bytes().first()) {
        (Content::Difference, Some(b'+')) => Tone::Good,
        (Content::Difference, Some(b'-')) => Tone::Bad,
        (Content::Difference | Content::Text, _) => Tone::Plain,
    };
    let lines = page.lines.iter().skip(page.top).take(usize::from(area.height));
    let lines: Vec<Line<'_>> =
        lines.map(|line| Line::styled(terminal(line), look.style(tone(line)))).collect();
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

fn draw_list(frame: &mut Frame<'_>, screen: &Screen, area: Rect, look: Theme) {
    let columns = usize::from(area.width).saturating_sub(2);
    let table = table::table(&screen.view, Some(columns), look.glyphs);
    let mut lines = Vec::new();
    let mut chosen_at = 0;
    let mut under: Option<Need> = None;
    for row in &table.rows {
        if under != Some(row.need) {
            lines.push(Line::styled(table::heading(row.need), Style::new().add_modifier(Modifier::BOLD)));
            under = Some(row.need);
        }
        let is_chosen = screen.chosen.as_ref() == Some(&row.key);
        if is_chosen {
            chosen_at = lines.len();
        }
        let line = line_of(row, &table.widths, if is_chosen { "> " } else { "  " }, look);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        lines.push(if is_chosen { line.patch_style(reversed) } else { line });
    }
    let height = usize::from(area.height);
    // The chosen line stays in sight, its heading too where it is the first.
    let top = (chosen_at + 1).saturating_sub(height);
    let shown: Vec<Line<'_>> = lines.into_iter().skip(top).take(height).collect();
    frame.render_widget(Paragraph::new(shown), area);
}

fn line_of(row: &TableRow, widths: &[usize], mark: &'static str, look: Theme) -> Line<'static> {
    let mut spans = vec![Span::raw(mark)];
    for (cell, wide) in row.cells.iter().zip(widths) {
        spans.push(Span::styled(padded(cell, *wide), look.style(cell.tone)));
        spans.push(Span::raw(" ".repeat(GAP)));
    }
    Line::from(spans)
}

fn padded(cell: &Cell, wide: usize) -> String {
    format!("{}{:pad$}", cell.text, "", pad = wide.saturating_sub(width(&cell.text)))
}

fn draw_details(frame: &mut Frame<'_>, screen: &Screen, area: Rect, look: Theme) {
    let ordered = screen.view.ordered();
    let Some(one) = ordered.get(screen.place()) else { return };
    let mut lines = vec![Line::raw("")];
    lines.extend(why(one).map(Line::raw));
    lines.extend(since(one, Dress::of_a_file(look.local)).map(Line::raw));
    lines.extend(help(one).map(|help| Line::raw(format!("help: {help}"))));
    lines.extend(place_of(one).map(|place| Line::styled(place, look.style(Tone::Dim))));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), area);
}

fn place_of(one: &WatchLine<'_>) -> Option<String> {
    match one {
        WatchLine::Worktree(worktree) => {
            let WorktreeState::Loop(found) = &worktree.seen else { return None };
            let branch = found.branch.as_deref().unwrap_or("detached HEAD");
            let [path, branch, who] =
                [&worktree.path, branch, &found.by().join(", ")].map(|text| terminal_clip(text, NAME));
            Some(format!("{path}  branch {branch}  by {who}"))
        }
        WatchLine::Elsewhere(standing) => {
            let worktree = terminal_clip(&standing.halt.worktree, NAME);
            Some(format!("worktree {worktree} of another clone"))
        }
        WatchLine::Branch(branch) => {
            let [name, who] =
                [&branch.name, &branch.found.by().join(", ")].map(|text| terminal_clip(text, NAME));
            Some(format!("branch {name} of another clone  by {who}"))
        }
        WatchLine::Round(_) => None,
    }
}

impl Theme {
    fn style(self, tone: Tone) -> Style {
        let plain = Style::new();
        match (self.colour, tone) {
            (Colour::Yes, Tone::Good) => plain.fg(Color::Green),
            (Colour::Yes, Tone::Odd) => plain.fg(Color::Yellow),
            (Colour::Yes, Tone::Bad) => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
            (Colour::Yes, Tone::Dim) => plain.add_modifier(Modifier::DIM),
            (Colour::No, Tone::Bad) => plain.add_modifier(Modifier::BOLD),
            (Colour::No, Tone::Good | Tone::Odd | Tone::Dim) | (_, Tone::Plain) => plain,
        }
    }
}
