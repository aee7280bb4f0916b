//! The command line: arguments in, text and exit code out. What is known of a verb is in its folder of `verbs`.

pub(crate) mod args;
pub(crate) mod error;
pub(crate) mod format_arg;
pub mod output;
pub(crate) mod progress;
#[cfg(feature = "watch")]
pub(crate) mod screen;
pub(crate) mod watching;

pub(crate) use self::watching::WatchMemory;

pub use self::{error::*, format_arg::*, output::*};

use std::path::Path;

use serde::Serialize;

use andon_core::domain::{Decision, Diagnostic};
use andon_engine::text::{Consequence, Glyphs, Style, message};
use andon_engine::{
    Context, OpsError, Result, Workspace, effect::write_report, halts, json, sync::take_in_fetched,
};
use andon_git::Repo;
use andon_store::notes::REF;

/// The context and the output of a command.
pub struct Shell {
    pub(crate) ctx: Context,
    pub(crate) out: Printer,
}

/// The printer of this process.
pub(crate) fn printer(ctx: &Context, color: ColorChoice) -> Printer {
    let environment = ColorEnvironment {
        no_color: ctx.var("NO_COLOR"),
        clicolor: ctx.var("CLICOLOR"),
        clicolor_force: ctx.var("CLICOLOR_FORCE"),
        force_color: ctx.var("FORCE_COLOR"),
        term: ctx.var("TERM"),
    };
    Printer::new(color, environment).told_at(ctx.now, ctx.var("COLUMNS"))
}

impl Shell {
    /// Prints a result: as text for a person, or as the document `name` for a program.
    pub(crate) fn show(
        &self,
        format: Format,
        name: &str,
        document: &impl Serialize,
        text: impl FnOnce(Style) -> String,
    ) {
        self.out.result(&match format {
            Format::Text => text(self.out.out),
            Format::Json => json::document(name, document),
        });
    }

    /// The same for several documents of that name, a line each.
    pub(crate) fn show_all<T: Serialize>(
        &self,
        format: Format,
        name: &str,
        documents: &[T],
        text: impl FnOnce(Style) -> String,
    ) {
        self.out.result(&match format {
            Format::Text => text(self.out.out),
            Format::Json => json::documents(name, documents),
        });
    }

    /// Says what is to be known beside a result.
    pub(crate) fn tell(&self, diagnostics: &[Diagnostic]) {
        self.out.message(&message::diagnostics(diagnostics, self.out.err));
    }

    /// Says what the rules said of something that is done.
    pub(crate) fn tell_decision(&self, decision: &Decision) {
        self.out.message(&message::decision(decision, Consequence::Done, self.out.err));
    }

    /// Writes a result to the file that was named, else to standard output.
    pub(crate) fn deliver(&self, file: Option<&Path>, text: &str) -> Result<()> {
        match file {
            None => self.out.result(text),
            Some(file) => {
                write_report(&self.ctx.cwd.join(file), text).map_err(|err| OpsError::of_output(&err))?;
            }
        }
        Ok(())
    }

    /// Block elements where the locale has them.
    pub(crate) fn glyphs(&self) -> Glyphs {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| self.ctx.var(name).filter(|value| !value.is_empty()));
        let utf8 = locale.is_some_and(|value| value.to_ascii_lowercase().replace('-', "").contains("utf8"));
        if utf8 { Glyphs::Unicode } else { Glyphs::Ascii }
    }

    /// Records of other clones that a plain `git fetch` brought are there for every reader.
    pub(crate) fn take_in_fetched(&self) {
        // The command itself reports a broken repository, and records that cannot be read.
        let Ok(repo) = Repo::open(&self.ctx.cwd, &self.ctx.repo_env) else { return };
        if repo.ref_target(REF).is_ok()
            && let Err(err) = take_in_fetched(&repo, self.ctx.now)
        {
            self.tell(&[err.as_warning()]);
        }
    }

    /// Shows an error and gives its exit code.
    pub(crate) fn fail(&self, err: &OpsError) -> Exit {
        if matches!(err, OpsError::Config(_)) {
            self.tell_of_a_halt();
        }
        self.tell(&error::diagnostics(err));
        error::exit_of(err)
    }

    /// A mistake in the configuration ends no halt, and must not hide one.
    fn tell_of_a_halt(&self) {
        let standing = Workspace::open_lenient(&self.ctx).and_then(|ws| halts::binding(&ws));
        if let Ok(Some(standing)) = standing {
            self.out.message(&message::unanswered(&standing.halt, self.out.err));
        }
    }
}
