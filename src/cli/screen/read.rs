//! The texts behind a line of the screen: those of `andon status` and `andon review`, read on request.

use super::state::{Content, Screen};
use crate::cli::{Shell, output::columns, watching::now};
use crate::verbs::status::text::{self as status_text, StatusDepth};
use crate::verbs::watch::{run as watch, text as report};
use crate::verbs::{resume::answer_halt, review::show, status};
use andon_core::domain::{AckHow, Halt, HaltAssessment, Hint};
use andon_engine::text::{Style, shown_change};
use andon_engine::view::{BranchView, WatchLine, WorktreeState, WorktreeView};
use andon_engine::{Context, OpsError, Result, Workspace};

/// Shows the evidence behind the line `key`.
pub(super) fn evidence(shell: &Shell, screen: &mut Screen, key: &str) {
    let ctx = now(&shell.ctx);
    open(screen, key, |one| match one {
        WatchLine::Worktree(worktree) => (Hint::Status.into(), status_of(shell, &ctx, worktree)),
        WatchLine::Elsewhere(standing) => {
            ("a halt of another clone".to_owned(), Ok(report::halt_of_another_clone(standing, plain(shell))))
        }
        WatchLine::Branch(branch) => of_branch(shell, branch),
        WatchLine::Round(round) => (title_of(&round.id), shown(&ctx, shell, &round.id)),
    });
}

/// Shows the difference that a person has to decide about.
pub(super) fn diff(shell: &Shell, screen: &mut Screen, key: &str) {
    let ctx = now(&shell.ctx);
    let read = |halt: &Halt, worktree: &WorktreeView| {
        let ws = Workspace::open_lenient(&there(&ctx, worktree))?;
        Ok(match shown_change::of_halt(&ws.repo, halt)? {
            Some(change) => format!("{}\n\n{}", change.command, change.text(usize::MAX).join("\n")),
            None => "no commit is stuck; Enter shows the evidence".to_owned(),
        })
    };
    of_halt(screen, key, "the difference", read);
    if let Some(page) = &mut screen.page {
        page.content = Content::Difference;
    }
}

/// Shows the report file of the halt.
pub(super) fn file(shell: &Shell, screen: &mut Screen, key: &str) {
    let ctx = now(&shell.ctx);
    let read = |halt: &Halt, worktree: &WorktreeView| {
        let ws = Workspace::open_lenient(&there(&ctx, worktree))?;
        let text = ws.andon_dir().and_then(|dir| dir.newest(halt.report_file.file_name(), FILE));
        Ok(text.unwrap_or_else(|| "the file is not there".to_owned()))
    };
    of_halt(screen, key, "the report file", read);
}

/// Longest file that is shown, in bytes.
const FILE: u64 = 256 << 10;

/// Answers the halt of a worktree, and shows the result.
pub(super) fn answer(shell: &Shell, screen: &mut Screen, key: &str, reason: &str) {
    let ctx = now(&shell.ctx);
    let read = |_: &Halt, worktree: &WorktreeView| {
        let ctx = there(&ctx, worktree);
        let ws = Workspace::open_lenient(&ctx)?;
        let resumed = answer_halt(&ctx, &ws, Some(reason), HaltAssessment::Unsaid, AckHow::Resume, &[])?;
        Ok(format!("{} answered the halt: {reason}", resumed.by))
    };
    of_halt(screen, key, "answered", read);
}

/// Opens a page about the halt of a worktree.
fn of_halt(
    screen: &mut Screen,
    key: &str,
    title: &str,
    read: impl Fn(&Halt, &WorktreeView) -> Result<String>,
) {
    let text = |one: &WatchLine<'_>| match one {
        WatchLine::Worktree(worktree) => match &worktree.seen {
            WorktreeState::Loop(found) => match &found.halt {
                Some(halt) => read(&halt.halt, worktree),
                None => Ok("this loop is not halted".to_owned()),
            },
            WorktreeState::Away | WorktreeState::Unreadable(_) => Ok("nothing is known of it".to_owned()),
        },
        WatchLine::Elsewhere(_) | WatchLine::Branch(_) => {
            Ok("a loop of another clone: look at it, and answer it, where it is".to_owned())
        }
        WatchLine::Round(_) => Ok("a round: r shows it".to_owned()),
    };
    open(screen, key, |one| (title.to_owned(), text(one)));
}

/// Shows the round of the line `key`: of a worktree that of its halt.
pub(super) fn round(shell: &Shell, screen: &mut Screen, key: &str) {
    let ctx = now(&shell.ctx);
    open(screen, key, |one| match one {
        WatchLine::Worktree(worktree) => (title_of("halt"), shown(&there(&ctx, worktree), shell, "halt")),
        WatchLine::Elsewhere(standing) => {
            let id = standing.id.to_string();
            (title_of(&id), shown(&ctx, shell, &id))
        }
        WatchLine::Branch(branch) => of_branch(shell, branch),
        WatchLine::Round(round) => (title_of(&round.id), shown(&ctx, shell, &round.id)),
    });
}

fn of_branch(shell: &Shell, branch: &BranchView) -> (String, Result<String>) {
    ("a loop of another clone".to_owned(), Ok(report::loop_of_another_clone(branch, plain(shell))))
}

/// Opens the page of the line `key`: its title and its text.
fn open(screen: &mut Screen, key: &str, of_one: impl Fn(&WatchLine<'_>) -> (String, Result<String>)) {
    let page = screen.view.ordered().iter().find(|one| one.key() == key).map(of_one);
    if let Some((title, text)) = page {
        screen.open(title, &text.unwrap_or_else(|err| told(&err)));
    }
}

fn title_of(round: &str) -> String {
    Hint::ReviewShow.with([&round.chars().take(12).collect::<String>()])
}

fn there(ctx: &Context, worktree: &WorktreeView) -> Context {
    watch::context_in(ctx, std::path::Path::new(&worktree.path))
}

/// Without codes: the screen has its own.
fn plain(shell: &Shell) -> Style {
    Style::Plain.timed_like(shell.out.out).within(columns())
}

fn status_of(shell: &Shell, ctx: &Context, worktree: &WorktreeView) -> Result<String> {
    if let WorktreeState::Away = worktree.seen {
        return Ok(report::why(&WatchLine::Worktree(worktree)).unwrap_or_default());
    }
    let ctx = there(ctx, worktree);
    let ws = Workspace::open_lenient(&ctx)?;
    let view = status::view(&ctx, &ws)?;
    Ok(status_text::text(&view, StatusDepth::Short, plain(shell), shell.glyphs()))
}

fn shown(ctx: &Context, shell: &Shell, id: &str) -> Result<String> {
    let ws = Workspace::open_lenient(ctx)?;
    Ok(show::show_text(&show::show(&ws, id)?, plain(shell)))
}

/// An error as a page.
fn told(err: &OpsError) -> String {
    let shown = crate::cli::error::diagnostics(err);
    andon_engine::text::message::diagnostics(&shown, Style::Plain)
}
