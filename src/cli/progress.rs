//! The progress of a long walk: a bar on a terminal, nothing anywhere else; and the message of a walk that was stopped.

use std::time::{Duration, Instant};
use std::{cell::Cell, num::NonZeroUsize};

use super::{Exit, Printer, Shell, output};
use andon_core::domain::{Diagnostic, Span, plural::count};
use andon_core::escape::clip;
use andon_engine::effect::Interrupt;
use andon_engine::recording::{Pace, WalkEnd};

/// A walk that takes no longer than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// The pause between two moves of the bar.
const TICK: Duration = Duration::from_millis(100);
/// Width of the bar itself.
const WIDTH: usize = 30;
/// Commits between two looks at the clock.
const STRIDE: usize = 16;

/// The bar of one walk, on standard error.
pub struct Progress {
    out: Printer,
    what: &'static str,
    began: Instant,
    /// The time of the next drawing; `None` where no person sees the bar.
    due: Cell<Option<Instant>>,
    drawn: Cell<bool>,
}

impl Progress {
    /// Nothing is drawn yet.
    pub fn new(shell: &Shell, what: &'static str) -> Self {
        let seen = output::progress_is_seen() && shell.ctx.var("TERM") != Some("dumb");
        let began = Instant::now();
        let due = began.checked_add(PATIENCE).filter(|_| seen);
        Self { out: shell.out, what, began, due: Cell::new(due), drawn: Cell::new(false) }
    }

    /// So many of so many commits are done.
    pub fn at(&self, done: usize, of: usize) {
        let Some(due) = self.due.get().filter(|_| done.is_multiple_of(STRIDE)) else { return };
        let now = Instant::now();
        if now >= due {
            self.due.set(now.checked_add(TICK));
            self.drawn.set(true);
            let text = line(self.what, done, of, now.duration_since(self.began));
            // A longer line would break, and the next one would not take its place.
            let columns = output::columns().unwrap_or(usize::MAX).saturating_sub(1);
            self.out.message(&format!("\r\x1b[K{}", clip(&text, columns)));
        }
    }

    /// Takes the bar away, before anything else is shown.
    pub fn clear(&self) {
        if self.drawn.replace(false) {
            self.out.message("\r\x1b[K");
        }
    }
}

/// The bar, how many a second, and how long the rest takes at that rate.
fn line(what: &str, done: usize, of: usize, elapsed: Duration) -> String {
    let share = |whole: usize| done.saturating_mul(whole) / of.max(1);
    let elapsed = usize::try_from(elapsed.as_millis()).unwrap_or(usize::MAX).max(1);
    let rate = done.saturating_mul(1000) / elapsed;
    let bar = "#".repeat(share(WIDTH));
    let text = format!("{what} [{bar:<WIDTH$}] {:>3} % {done}/{of} commits, {rate}/s", share(100));
    match of.saturating_sub(done).checked_div(rate) {
        Some(left) => format!("{text}, {} left", Span(u64::try_from(left).unwrap_or(u64::MAX))),
        None => text,
    }
}

/// A long walk: with a bar while it lasts, and Ctrl-C ends it with what it has found.
pub fn walk<T>(
    shell: &Shell,
    what: &'static str,
    threads: Option<NonZeroUsize>,
    walk: impl FnOnce(&mut Pace<'_>, &Progress) -> T,
) -> T {
    let progress = Progress::new(shell, what);
    let interrupt = Interrupt::listen();
    let mut pace = Pace { threads, stop: interrupt.asked(), progress: &mut |done, of| progress.at(done, of) };
    let walked = walk(&mut pace, &progress);
    progress.clear();
    walked
}

/// Says that a walk was stopped, where it was. Then something is not known, which is worse than `exit` when that
/// allows.
pub fn stopped(shell: &Shell, walked: WalkEnd, exit: Exit) -> Exit {
    let WalkEnd::Part { done, of } = walked else { return exit };
    let what =
        format!("stopped after {done} of {}: what is shown is part of the answer", count(of, "commit"));
    let help = "run it again: it goes on faster where it was (git directory, andon/cache/derived)";
    let diagnostic = Diagnostic::warning(what).code("interrupted").help(help.to_owned());
    shell.tell(&[diagnostic]);
    if exit == Exit::Allowed { Exit::Undecided } else { exit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_up() {
        let shown = |done| line("check", done, 200, Duration::from_secs(2));
        assert_eq!(shown(0), format!("check [{}]   0 % 0/200 commits, 0/s", " ".repeat(30)));
        let half = format!("{}{}", "#".repeat(15), " ".repeat(15));
        assert_eq!(shown(100), format!("check [{half}]  50 % 100/200 commits, 50/s, 2s left"));
        assert_eq!(shown(200), format!("check [{}] 100 % 200/200 commits, 100/s, 0s left", "#".repeat(30)));
        insta::assert_snapshot!(line("check", 0, 0, Duration::ZERO), @"check [                              ]   0 % 0/0 commits, 0/s");
    }
}
