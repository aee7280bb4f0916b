//! Errors of a repository, each with what happened, where, and the command that repairs it.

use andon_core::domain::Hint;
use andon_core::escape::shell_quote as quoted;
use std::path::{Path, PathBuf};

use crate::platform::files::check_writable;
use andon_core::domain::{CommitId, Oid};

/// Bytes of the file of a ref that are looked at.
const MAX_REF: u64 = 4096;

/// The reason that an object that a repository names is not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingBecause {
    /// The clone is shallow: history was cut.
    Shallow,
    /// The clone is partial: blobs or trees are fetched on demand, and never from here.
    Partial,
    /// Neither: the repository is damaged.
    Damaged,
}

/// An error of this module.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No repository at or above the directory.
    #[error("not a git repository (or any of its parents): {}", dir.display())]
    NotARepository { dir: PathBuf },
    /// A worktree whose repository is not where the worktree says: moved, or outside of a container.
    #[error("the repository of the worktree {} is not here: its .git names {}", top.display(), git_dir.display())]
    LostWorktree { top: PathBuf, git_dir: PathBuf },
    /// git's own protection against repositories of other users.
    #[error("the repository at {} belongs to another user, and git's safe.directory does not list it", dir.display())]
    Unsafe { dir: PathBuf },
    /// git's own protection against git directories that come with a clone.
    #[error("{} is a bare repository inside of other files, and git's safe.bareRepository is explicit", git_dir.display())]
    BareRefused { git_dir: PathBuf },
    /// A repository format that libgit2 refuses.
    #[error("the repository at {} uses {feature}, which andon cannot read yet", dir.display())]
    Unsupported { dir: PathBuf, feature: String },
    /// Any other failure to open.
    #[error("cannot open the git repository at {}: {message}", dir.display())]
    Open { dir: PathBuf, message: String },
    /// The question needs a working tree.
    #[error("the repository at {} is bare: it has no working tree", git_dir.display())]
    NoWorkTree { git_dir: PathBuf },
    /// A revision that git does not know. Of its name 200 characters are kept; in a shallow clone it may lie behind the cut.
    #[error("unknown revision {rev:?}{}", if *shallow { " (this clone is shallow)" } else { "" })]
    UnknownRevision { rev: String, shallow: bool },
    /// A revision that names something else than a commit.
    #[error("revision {rev:?} is no commit: {message}")]
    NotACommit { rev: String, message: String },
    /// `HEAD` was asked for before the first commit.
    #[error("revision {rev:?}: branch {branch} has no commit yet")]
    Unborn { rev: String, branch: String },
    /// A range that reaches the cut of a shallow clone.
    #[error("range {spec:?} reaches commit {commit}, where this shallow clone was cut: commits are missing")]
    ShallowRange { spec: String, commit: CommitId },
    /// An object is not there.
    #[error("{kind} {id} is missing in {}{}", git_dir.display(), missing_note(*because))]
    Missing { kind: &'static str, id: Oid, git_dir: PathBuf, because: MissingBecause },
    /// An object is there and is not what it should be.
    #[error("cannot read {kind} {id} in {}: {message}", git_dir.display())]
    BadObject { kind: &'static str, id: Oid, git_dir: PathBuf, message: String },
    /// Directories nested deeper than any real tree. The path is cut.
    #[error("a tree nests deeper than {limit} directories, at {path:?}")]
    TooDeep { path: String, limit: usize },
    /// A ref that cannot be read or written.
    #[error("ref {name:?} in {}: {message}", git_dir.display())]
    Ref { name: String, git_dir: PathBuf, message: String },
    /// A ref whose lock another process holds, or left behind.
    #[error("ref {name} stayed locked for {seconds} s by {}", lock.display())]
    RefLocked { name: String, lock: PathBuf, seconds: u64 },
    /// Other processes of ours wrote for so long that it never was our turn.
    #[error("ref {name} was not written: other andon processes have been writing for {seconds} s")]
    RefBusy { name: String, seconds: u64 },
    /// A ref of ours whose tip is no commit: writing would drop what it holds.
    #[error("ref {name} points to {id}, which is no commit")]
    TipNotCommit { name: String, id: Oid },
    /// A note beyond the bound.
    #[error("the note of commit {commit} in {name} has {size} bytes, more than the {limit} that are read")]
    NoteTooLarge { commit: CommitId, name: String, size: usize, limit: usize },
    /// Names that git cannot store.
    #[error("cannot write {what}: {message}")]
    Write { what: String, message: String },
    /// The git program is not there or cannot be started.
    #[error("cannot run `{command}`: {source}")]
    ProgramStart { command: String, source: std::io::Error },
    /// The git program ended with an error.
    #[error("`{command}` in {} failed ({status}): {stderr}", dir.display())]
    Program { command: String, dir: PathBuf, status: String, stderr: String },
    /// The git program said something that was not expected.
    #[error("`{command}` answered with something unexpected: {detail}")]
    Answer { command: String, detail: String },
    /// A file of the repository or of the working tree cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
}

fn missing_note(because: MissingBecause) -> &'static str {
    match because {
        MissingBecause::Shallow => " (this clone is shallow)",
        MissingBecause::Partial => " (this clone is partial)",
        MissingBecause::Damaged => "",
    }
}

