//! `andon uninstall --purge`: records, halts and files are deleted. They are evidence, so that only a person may, and
//! not while a loop is halted.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::setup::leftovers::{OWN_REFS, folders_of};
use crate::setup::{NOTES_REF, SetupError};
use andon_core::detect::Stops;
use andon_engine::context::Context;
use andon_engine::error::OpsError;
use andon_engine::halts::{self, stop_files};
use andon_engine::workspace::Workspace;
use andon_git::{GitError, Repo};
use andon_store::ledger::{self, Ledger};
use andon_store::union;

/// The records of remotes.
const REMOTE_NOTES: &str = "refs/notes/remotes/";

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeReport {
    /// Records of commits.
    pub records: usize,
    /// Entries of the ledger: halts and answers.
    pub entries: usize,
    /// Folders.
    pub folders: Vec<PathBuf>,
    /// The refs that remotes have still, by remote, as the last fetch or push showed them.
    pub left_at_remotes: Vec<(String, Vec<String>)>,
}

/// Whether the caller may delete the evidence.
///
/// # Errors
/// [`OpsError::Purge`] in the shell of an agent, and while a loop is halted in any worktree.
pub fn may(ctx: &Context) -> Result<(), OpsError> {
    if let Some(marker) = ctx.agent_mark() {
        return Err(OpsError::Purge {
            what: format!("this is the shell of an agent ({marker}), and only a person deletes evidence"),
            help: "a person runs in a shell of their own: andon uninstall --purge".to_owned(),
        });
    }
    let ws = Workspace::open_lenient(ctx)?;
    let refuse = |place: &str| OpsError::Purge {
        what: format!("a halt{place} waits for an answer, and its evidence must stay until then"),
        help: "answer it first: andon resume --reason '<decision>'".to_owned(),
    };
    if halts::unanswered(ctx, &ws)?.is_some() || stop_files(&ws) != Stops::NONE {
        return Err(refuse(""));
    }
    let ledger = Ledger::open(&ws.repo);
    let own = ws.repo.worktree_name();
    let names = ws.repo.worktree_places().into_iter().map(|one| one.name).chain(["main".to_owned()]);
    for name in names.filter(|name| *name != own) {
        if ledger.standing(&name)?.is_some() {
            return Err(refuse(&format!(" in the worktree {name}")));
        }
    }
    Ok(())
}

/// Deletes everything that uninstalling leaves, but for `andon.toml`.
pub fn run(repo: &Repo) -> Result<PurgeReport, OpsError> {
    let records = repo.notes_list(NOTES_REF)?.len();
    let entries = Ledger::open(repo).read_all()?.0.len();
    let left_at_remotes = at_remotes(repo)?;
    let refs = refs(repo)?;
    if !refs.is_empty() {
        repo.delete_refs(&refs)?;
    }
    let mut folders = Vec::new();
    for folder in folders_of(repo) {
        match fs::remove_dir_all(&folder) {
            Ok(()) => folders.push(folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(SetupError::Write { path: folder, source }.into()),
        }
    }
    Ok(PurgeReport { records, entries, folders, left_at_remotes })
}

/// What the names that are kept of remotes say that these have.
fn at_remotes(repo: &Repo) -> Result<Vec<(String, Vec<String>)>, GitError> {
    let mut found = Vec::new();
    for remote in repo.remotes()? {
        let kept = [
            (format!("{}{remote}/", union::REMOTE_PREFIX), union::PREFIX.to_owned()),
            (format!("{}{remote}/ledger/", ledger::REMOTE_PREFIX), ledger::REF_PREFIX.to_owned()),
            (format!("{REMOTE_NOTES}{remote}/"), "refs/notes/".to_owned()),
        ];
        let mut refs = Vec::new();
        for (here, there) in kept {
            let names = repo.refs_with_prefix(&here)?.into_iter().map(|(name, _)| name);
            let names = names.filter_map(|name| Some(format!("{there}{}", name.strip_prefix(&here)?)));
            refs.extend(names.filter(|name| !name.starts_with("refs/notes/") || name.starts_with(NOTES_REF)));
        }
        if !refs.is_empty() {
            found.push((remote, refs));
        }
    }
    Ok(found)
}

fn refs(repo: &Repo) -> Result<Vec<String>, GitError> {
    let mut refs: Vec<String> = repo.refs_with_prefix(OWN_REFS)?.into_iter().map(|(name, _)| name).collect();
    let of_remotes = repo.refs_with_prefix(REMOTE_NOTES)?.into_iter().map(|(name, _)| name);
    refs.extend(
        of_remotes.filter(|name| name.rsplit('/').next().is_some_and(|last| last.starts_with("andon"))),
    );
    if repo.ref_target(NOTES_REF)?.is_some() {
        refs.push(NOTES_REF.to_owned());
    }
    Ok(refs)
}
