//! What keeps a range from being judged: a walk that was stopped, a history that is cut off.

use crate::error::OpsError;
use crate::recording::bulk::WalkEnd;
use crate::recording::derive;
use andon_core::domain::diagnostic::{CommitRef, Diagnostic, Location};
use andon_core::domain::ids::CommitId;
use andon_core::domain::plural::count;
use andon_git::{GitError, Repo};

/// That a walk was stopped: nothing is known of the rest.
pub fn interrupted(walked: WalkEnd, what: &str, help: &str) -> Option<Diagnostic> {
    let WalkEnd::Part { done, of } = walked else { return None };
    let message = format!("stopped after {done} of {}: the rest was not looked at", count(of, what));
    Some(Diagnostic::error(message).code("interrupted").help(help))
}

/// That the history of a shallow clone ends within those commits; `None` where it does not.
///
/// # Errors
/// A commit cannot be read.
pub fn cut_off_within(repo: &Repo, commits: &[CommitId]) -> Result<Option<Diagnostic>, OpsError> {
    let shallow = if repo.is_shallow() { commits } else { &[] };
    for id in shallow {
        let commit = repo.commit(*id)?;
        if derive::is_cut_off(repo, &commit) {
            let cut = "the history is cut off here: this clone is shallow";
            let at = CommitRef { commit: commit.id, subject: commit.subject };
            let cut = Diagnostic::error(cut).code("shallow-clone").at(Location::Commit(at));
            return Ok(Some(cut.help("git fetch --unshallow")));
        }
    }
    Ok(None)
}

/// The same, where the range itself cannot be read.
pub fn cut_off(err: &GitError) -> Diagnostic {
    let help = err.help().into_iter().collect();
    Diagnostic { help, ..Diagnostic::error(err.to_string()).code("shallow-clone") }
}