pub(crate) fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

impl GitError {
    /// True if the caller asked for something that is not there: a mistake of use, not of the repository.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NotARepository { .. }
                | Self::LostWorktree { .. }
                | Self::BareRefused { .. }
                | Self::UnknownRevision { .. }
                | Self::Unborn { .. }
                | Self::NotACommit { .. }
        )
    }

    /// True if something is missing that a fuller clone has: nothing is wrong, and nothing can be said.
    pub fn is_cut_off(&self) -> bool {
        matches!(
            self,
            Self::ShallowRange { .. }
                | Self::UnknownRevision { shallow: true, .. }
                | Self::Missing { because: MissingBecause::Shallow | MissingBecause::Partial, .. }
        )
    }

    /// The exact command that repairs it, or a sentence that says what to do; `None` where neither is known.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::NotARepository { .. } => Hint::Init.into(),
            Self::LostWorktree { top, git_dir } => {
                Hint::RepairWorktree.with([&quoted_path(top), &quoted_path(git_dir)])
            }
            Self::Unsafe { dir } => Hint::AllowDirectory.with([&quoted_path(dir)]),
            Self::BareRefused { git_dir } => {
                format!("if you trust it: GIT_DIR={} andon ...", quoted_path(git_dir))
            }
            Self::Unsupported { feature, .. } => unsupported_help(feature),
            Self::UnknownRevision { shallow: true, .. }
            | Self::ShallowRange { .. }
            | Self::Missing { because: MissingBecause::Shallow, .. } => Hint::Unshallow.into(),
            Self::UnknownRevision { shallow: false, .. } | Self::NotACommit { .. } => Hint::LogAll.into(),
            Self::Unborn { .. } => "make a first commit".to_owned(),
            Self::Missing { because: MissingBecause::Partial, id, .. } => missing_help(*id),
            Self::Missing { because: MissingBecause::Damaged, .. } | Self::BadObject { .. } => {
                Hint::Fsck.into()
            }
            Self::RefLocked { lock, .. } => Hint::RemoveStaleLock.with([&quoted_path(lock)]),
            Self::TipNotCommit { name, .. } => {
                Hint::FreeName.with([&quoted(name.trim_start_matches("refs/")), &quoted(name)])
            }
            Self::NoteTooLarge { commit, name, .. } => Hint::KeepNote.with([
                &quoted(&name.replacen("refs/", "refs/andon-saved/", 1)),
                &quoted(name),
                &quoted(name.strip_prefix("refs/notes/").unwrap_or(name)),
                &commit.to_string(),
            ]),
            Self::ProgramStart { .. } => "install git, or put it on PATH".to_owned(),
            Self::NoWorkTree { .. } => "run it in a clone or a linked worktree".to_owned(),
            Self::Program { dir, stderr, .. } => program_help(dir, stderr),
            Self::Io { path, .. } => crate::access_help(path),
            Self::Open { dir, .. } => Hint::StatusOf.with([&quoted_path(dir)]),
            Self::Ref { name, git_dir, .. } => return ref_help(name, git_dir),
            Self::TooDeep { .. } | Self::RefBusy { .. } | Self::Write { .. } | Self::Answer { .. } => {
                return None;
            }
        })
    }
}

