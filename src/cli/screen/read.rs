//! The texts behind a line of the screen: those of `andon status` and `andon review`, read on request.

use super::state::Screen;
use crate::cli::Shell;
use crate::cli::watching::now;
use crate::verbs::status::text::{self as status_text, StatusDepth};
use crate::verbs::watch::text as report;
use crate::verbs::{review::run as review, status::run as status, watch::run as watch};
use crate::view::watch::{BranchView, WatchLine, WorktreeState, WorktreeView};
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::text::style::Style;
use andon_engine::workspace::Workspace;

/// Shows the evidence behind the line `key`.
pub(super) fn evidence(shell: &Shell, screen: &mut Screen, key: &str) {
    let ctx = now(&shell.ctx);
    let Some((title, text)) = with_line(screen, key, |one| match one {
        WatchLine::Worktree(worktree) => ("andon status".to_owned(), status_of(shell, &ctx, worktree)),
        WatchLine::Elsewhere(standing) => {
            ("a halt of another clone".to_owned(), Ok(report::halt_of_another_clone(standing, plain(shell))))
        }
        WatchLine::Branch(branch) => of_branch(shell, branch),
        WatchLine::Round(round) => (title_of(&round.id), shown(&ctx, shell, &round.id)),
    }) else {
        return;
    };
    screen.open(title, &text.unwrap_or_else(|err| told(&err)));
}

/// Shows the round of the line `key`: of a worktree that of its halt.
pub(super) fn round(shell: &Shell, screen: &mut Screen, key: &str) {
    let ctx = now(&shell.ctx);
    let Some((title, text)) = with_line(screen, key, |one| match one {
        WatchLine::Worktree(worktree) => (title_of("halt"), shown(&there(&ctx, worktree), shell, "halt")),
        WatchLine::Elsewhere(standing) => {
            let id = standing.id.to_string();
            (title_of(&id), shown(&ctx, shell, &id))
        }
        WatchLine::Branch(branch) => of_branch(shell, branch),
        WatchLine::Round(round) => (title_of(&round.id), shown(&ctx, shell, &round.id)),
    }) else {
        return;
    };
    screen.open(title, &text.unwrap_or_else(|err| told(&err)));
}

fn of_branch(shell: &Shell, branch: &BranchView) -> (String, Result<String, OpsError>) {
    ("a loop of another clone".to_owned(), Ok(report::loop_of_another_clone(branch, plain(shell))))
}

fn with_line<T>(screen: &Screen, key: &str, of_one: impl Fn(&WatchLine<'_>) -> T) -> Option<T> {
    screen.view.ordered().iter().find(|one| one.key() == key).map(of_one)
}

fn title_of(round: &str) -> String {
    format!("andon review show {}", round.chars().take(12).collect::<String>())
}

fn there(ctx: &Context, worktree: &WorktreeView) -> Context {
    watch::context_in(ctx, std::path::Path::new(&worktree.path))
}

/// Without codes: the screen has its own.
fn plain(shell: &Shell) -> Style {
    Style::Plain.timed_like(shell.out.out)
}

fn status_of(shell: &Shell, ctx: &Context, worktree: &WorktreeView) -> Result<String, OpsError> {
    if let WorktreeState::Away = worktree.seen {
        return Ok(report::why(&WatchLine::Worktree(worktree)).unwrap_or_default());
    }
    let ctx = there(ctx, worktree);
    let ws = Workspace::open_lenient(&ctx)?;
    let view = status::run(&ctx, &ws)?;
    Ok(status_text::text(&view, StatusDepth::Short, plain(shell), shell.glyphs()))
}

fn shown(ctx: &Context, shell: &Shell, id: &str) -> Result<String, OpsError> {
    let ws = Workspace::open_lenient(ctx)?;
    Ok(review::show_text(&review::show(&ws, id)?, plain(shell)))
}

/// An error as a page.
fn told(err: &OpsError) -> String {
    let shown = crate::cli::error::diagnostics(err);
    andon_engine::text::message::diagnostics(&shown, Style::Plain)
}
