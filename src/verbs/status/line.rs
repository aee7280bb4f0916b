//! `andon status --line`: the state that counts, on one line for the status line of a client. No file of the working tree is
//! looked at and no process is started: a client asks after every message.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::situation::{self, HookSituation, LoopSituation};
use crate::view::status::LoopState;
use andon_core::detect;
use andon_core::domain::decision::{Halt, Stage};
use andon_core::domain::findings::{Finding, Level};
use andon_core::escape::terminal_clip;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::gate::guard;
use andon_engine::text::phrase;
use andon_engine::text::style::Style;
use andon_engine::workspace::Workspace;
use andon_git::{GitError, Repo};

/// Longest message of a finding, in columns.
const MESSAGE: usize = 60;

/// What the line says.
pub struct StatusLine {
    state: LoopState,
    iteration: u64,
    cap: Option<u64>,
    halt: Option<Halt>,
    /// The gravest of what the rules say, where the loop goes on.
    finding: Option<Finding>,
}

/// Looks at the loop; `None` outside of a repository, where there is nothing to say.
///
/// # Errors
/// The records cannot be read.
pub fn run(ctx: &Context) -> Result<Option<StatusLine>, OpsError> {
    let ws = match Workspace::open_lenient(ctx) {
        Err(OpsError::Git(GitError::NotARepository { .. })) => return Ok(None),
        opened => opened?,
    };
    let hooks = HookSituation::at(&ws.repo, &hooks_dir(&ws.repo));
    let LoopSituation { loaded, standing, state, .. } = situation::look(ctx, &ws, &hooks)?;
    let mut findings = guard::decide(&ws, &loaded, Stage::PostCommit, None, standing.clone()).findings;
    findings.retain(|finding| finding.level >= Level::Warn);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    Ok(Some(StatusLine {
        state,
        iteration: loaded.timeline.counted(),
        cap: detect::iteration_cap(&ws.config.rules),
        halt: standing.map(|standing| standing.halt),
        finding: findings.into_iter().next().filter(|_| !state.waits_for_a_person()),
    }))
}

/// Where git looks for hooks, as far as its configuration shows without starting it.
fn hooks_dir(repo: &Repo) -> PathBuf {
    let own = repo.common_dir().join("hooks");
    let set = repo.config_string("core.hooksPath").filter(|path| !path.is_empty());
    set.map_or(own, |path| repo.workdir().unwrap_or(repo.git_dir()).join(path))
}

impl StatusLine {
    /// Whether all is well, in one word.
    fn word(&self) -> &'static str {
        match self.state {
            LoopState::Halted | LoopState::Stopped | LoopState::Paused => "halted",
            LoopState::HooksGone | LoopState::NotInstalled | LoopState::Disabled => "unguarded",
            LoopState::Running | LoopState::Idle if self.finding.is_some() => "warning",
            LoopState::Running | LoopState::Idle => "ok",
        }
    }

    /// The line, without its end.
    pub fn text(&self, style: Style) -> String {
        let word = match self.word() {
            "ok" => style.green("ok"),
            "halted" => style.red("HALTED"),
            word => style.yellow(word),
        };
        let turns =
            self.cap.map_or_else(|| self.iteration.to_string(), |cap| format!("{}/{cap}", self.iteration));
        match (&self.halt, &self.finding) {
            (Some(halt), _) => {
                format!("andon {word} {}: {}", style.age(halt.at), terminal_clip(&halt.rule, MESSAGE))
            }
            (None, Some(finding)) => {
                let message = terminal_clip(&phrase::message(&finding.message()), MESSAGE);
                format!("andon {word} {turns}: {} ({message})", finding.rule)
            }
            (None, None) => match self.state {
                LoopState::Stopped => format!("andon {word}: .andon/STOP"),
                LoopState::Paused => format!("andon {word}: .andon/PAUSE"),
                LoopState::HooksGone => format!("andon {word}: the hooks are gone"),
                LoopState::NotInstalled => format!("andon {word}: not installed"),
                LoopState::Disabled => format!("andon {word}: ANDON=0"),
                LoopState::Running | LoopState::Idle | LoopState::Halted => format!("andon {word} {turns}"),
            },
        }
    }

    /// The same for a program.
    pub fn json(&self, style: Style) -> Value {
        json!({
            "schema": "andon/status-line@1",
            "word": self.word(),
            "state": self.state.as_str(),
            "iteration": self.iteration,
            "cap": self.cap,
            "rule": self.halt.as_ref().map(|halt| halt.rule.as_str()).or(self.finding.as_ref().map(|one| one.rule)),
            "since": self.halt.as_ref().map(|halt| halt.at.to_string()),
            "line": self.text(style),
        })
    }
}
