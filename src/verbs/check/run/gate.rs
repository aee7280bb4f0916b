//! Commits that bypassed the gate, by their records.

use super::{Case, Diagnostic, at, violation};
use andon_core::detect;
use andon_core::domain::agent;
use andon_core::domain::facts::{CommitRecord, Gate, Recording};
use andon_core::domain::findings::Level;
use andon_git::CommitInfo;

/// Hooks of Andon ran, and the gate was not among them.
const NOT_RUN: &str = "the gate did not run for the commit";

/// A commit that bypassed the gate, by its record.
pub(super) fn judge(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Diagnostic> {
    let by_name = record.skipped.iter().find(|skip| skip.rule == detect::HOOK_BYPASS.id);
    let what = if record.gate == Gate::NotRun { NOT_RUN } else { "the commit bypassed the gate" };
    let by_name = by_name.map(|skip| format!("{what} ({})", skip.reason));
    let (code, what) = match (record.gate, record.kind, record.recording) {
        // Said of the record as a whole.
        (_, _, Recording::Backfilled) => return None,
        (Gate::Bypassed, _, _) => {
            ("bypassed", by_name.as_deref().unwrap_or("the commit bypassed the gate (--no-verify)"))
        }
        (Gate::NotRun, _, Recording::AtCommit | Recording::CaughtUp | Recording::Patched)
            if by_name.is_some() =>
        {
            // Hooks of Andon ran, and it says which did not.
            ("gate-not-run", by_name.as_deref().unwrap_or_default())
        }
        (Gate::NotRun, _, Recording::CaughtUp) => {
            ("bypassed", "the commit was made while the hooks were off")
        }
        (Gate::NotRun, _, Recording::Patched) => return Some(patch(commit)),
        // A hook recorded it, and git runs no pre-commit for it: a patch, a merge, a step of a rebase.
        (Gate::Passed, _, _) | (Gate::NotRun, _, Recording::AtCommit | Recording::Derived) => return None,
    };
    let level = detect::bypass_level(&case.config.rules)?;
    let help = "have a person review the commit, then merge it by hand or commit it again with hooks on";
    Some(violation(Some(at(commit)), code, level, what.to_owned(), help))
}

/// Nothing was bypassed: no hook of ours exists for what made the commit.
fn patch(commit: &CommitInfo) -> Diagnostic {
    let what = "git am made the commit, which runs the applypatch hooks alone, and post-applypatch was not installed: \
                recorded at a later commit";
    violation(Some(at(commit)), "gate-not-run", Level::Note, what.to_owned(), "andon doctor")
}

/// A commit by an agent, as its trailers or the shell that made it tell, whose client had no live hook. A record that names no
/// layers says nothing about them.
pub(super) fn unguarded(case: &Case<'_>, commit: &CommitInfo, record: &CommitRecord) -> Option<Diagnostic> {
    let guarded = |name: &str| record.guards.iter().any(|guard| guard == name);
    let clients = record.guards.iter().filter(|guard| *guard != CommitRecord::GIT).count();
    let (what, name) = match agent::of_trailers(&commit.trailers) {
        _ if record.guards.is_empty() => return None,
        Some(client) if guarded(client.as_str()) => return None,
        Some(client) => {
            (format!("{} made the commit, and its hooks were silent", client.title()), client.as_str())
        }
        None if clients > 0 => return None,
        None => ("an agent made the commit, and no hook of its client was live".to_owned(), "CLIENT"),
    };
    let level = detect::unguarded_level(&case.config.rules)?;
    let help = format!("andon agent install {name}");
    Some(violation(Some(at(commit)), "unguarded-agent", level, what, &help))
}
