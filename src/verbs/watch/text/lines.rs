//! All of it once, for a person: `andon watch --once`.

use super::table::{self, Cell, GAP, Tone};
use super::{help, since, summary, why};
use crate::view::watch::{Need, WatchLine, WatchView, WorktreeState};
use andon_core::escape::{shell_quote, width};
use andon_engine::text::message;
use andon_engine::text::page::{Page, with_command};
use andon_engine::text::phrase;
use andon_engine::text::spark::Glyphs;
use andon_engine::text::style::Style;

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
    if !view.warnings.is_empty() {
        page.blank();
        for warning in &view.warnings {
            message::push(&mut page, warning);
        }
    }
    page.finish()
}

/// What is said below a line of the table.
fn told(page: &mut Page, one: &WatchLine<'_>) {
    if one.need() == Need::Person
        || matches!(one, WatchLine::Worktree(worktree) if worktree.seen == WorktreeState::Away)
    {
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
        && let WorktreeState::Loop(found) = &worktree.seen
        && !found.warnings.is_empty()
    {
        let warnings = phrase::count(found.warnings.len(), "warning");
        let help = format!("cd {} && andon status", shell_quote(&worktree.path));
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