/// Returns the help that says how a partial clone comes by an object that is left at its remote. This is never done from here:
/// a hook that fetches hangs where there is no network.
pub fn missing_help(id: Oid) -> String {
    Hint::FetchAgain.with([&id.to_string()])
}

/// A ref of ours that cannot be used: its folder may not be written, or what is in its file is none.
fn ref_help(name: &str, git_dir: &Path) -> Option<String> {
    let file = git_dir.join(name);
    let folder =
        file.parent().filter(|_| name.starts_with("refs/notes/") || name.starts_with("refs/andon/"))?;
    if folder.is_dir() && check_writable(folder).is_err() {
        return Some(crate::access_help(folder));
    }
    let text = crate::read_plain(&file, MAX_REF).ok()??;
    let text = text.trim_ascii();
    let is_ref = text.starts_with(b"ref: ") || text.len() >= 40 && text.iter().all(u8::is_ascii_hexdigit);
    let aside = git_dir.join("andon").join("broken-ref");
    let move_away = || Hint::PutNoRefAside.with([&quoted_path(&file), &quoted_path(&aside)]);
    (!is_ref).then(move_away)
}

/// The help where the git program failed, by its own words.
fn program_help(dir: &Path, stderr: &str) -> String {
    let (there, dir) = (dir, quoted_path(dir));
    let locked =
        stderr.split_once("Unable to create '").and_then(|(_, rest)| rest.split_once("': File exists"));
    if let Some((lock, _)) = locked {
        Hint::RemoveStaleLock.with([&quoted(lock)])
    } else if stderr.contains("could not lock config file") && stderr.contains("File exists") {
        Hint::RemoveConfigLock.with([&dir])
    } else if ["denied", "Read-only", "No space", "failed to write"].iter().any(|sign| stderr.contains(sign))
    {
        crate::access_help(&there.join(".git"))
    } else {
        Hint::StatusOf.with([&dir])
    }
}

fn unsupported_help(feature: &str) -> String {
    match feature {
        "reftable" => Hint::MigrateRefs.into(),
        "SHA-256 object ids" => Hint::CloneWithSha1.into(),
        text if text.ends_with("a partial clone") => Hint::MarkPartial.into(),
        _ => {
            "use a repository with SHA-1 object ids and refs as files (the defaults of `git init`)".to_owned()
        }
    }
}

/// `text` cut to `max` characters, so that a hostile text cannot flood a message.
pub(crate) fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_for_the_shell_when_they_need_it() {
        for (text, want) in [
            ("/a/b-c_1.x", "/a/b-c_1.x"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(text), want);
        }
    }

    #[test]
    fn every_error_with_a_known_hint_names_it() {
        let dir = PathBuf::from("/r p");
        let help = GitError::Unsafe { dir: dir.clone() }.help().unwrap();
        assert_eq!(help, "git config --global --add safe.directory '/r p'");
        let locked =
            GitError::RefLocked { name: "refs/notes/andon".into(), lock: dir.join("x.lock"), seconds: 5 };
        insta::assert_snapshot!(locked.help().unwrap(), @"if no git process is running, remove the stale lock: rm '/r p/x.lock'");
        insta::assert_snapshot!(locked.to_string(), @"ref refs/notes/andon stayed locked for 5 s by /r p/x.lock");
    }
}
